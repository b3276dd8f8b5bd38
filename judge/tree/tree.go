// Package tree builds the tree of findings from the readings of rules.
//
// Each rule is a [Row]: where its findings hang, and a function that measures them and sees
// no other finding. [Context.Assemble] builds the tree of the window, lowers the levels of
// causes with a small share of it, and decides which nodes are findings: a cause with at
// least half of a part replaces the finding of the part, and the evidence of the others is
// added to it. The order of the rules has no influence.
//
// Figures are pooled over GPUs: the time of all GPUs over the windows of all GPUs, so a GPU
// with a long window weighs more. Titles show the mean per GPU; evidence names the worst GPU.
package tree

import (
	"cmp"
	"slices"

	"assay/internal/unit"
	"assay/judge/finding"
)

// A Reading is what a rule returns: its finding as it is by itself, and what the rule
// says where the finding hangs below another one.
type Reading struct {
	finding.Finding
	Reached bool   // a limit; a root that reaches none is not a finding
	What    string // the title without the limit; "" if the level is never lowered

	// explains has the time that the reading explains, at most, by the id of the rule
	// below which it hangs. A rule that is missing here is not explained.
	Explains map[string]int64

	Below  []string       // evidence in the finding of the parent
	Advice []finding.Step // and its fixes there
	Drops  []string       // ids of steps of the parent that these make useless

	Replacing []string        // evidence if it replaces the finding of its part; nil if that is Evidence
	Scope     []finding.Place // of a root: the places where the part is largest
	First     []finding.Step  // fixes that come first in the finding that decides the verdict
	Partial   bool            // it is about a part of the inputs, so the others are judged
}

// A Node is a reading in the tree.
type Node struct {
	Row
	Reading
	NS     int64 // of its parent's time, without what a cause before it explains
	worth  int64 // of its parent's time
	parent *Node
	Causes []*Node
	Told   *finding.Finding // the finding that reports it; nil if there is none

	// unplaced is true if it is known of the whole windows only, and a part of them is
	// judged. How much of that it explains is not known then.
	unplaced bool
}

// A Tree has the parts of the window as roots, and the findings on other bases.
type Tree struct {
	Parts  []*Node // in the order of precedence
	Own    []*Node // on bases of their own
	window int64   // of the parts
}

// Assemble builds the tree of the window. It hangs each reading below the part or the
// cause that it explains, cuts times, caps levels, and decides which nodes are findings.
func (c *Context) Assemble() Tree {
	t := Tree{window: c.Judged.Window()}
	byRule := map[string]*Node{}
	var causes []*Node
	for _, n := range c.Measure(func(r Row) bool { return r.ofTimeline() }) {
		switch {
		case n.Root:
			n.NS, n.worth = n.NumeratorNS, n.NumeratorNS
			t.Parts = append(t.Parts, n)
			byRule[n.ID] = n
		case len(n.Explains) == 0:
			t.Own = append(t.Own, n)
		default:
			n.unplaced = n.Whole && c.Left != "" && !(n.OfIdle && c.Placed)
			causes = append(causes, n)
		}
	}
	for _, n := range causes {
		n.hangBelowPart(byRule, &t)
	}
	for _, p := range t.Parts {
		p.tell(c)
	}
	for _, n := range t.Own {
		n.Told = &n.Finding
	}
	t.HangBelowCauses(c)
	for _, p := range t.Parts {
		p.clip()
		c.capLevels(p, p)
	}
	for _, n := range t.Own {
		n.clip()
	}
	t.alignLevels(c)
	return t
}

// hangBelowPart hangs n below the first part in its row that it explains and that is
// over its limit, else below the last part that it explains.
func (n *Node) hangBelowPart(parts map[string]*Node, t *Tree) {
	for _, id := range n.Under {
		p := parts[id]
		if _, ok := n.Explains[id]; !ok || p == nil {
			continue
		}
		n.parent = p
		if p.Reached {
			break
		}
	}
	if n.parent == nil {
		t.Own = append(t.Own, n)
		return
	}
	n.worth = n.Explains[n.parent.ID]
	if !n.unplaced {
		n.worth = min(n.worth, n.parent.NS)
	}
	n.parent.Causes = append(n.parent.Causes, n)
}

// tell decides which finding reports a part: a cause that explains at least half of it,
// or else its own rule. Without any of them, its causes are findings by themselves.
func (p *Node) tell(c *Context) {
	slices.SortStableFunc(p.Causes, func(a, b *Node) int {
		return cmp.Or(cmp.Compare(a.Precedence, b.Precedence), cmp.Compare(b.worth, a.worth), c.precedes(a, b))
	})
	for _, n := range p.Causes {
		if n.Replaces && n.belowLast() && (p.Reached || n.Always) && !n.unplaced && n.worth > 0 && n.worth >= p.NS-n.worth {
			p.Told = n.replace(p)
			n.Told = p.Told
			return
		}
	}
	if p.Reached {
		p.Told = &p.Finding
		p.Told.Where = slices.Concat(p.Where, p.Scope)
	}
	if p.Reached && !p.Good {
		return
	}
	for _, n := range p.Causes {
		if n.Alone && n.Reached && n.belowLast() && n.outlastsWarmUp(c, p) {
			n.Told = &n.Finding
		}
	}
}

// outlastsWarmUp reports whether a cause is over its limit without the warm-up too. Of a
// cause of the whole windows, that is certain only of the part outside: it has at most all
// of its part there.
func (n *Node) outlastsWarmUp(c *Context, p *Node) bool {
	share := float64(min(n.worth, p.NS)) / float64(max(1, c.Judged.Window()))
	switch {
	case n.unplaced && n.Worth == WorthOfRule:
		_, _, ok := c.Limits[n.ID].Level(share)
		return ok
	case n.unplaced && n.Worth == WorthOfLoss:
		return share >= c.Limits[n.ID].MinShare
	}
	return true
}

// belowLast reports whether n hangs below the part that it explains by itself, which is
// the last one of its row.
func (n *Node) belowLast() bool { return n.parent.ID == n.Under[len(n.Under)-1] }

// replace returns the finding of a cause that replaces the one of its part: the title of
// the part is its first evidence, and what the part shows follows. Its level is its own if
// its limits are shares of the window, as its title shows one of them; else it is the
// higher one of both, because the finding reports the whole part.
func (n *Node) replace(p *Node) *finding.Finding {
	f := n.Finding
	if f.InPlaceOf = p.ID; n.Worth != WorthOfRule || !n.Reached {
		f.Level = max(f.Level, p.Level)
	}
	own := n.Evidence
	if n.Replacing != nil {
		own = n.Replacing
	}
	f.Evidence = slices.Concat([]string{p.Title}, own, p.Evidence)
	f.Next = finding.JoinSteps(f.Next, finding.Without(p.Next, n.Drops))
	f.Where = slices.Concat(f.Where, p.Scope)
	return &f
}

// HangBelowCauses moves nodes below the causes and the findings that they explain. Only
// those are parents that are findings.
func (t *Tree) HangBelowCauses(c *Context) {
	all := slices.Clone(t.Own)
	for _, p := range t.Parts {
		all = append(all, p.Causes...)
	}
	slices.SortStableFunc(all, c.precedes)
	for _, n := range all {
		i := slices.IndexFunc(all, func(m *Node) bool { return m != n && n.hangsBelow(m) })
		if i < 0 {
			continue
		}
		is := func(o *Node) bool { return o == n }
		if t.Own = slices.DeleteFunc(t.Own, is); n.parent != nil {
			n.parent.Causes = slices.DeleteFunc(n.parent.Causes, is)
		}
		n.parent, n.Told, n.worth = all[i], nil, n.Explains[all[i].ID]
		n.parent.Causes = append(n.parent.Causes, n)
	}
}

// hangsBelow reports whether m is a finding that n explains. If m is about one rank or
// function, n must be about the same.
func (n *Node) hangsBelow(m *Node) bool {
	_, explains := n.Explains[m.ID]
	return explains && m.Told != nil && slices.Contains(n.Under, m.ID) && (m.Subject == "" || m.Subject == n.Subject) &&
		(!n.Lower || n.Level <= m.Level)
}

// clip cuts the times of the causes of n, and of their causes: none has more than its
// parent, and together they have no more than it. What two of them explain counts for
// the first one.
func (n *Node) clip() {
	left := n.NS
	for _, k := range n.Causes {
		if k.unplaced {
			continue
		}
		k.worth = min(k.worth, n.worth)
		k.NS = min(k.worth, left)
		left -= k.NS
		k.clip()
	}
}

// capLevels lowers the levels of causes to what their share of the window warrants: see
// [Row.caps]. A cause of a cause is no worse than that. What the levels are capped by
// is not cut by other causes: a kernel matters no less because two rules name it.
func (c *Context) capLevels(n, part *Node) {
	for _, k := range n.Causes {
		window, name, most := c.Judged.Window(), c.JudgedName(), finding.Info
		if k.unplaced {
			window, name = c.Total.Window(), c.WindowName()
		}
		warn, critical := k.caps(c.Limits[k.ID], c.Limits[part.ID])
		switch share := float64(k.worth) / float64(max(1, window)); {
		case k.worth == 0: // it says why and takes no time
		case n != part:
			most = n.Level
		case critical > 0 && share >= critical:
			most = finding.Critical
		case warn > 0 && share >= warn:
			most = finding.Warn
		}
		if k.Level > most {
			k.Level = most
			k.lowered(unit.Share(k.worth, window) + " of " + name)
		}
		c.capLevels(k, part)
	}
}
