package clocks

import (
	"cmp"
	"slices"

	"assay/internal/stat"
	"assay/logs"
)

// A Placed is an input on a clock that it may share with others.
type Placed struct{ p *placed }

// Place returns the inputs on common clocks, one for each track. The year and the zone of an input are assumed as for
// monitors.
func Place(tracks []*Track) (out []Placed) {
	for _, p := range align(tracks) {
		out = append(out, Placed{p})
	}
	return out
}

// BusyDuringSteps returns the share of the time of the steps of one input in which a server, another input, had
// requests. It returns false if the other input is no server, or if the two have no clock in common or no time.
func (a Placed) BusyDuringSteps(b Placed) (share float64, ok bool) {
	p, o := a.p, b.p
	if p.Track == nil || o.Track == nil || len(o.busy) == 0 || len(p.steps) == 0 || p.row.LeftOut != "" || o.row.LeftOut != "" || p.row.Frame != o.row.Frame {
		return 0, false
	}
	var all, busy int64
	for _, st := range p.steps {
		st = st.moved(p.shift)
		if st.start < o.from() || st.end > o.to() || st.end <= st.start {
			continue // the log of the server begins later or ends earlier
		}
		all += st.end - st.start
		for _, sp := range o.busy {
			sp = sp.moved(o.shift)
			busy += max(0, min(st.end, sp.end)-max(st.start, sp.start))
		}
	}
	if all == 0 {
		return 0, false
	}
	return float64(busy) / float64(all), true
}

// serverBusy returns when a server had requests: up to each line with some, from the line before, but not longer than
// lines are usually apart, because idle servers log nothing.
func serverBusy(l *logs.Log) (out []span) {
	var list []span
	for i := range l.Series {
		s := &l.Series[i]
		if s.Metric.Name != "requests.running" || s.Sampled() || s.Points.Time == nil || s.N < 3 {
			continue
		}
		var gaps []int64
		for k := 1; k < s.Points.Len(); k++ {
			if d := s.Points.TimeAt(k) - s.Points.TimeAt(k-1); s.Points.TimeAt(k-1) != logs.NoTime && d > 0 {
				gaps = append(gaps, d)
			}
		}
		usual := stat.MedianInPlace(gaps)
		for k, v := range s.Points.Value {
			at := s.Points.TimeAt(k)
			if v <= 0 || at == logs.NoTime {
				continue
			}
			from := at - usual
			if k > 0 && s.Points.TimeAt(k-1) != logs.NoTime && at-s.Points.TimeAt(k-1) <= 5*usual/2 {
				from = min(at, s.Points.TimeAt(k-1))
			}
			list = append(list, span{start: from, end: at})
		}
	}
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	for _, sp := range list {
		if n := len(out); n > 0 && sp.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, sp.end)
			continue
		}
		out = append(out, sp)
	}
	return out
}
