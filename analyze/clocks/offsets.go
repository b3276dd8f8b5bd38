package clocks

import (
	"math"
	"slices"

	"assay/summary"
)

// Limits of the load of an input by which its clock is checked.
const (
	quarter   = 900 * second // clocks of zones differ by multiples of it
	edgeSlack = 180 * second // by which the load may begin before the first step or end after the last one
	leastLoad = 600 * second // from its beginning to its end
)

// A run is the time of the steps of a program, and the usual time of a record of them.
type run struct{ first, last, record int64 }

// offsets leaves out monitors and servers whose load fits the steps of a program, or of all programs together (the starts of
// a job), only if one of the clocks is some quarters of an hour ahead: both its beginning and its end are off by the same
// time. Their zones are not stated, so they probably differ, and a join would pair steps with samples of other ones.
func offsets(list []*placed) {
	programs := ok(list, func(p *placed) bool { return !p.monitor && len(p.steps) > 0 && !p.row.Given && len(p.busy) == 0 })
	if len(programs) == 0 || len(programs) > maxJoined {
		return
	}
	for _, m := range ok(list, func(p *placed) bool { return !p.row.Given && (p.monitor || len(p.busy) > 0) }) {
		loads := m.loads()
		from, to := ends(loads)
		if to-from < leastLoad {
			continue
		}
		var runs []run
		all := run{first: math.MaxInt64, last: math.MinInt64}
		for _, p := range programs {
			if p.row.Frame != m.row.Frame || p.zoned && m.zoned {
				continue
			}
			r := run{p.first + p.shift - p.record(), p.last + p.shift, p.record()}
			runs = append(runs, r)
			all = run{min(all.first, r.first), max(all.last, r.last), max(all.record, r.record)}
		}
		if len(runs) > 1 {
			runs = append(runs, all)
		}
		found, fits := int64(0), false
		for _, r := range runs {
			off, ok := offsetOf(from-r.first, to-r.last, r.record)
			fits = fits || ok && off == 0
			if ok && off != 0 {
				found = off
			}
		}
		switch {
		case found != 0 && !fits:
			m.row.LeftOut, m.row.Fits = summary.OtherZone, -found
		case m.monitor && idleIn(loads, runs, m):
			m.row.LeftOut = summary.IdleInSteps
		}
	}
}

// record returns the usual time of a record of steps, their median.
func (p *placed) record() (ns int64) {
	var all []int64
	for _, sp := range p.steps {
		all = append(all, sp.end-sp.start)
	}
	slices.Sort(all)
	if len(all) == 0 {
		return 0
	}
	return all[len(all)/2]
}

// idleIn reports whether a monitor covers the steps of a program without any load in them, and has one at other times: its
// clock or its GPUs are probably others, and "0% use" of a program that runs would be false.
func idleIn(loads []span, runs []run, m *placed) bool {
	covered, outside := false, int64(0)
	for _, sp := range loads {
		outside += sp.end - sp.start
	}
	for _, r := range runs {
		covered = covered || m.from() < r.last && r.first < m.to()
		for _, sp := range loads {
			if sp.start < r.last && r.first < sp.end {
				return false
			}
		}
	}
	return covered && outside >= leastLoad
}

// ends returns when the first of some loads begins and the last ends.
func ends(loads []span) (from, to int64) {
	if len(loads) == 0 {
		return 0, 0
	}
	from, to = loads[0].start, loads[0].end
	for _, sp := range loads {
		from, to = min(from, sp.start), max(to, sp.end)
	}
	return from, to
}

// loads returns when a monitor shows GPUs in use, or a server has requests.
func (p *placed) loads() (out []span) {
	for _, sp := range p.busy {
		out = append(out, sp.moved(p.shift))
	}
	for i := range p.sets {
		if set := &p.sets[i]; set.metric == "gpu.util" {
			w := weigh(set, p.shift, 0)
			for k, v := range w.v {
				if v >= leastInUse && w.ns[k] > 0 {
					out = append(out, span{start: w.from[k], end: w.to[k]})
				}
			}
		}
	}
	return out
}

// offsetOf returns by how many quarters of an hour both ends of a load are off, if they agree on it.
func offsetOf(first, last, record int64) (off int64, ok bool) {
	slack := edgeSlack + record/2
	if slack >= quarter/2 {
		return 0, false
	}
	off = (last + quarter/2) / quarter * quarter
	if last < -quarter/2 {
		off = -((-last + quarter/2) / quarter * quarter)
	}
	near := func(d int64) bool { return d >= off-slack && d <= off+slack }
	return off, near(first) && near(last) && slices.Contains(zonesInUse(), max(off, -off))
}
