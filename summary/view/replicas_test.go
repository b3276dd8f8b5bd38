package view

import (
	"slices"
	"testing"

	"assay/summary"
)

// TestServices: rates of two logs add up, a latency is the worst, and a place within a log
// counts once, in the row of all its places.
func TestServices(t *testing.T) {
	at := func(input int, metric, role, pool, better string, pooled int64, median float64) summary.Series {
		r := summary.Series{Input: input, Metric: metric, Name: metric, Producer: "vLLM", Role: role, Pool: pool, Better: better, Pooled: pooled, Median: &median}
		if pooled > 0 {
			r.Together = &median
		}
		return r
	}
	s := &summary.Summary{Series: []summary.Series{
		at(0, "throughput.output_tokens", "throughput", "sum", "higher", 2, 220), at(0, "throughput.output_tokens", "throughput", "sum", "higher", 0, 100), at(0, "throughput.output_tokens", "throughput", "sum", "higher", 0, 120),
		at(1, "throughput.output_tokens", "throughput", "sum", "higher", 0, 300),
		at(0, "serving.ttft", "latency", "worst", "lower", 0, 5), at(1, "serving.ttft", "latency", "worst", "lower", 0, 9), at(2, "serving.ttft", "latency", "worst", "lower", 0, 7),
		at(0, "kv_cache.usage", "utilization", "", "", 0, 0.5), at(1, "kv_cache.usage", "utilization", "", "", 0, 0.7),
		at(0, "requests.queued", "queue", "sum", "lower", 0, 3), // of one log only
	}}
	got := Services(s)
	if len(got) != 2 || got[0].Value != 520 || !slices.Equal(got[0].Values, []float64{220, 300}) || got[1].Value != 9 || len(got[1].Inputs) != 3 {
		t.Errorf("%+v", got)
	}
}
