package logs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
	"assay/summary/view/bench"
)

// Limits of the tables of results.
const (
	screenResults = 12
	mostResults   = 200
	mostFigures   = 10
	mostSettings  = 3
)

// A figureColumn is a column of results.
type figureColumn struct{ metric, stat, head string }

// figureColumns are the columns of results in their order. Columns that no result has are left out.
var figureColumns = []figureColumn{
	{"throughput.requests", "", "requests"}, {"serving.goodput", "", "goodput"},
	{"throughput.output_tokens", "", "output tokens"}, {"throughput.total_tokens", "", "tokens"},
	{"throughput.samples", "", "samples"},
	{"serving.ttft", "median", "TTFT median"}, {"serving.ttft", "p50", "TTFT p50"},
	{"serving.ttft", "mean", "TTFT mean"}, {"serving.ttft", "p99", "TTFT p99"},
	{"serving.tpot", "median", "TPOT median"}, {"serving.tpot", "p50", "TPOT p50"}, {"serving.tpot", "p99", "TPOT p99"},
	{"serving.itl", "median", "ITL median"}, {"serving.itl", "p50", "ITL p50"}, {"serving.itl", "p99", "ITL p99"},
	{"serving.e2e", "median", "E2E median"}, {"serving.e2e", "p50", "E2E p50"}, {"serving.e2e", "", "E2E"},
	{"serving.e2e", "p99", "E2E p99"}, {"serving.e2e", "mean", "E2E mean"},
	{"step.prefill_time", "", "prefill"}, {"step.decode_time", "median", "decode step"},
	{"serving.duration", "", "duration"}, {"requests.completed", "", "completed"}, {"requests.failed", "", "failed"},
	{"comm.busbw", "out-of-place", "bus bandwidth"}, {"comm.time", "out-of-place", "time"},
	{"comm.algbw", "out-of-place", "alg. bandwidth"}, {"comm.busbw", "in-place", "in place"},
	{"weight_sync.time", "mean", "weight sync"}, {"weight_sync.time", "min", "min"}, {"weight_sync.time", "max", "max"},
	{"weight_sync.bandwidth", "", "bandwidth"},
	{"memory.peak", "", "peak memory"}, {"benchmark.speedup", "", "speedup"}, {"network.bandwidth", "", "bandwidth"},
	{"requests.sent", "", "sent"},
}

// ordered returns the columns of results. Not all fit on a screen, so there the first statistic of each
// metric precedes the others.
func ordered(screen bool) []figureColumn {
	if !screen {
		return figureColumns
	}
	first, rest := []figureColumn{}, []figureColumn{}
	for _, c := range figureColumns {
		if slices.ContainsFunc(first, func(o figureColumn) bool { return o.metric == c.metric && c.stat != "p50" }) {
			rest = append(rest, c)
		} else {
			first = append(first, c)
		}
	}
	return append(first, rest...)
}

// benchmarks returns a table of results for each producer, and for each sweep a table of throughput against
// latency.
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
	drawn := ctx.Pictures("log-latency.png", "log-sweep.png")
	for _, p := range producers {
		name := label.Clip(label.Clean(p), 60)
		list, lead := byProducer[p], "as they were reported"
		if len(list) > most && bench.FigureOf(list[0], "comm.busbw", "out-of-place") != nil {
			list, lead = largestFirst(list), lead+", large messages first"
		}
		out = append(out, doc.Section{Title: "Results of " + name, Lead: lead,
			Blocks: append([]doc.Block{resultTable(ctx, list, most == screenResults).Cut(most)}, drawn...)})
		drawn = nil // shown once, because the pictures have the results of all producers
		for _, sw := range bench.Sweeps(ctx.Summary) {
			if t := sweep(sw, most == screenResults); sw.Producer == p && len(t.Rows) > 0 {
				lead := t.Title + " of " + name
				if sw.Workload != "" {
					lead += "; " + label.Clip(label.Clean(sw.Workload), 60)
				}
				out = append(out, doc.Section{Title: "Throughput against latency", Lead: lead, Blocks: []doc.Block{t.Cut(most)}})
			}
		}
	}
	return out
}

// largestFirst orders results of collectives so that the most useful ones are kept if rows must be left
// out: the means, then large messages, whose bandwidth is that of the network. Small messages measure
// latency.
func largestFirst(list []*summary.Benchmark) []*summary.Benchmark {
	size := func(b *summary.Benchmark) float64 {
		if b.Settings["bytes"] == "" {
			return math.Inf(1)
		}
		v, _ := strconv.ParseFloat(b.Settings["bytes"], 64)
		return v
	}
	return slices.SortedStableFunc(slices.Values(list),
		func(a, b *summary.Benchmark) int { return cmp.Compare(size(b), size(a)) })
}

// resultTable returns a row for each result of a producer.
func resultTable(ctx *section.Context, list []*summary.Benchmark, screen bool) doc.Table {
	several := len(ctx.Inputs) > 1
	t := doc.Table{Title: "results"}
	if several {
		t.Columns = append(t.Columns, doc.Col("input", doc.Number))
	}
	t.Columns = append(t.Columns, doc.Col("result", doc.Number))
	var varied []bench.Setting
	for _, s := range bench.Settings() {
		differ := slices.ContainsFunc(list, func(b *summary.Benchmark) bool { return s.Of(b) != s.Of(list[0]) })
		if (differ || len(list) == 1 && s.Of(list[0]) != "") && len(varied) < mostSettings {
			varied = append(varied, s)
			t.Columns = append(t.Columns, doc.Col(s.Head, doc.Text))
		}
	}
	var figures []figureColumn
	for _, c := range ordered(screen) {
		if len(figures) < mostFigures && slices.ContainsFunc(list,
			func(b *summary.Benchmark) bool { return bench.FigureOf(b, c.metric, c.stat) != nil }) {
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
		for _, st := range varied {
			v := settingText(st, b)
			if v == "" && b.Title != "" {
				v = b.Title
			}
			row = append(row, cmp.Or(label.Clip(label.Clean(v), 36), unit.None))
		}
		t.Rows = append(t.Rows, doc.Row{Weight: 1, Cells: append(row, figureCells(b, figures)...)})
	}
	if len(list) > 1 && !several && len(list) <= 4 && bench.FigureOf(list[0], "serving.ttft", "mean") != nil &&
		!swept(ctx, list[0].Producer) {
		t.Note = "The first result of several is often of a cold server."
	}
	return t
}

// settingText returns the display text of a setting: the size of a message has a unit.
func settingText(st bench.Setting, b *summary.Benchmark) string {
	v := st.Of(b)
	if n, err := strconv.ParseInt(v, 10, 64); err == nil && n >= 0 && st.Head == "size" {
		return unit.Bytes(n)
	}
	return v
}

func figureCells(b *summary.Benchmark, figures []figureColumn) (row []string) {
	for _, c := range figures {
		f := bench.FigureOf(b, c.metric, c.stat)
		if f == nil && c.metric == "comm.busbw" { // nccl-tests prints one mean over all sizes, of both
			f = bench.FigureOf(b, c.metric, "mean")
		}
		if f == nil {
			row = append(row, unit.None)
			continue
		}
		row = append(row, figureText(f))
	}
	return row
}

// figureText prints a number of a result. Bandwidths of collectives are in GB/s, as in nccl-tests and in
// the data sheets of GPUs.
func figureText(f *summary.Figure) string {
	if f.Unit == "byte/s" && strings.HasPrefix(f.Metric, "comm.") && math.Abs(f.Value) < 1e18 {
		return strconv.FormatFloat(f.Value/1e9, 'f', 2, 64) + " GB/s"
	}
	return Value(&f.Value, f.Unit)
}

// swept reports whether a producer has a sweep.
func swept(ctx *section.Context, producer string) bool {
	return slices.ContainsFunc(bench.Sweeps(ctx.Summary), func(s bench.Sweep) bool { return s.Producer == producer })
}

// latencyNames are the names of latencies in sentences.
var latencyNames = map[string]string{"serving.e2e": "end to end", "serving.ttft": "TTFT"}

// sweep returns a table of throughput against latency for results that differ in one setting, with the
// throughput relative to the first result.
func sweep(run bench.Sweep, screen bool) doc.Table {
	metric := run.Throughput()
	if metric == "" {
		return doc.Table{}
	}
	head := metric
	for _, c := range figureColumns {
		if c.metric == metric && c.stat == "" {
			head = c.head
		}
	}
	t := doc.Table{Title: "by " + run.Setting.Head,
		Columns: []doc.Column{doc.Col(run.Setting.Head, doc.Number), doc.Col(head, doc.Number),
			doc.Col("of the first", doc.Number)}}
	var latencies []figureColumn
	for _, c := range ordered(screen) {
		if run.Has(c.metric, c.stat) && len(latencies) < 6 {
			if f := bench.FigureOf(run.List[0], c.metric, c.stat); f.Role == "latency" {
				latencies = append(latencies, c)
				t.Columns = append(t.Columns, doc.Col(c.head, doc.Number))
			}
		}
	}
	scaled := !math.IsNaN(run.Efficiency(run.List[0]))
	if scaled {
		t.Columns = slices.Insert(t.Columns, 3, doc.Col("efficiency", doc.Number))
	}
	if b := run.BestRatio(); b != nil {
		metric, stat := run.Latency()
		t.Note = fmt.Sprintf("%s %s has the highest throughput for its latency (%s %s).", run.Setting.Head,
			label.Clip(label.Clean(run.Setting.Of(b)), 20), latencyNames[metric], stat)
	}
	first := bench.FigureOf(run.List[0], metric, "").Value
	for _, b := range run.List {
		v := bench.FigureOf(b, metric, "")
		ratio := unit.None
		if first > 0 {
			ratio = strconv.FormatFloat(v.Value/first, 'f', 2, 64) + "x"
		}
		row := []string{label.Clip(label.Clean(run.Setting.Of(b)), 20), Value(&v.Value, v.Unit), ratio}
		if scaled {
			row = append(row, unit.Value(run.Efficiency(b), "share"))
		}
		t.Rows = append(t.Rows, doc.Row{Weight: 1, Cells: append(row, figureCells(b, latencies)...)})
	}
	return t
}
