package timeline

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/capture"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/summary/view"
)

// recordsMissing judges whether device work is missing from the capture: see [missingRecords]. The
// verdict is withheld unless the reading is partial.
func (c *Evaluator) recordsMissing(v finding.Verdict) []tree.Reading {
	f, withheld, ok := missingRecords(c, v)
	if !ok {
		return nil
	}
	return []tree.Reading{{Finding: f, Reached: true, Partial: !withheld}}
}

// missingRecords reports device work that is missing from the capture, and whether the verdict is
// withheld: if an export is damaged, if the share of launches without device work reaches the
// critical limit, or if the missing work could change the verdict.
func missingRecords(c *Evaluator, v finding.Verdict) (f finding.Finding, withheld, ok bool) {
	limits, l := c.Limits[rule.RecordsMissing], capture.LossOf(c.Summary)
	f = finding.Finding{Rule: limits.ID, Level: finding.Warn, Value: l.Share, Warn: limits.Warn, Critical: limits.Critical}
	if only, ok := onlyPart(c, f); ok {
		return only, true, true
	}
	if l.Damaged != nil {
		f.Title = "The export is damaged, and GPU records are missing from it (" + l.Damaged.Code + ")"
		if l.Damaged.Code == summary.EventsIncomplete {
			f.Title = fmt.Sprintf("The export is incomplete: %s are missing, which may be GPU work",
				label.Plural(l.Damaged.Count, "CUDA event"))
		}
		for _, is := range c.Issues {
			if is.Damages() {
				f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s, first at %s", is.Code, label.Plural(is.Count, "time"),
					is.First))
				f.Next = finding.JoinSteps(f.Next, capture.Follow(is))
			}
		}
		f.Evidence = append(f.Evidence, capture.Evidence(c.Context, l)...)
		return f, true, true
	}
	withheld = l.OfKernels >= limits.Critical || l.Uncertain > 0 && !robust(c, v, l.Uncertain)
	if l.Share < limits.Warn && !withheld {
		return cutAtEnd(c, f, l)
	}
	if l.OfKernels >= limits.Critical {
		f.Level = finding.Critical
	}
	f.Title = fmt.Sprintf("GPU records are missing: %s have no GPU work (%s)", l.Worst.Text(),
		unit.Share(l.Worst.Missing, l.Worst.Calls))
	if l.OfKernels < limits.Critical && withheld {
		f.Title += fmt.Sprintf("; it can have taken up to %s of the window, which may change the verdict",
			unit.Share(l.Uncertain, c.Judged.Window()))
	}
	f.Evidence = capture.Evidence(c.Context, l)
	if l.Worst.Missing == l.Worst.Calls {
		f.Title = fmt.Sprintf("GPU records are missing: the profiler recorded no %s (%s)", l.Worst.What(), l.Worst.Text()+
			" have no GPU work")
		f.Next = []finding.Step{finding.Advise("record-kernels-at-all").For("missing=all")}
		return f, withheld, true
	}
	f.Next = []finding.Step{finding.Advise("record-fewer-events").For("missing=some"), finding.Advise("let-the-profiler-finish").For("cut-short"),
		finding.Advise("record-whole-steps")}
	return f, withheld, true
}

// onlyPart reports inputs of a recorder that writes only a part of what ran: nothing but communication, between which
// GPUs compute, or kernels without launches, so that nothing tells why GPUs are idle.
func onlyPart(c *Evaluator, f finding.Finding) (finding.Finding, bool) {
	all := func(format string) bool {
		return len(c.Inputs) > 0 && !slices.ContainsFunc(c.Inputs, func(in summary.Input) bool { return in.Format != format })
	}
	gpus := label.Plural(int64(len(c.Devices)), "GPU")
	time := func(of func(summary.Activity) int64) (ns int64) {
		for i := range c.Devices {
			ns = summary.Plus(ns, of(c.Devices[i].Activity))
		}
		return ns
	}
	switch {
	case all(summary.FormatNCCL):
		ns := time(func(a summary.Activity) int64 { return a.With(summary.ClassComm) })
		f.Title = fmt.Sprintf("Only communication is recorded: %s on %s; what the GPUs computed is not in the capture",
			unit.Duration(ns), gpus)
	case all(summary.FormatProton):
		f.Title = fmt.Sprintf("Only kernels are recorded: %s on %s; why the GPU is idle between them is not in the capture",
			unit.Duration(time(summary.Activity.Busy)), gpus)
	default:
		return f, false
	}
	f.Level = finding.Critical
	f.Next = []finding.Step{finding.Advise("record-a-timeline")}
	return f, true
}

// cutAtEnd reports the share of launches whose work is missing because the capture ended before it.
// The windows are complete without this work, but from [view.MostAtEnd] on the capture shows too
// little of the program for a verdict.
func cutAtEnd(c *Evaluator, f finding.Finding, l capture.Loss) (_ finding.Finding, withheld, ok bool) {
	share := float64(l.End.AtEnd) / float64(max(1, l.End.Calls))
	if share < f.Warn {
		return f, false, false
	}
	withheld = share >= view.MostAtEnd
	f.Level, f.Value = finding.Info, share
	if withheld {
		f.Level = finding.Critical
	}
	f.Title = fmt.Sprintf("The capture ends before the GPU work of %s of its launches (%s of %s)",
		unit.Share(l.End.AtEnd, l.End.Calls), unit.Count(l.End.AtEnd), unit.Count(l.End.Calls))
	f.Evidence = capture.Evidence(c.Context, l)
	if steps := cutSteps(c); steps > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s incomplete and left out of medians", label.Plural(steps, "step row")))
	}
	f.Next = []finding.Step{finding.Advise("let-the-profiler-finish").For("cut-short"), finding.Advise("record-whole-steps")}
	return f, withheld, true
}

// cutSteps counts the rows of steps with launches at the end of the capture.
func cutSteps(c *Evaluator) (n int64) {
	for _, st := range c.Steps {
		if st.LaunchesCut > 0 {
			n++
		}
	}
	return n
}

// robust reports whether the verdict is the same for any work in the time in which work may be
// missing. The part that decided must be over its limit without that time, and no other part may
// become larger and over its limit with it: see [verdict].
func robust(c *Evaluator, v finding.Verdict, uncertain int64) bool {
	window := c.Judged.Window()
	over := func(p part, ns int64) bool {
		level, _, ok := c.Limits[p.rule].Level(float64(ns) / float64(window))
		return ok && level > finding.Info
	}
	least := int64(0) // smallest possible ns of the part that decided
	for _, p := range parts() {
		if v.Bound != p.boundOf(c) {
			continue
		}
		if least = p.time(c.Judged) - uncertain; over(p, p.time(c.Judged)) && !over(p, least) {
			return false
		}
	}
	for _, p := range parts() {
		if most := p.time(c.Judged) + uncertain; v.Bound != p.boundOf(c) && most > least && over(p, most) {
			return v.Bound == finding.BoundUnknown
		}
	}
	return true
}

// withheld returns the result of a summary that is measured but not judged. Its findings are only
// information.
func withheld(c *Evaluator, f finding.Finding, found, judged []finding.Finding, order map[string]int) finding.Result {
	finding.SortFindings(judged, order)
	for i := range judged {
		judged[i].Level = finding.Info
	}
	return finding.Result{Verdict: finding.DecidedBy(finding.BoundUnknown, f),
		Findings: slices.Concat(found, []finding.Finding{f}, c.OfMemory(), judged)}
}
