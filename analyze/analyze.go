// Package analyze measures: it turns what the readers read into a [summary.Summary]. It has no
// thresholds and passes no judgement; package judge does that.
//
// Start with Trace in this file: it runs the measurements of a trace, some of them at the same
// time, and fills the summary. They are in packages below, each of which builds on the ones
// before it:
//
//	gpu        the work of each device: busy time, streams, kernels, copies
//	launches   which call launched which work, and what is missing
//	steps      the steps and phases of the program, and when their work ended
//	calls      API calls: copies, synchronization, graphs, gaps between work
//	hosttree   the nested events of a thread, walked in the order of time
//	attribute  which operator, module or line owns GPU work and idle time
//	efficiency achieved FLOP/s and bytes/s against the peaks of the hardware
//
// Other inputs than traces have a package each: logs, counters, memory, profile, nsysstats; see
// inputs.go. ranks compares several inputs, and clocks aligns their time. detail and inspect
// answer questions that the summary does not: zoomable timelines, and the details of one moment.
//
// Each measurement is a pure function of its input. Its comment says what is summed and what
// shares are relative to. Times are in ns, sizes in bytes.
package analyze

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"assay/analyze/attribute"
	"assay/analyze/classify"
	"assay/analyze/detail"
	"assay/analyze/efficiency"
	"assay/analyze/efficiency/hardware"
	"assay/analyze/fusion"
	"assay/analyze/gpu"
	"assay/analyze/launches"
	"assay/analyze/layers"
	"assay/analyze/limits"
	"assay/analyze/occupancy"
	"assay/analyze/phase"
	"assay/analyze/ranks/collective"
	"assay/analyze/samples"
	"assay/analyze/steps"
	"assay/internal/diag"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// Options say how to measure. Fields may be added; use DefaultOptions.
type Options struct {
	Rules     *classify.Rules // classify kernels
	StripBins int             // number of bins of each device's activity strip
	MaxRows   int             // maximum number of rows of a table; 0 for [limits.MaxRows]
	Phases    *phase.Rules    // find steps and phases by name; nil for the built-in rules
	Without   Measures        // measurements to skip, because the output does not show them

	// Collectives receives the collectives of each GPU that has any, for the comparison of
	// ranks. It is nil for a single rank.
	Collectives func(device int64, c *collective.Columns)

	// Peaks has the peak rates of GPUs.
	Peaks hardware.Catalog
	// Model has the FLOPs of a step as the user states them, or zero.
	Model hardware.ModelFLOPs

	// Detail says what to measure for zoomable timelines; nil for nothing.
	Detail *detail.Request

	// Launching receives what the launching threads did, for a join with the samples of a sampler. It may be nil.
	Launching func(*samples.Capture)

	// Measured receives the trace as it was measured: without its faults, and with the clocks of its GPUs
	// aligned. It may be nil.
	Measured func(*trace.Trace)
}

// StripBins is the default number of bins of activity strips. In a picture 1200 pixels wide, a
// bin is four pixels.
const StripBins = 300

// DefaultOptions returns the options that the command uses.
func DefaultOptions() Options {
	return Options{Rules: classify.Default(), StripBins: StripBins}
}

func (o Options) maxRows() int { return cmp.Or(o.MaxRows, limits.MaxRows) }

// maxSteps returns the maximum number of rows of steps. A row of a step takes about a quarter of
// the memory of other rows.
func (o Options) maxSteps() int { return min(steps.MaxRows, 4*o.maxRows()) }

// Trace measures one trace. The caller describes in in where the trace came from; Trace adds what
// the trace says itself, such as Events, Complete, SpanNS and BaseTimeNS. The summary does not
// keep memory of the trace alive.
func Trace(t *trace.Trace, in summary.Input, opt Options) *summary.Summary {
	in.Events, in.Complete = t.Events, t.Complete
	in.BaseTimeNS = t.Meta.BaseTime
	in.Recorder = maps.Clone(t.Meta.Recorder)
	in.Host, in.GPUs, in.Process = strings.Clone(t.Meta.Host), len(t.Meta.Devices), processOf(t)
	for _, g := range t.Meta.Groups {
		if g.Description != "" && g.Description != "default_pg" && g.Description != "undefined" {
			in.ProcessGroups = append(in.ProcessGroups,
				summary.ProcessGroup{Name: g.Name, Description: g.Description, Size: g.Size})
		}
	}
	all := span(t)
	if limits.Implausible(all) && t.Window == nil {
		if mended := t.WithoutStrays(); mended != t {
			return Trace(mended, in, opt)
		}
	}
	var issues, markIssues diag.Ledger
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{in}}

	hostResult := async(func() *attribute.Host { return attribute.HostOf(t) })
	words := steps.NewVocabulary(t, opt.Phases)
	marksResult := async(func() []steps.Mark { return steps.MarksOf(words, &markIssues) })
	tl := gpu.NewTimeline(t, opt.Rules, &issues)
	if faults := tl.Faults(); !faults.None() {
		hostResult()
		marksResult()
		in.ClippedNS = faults.Clipped(t)
		return Trace(gpu.Mend(t, faults), in, opt)
	}
	checkWindows(tl, in.Rank, &issues)
	s.Inputs[0].SpanNS = plausibleSpan(tl, gpu.InWindow(t, all), &issues)
	streamWaits(t, &s.Inputs[0])
	if w := t.Window; w != nil {
		s.Inputs[0].Window = &summary.Window{StartNS: w.Start, EndNS: w.End}
	}
	bins, budget := stripBins(len(tl.Devices), opt, &issues), limits.NewBudget(opt.maxRows())
	devices := async(func() *deviceRows { return measureDevices(tl, in.Rank, bins, budget) })
	host, marks := hostResult(), marksResult()
	threads := opt.Detail.Hosts(tl)
	var owners *efficiency.Owners
	if opt.measures(Efficiency) {
		owners = efficiency.New(t, host.Links)
	}
	asks := attribute.Options{Rows: opt.maxRows(), Gaps: opt.Detail.Gaps(),
		Host: threads.Add(), Shapes: opt.measures(Shapes), Passes: opt.measures(Passes), Launched: owners.Add()}
	var launching *samples.Capture
	if opt.Launching != nil {
		launching = samples.NewCapture(tl)
		launching.Collect(&asks)
	}
	attribution := async(func() *attribute.Attribution { return attribute.Work(tl, host, marks, asks) })
	launchTables := async(func() launchRows {
		return launchesOf(tl, host.Links, marks, in.Rank, queueBins{bins, opt.Detail.Cells(len(tl.Devices))}, opt.maxSteps())
	})
	phases := steps.PhasesOf(words)
	var done []*steps.Completion
	var stepIssues diag.Ledger
	s.Steps, done = stepRows(tl, host.Links, marks, phases, in.Rank, opt, &stepIssues)
	s.Phases = phases.Rows(tl, done, host.Links, in.Rank, &stepIssues)
	devices().fill(s, &issues)
	for i, d := range tl.Devices {
		s.Devices[i].UncertainNS = host.Links.Lost().Uncertain(tl, d, host.Links)
		if slices.ContainsFunc(s.Steps, func(st summary.Step) bool { return st.Batch > 0 }) {
			s.Devices[i].Ridge = efficiency.RidgeOf(t, d.Ordinal, opt.Peaks)
		}
	}
	issues.Merge(&stepIssues)
	times := launches.TimesOf(tl, host.Links) // before waiting, to use this core
	tl.NoteShort(&issues)
	launched, attributed := launchTables(), attribution()
	if offsets := times.ClockOffsets(); offsets != nil {
		return Trace(launches.Align(t, offsets), in, opt)
	}
	times.Note(&issues)
	received := async(func() bool { // at the same time as the rest, which only reads it too
		if opt.Measured != nil {
			opt.Measured(t)
		}
		return true
	})
	steps.NoteSilent(t, host.Links, &issues)
	s.Launches = launched.rows
	attribute.Fill(s, attributed, CollectiveOf(tl, host.Links), in.Rank, bins, budget, &issues)
	if launching != nil {
		opt.Launching(launching.Finish(attributed, s.Devices, t.Python.Len() > 0))
	}
	owners.Fill(s, tl, opt.Peaks, opt.Model, in.Rank, opt.maxRows())
	for _, d := range tl.Devices {
		if limits.Implausible(d.Window) {
			continue
		}
		props := efficiency.PropertiesOf(t, d.Ordinal)
		s.Efficiency.Occupancy = append(s.Efficiency.Occupancy, occupancy.Of(tl, d, props, in.Rank, opt.maxRows())...)
		s.Efficiency.Savings = append(s.Efficiency.Savings, fusion.HostCopies(tl, d, in.Rank)...)
		if owners != nil {
			peaks := opt.Peaks.Peaks(props)
			src := fusion.Source{Timeline: tl, Links: host.Links, Owners: owners, HBMGBPS: peaks.Figures[hardware.HBM]}
			s.Efficiency.Savings = append(s.Efficiency.Savings, fusion.Of(src, d, in.Rank, opt.maxRows())...)
		}
	}
	if opt.measures(Layers) {
		s.Layers = layers.Of(layers.Measured{Timeline: tl, Links: host.Links, Marks: marks, Steps: s.Steps, Few: !opt.measures(LayerSteps),
			Pass: attributed.PassOf, Module: attributed.ModuleOf, Named: attributed.Module, Least: leastOf(tl, host.Links, owners, opt.Peaks)}, in.Rank, &issues)
	}
	if opt.Detail != nil {
		s.Details = detail.Of(opt.Detail, detail.Measured{Timeline: tl, Attribution: attributed, Phases: phases,
			Completions: done, Hosts: threads, Queues: launched.fine, Summary: s})
	}
	if len(tl.Devices) == 0 {
		s.Spans = append(hostSpans(t, in.Rank, budget), asyncSpans(t, in.Rank, budget)...)
		noteDerived(t, &issues)
		missing(t, &issues)
	}
	onGPU := false
	for _, d := range tl.Devices {
		if opt.Collectives == nil && owners == nil {
			break
		}
		c := collectivesOf(tl, d, host.Links)
		onGPU = onGPU || c != nil
		if c != nil && opt.Collectives != nil {
			opt.Collectives(d.Ordinal, c)
		}
		if c != nil && owners != nil {
			owners.Collectives(s, d, c, opt.Peaks, in.Rank)
		}
	}
	if opt.Collectives != nil && !onGPU && len(tl.Devices) > 0 {
		if c := collectivesOnCPU(t); c != nil {
			opt.Collectives(tl.Devices[0].Ordinal, c)
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
	issues.Merge(&markIssues)
	issues.AddAll(t.Issues)
	for _, is := range issues.Issues() {
		s.Issues = append(s.Issues, summary.IssueOf(is))
	}
	s.Sort()
	s.Detach()
	received()
	return s
}

// deviceRows are the tables that follow from GPU work alone, without its launches.
type deviceRows struct {
	devices []summary.Device
	streams []summary.Stream
	copies  []summary.Copy
	issues  diag.Ledger
}

func measureDevices(tl *gpu.Timeline, rank, bins int, budget *limits.Budget) *deviceRows {
	w := new(deviceRows)
	for _, d := range tl.Devices {
		w.devices = append(w.devices, tl.Measure(d, rank, bins))
		w.streams = append(w.streams, tl.Streams(d, rank, &w.issues)...)
	}
	w.streams = budget.KeepStreams(w.streams)
	w.copies = gpu.Copies(tl, rank, budget)
	return w
}

func (w *deviceRows) fill(s *summary.Summary, issues *diag.Ledger) {
	s.Devices, s.Streams, s.Copies = w.devices, w.streams, w.copies
	issues.Merge(&w.issues)
}

// stepRows measures the steps on each device.
func stepRows(tl *gpu.Timeline, l *launches.Links, marks []steps.Mark, phases *steps.Phases, rank int, opt Options,
	issues *diag.Ledger) ([]summary.Step, []*steps.Completion) {
	done := steps.Completions(tl, l, phases.Found() || steps.CutByWork(marks) || steps.MayRunAhead(tl, marks))
	return steps.Rows(tl, steps.OfDevice(tl, l, marks, done), done, phases, l.Lost(), rank, opt.maxSteps(), issues), done
}

// Steps returns the rows of steps that [Trace] would put into the summary.
func Steps(t *trace.Trace, rank int, opt Options) []summary.Step {
	var unused diag.Ledger
	words := steps.NewVocabulary(t, opt.Phases)
	rows, _ := stepRows(gpu.NewTimeline(t, opt.Rules, &unused), launches.Of(t), steps.MarksOf(words, &unused),
		steps.PhasesOf(words), rank, opt, &unused)
	return rows
}

// Extent returns the time from the first start to the last end of all events of a trace, without
// the profiler's own records.
func Extent(t *trace.Trace) interval.Span { return span(t) }

// A PhaseRun is one run of a phase. It reaches from the first to the last GPU work that it
// launched, or, without any, from its start to its end on the host.
type PhaseRun struct {
	interval.Span
	Path string // as in [summary.Phase]
}

// PhaseRuns returns the runs of all phases of a trace, sorted by their start on the host.
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

// async starts f on another core and returns a function that waits for the result. That function
// must be called exactly once.
func async[T any](f func() T) func() T {
	done := make(chan T, 1)
	go func() { done <- f() }()
	return func() T { return <-done }
}

// span returns the time from the first start to the last end of all complete events, on the host
// and on devices. The profiler's own records are left out, because they start before and end
// after the program.
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
