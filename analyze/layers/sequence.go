package layers

import (
	"cmp"
	"maps"
	"slices"

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
	streams []int64 // whose kernels are in the list, one stream after the other
	steps   []int32 // of each work: index of its step, or -1 for work that is not looked at
}

type tokenKey struct {
	name trace.Sym
	grid [3]int64
}

// sequenceOf returns the kernels of the stream of a device that has most, and of others that have the cores of layers.
func sequenceOf(tl *gpu.Timeline, d *gpu.Device, of func(trace.Sym) nature, steps []int32) *sequence {
	s := &sequence{steps: steps}
	s.chooseStreams(tl, d, of)
	tokens := make(map[tokenKey]int32)
	for _, stream := range s.streams {
		last := int32(-1)
		for i := range d.Work {
			a := tl.Activity(d.Work[i])
			if steps[i] < 0 || tl.Stream(d.Work[i]) != stream || !isOrdered(a, of) {
				continue
			}
			key := tokenKey{a.Name, tl.Trace.Detail(a.Detail).Grid}
			token, ok := tokens[key]
			if !ok {
				token = int32(len(tokens))
				tokens[key] = token
			}
			s.kernels = append(s.kernels, kernel{token: token, work: int32(i), nature: of(a.Name), first: steps[i] != last})
			last = steps[i]
		}
	}
	joinNorms(s.kernels)
	joinSoftmax(s.kernels)
	return s
}

// chooseStreams chooses the streams whose order counts.
func (s *sequence) chooseStreams(tl *gpu.Timeline, d *gpu.Device, of func(trace.Sym) nature) {
	type counts struct{ kernels, cores, products int }
	byStream := make(map[int64]*counts)
	for i := range d.Work {
		a := tl.Activity(d.Work[i])
		if s.steps[i] < 0 || !isOrdered(a, of) {
			continue
		}
		stream := tl.Stream(d.Work[i])
		c := byStream[stream]
		if c == nil {
			c = new(counts)
			byStream[stream] = c
		}
		c.kernels++
		switch of(a.Name).role {
		case attends, scans:
			c.cores++
		case product:
			c.products++
		}
	}
	numbers := slices.SortedFunc(maps.Keys(byStream), func(a, b int64) int {
		return cmp.Or(cmp.Compare(byStream[b].kernels, byStream[a].kernels), cmp.Compare(a, b))
	})
	for i, stream := range numbers {
		if c := byStream[stream]; i == 0 || c.cores >= fewest && c.products >= 2*fewest {
			s.streams = append(s.streams, stream)
		}
	}
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
