package whatif

import (
	"fmt"
	"slices"

	"assay/analyze/whatif"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/summary"
)

// muchOfStep is the share of a step from which the time of the profiler is shown, in percent.
const muchOfStep = 5

// profiler returns the section of what recording costs: with the time of a step without the profiler always, else
// if it is much of a step that is shown.
func (v *view) profiler() doc.Section {
	for i := range v.a.Profiler {
		x := &v.a.Profiler[i]
		if !slices.ContainsFunc(v.paths, func(p summary.CriticalPath) bool {
			return p.Rank == x.Rank && (p.Step == x.Step || x.GivenNS != nil) && p.Verdict != summary.Withheld
		}) {
			continue
		}
		text := ""
		switch {
		case x.GivenNS != nil:
			text = fitted(x)
		case 100*(x.MeasuredNS-x.LeastNS) >= muchOfStep*x.MeasuredNS:
			text = fmt.Sprintf("Recording %s events of the CPU takes about %s to %s each: without the profiler the step may take %s to %s instead of %s. "+
				"--measured TIME, the step time without it, makes forecasts for that.",
				unit.Count(x.Events), unit.Duration(x.EventNS[0]), unit.Duration(x.EventNS[1]), unit.Duration(x.LeastNS), unit.Duration(x.MostNS), unit.Duration(x.MeasuredNS))
		default:
			continue
		}
		return doc.Section{Title: "The profiler itself", Blocks: []doc.Block{doc.Paragraph{Text: text}}}
	}
	return doc.Section{}
}

// fitted says what the profiler costs by the time of a step without it.
func fitted(x *whatif.OfProfiler) string {
	by := "as given"
	if x.GivenBy != "" {
		by = "by the median of " + label.Clip(label.Clean(x.GivenBy), 60)
	}
	if x.Reason != "" {
		return fmt.Sprintf("A step takes %s in the trace, and %s %s: %s. Forecasts are less sure.",
			unit.Duration(x.MeasuredNS), unit.Duration(*x.GivenNS), by, x.Reason)
	}
	return fmt.Sprintf("A step takes %s in the trace, %s %s, and %s replayed if recording takes %s for each of its %s events of the CPU. "+
		"Forecasts are for a program without the profiler.", unit.Duration(x.MeasuredNS), unit.Duration(*x.GivenNS), by, unit.Duration(*x.FittedNS),
		unit.Duration(int64(*x.CostNS)), unit.Count(x.Events))
}
