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

// TestSameServer: servers with other settings, one with speculation and one without, or that ran one after the other are no
// replicas; what only one log states, ports and unknown times say nothing.
func TestSameServer(t *testing.T) {
	setting := func(input int, name, value string) summary.Setting {
		return summary.Setting{Input: input, Producer: "SGLang", Key: "k", Name: name, Value: value}
	}
	clock := func(input int, first, last int64) summary.Clock {
		return summary.Clock{Input: input, Frame: summary.FrameUnix, FirstNS: &first, LastNS: &last}
	}
	running := func(input int, metric string) summary.Series {
		n := float64(8)
		return summary.Series{Input: input, Metric: metric, Name: metric, Producer: "SGLang", Pool: "sum", Median: &n}
	}
	for _, tc := range []struct {
		name     string
		settings []summary.Setting
		clocks   []summary.Clock
		more     []summary.Series
		same     bool
	}{
		{"nothing known", nil, nil, nil, true},
		{"equal settings", []summary.Setting{setting(0, "engine.graph_batch", "64"), setting(1, "engine.graph_batch", "64")}, nil, nil, true},
		{"another setting", []summary.Setting{setting(0, "engine.graph_batch", "64"), setting(1, "engine.graph_batch", "160")}, nil, nil, false},
		{"a setting of one", []summary.Setting{setting(0, "engine.graph_batch", "64")}, nil, nil, true},
		{"a key without a name, as of a port", []summary.Setting{setting(0, "", "30000"), setting(1, "", "30001")}, nil, nil, true},
		{"one speculates", nil, nil, []summary.Series{running(1, "spec.accept_length")}, false},
		{"both speculate", nil, nil, []summary.Series{running(0, "spec.accept_length"), running(1, "spec.accept_length")}, true},
		{"at the same time", nil, []summary.Clock{clock(0, 10, 50), clock(1, 40, 90)}, nil, true},
		{"one after the other", nil, []summary.Clock{clock(0, 10, 50), clock(1, 60, 90)}, nil, false},
	} {
		s := &summary.Summary{Settings: tc.settings, Clocks: tc.clocks,
			Series: append([]summary.Series{running(0, "requests.running"), running(1, "requests.running")}, tc.more...)}
		if got := ServersOf(s).Same(0, 1); got != tc.same {
			t.Errorf("%s: %v", tc.name, got)
		}
		if got := Services(s); (len(got) == 1 && got[0].Value == 16) != tc.same {
			t.Errorf("%s: together %+v", tc.name, got)
		}
	}
}
