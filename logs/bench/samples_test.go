package bench

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/logs"
)

// readSample reads a file of testdata.
func readSample(t *testing.T, name string) *logs.Log {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var log *logs.Log
	switch {
	case SniffLocust(text):
		log, err = ReadLocust(bytes.NewReader(text), name, logs.Limits{})
	case Sniff(text):
		log, err = Read(bytes.NewReader(text), name, logs.Limits{})
	default:
		log = textLog(t, string(text))
	}
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// TestSamples: the numbers of each sample, which were read from it by eye, in base units.
func TestSamples(t *testing.T) {
	for _, tc := range []struct {
		file         string
		results      int
		at           int // which result
		metric, stat string
		want         float64
	}{
		{"weight_sync.txt", 2, 0, "weight_sync.time", "mean", 480.5e6},
		{"weight_sync.txt", 2, 1, "weight_sync.time", "max", 2300e6},
		{"weight_sync.txt", 2, 1, "weight_sync.bandwidth", "", 52.1e9 / 8},
		{"n_sampling.txt", 3, 0, "serving.duration", "", 150e6},
		{"n_sampling.txt", 3, 1, "throughput.output_tokens", "", 3710.1},
		{"n_sampling.txt", 3, 2, "benchmark.speedup", "", 2.3},
		{"end_to_end.txt", 1, 0, "throughput.output_tokens", "", 4123},
		{"end_to_end.txt", 1, 0, "throughput.samples", "", 12.3},
		{"end_to_end.txt", 1, 0, "weight_sync.time", "mean", 523.4e6},
		{"end_to_end.txt", 1, 0, "memory.peak", "", 61.2e9},
		{"batch_memory.txt", 3, 2, "memory.peak", "", 18e9},
		{"batch_throughput.txt", 3, 1, "throughput.requests", "", 5.75},
		{"throughput.txt", 1, 0, "throughput.output_tokens", "", 4123.4},
		{"load_test.txt", 1, 0, "throughput.requests", "", 12.34},
		{"sfllm.txt", 1, 0, "serving.e2e", "median", 11.9e9},
		{"sfllm.txt", 1, 0, "throughput.requests", "", 1.72},
		{"iperf3.txt", 2, 0, "network.bandwidth", "", 24.8e9 / 8},
		{"iperf3.txt", 2, 1, "network.bandwidth", "", 24.3e9 / 8},
		{"locust_stats.csv", 2, 1, "serving.e2e", "median", 410e6},
		{"locust_stats.csv", 2, 1, "serving.e2e", "p99", 1100e6},
		{"locust_stats.csv", 2, 0, "requests.failed", "", 20},
		{"locust_stats_history.csv", 1, 0, "serving.e2e", "p99", 1100e6},
		{"locust_stats_history.csv", 1, 0, "requests.sent", "", 64},
		{"locust_stats_history.csv", 1, 0, "serving.e2e", "max", 1520.75e6},
		{"llmperf.json", 1, 0, "serving.ttft", "p99", 0.92e9},
		{"llmperf.json", 1, 0, "throughput.requests", "", 1.1}, // 66 per minute
		{"llmperf.json", 1, 0, "tokens.request_input", "min", 310},
		{"llmperf.json", 1, 0, "requests.failed", "", 2},
		{"trtllm_bench.txt", 1, 0, "throughput.output_tokens", "", 5530.7382},
		{"trtllm_bench.txt", 1, 0, "serving.ttft", "mean", 812.5e6},
		{"trtllm_bench.txt", 1, 0, "serving.duration", "", 23143e6},
		{"genai_perf.json", 1, 0, "serving.e2e", "p99", 1010.25e6},
		{"genai_perf.json", 1, 0, "throughput.requests", "", 1.25},
		{"genai_perf.json", 1, 0, "tokens.request_output", "mean", 81.2},
		{"mlperf_summary.txt", 1, 0, "throughput.requests", "", 99.5},
		{"mlperf_summary.txt", 1, 0, "serving.request_rate", "", 100.25},
		{"mlperf_summary.txt", 1, 0, "serving.e2e", "p99", 80e6},
		{"mlperf_summary.txt", 1, 0, "serving.tpot", "p99", 3e6},
	} {
		log := readSample(t, tc.file)
		if len(log.Benchmarks) != tc.results {
			t.Errorf("%s: %d results, want %d", tc.file, len(log.Benchmarks), tc.results)
			continue
		}
		b := log.Benchmarks[tc.at]
		if got, ok := b.Figure(tc.metric, tc.stat); !ok || math.Abs(got-tc.want) > 1e-9*tc.want {
			t.Errorf("%s: %s %s of result %d is %v, %v; want %v", tc.file, tc.metric, tc.stat, tc.at, got, ok, tc.want)
		}
		seen := map[string]bool{}
		for _, f := range b.Metrics {
			if key := f.Metric.Name + " " + f.Stat; seen[key] {
				t.Errorf("%s: result %d has %s twice", tc.file, tc.at, key)
			} else {
				seen[key] = true
			}
		}
	}
}

// TestSampleSettings: what was run is a setting, by which results of a sweep are separate.
func TestSampleSettings(t *testing.T) {
	for _, tc := range []struct{ file, setting, want string }{
		{"weight_sync.txt", "Strategy", "cuda_ipc broadcast"},
		{"n_sampling.txt", "Samples/prompt", "4 4 4"},
		{"n_sampling.txt", "Prompts", "5 5"},
		{"batch_memory.txt", "batch_size", "1 2 4"},
		{"batch_throughput.txt", "batch_size", "8 16 32"},
		{"sfllm.txt", "concurrency", "20"},
		{"iperf3.txt", "side", "sender receiver"},
		{"locust_stats.csv", "Name", "/v1/completions Aggregated"},
		{"mlperf_summary.txt", "Result is", "VALID"},
	} {
		var got []string
		for _, b := range readSample(t, tc.file).Benchmarks {
			for _, l := range b.Settings {
				if l.Name == tc.setting {
					got = append(got, l.Value)
				}
			}
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %s is %v, want %s", tc.file, tc.setting, got, tc.want)
		}
	}
}

// TestLocustHistory: each second has its users and rate; a row without requests is no result,
// and percentiles of a history with a row for each request are of ten seconds.
func TestLocustHistory(t *testing.T) {
	log := readSample(t, "locust_stats_history.csv")
	for _, s := range log.Series {
		if s.N != 3 || s.Points.Time[2]-s.Points.Time[0] != 2e9 {
			t.Errorf("%+v", s)
		}
		if s.Metric.Name == "throughput.requests" && s.Max != 16.5 {
			t.Errorf("%+v", s)
		}
	}
	text, err := os.ReadFile("testdata/locust_stats_history.csv")
	if err != nil {
		t.Fatal(err)
	}
	full := string(text) + strings.Replace(strings.SplitN(string(text), "\r\n", 5)[3], ",,Aggregated,", ",POST,/v1,", 1)
	log, err = ReadLocust(strings.NewReader(full), "h.csv", logs.Limits{})
	if err != nil || len(log.Benchmarks) != 2 {
		t.Fatalf("%+v, %v", log, err)
	}
	for _, b := range log.Benchmarks {
		if _, ok := b.Figure("serving.e2e", "p99"); ok {
			t.Errorf("%+v", b)
		}
		if v, ok := b.Figure("serving.e2e", "median"); !ok || v != 410e6 {
			t.Errorf("%+v", b)
		}
	}
}

func FuzzLocust(f *testing.F) {
	for _, name := range []string{"locust_stats.csv", "locust_stats_history.csv"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		SniffLocust(text)
		log, err := ReadLocust(bytes.NewReader(text), "x", logs.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range log.Series {
			if s.N > 0 && !(s.Min <= s.Max) {
				t.Errorf("%+v", s)
			}
		}
	})
}
