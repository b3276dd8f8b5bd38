package judge

import (
	"fmt"
	"strings"

	"assay/unit"
)

// decidedBy returns the verdict of a finding: its bound and its title.
func decidedBy(bound Bound, f Finding) Verdict {
	return Verdict{Bound: bound, Sentence: f.Title, Rule: f.Rule}
}

// verdict returns the bottleneck of the run from the parts of the tree: the first part
// over its critical limit, else the largest over its warn limit, else compute if it is
// the largest part of the window, else none. A part has the level of the finding that
// reports it.
func (c *evaluator) verdict(t tree) Verdict {
	var worst Verdict
	most := int64(0)
	for _, n := range t.parts {
		f := n.told
		if f == nil || n.id == RuleComputeBound {
			continue
		}
		bound := partOf(n.id).bound
		if f.Rule == RuleOpaqueGraphs {
			bound = BoundUnknown // the GPU ran graphs during this time
		}
		if f.Level == Critical {
			return decidedBy(bound, *f)
		}
		if n.ns > most {
			worst, most = decidedBy(bound, *f), n.ns
		}
	}
	if most > 0 {
		return worst
	}
	return c.busy(t)
}

// busy returns the verdict if no part that is a loss exceeds its limit.
func (c *evaluator) busy(t tree) Verdict {
	v := c.nothingOver()
	for _, n := range t.parts {
		if n.id != RuleComputeBound {
			continue
		}
		if n.told != nil {
			v = decidedBy(BoundCompute, *n.told)
		}
		for _, k := range n.causes {
			switch {
			case k.id != RuleMemoryBandwidth || k.Level == Info || v.Bound != BoundCompute:
			case n.told != nil:
				v = decidedBy(BoundMemory, k.Finding)
			default:
				v = Verdict{Bound: BoundMemory, Sentence: v.Sentence + ". " + k.Title, Rule: k.id}
			}
		}
	}
	return v
}

// nothingOver returns the verdict if no part exceeds its warn limit.
func (c *evaluator) nothingOver() Verdict {
	window, compute := c.judged.Window(), c.judged.Compute()
	figures := []string{c.figure(computing(), c.judged)}
	largest := true
	for _, p := range parts() {
		ns := p.time(c.judged)
		figures = append(figures, fmt.Sprintf("%s %s", p.what, unit.Share(ns, window)))
		largest = largest && compute >= ns
	}
	if largest {
		return Verdict{Bound: BoundCompute, Sentence: figures[0] + "; all other parts are below their limits: " + strings.Join(figures[1:], ", ")}
	}
	return Verdict{Bound: BoundMixed, Sentence: "No dominant bottleneck. " + strings.Join(figures, ", ")}
}
