package analyze

import (
	"sort"

	"assay/internal/hosttree"
	"assay/interval"
	"assay/summary"
	"assay/trace"
)

// waits sums up the calls of the runtime and driver, and of those that wait for
// a device the time in which none was busy.
type waits struct {
	busy  []interval.Span // of any device
	upTo  []int64         // busy time in the spans before each
	rows  []*summary.Call // by name
	marks []mark
	known bool // there is device work: else it is not known to be idle
}

func newWaits(tl *timeline, marks []mark) *waits {
	var all interval.Set
	for _, d := range tl.devices {
		for i := range d.layers {
			all = all.Or(d.layers[i])
		}
	}
	w := &waits{busy: all.Spans(), rows: make([]*summary.Call, tl.t.Names()), marks: marks, known: len(tl.devices) > 0}
	w.upTo = make([]int64, len(w.busy)+1)
	for i, s := range w.busy {
		w.upTo[i+1] = summary.Plus(w.upTo[i], s.Len())
	}
	return w
}

// busyBefore returns how long any device was busy before t.
func (w *waits) busyBefore(t int64) int64 {
	i := sort.Search(len(w.busy), func(i int) bool { return w.busy[i].End > t })
	if i < len(w.busy) && w.busy[i].Start < t {
		return w.upTo[i] + t - w.busy[i].Start
	}
	return w.upTo[i]
}

// kind returns the kind of the calls of a name.
func (w *waits) kind(t *trace.Trace, name trace.Sym) string { return w.row(t, name).Kind }

func (w *waits) row(t *trace.Trace, name trace.Sym) *summary.Call {
	r := w.rows[name]
	if r == nil {
		text := t.Name(name)
		r = &summary.Call{Name: text, Kind: callKind(text)}
		w.rows[name] = r
	}
	return r
}

// call counts one call.
func (w *waits) call(t *trace.Trace, f *hosttree.Frame, k *link) {
	r := w.row(t, f.Name)
	if (r.Kind == "alloc" || r.Kind == "free") && stepAt(w.marks, f.Start) >= 0 {
		r.InSteps++
	}
	ns := f.End - f.Start
	r.Count++
	r.TotalNS = summary.Plus(r.TotalNS, ns)
	r.MaxNS = max(r.MaxNS, ns)
	waits := r.Kind == "sync"
	if k != nil {
		r.Launched = summary.Plus(r.Launched, int64(k.work))
		waits = (r.Kind == "copy" || r.Kind == "memset") && k.lastEnd <= f.End
	}
	if waits && w.known {
		r.WaitNS = summary.Plus(r.WaitNS, ns)
		r.IdleNS = summary.Plus(r.IdleNS, ns-(w.busyBefore(f.End)-w.busyBefore(f.Start)))
	}
}

// stepAt returns the index of the step within which t is, or -1.
func stepAt(marks []mark, t int64) int {
	i := sort.Search(len(marks), func(i int) bool { return marks[i].span.End > t })
	if i < len(marks) && marks[i].span.Start <= t {
		return i
	}
	return -1
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
