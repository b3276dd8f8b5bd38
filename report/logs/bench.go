package logs

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
	"assay/unit"
)

// How many rows of results the tables have, and columns of numbers.
const (
	screenResults = 12
	mostResults   = 200
	mostFigures   = 10
	mostSettings  = 3
)

// A figureColumn is a column of results.
type figureColumn struct{ metric, stat, head string }

// figureColumns are the columns of results in their order. Those that no result has are
// left out.
var figureColumns = []figureColumn{
	{"throughput.requests", "", "requests"}, {"serving.goodput", "", "goodput"}, {"throughput.output_tokens", "", "output tokens"}, {"throughput.total_tokens", "", "tokens"}, {"throughput.samples", "", "samples"},
	{"serving.ttft", "median", "TTFT median"}, {"serving.ttft", "p50", "TTFT p50"}, {"serving.ttft", "mean", "TTFT mean"}, {"serving.ttft", "p99", "TTFT p99"},
	{"serving.tpot", "median", "TPOT median"}, {"serving.tpot", "p50", "TPOT p50"}, {"serving.tpot", "p99", "TPOT p99"},
	{"serving.itl", "median", "ITL median"}, {"serving.itl", "p50", "ITL p50"}, {"serving.itl", "p99", "ITL p99"},
	{"serving.e2e", "median", "E2E median"}, {"serving.e2e", "p50", "E2E p50"}, {"serving.e2e", "", "E2E"}, {"serving.e2e", "p99", "E2E p99"}, {"serving.e2e", "mean", "E2E mean"},
	{"step.prefill_time", "", "prefill"}, {"step.decode_time", "median", "decode step"}, {"serving.duration", "", "duration"}, {"requests.completed", "", "completed"}, {"requests.failed", "", "failed"},
	{"comm.time", "out-of-place", "time"}, {"comm.algbw", "out-of-place", "alg. bandwidth"}, {"comm.busbw", "out-of-place", "bus bandwidth"}, {"comm.busbw", "in-place", "in place"}, {"comm.busbw", "mean", "mean bus bandwidth"},
}

// settings are what results of a sweep differ in, with the names of the producers.
var settings = []struct {
	head  string
	names []string
}{
	{"request rate", []string{"request_rate", "Traffic request rate", "Request rate configured (RPS)", "input_config.request_rate", "input_config.loadgen.request_rate", "target_qps"}},
	{"concurrency", []string{"max_concurrency", "Max request concurrency", "Maximum request concurrency", "num_concurrent_requests", "input_config.concurrency", "input_config.loadgen.concurrency", "request_info.num_concurrent_requests"}},
	{"batch", []string{"batch_size"}},
	{"TP", []string{"server_info.tp_size", "world_info.tp_size", "tensor_parallel_size", "TP Size"}},
	{"input length", []string{"random_input_len", "input_len", "mean_input_tokens"}},
	{"output length", []string{"random_output_len", "output_len", "mean_output_tokens"}},
	{"model", []string{"model_id", "Model", "model", "server_info.model_path", "engine.model"}},
	{"backend", []string{"backend", "Backend"}},
	{"test", []string{"test"}}, {"ranks", []string{"ranks"}}, {"bytes", []string{"bytes"}},
}

// settingOf returns a setting of a result, or "".
func settingOf(b *summary.Benchmark, names []string) string {
	for _, n := range names {
		if v := b.Settings[n]; v != "" {
			return v
		}
	}
	return ""
}

// figureOf returns a number of a result.
func figureOf(b *summary.Benchmark, metric, stat string) *summary.Figure {
	for i := range b.Metrics {
		if f := &b.Metrics[i]; f.Metric == metric && f.Stat == stat {
			return f
		}
	}
	return nil
}

// benchmarks returns a table of results for each producer, and of each sweep one of
// throughput against latency.
func benchmarks(ctx *section.Context, most int) (out []doc.Section) {
	byProducer := map[string][]*summary.Benchmark{}
	var producers []string
	for i := range ctx.Benchmarks {
		b := &ctx.Benchmarks[i]
		if byProducer[b.Producer] == nil {
			producers = append(producers, b.Producer)
		}
		byProducer[b.Producer] = append(byProducer[b.Producer], b)
	}
	for _, p := range producers {
		name := label.Clip(label.Clean(p), 60)
		out = append(out, doc.Section{Title: "Results of " + name, Lead: "as they were reported", Blocks: []doc.Block{resultTable(ctx, byProducer[p]).Cut(most)}})
		if t := sweep(byProducer[p]); len(t.Rows) > 0 {
			out = append(out, doc.Section{Title: "Throughput against latency", Lead: t.Title + " of " + name, Blocks: []doc.Block{t.Cut(most)}})
		}
	}
	return out
}

// resultTable returns a row for each result of a producer.
func resultTable(ctx *section.Context, list []*summary.Benchmark) doc.Table {
	several := len(ctx.Inputs) > 1
	t := doc.Table{Title: "results"}
	if several {
		t.Columns = append(t.Columns, doc.Col("input", doc.Number))
	}
	t.Columns = append(t.Columns, doc.Col("result", doc.Number))
	var varied [][]string
	for _, s := range settings {
		differ := slices.ContainsFunc(list, func(b *summary.Benchmark) bool { return settingOf(b, s.names) != settingOf(list[0], s.names) })
		if (differ || len(list) == 1 && settingOf(list[0], s.names) != "") && len(varied) < mostSettings {
			varied = append(varied, s.names)
			t.Columns = append(t.Columns, doc.Col(s.head, doc.Text))
		}
	}
	var figures []figureColumn
	for _, c := range figureColumns {
		if len(figures) < mostFigures && slices.ContainsFunc(list, func(b *summary.Benchmark) bool { return figureOf(b, c.metric, c.stat) != nil }) {
			figures = append(figures, c)
			t.Columns = append(t.Columns, doc.Col(c.head, doc.Number))
		}
	}
	for _, b := range list {
		var row []string
		if several {
			row = append(row, strconv.Itoa(b.Input+1))
		}
		row = append(row, strconv.Itoa(b.Number+1))
		for _, names := range varied {
			v := settingOf(b, names)
			if v == "" && b.Title != "" {
				v = b.Title
			}
			row = append(row, cmp.Or(label.Clip(label.Clean(v), 36), unit.None))
		}
		t.Rows = append(t.Rows, doc.Row{Weight: 1, Cells: append(row, figureCells(b, figures)...)})
	}
	if len(list) > 1 && !several && len(list) <= 4 && figureOf(list[0], "serving.ttft", "mean") != nil && len(sweepOf(list).list) == 0 {
		t.Note = "The first result of several is often of a cold server."
	}
	return t
}

func figureCells(b *summary.Benchmark, figures []figureColumn) (row []string) {
	for _, c := range figures {
		f := figureOf(b, c.metric, c.stat)
		if f == nil {
			row = append(row, unit.None)
			continue
		}
		row = append(row, figureText(f))
	}
	return row
}

// figureText prints a number of a result. Bandwidths of collectives are in GB/s, as
// nccl-tests and the data sheets of GPUs have them.
func figureText(f *summary.Figure) string {
	if f.Unit == "byte/s" && strings.HasPrefix(f.Metric, "comm.") && math.Abs(f.Value) < 1e18 {
		return strconv.FormatFloat(f.Value/1e9, 'f', 2, 64) + " GB/s"
	}
	return Value(&f.Value, f.Unit)
}

// A sweepRun is results that differ in one setting.
type sweepRun struct {
	head  string
	names []string
	list  []*summary.Benchmark // by the setting
}

// sweepOf returns the results by the one setting of load that they differ in, or none.
func sweepOf(list []*summary.Benchmark) (out sweepRun) {
	for _, s := range settings[:4] { // load and parallelism
		values := map[string]bool{}
		for _, b := range list {
			if v := settingOf(b, s.names); v != "" {
				values[v] = true
			}
		}
		if len(values) < 2 {
			continue
		}
		if out.list != nil { // of two settings neither is the one
			return sweepRun{}
		}
		sorted := slices.DeleteFunc(slices.Clone(list), func(b *summary.Benchmark) bool { return math.IsNaN(settingNumber(b, s.names)) })
		slices.SortStableFunc(sorted, func(a, b *summary.Benchmark) int {
			return cmp.Compare(settingNumber(a, s.names), settingNumber(b, s.names))
		})
		out = sweepRun{s.head, s.names, sorted}
	}
	return out
}

// settingNumber returns a setting as a number: infinity for a load that is not limited, and
// not a number for other texts.
func settingNumber(b *summary.Benchmark, names []string) float64 {
	switch v := settingOf(b, names); v {
	case "inf", "not set", "Infinity":
		return math.Inf(1)
	default:
		if n, err := strconv.ParseFloat(v, 64); err == nil {
			return n
		}
	}
	return math.NaN()
}

// sweep returns throughput against latency for results that differ in one setting, with
// the throughput relative to the first result.
func sweep(list []*summary.Benchmark) doc.Table {
	run := sweepOf(list)
	throughput := figureColumn{"throughput.output_tokens", "", "output tokens"}
	for _, c := range []figureColumn{throughput, {"throughput.total_tokens", "", "tokens"}, {"throughput.requests", "", "requests"}} {
		if len(run.list) > 0 && !slices.ContainsFunc(run.list, func(b *summary.Benchmark) bool { return figureOf(b, c.metric, c.stat) == nil }) {
			throughput = c
			break
		}
	}
	if len(run.list) < 2 || slices.ContainsFunc(run.list, func(b *summary.Benchmark) bool { return figureOf(b, throughput.metric, throughput.stat) == nil }) {
		return doc.Table{}
	}
	t := doc.Table{Title: "by " + run.head,
		Columns: []doc.Column{doc.Col(run.head, doc.Number), doc.Col(throughput.head, doc.Number), doc.Col("of the first", doc.Number)}}
	var latencies []figureColumn
	for _, c := range figureColumns {
		if all := !slices.ContainsFunc(run.list, func(b *summary.Benchmark) bool { return figureOf(b, c.metric, c.stat) == nil }); all && len(latencies) < 6 {
			if f := figureOf(run.list[0], c.metric, c.stat); f.Role == "latency" {
				latencies = append(latencies, c)
				t.Columns = append(t.Columns, doc.Col(c.head, doc.Number))
			}
		}
	}
	first := figureOf(run.list[0], throughput.metric, throughput.stat).Value
	for _, b := range run.list {
		v := figureOf(b, throughput.metric, throughput.stat)
		ratio := unit.None
		if first > 0 {
			ratio = strconv.FormatFloat(v.Value/first, 'f', 2, 64) + "x"
		}
		t.Rows = append(t.Rows, doc.Row{Weight: 1, Cells: append([]string{label.Clip(label.Clean(settingOf(b, run.names)), 20), Value(&v.Value, v.Unit), ratio}, figureCells(b, latencies)...)})
	}
	return t
}
