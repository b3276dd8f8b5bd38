package judge

import "slices"

// findings returns the findings of the tree. Each of them has what the causes below it
// say that are no findings by themselves.
func (t tree) findings(accept func(*node) bool) (out []Finding) {
	for _, n := range slices.Concat(t.parts, t.own) {
		if accept(n) {
			out = append(out, n.flatten()...)
		}
	}
	return out
}

// flatten returns the finding that reports n, with its causes, and the causes that are
// findings by themselves.
func (n *node) flatten() (out []Finding) {
	if n.told != nil {
		f := *n.told
		f.Evidence, f.Next = slices.Clone(f.Evidence), slices.Clone(f.Next)
		n.gather(&f)
		out = append(out, f)
	}
	for _, k := range n.causes {
		if k.told != nil && k.told != n.told {
			out = append(out, k.flatten()...)
		}
	}
	return out
}

// gather adds to f what the causes of n say that are no findings by themselves.
func (n *node) gather(f *Finding) {
	for _, k := range n.causes {
		next := f.Next
		if len(k.advice) > 0 {
			next = without(next, k.drops)
		}
		switch {
		case k.told == n.told: // f is the finding of this cause
			k.gather(f)
		case k.told != nil || k.not != "" && k.not == f.Rule:
		case n.root && f.InPlaceOf == "" && !k.last && !k.unplaced && k.worth >= n.ns-k.worth:
			f.Evidence, f.Next = slices.Concat(k.below, f.Evidence), joinSteps(k.advice, next)
		default:
			f.Evidence, f.Next = slices.Concat(f.Evidence, k.below), joinSteps(next, k.advice)
		}
	}
}

// lowered says in a finding why its level is under what its value warrants: its title
// ends with its share, as "8.0% of the window", and not with the limit of its value.
func (n *node) lowered(share string) {
	if n.what != "" {
		n.Title = n.what + "; " + share
	}
	n.Evidence = append(slices.Clone(n.Evidence), "the level is lowered because this is "+share)
}

// nodes returns the tree with its shares.
func (t tree) nodes() (out []Node) {
	for _, p := range t.parts {
		out = append(out, p.export(p.part, t.window))
	}
	for _, n := range t.own {
		out = append(out, n.export(n.part, 0))
	}
	return out
}

// export returns n as a Node of a part with its time of a window. On a basis of its own,
// the window is 0.
func (n *node) export(part string, window int64) Node {
	out := n.Finding.node(part)
	out.Rule = n.id
	if window > 0 {
		out.NS, out.OfNS, out.Share = n.ns, window, float64(n.ns)/float64(window)
		if n.worth > n.ns && !n.unplaced {
			out.ExplainsNS = n.worth
		}
	}
	for _, k := range n.causes {
		out.Causes = append(out.Causes, k.export(part, window))
	}
	return out
}

// node returns the finding as a node on a basis of its own.
func (f Finding) node(part string) Node {
	return Node{Rule: f.Rule, Part: part, Subject: f.Subject, NS: f.NumeratorNS, OfNS: f.DenominatorNS,
		Bytes: f.NumeratorBytes, OfBytes: f.DenominatorBytes, Share: f.Value, Level: f.Level}
}

// rooted returns the result with a root for each finding that the tree lacks.
func (c *evaluator) rooted(r Result) Result {
	type key struct{ rule, subject string }
	has := map[key]bool{}
	var note func([]Node)
	note = func(list []Node) {
		for _, n := range list {
			has[key{n.Rule, n.Subject}] = true
			note(n.Causes)
		}
	}
	note(r.Tree)
	for _, f := range r.Findings {
		if !has[key{f.Rule, f.Subject}] {
			r.Tree = append(r.Tree, f.node(c.basisOf(f.Rule)))
		}
	}
	return r
}

// basisOf returns the basis of the findings of a rule that is not about the window.
func (c *evaluator) basisOf(rule string) (basis string) {
	totals := c.total.Window() == 0 && len(c.Tables) > 0
	for _, r := range c.rows {
		switch {
		case r.id != rule || len(r.under) > 0 || r.part == basisTotals && !totals:
		case basis == "" || r.part == basisTotals:
			basis = r.part
		}
	}
	return basis
}

// leadWith puts the fixes that come first before those of the finding that decides the
// verdict.
func (t tree) leadWith(list []Finding, v Verdict) {
	at := slices.IndexFunc(list, func(f Finding) bool { return f.Rule == v.Rule })
	for _, n := range t.own {
		if at >= 0 && n.Level > Info && n.first != nil {
			list[at].Next = joinSteps(n.first, list[at].Next)
		}
	}
}

// forInformation sets the levels of nodes whose verdict is withheld.
func forInformation(list []Node) {
	for i := range list {
		list[i].Level = Info
		forInformation(list[i].Causes)
	}
}
