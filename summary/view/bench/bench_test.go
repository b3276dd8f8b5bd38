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
