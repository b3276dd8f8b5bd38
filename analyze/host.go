package analyze

import (
	"cmp"
	"slices"
	"strings"

	"assay/diag"
	"assay/summary"
	"assay/trace"
)

// A hostEvent is one complete event of the host, of whatever kind.
type hostEvent struct {
	start, dur int64
	name       trace.Sym
	track      trace.TrackID
	category   string
}

func (e *hostEvent) end() int64 { return e.start + e.dur }

// hostEvents returns the complete events of the host, sorted by track and
// start, outer before inner. The profiler's own bookkeeping and what it drew on
// the tracks of devices are left out.
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
		if s.Kind != trace.Span && !t.Tracks[s.Track].OnDevice {
			out = append(out, hostEvent{s.Start, s.Dur, s.Name, s.Track, t.Name(s.Category)})
		}
	}
	slices.SortStableFunc(out, func(a, b hostEvent) int {
		return cmp.Or(cmp.Compare(a.track, b.track), cmp.Compare(a.start, b.start), cmp.Compare(b.dur, a.dur))
	})
	return out
}

// hostSpans sums the spans of the host by thread, category and name. The self
// time of a span is its duration less the time of the spans nested in it on
// the same thread, so the self times of a thread sum to its busy time.
func hostSpans(t *trace.Trace, rank int) []summary.Span {
	type key struct {
		track    trace.TrackID
		name     trace.Sym
		category string
	}
	var rows []summary.Span
	index := make(map[key]int)
	eachSelf(hostEvents(t), func(e *hostEvent, self int64) {
		k := key{e.track, e.name, e.category}
		at, ok := index[k]
		if !ok {
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
		r.TotalNS += e.dur
		r.SelfNS += self
		r.MaxNS = max(r.MaxNS, e.dur)
	})
	return rows
}

// eachSelf calls f with every event and its self time. The events are in the
// order of hostEvents.
func eachSelf(events []hostEvent, f func(e *hostEvent, self int64)) {
	type open struct {
		e    *hostEvent
		self int64
	}
	var stack []open
	pop := func() {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		f(top.e, max(0, top.self))
	}
	for i := range events {
		e := &events[i]
		for len(stack) > 0 && (stack[len(stack)-1].e.track != e.track || stack[len(stack)-1].e.end() <= e.start) {
			pop()
		}
		if n := len(stack); n > 0 {
			// Clocks of one microsecond let a span end after the one around it.
			stack[n-1].self -= min(e.end(), stack[n-1].e.end()) - e.start
		}
		stack = append(stack, open{e, e.dur})
	}
	for len(stack) > 0 {
		pop()
	}
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

// missing says why a trace may hold no device work.
func missing(t *trace.Trace, issues *diag.Ledger) {
	launches := int64(0)
	for c := range t.Calls.All() {
		if strings.Contains(t.Name(c.Name), "Launch") {
			launches++
		}
	}
	if launches > 0 {
		issues.AddN(diag.Issue{Code: "gpu-events-missing", Severity: diag.Suspect,
			Help: "kernels were launched but none was recorded: another profiler may have held the GPU, or the process was not allowed to trace it; record again with that right and without a second profiler"}, launches)
	}
}
