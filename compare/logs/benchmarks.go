package logs

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/internal/stat"
	"assay/summary"
	"assay/summary/view/comparability"
)

// A Benchmark is one result of a benchmark on both sides.
type Benchmark struct {
	Producer string            `json:"producer"`
	Title    string            `json:"title,omitempty"`
	Settings map[string]string `json:"settings,omitempty"` // the workload, which both sides have
	Changed  []Setting         `json:"changed,omitempty"`  // other settings that differ
	Match    string            `json:"match"`
	Base     int               `json:"base_results"` // number of inputs combined into each side of the row
	New      int               `json:"new_results"`
	Figures  []Figure          `json:"figures"`
}

// A Setting is one that differs between the sides.
type Setting struct {
	Name string `json:"name"`
	Base string `json:"base"` // empty if the side does not have it
	New  string `json:"new"`
}

// A Figure is one number of a result.
type Figure struct {
	Metric string   `json:"metric"`
	Stat   string   `json:"stat,omitempty"`
	Name   string   `json:"name"`
	Unit   string   `json:"unit,omitempty"`
	Better string   `json:"better,omitempty"`
	Role   string   `json:"role"`
	Base   *float64 `json:"base"` // median if there are several inputs
	New    *float64 `json:"new"`
	Delta  *float64 `json:"delta"`
	Change *float64 `json:"change"`
	Effect string   `json:"effect,omitempty"`
}

// isConfiguration reports whether a setting says how the workload was run: by which server, in
// which version, on how many GPUs. Results that differ in it are compared, and the difference is
// listed. All other settings define the workload, which must be equal.
func isConfiguration(name string) bool {
	switch name {
	case "date", "backend", "Backend", "endpoint_type", "version", "label", "tokenizer_id", "Result is", "SUT name",
		"tensor_parallel_size", "pipeline_parallel_size", "TP Size", "dtype", "quantization":
		return true
	case "server_info.model_path":
		return false
	}
	return strings.HasPrefix(name, "server_info.") || strings.HasPrefix(name, "world_info.")
}

// isMoment reports whether a setting differs in every run.
func isMoment(name string) bool { return name == "date" }

// A result is a result for one workload, from one or several inputs.
type result struct {
	key      string
	of       *summary.Benchmark
	work     map[string]string
	other    map[string]string
	figures  map[figureKey][]float64
	example  map[figureKey]summary.Figure
	order    []figureKey
	combined int
}

type figureKey struct{ metric, stat, name, unit string }

// Benchmarks compares the results of two sides. If anyway is true, results of different workloads
// are compared by their order.
func Benchmarks(base, new []comparability.Part, anyway bool) []Benchmark {
	b, n := results(base, anyway), results(new, anyway)
	if len(b) == 0 || len(n) == 0 {
		return nil
	}
	at := map[string]*result{}
	for _, r := range n {
		at[r.key] = r
	}
	var out []Benchmark
	matched := map[string]bool{}
	for _, r := range b {
		o := at[r.key]
		matched[r.key] = o != nil
		out = append(out, pair(r, o))
	}
	for _, r := range n {
		if !matched[r.key] {
			out = append(out, pair(nil, r))
		}
	}
	slices.SortStableFunc(out, func(x, y Benchmark) int {
		one := func(b Benchmark) int {
			if b.Match == ByName {
				return 0
			}
			return 1
		}
		return cmp.Compare(one(x), one(y))
	})
	return out
}

// results returns the results of a side, in their order. Results of one workload in several inputs
// are repetitions. Several results in one input are not, because the first often comes from a cold
// server: their order distinguishes them.
func results(parts []comparability.Part, anyway bool) (out []*result) {
	index := map[string]*result{}
	for run, p := range parts {
		type place struct {
			run, input int
			key        string
		}
		nth := map[place]int{}
		for i := range p.Benchmarks {
			b := &p.Benchmarks[i]
			if p.Inputs != nil && !slices.Contains(p.Inputs, b.Input) {
				continue
			}
			work, other := map[string]string{}, map[string]string{}
			for name, v := range b.Settings {
				if isConfiguration(name) {
					other[name] = v
				} else {
					work[name] = number(v)
				}
			}
			key := b.Producer + "\x00" + b.Title + "\x00" + LabelText(work)
			if anyway {
				key = b.Producer
			}
			at := place{run, b.Input, key}
			nth[at]++
			key += "\x00" + itoa(nth[at])
			r := index[key]
			if r == nil {
				r = &result{key: key, of: b, work: work, other: other, figures: map[figureKey][]float64{},
					example: map[figureKey]summary.Figure{}}
				index[key] = r
				out = append(out, r)
			}
			r.add(b)
		}
	}
	return out
}

// number returns a number in its shortest form, so that 1 and 1.0 are equal, and any other text
// unchanged.
func number(text string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || finite(v) == nil {
		return text
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func (r *result) add(b *summary.Benchmark) {
	r.combined++
	for _, f := range b.Metrics {
		k := figureKey{f.Metric, f.Stat, f.Name, f.Unit}
		if r.figures[k] == nil {
			r.order = append(r.order, k)
			r.example[k] = f
		}
		r.figures[k] = append(r.figures[k], f.Value)
	}
}

// pair returns the row of a workload on both sides, one of which may be nil.
func pair(base, new *result) Benchmark {
	of := base
	if of == nil {
		of = new
	}
	row := Benchmark{Producer: of.of.Producer, Title: of.of.Title, Settings: of.work, Match: ByName, Figures: []Figure{}}
	if base != nil {
		row.Base = base.combined
	}
	if new != nil {
		row.New = new.combined
	}
	if base == nil || new == nil {
		row.Match = OnlyNew
		if new == nil {
			row.Match = OnlyOld
		}
		return row
	}
	row.Changed = slices.Concat(differing(base.work, new.work), differing(base.other, new.other))
	if len(row.Changed) > 0 {
		row.Settings = shared(base.work, new.work)
	}
	for _, k := range base.order {
		if values, ok := new.figures[k]; ok {
			row.Figures = append(row.Figures, compareFigures(base.example[k], base.figures[k], values))
		}
	}
	return row
}

func compareFigures(f summary.Figure, base, new []float64) Figure {
	b, n := stat.Median(base), stat.Median(new)
	out := Figure{Metric: f.Metric, Stat: f.Stat, Name: f.Name, Unit: f.Unit, Better: f.Better, Role: f.Role, Base: &b,
		New: &n, Delta: finite(n - b)}
	if b > 0 {
		out.Change = finite((n - b) / b)
	}
	clear := true
	if len(base) > 1 && len(new) > 1 { // repetitions show the noise
		clear = slices.Max(base) < slices.Min(new) || slices.Max(new) < slices.Min(base)
	}
	out.Effect = effect(f.Better, n-b, b, clear)
	return out
}

func differing(base, new map[string]string) (out []Setting) {
	names := maps.Clone(base)
	maps.Copy(names, new)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if base[name] != new[name] && !isMoment(name) {
			out = append(out, Setting{name, base[name], new[name]})
		}
	}
	return out
}

func shared(base, new map[string]string) map[string]string {
	out := map[string]string{}
	for name, v := range base {
		if new[name] == v {
			out[name] = v
		}
	}
	return out
}

func itoa(n int) string { return strconv.Itoa(n) }
