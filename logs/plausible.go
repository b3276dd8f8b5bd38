package logs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/diag"
)

// mostShare is the largest value of a share: programs round, and count over times that differ a little.
const mostShare = 1.1

// overOne are shares that may be over 1: of several CPUs, of a limit that is soft, and a utilization that the
// producer computes by a peak of its own, which has a rule.
var overOne = map[string]bool{"host.process_cpu": true, "gpu.power_share": true, "gpu.mfu": true}

// possible reports whether a value of the metric can be true: a share is at most 1, and what is counted is
// not negative.
func (m *Metric) possible(v float64) bool {
	switch {
	case m.Unit == "share":
		return v >= 0 && (v <= mostShare || overOne[m.Name])
	case m.Role == Queue, m.Role == Throughput, m.Role == Utilization:
		return v >= 0
	}
	return true
}

// replace notes that the last value of a step is replaced. A line that was printed twice has the same value.
func (s *openSeries) replace(v float64) {
	const other = 1.05
	if v > s.last.v*other || s.last.v > v*other {
		s.replaced++
	}
}

// noteSeries adds issues for values that cannot be true, and for steps that have two times.
func (b *Builder) noteSeries(s *openSeries) {
	const few, rare = 3, 1000
	is := diag.Issue{Code: "values-impossible", Severity: diag.Suspect, First: diag.Pos{File: s.As, Line: 1}}
	if s.impossible*rare < s.N {
		is.Severity = diag.Info
	}
	b.issues.AddN(is, s.impossible)
	if s.Metric.Name == "step.time" && s.replaced >= few && s.replaced*2 > s.N {
		b.issues.AddN(diag.Issue{Code: "steps-with-two-times", Severity: diag.Suspect, First: is.First}, s.replaced)
	}
}

// Limits by which the power of GPUs is in milliwatts: no GPU draws 10 kW, and none 1 mW.
const (
	leastMilliwatts = 1e3
	overMilliwatts  = 1e4
	mostMilliwatts  = 3e6
)

// milliwatts converts powers of GPUs that are certainly in milliwatts: all values of a column, and at least one of them,
// cannot be watts. Programs that call NVML themselves forget to divide.
func (b *Builder) milliwatts() {
	columns := map[string][]*openSeries{}
	for i := range b.series {
		if s := &b.series[i]; s.N > 0 && s.Metric.Unit == "watt" && strings.HasPrefix(s.Metric.Name, "gpu.power") {
			columns[s.Producer+"\x00"+s.As] = append(columns[s.Producer+"\x00"+s.As], s)
		}
	}
	for _, list := range columns {
		least, most := list[0].Min, list[0].Max
		for _, s := range list {
			least, most = min(least, s.Min), max(most, s.Max)
		}
		if least < leastMilliwatts || most < overMilliwatts || most > mostMilliwatts {
			continue
		}
		for _, s := range list {
			s.Min, s.Max, s.Sum = s.Min/1e3, s.Max/1e3, s.Sum/1e3
			for k := range s.Points.Value {
				s.Points.Value[k] /= 1e3
			}
		}
		b.issues.Add(diag.Issue{Code: "power-in-milliwatts", Severity: diag.Info, First: diag.Pos{File: list[0].As, Line: 1}})
	}
}

// A contradiction is why figures of a benchmark cannot be true.
type contradiction struct {
	why     string
	figures func(Figure) bool
}

// contradictions returns which figures of a result cannot be true: negative ones, percentiles out of order, a
// whole request that takes less time than its first token, and a rate that is not the number of requests over
// the time.
func (b *Benchmark) contradictions() (out []contradiction) {
	is := func(metrics ...string) func(Figure) bool {
		return func(f Figure) bool { return slices.Contains(metrics, f.Metric.Name) }
	}
	negative := func(f Figure) bool { return f.Value < 0 && f.Metric.Unit != "" }
	if i := slices.IndexFunc(b.Metrics, negative); i >= 0 {
		out = append(out, contradiction{fmt.Sprintf("%q is negative", b.Metrics[i].As), negative})
	}
	done := map[string]bool{}
	for _, f := range b.Metrics {
		if name := f.Metric.Name; !done[name] {
			done[name] = true
			if low, high, ok := b.outOfOrder(name); ok {
				out = append(out, contradiction{fmt.Sprintf("%q is over %q", low, high), func(f Figure) bool { return f.Metric.Name == name }})
			}
		}
	}
	for _, stat := range []string{"mean", "median", "p90", "p99"} {
		first, ok := b.Figure("serving.ttft", stat)
		whole, also := b.Figure("serving.e2e", stat)
		if ok && also && first > whole*slightly {
			out = append(out, contradiction{"the " + stat + " of the first token is over that of the whole request", is("serving.ttft", "serving.e2e")})
			break
		}
	}
	rate, ok := b.Figure("throughput.requests", "")
	n, counted := b.Figure("requests.completed", "")
	ns, timed := b.Figure("serving.duration", "")
	if expected := n / (ns / 1e9); ok && counted && timed && (rate > 2*expected || rate < expected/2) {
		out = append(out, contradiction{"the rate of requests is not their number over the time", is("throughput.requests", "requests.completed", "serving.duration")})
	}
	return out
}

// slightly is the ratio up to which numbers that were rounded count as equal.
const slightly = 1.01

// outOfOrder returns the names of a percentile of a metric and of a higher one that is less.
func (b *Benchmark) outOfOrder(metric string) (low, high string, found bool) {
	type percentile struct {
		rank, value float64
		as          string
	}
	var list []percentile
	for _, f := range b.Metrics {
		if rank, ok := rankOf(f.Stat); ok && f.Metric.Name == metric {
			list = append(list, percentile{rank, f.Value, f.As})
		}
	}
	slices.SortStableFunc(list, func(x, y percentile) int { return cmp.Compare(x.rank, y.rank) })
	for i := 1; i < len(list); i++ {
		if x, y := list[i-1], list[i]; x.rank < y.rank && x.value > y.value*slightly && x.value > 0 {
			return x.as, y.as, true
		}
	}
	return "", "", false
}

// rankOf returns the rank of a statistic that is a percentile.
func rankOf(stat string) (rank float64, ok bool) {
	switch stat {
	case "min":
		return 0, true
	case "median":
		return 50, true
	case "max":
		return 100, true
	}
	rank, err := strconv.ParseFloat(strings.TrimPrefix(stat, "p"), 64)
	return rank, err == nil && strings.HasPrefix(stat, "p")
}

// plausible leaves out the figures of a result that cannot be true, and adds an issue.
func (b *Builder) plausible(r *Benchmark, at diag.Pos) {
	for _, c := range r.contradictions() {
		before := len(r.Metrics)
		r.Metrics = slices.DeleteFunc(r.Metrics, c.figures)
		b.issues.AddN(diag.Issue{Code: "benchmark-implausible", Severity: diag.Suspect, First: at,
			Help: "In results of a benchmark " + c.why + ". Numbers that contradict each other were left out. Check their units, and the program that wrote them."},
			int64(before-len(r.Metrics)))
	}
}
