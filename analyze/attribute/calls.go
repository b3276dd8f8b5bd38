package attribute

import (
	"math"
	"sort"
	"sync"

	"assay/analyze/gpu"
	"assay/analyze/steps"
	"assay/classify"
	"assay/internal/hosttree"
	"assay/interval"
	"assay/summary"
	"assay/trace"
)

// waits sums up the calls of the runtime and driver. For calls that wait for a
// device it also sums the time in which no device was busy.
type waits struct {
	busy  func() *busyTimes // of any device; made when first asked for
	rows  []*summary.Call   // by name
	marks []steps.Mark
	known bool // there is device work: else it is not known to be idle
}

func newWaits(tl *gpu.Timeline, marks []steps.Mark) *waits {
	var layers []interval.Set
	for _, d := range tl.Devices {
		layers = append(layers, d.Layers[:]...)
	}
	return &waits{busy: sync.OnceValue(func() *busyTimes { b := busyOf(layers); return &b }), rows: make([]*summary.Call, tl.Trace.Names()), marks: marks, known: len(tl.Devices) > 0}
}

// busyTimes returns how long anything ran within a span.
type busyTimes struct {
	spans []interval.Span
	upTo  []int64 // busy time in the spans before each
}

func busyOf(layers []interval.Set) busyTimes {
	var b busyTimes
	if len(layers) <= interval.MaxLayers {
		b.spans = unionOf(layers)
	} else {
		var all []interval.Span
		for _, l := range layers {
			all = append(all, l.Spans()...)
		}
		b.spans = interval.Of(all...).Spans()
	}
	b.upTo = make([]int64, len(b.spans)+1)
	for i, s := range b.spans {
		b.upTo[i+1] = summary.Plus(b.upTo[i], s.Len())
	}
	return b
}

// unionOf unites a few sets without copying them first, because they are large.
func unionOf(layers []interval.Set) (out []interval.Span) {
	window, most := interval.Span{Start: math.MaxInt64, End: math.MinInt64}, 0
	for _, l := range layers {
		if s := l.Bounds(); !s.Empty() {
			window.Start, window.End = min(window.Start, s.Start), max(window.End, s.End)
		}
		most = max(most, len(l.Spans()))
	}
	out = make([]interval.Span, 0, most)
	for piece, running := range interval.Pieces(window, layers...) {
		n := len(out) - 1
		switch {
		case running == 0:
		case n >= 0 && out[n].End == piece.Start:
			out[n].End = piece.End
		default:
			out = append(out, piece)
		}
	}
	return out
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

// kind returns the kind of the calls of a name.
func (w *waits) kind(t *trace.Trace, name trace.Sym) string { return w.row(t, name).Kind }

func (w *waits) row(t *trace.Trace, name trace.Sym) *summary.Call {
	r := w.rows[name]
	if r == nil {
		text := t.Name(name)
		r = &summary.Call{Name: text, Kind: classify.CallKind(text)}
		w.rows[name] = r
	}
	return r
}

// call counts one call.
func (w *waits) call(a *Attribution, f *hosttree.Frame) {
	r := w.row(a.t, f.Name)
	if (r.Kind == "alloc" || r.Kind == "free") && steps.At(w.marks, f.Start) >= 0 {
		r.InSteps++
	}
	ns := f.End - f.Start
	r.Count++
	r.TotalNS = summary.Plus(r.TotalNS, ns)
	r.MaxNS = max(r.MaxNS, ns)
	waits := r.Kind == "sync"
	if i, ok := a.Links.OfCall(f.Row); ok {
		r.Launched = summary.Plus(r.Launched, int64(a.Links.List[i].Work))
		if r.Kind == "copy" || r.Kind == "memset" {
			end, copies := a.Links.Copied[i]
			waits = copies && end <= f.End
		}
	}
	if waits && w.known {
		r.WaitNS = summary.Plus(r.WaitNS, ns)
		r.IdleNS = summary.Plus(r.IdleNS, w.busy().idle(interval.Span{Start: f.Start, End: f.End}))
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
