// Package analyze measures: it turns what was read into a [summary.Summary].
// It has no thresholds and passes no judgement; package judge does.
//
// Each kind of input has a package below. A trace has several, each of which needs those
// before it: gpu, launches, steps, calls, attribute. There is one file per question. Each analysis
// is a pure function of its input; its doc comment states what is summed and the
// denominator.
package analyze

import (
	"cmp"
	"maps"
	"strings"

	"assay/analyze/attribute"
	"assay/analyze/classify"
	"assay/analyze/detail"
	"assay/analyze/efficiency"
	"assay/analyze/efficiency/hardware"
	"assay/analyze/gpu"
	"assay/analyze/launches"
	"assay/analyze/limits"
	"assay/analyze/phase"
	"assay/analyze/ranks/collective"
	"assay/analyze/steps"
	"assay/internal/diag"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// Options say how to measure. Fields may be added; use DefaultOptions.
type Options struct {
	Rules     *classify.Rules // decide the class and category of kernels
	StripBins int             // bins of each device's activity strip
	MaxRows   int             // rows of one table; 0 for [limits.MaxRows]
	Phases    *phase.Rules    // say which names are steps and phases; nil for the built-in ones
	Without   Measures        // are left out, because nothing shows them

	// Collectives is called with the collectives of each GPU that has any, so that
	// ranks can be compared; nil if there is nothing to compare with.
	Collectives func(device int64, c *collective.Columns)

	// Peaks finds what GPUs can do at most.
	Peaks hardware.Catalog
	// Model are the FLOPs of a step as the user counts them, or zero.
	Model hardware.ModelFLOPs

	// Detail asks for what zoomable timelines show; nil if it is not wanted.
	Detail *detail.Request
}

// StripBins is how many bins the strips of the command have: four pixels each
// in a picture of 1200.
const StripBins = 300

// DefaultOptions returns the options that the command uses.
func DefaultOptions() Options {
	return Options{Rules: classify.Default(), StripBins: StripBins}
}

func (o Options) maxRows() int { return cmp.Or(o.MaxRows, limits.MaxRows) }

// maxSteps returns how many rows of steps the input may have. A row of a step takes about
// a quarter of the memory of other rows.
func (o Options) maxSteps() int { return min(steps.MaxRows, 4*o.maxRows()) }

// Trace measures one trace. The input states where the trace came from; Trace sets
// its Events, Complete, SpanNS and BaseTimeNS, which only the trace has.
func Trace(t *trace.Trace, in summary.Input, opt Options) *summary.Summary {
	in.Events, in.Complete = t.Events, t.Complete
	in.BaseTimeNS = t.Meta.BaseTime
	in.Recorder = maps.Clone(t.Meta.Recorder)
	in.Host, in.GPUs = strings.Clone(t.Meta.Host), len(t.Meta.Devices)
	for _, g := range t.Meta.Groups {
		if g.Description != "" && g.Description != "default_pg" && g.Description != "undefined" {
			in.ProcessGroups = append(in.ProcessGroups, summary.ProcessGroup{Name: g.Name, Description: g.Description, Size: g.Size})
		}
	}
	var issues, ofMarks diag.Ledger
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{in}}

	hosts := beside(func() *attribute.Host { return attribute.HostOf(t) })
	words := steps.NewVocabulary(t, opt.Phases)
	marked := beside(func() []steps.Mark { return steps.MarksOf(words, &ofMarks) })
	tl := gpu.NewTimeline(t, opt.Rules, &issues)
	if twice := tl.Repeated(); len(twice) > 0 {
		hosts()
		marked()
		return Trace(gpu.WithoutRepeated(t, twice), in, opt)
	}
	checkWindows(tl, in.Rank, &issues)
	s.Inputs[0].SpanNS = plausibleSpan(tl, gpu.InWindow(t, span(t)), &issues)
	if w := t.Window; w != nil {
		s.Inputs[0].Window = &summary.Window{StartNS: w.Start, EndNS: w.End}
	}
	bins, budget := stripBins(len(tl.Devices), opt, &issues), limits.NewBudget(opt.maxRows())
	devices := beside(func() *worked { return workedOf(tl, in.Rank, bins, budget) })
	host, marks := hosts(), marked()
	threads := opt.Detail.Hosts(tl)
	var owners *efficiency.Owners
	if opt.measures(Efficiency) {
		owners = efficiency.New(t, host.Links)
	}
	attribution := beside(func() *attribute.Attribution {
		return attribute.Work(tl, host, marks, attribute.Options{Rows: opt.maxRows(), Gaps: opt.Detail.Gaps(), Host: threads.Add(), Shapes: opt.measures(Shapes), Passes: opt.measures(Passes), Launched: owners.Add()})
	})
	launchWork := beside(func() launched {
		return launchesOf(tl, host.Links, marks, in.Rank, queueBins{bins, opt.Detail.Cells(len(tl.Devices))}, opt.maxSteps())
	})
	phases := steps.PhasesOf(words)
	var done []*steps.Completion
	var ofSteps diag.Ledger
	s.Steps, done = stepRows(tl, host.Links, marks, phases, in.Rank, opt, &ofSteps)
	s.Phases = phases.Rows(tl, done, host.Links, in.Rank, &ofSteps)
	devices().fill(s, &issues)
	for i, d := range tl.Devices {
		s.Devices[i].UncertainNS = host.Links.Lost().Uncertain(tl, d, host.Links)
	}
	issues.Merge(&ofSteps)
	launches.NotePlausibleTimes(tl, host.Links, &issues) // while others measure
	launched, attributed := launchWork(), attribution()
	s.Launches = launched.rows
	attribute.Fill(s, attributed, collectiveOf(tl, host.Links), in.Rank, bins, budget, &issues)
	owners.Fill(s, tl, opt.Peaks, opt.Model, in.Rank, opt.maxRows())
	if opt.Detail != nil {
		s.Details = detail.Of(opt.Detail, detail.Measured{Timeline: tl, Attribution: attributed, Phases: phases, Completions: done, Hosts: threads, Queues: launched.fine, Summary: s})
	}
	if len(tl.Devices) == 0 {
		s.Spans = append(hostSpans(t, in.Rank, budget), asyncSpans(t, in.Rank, budget)...)
		noteDerived(t, &issues)
		missing(t, &issues)
	}
	for _, d := range tl.Devices {
		if opt.Collectives == nil && owners == nil {
			break
		}
		c := collectivesOf(tl, d, host.Links)
		if c != nil && opt.Collectives != nil {
			opt.Collectives(d.Ordinal, c)
		}
		if c != nil && owners != nil {
			owners.Collectives(s, d, c, opt.Peaks, in.Rank)
		}
	}
	efficiency.NoteOver(s, &issues)
	s.LaunchLosses = host.Links.Lost().RowsOf(in.Rank)
	host.Links.Lost().Note(t, in.Rank, &issues)
	if n := host.Links.Lost().OnlyCaptured(); n > 0 && t.Window == nil {
		issues.AddN(diag.Issue{Code: "graph-capture-only", Severity: diag.Info}, n)
	}
	launches.NotePlausible(tl, host.Links, s, &issues)
	budget.Note(&issues)
	checkSums(s, &issues)
	checkNames(s, &issues)
	issues.Merge(&ofMarks)
	for _, is := range t.Issues {
		issues.AddN(is, is.Count)
	}
	for _, is := range issues.Issues() {
		s.Issues = append(s.Issues, issueOf(is))
	}
	s.Sort()
	s.Detach()
	return s
}

// worked is what the work of GPUs says by itself, without what launched it.
type worked struct {
	devices []summary.Device
	streams []summary.Stream
	copies  []summary.Copy
	issues  diag.Ledger
}

func workedOf(tl *gpu.Timeline, rank, bins int, budget *limits.Budget) *worked {
	w := new(worked)
	for _, d := range tl.Devices {
		w.devices = append(w.devices, tl.Measure(d, rank, bins))
		w.streams = append(w.streams, tl.Streams(d, rank, &w.issues)...)
	}
	w.streams = budget.Keep(w.streams)
	w.copies = gpu.Copies(tl, rank, budget)
	return w
}

func (w *worked) fill(s *summary.Summary, issues *diag.Ledger) {
	s.Devices, s.Streams, s.Copies = w.devices, w.streams, w.copies
	issues.Merge(&w.issues)
}

// stepRows measures the steps on each device.
func stepRows(tl *gpu.Timeline, l *launches.Links, marks []steps.Mark, phases *steps.Phases, rank int, opt Options, issues *diag.Ledger) ([]summary.Step, []*steps.Completion) {
	done := steps.Completions(tl, l, phases.Found() || steps.CutByWork(marks) || steps.MayRunAhead(tl, marks))
	return steps.Rows(tl, steps.OfDevice(tl, l, marks, done), done, phases, l.Lost(), rank, opt.maxSteps(), issues), done
}

// Steps returns the steps of a trace as [Trace] measures them.
func Steps(t *trace.Trace, rank int, opt Options) []summary.Step {
	var unused diag.Ledger
	words := steps.NewVocabulary(t, opt.Phases)
	rows, _ := stepRows(gpu.NewTimeline(t, opt.Rules, &unused), launches.Of(t), steps.MarksOf(words, &unused), steps.PhasesOf(words), rank, opt, &unused)
	return rows
}

// Extent returns the first start and the last end of all events of a trace: see span.
func Extent(t *trace.Trace) interval.Span { return span(t) }

// A PhaseRun is one run of a phase: from the first of the device work that it launched to
// the last, or on the host where it launched none.
type PhaseRun struct {
	interval.Span
	Path string // as in [summary.Phase]
}

// PhaseRuns returns the runs of the phases of a trace, by their start on the host.
func PhaseRuns(t *trace.Trace, opt Options) (out []PhaseRun) {
	var unused diag.Ledger
	phases := steps.PhasesOf(steps.NewVocabulary(t, opt.Phases))
	tl := gpu.NewTimeline(t, opt.Rules, &unused)
	done := steps.Completions(tl, attribute.HostOf(t).Links, true)
	for _, r := range phases.Runs() {
		out = append(out, PhaseRun{steps.OnDevices(done, r.Span), r.Path})
	}
	return out
}

// beside computes something on another core and returns a function that waits
// for it.
func beside[T any](f func() T) func() T {
	done := make(chan T, 1)
	go func() { done <- f() }()
	return func() T { return <-done }
}

// span returns the stretch from the first start to the last end of all complete
// events, on the host and on devices. The profiler's bookkeeping is left out,
// because it starts before and ends after the program that is captured.
func span(t *trace.Trace) interval.Span {
	var all interval.Span
	none := true
	see := func(start, dur int64) {
		if none {
			all, none = interval.Span{Start: start, End: start + dur}, false
		}
		all.Start, all.End = min(all.Start, start), max(all.End, start+dur)
	}
	for a := range t.Activities.All() {
		see(a.Start, a.Dur)
	}
	for o := range t.Ops.All() {
		see(o.Start, o.Dur)
	}
	for c := range t.Calls.All() {
		see(c.Start, c.Dur)
	}
	for p := range t.Python.All() {
		see(p.Start, p.Dur)
	}
	for s := range t.Spans.All() {
		if s.Kind != trace.Span && s.Kind != trace.Overhead {
			see(s.Start, s.Dur)
		}
	}
	return all
}

func issueOf(is diag.Issue) summary.Issue {
	out := summary.Issue{Code: is.Code, Severity: is.Severity.String(), Count: is.Count, Help: is.Help}
	if is.First != (diag.Pos{}) {
		out.First = is.First.String()
	}
	return out
}
