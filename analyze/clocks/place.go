package clocks

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"assay/internal/stat"
	"assay/logs"
	"assay/summary"
)

// A Placed is an input on a clock that it may share with others.
type Placed struct{ p *placed }

// Place returns the inputs on common clocks, one for each track. The year and the zone of an input are assumed as for
// monitors. The GPUs of traces are places like those of a monitor: a bin of their strip is a sample.
func Place(s *summary.Summary, tracks []*Track) (out []Placed) {
	for i, p := range align(tracks) {
		if p.Track != nil && p.traced {
			t := *p.Track
			t.sets = stripsOf(s, i)
			p.Track = &t
		}
		out = append(out, Placed{p})
	}
	return out
}

// stripsOf returns the use of the GPUs of a trace.
func stripsOf(s *summary.Summary, input int) (out []samples) {
	for _, d := range s.Devices {
		if d.Input != input || d.Strip == nil || d.Strip.BinNS <= 0 {
			continue
		}
		set := samples{place: fmt.Sprint("gpu ", d.Device), metric: "gpu.util"}
		at := summary.Plus(*s.Inputs[input].BaseTimeNS, d.StartNS)
		for bin := int64(0); bin*d.Strip.BinNS < d.WindowNS; bin++ {
			busy := int64(0)
			for _, row := range d.Strip.NS {
				if bin < int64(len(row)) {
					busy = max(busy, row[bin])
				}
			}
			set.t = append(set.t, at+(bin+1)*d.Strip.BinNS)
			set.v = append(set.v, float64(busy)/float64(d.Strip.BinNS))
		}
		out = append(out, set)
	}
	return out
}

// A Use is in which part of the time of some steps a server had requests, or a GPU was in use.
type Use struct {
	Place string // "gpu 0"; "" for a server
	Share float64
	Steps int64 // the steps that the input covers
}

// Kind returns what shows the use of an input: a constant of RoleTime.From, or "" if nothing does.
func (a Placed) Kind() string {
	switch p := a.p; {
	case p.Track == nil:
	case len(p.busy) > 0:
		return summary.FromServers
	case p.monitor:
		return summary.FromMonitors
	case p.traced:
		return summary.FromTraces
	}
	return ""
}

// Limits of the use of a GPU.
const (
	leastInUse  = 0.05 // of a sample in which the GPU counts as in use
	mostPerStep = 0.1  // time of a sample, as a share of the mean step
)

// UsesDuringSteps returns the uses of another input during the steps of this one. If there are none, why is the reason,
// a constant of RoleLeftOut.Why.
func (a Placed) UsesDuringSteps(b Placed) (out []Use, why string) {
	p, o := a.p, b.p
	switch {
	case p.Track == nil || len(p.steps) == 0 || p.row.LeftOut != "":
		return nil, summary.TrainerWithoutTimes
	case o.Track == nil || o.row.LeftOut != "":
		return nil, cmp.Or(o.row.LeftOut, summary.NoTimes)
	case p.row.Frame != o.row.Frame:
		return nil, summary.ZoneUnknown
	}
	var steps []span
	all := int64(0)
	for _, st := range p.steps {
		if st = st.moved(p.shift); st.start >= o.from() && st.end <= o.to() && st.end > st.start { // else the input is shorter
			steps = append(steps, st)
			all += st.end - st.start
		}
	}
	if all == 0 {
		return nil, summary.NoOverlap
	}
	mean := float64(all) / float64(len(steps))
	add := func(place string, busy []span) {
		use := Use{Place: place, Steps: int64(len(steps))}
		for _, st := range steps {
			first := sort.Search(len(busy), func(i int) bool { return busy[i].end > st.start })
			for _, sp := range busy[first:] {
				if sp.start >= st.end {
					break
				}
				use.Share += float64(min(st.end, sp.end)-max(st.start, sp.start)) / float64(all)
			}
		}
		out = append(out, use)
	}
	if len(o.busy) > 0 {
		var busy []span
		for _, sp := range o.busy {
			busy = append(busy, sp.moved(o.shift))
		}
		add("", busy)
		return out, ""
	}
	for i := range o.sets {
		if set := &o.sets[i]; set.metric == "gpu.util" {
			w := weigh(set, o.shift, 0)
			if float64(stat.Median(w.ns)) > mostPerStep*mean {
				return nil, summary.TooCoarse
			}
			add(set.place, w.inUse())
		}
	}
	if len(out) == 0 {
		return nil, summary.NoUse
	}
	return out, ""
}

// inUse returns the times for which the samples of a GPU show that it was in use. Of the first and the last sample of
// such a time, the part counts that its value is of the one next to it: the work began or ended within it.
func (w *weighed) inUse() (out []span) {
	at := func(i int) float64 {
		if i < 0 || i >= len(w.v) || w.v[i] < leastInUse || w.ns[i] <= 0 {
			return 0
		}
		return w.v[i]
	}
	for i := range w.v {
		v, before, after := at(i), at(i-1), at(i+1)
		if v == 0 {
			continue
		}
		sp := span{start: w.from[i], end: w.to[i]}
		switch inner := max(before, after); {
		case v >= inner || before > 0 && after > 0:
		case before == 0:
			sp.start = sp.end - int64(float64(sp.end-sp.start)*v/inner)
		default:
			sp.end = sp.start + int64(float64(sp.end-sp.start)*v/inner)
		}
		if n := len(out); n > 0 && before > 0 && sp.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, sp.end)
			continue
		}
		out = append(out, sp)
	}
	return out
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
