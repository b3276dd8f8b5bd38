package clocks

import (
	"cmp"
	"slices"
	"sort"

	"assay/internal/stat"
	"assay/summary"
)

// Limits of the join.
const (
	maxJoined = 64     // number of logs and traces
	maxSteps  = 500    // number of steps of each
	maxRows   = 20_000 // number of rows of all together
)

// Join places the inputs of a summary on common clocks and adds rows with what monitors measured
// during the phases and steps of logs and traces. tracks has one element per input, which is nil
// for an input without times. Join does nothing unless there are a monitor and another input.
func Join(s *summary.Summary, tracks []*Track) {
	monitors, others := 0, 0
	for _, t := range tracks {
		if t != nil && t.monitor {
			monitors++
		} else {
			others++
		}
	}
	if monitors == 0 || others == 0 {
		if slices.ContainsFunc(tracks, func(t *Track) bool { return t != nil && t.hasPower() }) {
			jobPower(s, align(tracks)) // of programs that log it
		}
		return
	}
	all := align(tracks)
	joined := map[*placed]bool{}
	var rows []summary.Monitored
	n := 0
	for _, p := range ok(all, func(p *placed) bool { return !p.monitor }) {
		if n++; n > maxJoined {
			p.row.LeftOut = summary.TooMany
			continue
		}
		for _, m := range ok(all, func(m *placed) bool { return m.monitor && m.row.Frame == p.row.Frame }) {
			if !p.overlaps(m, 0) {
				continue
			}
			joined[p], joined[m] = true, true
			rows = append(rows, monitored(p, m)...)
		}
	}
	workingClocks(s, all)
	for _, p := range all {
		explain(p, all, joined[p])
	}
	jobPower(s, all)
	for _, p := range all {
		s.Clocks = append(s.Clocks, p.row)
	}
	s.Monitored = append(s.Monitored, rows[:min(len(rows), maxRows)]...)
	s.Sort()
}

// explain completes the clock row of an input: its place, or the reason why it was not joined.
func explain(p *placed, all []*placed, joined bool) {
	if p.row.LeftOut == summary.NoTimes || p.row.LeftOut == summary.YearUnknown {
		return
	}
	from, to := p.from(), p.last+p.shift
	p.row.FirstNS, p.row.LastNS, p.row.ShiftNS = &from, &to, p.shift
	switch {
	case p.row.LeftOut != "" || joined:
	case p.monitor && p.sampled && len(p.sets) == 0:
		p.row.LeftOut = summary.ValuesGone
	case slices.ContainsFunc(all, func(o *placed) bool {
		return o.row.Frame != "" && o.row.Frame != p.row.Frame && o.row.LeftOut != summary.NoTimes &&
			(o.Track != nil && o.monitor != p.monitor) && p.near(o)
	}):
		p.row.LeftOut = summary.ZoneUnknown
	default:
		p.row.LeftOut = summary.NoOverlap
	}
}

// monitored returns what one monitor measured during the phases and steps of an input.
func monitored(p, m *placed) (out []summary.Monitored) {
	list := make([]weighed, 0, len(m.sets))
	for i := range m.sets {
		list = append(list, weigh(&m.sets[i], m.shift, m.open))
	}
	base := summary.Monitored{Input: m.row.Input, Beside: p.row.Input}
	whole := base
	whole.Parts = 1
	out = append(out, rowsOf(whole, list, []span{{start: p.first + p.shift, end: p.last + p.shift}})...)
	byName := map[string][]span{}
	var names []string
	for _, sp := range p.phases {
		if byName[sp.name] == nil {
			names = append(names, sp.name)
		}
		byName[sp.name] = append(byName[sp.name], sp.moved(p.shift))
	}
	for _, name := range names {
		row := base
		row.Name, row.Phase, row.Parts = name, byName[name][0].phase, int64(len(byName[name]))
		out = append(out, rowsOf(row, list, byName[name])...)
	}
	seen := map[int64]bool{}
	for _, sp := range p.steps {
		if seen[sp.step] || len(seen) >= maxSteps {
			continue // the program was restarted: the number of the step occurs twice
		}
		seen[sp.step] = true
		row := base
		row.Step, row.Parts = &sp.step, 1
		for _, r := range rowsOf(row, list, []span{sp.moved(p.shift)}) {
			if r.Samples > 0 && (r.Place == "" || r.Place == "host") {
				out = append(out, r)
			}
		}
	}
	return out
}

func (sp span) moved(shift int64) span {
	sp.start, sp.end = sp.start+shift, sp.end+shift
	return sp
}

// A weighed has the samples of one metric, each with the time that it covers.
type weighed struct {
	*samples
	from, to []int64 // the sample was certainly taken in this time
	ns       []int64 // weight: the time covered
}

// capOfGap limits the time that one sample covers, as a multiple of the median: a monitor that was
// stopped for a while measured nothing.
const capOfGap = 3

// weigh returns the samples with their times shifted. open is by how much, in ns, a real time may
// be later than the written one.
func weigh(s *samples, shift, open int64) weighed {
	gaps := make([]int64, 0, len(s.t))
	for i := 1; i < len(s.t); i++ {
		if g := s.t[i] - s.t[i-1]; g > 0 {
			gaps = append(gaps, g)
		}
	}
	median := stat.MedianInPlace(gaps)
	w := weighed{samples: s}
	for i, at := range s.t {
		gap := median
		if i > 0 && at-s.t[i-1] <= capOfGap*median {
			gap = at - s.t[i-1]
		}
		w.from, w.to, w.ns = append(w.from, at+shift-gap), append(w.to, at+shift+open), append(w.ns, gap)
	}
	return w
}

// A part has the statistics of the samples within some spans.
type part struct {
	n, ns            int64
	sum, least, most float64
}

func (w *weighed) within(list []span) (p part) {
	for _, sp := range list {
		first := sort.Search(len(w.to), func(i int) bool { return w.to[i] > sp.start })
		for i := first; i < len(w.to) && w.to[i] <= sp.end; i++ {
			if w.from[i] < sp.start || w.ns[i] <= 0 {
				continue
			}
			v := w.v[i]
			if p.n++; p.n == 1 {
				p.least, p.most = v, v
			}
			p.least, p.most = min(p.least, v), max(p.most, v)
			p.ns += w.ns[i]
			p.sum += v * float64(w.ns[i])
		}
	}
	return p
}

// rowsOf returns a row per place, and a row for all GPUs together if there are several.
func rowsOf(row summary.Monitored, list []weighed, spans []span) (out []summary.Monitored) {
	byMetric := map[string][]summary.Monitored{}
	var order []string
	for i := range list {
		w := &list[i]
		p := w.within(spans)
		r := row
		r.Place, r.Metric, r.Unit, r.Samples, r.NS = w.place, w.metric, w.unit, p.n, p.ns
		if p.n >= summary.MinSamples {
			mean := p.sum / float64(p.ns)
			r.Mean, r.Min, r.Max = &mean, &p.least, &p.most
		}
		out = append(out, r)
		if w.place != "host" && w.metric != "disk.util" {
			if byMetric[w.metric] == nil {
				order = append(order, w.metric)
			}
			byMetric[w.metric] = append(byMetric[w.metric], r)
		}
	}
	for _, metric := range order {
		out = append(out, together(byMetric[metric]))
	}
	return out
}

// together returns the row of all GPUs: the mean of their means, and the extremes.
func together(of []summary.Monitored) summary.Monitored {
	r := of[0]
	r.Place, r.Places, r.Samples, r.NS, r.Mean, r.Min, r.Max = "", int64(len(of)), 0, 0, nil, nil, nil
	mean, n := 0.0, 0
	var least, most []float64
	for _, g := range of {
		r.Samples += g.Samples
		r.NS = summary.Plus(r.NS, g.NS)
		if g.Mean != nil {
			mean += *g.Mean
			n++
			least, most = append(least, *g.Min), append(most, *g.Max)
		}
	}
	if n > 0 && n == len(of) {
		mean /= float64(n)
		lo, hi := slices.MinFunc(least, cmp.Compare), slices.MaxFunc(most, cmp.Compare)
		r.Mean, r.Min, r.Max = &mean, &lo, &hi
	}
	return r
}
