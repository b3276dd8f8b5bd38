package gpu

import (
	"cmp"
	"math"
	"strings"

	"assay/analyze/classify"
	"assay/analyze/limits"
	"assay/analyze/ranks/collective"
	"assay/summary"
	"assay/trace"
)

// A rowKey identifies a row of the tables of kernels and copies.
type rowKey struct {
	device, stream int64
	name           trace.Sym
	kind           trace.Kind
	op             trace.Sym     // of kernels: the operator that launched it
	coll           collective.Op // of send-receive kernels: the collective that they implement; else 0
	pool           int8          // of a row that pools a class: index in summary.Singles plus 1; else 0
}

// maxRecent is the number of recently used rows that are found without a map lookup.
const maxRecent = 4096

// rows makes a row for each rowKey of the activities whose kind is wanted: first makes the row,
// add counts an activity in it. op and coll return the operator and the collective of an activity
// by its number. Rows over the budget are pooled by class: see [limits.Budget].
func rows[R any](tl *Timeline, budget *limits.Budget, wanted func(trace.Kind) bool, op func(int) trace.Sym,
	coll CollectiveOf, first func(rowKey) R, add func(*R, *trace.Activity)) []R {
	var out []R
	taken := budget.Table()
	index := make(map[rowKey]int)
	// A cache of rows by name: a map lookup for each of millions of activities would take
	// longer than everything else here.
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
		if a.Kind == trace.Kernel {
			key.op = cmp.Or(tl.Trace.Detail(a.Detail).Annotation, key.op) // the launch of a graph does not tell
		}
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

// A CollectiveOf returns the collective of a kernel whose name does not tell it, given the number of
// the activity: NCCL runs an all-to-all as send-receive kernels, and RCCL most collectives as one
// generic kernel. It returns 0 for plain sends and receives, if nothing is recorded, and for all
// other kernels.
type CollectiveOf func(number int, k *trace.Activity) collective.Op

// Kernels sums the durations of kernels, in ns, by device, stream, name and the operator that
// launched them, which op returns for the number of an activity. Kernels that run at the same
// time count in full each.
func Kernels(tl *Timeline, op func(int) trace.Sym, coll CollectiveOf, rank int,
	budget *limits.Budget) []summary.Kernel {
	first := func(key rowKey) summary.Kernel {
		name, m := tl.Trace.Name(key.name), tl.Classes[key.name]
		if key.pool > 0 {
			class := classify.Class(summary.Singles()[key.pool-1].String())
			name, m = limits.OtherKernels, classify.Match{Class: class, Category: classify.Other, Rule: classify.Other}
		}
		if key.coll != collective.Other {
			m.Category = strings.ReplaceAll(key.coll.String(), "/", "-")
		}
		return summary.Kernel{
			Name: name, Class: string(m.Class), Category: m.Category, Rule: m.Rule,
			Rank: rank, Device: key.device, Stream: key.stream, Op: tl.Trace.Name(key.op), MinNS: math.MaxInt64,
		}
	}
	return rows(tl, budget, func(k trace.Kind) bool { return k == trace.Kernel }, op, coll, first,
		func(r *summary.Kernel, a *trace.Activity) {
			r.Count++
			r.TotalNS = summary.Plus(r.TotalNS, a.Dur)
			r.MinNS, r.MaxNS = min(r.MinNS, a.Dur), max(r.MaxNS, a.Dur)
		})
}

// CopyBytes returns a function that returns the bytes that a copy or memset moved, and whether
// they are known: from the activity, or else from its call.
func CopyBytes(t *trace.Trace) func(*trace.Activity) (bytes int64, known bool) {
	callBytes := make(map[trace.ID]int64)
	for c := range t.CopySizes.All() {
		if c.Correlation != 0 { // without a correlation the copy is unknown
			callBytes[c.Correlation] = c.Bytes
		}
	}
	return func(a *trace.Activity) (int64, bool) {
		if n := t.Detail(a.Detail).Bytes; n >= 0 {
			return n, true
		}
		n, known := callBytes[a.Correlation]
		return n, known
	}
}

// Copies sums the durations and bytes of copies and memsets by device, stream and name. Rows over
// the budget are pooled.
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
	return rows(tl, budget, func(k trace.Kind) bool { return k != trace.Kernel }, none, noCollective, first,
		func(r *summary.Copy, a *trace.Activity) {
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
