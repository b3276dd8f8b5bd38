package logs

import (
	"fmt"

	"assay/internal/diag"
)

// A Benchmark is one result of a benchmark: one table that it printed or one
// object that it wrote. Several results of one input are separate, because the first
// is often a cold run.
type Benchmark struct {
	Producer string // "SGLang bench_serving"
	Title    string // the producer's heading, if it has one
	Line     int64  // line of the input on which it begins; 0 if unknown
	Time     int64  // Unix ns at which it was written, or NoTime

	Settings []Label // model, request rate, concurrency and so on, by the producer's names
	Metrics  []Figure
}

// A Figure is one number that a benchmark reported.
type Figure struct {
	Metric Metric
	Stat   string // the statistic over requests: "mean", "median", "p99", "max", "std"; "" for a total
	As     string // the producer's name: "P99 TTFT (ms)"
	Value  float64
}

// Setting returns the value of a setting, or "".
func (b *Benchmark) Setting(name string) string {
	for _, l := range b.Settings {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

// Figure returns a reported number by the canonical name of its metric and its
// statistic.
func (b *Benchmark) Figure(metric, stat string) (float64, bool) {
	for _, f := range b.Metrics {
		if f.Metric.Name == metric && f.Stat == stat {
			return f.Value, true
		}
	}
	return 0, false
}

// Benchmark adds a result of a benchmark. Results over the limit are an issue.
func (b *Builder) Benchmark(r Benchmark, at diag.Pos) {
	size := int64(figureBytes * (1 + len(r.Metrics) + len(r.Settings)))
	if len(b.log.Benchmarks) >= MaxBenchmarks || b.used+size > b.limits.Memory {
		b.issues.Add(diag.Issue{Code: "benchmarks-left-out", Severity: diag.DataLoss, First: at,
			Help: fmt.Sprintf("Results over the limit of %d of one input were left out. Give the input in parts.", MaxBenchmarks)})
		return
	}
	b.used += size
	r.Metrics = r.Metrics[:min(len(r.Metrics), maxFigures)]
	b.plausible(&r, at)
	r.Settings = r.Settings[:min(len(r.Settings), maxFigures)]
	for i := range r.Settings {
		r.Settings[i] = Label{cut(r.Settings[i].Name), cut(r.Settings[i].Value)}
	}
	b.log.Benchmarks = append(b.log.Benchmarks, r)
}
