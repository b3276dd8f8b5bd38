package gate

import (
	"fmt"
	"strings"
	"testing"

	"assay/summary"
)

// swept is a run of a benchmark at several request rates, with the median TTFT in ms of each.
func swept(name string, rateAndTTFT ...float64) []Run {
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: name, Format: "benchmark", Complete: true}}}
	for i := 0; i < len(rateAndTTFT); i += 2 {
		s.Benchmarks = append(s.Benchmarks, summary.Benchmark{Producer: "bench", Settings: map[string]string{"request_rate": fmt.Sprint(rateAndTTFT[i])},
			Metrics: []summary.Figure{{Metric: "serving.ttft", Stat: "median", Value: rateAndTTFT[i+1] * 1e6}}})
	}
	return []Run{{Summary: s}}
}

// TestCapacity: a limit between the highest load within the limits and the next one cannot be decided, and
// neither can one above all measured loads. Capacities that were measured at other loads differ only if both
// ranges are apart.
func TestCapacity(t *testing.T) {
	was := swept("base", 4, 50, 8, 90, 16, 900)
	for _, tc := range []struct {
		limit     string
		now, base []Run
		want      Result
		text      string
	}{
		{`">= 8"`, was, nil, Pass, "is 8, because ttft_p50 is 900 ms at request_rate 16"},
		{`">= 10"`, was, nil, Inconclusive, "is at least 8 and below 16, because ttft_p50 is 900 ms at request_rate 16; the limit is 10"},
		{`">= 16"`, was, nil, Fail, "is 8, because ttft_p50 is 900 ms at request_rate 16, under the limit of 16"},
		{`"> 8"`, was, nil, Fail, "is 8, because ttft_p50 is 900 ms at request_rate 16, not over the limit of 8"},
		{`">= 4"`, swept("slow", 4, 600, 8, 900), nil, Fail, "is 0, because ttft_p50 is 600 ms at request_rate 4, under the limit of 4"},
		{`">= 2"`, swept("slow", 4, 600, 8, 900), nil, Inconclusive, "is at least 0 and below 4, "},
		{`">= 20"`, swept("fast", 4, 50, 16, 90), nil, Inconclusive, "is at least 16, the highest measured load; the limit is 20"},
		{`">= 16"`, swept("fast", 4, 50, 16, 90), nil, Pass, "is 16, the highest measured load"},
		{`"<= 20"`, swept("fast", 4, 50, 16, 90), nil, Inconclusive, "is at least 16, the highest measured load; the limit is 20"},
		{`"<= 10"`, swept("fast", 4, 50, 16, 90), nil, Fail, "is 16, the highest measured load, over the limit of 10"},
		{"{max_decrease: 5%}", was, was, Pass, "is unchanged at 8"},
		{"{max_decrease: 5%}", swept("now", 4, 70, 8, 600, 16, 950), was, Fail, "fell by 50.0%, from 8 to 4, over the limit of 5%"},
		{"{max_decrease: 5%}", swept("now", 4, 70, 8, 99, 16, 200), was, Pass, "rose by 100.0%, from 8 to 16"},
		{"{max_decrease: 5%}", swept("now", 3, 60, 6, 95, 9, 800), was, Inconclusive, "fell by 25.0%, from 8 to 6; but the sides were measured at different loads, and both may be equal"},
		{"{max_decrease: 5%}", swept("now", 3, 60, 6, 595, 9, 800), was, Fail, "fell by 62.5%, from 8 to 3, over the limit of 5%"},
	} {
		o := outcome(t, "serving.capacity{ttft_p50<=500ms}: "+tc.limit, tc.now, tc.base)
		if o.Result != tc.want || !strings.HasPrefix(o.Why, tc.text) {
			t.Errorf("%s: %s, %q, want %s, %q", tc.limit, o.Result, o.Why, tc.want, tc.text)
		}
	}
}

// TestSettingIsMeasured: a gate on a load that was not measured is an error, also if it may be left out where
// its metric is not measured.
func TestSettingIsMeasured(t *testing.T) {
	now := swept("now", 4, 50, 8, 90)
	for gate, want := range map[string]Result{
		"serving.ttft_p50{request_rate=8}: {max: 100ms, if_measured: true}":      Pass,
		"serving.ttft_p50{request_rate=16}: {max: 100ms, if_measured: true}":     Error,
		"serving.ttft_p50{concurrency=8}: {max: 100ms, if_measured: true}":       Error,
		"serving.ttft_p99{request_rate=8}: {max: 100ms, if_measured: true}":      Skipped,
		"serving.ttft_p50{request_rate=8}: {max_increase: 5%}":                   Error,
		"serving.capacity{tpot_p50<=1ms}: {min: 4, if_measured: true}":           Skipped,
		"serving.capacity{ttft_p50<=1s, batch=4}: {min: 4, if_measured: true}":   Error,
		"serving.capacity{ttft_p50<=1s, request_rate<=4}: {min: 4, level: warn}": Error,
	} {
		base := swept("base", 4, 50)
		if strings.Contains(gate, "max: ") || strings.Contains(gate, "min: ") {
			base = nil
		}
		if o := outcome(t, gate, now, base); o.Result != want {
			t.Errorf("%s: %s, %s, want %s", gate, o.Result, o.Why, want)
		}
	}
}

// TestAcross: the efficiency of scaling compares the runs of a side, which other gates measure one by one.
func TestAcross(t *testing.T) {
	var runs []Run
	for n, rate := range map[int]float64{1: 10, 4: 28} {
		one := int64(1)
		runs = append(runs, Run{Summary: &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: fmt.Sprintf("gpus_%d.log", n), Complete: true}},
			Series: []summary.Series{{Metric: "throughput.samples", Producer: "p", N: one, Median: &rate, Min: &rate, Max: &rate, Mean: &rate, Sum: &rate}}}})
	}
	for gate, want := range map[string]string{
		"scaling.efficiency: '>= 70%'":   "pass is 70.0%, on 4 GPUs, relative to 1",
		"scaling.efficiency: '>= 71%'":   "fail is 70.0%, on 4 GPUs, relative to 1, under the limit of 71%",
		"throughput.samples: '>= 11'":    "pass is 19 (median of 2 runs, 10 to 28)",
		"scaling.efficiency: {max: 69%}": "fail is 70.0%, on 4 GPUs, relative to 1, over the limit of 69%",
	} {
		if o := outcome(t, gate, runs, nil); fmt.Sprint(o.Result, " ", o.Why) != want {
			t.Errorf("%s: %s %s, want %s", gate, o.Result, o.Why, want)
		}
	}
}

// TestBuckets: histograms give bounds of a percentile. A limit that is between them cannot be decided, and bounds
// are not compared with a baseline.
func TestBuckets(t *testing.T) {
	page := func(stat string, ms ...float64) []Run {
		s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "page.prom", Complete: true}}}
		for _, v := range ms {
			s.Benchmarks = append(s.Benchmarks, summary.Benchmark{Producer: "Prometheus", Metrics: []summary.Figure{{Metric: "serving.ttft", Stat: stat, Value: v * 1e6}}})
		}
		return []Run{{Summary: s}}
	}
	for _, tc := range []struct {
		gate      string
		now, base []Run
		want      Result
		text      string
	}{
		{`serving.ttft_p99: "<= 500ms"`, page("p99 at most", 100, 250), nil, Pass, "is at most 250 ms, by the buckets of a histogram"},
		{`serving.ttft_p99: "<= 200ms"`, page("p99 at most", 100, 250), nil, Inconclusive, "is at most 250 ms; limit 200 ms. by the buckets"},
		{`serving.ttft_p50: "<= 500ms"`, page("p50 at most", 100), nil, Pass, "is at most 100 ms, by the buckets of a histogram"},
		{`serving.ttft_p99: "<= 500ms"`, page("p99 over", 30000), nil, Fail, "is at least 30 s, over the limit of 500 ms"},
		{`serving.ttft_p99: "<= 60s"`, page("p99 over", 30000), nil, Inconclusive, "is over 30 s; limit 60 s."},
		{`serving.ttft_p99: {max_increase: 5%}`, page("p99 at most", 250), page("p99 at most", 250), Inconclusive, "not comparable: only bounds are known"},
		{`serving.ttft_p99: "<= 500ms"`, page("p99", 250), nil, Pass, "is 250 ms, as a benchmark reported it"},
		{`serving.ttft_p99{request_rate=4}: {max: 500ms, if_measured: true}`, page("p99 at most", 250), nil, Skipped, "not measured"},
	} {
		if o := outcome(t, tc.gate, tc.now, tc.base); o.Result != tc.want || !strings.HasPrefix(o.Why, tc.text) {
			t.Errorf("%s: %s, %q, want %s, %q", tc.gate, o.Result, o.Why, tc.want, tc.text)
		}
	}
}

// TestOfTraces: where no monitor measured the use of GPUs, a trace does, but not a trace with too little work, and
// a trace is not compared with a monitor.
func TestOfTraces(t *testing.T) {
	monitor := steady(1, func(s *summary.Summary) {
		use, one := 0.5, int64(20)
		s.Series = append(s.Series, summary.Series{Metric: "gpu.util", Producer: "nvidia-smi", N: one, Min: &use, Median: &use, Mean: &use, Max: &use, Sum: &use})
	})
	little := steady(1, func(s *summary.Summary) { s.Devices[0].Events = 1 })
	for _, tc := range []struct {
		gate      string
		now, base []Run
		want      Result
		text      string
	}{
		{`gpu.util: "> 80%"`, steady(1), nil, Pass, "is 86."},
		{`gpu.util: "> 90%"`, steady(1), nil, Fail, "is 86."},
		{`gpu.util: {max_decrease: 5pp}`, monitor, steady(1), Inconclusive, "not comparable: one side is a trace and the other is not"},
		{`gpu.util: "> 80%"`, little, nil, Inconclusive, "the capture does not allow a decision"},
		{`gpu.util{place=gpu=0}: "> 80%"`, steady(1), nil, Error, "cannot be measured"},
	} {
		if o := outcome(t, tc.gate, tc.now, tc.base); o.Result != tc.want || !strings.HasPrefix(o.Why, tc.text) {
			t.Errorf("%s: %s, %q, want %s, %q", tc.gate, o.Result, o.Why, tc.want, tc.text)
		}
	}
}
