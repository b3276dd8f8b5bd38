package logs

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
	"assay/summary/view/bench"
)

// mostResults is the maximum number of results with a bar for each latency.
const mostResults = 12

// The latencies of benchmarks with their titles.
var latencyTitles = []struct{ metric, title string }{
	{"serving.ttft", "TTFT: time to first token"}, {"serving.tpot", "TPOT: time per output token"},
	{"serving.itl", "ITL: time between two chunks of output"}, {"serving.e2e", "E2E: from the request to the last token"},
}

// percentile is a percentile with the names that benchmarks use for it, and its colour.
type percentile struct {
	name  string
	stats []string
	color plot.Color
}

// percentiles are tints of one colour, from dark to light.
func percentiles() []percentile {
	return []percentile{{"p50", []string{"p50", "median"}, 0x00517f}, {"p90", []string{"p90"}, 0x2f8fc7}, {"p95", []string{"p95"}, 0x86bfe2}, {"p99", []string{"p99"}, 0xc3dff1}}
}

// value returns the percentile of a latency in ns, as the benchmark reported it.
func (p percentile) value(b *summary.Benchmark, metric string) (ns int64, ok bool) {
	for _, stat := range p.stats {
		if f := bench.FigureOf(b, metric, stat); f != nil && f.Unit == "ns" && f.Value >= 0 && f.Value < longestTime {
			return int64(f.Value), true
		}
	}
	return 0, false
}

// Latency shows the percentiles of the latencies of each result as the benchmark reported
// them.
func Latency(s *summary.Summary) (plot.Chart, bool) {
	var list []*summary.Benchmark
	for i := range s.Benchmarks {
		if b := &s.Benchmarks[i]; hasPercentile(b) {
			list = append(list, b)
		}
	}
	if len(list) == 0 {
		return plot.Chart{}, false
	}
	all := len(list)
	list = list[:min(mostResults, all)]
	names := resultNames(s, list)
	c := plot.Chart{Title: "Latency percentiles", Subtitle: "as the benchmark reported them"}
	var body plot.Titled
	present := map[string]bool{}
	for _, m := range latencyTitles {
		var n plot.Nested
		for i, b := range list {
			if row, ok := latencyRow(b, m.metric, present); ok {
				row.Label = names[i]
				n.Rows = append(n.Rows, row)
			}
		}
		if len(n.Rows) > 0 {
			body = append(body, plot.TitledBody{Title: m.title, Body: n})
		}
	}
	for _, p := range percentiles() {
		if present[p.name] {
			c.Legend = append(c.Legend, plot.Swatch{Color: p.color, Text: p.name})
		}
	}
	if rest := all - len(list); rest > 0 {
		c.Caption = fmt.Sprintf("The first %d results; %s.", len(list), label.Plural(int64(rest), "more result"))
	}
	c.Alt = fmt.Sprintf("Bars of latency percentiles of %s", label.Plural(int64(len(list)), "result"))
	c.Body = body
	return c, true
}

// latencyRow returns the bar of one result, and notes which percentiles it has.
func latencyRow(b *summary.Benchmark, metric string, present map[string]bool) (row plot.NestedRow, ok bool) {
	var texts []string
	for _, p := range percentiles() {
		if ns, ok := p.value(b, metric); ok {
			row.Parts = append(row.Parts, plot.Part{Color: p.color, NS: ns})
			texts = append(texts, p.name+" "+unit.Duration(ns))
			present[p.name] = true
		}
	}
	row.Value = strings.Join(texts, ", ")
	return row, len(row.Parts) > 0
}

func hasPercentile(b *summary.Benchmark) bool {
	for _, m := range latencyTitles {
		if _, ok := latencyRow(b, m.metric, map[string]bool{}); ok {
			return true
		}
	}
	return false
}

// resultNames returns names of results: the settings in which they differ, or else their numbers in the
// report.
func resultNames(s *summary.Summary, list []*summary.Benchmark) []string {
	out := make([]string, len(list))
	for _, st := range bench.Settings() {
		differ := false
		for _, b := range list {
			differ = differ || st.Of(b) != st.Of(list[0])
		}
		for i, b := range list {
			if v := st.Of(b); differ && v != "" && strings.Count(out[i], ", ") < 1 {
				out[i] = strings.TrimPrefix(out[i]+", "+st.Head+" "+label.Clip(label.Clean(v), 24), ", ")
			}
		}
	}
	paths, _ := view.ShortPaths(s)
	seen := map[string]int{}
	for _, name := range out {
		seen[name]++
	}
	alike := slices.ContainsFunc(out, func(name string) bool { return name == "" || seen[name] > 1 })
	if !alike || len(list) == 1 {
		return out
	}
	for i, b := range list {
		number := fmt.Sprintf("result %d", b.Number+1)
		if len(s.Inputs) > 1 {
			number = label.Clip(label.Clean(paths[b.Input]), 24) + " " + number
		}
		out[i] = strings.TrimSuffix(number+", "+out[i], ", ")
	}
	return out
}
