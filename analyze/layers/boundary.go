package layers

// The boundary between two layers is somewhere between their cores. Three observations limit it:
//   - the first layer of a model is complete, and before it something else ran: the boundary is not before the part that the first
//     layer has in common with the others
//   - the last layer is complete too
//   - a layer begins with a norm, and in the backward pass ends with one

// A bound is a limit of a boundary, as the number of kernels of the gap that are before it.
type bound struct {
	at    int
	tight bool // another kernel made the limit, not the end of the record
}

// boundary returns how many kernels of a gap belong to the layer before it.
func (f *finder) boundary(c *class) int {
	low, high := f.low(c), f.high(c)
	back := f.isBack(c.right)
	if low.at > high.at { // the first or last layer is unlike the others
		low.at, high.at = 0, len(c.gap)
		if low.tight = false; c.left == c.right {
			high.tight = false // layers with one kind of core and different other parts take turns: the last one is of another kind
		}
	}
	places := places(c.gap, back)
	var within []int
	for _, p := range places {
		if low.at <= p && p <= high.at {
			within = append(within, p)
		}
	}
	switch {
	case low.at == high.at:
		return low.at
	case len(within) == 0 && low.tight:
		return low.at
	case len(within) == 0:
		return high.at
	case low.tight && !hasProduct(c.gap[low.at:within[0]]):
		return within[0]
	case low.tight && high.tight:
		return low.at
	case high.tight:
		return within[len(within)-1]
	}
	return usual(c.gap, within, back)
}

// isBack reports whether cores of a kind are of the backward pass.
func (f *finder) isBack(kind int32) bool {
	for i := range f.cores {
		if f.cores[i].kind == kind {
			return f.cores[i].back
		}
	}
	return false
}

func hasProduct(list []kernel) bool {
	for i := range list {
		if list[i].role == product || list[i].role == experts {
			return true
		}
	}
	return false
}

// places returns where a gap may be divided: before norms of the forward pass, or behind those of the backward pass.
func places(gap []kernel, back bool) (out []int) {
	is := func(i int) bool { return i >= 0 && i < len(gap) && gap[i].role == norm && gap[i].back == back }
	for i := range len(gap) + 1 {
		if !back && is(i) && !is(i-1) || back && is(i-1) && !is(i) {
			out = append(out, i)
		}
	}
	return out
}

// usual returns the place between the feed-forward part of one layer and the attention of another.
func usual(gap []kernel, within []int, back bool) int {
	at := -1
	for i := range gap {
		if r := gap[i].role; r == activate || r == experts {
			at = i
			if back {
				break
			}
		}
	}
	if at < 0 && back {
		return within[0]
	} else if at < 0 {
		return within[len(within)-1]
	}
	best := -1
	for _, p := range within {
		if !back && p > at && best < 0 || back && p <= at {
			best = p
		}
	}
	switch {
	case best >= 0:
		return best
	case back:
		return within[0]
	}
	return within[len(within)-1]
}

// low returns the limit that the first layers of models set.
func (f *finder) low(c *class) bound {
	v := make(votes)
	gap := reversed(c.gap)
	for i := range f.cores {
		if f.cores[i].follows || f.cores[i].kind != c.right {
			continue
		}
		from, to := f.limit(i), f.cores[i].from
		before := reversed(f.list[max(from, to-len(gap)-slack):to])
		n, at, ended := reach(gap, before)
		if ended && gap[n].role == norm && !gap[n].back && secondNorm(before[at:]) {
			n++
		}
		ended = ended || n < len(gap) && from > 0 && !f.list[from].first
		v[bound{len(gap) - n, ended}]++
	}
	return v.best(bound{0, false})
}

// secondNorm reports whether what is before a part of the first layer, latest first, is one or two kernels, the norm with which the layer
// begins, and another one of the embeddings.
func secondNorm(before []kernel) bool {
	norms := 0
	for i := range before {
		switch before[i].role {
		case norm:
			norms++
		case product, experts, activate:
			return norms > 1
		}
		if norms == 0 && i >= 2 {
			return false
		}
	}
	return norms > 1
}

// high returns the limit that the last layers of models set.
func (f *finder) high(c *class) bound {
	v := make(votes)
	for i := range f.cores {
		if i+1 < len(f.cores) && f.cores[i+1].follows || f.cores[i].kind != c.left {
			continue
		}
		from, to := f.cores[i].to, f.end(i)
		n, _, ended := reach(c.gap, f.list[from:min(to, from+len(c.gap)+slack)])
		ended = ended || n < len(c.gap) && to < len(f.list) && !f.list[to].first
		v[bound{n, ended}]++
	}
	return v.best(bound{len(c.gap), false})
}

type votes map[bound]int

// best returns the limit that most models set; tight ones count more.
func (v votes) best(none bound) bound {
	best, most := none, 0
	for b, n := range v {
		if b.tight {
			n += 1 << 30
		}
		if n > most || n == most && (b.at < best.at || b.at == best.at && b.tight) {
			best, most = b, n
		}
	}
	return best
}
