package steps

import (
	"cmp"
	"slices"
	"strings"

	"assay/analyze/limits"
	"assay/analyze/phase"
	"assay/internal/interval"
	"assay/internal/stat"
	"assay/trace"
)

// optimizerStep begins the annotations that PyTorch writes around each call of an optimizer.
const optimizerStep = "Optimizer.step#"

// leastOptimizerMarks is the smallest number of calls of an optimizer that show steps.
const leastOptimizerMarks = 3

// optimizerMarks returns the times between the ends of consecutive calls of an optimizer, for a
// training loop that marks no steps. It returns nil unless the calls are regular, because a loop
// may call one optimizer several times per iteration. Of several optimizers the one whose calls
// span the most time counts.
func optimizerMarks(t *trace.Trace) []Mark {
	type key struct {
		name  trace.Sym
		track trace.TrackID
	}
	calls := make(map[key][]int64) // ends
	for s := range t.Spans.All() {
		span := interval.Span{Start: s.Start, End: s.Start + s.Dur}
		if s.Kind == trace.Annotation && !t.Tracks[s.Track].OnDevice && !limits.Implausible(span) &&
			strings.HasPrefix(t.Name(s.Name), optimizerStep) {
			k := key{s.Name, s.Track}
			calls[k] = append(calls[k], span.End)
		}
	}
	var best key
	for k, ends := range calls {
		slices.Sort(ends)
		if !regular(ends) {
			delete(calls, k)
			continue
		}
		length := func(list []int64) int64 {
			if len(list) == 0 {
				return 0
			}
			return list[len(list)-1] - list[0]
		}
		if have := calls[best]; len(have) == 0 || cmp.Or(cmp.Compare(length(ends), length(have)),
			cmp.Compare(best.track, k.track), cmp.Compare(best.name, k.name)) > 0 {
			best = k
		}
	}
	var out []Mark
	ends := calls[best]
	for i := 1; i < len(ends); i++ {
		is := phase.Match{Rule: "optimizer-step", Producer: "Optimizer.step", Step: phase.CutMarker, Number: -1}
		out = append(out, Mark{int64(i - 1), interval.Span{Start: ends[i-1], End: ends[i]}, best.name, best.track, is})
	}
	return out
}

// regular reports whether sorted times are about equally far apart: three quarters of the
// distances, and those of half of the time, are within a factor of two of the median.
func regular(times []int64) bool {
	if len(times) < leastOptimizerMarks || limits.Implausible(interval.Span{Start: times[0], End: times[len(times)-1]}) {
		return false
	}
	var apart []int64
	for i := 1; i < len(times); i++ {
		apart = append(apart, times[i]-times[i-1])
	}
	median := stat.Median(slices.Clone(apart))
	near, ns := 0, int64(0)
	for _, d := range apart {
		if d >= (median+1)/2 && d <= 2*median {
			near, ns = near+1, ns+d
		}
	}
	return median > 0 && 4*near >= 3*len(apart) && 2*ns >= times[len(times)-1]-times[0]
}
