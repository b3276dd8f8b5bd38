package history

import (
	"cmp"
	"math"
	"slices"

	"assay/gate/metric"
	"assay/internal/stat"
)

const (
	// falseAlarms is the largest share of histories without a change in which one is found.
	falseAlarms = 0.01

	// Smaller changes are not listed: they cost less than looking at them.
	leastChange = 0.01
	leastPoints = 0.005 // of a share

	standOut      = 5    // deviations from the median from which a run stands out
	leastStandOut = 0.05 // and by so much, or so many points
	normalMAD     = 1.4826
)

// search finds the changes of all metrics, and joins those at one place.
func (h *History) search() {
	noisy := 0
	for i := range h.Metrics {
		if !h.Metrics[i].Steady() {
			noisy++
		}
	}
	var moves []placed
	for i := range h.Metrics {
		m := &h.Metrics[i]
		found := m.changes(h, falseAlarms/float64(max(1, noisy)))
		moves = append(moves, found...)
		h.newest(m)
	}
	slices.SortStableFunc(moves, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.last-a.first, b.last-b.first), cmp.Compare(a.move.P, b.move.P))
	})
	for _, p := range moves { // the one whose place is known best first
		i := slices.IndexFunc(h.Changes, func(c Change) bool {
			return p.first <= c.At && c.At <= p.last && !slices.ContainsFunc(c.Metrics, func(m Move) bool { return m.Metric == p.move.Metric })
		})
		if i < 0 {
			h.Changes = append(h.Changes, Change{At: p.at, First: p.first, Last: p.last})
			i = len(h.Changes) - 1
		}
		h.Changes[i].Metrics = append(h.Changes[i].Metrics, p.move)
	}
	slices.SortFunc(h.Changes, func(a, b Change) int { return a.At - b.At })
	slices.SortStableFunc(h.Drifts, func(a, b Drift) int { return cmp.Compare(sizeOf(b.of, b.Change), sizeOf(a.of, a.Change)) })
	for i := range h.Changes {
		slices.SortStableFunc(h.Changes[i].Metrics, func(a, b Move) int { return cmp.Compare(b.size(), a.size()) })
		h.StableFrom = max(h.StableFrom, h.Changes[i].Last)
	}
}

// size orders moves: a share by its points, twice, since 5 points of a share of 50% are a tenth.
func (m Move) size() float64 { return sizeOf(m.of, m.Change) }

func sizeOf(of metric.Unit, change float64) float64 {
	if of == metric.Share {
		return 2 * math.Abs(change)
	}
	return math.Abs(change)
}

// placed is a move and its place.
type placed struct {
	move            Move
	at, first, last int
}

// changes finds the changes of one metric, and its levels, or that it drifts.
func (m *Metric) changes(h *History, alpha float64) (out []placed) {
	values, runs := m.present()
	found := stat.LevelChanges(values, alpha)
	if from, to, ok := stat.Drift(values, found); ok {
		if d := (Drift{Metric: m.Metric, From: from, To: to, Change: m.changeOf(from, to), Worse: m.worse(from, to), of: m.Of}); !small(Move{Before: from, Change: d.Change, of: m.Of}) {
			h.Drifts = append(h.Drifts, d)
			found = nil
		}
	}
	for again := true; again; { // a change that is left out joins two levels
		again = false
		out = out[:0]
		for i, c := range found {
			from, to := 0, len(values)
			if i > 0 {
				from = found[i-1].At
			}
			if i+1 < len(found) {
				to = found[i+1].At
			}
			before, after := stat.Median(values[from:c.At]), stat.Median(values[c.At:to])
			move := Move{Metric: m.Metric, Before: before, After: after, Change: m.changeOf(before, after), Worse: m.worse(before, after),
				P: c.P, Drift: c.Drift, of: m.Of}
			if small(move) {
				found, again = slices.Delete(found, i, i+1), true
				break
			}
			out = append(out, placed{move, runs[c.At], runs[c.First], runs[c.Last]})
		}
	}
	m.Levels = levels(values, runs, found)
	return out
}

func small(m Move) bool {
	if m.of == metric.Share {
		return math.Abs(m.Change) < leastPoints
	}
	return m.Before != 0 && math.Abs(m.Change) < leastChange
}

// levels returns the stretches between the changes.
func levels(values []float64, runs []int, found []stat.LevelChange) (out []Level) {
	from := 0
	for i := range len(found) + 1 {
		to := len(values)
		if i < len(found) {
			to = found[i].At
		}
		v := values[from:to]
		out = append(out, Level{First: runs[from], Last: runs[to-1], Runs: len(v), Median: stat.Median(v), Low: slices.Min(v), High: slices.Max(v)})
		from = to
	}
	return out
}

// newest looks whether the last runs stand out. They are too few for a level, so they are no change.
func (h *History) newest(m *Metric) {
	values, _ := m.present()
	last := m.Levels[len(m.Levels)-1]
	values = values[len(values)-last.Runs:]
	few := stat.FewestOfLevel - 1
	if len(values) < few+stat.FewestForChange/2 {
		return
	}
	before := values[:len(values)-few]
	level, mad := stat.MAD(before)
	far := func(v float64) bool {
		return (v < slices.Min(before) || v > slices.Max(before)) && math.Abs(v-level) > standOut*normalMAD*mad && math.Abs(m.changeOf(level, v)) >= leastStandOut
	}
	end := values[len(values)-few:]
	n := 0
	for n < few && far(end[few-1-n]) && (end[few-1-n] > level) == (end[few-1] > level) {
		n++
	}
	if n == 0 {
		return
	}
	v := stat.Median(end[few-n:])
	h.Newest = append(h.Newest, Newest{m.Metric, n, v, level, m.changeOf(level, v), m.worse(level, v)})
}
