package roles

import (
	"slices"

	"assay/internal/stat"
	"assay/logs"
	"assay/summary"
)

// Limits of batches whose tail is measured.
const (
	leastBatches   = 2
	leastSequences = 20 // of a batch
	leastLines     = 10 // of the log in a batch
	tailShare      = 20 // one in so many sequences: 5%
)

// A load is the number of requests that a server has at one time.
type load struct {
	at int64
	n  float64
}

// Tails returns how batches of rollouts end in the log of a server. A batch is a time in which the requests only become
// fewer after all of them have come, as a synchronous trainer sends them; other load has no tail.
func Tails(l *logs.Log) []summary.RoleTail {
	var best summary.RoleTail
	for i := range l.Series {
		s := &l.Series[i]
		if s.Metric.Name != "requests.running" || s.Sampled() || s.Points.Time == nil {
			continue
		}
		if t := tailOf(loads(l, s)); t.TotalNS > best.TotalNS {
			best = t
		}
	}
	if best.Batches < leastBatches {
		return nil
	}
	return []summary.RoleTail{best}
}

// loads returns the running and queued requests of a place by time.
func loads(l *logs.Log, running *logs.Series) (out []load) {
	queued := map[int64]float64{}
	for i := range l.Series {
		if s := &l.Series[i]; s.Metric.Name == "requests.queued" && slices.Equal(s.Labels, running.Labels) {
			for k, v := range s.Points.Value {
				queued[s.Points.TimeAt(k)] = v
			}
		}
	}
	for k, v := range running.Points.Value {
		if at := running.Points.TimeAt(k); at != logs.NoTime && (len(out) == 0 || at > out[len(out)-1].at) {
			out = append(out, load{at, v + queued[at]})
		}
	}
	return out
}

// tailOf adds up the batches of a server.
func tailOf(list []load) (t summary.RoleTail) {
	var gaps, sizes []int64
	for i := 1; i < len(list); i++ {
		gaps = append(gaps, list[i].at-list[i-1].at)
	}
	usual := stat.MedianInPlace(gaps)
	other := 0
	for from := 0; from < len(list); {
		to := from
		for to < len(list) && list[to].n > 0 && (to == from || list[to].at-list[to-1].at <= 5*usual/2) {
			to++
		}
		if to == from {
			from++
			continue
		}
		end := list[to-1].at + usual
		if to < len(list) {
			end = min(end, list[to].at)
		}
		if size, total, tail, ok := batch(list[from:to], usual, end); ok {
			t.Batches, t.TotalNS, t.TailNS = t.Batches+1, t.TotalNS+total, t.TailNS+tail
			sizes = append(sizes, size)
		} else {
			other++
		}
		from = to
	}
	if int64(other) > t.Batches { // most of the load is not of batches
		return summary.RoleTail{}
	}
	t.Sequences = stat.MedianInPlace(sizes)
	return t
}

// batch measures one batch, or returns false if the requests are not those of one.
func batch(list []load, usual, end int64) (size, total, tail int64, ok bool) {
	peak := 0
	for i := range list {
		if list[i].n > list[peak].n {
			peak = i
		}
	}
	most := list[peak].n
	if len(list) < leastLines || most < leastSequences || peak > len(list)/3 {
		return 0, 0, 0, false
	}
	start := end
	for i := peak + 1; i < len(list); i++ {
		if list[i].n > list[i-1].n+most/100 {
			return 0, 0, 0, false
		}
		if list[i].n <= most/tailShare+0.5 && start == end {
			start = list[i].at
		}
	}
	return int64(most), end - list[0].at + usual, end - start, true
}
