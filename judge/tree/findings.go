package tree

import (
	"cmp"
	"slices"

	"assay/judge/finding"
	"assay/judge/rule"
)

// Findings returns the findings of the tree. Evidence and fixes of causes that are not findings
// themselves are added to the finding above them.
func (t Tree) Findings(accept func(*Node) bool) (out []finding.Finding) {
	for _, n := range slices.Concat(t.Parts, t.Own) {
		if accept(n) {
			out = append(out, n.flatten()...)
		}
	}
	return out
}

// flatten returns the finding that reports n, and those of its causes that are separate findings.
func (n *Node) flatten() (out []finding.Finding) {
	if n.ReportedBy != nil {
		f := *n.ReportedBy
		f.Evidence, f.Next = slices.Clone(f.Evidence), slices.Clone(f.Next)
		n.gather(&f)
		out = append(out, f)
	}
	for _, k := range n.Causes {
		if k.ReportedBy != nil && k.ReportedBy != n.ReportedBy {
			out = append(out, k.flatten()...)
		}
	}
	return out
}

// largePart is the part of a loss, as a divisor, from which the first line of a cause is the second of the evidence.
const largePart = 3

// gather adds to f the evidence and fixes of the causes of n that are not findings themselves.
func (n *Node) gather(f *finding.Finding) {
	for _, k := range n.Causes {
		next := f.Next
		if len(k.Advice) > 0 {
			next = finding.Without(next, k.Drops)
		}
		switch {
		case k.ReportedBy == n.ReportedBy: // f already reports this cause
			k.gather(f)
		case k.ReportedBy != nil || k.Not != "" && k.Not == f.Rule:
		case n.Root && f.InPlaceOf == "" && !k.Last && !k.unplaced && k.worth >= n.NS-k.worth:
			f.Evidence, f.Next = slices.Concat(k.Below, f.Evidence), finding.JoinSteps(k.Advice, next)
		case n.Root && !k.Last && len(k.Below) > 0 && largePart*k.worth >= n.NS:
			first := min(1, len(f.Evidence)) // the largest cause; what can be saved follows at once
			f.Evidence = slices.Concat(f.Evidence[:first], k.Below[:1], f.Evidence[first:], k.Below[1:])
			f.Next = finding.JoinSteps(next, k.Advice)
		default:
			f.Evidence, f.Next = slices.Concat(f.Evidence, k.Below), finding.JoinSteps(next, k.Advice)
		}
	}
}

// explainLowered says in a finding why its level is lower than its value warrants. The title ends
// with the share that decided, such as "8.0% of the window", instead of the limit of its value.
func (n *Node) explainLowered(share string) {
	if n.What != "" {
		n.Title = n.What + "; " + share
	}
	n.Evidence = append(slices.Clone(n.Evidence), "the level is lowered because this is "+share)
}

// LeadWithPart puts the causes of the part that decides the verdict before other findings of the
// highest level, if the part itself has no finding above Info: the causes then say where its time
// goes.
func (t Tree) LeadWithPart(list []finding.Finding, v finding.Verdict) {
	id := v.Rule
	if v.Bound == finding.BoundCompute || v.Bound == finding.BoundGPU {
		id = rule.ComputeBound // the verdict may name compute although nothing is over a limit
	}
	at := slices.IndexFunc(t.Parts, func(n *Node) bool { return n.ID == id })
	if at < 0 || slices.ContainsFunc(list, func(f finding.Finding) bool {
		return f.Rule == id &&
			f.Level > finding.Info
	}) {
		return
	}
	causes := map[string]bool{}
	var note func(*Node)
	note = func(n *Node) {
		for _, k := range n.Causes {
			causes[k.ID] = true
			note(k)
		}
	}
	note(t.Parts[at])
	if len(list) == 0 {
		return
	}
	top := list[0].Level
	slices.SortStableFunc(list, func(a, b finding.Finding) int {
		if a.Level != top || b.Level != a.Level || causes[a.Rule] == causes[b.Rule] {
			return cmp.Compare(b.Level, a.Level)
		}
		if causes[a.Rule] {
			return -1
		}
		return 1
	})
}

// Nodes returns the tree with its shares.
func (t Tree) Nodes() (out []finding.Node) {
	for _, p := range t.Parts {
		out = append(out, p.export(p.Part, t.window))
	}
	for _, n := range t.Own {
		out = append(out, n.export(n.Part, 0))
	}
	return out
}

// export returns n as a node of a part. Window is the denominator in ns, or 0 on other bases.
func (n *Node) export(part string, window int64) finding.Node {
	out := n.Finding.Node(part)
	out.Rule = n.ID
	if window > 0 {
		out.NS, out.OfNS, out.Share = n.NS, window, float64(n.NS)/float64(window)
		if n.worth > n.NS && !n.unplaced {
			out.ExplainsNS = n.worth
		}
	}
	for _, k := range n.Causes {
		out.Causes = append(out.Causes, k.export(part, window))
	}
	return out
}

// LeadWith puts the fixes that must come first before those of the finding that decides the
// verdict.
func (t Tree) LeadWith(list []finding.Finding, v finding.Verdict) {
	at := slices.IndexFunc(list, func(f finding.Finding) bool { return f.Rule == v.Rule })
	for _, n := range t.Own {
		if at >= 0 && n.Level > finding.Info && n.First != nil {
			list[at].Next = finding.JoinSteps(n.First, list[at].Next)
		}
	}
}
