package attribute

import (
	"slices"
	"sort"
	"sync"

	"assay/analyze/gpu"
	"assay/analyze/steps"
	"assay/classify"
	"assay/interval"
	"assay/summary"
	"assay/trace"
)

// waits sums up the calls of the runtime and driver. For calls that wait for a
// device it also sums the time in which no device was busy.
type waits struct {
	devices []*gpu.Device     // none are not known to be idle
	busy    func() *busyTimes // of any device; made when first asked for
	rows    []*summary.Call   // by name
	states  []idleState       // the same, of a thread in such a call
	marks   []steps.Mark
}

func newWaits(tl *gpu.Timeline, marks []steps.Mark) *waits {
	w := &waits{devices: tl.Devices, rows: make([]*summary.Call, tl.Trace.Names()), states: make([]idleState, tl.Trace.Names()), marks: marks}
	w.busy = sync.OnceValue(func() *busyTimes {
		var all []interval.Span
		for _, d := range tl.Devices {
			all = append(all, d.Busy().Spans()...)
		}
		return busyOf(interval.Of(all...))
	})
	if len(tl.Devices) == 1 {
		w.busy = sync.OnceValue(func() *busyTimes { return busyOf(tl.Devices[0].Busy()) })
	}
	return w
}

// busyOn returns when anything ran on one device.
func (w *waits) busyOn(d *gpu.Device) *busyTimes {
	if len(w.devices) == 1 {
		return w.busy()
	}
	return busyOf(d.Busy())
}

// busyTimes returns how long anything ran within a span.
type busyTimes struct {
	spans []interval.Span
	upTo  []int64 // busy time in the spans before each
}

func busyOf(set interval.Set) *busyTimes {
	b := &busyTimes{set.Spans(), make([]int64, len(set.Spans())+1)}
	for i, s := range b.spans {
		b.upTo[i+1] = summary.Plus(b.upTo[i], s.Len())
	}
	return b
}

// before returns how long anything ran before t.
func (b *busyTimes) before(t int64) int64 {
	i := sort.Search(len(b.spans), func(i int) bool { return b.spans[i].End > t })
	if i < len(b.spans) && b.spans[i].Start < t {
		return summary.Plus(b.upTo[i], interval.Span{Start: b.spans[i].Start, End: t}.Len())
	}
	return b.upTo[i]
}

// idle returns how long nothing ran within s.
func (b *busyTimes) idle(s interval.Span) int64 {
	return s.Len() - (b.before(s.End) - b.before(s.Start))
}

// has reports whether there are calls of a kind. All their names have rows.
func (w *waits) has(kind string) bool {
	return slices.ContainsFunc(w.rows, func(r *summary.Call) bool { return r != nil && r.Kind == kind })
}

// kind returns the kind of the calls of a name.
func (w *waits) kind(t *trace.Trace, name trace.Sym) string { return w.row(t, name).Kind }

func (w *waits) row(t *trace.Trace, name trace.Sym) *summary.Call {
	r := w.rows[name]
	if r == nil {
		text := t.Name(name)
		r = &summary.Call{Name: text, Kind: classify.CallKind(text)}
		w.rows[name], w.states[name] = r, callStates[r.Kind]
	}
	return r
}

// count counts the calls of threads that start in the window. All their names have rows.
func (w *waits) count(a *Attribution) {
	for first, part := range a.t.Calls.Parts() {
		for i := range part {
			if c := &part[i]; a.t.Window.Starts(c.Start) && !a.t.Tracks[c.Track].OnDevice {
				w.call(a, first+trace.Ref(i), c)
			}
		}
	}
}

// call counts one call.
func (w *waits) call(a *Attribution, ref trace.Ref, c *trace.Call) {
	r, ns := w.rows[c.Name], c.Dur
	if (r.Kind == "alloc" || r.Kind == "free") && steps.At(w.marks, c.Start) >= 0 {
		r.InSteps++
	}
	r.Count++
	r.TotalNS = summary.Plus(r.TotalNS, ns)
	r.MaxNS = max(r.MaxNS, ns)
	waits := r.Kind == "sync"
	if i, ok := a.Links.OfCall(ref); ok {
		r.Launched = summary.Plus(r.Launched, int64(a.Links.List[i].Work))
		if r.Kind == "copy" || r.Kind == "memset" {
			end, copies := a.Links.List[i].Copied()
			waits = copies && end <= c.Start+c.Dur
		}
	}
	if waits && len(w.devices) > 0 {
		r.WaitNS = summary.Plus(r.WaitNS, ns)
		r.IdleNS = summary.Plus(r.IdleNS, w.busy().idle(interval.Span{Start: c.Start, End: c.Start + c.Dur}))
	}
}

func (w *waits) callRows(rank int) (out []summary.Call) {
	for _, r := range w.rows {
		if r == nil || r.Count == 0 {
			continue
		}
		r.Rank = rank
		out = append(out, *r)
	}
	return out
}
