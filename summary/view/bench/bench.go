package bench

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/summary"
)

// A Setting is a parameter of benchmarks, with the names that producers use for it.
type Setting struct {
	Head  string
	Load  bool // results of one workload may differ in it: they are a sweep then
	names []string
}

// Settings returns the settings in which results of benchmarks can differ.
func Settings() []Setting {
	return []Setting{
		{"request rate", true, []string{"request_rate", "Traffic request rate", "Request rate configured (RPS)", "input_config.request_rate", "input_config.loadgen.request_rate", "target_qps"}},
		{"concurrency", true, []string{"concurrency", "max_concurrency", "Max request concurrency", "Maximum request concurrency", "num_concurrent_requests", "input_config.concurrency", "input_config.loadgen.concurrency", "request_info.num_concurrent_requests"}},
		{"batch", true, []string{"batch_size"}},
		{"TP", true, []string{"server_info.tp_size", "world_info.tp_size", "tensor_parallel_size", "TP Size"}},
		{"input length", false, []string{"random_input_len", "input_len", "mean_input_tokens"}},
		{"output length", false, []string{"random_output_len", "output_len", "mean_output_tokens"}},
		{"dataset", false, []string{"dataset_name"}},
		{"model", false, []string{"model_id", "Model", "model", "server_info.model_path", "engine.model"}},
		{"backend", false, []string{"backend", "Backend"}},
		{"strategy", false, []string{"Strategy"}}, {"model size", false, []string{"Model Size"}}, {"method", false, []string{"Method"}},
		{"samples", false, []string{"Samples/prompt"}}, {"stream", false, []string{"stream"}}, {"side", false, []string{"side"}},
		{"type", false, []string{"Type"}}, {"name", false, []string{"Name"}},
		{"test", false, []string{"test"}}, {"ranks", false, []string{"ranks"}}, {"size", false, []string{"bytes"}},
	}
}

// Key returns the name of the setting as users write it: "request_rate", "tp".
func (s Setting) Key() string { return strings.ReplaceAll(strings.ToLower(s.Head), " ", "_") }

// SettingOf returns the setting with the name that users write.
func SettingOf(key string) (Setting, bool) {
	list := Settings()
	if i := slices.IndexFunc(list, func(s Setting) bool { return s.Key() == key }); i >= 0 {
		return list[i], true
	}
	return Setting{}, false
}

// Of returns the value of the setting in a result, or "".
func (s Setting) Of(b *summary.Benchmark) string {
	for _, n := range s.names {
		if v := b.Settings[n]; v != "" {
			return v
		}
	}
	return ""
}

// Number returns the value as a number: infinity for an unlimited load, and NaN for other texts.
func (s Setting) Number(b *summary.Benchmark) float64 {
	return LoadOf(s.Of(b))
}

// LoadOf returns the number that a value of a setting states: infinity for an unlimited load, and NaN for
// other texts.
func LoadOf(value string) float64 {
	switch value {
	case "inf", "not set", "Infinity":
		return math.Inf(1)
	default:
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			return n
		}
	}
	return math.NaN()
}

// Same returns the value of the setting so that equal numbers have one text: 16 and 16.0 are the same load.
func (s Setting) Same(b *summary.Benchmark) string {
	if n := s.Number(b); !math.IsNaN(n) {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	return s.Of(b)
}

// FigureOf returns a number of a result, or nil.
func FigureOf(b *summary.Benchmark, metric, stat string) *summary.Figure {
	for i := range b.Metrics {
		if f := &b.Metrics[i]; f.Metric == metric && f.Stat == stat {
			return f
		}
	}
	return nil
}

// A Sweep has the results of one producer and workload that differ in one setting of the load, sorted by
// it.
type Sweep struct {
	Producer string
	Workload string // distinguishes it from the producer's other workloads: "dataset random"
	Setting  Setting
	List     []*summary.Benchmark
}

// Sweeps returns the sweeps of a summary. Results that differ in two settings of the load are not a sweep,
// because the axis would be ambiguous. Results of which two have the same load are not a sweep either.
func Sweeps(s *summary.Summary) (out []Sweep) {
	type key struct{ producer, workload string }
	groups := map[key][]*summary.Benchmark{}
	var order []key
	var load, work []Setting
	for _, st := range Settings() {
		if st.Load {
			load = append(load, st)
		} else {
			work = append(work, st)
		}
	}
	first := map[string]*summary.Benchmark{}
	differ := map[string]map[string]bool{} // heads by producer
	for i := range s.Benchmarks {
		b := &s.Benchmarks[i]
		if first[b.Producer] == nil {
			first[b.Producer], differ[b.Producer] = b, map[string]bool{}
		}
		k := key{producer: b.Producer}
		for _, st := range work {
			k.workload += st.Of(b) + "\x00"
			if st.Of(b) != st.Of(first[b.Producer]) {
				differ[b.Producer][st.Head] = true
			}
		}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], b)
	}
	for _, k := range order {
		st, list := sweptBy(load, groups[k])
		if len(list) < 2 {
			continue
		}
		var workload []string
		for _, w := range work {
			if of := w.Of(list[0]); of != "" && differ[k.producer][w.Head] {
				workload = append(workload, w.Head+" "+of)
			}
		}
		out = append(out, Sweep{k.producer, strings.Join(workload, ", "), st, list})
	}
	return out
}

// sweptBy returns the only setting in which results differ, and the results sorted by it.
func sweptBy(load []Setting, list []*summary.Benchmark) (by Setting, sorted []*summary.Benchmark) {
	for _, st := range load {
		values, given := map[string]bool{}, 0
		for _, b := range list {
			if st.Of(b) != "" {
				values[st.Same(b)] = true
				given++
			}
		}
		if len(values) < 2 {
			continue
		}
		if sorted != nil {
			return by, nil
		}
		if len(values) < given {
			return by, nil // results with the same load differ in an unknown setting
		}
		by = st
		sorted = slices.DeleteFunc(slices.Clone(list), func(b *summary.Benchmark) bool { return math.IsNaN(st.Number(b)) })
		slices.SortStableFunc(sorted, func(a, b *summary.Benchmark) int { return cmp.Compare(st.Number(a), st.Number(b)) })
	}
	return by, sorted
}

// Throughput returns the metric of throughput that all results of a sweep have, or "".
func (s *Sweep) Throughput() string {
	for _, metric := range []string{"throughput.output_tokens", "throughput.total_tokens", "throughput.requests"} {
		if s.Has(metric, "") {
			return metric
		}
	}
	return ""
}

// Has reports whether all results have a number.
func (s *Sweep) Has(metric, stat string) bool {
	return !slices.ContainsFunc(s.List, func(b *summary.Benchmark) bool { return FigureOf(b, metric, stat) == nil })
}
