package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/summary"
	"assay/unit"
)

func (c *evaluator) canGraphs() (can, why string) {
	opaque, nodes := int64(0), int64(0)
	for _, g := range c.Graphs {
		if g.Opaque {
			opaque++
		} else {
			nodes++
		}
	}
	hidden := slices.ContainsFunc(c.Kernels, func(k summary.Kernel) bool { return k.Category == wholeGraph })
	launched := slices.ContainsFunc(c.Calls, func(r summary.Call) bool { return r.Kind == "graph-launch" })
	switch {
	case (opaque > 0 || hidden) && nodes > 0:
		return Partly, fmt.Sprintf("%s of %s have no nodes", unit.Count(opaque), label.Plural(opaque+nodes, "graph"))
	case opaque > 0 || hidden || launched && nodes == 0:
		return No, "graphs were launched and their nodes were not recorded"
	case nodes > 0:
		return Yes, label.Plural(nodes, "graph") + " with their nodes"
	case len(c.Calls) == 0:
		return No, "no CUDA API calls were recorded"
	}
	return Yes, "none was launched"
}

func (c *evaluator) canRanks() (can, why string) {
	p := c.peers()
	comm := slices.ContainsFunc(c.Kernels, func(k summary.Kernel) bool { return k.Class == "comm" })
	switch {
	case len(c.Devices) == 0:
		return No, "no GPU event has a time"
	case p.ranks > 1 && !p.repeated:
		return Yes, label.Plural(int64(p.ranks), "rank")
	case p.repeated:
		return Partly, "several inputs have the same rank"
	case !comm:
		return Yes, "no communication kernels"
	}
	return No, "only one rank of the job was recorded"
}

func (c *evaluator) canEfficiency() (can, why string) {
	known := int64(0)
	for _, k := range c.Counters {
		if k.ComputePct != nil && k.MemoryPct != nil {
			known++
		}
	}
	switch all := int64(len(c.Counters)); {
	case all == 0:
		return No, "no hardware counters were collected"
	case known < all:
		return Partly, fmt.Sprintf("%s of %s have %% of peak", unit.Count(known), label.Plural(all, "kernel"))
	default:
		return Yes, label.Plural(all, "kernel") + " with % of peak"
	}
}

// canWhole asks whether the window is more than a corner of the capture.
func (c *evaluator) canWhole() (can, why string) {
	window, span := int64(0), int64(0)
	for i := range c.Inputs {
		from, to, any := int64(0), int64(0), false
		for _, d := range c.Devices {
			if d.Input != i {
				continue
			}
			if !any {
				from, to, any = d.StartNS, d.StartNS, true
			}
			from, to = min(from, d.StartNS), max(to, summary.Plus(d.StartNS, d.WindowNS))
		}
		if any && c.Inputs[i].SpanNS > 0 {
			window, span = summary.Plus(window, summary.Plus(to, -max(from, -math.MaxInt64))), summary.Plus(span, c.Inputs[i].SpanNS)
		}
	}
	if window <= 0 || span <= 0 {
		return No, "no GPU event has a time"
	}
	why = fmt.Sprintf("the GPU window is %s of the capture (%s)", unit.Share(window, span), fraction(window, span))
	if window < span/2 {
		return Partly, why
	}
	return Yes, why
}

// issuesOf returns the codes of the issues that are wanted.
func (c *evaluator) issuesOf(wanted func(summary.Issue) bool) (codes []string) {
	for _, is := range c.Issues {
		if wanted(is) {
			codes = append(codes, is.Code)
		}
	}
	return codes
}

// clockIssues are what clocks that went wrong look like.
var clockIssues = []string{"work-before-launch", "value-implausible", "window-implausible", "step-implausible", "steps-overlap", "stream-overlap"}

func (c *evaluator) canClocks() (can, why string) {
	codes := c.issuesOf(func(is summary.Issue) bool {
		return slices.Contains(clockIssues, is.Code)
	})
	if len(codes) > 0 {
		return Partly, strings.Join(codes, ", ")
	}
	return Yes, "no implausible timestamps"
}

func (c *evaluator) canComplete() (can, why string) {
	codes := c.issuesOf(func(is summary.Issue) bool { return is.Severity == "data-loss" || is.Code == launchesWithoutKernels })
	incomplete := int64(0)
	for _, in := range c.Inputs {
		if !in.Complete {
			incomplete++
		}
	}
	switch {
	case incomplete > 0:
		return Partly, fmt.Sprintf("%d of %s incomplete", incomplete, label.Plural(int64(len(c.Inputs)), "input"))
	case len(codes) > 0:
		return Partly, strings.Join(codes, ", ")
	}
	return Yes, "read to the end, nothing lost"
}

// secretIssues are what inputs with secrets in them have.
var secretIssues = []string{"secrets-in-capture", "secrets-masked"}

func (c *evaluator) canShare() (can, why string) {
	most := int64(0)
	for _, is := range c.Issues {
		if slices.Contains(secretIssues, is.Code) {
			most = max(most, is.Count)
		}
	}
	if most > 0 {
		return No, label.Plural(most, "value") + " in it look like secrets"
	}
	return Yes, "nothing in it looks like a secret; user names and paths may remain"
}
