package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"assay/summary"
)

// loggedBy returns a summary with rows of metrics of a producer, each with n values.
func loggedBy(producer string, n int64, metrics ...string) *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "a.log", Format: "log", Complete: true}}}
	for _, m := range metrics {
		v := 1.0
		s.Series = append(s.Series, summary.Series{Metric: m, Producer: producer, Name: m, N: n, Min: &v, Median: &v, Mean: &v, Max: &v, Sum: &v})
	}
	return s
}

// TestAskedOf: logs, benchmarks, monitors and snapshots are asked their own questions, and a trace with them those
// of a trace too.
func TestAskedOf(t *testing.T) {
	server, benchmark := loggedBy("SGLang", 60, "requests.running", "kv_cache.usage"), &summary.Summary{Benchmarks: []summary.Benchmark{{Producer: "vLLM bench serve"}}}
	beside := loggedBy("veRL", 20, "step.time", "step.phase")
	beside.Devices = []summary.Device{{WindowNS: 100}}
	const general = "clocks complete sharing"
	for _, tc := range []struct {
		name string
		s    *summary.Summary
		want string
	}{
		{"a server", server, "beside server-graphs server-latency server-limit server-lines settings times " + general},
		{"a trainer", loggedBy("Megatron-LM", 20, "step.time"), "beside settings times trainer-engine trainer-phases trainer-steps trainer-throughput " + general},
		{"a benchmark", benchmark, "bench-server bench-warm-up load percentiles requests sweep " + general},
		{"a monitor", loggedBy("dcgmi dmon", 20, "gpu.util", "gpu.power"), "monitor-phases monitor-samples monitor-times monitor-use " + general},
		{"a snapshot", &summary.Summary{Snapshots: []summary.Snapshot{{}}}, "memory snapshot-peak snapshot-sites " + general},
		{"a trace beside a log", beside, "beside budget efficiency graphs idle kernels lines memory operators phases ranks settings shapes steps times trainer-engine trainer-phases trainer-steps trainer-throughput whole " + general},
	} {
		want := strings.Fields(tc.want)
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(answered(t, tc.s))); !slices.Equal(got, want) {
			t.Errorf("%s is asked %v, want %v", tc.name, got, want)
		}
	}
}

// TestAnswersOfLogs: what each kind of input lacks, and what to do about it with the program that wrote it.
func TestAnswersOfLogs(t *testing.T) {
	results := func(n int, settings string, figures ...summary.Figure) *summary.Summary {
		s := &summary.Summary{}
		for i := range n {
			b := summary.Benchmark{Number: i, Producer: "vLLM bench serve", Settings: map[string]string{}, Metrics: figures}
			if settings != "" {
				b.Settings[settings] = fmt.Sprint(1 << i)
			}
			s.Benchmarks = append(s.Benchmarks, b)
		}
		return s
	}
	figure := func(metric, stat, role string, v float64) summary.Figure {
		return summary.Figure{Metric: metric, Stat: stat, Role: role, Value: v}
	}
	timed := loggedBy("vLLM", 20, "requests.running")
	timed.Series[0].Strip = &summary.SeriesStrip{By: "time", X: []int64{0, 1200e9}, Values: []float64{1, 1}}
	monitored := loggedBy("SGLang", 20, "requests.running")
	monitored.Series = append(monitored.Series, loggedBy("nvidia-smi", 20, "gpu.util").Series...)
	rl := loggedBy("veRL", 20, "step.time", "step.phase")
	rl.Phases = []summary.Phase{{Path: "generation", Source: summary.SourceLog}}
	for _, tc := range []struct {
		id, can string
		s       *summary.Summary
		flag    string
	}{
		{"server-limit", Yes, loggedBy("vLLM", 20, "requests.queued", "kv_cache.usage"), ""},
		{"server-limit", Partly, loggedBy("vLLM", 20, "requests.queued"), "--disable-log-stats"},
		{"server-limit", No, loggedBy("other", 20, "kv_cache.usage"), "Log the running and queued"},
		{"server-lines", No, loggedBy("SGLang", 9, "requests.running"), "--decode-log-interval"},
		{"server-lines", Yes, loggedBy("SGLang", 10, "requests.running"), ""},
		{"server-lines", Partly, timed, "VLLM_LOG_STATS_INTERVAL=1"}, // a line each minute
		{"server-graphs", No, loggedBy("vLLM", 20, "requests.running"), "--profiler-config"},
		{"server-graphs", Yes, loggedBy("SGLang", 20, "requests.running", "cuda_graph.used"), ""},
		{"server-latency", No, loggedBy("SGLang", 20, "requests.running"), "--enable-metrics"},
		{"beside", No, loggedBy("SGLang", 20, "requests.running"), "nvidia-smi dmon"},
		{"beside", Yes, monitored, ""},
		{"times", No, loggedBy("veRL", 20, "step.time"), "ts '"},
		{"times", Yes, timed, ""},
		{"settings", No, loggedBy("veRL", 20, "step.time"), "from the start"},
		{"trainer-phases", No, loggedBy("Megatron-LM", 20, "step.time"), "--timing-log-level 2"},
		{"trainer-phases", No, loggedBy("DeepSpeed", 20, "step.time"), "wall_clock_breakdown"},
		{"trainer-phases", Yes, loggedBy("veRL", 20, "step.time", "step.phase"), ""},
		{"trainer-steps", Partly, loggedBy("veRL", 3, "step.time"), "ten steps"},
		{"trainer-steps", No, loggedBy("veRL", 2, "step.time"), "ten steps"},
		{"trainer-throughput", No, loggedBy("Megatron-LM", 20, "step.time"), "--log-throughput"},
		{"trainer-throughput", Partly, loggedBy("veRL", 20, "step.time", "throughput.tokens"), "MFU"},
		{"trainer-engine", No, rl, "disable_log_stats=False"},
		{"trainer-engine", Yes, loggedBy("torchtitan", 20, "step.time"), ""},
		{"percentiles", No, results(1, "", figure("serving.ttft", "mean", "latency", 1)), "--metric-percentiles"},
		{"percentiles", Yes, results(1, "", figure("serving.ttft", "p99", "latency", 1)), ""},
		{"requests", Partly, results(1, "", figure("requests.completed", "", "load", 99)), "--num-prompts"},
		{"requests", Yes, results(1, "", figure("requests.completed", "", "load", 100)), ""},
		{"requests", No, results(1, ""), "--num-prompts"},
		{"load", No, results(1, ""), "--request-rate"},
		{"load", Yes, results(1, "request_rate"), ""},
		{"sweep", No, results(1, "request_rate"), "three or more loads"},
		{"sweep", Partly, results(2, "request_rate"), "three or more loads"},
		{"sweep", Yes, results(3, "max_concurrency"), ""},
		{"bench-warm-up", No, results(1, ""), "--num-warmups"},
		{"bench-warm-up", Yes, results(1, "warmup_requests"), ""},
		{"bench-warm-up", Partly, results(2, "request_rate"), "--num-warmups"},
		{"monitor-use", Partly, loggedBy("nvidia-smi", 20, "gpu.util"), "-s pucvmet"},
		{"monitor-samples", No, loggedBy("nvidia-smi", 9, "gpu.util"), "every second"},
		{"snapshot-sites", No, &summary.Summary{Snapshots: []summary.Snapshot{{}}}, "_record_memory_history"},
		{"snapshot-peak", Yes, &summary.Summary{Snapshots: []summary.Snapshot{{Peak: &summary.MemoryPeak{}}}}, ""},
	} {
		a := answered(t, tc.s)[tc.id]
		text := ""
		for _, f := range a.Flags {
			text += f.Text
		}
		if a.Can != tc.can || (text == "") != (tc.flag == "") || !strings.Contains(text, tc.flag) {
			t.Errorf("%s: %s (%s) %q, want %s with %q", tc.id, a.Can, a.Why, text, tc.can, tc.flag)
		}
	}
}
