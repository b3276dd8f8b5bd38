package bench

import (
	"fmt"
	"testing"

	"assay/summary"
)

func result(settings ...string) summary.Benchmark {
	b := summary.Benchmark{Producer: "p", Settings: map[string]string{}, Metrics: []summary.Figure{{Metric: "throughput.requests", Value: 1}}}
	for i := 0; i < len(settings); i += 2 {
		b.Settings[settings[i]] = settings[i+1]
	}
	return b
}

// TestSweeps: results are sorted by the one setting of load that they differ in. Results that
// differ in two of them, or that have the same load twice, are no sweep; those of several
// workloads are one each.
func TestSweeps(t *testing.T) {
	for _, tc := range []struct {
		list []summary.Benchmark
		want string
	}{
		{[]summary.Benchmark{result("request_rate", "16"), result("request_rate", "inf"), result("request_rate", "2.0")}, `[request rate "": 2.0 16 inf]`},
		{[]summary.Benchmark{result("request_rate", "16"), result("request_rate", "16.0")}, `[]`},
		{[]summary.Benchmark{result("batch_size", "8"), result("batch_size", "1"), result("batch_size", "8")}, `[]`},
		{[]summary.Benchmark{result("batch_size", "8"), result("batch_size", "1"), result()}, `[batch "": 1 8]`},
		{[]summary.Benchmark{result("batch_size", "8", "TP Size", "1"), result("batch_size", "1", "TP Size", "2")}, `[]`},
		{[]summary.Benchmark{result("request_rate", "1", "dataset_name", "a"), result("request_rate", "1", "dataset_name", "b"), result("request_rate", "2", "dataset_name", "b")}, `[request rate "dataset b": 1 2]`},
		{[]summary.Benchmark{result("request_rate", "1"), result("request_rate", "many")}, `[]`},
	} {
		var got []string
		for _, sw := range Sweeps(&summary.Summary{Benchmarks: tc.list}) {
			text := fmt.Sprintf("%s %q:", sw.Setting.Head, sw.Workload)
			for _, b := range sw.List {
				text += " " + sw.Setting.Of(b)
			}
			got = append(got, text)
			if sw.Throughput() != "throughput.requests" {
				t.Errorf("the throughput is %q", sw.Throughput())
			}
		}
		if fmt.Sprint(got) != tc.want {
			t.Errorf("got %v, want %s", got, tc.want)
		}
	}
}

// measured returns a result with a load, its throughput and its latency.
func measured(setting, load string, throughput, latency float64) summary.Benchmark {
	b := result(setting, load)
	b.Metrics = []summary.Figure{{Metric: "throughput.output_tokens", Value: throughput}, {Metric: "serving.e2e", Stat: "median", Value: latency}}
	return b
}

// TestBestRatio: of a queue with one server of rate 1, whose requests take 1/(1-load), the highest throughput for
// its latency is load*(1-load), which is at a load of one half.
func TestBestRatio(t *testing.T) {
	var list []summary.Benchmark
	for i := 1; i <= 9; i++ {
		load := float64(i) / 10
		list = append(list, measured("request_rate", fmt.Sprint(load), load, 1/(1-load)))
	}
	knee := func(list []summary.Benchmark) string {
		sw := Sweeps(&summary.Summary{Benchmarks: list})
		if len(sw) != 1 {
			t.Fatalf("%d sweeps", len(sw))
		}
		if b := sw[0].BestRatio(); b != nil {
			return sw[0].Setting.Of(b)
		}
		return ""
	}
	if got := knee(list); got != "0.5" {
		t.Errorf("the knee is at %q", got)
	}
	if got := knee(list[:4]); got != "" { // a higher load is better
		t.Errorf("below half the load, the knee is at %q", got)
	}
	if got := knee(list[3:5]); got != "" {
		t.Errorf("of two results, the knee is at %q", got)
	}
}

// TestEfficiency: throughput for each GPU, relative to the first result.
func TestEfficiency(t *testing.T) {
	sw := Sweeps(&summary.Summary{Benchmarks: []summary.Benchmark{measured("TP Size", "4", 300, 1), measured("TP Size", "2", 200, 1), measured("TP Size", "8", 800, 1)}})[0]
	for i, want := range []float64{1, 0.75, 1} {
		if got := sw.Efficiency(sw.List[i]); got != want {
			t.Errorf("result %d: %g, want %g", i, got, want)
		}
	}
	sw = Sweeps(&summary.Summary{Benchmarks: []summary.Benchmark{measured("batch_size", "1", 300, 1), measured("batch_size", "2", 200, 1)}})[0]
	if got := sw.Efficiency(sw.List[1]); got == got {
		t.Errorf("of batch sizes: %g", got)
	}
}
