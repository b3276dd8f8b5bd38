package metric

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/summary"
	"assay/summary/view/bench"
)

// servingMetrics returns the metrics of sweeps over the load of a server or the number of GPUs.
func servingMetrics() []Metric {
	return []Metric{
		{Name: "serving.capacity", Unit: Count, Higher: true, Host: true, settings: true, limits: true,
			Meaning: "highest load of a benchmark (request rate, concurrency or batch) at which its results are within the limits",
			measure: capacity},
		{Name: "scaling.efficiency", Of: Count, Higher: true, Host: true, settings: true, Across: true, Keys: []string{"gpus"},
			Meaning: "throughput per GPU on the most GPUs, of runs of one program whose names state their number, or of results of a benchmark by tp", Per: "throughput per GPU on the fewest",
			measure: scalingEfficiency}}
}

// scalingEfficiency returns the throughput per GPU on the selected number of GPUs, or the most, as a share of
// that on the fewest.
func scalingEfficiency(v selection) (Value, error) {
	var gpus, efficiencies []float64
	if list := bench.Scaling(v.Summary); len(list) > 0 && v.sel.setting() == "" {
		efficiencies = bench.Efficiencies(list)
		for _, p := range list {
			gpus = append(gpus, float64(p.GPUs))
		}
	} else {
		results, err := v.sel.results(resultsOf(v.Summary))
		if err != nil && len(v.Benchmarks) > 0 {
			return Value{}, err
		}
		var of summary.Summary
		for _, b := range results {
			of.Benchmarks = append(of.Benchmarks, *b)
		}
		for _, sw := range bench.Sweeps(&of) {
			if sw.Setting.Key() != "tp" {
				continue
			}
			if gpus != nil {
				return Value{}, ambiguous("there are several sweeps over the number of GPUs; select one by a setting")
			}
			for _, b := range sw.List {
				gpus, efficiencies = append(gpus, sw.Setting.Number(b)), append(efficiencies, sw.Efficiency(b))
			}
		}
	}
	if gpus == nil {
		return Value{}, errors.New("no runs of one program on different numbers of GPUs, which the names of their logs must state (gpus_8.log), and no results that differ in tp only")
	}
	at := len(gpus) - 1
	if want := v.sel.Value("gpus"); want != "" {
		if at = slices.IndexFunc(gpus, func(n float64) bool { return fmt.Sprint(n) == want }); at < 0 {
			return Value{}, ambiguous("no run on %s GPUs; there is gpus %s", want, strings.Trim(fmt.Sprint(gpus), "[]"))
		}
	}
	return Value{V: efficiencies[at], Note: fmt.Sprintf("on %g GPUs, relative to %g", gpus[at], gpus[0])}, nil
}

// limit reads the limit of another metric: "ttft_p99<=500ms".
func (m *Metric) limit(t *term) error {
	for _, l := range loggedLines() {
		if l.name == "serving."+t.key || l.name == t.key {
			t.limits = &l
		}
	}
	switch {
	case t.limits == nil:
		return fmt.Errorf("%s has no selector %q, want a limit of a benchmark's number, as ttft_p99<=500ms, or one of %s",
			m.Name, t.key, strings.Join(m.selectors(), ", "))
	case !limiting(t.op):
		return fmt.Errorf("selector %q: want a limit with <=, >=, < or >", t.key+t.op+t.value)
	}
	var err error
	if t.bound, err = unitOf(t.limits).Bound(t.value); err != nil {
		return fmt.Errorf("selector %s: %w", t.key, err)
	}
	return nil
}

// resultsOf returns the results of benchmarks of a run.
func resultsOf(s *summary.Summary) (out []*summary.Benchmark) {
	for i := range s.Benchmarks {
		out = append(out, &s.Benchmarks[i])
	}
	return out
}

// of returns the number of the metric in a result, or nil. Some benchmarks call the median p50.
func (l *logged) of(b *summary.Benchmark) *summary.Figure {
	f := bench.FigureOf(b, l.metric, l.figure)
	if f == nil && l.figure == "median" {
		f = bench.FigureOf(b, l.metric, "p50")
	}
	return f
}

// fromBuckets returns the bounds of a percentile that histograms give, where no benchmark reports it: the worst
// of all results.
func (l *logged) fromBuckets(v selection) (out Value, ok bool, err error) {
	stat := l.figure
	if stat == "median" {
		stat = "p50"
	}
	for _, b := range resultsOf(v.Summary) {
		most, over := bench.FigureOf(b, l.metric, stat+" at most"), bench.FigureOf(b, l.metric, stat+" over")
		switch {
		case over != nil:
			out.V, out.Most = max(out.V, over.Value), math.Inf(1)
		case most != nil:
			out.Most = max(out.Most, most.Value)
		default:
			continue
		}
		out.Bounded, out.Note = true, "by the buckets of a histogram"
	}
	return out, out.Bounded && !l.higher() && v.sel.setting() == "", nil
}

// what describes the number of a result: "p99 serving.ttft".
func (l *logged) what() string { return strings.TrimSpace(l.figure + " " + l.metric) }

// matchesSetting reports whether a result has the setting of the term.
func (t term) matchesSetting(s bench.Setting, b *summary.Benchmark) bool {
	have, want := s.Number(b), bench.LoadOf(t.value)
	if t.op != "=" || !math.IsNaN(have) && !math.IsNaN(want) {
		return s.Of(b) != "" && t.compare(have, want)
	}
	return s.Of(b) != "" && matches(t.value, s.Of(b))
}

// results returns the results with the selected settings. It is an error if there are none, because a gate
// on a load that was not measured would otherwise be left out.
func (s Selector) results(list []*summary.Benchmark) ([]*summary.Benchmark, error) {
	among := ""
	for _, t := range s.terms {
		st, ok := bench.SettingOf(t.key)
		if !ok {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(list), func(b *summary.Benchmark) bool { return !t.matchesSetting(st, b) })
		if len(left) == 0 {
			return nil, ambiguous("no result of a benchmark has %s%s%s%s; %s", t.key, t.op, t.value, among, valuesOf(st, list))
		}
		if len(left) < len(list) {
			among += map[bool]string{true: " and ", false: " with "}[among != ""] + t.key + t.op + t.value
		}
		list = left
	}
	return list, nil
}

// valuesOf lists the values that results have of a setting or, if they have none, the settings in which they
// differ.
func valuesOf(s bench.Setting, list []*summary.Benchmark) string {
	if values := distinct(s, list); len(values) > 0 {
		return fmt.Sprintf("there is %s %s", s.Key(), few(values))
	}
	var differ []string
	for _, other := range bench.Settings() {
		if values := distinct(other, list); len(values) > 1 {
			differ = append(differ, fmt.Sprintf("%s (%s)", other.Key(), few(values)))
		}
	}
	text := fmt.Sprintf("none states its %s", s.Key())
	if differ != nil {
		text += "; they differ in " + strings.Join(differ, ", ")
	}
	return text
}

// distinct returns the values that results have of a setting, in their order.
func distinct(s bench.Setting, list []*summary.Benchmark) (values []string) {
	seen := map[string]bool{}
	for _, b := range list {
		if s.Of(b) != "" && !seen[s.Same(b)] {
			seen[s.Same(b)] = true
			values = append(values, s.Of(b))
		}
	}
	return values
}

// capacity returns the highest load of a sweep at which all limits are met. The load that the server can
// really take is between this one and the next one that was measured.
func capacity(v selection) (Value, error) {
	var limits []term
	for _, t := range v.sel.terms {
		if t.limits != nil {
			limits = append(limits, t)
		}
	}
	sw, err := sweepOf(v, limits)
	if err != nil {
		return Value{}, err
	}
	load := func(i int) float64 { return sw.Setting.Number(sw.List[i]) }
	best, broken := -1, make([]string, len(sw.List))
	for i, b := range sw.List {
		for _, t := range limits {
			f := t.limits.of(b)
			if f == nil {
				return Value{}, ambiguous("the result at %s %s has no %s", sw.Setting.Key(), sw.Setting.Of(b), t.limits.what())
			}
			if !t.compare(f.Value, t.bound.At) && broken[i] == "" {
				broken[i] = fmt.Sprintf("%s is %s at %s %s", t.key, unitOf(t.limits).Text(f.Value), sw.Setting.Key(), sw.Setting.Of(b))
			}
		}
		if broken[i] == "" {
			best = i
		}
	}
	out := Value{Below: math.Inf(1), Note: "the highest measured load"}
	if best >= 0 && math.IsInf(load(best), 1) {
		best-- // the number of an unlimited load is unknown
		out.Note = "and without a limit of the load the results are within the limits too"
	} else if best+1 < len(sw.List) {
		out.Below, out.Note = load(best+1), "because "+broken[best+1]
	}
	if best >= 0 {
		out.V = load(best)
	}
	return out, nil
}

// sweepOf returns the only sweep over a load of which results have the limited numbers. Of results with equal
// settings, such as a cold and a warm run, the worst counts.
func sweepOf(v selection, limits []term) (bench.Sweep, error) {
	list, err := v.sel.results(resultsOf(v.Summary))
	if err != nil {
		return bench.Sweep{}, err
	}
	for _, t := range limits {
		if !slices.ContainsFunc(list, func(b *summary.Benchmark) bool { return t.limits.of(b) != nil }) {
			return bench.Sweep{}, fmt.Errorf("no result of a benchmark with %s", t.limits.what())
		}
	}
	measured := func(b *summary.Benchmark) bool {
		return slices.ContainsFunc(limits, func(t term) bool { return t.limits.of(b) != nil })
	}
	var found []bench.Sweep
	var names []string
	for _, sw := range bench.Sweeps(&summary.Summary{Benchmarks: worst(list, limits)}) {
		if slices.ContainsFunc(sw.List, measured) {
			found = append(found, sw)
			names = append(names, strings.TrimSpace(sw.Producer+" "+sw.Workload))
		}
	}
	var differ []string
	for _, s := range bench.Settings() {
		if values := distinct(s, list); s.Load && len(values) > 1 {
			differ = append(differ, fmt.Sprintf("%s (%s)", s.Key(), few(values)))
		}
	}
	switch {
	case len(found) > 1:
		return bench.Sweep{}, ambiguous("there are %d sweeps: %s; select one by a setting", len(found), few(names))
	case len(found) == 1 && found[0].Setting.Key() != "tp":
		return found[0], nil
	case len(found) == 1 || len(differ) > 1:
		return bench.Sweep{}, ambiguous("the results are no sweep over one load: they differ in %s; select all but the load",
			strings.Join(differ, ", "))
	}
	return bench.Sweep{}, ambiguous("the results are no sweep: there is no second load")
}

// worst returns one result for each producer and set of settings, with the worst of the limited numbers. A
// number is left out if one of the results does not have it.
func worst(list []*summary.Benchmark, limits []term) (out []summary.Benchmark) {
	at := map[string]int{}
	for _, b := range list {
		key := b.Producer
		for _, s := range bench.Settings() {
			key += "\x00" + s.Same(b)
		}
		i, again := at[key]
		if !again {
			i = len(out)
			at[key] = i
			out = append(out, summary.Benchmark{Input: b.Input, Producer: b.Producer, Settings: b.Settings})
		}
		var kept []summary.Figure
		for _, t := range limits {
			f, had := t.limits.of(b), t.limits.of(&out[i])
			switch {
			case f == nil || again && had == nil:
			case had != nil && !t.limits.worse(f.Value, had.Value):
				kept = append(kept, *had)
			default:
				kept = append(kept, *f)
			}
		}
		out[i].Metrics = kept
	}
	return out
}
