package timeline

import (
	"fmt"
	"strings"

	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
)

// verdict returns the bottleneck of the run from the parts of the tree: the largest loss that
// exceeds its limit, else compute if it is the largest part of the window, else none. Limits decide
// which parts are reported, and sizes rank them.
func verdict(c *Evaluator, t tree.Tree) finding.Verdict {
	if n := onlyStart(c, t); n != nil {
		once := c.oneTimePhases().all
		of, _ := bound(c, func(p part) float64 { return shareOfWhole(p.time(once), once.Window()) })
		return finding.DecidedBy(of, n.Finding)
	}
	n := t.LargestLoss()
	if n == nil {
		return busy(c, t)
	}
	if v := busy(c, t); v.Bound == finding.BoundMemory && n.ID == rule.GPUIdle && !n.Reached {
		return v // a cause of idle time is over its limit, but the idle time is not, and memory limits far more
	}
	bound := partOf(n.ID).boundOf(c)
	if n.ReportedBy.Rule == rule.OpaqueGraphs {
		bound = finding.BoundUnknown // the GPU may have run graphs during this time
	}
	return finding.DecidedBy(bound, *n.ReportedBy)
}

// busy returns the verdict if no loss exceeds its limit.
func busy(c *Evaluator, t tree.Tree) finding.Verdict {
	v := nothingOver(c)
	for _, n := range t.Parts {
		if n.ID != rule.ComputeBound {
			continue
		}
		if n.ReportedBy != nil {
			v = finding.DecidedBy(finding.BoundCompute, *n.ReportedBy)
		}
		for _, k := range n.Causes {
			switch {
			case k.ID != rule.MemoryBandwidth || k.Level == finding.Info || v.Bound != finding.BoundCompute:
			case n.ReportedBy != nil:
				v = finding.DecidedBy(finding.BoundMemory, k.Finding)
			default:
				v = finding.Verdict{Bound: finding.BoundMemory, Sentence: v.Sentence + ". " + k.Title, Rule: k.ID}
			}
		}
	}
	if v.Bound == finding.BoundCompute && decodingOf(c).decodes {
		v.Bound = finding.BoundGPU
	}
	return v
}

// nothingOver returns the verdict if no part exceeds its warn limit.
func nothingOver(c *Evaluator) finding.Verdict {
	window, compute := c.Judged.Window(), c.Judged.Compute()
	figures := []string{figure(c, computing(), c.Judged)}
	largest := true
	for _, p := range parts() {
		ns := p.time(c.Judged)
		figures = append(figures, fmt.Sprintf("%s %s", p.what, unit.Share(ns, window)))
		largest = largest && compute >= ns
	}
	if largest {
		return finding.Verdict{Bound: finding.BoundCompute,
			Sentence: figures[0] + "; all other parts are below their limits: " + strings.Join(figures[1:], ", ")}
	}
	return finding.Verdict{Bound: finding.BoundMixed, Sentence: "No dominant bottleneck. " + strings.Join(figures, ", ")}
}
