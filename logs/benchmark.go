package logs

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
