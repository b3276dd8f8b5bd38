package graphjoin

import (
	"assay/analyze/efficiency/operators"
	"assay/summary"
)

// timesOf returns the time of each row of a capture, and their sum.
func timesOf(c *summary.EfficiencyCapture, nodes []int64) (times []int64, known int64) {
	times = make([]int64, len(c.Rows))
	for i, ns := range nodes {
		if at := c.Of[i]; at >= 0 {
			times[at], known = summary.Plus(times[at], ns), summary.Plus(known, ns)
		}
	}
	return times, known
}

// launchesOf returns the row of a capture for a number of launches that took ns, and their FLOPs
// without recomputation.
func launchesOf(c summary.EfficiencyRow, launches, ns int64) (row summary.EfficiencyRow, model *int64) {
	c.Count, c.GPUNS = summary.Times(c.Count, launches), ns
	for _, n := range []**int64{&c.FLOPs, &c.Model, &c.Bytes} {
		if *n == nil {
			continue
		}
		all := summary.Sum(summary.Times(**n, launches))
		if *n = (*int64)(&all); !all.Fits() {
			*n, c.Unknown = nil, operators.TooLarge.String()
		}
	}
	model = c.Model
	if c.Model != nil && c.FLOPs != nil && *c.Model == *c.FLOPs {
		c.Model = nil
	}
	return c, model
}

// steps adds the operators of replays to the steps that launched them, and rates decode steps.
func (j *joiner) steps() {
	decode := map[stepOf]*summary.EfficiencyDecode{}
	for i := range j.e.Decode {
		d := &j.e.Decode[i]
		decode[stepOf{d.Input, d.Rank, d.Device, d.StartNS, d.Number, d.Name}] = d
	}
	for i := range j.e.Steps {
		s := &j.e.Steps[i]
		d := j.device(&summary.EfficiencyReplay{Input: s.Input, Rank: s.Rank, Device: s.Device})
		row := decode[stepOf{s.Input, s.Rank, s.Device, s.StartNS, s.Number, s.Name}]
		replayed := row != nil && row.Parts != nil && !outside(row.Parts)
		for _, l := range s.Replays {
			m := j.found[replayOf{s.Input, s.Rank, s.Device, l.Replay}]
			addReplay(row, m, &l)
			if m != nil && int64(len(l.NodeNS)) == m.replay.Nodes {
				m.addTo(s, d, &l)
			}
		}
		s.Replays = nil
		if row != nil && row.Parts != nil {
			rateDecode(row, peaksOf(d), replayed)
		}
	}
}

// A stepOf identifies a step.
type stepOf struct {
	input, rank   int
	device        int64
	start, number int64
	name          string
}

// addTo adds some launches to the sums of a step.
func (m *matched) addTo(s *summary.EfficiencyStep, d *summary.EfficiencyDevice, l *summary.StepReplay) {
	times, known := timesOf(m.capture, l.NodeNS)
	s.GraphNS -= min(known, s.GraphNS)
	if m.replay.Op == "" {
		s.NoOperatorNS -= min(known, s.NoOperatorNS)
	}
	p := peaksOf(d)
	for k, ns := range times {
		c, model := launchesOf(m.capture.Rows[k], l.Launches, ns)
		count(&s.EfficiencySums, &c, model, p, totalsOf(&c))
	}
}
