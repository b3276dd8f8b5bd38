package layers

import (
	"assay/analyze/gpu"
	"assay/trace"
)

// A kernel is an element of the sequence in which layers are looked for: a kernel of the base stream of a device that is
// neither communication nor a fill.
type kernel struct {
	token int32 // kernels of one name and grid have one token
	work  int32 // index into Device.Work
	nature
	first bool // nothing before it belongs to the same step
}

// A sequence is what a device ran in its steps, in the order of time.
type sequence struct {
	kernels []kernel
	base    int64   // the stream
	steps   []int32 // of each work: index of its step, or -1 for work that is not looked at
}

type tokenKey struct {
	name trace.Sym
	grid [3]int64
}

// sequenceOf returns the kernels of the stream of a device that has most.
func sequenceOf(tl *gpu.Timeline, d *gpu.Device, of func(trace.Sym) nature, steps []int32) *sequence {
	s := &sequence{steps: steps}
	counts := make(map[int64]int)
	for i := range d.Work {
		a := tl.Activity(d.Work[i])
		if steps[i] >= 0 && isOrdered(a, of) {
			counts[tl.Stream(d.Work[i])]++
		}
	}
	most := 0
	for stream, n := range counts {
		if n > most || n == most && stream < s.base {
			s.base, most = stream, n
		}
	}
	s.kernels = make([]kernel, 0, most)
	tokens, last := make(map[tokenKey]int32), int32(-1)
	for i := range d.Work {
		a := tl.Activity(d.Work[i])
		if steps[i] < 0 || !isOrdered(a, of) || tl.Stream(d.Work[i]) != s.base {
			continue
		}
		key := tokenKey{a.Name, tl.Trace.Detail(a.Detail).Grid}
		token, ok := tokens[key]
		if !ok {
			token = int32(len(tokens))
			tokens[key] = token
		}
		s.kernels = append(s.kernels, kernel{token, int32(i), of(a.Name), steps[i] != last})
		last = steps[i]
	}
	joinNorms(s.kernels)
	joinSoftmax(s.kernels)
	return s
}

// isOrdered reports whether an activity counts for the order of kernels.
func isOrdered(a *trace.Activity, of func(trace.Sym) nature) bool {
	if a.Kind != trace.Kernel {
		return false
	}
	r := of(a.Name).role
	return r != moves && r != skipped
}

// hashOf returns a hash of the tokens of kernels.
func hashOf(list []kernel) uint64 {
	h := uint64(len(list))*0x9e3779b97f4a7c15 + 1
	for i := range list {
		h = (h ^ uint64(uint32(list[i].token))) * 0x100000001b3
		h ^= h >> 29
	}
	return h
}

// pairs returns the pairs of neighbors of a list.
func pairs(list []kernel) map[uint64]int {
	out := make(map[uint64]int, len(list))
	for i := 1; i < len(list); i++ {
		out[uint64(uint32(list[i-1].token))<<32|uint64(uint32(list[i].token))]++
	}
	return out
}

// similarity returns how much two lists have in common, 0 to 1: by the pairs of neighbors, because the order of kernels is what makes
// a layer. A kernel more or less, or another one in a place, costs two pairs.
func similarity(a, b []kernel) float64 {
	if len(a) < 2 || len(b) < 2 {
		if len(a) == len(b) && hashOf(a) == hashOf(b) {
			return 1
		}
		return 0
	}
	of, both := pairs(a), 0
	for p, n := range pairs(b) {
		both += min(n, of[p])
	}
	return float64(both) / float64(len(a)+len(b)-2-both)
}
