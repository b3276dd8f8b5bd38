package timeline

import (
	"slices"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// TestMonitoredClocks: kernels that slow down have the clocks that a monitor measured beside their trace:
// of the first and last step if it has them, or else of the whole. Another trace's are not theirs.
func TestMonitoredClocks(t *testing.T) {
	row := func(beside int, step int64, mean, low, high float64) summary.Monitored {
		m := summary.Monitored{Input: 1, Beside: beside, Metric: "gpu.clock", Unit: "hertz", Mean: &mean, Min: &low, Max: &high}
		if step >= 0 {
			m.Step = &step
		}
		return m
	}
	whole, other := row(0, -1, 1.7e9, 1.41e9, 1.98e9), row(2, -1, 9e8, 9e8, 9e8)
	for _, c := range []struct {
		name string
		rows []summary.Monitored
		want []string
	}{
		{"no monitor", nil, nil},
		{"of another trace", []summary.Monitored{other}, nil},
		{"the whole", []summary.Monitored{other, whole}, []string{"SM clock by the monitor: mean 1,700 MHz, from 1,410 MHz to 1,980 MHz"}},
		{"steps", []summary.Monitored{row(0, 7, 1.41e9, 0, 0), whole, row(0, 2, 1.98e9, 0, 0), row(0, 4, 1.5e9, 0, 0)}, []string{"SM clock by the monitor: mean 1,980 MHz in step 2, 1,410 MHz in step 7"}},
	} {
		s := &summary.Summary{Inputs: make([]summary.Input, 3), Monitored: c.rows}
		e := New(tree.NewContext(s, rule.DefaultThresholds()), 0)
		if got := e.monitoredClocks([]finding.Place{{Input: 0}}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
