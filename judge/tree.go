package judge

import (
	"cmp"
	"slices"

	"assay/unit"
)

// A Node is one finding of the tree. The four parts of the window are the first nodes of
// a timeline: they are always present, and their times sum to the window.
type Node struct {
	Rule    string `json:"rule"`
	Part    string `json:"part"`              // the root: a part of the window, or a basis of its own
	Subject string `json:"subject,omitempty"` // as in a Finding

	// NS is the part of its parent's time that the node explains, at most. The causes
	// of one node have at most its time together: what several of them explain counts
	// for the first one. OfNS is the window, and Share is NS of it. On a basis of its own
	// they are the numerator, the denominator and the value of the finding; for memory
	// in bytes, for numbers of steps or launches the value alone.
	NS      int64   `json:"ns"`
	OfNS    int64   `json:"of_ns"`
	Bytes   int64   `json:"bytes,omitempty"`
	OfBytes int64   `json:"of_bytes,omitempty"`
	Share   float64 `json:"share"`

	// ExplainsNS is the time of its parent that the node explains with what counts for the
	// causes before it. It is 0 if that is NS. The level follows it.
	ExplainsNS int64 `json:"explains_ns,omitempty"`

	Level  Level  `json:"level"`
	Causes []Node `json:"causes,omitempty"`
}

// A reading is what a rule returns: its finding as it is by itself, and what the rule
// says where the finding hangs below another one.
type reading struct {
	Finding
	reached bool   // a limit; a root that reaches none is not a finding
	what    string // the title without the limit; "" if the level is never lowered

	// explains has the time that the reading explains, at most, by the id of the rule
	// below which it hangs. A rule that is missing here is not explained.
	explains map[string]int64

	below  []string // evidence in the finding of the parent
	advice []Step   // and its fixes there
	drops  []string // ids of steps of the parent that these make useless

	replacing []string // evidence if it replaces the finding of its part; nil if that is Evidence
	scope     []Place  // of a root: the places where the part is largest
	first     []Step   // fixes that come first in the finding that decides the verdict
	partial   bool     // it is about a part of the inputs, so the others are judged
}

// A node is a reading in the tree.
type node struct {
	row
	reading
	ns     int64 // of its parent's time, without what a cause before it explains
	worth  int64 // of its parent's time
	parent *node
	causes []*node
	told   *Finding // the finding that reports it; nil if there is none

	// unplaced is true if it is known of the whole windows only, and a part of them is
	// judged. How much of that it explains is not known then.
	unplaced bool
}

// A tree has the parts of the window as roots, and the findings on other bases.
type tree struct {
	parts  []*node // in the order of precedence
	own    []*node // on bases of their own
	window int64   // of the parts
}

// measure returns the readings of the rules that accept returns true for, in the order
// of precedence, whatever the order of the rules.
func (c *evaluator) measure(accept func(row) bool) (out []*node) {
	for _, r := range c.rows {
		if r.measure == nil || !accept(r) {
			continue
		}
		for _, m := range r.measure(c) {
			out = append(out, &node{row: r, reading: m})
		}
	}
	slices.SortStableFunc(out, c.precedes)
	return out
}

// precedes orders nodes of one parent: by the precedence of their rows, then by the
// order of their rules.
func (c *evaluator) precedes(a, b *node) int {
	return cmp.Or(cmp.Compare(a.precedence, b.precedence), cmp.Compare(c.order[a.id], c.order[b.id]),
		cmp.Compare(a.part, b.part), cmp.Compare(a.Subject, b.Subject))
}

// assemble builds the tree of the window. It hangs each reading below the part or the
// cause that it explains, cuts times, caps levels, and decides which nodes are findings.
func (c *evaluator) assemble() tree {
	t := tree{window: c.judged.Window()}
	byRule := map[string]*node{}
	var causes []*node
	for _, n := range c.measure(func(r row) bool { return r.ofTimeline() }) {
		switch {
		case n.root:
			n.ns, n.worth = n.NumeratorNS, n.NumeratorNS
			t.parts = append(t.parts, n)
			byRule[n.id] = n
		case len(n.explains) == 0:
			t.own = append(t.own, n)
		default:
			n.unplaced = n.whole && c.judged != c.total
			causes = append(causes, n)
		}
	}
	for _, n := range causes {
		n.hangBelowPart(byRule, &t)
	}
	for _, p := range t.parts {
		p.tell(c)
	}
	for _, n := range t.own {
		n.told = &n.Finding
	}
	t.hangBelowCauses(c)
	for _, p := range t.parts {
		p.clip()
		c.capLevels(p, p)
	}
	for _, n := range t.own {
		n.clip()
	}
	return t
}

// hangBelowPart hangs n below the first part in its row that it explains and that is
// over its limit, else below the last part that it explains.
func (n *node) hangBelowPart(parts map[string]*node, t *tree) {
	for _, id := range n.under {
		p := parts[id]
		if _, ok := n.explains[id]; !ok || p == nil {
			continue
		}
		n.parent = p
		if p.reached {
			break
		}
	}
	if n.parent == nil {
		t.own = append(t.own, n)
		return
	}
	n.worth = n.explains[n.parent.id]
	if !n.unplaced {
		n.worth = min(n.worth, n.parent.ns)
	}
	n.parent.causes = append(n.parent.causes, n)
}

// tell decides which finding reports a part: a cause that explains at least half of it,
// or else its own rule. Without any of them, its causes are findings by themselves.
func (p *node) tell(c *evaluator) {
	slices.SortStableFunc(p.causes, func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.precedence, b.precedence), cmp.Compare(b.worth, a.worth), c.precedes(a, b))
	})
	for _, n := range p.causes {
		if n.replaces && n.belowLast() && (p.reached || n.always) && !n.unplaced && n.worth > 0 && n.worth >= p.ns-n.worth {
			p.told = n.replace(p)
			n.told = p.told
			return
		}
	}
	if p.reached {
		p.told = &p.Finding
		p.told.Where = slices.Concat(p.Where, p.scope)
	}
	if p.reached && !p.good {
		return
	}
	for _, n := range p.causes {
		if n.alone && n.reached && n.belowLast() {
			n.told = &n.Finding
		}
	}
}

// belowLast reports whether n hangs below the part that it explains by itself, which is
// the last one of its row.
func (n *node) belowLast() bool { return n.parent.id == n.under[len(n.under)-1] }

// replace returns the finding of a cause that replaces the one of its part: the title of
// the part is its first evidence, and what the part shows follows. Its level is the higher
// one of both, because it reports the whole part.
func (n *node) replace(p *node) *Finding {
	f := n.Finding
	f.InPlaceOf, f.Level = p.id, max(f.Level, p.Level)
	own := n.Evidence
	if n.replacing != nil {
		own = n.replacing
	}
	f.Evidence = slices.Concat([]string{p.Title}, own, p.Evidence)
	f.Next = joinSteps(f.Next, without(p.Next, n.drops))
	f.Where = slices.Concat(f.Where, p.scope)
	return &f
}

// hangBelowCauses moves nodes below the causes and the findings that they explain. Only
// those are parents that are findings.
func (t *tree) hangBelowCauses(c *evaluator) {
	all := slices.Clone(t.own)
	for _, p := range t.parts {
		all = append(all, p.causes...)
	}
	slices.SortStableFunc(all, c.precedes)
	for _, n := range all {
		i := slices.IndexFunc(all, func(m *node) bool { return m != n && n.hangsBelow(m) })
		if i < 0 {
			continue
		}
		is := func(o *node) bool { return o == n }
		if t.own = slices.DeleteFunc(t.own, is); n.parent != nil {
			n.parent.causes = slices.DeleteFunc(n.parent.causes, is)
		}
		n.parent, n.told, n.worth = all[i], nil, n.explains[all[i].id]
		n.parent.causes = append(n.parent.causes, n)
	}
}

// hangsBelow reports whether m is a finding that n explains. If m is about one rank or
// function, n must be about the same.
func (n *node) hangsBelow(m *node) bool {
	_, explains := n.explains[m.id]
	return explains && m.told != nil && slices.Contains(n.under, m.id) && (m.Subject == "" || m.Subject == n.Subject) &&
		(!n.lower || n.Level <= m.Level)
}

// clip cuts the times of the causes of n, and of their causes: none has more than its
// parent, and together they have no more than it. What two of them explain counts for
// the first one.
func (n *node) clip() {
	left := n.ns
	for _, k := range n.causes {
		if k.unplaced {
			continue
		}
		k.worth = min(k.worth, n.worth)
		k.ns = min(k.worth, left)
		left -= k.ns
		k.clip()
	}
}

// capLevels lowers the levels of causes to what their share of the window warrants: see
// [row.caps]. A cause of a cause is no worse than that. What the levels are capped by
// is not cut by other causes: a kernel matters no less because two rules name it.
func (c *evaluator) capLevels(n, part *node) {
	for _, k := range n.causes {
		window, name, most := c.judged.Window(), c.judgedName(), Info
		if k.unplaced {
			window, name = c.total.Window(), c.windowName()
		}
		warn, critical := k.caps(c.rules[k.id], c.rules[part.id])
		switch share := float64(k.worth) / float64(max(1, window)); {
		case k.worth == 0: // it says why and takes no time
		case n != part:
			most = n.Level
		case critical > 0 && share >= critical:
			most = Critical
		case warn > 0 && share >= warn:
			most = Warn
		}
		if k.Level > most {
			k.Level = most
			k.lowered(unit.Share(k.worth, window) + " of " + name)
		}
		c.capLevels(k, part)
	}
}

// without returns the steps that have none of some ids.
func without(steps []Step, ids []string) []Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return slices.Contains(ids, s.ID) })
}

// measureAbout returns the readings of the rules about the verdict, in the order of
// precedence.
func (c *evaluator) measureAbout(v Verdict) (out []*node) {
	for _, r := range c.rows {
		if r.conclude == nil {
			continue
		}
		for _, m := range r.conclude(c, v) {
			n := &node{row: r, reading: m}
			n.told = &n.Finding
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b *node) int { return cmp.Or(cmp.Compare(b.precedence, a.precedence), c.precedes(a, b)) })
	return out
}
