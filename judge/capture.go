package judge

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// gpuEventsMissing is the code of the issue that kernels were launched and none was
// recorded.
const gpuEventsMissing = "gpu-events-missing"

// captureQuality lists the issues that may have changed numbers.
func (c *evaluator) captureQuality() (Finding, bool) {
	f := Finding{Rule: RuleCaptureQuality, Level: Info}
	var codes []string
	doubtful := false
	implausible := view.ImplausibleTimes(c.Summary)
	for _, is := range c.Issues {
		if is.Code == gpuEventsMissing && c.total.Window() == 0 {
			continue // the finding that there is nothing to judge says it
		}
		if is.Code == launchesWithoutKernels || c.total.Window() > 0 && (slices.Contains(implausible, is) || is.Damages()) {
			continue // these have findings of their own
		}
		switch is.Severity {
		case "suspect":
			f.Level, doubtful = Warn, true
		case "data-loss":
			// One bad event is a few microseconds; here the rest of the file is gone.
			if is.Code == "input-truncated" || is.Code == "trailing-data" || slices.Contains(limitsReached(), is.Code) {
				f.Level = Warn
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
		f.Next = joinSteps(f.Next, follow(is))
	}
	what := "Incomplete capture, some numbers may be too low"
	if doubtful {
		what = "Doubtful capture, some numbers may be wrong"
	}
	f.Title = what + ": " + strings.Join(codes, ", ")
	return f, len(codes) > 0
}

// follow returns the help of an issue as a step.
func follow(is summary.Issue) []Step {
	if is.Help == "" {
		return nil
	}
	return []Step{advise("follow-the-issue", "issue_help", is.Help)}
}

// withoutGPUTime judges whether a capture has GPU time.
func (c *evaluator) withoutGPUTime() (Finding, bool) {
	if c.total.Window() > 0 {
		return Finding{}, false
	}
	return c.noGPUTime(), true
}

// noGPUTime returns the finding for a capture without GPU time, with its reason.
func (c *evaluator) noGPUTime() Finding {
	f := Finding{Rule: RuleNoGPUTime, Level: Warn}
	switch {
	case len(c.Devices) > 0:
		f.Title = "All GPU events have zero duration; record at least one whole step"
		f.Next = []Step{advise("record-whole-steps")}
	case slices.ContainsFunc(c.Issues, func(is summary.Issue) bool {
		return is.Code == "input-truncated" || is.Damages()
	}):
		f.Title = "No GPU events: the input is cut before the first one"
		f.Next = []Step{advise("copy-the-file-again")}
	case slices.ContainsFunc(c.Issues, func(is summary.Issue) bool { return is.Code == gpuEventsMissing }):
		f.Title = "No GPU events: another profiler used CUPTI, or tracing was not permitted"
		f.Next = []Step{advise("stop-other-profilers"), advise("permit-tracing"), advise("read-the-profilers-errors")}
	case c.foreign():
		f.Title = "No GPU events; only CPU slices are reported"
		f.Next = []Step{advise("read-cpu-slices"), advise("record-the-gpu-of-pytorch")}
		if len(c.Spans) == 0 {
			f.Title = "No GPU events and no CPU slices"
			f.Next = f.Next[1:]
		}
	case slices.ContainsFunc(c.Issues, func(is summary.Issue) bool { return slices.Contains(limitsReached(), is.Code) }):
		f.Title = "No GPU events in the part of the capture that was read; a limit cut the rest"
		f.Next = []Step{advise("read-more-of-the-file")}
	case c.otherAccelerator() != "":
		f.Title = fmt.Sprintf("No GPU events; the capture shows another accelerator (%s)", c.otherAccelerator())
		f.Next = []Step{advise("read-accelerator-slices")}
	default:
		f.Title = "No GPU events; record with ProfilerActivity.CUDA"
		if c.ofNsys() {
			f.Title = "No GPU events in the export; record with --trace=cuda,nvtx,osrt"
		}
		f.Next = []Step{advise("record-the-gpu"), advise("record-whole-steps"), advise("check-cupti")}
	}
	if n := len(c.Spans); n > 0 {
		f.Evidence = []string{unit.Count(int64(n)) + " kinds of CPU slices were measured"}
	}
	return f
}

// otherAccelerator returns the category of events that PyTorch's profiler writes for
// an accelerator other than a GPU, or "": MTIA (mtia_ccp_events) or Gaudi (hpu_op).
func (c *evaluator) otherAccelerator() string {
	for _, sp := range c.Spans {
		if strings.HasPrefix(sp.Category, "mtia_") || strings.HasPrefix(sp.Category, "hpu_") {
			return sp.Category
		}
	}
	return ""
}

// limitsReached returns the codes of issues that say that an input was not read
// to its end.
func limitsReached() []string { return []string{"input-limit", "inflation-limit", "memory-limit"} }

// foreign reports whether no input comes from PyTorch.
func (c *evaluator) foreign() bool {
	return len(c.Inputs) > 0 && !slices.ContainsFunc(c.Inputs, func(in summary.Input) bool { return in.Format != "chrome-trace" })
}

// tooLittleWork judges whether there is enough GPU work for shares. A warm-up call of
// two kernels has as much idle time as a starved training run.
func (c *evaluator) tooLittleWork() (Finding, bool) {
	rule := c.rules[RuleTooLittleWork]
	var events, window, captured, span int64
	for _, d := range c.Devices {
		events = summary.Plus(events, d.Events)
		window = summary.Plus(window, d.Activity.Window())
		if c.spanOf(d.Input) > 0 {
			captured = summary.Plus(captured, d.Activity.Window())
		}
	}
	for i := range c.Inputs {
		span = summary.Plus(span, c.spanOf(i))
	}
	f := Finding{Rule: rule.ID, Level: Warn, NumeratorNS: captured, DenominatorNS: span}
	if span > 0 {
		f.Value = float64(captured) / float64(span)
	}
	var under string
	switch {
	case events < rule.MinEvents:
		under = label.Plural(rule.MinEvents, "event")
	case span > 0 && f.Value < rule.MinShare:
		under = unit.Percent(rule.MinShare) + " of the capture"
	default:
		return Finding{}, false
	}
	f.Title = fmt.Sprintf("Too little GPU work: %s in %s", label.Plural(events, "GPU event"), unit.Duration(window))
	if span > 0 {
		of := "a capture"
		if n := len(c.Inputs); n > 1 {
			of = fmt.Sprintf("%d captures", n)
		}
		f.Title += fmt.Sprintf(" of %s of %s", of, unit.Duration(span))
	}
	f.Title += "; limit " + under
	f.Next = []Step{advise("record-whole-steps"), advise("look-around-the-events")}
	return f, true
}

// spanOf returns the span of an input, or 0 where it is not known.
func (c *evaluator) spanOf(input int) int64 {
	if input < 0 || input >= len(c.Inputs) {
		return 0
	}
	return c.Inputs[input].SpanNS
}
