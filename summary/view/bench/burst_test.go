package bench

import (
	"testing"

	"assay/summary"
)

// TestBurst: requests that were all sent at once wait in the queue; those of a limited rate or number do not, and a
// server that answers all of them soon has no queue.
func TestBurst(t *testing.T) {
	const s = 1e9
	run := func(settings map[string]string, ttft, peak float64) summary.Benchmark {
		b := summary.Benchmark{Settings: settings, Metrics: []summary.Figure{{Metric: "requests.completed", Value: 200}, {Metric: "serving.duration", Value: 100 * s},
			{Metric: "serving.ttft", Stat: "median", Value: ttft}}}
		if peak > 0 {
			b.Metrics = append(b.Metrics, summary.Figure{Metric: "serving.peak_concurrency", Value: peak})
		}
		return b
	}
	for _, tt := range []struct {
		name string
		b    summary.Benchmark
		want bool
	}{
		{"no limit", run(map[string]string{"request_rate": "inf"}, 40*s, 0), true},
		{"no limit, by other names", run(map[string]string{"Traffic request rate": "inf", "Max request concurrency": "not set"}, 40*s, 0), true},
		{"settings are unknown, and all ran at once", run(nil, 40*s, 200), true},
		{"a rate", run(map[string]string{"request_rate": "2"}, 40*s, 0), false},
		{"a number of requests at once", run(map[string]string{"request_rate": "inf", "max_concurrency": "8"}, 40*s, 9), false},
		{"settings are unknown, and half ran at once", run(nil, 40*s, 100), false},
		{"no queue", run(map[string]string{"request_rate": "inf"}, 9*s, 0), false},
	} {
		if got := Burst(&tt.b); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if b := run(map[string]string{"request_rate": "inf"}, 40*s, 0); Burst(&summary.Benchmark{Settings: b.Settings, Metrics: b.Metrics[1:]}) {
		t.Error("the number of requests is unknown, want false")
	}
}
