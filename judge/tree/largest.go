package tree

import (
	"fmt"

	"assay/internal/unit"
	"assay/judge/finding"
)

// LargestLoss returns the largest part of the window that is a loss and has a finding, or nil. Of
// equal parts it is the first.
func (t Tree) LargestLoss() (out *Node) {
	for _, p := range t.Parts {
		if p.Good || p.ReportedBy == nil || p.NS == 0 {
			continue
		}
		if out == nil || p.NS > out.NS {
			out = p
		}
	}
	return out
}

// alignLevels makes the levels of the parts agree with their sizes. The limits of the parts differ,
// so a smaller part can be critical while the largest loss is not: the largest loss then gets that
// level too. No finding of another part has a higher level than the largest loss, because that part
// is not where most time is lost.
func (t Tree) alignLevels(c *Context) {
	largest := t.LargestLoss()
	if largest == nil || largest.ReportedBy.Level == finding.Info {
		return
	}
	for _, p := range t.Parts {
		if p == largest || p.Good || p.ReportedBy == nil || p.ReportedBy.Level <= largest.ReportedBy.Level {
			continue
		}
		largest.ReportedBy.Level = p.ReportedBy.Level
		largest.ReportedBy.Evidence = append(largest.ReportedBy.Evidence,
			fmt.Sprintf("the level is that of %s, which is a smaller part of %s (%s)",
				p.ReportedBy.Rule, c.JudgedName(), unit.Share(p.NS, c.Judged.Window())))
	}
	for _, p := range t.Parts {
		if p != largest {
			p.lowerTo(largest.ReportedBy.Level)
		}
	}
}

// lowerTo lowers the findings of n and of its causes to a level.
func (n *Node) lowerTo(most finding.Level) {
	if n.ReportedBy != nil && n.ReportedBy.Level > most {
		n.ReportedBy.Level = most
		n.ReportedBy.Evidence = append(n.ReportedBy.Evidence,
			"the level is lowered to that of the part that decides the verdict")
	}
	for _, k := range n.Causes {
		k.lowerTo(most)
	}
}
