// Package clocks places the inputs of one run on a common clock, and joins what monitors measured
// with the phases and steps of logs and traces.
//
// Start with track.go: a [Track] has what is needed of one input, namely the times of its phases
// and steps and the samples of its monitors. [Join], in join.go, adds rows of [summary.Clock] and
// [summary.Monitored]; align.go decides which tracks have a clock in common. If an input does not
// state its time zone or year, one is assumed only if exactly one value fits, and the row says so.
// setting.go and clocks.go parse what the user states. gpus.go uses the join for clock rates.
//
// A sample counts for a phase only if it certainly was taken during that phase: the time from the sample
// before it to its own, widened by the precision of the times. So a phase shorter than two samples
// has none, and samples across the border of a phase count for no phase.
package clocks

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"assay/logs"
	"assay/summary"
)

const second = int64(1e9)

// A Track is what one input tells about wall-clock time. It does not keep other data of the input
// alive.
type Track struct {
	dated, zoned bool  // its times have a date, and a time zone
	leap         bool  // it has a 29 February, and no year
	monitor      bool  // it has samples of a monitor and no values of a program
	sampled      bool  // some samples are missing
	traced       bool  // it is a trace
	first, last  int64 // ns
	known        bool  // first and last are set
	open         int64 // precision in ns: a time written as t is in [t, t+open)

	phases []span
	steps  []span
	busy   []span // a server had requests
	sets   []samples

	tool    string // the program of the first samples
	setting Setting
}

// A span is a time during which a phase or step certainly ran.
type span struct {
	name, phase string
	step        int64
	start, end  int64
}

// samples are the values of one metric at one place.
type samples struct {
	place, metric, unit string
	t                   []int64
	v                   []float64
}

// metrics are the metrics of monitors that are joined.
var metrics = []string{"gpu.util", "gpu.memory_util", "memory.used", "memory.usage", "gpu.power", "gpu.clock",
	"gpu.sm_active", "gpu.tensor_active", "gpu.throttled",
	"host.cpu_util", "host.iowait", "disk.util"}

// OfLog returns the track of a log or a monitor, or nil if it has no values over time. phaseOf
// returns the kind of a phase by its producer's name, or "".
func OfLog(l *logs.Log, phaseOf func(string) string) *Track {
	if len(l.Series) == 0 {
		return nil
	}
	t := &Track{dated: l.Clock.Dated, zoned: l.Clock.Zoned, leap: l.Clock.Leap, open: second, monitor: true}
	ends := map[[2]string][]stepEnd{}
	for i := range l.Series {
		s := &l.Series[i]
		t.extend(s.Points.Time)
		set, ok := samplesOf(s)
		switch {
		case ok && s.Sampled():
			t.sampled = true
		case ok:
			t.sets, t.tool = append(t.sets, set), cmp.Or(t.tool, s.Producer)
		case !strings.HasPrefix(s.Metric.Name, "gpu.") && !strings.HasPrefix(s.Metric.Name, "memory.") &&
			!strings.HasPrefix(s.Metric.Name, "host.") && !strings.HasPrefix(s.Metric.Name, "disk.") &&
			s.Metric.Role != logs.Other:
			t.monitor = false
		}
		if s.Metric.Name == "step.time" && !s.Sampled() {
			key := [2]string{s.Producer, s.Label("rank")}
			ends[key] = append(ends[key], stepEnds(s)...)
		}
	}
	if len(t.sets) == 0 && !t.sampled {
		t.monitor = false
	}
	if !t.known {
		return t
	}
	for _, sp := range l.Spans {
		t.phases = append(t.phases, span{name: sp.Name, phase: phaseOf(sp.Name), start: sp.Start + t.open, end: sp.End})
		t.first = min(t.first, sp.Start)
	}
	t.stepsOf(ends)
	t.busy = serverBusy(l)
	return t
}

// Rename replaces all names of a track, for redaction.
func (t *Track) Rename(name func(string) string) {
	for i := range t.phases {
		t.phases[i].name = name(t.phases[i].name)
	}
	for i := range t.sets {
		t.sets[i].place = name(t.sets[i].place)
	}
}

// samplesOf returns the samples of a series of a monitor, by time. ok is false for series that are
// not joined.
func samplesOf(s *logs.Series) (samples, bool) {
	if s.Points.Time == nil || !slices.Contains(metrics, s.Metric.Name) || s.N < 2 {
		return samples{}, false
	}
	out := samples{place: "host", metric: s.Metric.Name, unit: s.Metric.Unit}
	for _, l := range s.Labels {
		switch {
		case l.Name == "gpu":
			out.place = "gpu " + l.Value
		case l.Name == "device" && strings.HasPrefix(s.Metric.Name, "disk."):
			out.place = "disk " + l.Value
		case l.Name == "cpu" && l.Value == "all":
		default:
			return samples{}, false // of one process or core
		}
	}
	if (out.place == "host") != strings.HasPrefix(s.Metric.Name, "host.") {
		return samples{}, false
	}
	order := make([]int, 0, s.Points.Len())
	for i, at := range s.Points.Time {
		if at != logs.NoTime {
			order = append(order, i)
		}
	}
	if byTime := func(a, b int) int {
		return cmp.Compare(s.Points.Time[a],
			s.Points.Time[b])
	}; !slices.IsSortedFunc(order, byTime) {
		slices.SortStableFunc(order, byTime)
	}
	for _, i := range order {
		out.t, out.v = append(out.t, s.Points.Time[i]), append(out.v, s.Points.Value[i])
	}
	return out, len(out.t) >= 2
}

// extend extends first and last by some times and updates the precision.
func (t *Track) extend(times []int64) {
	for _, at := range times {
		if at == logs.NoTime {
			continue
		}
		if !t.known {
			t.first, t.last, t.known = at, at, true
		}
		t.first, t.last = min(t.first, at), max(t.last, at)
		if t.open > 0 && at%second != 0 {
			t.open = 0 // times have fractions
		}
	}
}

// A stepEnd is a step and the time of its line.
type stepEnd struct {
	step, at, wall int64
	run            int32
}

func stepEnds(s *logs.Series) (out []stepEnd) {
	for i, v := range s.Points.Value {
		if at := s.Points.TimeAt(i); at != logs.NoTime && v >= 0 && v < math.MaxInt64/4 && s.Points.StepAt(i) != logs.NoStep {
			out = append(out, stepEnd{s.Points.StepAt(i), at, int64(v), s.Points.RunAt(i)})
		}
	}
	return out
}

// stepsOf adds the times during which steps certainly ran. A log line says that a step is done, but
// not when it ended: at the earliest, its length after the line of the step before. So a step whose
// line comes late has a shorter certain part, or none.
func (t *Track) stepsOf(ends map[[2]string][]stepEnd) {
	var list []stepEnd
	for _, l := range ends {
		if len(list) == 0 || len(l) > len(list) || len(l) == len(list) && l[0].at < list[0].at {
			list = l // several ranks log the same steps: use one
		}
	}
	slices.SortStableFunc(list, func(a, b stepEnd) int { return cmp.Compare(a.at, b.at) })
	for i, e := range list {
		if i == 0 || list[i-1].run != e.run {
			continue // its start is unknown
		}
		late := e.at - list[i-1].at - e.wall
		if late < -2*t.open-e.wall/100 {
			continue // the lines contradict each other
		}
		t.steps = append(t.steps, span{step: e.step, start: e.at - e.wall + t.open, end: e.at - max(0, late)})
	}
}

// OfTrace returns the track of the summary of a trace, or nil if the trace does not state the time
// of day.
func OfTrace(s *summary.Summary) *Track {
	if len(s.Inputs) != 1 || len(s.Devices) == 0 || s.Inputs[0].BaseTimeNS == nil {
		return nil
	}
	base := *s.Inputs[0].BaseTimeNS
	if base < 1e18 || base > 4e18 { // not a time of 2001 to 2096
		return nil
	}
	t := &Track{dated: true, zoned: true, traced: true}
	for _, d := range s.Devices {
		from, to := summary.Plus(base, d.StartNS), summary.Plus(summary.Plus(base, d.StartNS), d.WindowNS)
		if !t.known {
			t.first, t.last, t.known = from, to, true
		}
		t.first, t.last = min(t.first, from), max(t.last, to)
	}
	if t.last-t.first > 30*24*3600*second {
		return nil // no capture is this long
	}
	device := s.Devices[0].Device
	for _, st := range s.Steps {
		if st.Source != summary.SourceLog && st.Device == device {
			start := summary.Plus(base, st.StartNS)
			t.steps = append(t.steps, span{step: st.Number, start: start, end: summary.Plus(start, st.WallNS)})
		}
	}
	return t
}
