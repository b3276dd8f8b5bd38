package layers

import "sort"

// parallel returns where the kernels of each stream begin in the list, which has one stream after the other.
func parallel(list []kernel) (out []int) {
	for i := range list {
		if i == 0 || list[i].work < list[i-1].work {
			out = append(out, i)
		}
	}
	return out
}

// isOf reports whether a piece of communication may be of a layer. If several streams have layers, as those of micro-batches that take turns, it is
// of the one that is idle while the communication runs; of several, the one that was the last to run something before.
func (r *measurer) isOf(w int32, l layer) bool {
	if len(r.streams) < 2 {
		return true
	}
	comm := r.device.Work[w]
	own, best, latest := 0, -1, int64(0)
	for s, from := range r.streams {
		to := len(r.list)
		if s+1 < len(r.streams) {
			to = r.streams[s+1]
		}
		if l.from >= from && l.from < to {
			own = s
		}
		next := from + sort.Search(to-from, func(i int) bool { return r.list[from+i].work > w })
		if next == from || next < to && r.device.Work[r.list[next].work].Start < comm.End() {
			continue
		}
		if end := r.device.Work[r.list[next-1].work].End(); end <= comm.Start && (best < 0 || end > latest) {
			best, latest = s, end
		}
	}
	return best < 0 || best == own
}

// takeTurns reports whether many layers have products behind them that are of no layer, although no model ends there, as where the
// feed-forward networks of two micro-batches follow the attention of both.
func (f *finder) takeTurns(list []layer) bool {
	left, all := 0, 0
	for i := range len(list) - 1 {
		if l, n := &list[i], &list[i+1]; n.core.follows && n.core.kind == l.core.kind && n.from >= l.to {
			if all++; hasProduct(f.list[l.to:n.from]) {
				left++
			}
		}
	}
	return left >= fewest && 3*left > all
}
