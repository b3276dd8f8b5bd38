package tree

import (
	"cmp"
	"slices"

	"assay/internal/unit"
	"assay/judge/finding"
)

// A Reading is what a rule returns: its finding as it is by itself, and what changes if it is
// placed below another one.
type Reading struct {
	finding.Finding
	Reached bool   // it reached a limit; a root that reaches none is not a finding
	What    string // the title without the limit; "" if the level is never explainLowered

	// Explains has the most ns that the reading explains, by the id of the rule below which it may
	// be placed. It cannot be placed below other rules.
	Explains map[string]int64

	Below  []string       // its evidence in the finding of the parent
	Advice []finding.Step // its fixes there
	Drops  []string       // ids of steps of the parent that these make useless

	Replacing []string        // evidence if it replaces the finding of its part; nil means Evidence
	Scope     []finding.Place // for a root: the places where the part is largest
	First     []finding.Step  // fixes that come first in the finding that decides the verdict
	Partial   bool            // it is about some of the inputs, so the others are still judged
}

// A Node is a reading in the tree.
type Node struct {
	Row
	Reading
	NS         int64 // ns of its parent that it explains and no cause before it does
	worth      int64 // ns of its parent that it explains
	parent     *Node
	Causes     []*Node
	ReportedBy *finding.Finding // the finding that reports it; nil if there is none

	// unplaced is true if the node was measured for the whole windows but only a part of them is
	// judged. How much of that part it explains is then unknown.
	unplaced bool
}

// A Tree has the parts of the window as roots, and the findings on other bases.
type Tree struct {
	Parts  []*Node // in the order of precedence
	Own    []*Node // on other bases
	window int64   // ns of all parts
}

// Assemble builds the tree of the window. It places each reading below the part or the cause that
// it explains, clips times, caps levels, and decides which nodes are findings.
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
		n.placeBelowPart(byRule, &t)
	}
	for _, p := range t.Parts {
		p.chooseReport(c)
	}
	for _, n := range t.Own {
		n.ReportedBy = &n.Finding
	}
	t.PlaceBelowCauses(c)
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

// placeBelowPart places n below the first part in its row that it explains and that is over its
// limit, or else below the last part that it explains.
func (n *Node) placeBelowPart(parts map[string]*Node, t *Tree) {
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

// chooseReport decides which finding reports a part: a cause that explains at least half of it, or
// else its own rule. If neither does, its causes can be findings themselves.
func (p *Node) chooseReport(c *Context) {
	slices.SortStableFunc(p.Causes, func(a, b *Node) int {
		return cmp.Or(cmp.Compare(a.Precedence, b.Precedence), cmp.Compare(b.worth, a.worth), c.precedes(a, b))
	})
	for _, n := range p.Causes {
		if n.Replaces && n.belowLast() && (p.Reached || n.Always) && !n.unplaced && n.worth > 0 && n.worth >= p.NS-n.worth {
			p.ReportedBy = n.replace(p)
			n.ReportedBy = p.ReportedBy
			return
		}
	}
	if p.Reached {
		p.ReportedBy = &p.Finding
		p.ReportedBy.Where = slices.Concat(p.Where, p.Scope)
	}
	if p.Reached && !p.Good {
		return
	}
	for _, n := range p.Causes {
		if n.Alone && n.Reached && n.belowLast() && n.outlastsWarmUp(c, p) {
			n.ReportedBy = &n.Finding
		}
	}
}

// outlastsWarmUp reports whether a cause exceeds its limit without the warm-up as well. For a cause
// measured over the whole windows that can be decided only because it explains at most all of the
// judged part.
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

// belowLast reports whether n is placed below the last part of its row, the one that it explains
// without another cause between.
func (n *Node) belowLast() bool { return n.parent.ID == n.Under[len(n.Under)-1] }

// replace returns the finding of a cause that replaces the one of its part. The title of the part
// becomes the first evidence, and the evidence of the part follows.
//
// If the limits of the cause are shares of the window, its title shows one of them, so it keeps its
// own level. Otherwise it gets the higher level of both, because the finding reports the whole
// part.
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

// PlaceBelowCauses moves nodes below causes and findings that they explain, if those are findings.
func (t *Tree) PlaceBelowCauses(c *Context) {
	all := slices.Clone(t.Own)
	for _, p := range t.Parts {
		all = append(all, p.Causes...)
	}
	slices.SortStableFunc(all, c.precedes)
	for _, n := range all {
		i := slices.IndexFunc(all, func(m *Node) bool { return m != n && n.belongsBelow(m) })
		if i < 0 {
			continue
		}
		is := func(o *Node) bool { return o == n }
		if t.Own = slices.DeleteFunc(t.Own, is); n.parent != nil {
			n.parent.Causes = slices.DeleteFunc(n.parent.Causes, is)
		}
		n.parent, n.ReportedBy, n.worth = all[i], nil, n.Explains[all[i].ID]
		n.parent.Causes = append(n.parent.Causes, n)
	}
}

// belongsBelow reports whether m is a finding that n explains. If m is about one rank or function,
// n must be about the same.
func (n *Node) belongsBelow(m *Node) bool {
	_, explains := n.Explains[m.ID]
	return explains && m.ReportedBy != nil && slices.Contains(n.Under, m.ID) &&
		(m.Subject == "" || m.Subject == n.Subject) &&
		(!n.Lower || n.Level <= m.Level)
}

// clip limits the times of all causes: none exceeds its parent, and all causes of a parent together
// do not exceed it. Time that two of them explain counts for the first one.
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

// capLevels lowers the levels of causes to what their share of the window warrants: see [Row.caps].
// A cause of a cause has at most the level of that cause. The share includes time that counts for
// other causes, because a kernel is no less important if two rules name it.
func (c *Context) capLevels(n, part *Node) {
	for _, k := range n.Causes {
		window, name, most := c.Judged.Window(), c.JudgedName(), finding.Info
		if k.unplaced {
			window, name = c.Total.Window(), c.WindowName()
		}
		warn, critical := k.caps(c.Limits[k.ID], c.Limits[part.ID])
		switch share := float64(k.worth) / float64(max(1, window)); {
		case k.worth == 0: // it explains why without taking time
		case n != part:
			most = n.Level
		case critical > 0 && share >= critical:
			most = finding.Critical
		case warn > 0 && share >= warn:
			most = finding.Warn
		}
		if k.Level > most {
			k.Level = most
			k.explainLowered(unit.Share(k.worth, window) + " of " + name)
		}
		c.capLevels(k, part)
	}
}
