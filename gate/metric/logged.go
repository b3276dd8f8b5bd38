package metric

import (
	"cmp"
	_ "embed" // logged.txt
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"assay/summary"
)

//go:embed logged.txt
var loggedText string

// A logged is a metric of logs, benchmarks and monitors: a line of logged.txt.
type logged struct {
	name, unit, better   string
	metric, figure, stat string
	combine, meaning     string
}

// higher reports whether more is better.
func (l *logged) higher() bool { return l.better == "higher" }

// loggedLines are the lines of logged.txt. A hyphen is an empty column.
var loggedLines = sync.OnceValue(func() (out []logged) {
	for line := range strings.Lines(loggedText) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0][0] == '#' {
			continue
		}
		for i := range f[:7] {
			if f[i] == "-" {
				f[i] = ""
			}
		}
		out = append(out, logged{f[0], f[1], f[2], f[3], f[4], f[5], f[6], strings.Join(f[7:], " ")})
	}
	return out
})

// benchmarked reports whether benchmarks report the metric.
func (l *logged) benchmarked() bool {
	family, _, _ := strings.Cut(l.name, ".")
	return slices.Contains([]string{"serving", "throughput", "requests", "step", "spec", "memory", "weight_sync", "run"}, family)
}

// unitOf returns the unit of the metric.
func unitOf(l *logged) Unit {
	return map[string]Unit{"time": Time, "share": Share, "count": Count, "size": Size}[l.unit]
}

// loggedMetrics returns the metrics of logged.txt.
func loggedMetrics() (out []Metric) {
	for _, l := range loggedLines() {
		out = append(out, Metric{Name: l.name, Unit: unitOf(&l), Of: Count, Higher: l.higher(), Host: true,
			Rises: l.stat == "max" && l.combine == "worst",
			Keys:  []string{"phase", "place", "source"}, settings: l.benchmarked(), Meaning: l.meaning, measure: l.measure})
	}
	return out
}

// The values of the selector source.
const (
	fromLog       = "log"
	fromBenchmark = "benchmark"
)

// measure returns the value in results of benchmarks or, if there are none, in logs and monitors.
func (l *logged) measure(v selection) (Value, error) {
	source := v.sel.Value("source")
	if v.sel.setting() != "" {
		source = fromBenchmark
	}
	if source != fromLog {
		if out, ok, err := l.fromBenchmarks(v); ok || err != nil {
			return out, err
		}
	}
	if source != fromBenchmark && l.stat != "" {
		out, err := l.fromSeries(v)
		if err != nil && len(v.sel.terms) == 0 {
			if other, ok := l.elsewhere(v); ok {
				return other, nil
			}
		}
		return out, err
	}
	if l.stat == "" || source == fromBenchmark {
		return Value{}, fmt.Errorf("no result of a benchmark with %s", strings.TrimSpace(l.figure+" "+l.metric))
	}
	return Value{}, errors.New("no value of it")
}

// fromBenchmarks returns the worst of the selected results. The first is often a cold run, and no single
// result represents the others.
func (l *logged) fromBenchmarks(v selection) (out Value, ok bool, err error) {
	if v.sel.Value("phase") != "" || v.sel.Value("place") != "" {
		return out, false, nil
	}
	results := slices.DeleteFunc(resultsOf(v.Summary), func(b *summary.Benchmark) bool { return l.of(b) == nil })
	if len(results) == 0 {
		return l.fromBuckets(v)
	}
	if results, err = v.sel.results(results); err != nil {
		return out, false, err
	}
	for i, b := range results {
		if f := l.of(b); i == 0 || l.worse(f.Value, out.V) {
			out.V = f.Value
		}
	}
	out.Note = "as a benchmark reported it"
	if n := len(results); n > 1 {
		out.Note = fmt.Sprintf("the worst of %d results of benchmarks", n)
	}
	return out, true, nil
}

// elsewhere returns the value in inputs that measure the same in another way: phases of logs, and traces.
func (l *logged) elsewhere(v selection) (out Value, ok bool) {
	if l.name == "requests.preempted" {
		for _, r := range v.Series {
			if r.Metric == "vllm:num_preemptions_total" && r.Pooled == 0 && r.Max != nil {
				out.V, out.Note, ok = max(out.V, *r.Max), "since the start of the server", true
			}
		}
		return out, ok
	}
	measure := map[string]func(selection) (Value, error){
		"gpu.util":     shareOf(summary.Activity.Busy),
		"memory.usage": selection.memoryShare,
		"weight_sync.time": func(v selection) (Value, error) {
			v.sel = Selector{[]term{{key: "phase", op: "=", value: weightSync}}}
			return phaseAs(func(p phase) (Value, error) { return ratio(p.host, p.count), nil })(v)
		},
	}[l.name]
	if l.name == "weight_sync.time" {
		if out, ok = slowestPhase(v, weightSync); ok {
			return out, true
		}
	}
	if measure == nil || len(v.Devices) == 0 {
		return out, false
	}
	out, err := measure(v)
	out.Num, out.Den, out.Traced, out.Note = 0, 0, true, "of the trace" // Of has the unit of logged values
	return out, err == nil
}

const weightSync = "weight-sync"

// slowestPhase returns the median time of a phase that trainers log, of the log in which it takes longest. Timers
// nested in the phase are part of it.
func slowestPhase(v selection, name string) (out Value, ok bool) {
	for _, p := range v.Phases {
		if p.Source == summary.SourceLog && p.Name() == name && p.MedianNS > 0 {
			out.V, ok = max(out.V, float64(p.MedianNS)), true
			out.Note = "the median of a phase of the log"
		}
	}
	return out, ok
}

func (l *logged) worse(a, b float64) bool { return l.higher() && a < b || !l.higher() && a > b }

// statistic returns the statistic of a row that the metric uses, or nil.
func (l *logged) statistic(r *summary.Series) *float64 {
	switch l.stat {
	case "median":
		return r.Median
	case "mean":
		return r.Mean
	case "last":
		return r.Last
	}
	return r.Max
}

// fromSeries combines the rows of all places of all inputs.
func (l *logged) fromSeries(v selection) (Value, error) {
	var rows []*summary.Series
	producers, places := map[string]bool{}, map[string]bool{}
	for i := range v.Series {
		r := &v.Series[i]
		if r.Metric != l.metric || r.Pooled > 0 || r.N == 0 || l.statistic(r) == nil {
			continue
		}
		place := placeOf(r)
		places[cmp.Or(r.LabelText(), "one without labels")] = true
		if v.sel.has("phase", r.Labels["phase"]) && v.sel.has("place", place) {
			rows = append(rows, r)
			producers[r.Producer+" "+r.Name] = true
		}
	}
	switch {
	case len(places) == 0:
		return Value{}, fmt.Errorf("no log, benchmark or monitor with %s", l.metric)
	case len(rows) == 0:
		return Value{}, fmt.Errorf("no such place or phase; there is %s", few(sorted(places)))
	case l.combine == "sum" && len(producers) > 1:
		return Value{}, fmt.Errorf("nothing that adds up: it was logged as %s; give the inputs of one of them",
			few(sorted(producers)))
	}
	out := l.combined(rows)
	if l.metric == "gpu.mfu" && slices.ContainsFunc(rows, func(r *summary.Series) bool { return *r.Max > 1 }) {
		return Value{}, errors.New("no possible value of it: it was logged as over 100%")
	}
	if len(rows) > 1 {
		out.Note = fmt.Sprintf("%s of %d series", map[string]string{"sum": "the sum", "worst": "the worst",
			"mean": "the mean"}[l.combine], len(rows))
	}
	return out, nil
}

// combined returns the value of all rows.
func (l *logged) combined(rows []*summary.Series) (out Value) {
	n := int64(0)
	for i, r := range rows {
		x := *l.statistic(r)
		switch {
		case l.combine == "sum":
			out.V += x
		case l.combine == "mean":
			out.V += *r.Sum
			n += r.N
		case i == 0 || l.worse(x, out.V):
			out.V = x
		}
	}
	if l.combine == "mean" {
		out.V /= float64(n)
	}
	return out
}

// orLogged returns a function that measures a metric in traces, or takes the largest logged value
// if there is no trace with it.
func orLogged(measure func(selection) (Value, error), metric string) func(selection) (Value, error) {
	l := logged{metric: metric, stat: "max", combine: "worst"}
	return func(v selection) (Value, error) {
		if len(v.Memory) > 0 || v.sel.String() != "" {
			return measure(v)
		}
		if out, err := l.fromSeries(v); err == nil {
			return out, nil
		}
		return measure(v)
	}
}

// placeOf returns the labels of a row without the phase: "gpu=0".
func placeOf(r *summary.Series) string {
	words := strings.Fields(r.LabelText())
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "phase=") }), " ")
}
