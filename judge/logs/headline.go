package logs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/summary"
	"assay/summary/view/bench"
	"assay/summary/view/goodput"
)

// Headline returns the sentence of the verdict for benchmarks and monitors, which no rule judges:
// the numbers that a reader looks for first. It returns "" if the summary has neither. rule is that of
// the finding whose title the sentence is, or "".
func Headline(e *Evaluator) (sentence, rule string) {
	s := e.logged
	if text := bandwidthText(s.Benchmarks); text != "" {
		return text, ""
	}
	if text, rule := (benchmarks{e}).sweepsText(); text != "" {
		return text, rule
	}
	if e.OnlyStarts() {
		return startsText(e.jobs), ""
	}
	return cmp.Or(resultsText(s.Benchmarks), monitorText(s.Series)), ""
}

// OnlyStarts reports whether the logs have starts of programs of which none did a step.
func (e *Evaluator) OnlyStarts() bool {
	return len(e.jobs) > 0 && !slices.ContainsFunc(e.jobs, func(j *goodput.Job) bool { return j.Steps+j.Lost > 0 })
}

// startsText says what ended a program before its first step.
func startsText(jobs []*goodput.Job) string {
	for _, j := range jobs {
		if list := endings(j); len(list) > 0 {
			return "The program " + list[len(list)-1]
		}
	}
	return "The program did no step"
}

// bandwidthText returns the bus bandwidth of the largest messages of each collective of nccl-tests.
func bandwidthText(list []summary.Benchmark) string {
	type key struct{ test, ranks string }
	most := map[key]*summary.Benchmark{}
	var order []key
	size := func(b *summary.Benchmark) int64 {
		n, _ := strconv.ParseInt(b.Settings["bytes"], 10, 64)
		return n
	}
	for i := range list {
		b := &list[i]
		if bench.FigureOf(b, "comm.busbw", "out-of-place") == nil {
			continue
		}
		k := key{b.Settings["test"], b.Settings["ranks"]}
		if most[k] == nil {
			order = append(order, k)
			most[k] = b
		}
		if size(b) > size(most[k]) {
			most[k] = b
		}
	}
	var parts []string
	for _, k := range order[:min(3, len(order))] {
		if k.ranks == "1" {
			return "nccl-tests ran on one GPU, where nothing is sent, so the bus bandwidth is undefined"
		}
		bw := bench.FigureOf(most[k], "comm.busbw", "out-of-place").Value
		parts = append(parts, fmt.Sprintf("%s%.4g GB/s at %s",
			strings.TrimPrefix(label.Clip(label.Clean(k.test), 24)+" ", " "), bw/1e9, unit.Bytes(size(most[k]))))
	}
	if len(parts) == 0 {
		return ""
	}
	if n := len(order) - len(parts); n > 0 {
		parts = append(parts, fmt.Sprintf("%d more", n))
	}
	return "Bus bandwidth of the largest messages: " + strings.Join(parts, ", ")
}

// resultsText returns the throughput and the latencies of one result, or the range of several.
func resultsText(list []summary.Benchmark) string {
	if len(list) == 0 {
		return ""
	}
	if len(list) > 1 {
		return rangeText(list)
	}
	var parts []string
	for _, t := range []struct {
		metric string
		stats  []string
		text   string
	}{
		{"throughput.requests", []string{""}, ""}, {"throughput.output_tokens", []string{""}, "output"},
		{"serving.ttft", []string{"median", "p50", "mean"}, "TTFT"},
		{"serving.tpot", []string{"median", "p50", "mean"}, "TPOT"},
		{"serving.itl", []string{"median", "p50", "mean"}, "ITL"},
		{"serving.e2e", []string{"median", "p50", "mean", ""}, "end to end"},
		{"network.bandwidth", []string{""}, "network"}, {"memory.peak", []string{""}, "peak memory"},
		{"weight_sync.time", []string{"mean"}, "weight sync"},
	} {
		for _, stat := range t.stats {
			if f := bench.FigureOf(&list[0], t.metric, stat); f != nil && len(parts) < 4 {
				parts = append(parts, strings.Join(strings.Fields(t.text+" "+stat+" "+figureText(f)), " "))
				break
			}
		}
	}
	if len(parts) == 0 {
		return ""
	}
	text := "Result of " + label.Clip(label.Clean(list[0].Producer), 40) + ": " + strings.Join(parts, ", ")
	if bench.Burst(&list[0]) {
		text += "; all requests were sent at once, so TTFT includes their time in the queue"
	}
	return text
}

// figureText prints a number of a result with its unit.
func figureText(f *summary.Figure) string {
	if strings.HasSuffix(f.Unit, "/s") && f.Unit != "byte/s" && f.Unit != "flop/s" {
		return rate(f.Value, f.Unit)
	}
	return unit.Value(f.Value, f.Unit)
}

// rangeText returns the range of the throughput of several results.
func rangeText(list []summary.Benchmark) string {
	for _, metric := range []string{"throughput.output_tokens", "throughput.requests", "throughput.samples",
		"network.bandwidth", "memory.peak"} {
		var values []*summary.Figure
		for i := range list {
			if f := bench.FigureOf(&list[i], metric, ""); f != nil {
				values = append(values, f)
			}
		}
		if len(values) < 2 {
			continue
		}
		byValue := func(a, b *summary.Figure) int { return cmp.Compare(a.Value, b.Value) }
		low, high := slices.MinFunc(values, byValue), slices.MaxFunc(values, byValue)
		what := cmp.Or(map[string]string{"throughput.output_tokens": "output", "network.bandwidth": "network",
			"memory.peak": "peak memory"}[metric], "throughput")
		from := figureText(low)
		if low.Unit != "byte" && low.Unit != "byte/s" {
			from = strings.TrimSuffix(unit.Value(low.Value, low.Unit), "/s")
		}
		return fmt.Sprintf("%s: %s from %s to %s", label.Plural(int64(len(list)), "result"), what, from, figureText(high))
	}
	return ""
}

// monitorText returns the mean use and power of GPUs, or the use of the CPU.
func monitorText(rows []summary.Series) string {
	var parts []string
	for _, t := range []struct{ metric, text string }{{"gpu.util", "GPU use: mean %s"}, {"gpu.power", "power: mean %s"},
		{"host.cpu_util", "CPU use: mean %s"}, {"host.iowait", "I/O wait: mean %s"}} {
		r, several := monitored(rows, t.metric)
		if r == nil {
			continue
		}
		text := fmt.Sprintf(t.text, unit.Value(*r.Mean, r.Unit))
		if several > 1 {
			text += fmt.Sprintf(" (%d GPUs)", several)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// monitored returns the row of a metric of a monitor: the one pooled over all GPUs, or the only
// one. It returns nil if several monitors or processes measured the metric, because their means
// cannot be combined.
func monitored(rows []summary.Series, metric string) (row *summary.Series, gpus int64) {
	for i := range rows {
		r := &rows[i]
		if r.Metric != metric || r.Mean == nil || r.Labels["cpu"] != "" && r.Labels["cpu"] != "all" {
			continue
		}
		switch {
		case row == nil:
			row = r
		case r.Producer != row.Producer || r.Input != row.Input:
			return nil, 0
		case r.Pooled > 0:
			row = r
		}
		if r.Pooled == 0 {
			gpus++
		}
	}
	if gpus > 1 && (row.Pooled == 0 || !strings.HasPrefix(metric, "gpu.")) {
		return nil, 0
	}
	return row, gpus
}
