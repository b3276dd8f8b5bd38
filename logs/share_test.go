package logs

import (
	"testing"

	"assay/internal/diag"
)

// TestShares: what is used of a constant total becomes shares at the same places; a total that varies, or that has no use
// at its place, gives none.
func TestShares(t *testing.T) {
	b := NewBuilder(Limits{})
	add := func(metric, gpu string, values ...float64) {
		m, ok := MetricOf(metric)
		if !ok {
			t.Fatal(metric)
		}
		id := b.Of(m, "monitor", metric, []Label{{"gpu", gpu}}, diag.Pos{})
		for i, v := range values {
			b.Add(id, v, NoStep, int64(i)*second, 0)
		}
	}
	add("memory.used", "0", 10, 30, 20)
	add("memory.total", "0", 40, 40, 40)
	add("memory.used", "1", 10, 10)
	add("memory.total", "1", 40, 80)
	add("memory.total", "2", 40)
	add("gpu.power", "0", 100, 250)
	add("gpu.power_limit", "0", 500, 500)
	log := b.Log(0, true)
	got := map[string][]float64{}
	for _, s := range log.Series {
		if s.Metric.Name == "memory.total" || s.Metric.Name == "gpu.power_limit" {
			t.Errorf("%s of GPU %s is a series", s.Metric.Name, s.Labels[0].Value)
		}
		got[s.Metric.Name+s.Labels[0].Value] = append(s.Points.Value, s.Max, s.Sum)
	}
	for name, want := range map[string][]float64{"memory.usage0": {0.25, 0.75, 0.5, 0.75, 1.5}, "gpu.power_share0": {0.2, 0.5, 0.5, 0.7}} {
		if len(got[name]) != len(want) {
			t.Fatalf("%s: %v, want %v", name, got[name], want)
		}
		for i := range want {
			if got[name][i] != want[i] {
				t.Errorf("%s: %v, want %v", name, got[name], want)
			}
		}
	}
	if got["memory.usage1"] != nil || got["memory.usage2"] != nil {
		t.Error("a share of a total that varies, or of nothing")
	}
}

const second = 1e9
