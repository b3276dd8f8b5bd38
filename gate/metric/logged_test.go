package metric

import (
	"os"
	"strings"
	"testing"

	"assay/summary"
)

// row returns a row of one place, whose values are a, b and c in order.
func series(input int, metric, labels string, a, b, c float64) summary.Series {
	r := summary.Series{Input: input, Metric: metric, Producer: "p", Name: metric, N: 3, Labels: map[string]string{}}
	for _, l := range strings.Fields(labels) {
		name, value, _ := strings.Cut(l, "=")
		r.Labels[name] = value
	}
	sum := a + b + c
	mean := sum / 3
	r.Min, r.Median, r.Max, r.Mean, r.Sum = &a, &b, &c, &mean, &sum
	return r
}

// service is what two replicas, a monitor of two GPUs and a benchmark with two results left.
func service() *summary.Summary {
	pooled := series(0, "throughput.output_tokens", "phase=decode", 0, 55, 100)
	pooled.Pooled = 2
	figure := func(metric, stat string, v float64) summary.Figure {
		return summary.Figure{Metric: metric, Stat: stat, Value: v}
	}
	return &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "a.log"}, {Path: "b.log"}, {Path: "dmon.csv"}, {Path: "bench.jsonl"}},
		Series: []summary.Series{
			series(0, "throughput.output_tokens", "dp=0 phase=decode", 10, 100, 110), series(0, "throughput.output_tokens", "dp=1 phase=decode", 20, 120, 130), pooled,
			series(1, "throughput.output_tokens", "phase=decode", 30, 300, 310),
			series(0, "kv_cache.usage", "dp=0", 0.1, 0.2, 0.5), series(0, "kv_cache.usage", "dp=1", 0.1, 0.2, 0.96), series(1, "kv_cache.usage", "", 0.1, 0.2, 0.3),
			series(2, "gpu.util", "gpu=0", 0.2, 0.4, 0.6), series(2, "gpu.util", "gpu=1", 0.8, 0.9, 1),
			series(2, "memory.used", "gpu=0", 1<<30, 2<<30, 3<<30), series(2, "memory.used", "gpu=1", 1<<30, 2<<30, 5<<30),
			series(1, "kv_cache.hit_rate", "", 0.2, 0.3, 0.4), series(0, "kv_cache.hit_rate", "dp=0", 0.5, 0.6, 0.7),
		},
		Benchmarks: []summary.Benchmark{
			{Input: 3, Metrics: []summary.Figure{figure("serving.ttft", "p99", 350e6), figure("serving.ttft", "mean", 90e6), figure("throughput.requests", "", 12.5)}},
			{Input: 3, Number: 1, Metrics: []summary.Figure{figure("serving.ttft", "p99", 200e6), figure("serving.ttft", "mean", 95e6), figure("throughput.requests", "", 14)}},
		}}
}

// TestLoggedMetrics: each line names a metric of series with its unit and direction, and what
// is a time, latency or rate there has a line or a metric of its own.
func TestLoggedMetrics(t *testing.T) {
	text, err := os.ReadFile("../../logs/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	units, better, roles := map[string]string{}, map[string]string{}, map[string]string{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 4 && f[0][0] != '#' {
			units[f[0]], better[f[0]], roles[f[0]] = f[1], f[2], f[3]
		}
	}
	used := map[string]bool{"step.time": true, "step.phase": true, "run.samples": true, "run.steps": true, "comm.busbw": true, "comm.algbw": true} // step.median and others
	for _, l := range loggedLines() {
		used[l.metric] = true
		want := map[string]string{"ns": "time", "share": "share", "byte": "size"}[units[l.metric]]
		if want == "" {
			want = "count"
		}
		if units[l.metric] == "" || l.unit != want {
			t.Errorf("%s: metric %q has the unit %q, and the line %q", l.name, l.metric, units[l.metric], l.unit)
		}
		if b := better[l.metric]; b != "-" && b != l.better {
			t.Errorf("%s: better is %q, that of %s is %q", l.name, l.better, l.metric, b)
		}
	}
	for name, role := range roles {
		if better[name] != "-" && role == "latency" && !used[name] && !strings.Contains(name, "await") && !strings.HasPrefix(name, "serving.") {
			t.Errorf("no gate metric for %s", name)
		}
	}
}

// TestLogged: rates of replicas add up, the worst percentile counts, and a mean is over all
// values.
func TestLogged(t *testing.T) {
	for _, tc := range []struct{ gate, want string }{
		{"serving.ttft_p99", "350 ms, the worst of 2 results of benchmarks"},
		{"serving.ttft_mean", "95 ms, the worst of 2 results of benchmarks"},
		{"throughput.requests", "12.50, the worst of 2 results of benchmarks"},
		{"throughput.output_tokens", "520, the sum of 3 series"},             // medians 100 + 120 + 300
		{"throughput.output_tokens{place=dp=*}", "220, the sum of 2 series"}, // 100 + 120
		{"throughput.output_tokens{phase=decode, place=dp=1}", "120"},
		{"kv_cache.usage", "96.0%, the worst of 3 series"},
		{"kv_cache.hit_rate", "30.0%, the worst of 2 series"}, // higher is better
		{"gpu.util", "65.0%, the mean of 2 series"},           // 3.9 / 6
		{"gpu.util{place=gpu=0}", "40.0%"},
		{"memory.used", "5 GiB, the worst of 2 series"},
		{"serving.tpot_p99", "no result of a benchmark with p99 serving.tpot"},
		{"serving.ttft_p99{source=log}", "no result of a benchmark with p99 serving.ttft"},
		{"throughput.requests{source=log}", "no log, benchmark or monitor with throughput.requests"},
		{"kv_cache.usage{source=benchmark}", "no result of a benchmark with kv_cache.usage"},
		{"gpu.util{place=gpu=7}", "no such place or phase; there is gpu=0, gpu=1"},
		{"throughput.output_tokens{phase=prefill}", "no such place or phase; there is dp=0 phase=decode, dp=1 phase=decode, phase=decode"},
	} {
		if got := measureText(t, service(), tc.gate); got != tc.want {
			t.Errorf("%s is %q, want %q", tc.gate, got, tc.want)
		}
	}
	peak := service()
	peak.Series = append(peak.Series, series(0, "memory.peak", "rank=0", 1<<30, 2<<30, 7<<30))
	if got := measureText(t, peak, "memory.peak"); got != "7 GiB" {
		t.Errorf("memory.peak of a log is %s, want 7 GiB", got)
	}
	two := service()
	two.Series[3].Name = "another name"
	if got := measureText(t, two, "throughput.output_tokens"); !strings.HasPrefix(got, "nothing that adds up") {
		t.Errorf("values of two names make %s", got)
	}
}
