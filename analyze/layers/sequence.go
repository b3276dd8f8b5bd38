package layers

import (
	"cmp"
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

// A place is a kernel whose order counts, before the streams are chosen.
type place struct {
	work   int32
	stream int32 // index into the streams that were seen
	token  int32
	nature nature
}

// sequenceOf returns the kernels of the stream of a device that has most, and of others that have the cores of layers.
func sequenceOf(tl *gpu.Timeline, d *gpu.Device, of func(trace.Sym) nature, steps []int32) *sequence {
	s := &sequence{steps: steps}
	places, chosen := s.choose(tl, d, of)
	for _, stream := range chosen {
		last := int32(-1)
		for i := range places {
			if p := &places[i]; p.stream == stream {
				s.kernels = append(s.kernels, kernel{token: p.token, work: p.work, nature: p.nature, first: steps[p.work] != last})
				last = steps[p.work]
			}
		}
	}
	joinNorms(s.kernels)
	joinSoftmax(s.kernels)
	return s
}

// choose returns the kernels whose order may count, and chooses the streams on which it does.
func (s *sequence) choose(tl *gpu.Timeline, d *gpu.Device, of func(trace.Sym) nature) (places []place, chosen []int32) {
	type counts struct {
		stream                   int64
		kernels, cores, products int
	}
	var streams []counts
	tokens, at := newTokens(tl.Trace), int32(-1)
	for i := range d.Work {
		a := tl.Activity(d.Work[i])
		if s.steps[i] < 0 || a.Kind != trace.Kernel {
			continue
		}
		n := of(a.Name)
		if !n.isOrdered() {
			continue
		}
		if stream := tl.Trace.Tracks[a.Track].Stream; at < 0 || streams[at].stream != stream {
			if at = int32(slices.IndexFunc(streams, func(c counts) bool { return c.stream == stream })); at < 0 {
				at = int32(len(streams))
				streams = append(streams, counts{stream: stream})
			}
		}
		c := &streams[at]
		c.kernels++
		switch n.role {
		case attends, scans:
			c.cores++
		case product:
			c.products++
		}
		places = append(places, place{int32(i), at, tokens.of(a), n})
	}
	for i := range streams {
		chosen = append(chosen, int32(i))
	}
	slices.SortFunc(chosen, func(a, b int32) int {
		return cmp.Or(cmp.Compare(streams[b].kernels, streams[a].kernels), cmp.Compare(streams[a].stream, streams[b].stream))
	})
	for i, at := range slices.Clone(chosen) {
		if c := &streams[at]; i == 0 || c.cores >= fewest && c.products >= 2*fewest {
			s.streams = append(s.streams, c.stream)
			chosen[len(s.streams)-1] = at
		}
	}
	return places, chosen[:len(s.streams)]
}

// tokens numbers kernels by their names and grids.
type tokens struct {
	trace  *trace.Trace
	ids    map[tokenKey]int32
	latest []numbered // by name: the latest details, which most launches share
}

type numbered struct {
	detail trace.DetailID
	token  int32 // plus 1; 0 if there is none yet
}

func newTokens(t *trace.Trace) *tokens {
	return &tokens{trace: t, ids: make(map[tokenKey]int32), latest: make([]numbered, t.Names())}
}

func (t *tokens) of(a *trace.Activity) int32 {
	l := &t.latest[a.Name]
	if l.token > 0 && l.detail == a.Detail {
		return l.token - 1
	}
	key := tokenKey{a.Name, t.trace.Detail(a.Detail).Grid}
	token, ok := t.ids[key]
	if !ok {
		token = int32(len(t.ids))
		t.ids[key] = token
	}
	*l = numbered{a.Detail, token + 1}
	return token
}

// isOrdered reports whether kernels like this count for the order.
func (n nature) isOrdered() bool { return n.role != moves && n.role != skipped }

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
