package analyze

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"assay/analyze/launches"
	"assay/analyze/limits"
	"assay/internal/diag"
	"assay/summary"
	"assay/trace"
)

// A hostEvent is one complete event of the host, of any kind.
type hostEvent struct {
	start, dur int64
	name       trace.Sym
	track      trace.TrackID
	category   string
}

func (e *hostEvent) end() int64 { return e.start + e.dur }

// hostEvents returns the complete events of the host, sorted by track and start, outer before
// inner. It leaves out the profiler's own spans, spans on the tracks of devices, and spans that
// repeat others.
func hostEvents(t *trace.Trace) []hostEvent {
	out := make([]hostEvent, 0, t.Ops.Len()+t.Calls.Len()+t.Python.Len()+t.Spans.Len())
	for o := range t.Ops.All() {
		out = append(out, hostEvent{o.Start, o.Dur, o.Name, o.Track, trace.CPUOp.String()})
	}
	for c := range t.Calls.All() {
		out = append(out, hostEvent{c.Start, c.Dur, c.Name, c.Track, c.Kind.String()})
	}
	for p := range t.Python.All() {
		out = append(out, hostEvent{p.Start, p.Dur, p.Name, p.Track, trace.Python.String()})
	}
	for s := range t.Spans.All() {
		if s.Kind != trace.Span && !t.Tracks[s.Track].OnDevice && !isDerived(t, s) {
			out = append(out, hostEvent{s.Start, s.Dur, s.Name, s.Track, t.Name(s.Category)})
		}
	}
	sortHost(out)
	return out
}

// sortHost sorts by track and start, and of equal starts the longest first.
func sortHost(events []hostEvent) {
	slices.SortStableFunc(events, func(a, b hostEvent) int {
		return cmp.Or(cmp.Compare(a.track, b.track), cmp.Compare(a.start, b.start), cmp.Compare(b.dur, a.dur))
	})
}

// hostSpans sums the spans of the host by thread, category and name. The self
// time of a span is the time during which no span that started later, or with
// it, ran on the same thread, so the self times of a thread sum to its busy
// time.
func hostSpans(t *trace.Trace, rank int, budget *limits.Budget) []summary.Span {
	type key struct {
		track    trace.TrackID
		name     trace.Sym
		category string
	}
	var rows []summary.Span
	taken, other := budget.Table(), -1 // other: the row of the events over the budget
	index := make(map[key]int)
	eachSelf(hostEvents(t), func(e *hostEvent, self int64) {
		if !t.Window.Starts(e.start) {
			return
		}
		k := key{e.track, e.name, e.category}
		at, ok := index[k]
		if !ok && !taken.Take(len(t.Name(e.name))+len(e.category)+len(t.Tracks[e.track].Thread)) {
			if other < 0 {
				other = len(rows)
				rows = append(rows, summary.Span{Name: limits.OtherSpans, Rank: rank})
			}
			at = other
		} else if !ok {
			at = len(rows)
			index[k] = at
			track := t.Tracks[e.track]
			rows = append(rows, summary.Span{
				Name: t.Name(e.name), Category: e.category, Rank: rank,
				Process: label(track.Process, track.PID), Thread: label(track.Thread, track.TID),
			})
		}
		r := &rows[at]
		r.Count++
		r.TotalNS = summary.Plus(r.TotalNS, e.dur)
		r.SelfNS = summary.Plus(r.SelfNS, self)
		r.MaxNS = max(r.MaxNS, e.dur)
	})
	return rows
}

// asyncSpans sums the asynchronous spans by process, category and name. They
// overlap each other and the spans of threads, so they have no self time.
func asyncSpans(t *trace.Trace, rank int, budget *limits.Budget) []summary.Span {
	type key struct {
		process        string
		name, category trace.Sym
	}
	var rows []summary.Span
	taken, other := budget.Table(), -1 // other: the row of the events over the budget
	index := make(map[key]int)
	for i := range t.Async {
		s := &t.Async[i]
		if !t.Window.Starts(s.Start) {
			continue
		}
		track := t.Tracks[s.Track]
		k := key{label(track.Process, track.PID), s.Name, s.Category}
		at, ok := index[k]
		if !ok && !taken.Take(len(t.Name(s.Name))+len(t.Name(s.Category))+len(k.process)) {
			if other < 0 {
				other = len(rows)
				rows = append(rows, summary.Span{Name: limits.OtherSpans, Rank: rank, Async: true})
			}
			at = other
		} else if !ok {
			at = len(rows)
			index[k] = at
			rows = append(rows, summary.Span{Name: t.Name(s.Name), Category: t.Name(s.Category), Rank: rank,
				Process: k.process, Async: true})
		}
		r := &rows[at]
		r.Count++
		r.TotalNS = summary.Plus(r.TotalNS, s.Dur)
		r.MaxNS = max(r.MaxNS, s.Dur)
	}
	return rows
}

// eachSelf calls f with every event and its self time, in ns: the time during which it was the
// innermost event of its thread. Events must be in the order of hostEvents. The innermost event
// is the one that started last, and of several the shortest. So every moment of a busy thread
// belongs to exactly one event, even if events overlap without being nested.
func eachSelf(events []hostEvent, f func(e *hostEvent, self int64)) {
	s := sweep{close: f}
	for i := range events {
		e := &events[i]
		if i > 0 && e.track != events[i-1].track {
			s.advance(math.MaxInt64)
		}
		s.advance(e.start)
		s.open = append(s.open, openEvent{e, 0})
	}
	s.advance(math.MaxInt64)
}

// A sweep walks along one thread.
type sweep struct {
	now   int64
	open  []openEvent // innermost last; those below it may have ended already
	close func(e *hostEvent, self int64)
}

type openEvent struct {
	e    *hostEvent
	self int64 // so far
}

// advance moves the sweep to a later time. The time in between counts for the innermost open
// events; events that end by then are closed. An event that ends below another is closed when it
// reaches the top of the stack.
func (s *sweep) advance(to int64) {
	for len(s.open) > 0 {
		top := &s.open[len(s.open)-1]
		if stop := min(top.e.end(), to); stop > s.now {
			top.self += stop - s.now
			s.now = stop
		}
		if top.e.end() > to {
			return
		}
		s.close(top.e, top.self)
		s.open = s.open[:len(s.open)-1]
	}
	s.now = to
}

func label(name, id string) string {
	switch {
	case name == "":
		return id
	case id == "" || strings.Contains(name, id):
		return name
	}
	return name + " (" + id + ")"
}

// missing adds an issue if a trace without GPU work should have some, because there are launch
// calls. Launches while a CUDA graph is captured run nothing.
func missing(t *trace.Trace, issues *diag.Ledger) {
	var found []*trace.Call
	if !t.Complete || t.Window != nil {
		return // the missing part may have the work
	}
	for c := range t.Calls.All() {
		if strings.Contains(t.Name(c.Name), "Launch") {
			found = append(found, c)
		}
	}
	all := int64(len(found))
	if ran := int64(len(launches.WithoutCaptured(t, found))); ran > 0 {
		issues.AddN(diag.Issue{Code: "gpu-events-missing", Severity: diag.Suspect}, ran)
	} else if all > 0 {
		issues.AddN(diag.Issue{Code: "graph-capture-only", Severity: diag.Info}, all)
	}
}
