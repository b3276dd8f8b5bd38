package layers

import "slices"

// Where no attention is known by its name, a kernel that layers have once takes its place: the one whose repeats have most
// kernels between them.

const (
	anchors      = 8 // number of tokens that are tried
	anchorLayers = 4 // more than with attention, because the evidence is less
	anchorLength = 6 // kernels
)

// anchor adds cores for what repeats outside of the layers that are known, and reports whether it did.
func (f *finder) anchor(known []layer) bool {
	free := f.free(known)
	counts := make(map[int32]int)
	for i := range f.list {
		if k := &f.list[i]; free[i] && k.role != stop {
			counts[k.token]++
		}
	}
	var tokens []int32
	for t, n := range counts {
		if n >= anchorLayers {
			tokens = append(tokens, t)
		}
	}
	slices.SortFunc(tokens, func(a, b int32) int { // few tokens are in every layer; those of several are more frequent
		if counts[a] != counts[b] {
			return counts[a] - counts[b]
		}
		return int(a) - int(b)
	})
	best, most := int32(-1), 0
	for at := range min(len(tokens), anchors) {
		t := tokens[at*len(tokens)/min(len(tokens), anchors)]
		if c := f.cover(t, free, len(known) > 0); c > most {
			best, most = t, c
		}
	}
	left := 0
	for i, is := range free {
		if is && f.list[i].role != stop {
			left++
		}
	}
	if best < 0 || 4*most < left {
		return false
	}
	f.addCores(best, free)
	return true
}

// free returns which kernels are in no layer.
func (f *finder) free(known []layer) []bool {
	out := make([]bool, len(f.list))
	for i := range out {
		out[i] = true
	}
	for _, l := range known {
		for i := l.from; i < l.to; i++ {
			out[i] = false
		}
	}
	return out
}

// cover returns how many kernels are in the most frequent gap between kernels of a token, all its repeats together; 0 if it is no layer.
func (f *finder) cover(token int32, free []bool, others bool) int {
	type seen struct{ count, from, to int }
	gaps := make(map[uint64]*seen)
	last := -1
	for i := range f.list {
		switch k := &f.list[i]; {
		case !free[i] || k.first || k.role == stop:
			last = -1
			fallthrough
		default:
			if !free[i] || k.token != token {
				continue
			}
			if last >= 0 && i-last <= longest {
				h := hashOf(f.list[last:i])
				if gaps[h] == nil {
					gaps[h] = &seen{from: last, to: i}
				}
				gaps[h].count++
			}
			last = i
		}
	}
	most := 0
	for _, g := range gaps {
		if n := g.to - g.from; g.count+1 >= anchorLayers && n >= anchorLength && f.isLayer(f.list[g.from:g.to], others) {
			most = max(most, g.count*n)
		}
	}
	return most
}

// isLayer reports whether kernels may be a layer: it has two products, and a norm if no other layers are known.
func (f *finder) isLayer(list []kernel, others bool) bool {
	products, norms := 0, 0
	for i := range list {
		switch list[i].role {
		case product:
			products++
		case norm:
			norms++
		}
	}
	return products >= 2 && (norms > 0 || others)
}

// addCores adds a core for each kernel of a token.
func (f *finder) addCores(token int32, free []bool) {
	kind := f.kindOf(uint64(uint32(token)) | 1<<62)
	back := false
	for i := range f.list {
		if k := &f.list[i]; free[i] && k.token == token {
			f.cores = append(f.cores, core{from: i, to: i + 1, kind: kind, role: plain})
		}
		back = back || free[i] && f.list[i].role != stop && f.list[i].back
	}
	slices.SortFunc(f.cores, func(a, b core) int { return a.from - b.from })
	follows := false
	at := 0
	for i := range f.list {
		if k := &f.list[i]; k.first || k.role == stop {
			follows = false
		}
		if at < len(f.cores) && f.cores[at].from == i {
			f.cores[at].follows = follows && (f.cores[at].kind == kind) == (f.cores[at-1].kind == kind)
			if f.cores[at].kind == kind {
				f.cores[at].back = back
			}
			follows = true
			at++
		}
	}
}
