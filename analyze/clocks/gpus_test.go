package clocks

import (
	"testing"

	"assay/summary"
)

// sampled adds samples of one metric, one a second from 12:00 on.
func sampled(t *Track, place, metric string, values ...float64) {
	set := samples{place: place, metric: metric}
	for i, v := range values {
		set.t, set.v = append(set.t, t.first+int64(i)*second), append(set.v, v)
	}
	t.sets = append(t.sets, set)
}

// TestWorkingClocks: a GPU has the median clock of the samples in which it worked, within the
// time of its trace. Without a one to one relation of GPUs it has none.
func TestWorkingClocks(t *testing.T) {
	const hour = 3600.
	join := func(ordinals []int64, trace *Track, fill func(*Track)) *summary.Summary {
		m := at(12, 12+60/hour, func(t *Track) { t.monitor, t.zoned = true, true })
		fill(m)
		s := &summary.Summary{Inputs: make([]summary.Input, 2)}
		for _, n := range ordinals {
			s.Efficiency.Devices = append(s.Efficiency.Devices, summary.EfficiencyDevice{Device: n})
		}
		Join(s, []*Track{trace, m})
		return s
	}
	whole := func() *Track { return at(12-1/hour, 12+10/hour, zoned) }
	one := func(m *Track) {
		sampled(m, "gpu 0", "gpu.clock", 300e6, 1400e6, 1410e6, 1500e6, 1980e6, 1980e6)
		sampled(m, "gpu 0", "gpu.util", 0, 0.9, 1, 0.5, 0, 0)
		sampled(m, "gpu 0", "gpu.throttled", 0, 1, 0, 0, 1, 1)
	}
	d := join([]int64{0}, whole(), one).Efficiency.Devices[0]
	if d.Clock == nil || d.Clock.Median != 1410 || d.Clock.Samples != 3 || d.ClockSource != summary.ClockOfMonitor {
		t.Errorf("clock %+v of %q, want the median of 1400, 1410 and 1500 MHz", d.Clock, d.ClockSource)
	}
	if d.Throttled == nil || *d.Throttled < 0.333 || *d.Throttled > 0.334 {
		t.Errorf("throttled %v, want a third", d.Throttled)
	}
	without := func(m *Track) { sampled(m, "gpu 0", "gpu.clock", 300e6, 1400e6, 1410e6, 1500e6) }
	if d := join([]int64{0}, whole(), without).Efficiency.Devices[0]; d.Clock == nil || d.Clock.Median != 1405 || d.Clock.Samples != 4 || d.Throttled != nil {
		t.Errorf("without utilization: %+v", d.Clock)
	}
	for name, s := range map[string]*summary.Summary{
		"a GPU that is not in the monitor": join([]int64{1}, whole(), one),
		"a monitor of more GPUs": join([]int64{0}, whole(), func(m *Track) {
			one(m)
			sampled(m, "gpu 1", "gpu.clock", 1e9, 1e9, 1e9, 1e9)
		}),
		"two processes with a GPU 0 each":  join([]int64{0, 0}, whole(), one),
		"a trace of two samples":           join([]int64{0}, at(12, 12+2/hour, zoned), one),
		"a trace after the monitor":        join([]int64{0}, at(13, 13.1, zoned), one),
		"a trace without a zone, same day": join([]int64{0}, at(12, 12.1, nil), func(m *Track) { one(m); m.zoned = true; m.last += 24 * 3600 * second }),
	} {
		for _, d := range s.Efficiency.Devices {
			if d.Clock != nil || d.Throttled != nil || d.ClockSource != "" {
				t.Errorf("%s: clock %+v", name, d.Clock)
			}
		}
	}
	two := func(m *Track) {
		sampled(m, "gpu 1", "gpu.clock", 1e9, 1e9, 1e9, 1e9)
		one(m)
	}
	s := join([]int64{0, 1}, whole(), two)
	if a, b := s.Efficiency.Devices[0].Clock, s.Efficiency.Devices[1].Clock; a == nil || b == nil || a.Median != 1410 || b.Median != 1000 {
		t.Errorf("two GPUs: %+v, %+v", a, b)
	}
}
