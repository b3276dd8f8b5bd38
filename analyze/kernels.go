package analyze

import (
	"math"

	"assay/summary"
	"assay/trace"
)

// A rowKey names one row of the kernel and copy tables.
type rowKey struct {
	device, stream int64
	name           trace.Sym
	kind           trace.Kind
	op             trace.Sym // of kernels: the operator that launched it
}

// rows makes one row for each device, stream and name of the activities that
// are wanted: first makes it and add counts an activity into it.
// Of kernels op gives the operator, by the number of the activity.
func rows[R any](tl *timeline, wanted func(trace.Kind) bool, op func(int) trace.Sym, first func(rowKey) R, add func(*R, *trace.Activity)) []R {
	var out []R
	index := make(map[rowKey]int)
	number := -1
	for a := range tl.t.Activities.All() {
		if number++; !wanted(a.Kind) {
			continue
		}
		track := &tl.t.Tracks[a.Track]
		key := rowKey{track.Device, track.Stream, a.Name, a.Kind, op(number)}
		at, ok := index[key]
		if !ok {
			at = len(out)
			index[key] = at
			out = append(out, first(key))
		}
		add(&out[at], a)
	}
	return out
}

// kernels sums the durations of kernels by device, stream, name and the operator
// that launched them, the innermost one. The sums are work: kernels that run at
// the same time count fully each.
func kernels(tl *timeline, a *attribution, rank int) []summary.Kernel {
	op := func(number int) trace.Sym { return 0 }
	if a != nil {
		op = a.operator
	}
	first := func(key rowKey) summary.Kernel {
		m := tl.classes[key.name]
		return summary.Kernel{
			Name: tl.t.Name(key.name), Class: string(m.Class), Category: m.Category, Rule: m.Rule,
			Rank: rank, Device: key.device, Stream: key.stream, Op: tl.t.Name(key.op), MinNS: math.MaxInt64,
		}
	}
	return rows(tl, func(k trace.Kind) bool { return k == trace.Kernel }, op, first, func(r *summary.Kernel, a *trace.Activity) {
		r.Count++
		r.TotalNS = summary.Plus(r.TotalNS, a.Dur)
		r.MinNS, r.MaxNS = min(r.MinNS, a.Dur), max(r.MaxNS, a.Dur)
	})
}

// copies sums the durations and bytes of copies and memsets by device, stream
// and name. Where a copy does not tell its bytes, those that its call asked for
// count.
func copies(tl *timeline, rank int) []summary.Copy {
	asked := make(map[trace.ID]int64)
	for c := range tl.t.CopySizes.All() {
		if c.Correlation != 0 { // else it says of no copy that it is its own
			asked[c.Correlation] = c.Bytes
		}
	}
	first := func(key rowKey) summary.Copy {
		class := summary.ClassCopy
		if key.kind == trace.Memset {
			class = summary.ClassMemset
		}
		return summary.Copy{
			Name: tl.t.Name(key.name), Class: class.String(),
			Rank: rank, Device: key.device, Stream: key.stream, MinNS: math.MaxInt64,
		}
	}
	none := func(int) trace.Sym { return 0 }
	return rows(tl, func(k trace.Kind) bool { return k != trace.Kernel }, none, first, func(r *summary.Copy, a *trace.Activity) {
		r.Count++
		r.TotalNS = summary.Plus(r.TotalNS, a.Dur)
		r.MinNS, r.MaxNS = min(r.MinNS, a.Dur), max(r.MaxNS, a.Dur)
		n, known := tl.t.Detail(a.Detail).Bytes, true
		if n < 0 {
			n, known = asked[a.Correlation]
		}
		if known {
			if r.Bytes == nil {
				r.Bytes = new(int64)
			}
			*r.Bytes = summary.Plus(*r.Bytes, n)
		}
	})
}
