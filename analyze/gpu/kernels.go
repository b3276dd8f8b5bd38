package gpu

import (
	"math"

	"assay/analyze/classify"
	"assay/analyze/limits"
	"assay/analyze/ranks/collective"
	"assay/summary"
	"assay/trace"
)

// A rowKey names one row of the kernel and copy tables.
type rowKey struct {
	device, stream int64
	name           trace.Sym
	kind           trace.Kind
	op             trace.Sym     // of kernels: the operator that launched it
	coll           collective.Op // of kernels that send and receive: the collective that is made of them; else 0
	pool           int8          // of a row that stands for all of a class: its index in summary.Singles, plus 1
}

// maxRecent is the number of recently used rows that are found without a map
// lookup.
const maxRecent = 4096

// rows makes one row for each device, stream and name of the activities that
// are wanted: first makes it and add counts an activity into it.
// Of kernels op gives the operator and coll the collective, by the number of the activity.
//
// Where there is no room for more, the further ones are pooled: see [limits.Room].
func rows[R any](tl *Timeline, budget *limits.Budget, wanted func(trace.Kind) bool, op func(int) trace.Sym, coll CollectiveOf, first func(rowKey) R, add func(*R, *trace.Activity)) []R {
	var out []R
	taken := budget.Table()
	index := make(map[rowKey]int)
	// The rows of a name that were found last, by its number: looking in the map
	// for each of millions would take longer than all else here.
	type found struct {
		key rowKey
		at  int32 // plus 1
	}
	recent := make([]found, min(tl.Trace.Names(), maxRecent))
	number := -1
	for a := range tl.Trace.Activities.All() {
		track := &tl.Trace.Tracks[a.Track]
		if number++; !wanted(a.Kind) || track.Device > tl.Last || !tl.Trace.Window.Starts(a.Start) {
			continue
		}
		key := rowKey{track.Device, track.Stream, a.Name, a.Kind, op(number), coll(number, a), 0}
		seen := &recent[int(a.Name)%len(recent)]
		if seen.at > 0 && seen.key == key {
			add(&out[seen.at-1], a)
			continue
		}
		at, ok := index[key]
		if !ok && !taken.Take(len(tl.Trace.Name(a.Name))) {
			key = rowKey{track.Device, limits.OtherStream, 0, a.Kind, 0, 0, int8(tl.Layer(a) + 1)}
			at, ok = index[key]
		}
		if !ok {
			at = len(out)
			index[key] = at
			out = append(out, first(key))
		}
		*seen = found{key, int32(at) + 1}
		add(&out[at], a)
	}
	return out
}

// A CollectiveOf returns the collective of a kernel that sends and receives, by the number
// of the activity: NCCL makes an all-to-all of these, and their names do not tell. It returns 0
// for sends, receives and all other kernels.
type CollectiveOf func(number int, k *trace.Activity) collective.Op

// Kernels sums the durations of kernels by device, stream, name and the operator
// that launched them, which op gives by the number of the activity. The sums are work: kernels that run at
// the same time count fully each.
func Kernels(tl *Timeline, op func(int) trace.Sym, coll CollectiveOf, rank int, budget *limits.Budget) []summary.Kernel {
	first := func(key rowKey) summary.Kernel {
		name, m := tl.Trace.Name(key.name), tl.Classes[key.name]
		if key.pool > 0 {
			class := classify.Class(summary.Singles()[key.pool-1].String())
			name, m = limits.OtherKernels, classify.Match{Class: class, Category: classify.Other, Rule: classify.Other}
		}
		if key.coll != collective.Other {
			m.Category = key.coll.String()
		}
		return summary.Kernel{
			Name: name, Class: string(m.Class), Category: m.Category, Rule: m.Rule,
			Rank: rank, Device: key.device, Stream: key.stream, Op: tl.Trace.Name(key.op), MinNS: math.MaxInt64,
		}
	}
	return rows(tl, budget, func(k trace.Kind) bool { return k == trace.Kernel }, op, coll, first, func(r *summary.Kernel, a *trace.Activity) {
		r.Count++
		r.TotalNS = summary.Plus(r.TotalNS, a.Dur)
		r.MinNS, r.MaxNS = min(r.MinNS, a.Dur), max(r.MaxNS, a.Dur)
	})
}

// CopyBytes returns a function that returns the bytes that a copy or memset moved.
// If the activity does not state them, the bytes of its call count.
func CopyBytes(t *trace.Trace) func(*trace.Activity) (bytes int64, known bool) {
	asked := make(map[trace.ID]int64)
	for c := range t.CopySizes.All() {
		if c.Correlation != 0 { // else it says of no copy that it is its own
			asked[c.Correlation] = c.Bytes
		}
	}
	return func(a *trace.Activity) (int64, bool) {
		if n := t.Detail(a.Detail).Bytes; n >= 0 {
			return n, true
		}
		n, known := asked[a.Correlation]
		return n, known
	}
}

// Copies sums the durations and bytes of copies and memsets by device, stream
// and name.
func Copies(tl *Timeline, rank int, budget *limits.Budget) []summary.Copy {
	sizeOf := CopyBytes(tl.Trace)
	first := func(key rowKey) summary.Copy {
		class := summary.ClassCopy
		if key.kind == trace.Memset {
			class = summary.ClassMemset
		}
		name := tl.Trace.Name(key.name)
		if key.pool > 0 {
			name = limits.OtherCopies
		}
		return summary.Copy{
			Name: name, Class: class.String(),
			Rank: rank, Device: key.device, Stream: key.stream, MinNS: math.MaxInt64,
		}
	}
	none := func(int) trace.Sym { return 0 }
	return rows(tl, budget, func(k trace.Kind) bool { return k != trace.Kernel }, none, noCollective, first, func(r *summary.Copy, a *trace.Activity) {
		r.Count++
		r.TotalNS = summary.Plus(r.TotalNS, a.Dur)
		r.MinNS, r.MaxNS = min(r.MinNS, a.Dur), max(r.MaxNS, a.Dur)
		if n, known := sizeOf(a); known {
			if r.Bytes == nil {
				r.Bytes = new(int64)
			}
			*r.Bytes = summary.Plus(*r.Bytes, n)
		}
	})
}

func noCollective(int, *trace.Activity) collective.Op { return collective.Other }
