package clocks

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/stat"
	"assay/summary"
)

// workingClocks sets the clock rates of the GPUs of traces to what monitors recorded while the GPUs
// worked. A monitor numbers the GPUs of a machine, a trace those that its process sees. The two
// correspond only if all traces of the time of the monitor have together exactly its GPUs.
func workingClocks(s *summary.Summary, all []*placed) {
	for _, m := range ok(all, func(p *placed) bool { return p.monitor }) {
		var under []*summary.EfficiencyDevice
		for i := range s.Efficiency.Devices {
			d := &s.Efficiency.Devices[i]
			if p := placeOf(all, d.Input); p != nil && p.row.Frame == m.row.Frame && p.overlaps(m, 0) {
				under = append(under, d)
			}
		}
		if !sameGPUs(under, m) {
			continue
		}
		for _, d := range under {
			p := placeOf(all, d.Input)
			working(d, m, span{start: p.first + p.shift, end: p.last + p.shift})
		}
	}
}

// placeOf returns the placed track of an input, or nil.
func placeOf(all []*placed, input int) *placed {
	if input < 0 || input >= len(all) || all[input].row.LeftOut != "" || all[input].Track == nil || all[input].monitor {
		return nil
	}
	return all[input]
}

// placeName returns the name of a GPU in a monitor.
func placeName(d *summary.EfficiencyDevice) string { return fmt.Sprintf("gpu %d", d.Device) }

// sameGPUs reports whether the GPUs of traces are all GPUs of a monitor.
func sameGPUs(of []*summary.EfficiencyDevice, m *placed) bool {
	var ours, theirs []string
	for _, d := range of {
		ours = append(ours, placeName(d))
	}
	for i := range m.sets {
		if set := &m.sets[i]; strings.HasPrefix(set.place, "gpu ") && !slices.Contains(theirs, set.place) {
			theirs = append(theirs, set.place)
		}
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	return len(ours) > 0 && slices.Equal(ours, theirs)
}

// working sets the clock rates that the monitor recorded of a GPU during a span.
func working(d *summary.EfficiencyDevice, m *placed, during span) {
	busy := map[int64]bool{} // by the time of a sample; nil if the monitor has no utilization
	used := setOf(m, placeName(d), "gpu.util")
	if used != nil {
		for i, at := range used.t {
			busy[at] = used.v[i] > 0
		}
	}
	values := func(metric string) (out []float64) {
		set := setOf(m, placeName(d), metric)
		if set == nil {
			return nil
		}
		w := weigh(set, m.shift, m.open)
		for i, v := range w.v {
			if w.from[i] >= during.start && w.to[i] <= during.end && w.ns[i] > 0 && (used == nil || busy[w.t[i]]) {
				out = append(out, v)
			}
		}
		return out
	}
	if hz := values("gpu.clock"); len(hz) >= summary.MinSamples {
		d.Clock = &summary.WorkingClock{Median: stat.Median(hz) / 1e6, Samples: int64(len(hz))}
		d.ClockSource = summary.ClockOfMonitor
	}
	if limited := values("gpu.throttled"); len(limited) >= summary.MinSamples {
		share := 0.0
		for _, v := range limited {
			share += v / float64(len(limited))
		}
		share = min(share, 1)
		d.Throttled = &share
	}
}

// setOf returns the samples of a metric at a place, or nil.
func setOf(m *placed, place, metric string) *samples {
	for i := range m.sets {
		if m.sets[i].place == place && m.sets[i].metric == metric {
			return &m.sets[i]
		}
	}
	return nil
}
