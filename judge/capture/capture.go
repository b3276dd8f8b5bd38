package capture

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/summary/view"
)

// gpuEventsMissing is the code of the issue that kernels were launched but no GPU event was
// recorded.
const gpuEventsMissing = "gpu-events-missing"

// graphCaptureOnly is the code of the issue that nearly all launches created nodes of CUDA graphs
// instead of running work.
const graphCaptureOnly = "graph-capture-only"

// severalKernels is the code of the issue that launch calls have more than one record of GPU work.
// A few such calls change no verdict, so this is only a warning.
const severalKernels = "launches-with-several-kernels"

// collectedMissing is the code of the issue that an export lacks CUDA events which nsys collected.
const collectedMissing = "cuda-events-missing"

// launchesWithoutKernels is the code of the issue that the device work of launches is missing.
const launchesWithoutKernels = summary.LaunchesWithoutKernels

// An evaluator applies the rules about what was recorded.
type evaluator struct{ *tree.Context }

// Rules returns the rules about what was recorded.
func Rules(c *tree.Context) []tree.Row {
	e := &evaluator{c}
	return []tree.Row{
		{ID: rule.CaptureQuality, Part: tree.BasisCapture, Measure: tree.Single(e.captureQuality)},
		{ID: rule.NoGPUTime, Part: tree.BasisCapture, Precedence: 1, Abstains: true, Measure: tree.Single(e.withoutGPUTime)},
		{ID: rule.Clocks, Part: tree.BasisCapture, Precedence: 2, Abstains: true, Measure: tree.Single(e.clocks)},
		{ID: rule.RanksApart, Part: tree.BasisCapture, Precedence: 3, Abstains: true, Measure: tree.Single(e.ranksApart)},
		{ID: rule.RunsDiffer, Part: tree.BasisCapture, Precedence: 3, Abstains: true, Measure: tree.Single(e.runsDiffer)},
		{ID: rule.TooLittleWork, Part: tree.BasisCapture, Precedence: 3, Abstains: true,
			Measure: tree.Single(e.tooLittleWork)},
		{ID: rule.QueuedBefore, Part: tree.BasisCapture, Precedence: 4, Abstains: true, Measure: tree.Single(e.queuedBefore)},
		{ID: rule.SlowWorker, Part: tree.BasisSlices, Measure: tree.Single(e.slowWorker)},
	}
}

// captureQuality lists the issues that may have changed numbers.
func (c *evaluator) captureQuality() (finding.Finding, bool) {
	f := finding.Finding{Rule: rule.CaptureQuality, Level: finding.Info}
	var codes []string
	doubtful := false
	implausible := append(view.ImplausibleTimes(c.Summary), view.RanksApart(c.Summary)...)
	for _, is := range c.Issues {
		if is.Code == gpuEventsMissing && c.Total.Window() == 0 {
			continue // withoutGPUTime reports it
		}
		if is.Code == launchesWithoutKernels || c.Total.Window() > 0 && (slices.Contains(implausible, is) || is.Damages()) {
			continue // other findings report these
		}
		switch {
		case is.Severity == "suspect" || is.Code == severalKernels:
			f.Level, doubtful = finding.Warn, true
		case is.Severity == "data-loss":
			// One bad event costs a few microseconds. With these issues, the rest of the file is
			// missing.
			if is.Code == "input-truncated" || is.Code == "trailing-data" || is.Code == collectedMissing ||
				slices.Contains(limitsReached(), is.Code) {
				f.Level = finding.Warn
			}
		default:
			continue
		}
		codes = append(codes, is.Code)
		line := fmt.Sprintf("%s (%s): %s", is.Code, is.Severity, label.Plural(is.Count, "time"))
		if is.First != "" {
			line += ", first at " + is.First
		}
		f.Evidence = append(f.Evidence, line)
		f.Next = finding.JoinSteps(f.Next, Follow(is))
	}
	what := "Incomplete capture, some numbers may be too low"
	if doubtful {
		what = "Doubtful capture, some numbers may be wrong"
	}
	f.Title = what + ": " + strings.Join(codes, ", ")
	return f, len(codes) > 0
}

// Follow returns the help text of an issue as a step.
func Follow(is summary.Issue) []finding.Step {
	if is.Help == "" {
		return nil
	}
	return []finding.Step{finding.Advise("follow-the-issue", "issue_help", is.Help).For("help")}
}

// withoutGPUTime reports a capture that has no GPU time.
func (c *evaluator) withoutGPUTime() (finding.Finding, bool) {
	if c.Total.Window() > 0 {
		return finding.Finding{}, false
	}
	return c.noGPUTime(), true
}

// negotiated returns the self time of the waits of Horovod, and of all slices.
func (c *evaluator) negotiated() (waits, all int64) {
	horovod := false
	for i := range c.Spans {
		name := c.Spans[i].Name
		negotiates := strings.HasPrefix(name, "NEGOTIATE_")
		horovod = horovod || negotiates
		if all = summary.Plus(all, c.Spans[i].SelfNS); negotiates || strings.HasPrefix(name, "WAIT_FOR_") || name == "QUEUE" {
			waits = summary.Plus(waits, c.Spans[i].SelfNS)
		}
	}
	if !horovod {
		return 0, all
	}
	return waits, all
}

// noGPUTime returns the finding on a capture without GPU time. The cases are ordered so that the
// most specific reason is named.
func (c *evaluator) noGPUTime() finding.Finding {
	f := finding.Finding{Rule: rule.NoGPUTime, Level: finding.Warn}
	switch {
	case c.partial():
		f.Title = "No GPU work in the part of the capture that was measured"
		f.Next = []finding.Step{finding.Advise("measure-another-part").For("lacks=other-parts")}
	case len(c.Devices) > 0:
		f.Title = "All GPU events have zero duration; record at least one whole step"
		f.Next = []finding.Step{finding.Advise("record-whole-steps")}
	case c.Issue(summary.RowsUnusable) != nil:
		f.Title = "No usable GPU events: the times of " + label.Plural(c.Issue(summary.RowsUnusable).Count, "row") + " of GPU work cannot be true"
		f.Next = Follow(*c.Issue(summary.RowsUnusable))
	case c.Issue("numbers-implausible") != nil:
		f.Title = "No usable numbers: a time or a size in the input is wrong"
		f.Next = Follow(*c.Issue("numbers-implausible"))
	case c.Issue("input-truncated") != nil || slices.ContainsFunc(c.Issues, summary.Issue.Damages):
		f.Title = "No GPU events: the input is cut before the first one"
		f.Next = []finding.Step{finding.Advise("copy-the-file-again").For("lacks=end")}
	case c.Issue(gpuEventsMissing) != nil && !rule.OfROCm(c.Summary):
		f.Title = "No GPU events: another profiler used CUPTI, or tracing was not permitted"
		f.Next = []finding.Step{finding.Advise("stop-other-profilers"), finding.Advise("permit-tracing"), finding.Advise("read-the-profilers-errors")}
	case c.Issue(graphCaptureOnly) != nil:
		f.Title = "No GPU work: CUDA graphs were captured, and none was replayed"
		f.Next = []finding.Step{finding.Advise("record-the-replay").For("lacks=replay")}
	case c.otherAccelerator() == ascend:
		f.Title = "No events of the NPU; record with ProfilerActivity.NPU of torch_npu.profiler"
		f.Next = []finding.Step{finding.Advise("read-accelerator-slices").For("lacks=reader")}
	case c.foreign():
		f.Title = "No GPU events; only CPU slices are reported"
		f.Next = []finding.Step{finding.Advise("read-cpu-slices").For("lacks=gpu"), finding.Advise("record-the-gpu-of-pytorch").For("lacks=gpu")}
		if waits, all := c.negotiated(); waits > 0 && waits >= all/2 {
			f.Title = fmt.Sprintf("No GPU events; %s of the self time of CPU slices is waiting of Horovod for ranks or data", unit.Share(waits, all))
			f.Next = nil // most slices are no work; "assay whatif" tells the ranks
		} else if len(c.Spans) == 0 {
			f.Title = "No GPU events and no CPU slices"
			f.Next = f.Next[1:]
		}
	case c.Issue(limitsReached()...) != nil:
		f.Title = "No GPU events in the part of the capture that was read; a limit cut the rest"
		f.Next = []finding.Step{finding.Advise("read-more-of-the-file").For("lacks=rest")}
	case c.otherAccelerator() != "":
		f.Title = fmt.Sprintf("No GPU events; the capture shows another accelerator (%s)", c.otherAccelerator())
		f.Next = []finding.Step{finding.Advise("read-accelerator-slices").For("lacks=reader")}
	default:
		f.Title = "No GPU events; record with ProfilerActivity.CUDA"
		switch {
		case rule.OfNsys(c.Summary):
			f.Title = "No GPU events in the export; record with --trace=cuda,nvtx,osrt"
		case c.Issue("device-not-read") != nil:
			f.Title = "No GPU events; the file has work of devices that are not GPUs, which assay does not read"
		case rule.OfROCm(c.Summary):
			f.Title = "No GPU events; record with --kernel-trace"
		case rule.OfXLA(c.Summary):
			f.Title = "No GPU events; the profiler of XLA recorded the host only"
		}
		f.Next = []finding.Step{finding.Advise("record-the-gpu"), finding.Advise("record-whole-steps"),
			finding.Advise("check-cupti")}
	}
	if n := len(c.Spans); n > 0 {
		kinds := " kinds of CPU slices were measured"
		if c.otherAccelerator() == ascend {
			kinds = " kinds of slices of the CPU and the NPU were measured"
		}
		f.Evidence = []string{unit.Count(int64(n)) + kinds}
	}
	return f
}

// partial reports whether only a part of an input was measured.
func (c *evaluator) partial() bool {
	return slices.ContainsFunc(c.Inputs, func(in summary.Input) bool {
		w := in.Window
		// Equal if the window is the whole capture and only some events were left out.
		return w != nil && w.EndNS-w.StartNS < w.CaptureNS
	})
}

// ascend is the name of Huawei's NPUs.
const ascend = "Ascend"

// otherAccelerator returns the category of the events that PyTorch's profiler writes for MTIA
// (mtia_ccp_events) or Gaudi (hpu_op), [ascend] for traces of Ascend's profiler, and "" if the
// capture shows no such accelerator.
func (c *evaluator) otherAccelerator() string {
	if view.OfAscend(c.Summary) {
		return ascend
	}
	for _, sp := range c.Spans {
		if strings.HasPrefix(sp.Category, "mtia_") || strings.HasPrefix(sp.Category, "hpu_") {
			return sp.Category
		}
	}
	return ""
}

// limitsReached returns the codes of the issues that a limit stopped the reading of an input.
func limitsReached() []string { return []string{"input-limit", "inflation-limit", "memory-limit"} }

// foreign reports whether all inputs are traces of Chrome or Perfetto that PyTorch did not write.
func (c *evaluator) foreign() bool {
	return len(c.Inputs) > 0 && !slices.ContainsFunc(c.Inputs,
		func(in summary.Input) bool { return in.Format != "chrome-trace" && in.Format != "perfetto" })
}

// tooLittleWork judges whether there is enough GPU work for meaningful shares: a warm-up call of
// two kernels has as much idle time as a starved training run.
func (c *evaluator) tooLittleWork() (finding.Finding, bool) {
	limits := c.Limits[rule.TooLittleWork]
	var events, window, captured, span int64
	for _, d := range c.Devices {
		events += d.Events
		window += d.Activity.Window()
		if c.spanOf(d.Input) > 0 {
			captured += d.Activity.Window()
		}
	}
	captures := 0
	for i := range c.Inputs {
		if !c.onlyTables(i) {
			captures, span = captures+1, summary.Plus(span, c.spanOf(i))
		}
	}
	f := finding.Finding{Rule: limits.ID, Level: finding.Warn, NumeratorNS: captured, DenominatorNS: span}
	if span > 0 {
		f.Value = float64(captured) / float64(span)
	}
	var under string
	recording := c.Issue(graphCaptureOnly) != nil && len(c.Inputs) == 1
	switch {
	case recording:
	case events < limits.MinEvents && !c.longWork(events, window):
		under = label.Plural(limits.MinEvents, "event")
	case span > 0 && f.Value < limits.MinShare:
		under = unit.Percent(limits.MinShare) + " of the capture"
	default:
		return finding.Finding{}, false
	}
	f.Title = fmt.Sprintf("Too little GPU work: %s in %s", label.Plural(events, "GPU event"), unit.Duration(window))
	if span > 0 && !c.partial() {
		if captures > 1 {
			f.Title += fmt.Sprintf(" of %d captures, %s together", captures, unit.Duration(span))
		} else {
			f.Title += fmt.Sprintf(" of a capture of %s", unit.Duration(span))
		}
	}
	if recording {
		f.Title += "; the launches record CUDA graphs"
		f.Next = []finding.Step{finding.Advise("record-the-replay").For("lacks=replay")}
		return f, true
	}
	f.Title += "; limit " + under
	f.Next = []finding.Step{finding.Advise("record-whole-steps"), finding.Advise("look-around-the-events").For("few-events")}
	if c.partial() {
		f.Next = []finding.Step{finding.Advise("measure-another-part").For("lacks=other-parts")}
	}
	return f, true
}

// onlyTables reports whether an input has tables and no GPU, such as a profile of functions that was given with a trace. The
// GPU is not expected to work during its recording.
func (c *evaluator) onlyTables(input int) bool {
	of := func(i int) bool { return i == input }
	return slices.ContainsFunc(c.Tables, func(t summary.Table) bool { return of(t.Input) }) &&
		!slices.ContainsFunc(c.Devices, func(d summary.Device) bool { return of(d.Input) })
}

// longWork reports whether few events are enough, because they are long: at least half the limit
// of events, which fill most of the windows and take longer than warm-up calls.
func (c *evaluator) longWork(events, window int64) bool {
	const fills, least = 0.9, 10_000_000 // share; ns per GPU
	busy := c.Total.Busy()
	return 2*events >= c.Limits[rule.TooLittleWork].MinEvents && float64(busy) >= fills*float64(window) &&
		busy >= least*int64(len(c.Devices))
}

// ranksApart judges whether the traces of the ranks can be compared.
func (c *evaluator) ranksApart() (finding.Finding, bool) {
	list := view.RanksApart(c.Summary)
	if len(list) == 0 {
		return finding.Finding{}, false
	}
	f := finding.Finding{Rule: rule.RanksApart, Level: finding.Warn, Next: Follow(list[0])}
	f.Title = "The traces of the ranks cannot be compared: " + label.Clip(list[0].First, 60)
	if n := list[0].Count; n > 1 {
		f.Title += " and " + unit.Count(n-1) + " more do not belong to the others"
	} else {
		f.Title += " does not belong to the others"
	}
	for _, is := range list {
		f.Evidence = append(f.Evidence, is.Help)
	}
	return f, true
}

// spanOf returns the time in ns from the first to the last event of an input, or 0 if unknown.
func (c *evaluator) spanOf(input int) int64 {
	if input < 0 || input >= len(c.Inputs) {
		return 0
	}
	return c.Inputs[input].SpanNS
}

// clocks judges whether the times of the GPUs are plausible.
func (c *evaluator) clocks() (finding.Finding, bool) {
	list := view.ImplausibleTimes(c.Summary)
	if len(list) == 0 {
		return finding.Finding{}, false
	}
	f := finding.Finding{Rule: rule.Clocks, Level: finding.Warn}
	i := max(0, slices.IndexFunc(list, func(is summary.Issue) bool { return is.Code == summary.ClocksImplausible }))
	n := list[i].Count
	f.Title = map[string]string{
		summary.ClocksImplausible: fmt.Sprintf("The GPU timestamps are not plausible (%s)",
			label.Plural(n, "GPU window")),
		"kernels-without-duration": label.Plural(n, "kernel") + " recorded with a duration of 0",
		"durations-too-short":      label.Plural(n, "GPU operation") + " recorded with a duration that no GPU can reach",
		"launches-with-several-kernels": label.Plural(n, "GPU operation") +
			" recorded in addition to the one of its launch call",
		"work-before-launch":    label.Plural(n, "GPU operation") + " recorded before the launch call",
		"work-time-implausible": label.Plural(n, "GPU operation") + " recorded at impossible times",
		summary.CapturesMixed: label.Plural(n, "GPU operation") +
			" recorded in several captures of the same process and GPU, which cannot be separated",
	}[list[i].Code] + ", so no share of the window is known"
	for _, is := range list {
		f.Evidence = append(f.Evidence, is.Help)
	}
	f.Next = []finding.Step{finding.Advise("record-with-warm-up").For("defect=clock"), finding.Advise("give-the-original-trace").For("rewritten")}
	joined := list[i].Code == "work-time-implausible" && Joined(c.Summary)
	if joined { // the profiler had stopped, and was started again
		f.Title = "The numbers of launches begin again in the file, so it holds several captures, one after the other; no share of the window is known"
		f.Evidence = append([]string{c.Issue("correlation-ambiguous").Help}, f.Evidence...)
	}
	switch {
	case joined, list[i].Code == summary.CapturesMixed:
		f.Next = []finding.Step{finding.Advise("one-capture-per-file").For("defect=mixed")}
	case list[i].Code == "durations-too-short": // warm-up cures no duration
		f.Next = []finding.Step{finding.Advise("give-the-original-trace").For("rewritten")}
	}
	return f, true
}

// Joined reports whether nearly every launch has the number of another one of its process: a file holds several
// captures, one after the other.
func Joined(s *summary.Summary) bool {
	const nearly = 0.9
	launched := int64(0)
	for _, l := range s.Launches {
		launched += l.Launched
	}
	is := s.Issue("correlation-ambiguous")
	return is != nil && float64(is.Count) >= nearly*float64(launched)
}
