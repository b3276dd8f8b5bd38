package doctor

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/summary"
	"assay/summary/view/bench"
)

// A logged answers the questions of logs, benchmarks, monitors and memory snapshots.
type logged struct{ *examination }

// alwaysAsked are the questions of captures that every input has.
var alwaysAsked = []string{"clocks", "complete", "sharing"}

// asks reports whether a capture of some subjects has a question.
func (q *questionEntry) asks(subjects []string) bool {
	return slices.Contains(subjects, q.Of) || slices.Contains(alwaysAsked, q.id) ||
		q.id == "memory" && slices.Contains(subjects, "snapshot")
}

// subjects returns of what the capture is: "" for what recorded GPU events or functions, "server", "trainer",
// "benchmark", "monitor", "snapshot", and "log" for servers and trainers.
func (e logged) subjects() (out []string) {
	servers := e.rows("requests.running", "requests.queued", "kv_cache.usage")
	if servers > 0 {
		out = append(out, "server")
	}
	if e.rows("step.time", "step.phase") > 0 {
		out = append(out, "trainer")
	}
	if len(out) > 0 {
		out = append(out, "log")
	}
	if len(e.Benchmarks) > 0 {
		out = append(out, "benchmark")
	}
	if e.rows("gpu.util", "gpu.power") > 0 {
		out = append(out, "monitor")
	}
	if len(e.Snapshots) > 0 {
		out = append(out, "snapshot")
	}
	if len(out) == 0 || len(e.Devices)+len(e.Kernels)+len(e.Tables)+len(e.Counters)+len(e.Launches)+len(e.Calls) > 0 {
		out = append(out, "")
	}
	return out
}

// rows returns the number of rows of any of the metrics that have values.
func (e logged) rows(metrics ...string) (n int) {
	for _, r := range e.Series {
		if r.N > 0 && slices.Contains(metrics, r.Metric) {
			n++
		}
	}
	return n
}

// valuesOf returns the largest number of values of any of the metrics in one place.
func (e logged) valuesOf(metrics ...string) (n int64) {
	for _, r := range e.Series {
		if r.Pooled == 0 && slices.Contains(metrics, r.Metric) {
			n = max(n, r.N)
		}
	}
	return n
}

// producersOfLogs returns the programs whose logs and benchmarks the capture has.
func (e logged) producersOfLogs() (out []string) {
	for _, r := range e.Series {
		out = append(out, r.Producer)
	}
	for _, b := range e.Benchmarks {
		out = append(out, b.Producer)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// flagsOfLogs returns how to log the answer to a question: the texts of the programs that wrote the inputs, or
// the one for any program.
func (q *questionEntry) flagsOfLogs(e logged) (out []Flags) {
	for _, p := range []struct{ begins, name, text string }{{"SGLang", "SGLang", q.SGLang}, {"vLLM", "vLLM", q.VLLM}, {"veRL", "veRL", q.VeRL},
		{"Megatron", "Megatron-LM", q.Megatron}, {"DeepSpeed", "DeepSpeed", q.DeepSpeed}} {
		wrote := slices.ContainsFunc(e.producersOfLogs(), func(name string) bool { return strings.HasPrefix(name, p.begins) })
		if wrote && p.text != "" {
			out = append(out, Flags{p.name, p.text})
		}
	}
	if out == nil {
		out = append(out, Flags{"any program", q.Any})
	}
	return out
}

// has answers by the presence of values.
func has(ok bool, yes, no string) (can, why string) {
	if ok {
		return Yes, yes
	}
	return No, no
}

func (e logged) serverLimit() (can, why string) {
	queue, cache := e.rows("requests.queued") > 0, e.rows("kv_cache.usage") > 0
	switch {
	case queue && cache:
		return Yes, "The queue and the use of the KV cache were logged."
	case queue:
		return Partly, "The queue was logged, and not the use of the KV cache."
	}
	return No, "The queue of requests was not logged."
}

// fewLines is the number of lines below which a log shows too little.
const fewLines = 10

func (e logged) serverLines() (can, why string) {
	n := e.valuesOf("requests.running", "requests.queued", "kv_cache.usage")
	why = "The log has " + label.Plural(n, "line") + " of the busiest process."
	if n < fewLines {
		return No, why
	}
	for _, r := range e.Series {
		if r.Pooled == 0 && r.N == n && r.Strip != nil && r.Strip.By == "time" && len(r.Strip.X) > 1 {
			span := float64(r.Strip.X[len(r.Strip.X)-1]-r.Strip.X[0]) / 1e9
			each := span / float64(n)
			why = fmt.Sprintf("%s One is printed every %.2g s.", why, each)
			if each > 30 {
				return Partly, why
			}
			break
		}
	}
	return Yes, why
}

func (e logged) serverGraphs() (can, why string) {
	return has(e.rows("cuda_graph.used") > 0, "The lines tell whether a batch ran as a CUDA graph.", "The lines do not tell.")
}

// latencies reports whether a benchmark or a metrics page has latencies of requests.
func (e logged) latencies() bool {
	return slices.ContainsFunc(e.Benchmarks, func(b summary.Benchmark) bool {
		return slices.ContainsFunc(b.Metrics, func(f summary.Figure) bool { return f.Role == "latency" })
	})
}

func (e logged) serverLatency() (can, why string) {
	return has(e.latencies(), "A benchmark or a metrics page has latencies of requests.", "Lines of a server have no latency of requests.")
}

func (e logged) trainerPhases() (can, why string) {
	n := e.rows("step.phase")
	return has(n > 0, label.Plural(int64(n), "timer")+" of phases were logged.", "Only whole steps were timed.")
}

func (e logged) trainerSteps() (can, why string) {
	n := e.valuesOf("step.time")
	why = label.Plural(n, "step") + " were timed."
	switch {
	case n >= fewLines:
		return Yes, why
	case n >= 3:
		return Partly, why
	}
	return No, "Fewer than three steps were timed."
}

func (e logged) trainerThroughput() (can, why string) {
	switch {
	case e.rows("gpu.mfu", "throughput.flops_per_gpu") > 0:
		return Yes, "The MFU or the FLOPs per second were logged."
	case e.rows("throughput.tokens_per_gpu", "throughput.tokens", "throughput.samples", "throughput.samples_per_gpu") > 0:
		return Partly, "Throughput was logged, and no share of the peak."
	}
	return No, "No throughput was logged."
}

func (e logged) trainerEngine() (can, why string) {
	if !slices.ContainsFunc(e.Phases, func(p summary.Phase) bool { return p.Name() == "generation" }) {
		return Yes, "The steps have no generation."
	}
	return has(e.rows("requests.queued", "kv_cache.usage") > 0, "The inference engine logged its requests.", "The inference engine logged nothing about its requests.")
}

func (e logged) settings() (can, why string) {
	return has(len(e.Settings) > 0, label.Plural(int64(len(e.Settings)), "setting")+" were printed.", "No settings were printed.")
}

// times judges whether the values of logs and monitors have wall-clock times.
func (e logged) times() (can, why string) {
	with := map[int]bool{}
	for _, c := range e.Clocks {
		if c.FirstNS != nil {
			with[c.Input] = true
		}
	}
	logged := map[int]bool{}
	for _, r := range e.Series {
		logged[r.Input] = true
		if r.Strip != nil && r.Strip.By == "time" || r.Input < len(e.Inputs) && e.Inputs[r.Input].SpanNS > 0 {
			with[r.Input] = true
		}
	}
	missing := int64(0)
	for input := range logged {
		if !with[input] {
			missing++
		}
	}
	switch {
	case missing == 0:
		return Yes, "The lines have times."
	case missing < int64(len(logged)):
		return Partly, label.Plural(missing, "input") + " have no times."
	}
	return No, "The lines have no times."
}

func (e logged) beside() (can, why string) {
	return has(e.rows("gpu.util") > 0 || len(e.Devices) > 0, "A monitor or a trace of the GPUs is among the inputs.", "No monitor or trace of the GPUs is among the inputs.")
}

func (e logged) monitorPhases() (can, why string) {
	return has(e.rows("step.phase", "requests.running") > 0, "The log of a program is among the inputs.", "No log of the program is among the inputs.")
}

func (e logged) monitorUse() (can, why string) {
	use, clocks := e.rows("gpu.util") > 0, e.rows("gpu.clock", "gpu.power", "gpu.throttled") > 0
	switch {
	case use && clocks:
		return Yes, "Use, and power or clocks, were recorded."
	case use:
		return Partly, "Use was recorded, without power and clocks."
	}
	return No, "The use of the GPUs was not recorded."
}

func (e logged) monitorSamples() (can, why string) {
	n := e.valuesOf("gpu.util", "gpu.power")
	return has(n >= fewLines, label.Plural(n, "sample")+" of each GPU were recorded.", "Fewer than ten samples of each GPU were recorded.")
}

func (e logged) percentiles() (can, why string) {
	high := func(f summary.Figure) bool { return f.Role == "latency" && (f.Stat == "p99" || f.Stat == "p95") }
	n := int64(0)
	for _, b := range e.Benchmarks {
		if slices.ContainsFunc(b.Metrics, high) {
			n++
		}
	}
	return has(n > 0, label.Plural(n, "result")+" with the 95th or 99th percentile of a latency.", "No result has the 95th or 99th percentile of a latency.")
}

// percentileRequests is the number of requests below which the 99th percentile is the maximum.
const percentileRequests = 100

func (e logged) requests() (can, why string) {
	least := -1.0
	for i := range e.Benchmarks {
		if f := bench.FigureOf(&e.Benchmarks[i], "requests.completed", ""); f != nil && (least < 0 || f.Value < least) {
			least = f.Value
		}
	}
	switch {
	case least < 0:
		return No, "The number of requests is unknown."
	case least < percentileRequests:
		return Partly, fmt.Sprintf("A result has only %.0f requests.", least)
	}
	return Yes, fmt.Sprintf("Each result has %.0f requests or more.", least)
}

func (e logged) load() (can, why string) {
	with := 0
	for i := range e.Benchmarks {
		if slices.ContainsFunc(bench.Settings(), func(s bench.Setting) bool { return s.Load && s.Of(&e.Benchmarks[i]) != "" }) {
			with++
		}
	}
	if with > 0 && with < len(e.Benchmarks) {
		return Partly, fmt.Sprintf("%d of %d results state their load.", with, len(e.Benchmarks))
	}
	return has(with > 0, "The results state their load.", "No result states its load.")
}

func (e logged) sweep() (can, why string) {
	most := 0
	for _, sw := range bench.Sweeps(e.Summary) {
		most = max(most, len(sw.List))
	}
	switch {
	case most >= 3:
		return Yes, fmt.Sprintf("The results have %d loads.", most)
	case most > 0:
		return Partly, "The results have two loads."
	}
	return No, "The results have one load."
}

// benchWarmUp judges whether a benchmark was warm: it states its warm-up, or was run more than once.
func (e logged) benchWarmUp() (can, why string) {
	for _, b := range e.Benchmarks {
		for name, value := range b.Settings {
			if strings.Contains(strings.ToLower(name), "warm") && value != "0" && value != "" {
				return Yes, "The benchmark had a warm-up."
			}
		}
	}
	if len(e.Benchmarks) > 1 {
		return Partly, "There are several results, and the first may be cold."
	}
	return No, "The only result may be of a cold server."
}

func (e logged) benchServer() (can, why string) {
	return has(e.rows("requests.running", "requests.queued") > 0, "The log of a server is among the inputs.", "No log of the server is among the inputs.")
}

func (e logged) snapshotSites() (can, why string) {
	named := slices.ContainsFunc(e.Snapshots, func(s summary.Snapshot) bool { return len(s.Owners) > 0 && s.History != nil })
	return has(named, "The snapshot has the stacks of allocations.", "The snapshot has no stacks of allocations.")
}

func (e logged) snapshotPeak() (can, why string) {
	return has(slices.ContainsFunc(e.Snapshots, func(s summary.Snapshot) bool { return s.Peak != nil }), "The history of allocations has the peak.", "The history of allocations has no peak.")
}
