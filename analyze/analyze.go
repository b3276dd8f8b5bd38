// Package analyze measures: it turns what was read into a [summary.Summary].
// It has no thresholds and passes no judgement; package judge does.
//
// There is one file per question. Each analysis is a pure function of a
// [trace.Trace]; its doc comment states what is summed and the denominator.
package analyze

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"assay/classify"
	"assay/collective"
	"assay/diag"
	"assay/interval"
	"assay/phase"
	"assay/summary"
	"assay/trace"
)

// Options say how to measure. Fields may be added; use DefaultOptions.
type Options struct {
	Rules     *classify.Rules // decide the class and category of kernels
	StripBins int             // bins of each device's activity strip
	MaxRows   int             // rows of one table; 0 for [MaxRows]
	Phases    *phase.Rules    // say which names are steps and phases; nil for the built-in ones

	// Collectives is called with the collectives of each GPU that has any, so that
	// ranks can be compared; nil if there is nothing to compare with.
	Collectives func(device int64, c *collective.Columns)
}

// StripBins is how many bins the strips of the command have: four pixels each
// in a picture of 1200.
const StripBins = 300

// DefaultOptions returns the options that the command uses.
func DefaultOptions() Options {
	return Options{Rules: classify.Default(), StripBins: StripBins}
}

// Needs returns what Trace looks at in a trace: reading less is faster.
func Needs() trace.Select {
	return trace.Select{Kinds: trace.Every, Shapes: true, FlowsIfNeeded: true}
}

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

	hosts := beside(func() *host { return hostOf(t) })
	words := newVocabulary(t, opt.Phases)
	marked := beside(func() []mark { return marksOf(words, &ofMarks) })
	tl := newTimeline(t, opt.Rules, &issues)
	if twice := tl.repeated(); len(twice) > 0 {
		hosts()
		marked()
		return Trace(once(t, twice), in, opt)
	}
	tl.checkWindows(in.Rank, &issues)
	s.Inputs[0].SpanNS = tl.plausibleSpan(span(t), &issues)
	host, marks := hosts(), marked()
	attribution := beside(func() *attribution { return attribute(tl, host, marks, opt.maxRows()) })
	bins := stripBins(len(tl.devices), opt.StripBins, &issues)
	launches := beside(func() []summary.Launches { return launchesOf(tl, host.link, marks, in.Rank, bins, opt.maxSteps()) })
	phases := phasesOf(words)
	for _, d := range tl.devices {
		s.Devices = append(s.Devices, tl.measure(d, in.Rank, bins))
		s.Devices[len(s.Devices)-1].UncertainNS = host.link.lost.uncertain(tl, d, host.link)
		s.Streams = append(s.Streams, tl.streams(d, in.Rank, &issues)...)
	}
	room := &room{rows: opt.maxRows()}
	s.Streams = room.keep(s.Streams)
	s.Copies = copies(tl, in.Rank, room)
	done := completions(tl, host.link, phases.found() || cutByWork(marks) || mayRunAhead(tl, marks))
	s.Steps = steps(tl, ofDevice(tl, host.link, marks, done), done, phases, &host.link.lost, in.Rank, opt.maxSteps(), &issues)
	s.Phases = phases.rows(tl, done, host.link, in.Rank, &issues)
	s.Launches = launches()
	attributed(s, attribution(), in.Rank, bins, room, &issues)
	if len(tl.devices) == 0 {
		s.Spans = append(hostSpans(t, in.Rank, room), asyncSpans(t, in.Rank, room)...)
		noteDerived(t, &issues)
		missing(t, &issues)
	}
	if opt.Collectives != nil {
		for _, d := range tl.devices {
			if c := tl.collectivesOf(d, host.link); c != nil {
				opt.Collectives(d.ordinal, c)
			}
		}
	}
	s.LaunchLosses = host.link.lost.rowsOf(in.Rank)
	host.link.lost.note(t, in.Rank, &issues)
	notePlausible(tl, host.link, s, &issues)
	room.note(&issues)
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

// finished adds the issues of reading an input and of measuring it, and sorts.
func finished(s *summary.Summary, read []diag.Issue, issues *diag.Ledger) *summary.Summary {
	for _, is := range read {
		issues.AddN(is, is.Count)
	}
	s.Issues = []summary.Issue{}
	for _, is := range issues.Issues() {
		s.Issues = append(s.Issues, issueOf(is))
	}
	s.Sort()
	return s
}

func issueOf(is diag.Issue) summary.Issue {
	out := summary.Issue{Code: is.Code, Severity: is.Severity.String(), Count: is.Count, Help: is.Help}
	if is.First != (diag.Pos{}) {
		out.First = is.First.String()
	}
	return out
}

// A timeline is a trace's device work, sorted out by device, stream and class.
type timeline struct {
	t       *trace.Trace
	classes []classify.Match // by Sym, for the names of kernels

	// wholeGraph is the name of events that represent a whole launch of a graph and
	// are not kernels; 0 if there is none.
	wholeGraph trace.Sym
	devices    []*device // by ordinal
	last       int64     // ordinal of a device that is measured
	instant    int64     // kernels with a duration of 0, of the streams measured so far
}

// A device is one GPU's work.
type device struct {
	ordinal int64
	window  interval.Span
	layers  [4]interval.Set // by class, in the order of summary.Singles
	work    []work          // by start
}

// A work is one activity. There are millions, so it has no pointer, which the
// garbage collector would follow.
type work struct {
	Start, Dur int64
	ref        trace.Ref
	number     int32 // in the table of activities
}

// End returns when the work ended.
func (w work) End() int64 { return w.Start + w.Dur }

// activity returns the activity of w.
func (tl *timeline) activity(w work) *trace.Activity { return tl.t.Activities.At(w.ref) }

// stream returns the stream that w ran on.
func (tl *timeline) stream(w work) int64 { return tl.t.Tracks[tl.activity(w).Track].Stream }

// gaps returns the stretches of the device's window in which nothing ran, in
// order.
func (d *device) gaps() iter.Seq[interval.Span] {
	return func(yield func(interval.Span) bool) {
		end := d.window.Start
		for _, w := range d.work {
			if w.Dur <= 0 {
				continue // it covers no time, so it parts no gap
			}
			if w.Start > end && !yield(interval.Span{Start: end, End: w.Start}) {
				return
			}
			end = max(end, w.End())
		}
		if end < d.window.End {
			yield(interval.Span{Start: end, End: d.window.End})
		}
	}
}

func newTimeline(t *trace.Trace, rules *classify.Rules, issues *diag.Ledger) *timeline {
	tl := &timeline{t: t, classes: make([]classify.Match, t.Names()), last: lastDevice(t)}
	byOrdinal := make(map[int64]*device)
	room := workOf(t)
	number := int32(-1)
	leftOut := int64(0)
	for ref, a := range t.Activities.Refs() {
		track := &t.Tracks[a.Track]
		number++
		if track.Device > tl.last {
			leftOut++
			continue
		}
		d := byOrdinal[track.Device]
		if d == nil {
			d = &device{ordinal: track.Device, window: interval.Span{Start: a.Start, End: a.End()}}
			d.work = make([]work, 0, room[track.Device])
			byOrdinal[track.Device] = d
			tl.devices = append(tl.devices, d)
		}
		d.window.Start = min(d.window.Start, a.Start)
		d.window.End = max(d.window.End, a.End())
		d.work = append(d.work, work{a.Start, a.Dur, ref, number})
		if a.Kind == trace.Kernel && tl.classes[a.Name].Rule == "" {
			name := t.Name(a.Name)
			tl.classes[a.Name] = rules.Kernel(name)
			if name == trace.OpaqueGraph {
				tl.wholeGraph = a.Name
			}
		}
	}
	noteDevices(leftOut, issues)
	slices.SortFunc(tl.devices, func(a, b *device) int { return compare(a.ordinal, b.ordinal) })
	for _, d := range tl.devices {
		tl.sortOut(d)
	}
	return tl
}

// workOf counts the work of each device.
func workOf(t *trace.Trace) map[int64]int {
	byTrack := make([]int, len(t.Tracks))
	for a := range t.Activities.All() {
		byTrack[a.Track]++
	}
	out := make(map[int64]int)
	for i, n := range byTrack {
		if n > 0 {
			out[t.Tracks[i].Device] += n
		}
	}
	return out
}

// sortOut sorts a device's work by start, because profilers do not, and unites it
// by class.
func (tl *timeline) sortOut(d *device) {
	order := func(a, b work) int {
		if a.Start != b.Start {
			return compare(a.Start, b.Start)
		}
		// Whatever their order in the file.
		return cmp.Or(compare(a.End(), b.End()), compare(tl.stream(a), tl.stream(b)),
			cmp.Compare(tl.t.Name(tl.activity(a).Name), tl.t.Name(tl.activity(b).Name)))
	}
	if !slices.IsSortedFunc(d.work, order) {
		slices.SortStableFunc(d.work, order)
	}
	var builders [len(d.layers)]interval.Builder
	for _, w := range d.work {
		builders[tl.layer(tl.activity(w))].Add(interval.Span{Start: w.Start, End: w.End()})
	}
	for i := range builders {
		d.layers[i] = builders[i].Set()
	}
}

// layer returns the index of an activity's class in summary.Singles.
func (tl *timeline) layer(a *trace.Activity) int {
	switch a.Kind {
	case trace.Memcpy:
		return 2
	case trace.Memset:
		return 3
	}
	if tl.classes[a.Name].Class == classify.Comm {
		return 0
	}
	return 1
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// deviceName returns the name of a device. ROCm numbers devices differently in
// its events and in its properties, so where all have one name, any will do.
func deviceName(m trace.Meta, ordinal int64) string {
	if name, ok := m.Devices[ordinal]; ok {
		return name
	}
	only := ""
	for _, name := range m.Devices {
		if only != "" && only != name {
			return ""
		}
		only = name
	}
	return only
}
