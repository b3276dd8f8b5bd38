package metric

import (
	"fmt"
	"slices"
	"strings"

	"assay/summary/view/bench"
)

// A Page explains a metric.
type Page struct {
	Name        string    `json:"metric"`
	Meaning     string    `json:"measures"`
	Denominator string    `json:"denominator,omitempty"`
	Unit        string    `json:"unit"`   // in the notation of gate files
	Better      string    `json:"better"` // "lower" or "higher"
	Noise       string    `json:"noise"`  // how its changes are distinguished from noise
	Selects     []KeyPage `json:"selectors"`
	Examples    []string  `json:"examples"` // lines of a gate file
}

// A KeyPage explains a selector.
type KeyPage struct {
	Key     string `json:"key"`
	Meaning string `json:"meaning"`
	Example string `json:"example"`
	Needed  bool   `json:"required"`
}

// keys has the meaning and an example of selectors that are not keys of rows, or a key of several kinds of rows.
var keys = map[string][2]string{
	"rank":     {"rank of the job", "0"},
	"device":   {"number of the GPU", "0"},
	"steps":    {"range of step numbers: 3, 3-5 or 3-", "3-"},
	"phase":    {"phase of \"assay help phases\" with all that is nested in it, an annotation, or a phase of a server; * matches any text", "generation"},
	"owner":    {"cause of idle time", "host-late"},
	"state":    {"what the host did in idle time", "data-loading"},
	"category": {"category of kernels; * matches any text", "gemm"},
	"class":    {"compute, comm, copy or memset", "compute"},
	"kernel":   {"name of a kernel; * matches any text", "*flash*"},
	"copy":     {"name of a copy; * matches any text", "Memcpy HtoD*"},
	"op":       {"operator that launched the work, or operation of a collective; * matches any text", "all-reduce"},
	"group":    {"name of a process group; * matches any text", "0"},
	"parallel": {"kind of parallelism of a group", "data"},
	"dtype":    {"data type", "BFloat16"},
	"function": {"name of a function as the profile has it; * matches any text", "*loss*"},
	"clock":    {"clock of a profile: cpu, wall or unknown", "cpu"},
	"table":    {"name of a table; * matches any text", "cuda_gpu_kern_sum"},
	"row":      {"name of a row; * matches any text", "*gemm*"},
	"column":   {"name of a column", "total"},
	"kind":     {"purpose of memory; * matches any text; of steps of a server: prefill, decode, mixed, verify, draft or idle", "activations"},
	"site":     {"allocation site: a line of the program, or an operator of a trace; * matches any text", "*attention*"},
	"place":    {"labels of a log or monitor; * matches any text", "gpu=0"},
	"source":   {"log or benchmark", "log"},
	"layers":   {"kind of layers as in the report's JSON: decoder, moe-layer, ...; * matches any text", "moe-layer"},
	"part":     {"part of a layer: attention, mlp, moe, norm, communication or other", "moe"},
	"pass":     {"forward, backward or recompute", "forward"},
	"step":     {"kind of step: prefill, decode or mixed", "decode"},
	"gpus":     {"number of GPUs", "8"},
	"job":      {"number of a job, from 1", "1"},
}

// exampleLimit is a limit of another metric, as a selector.
const exampleLimit = "ttft_p99<=500ms"

// settingPages explains the settings of benchmarks that select.
func settingPages() (out []KeyPage) {
	var others []string
	for _, s := range bench.Settings() {
		if s.Load {
			out = append(out, KeyPage{s.Key(), s.Head + " of results of benchmarks; also with <=, >=, < or >", s.Key() + "=4", false})
		} else {
			others = append(others, s.Key())
		}
	}
	return append(out, KeyPage{"SETTING", "another setting of results of benchmarks: " + strings.Join(others, ", ") +
		"; * matches any text", "dataset=random", false})
}

// Named returns the metric with the selectors that it needs.
func (m *Metric) Named() string {
	var parts []string
	for _, key := range m.Needs {
		parts = append(parts, key+"=NAME")
	}
	if m.limits {
		parts = append(parts, exampleLimit)
	}
	if parts == nil {
		return m.Name
	}
	return m.Name + "{" + strings.Join(parts, ", ") + "}"
}

// Explain returns the page of a metric, whose selector is ignored. The error for an unknown metric
// names the nearest ones.
func Explain(name string) (Page, error) {
	name, _, _ = strings.Cut(name, "{")
	m, err := Of(strings.TrimSpace(name))
	if err != nil {
		return Page{}, err
	}
	p := Page{Name: m.Name, Meaning: m.Meaning, Denominator: m.Per, Better: "lower", Unit: m.Unit.words()}
	if m.Higher {
		p.Better = "higher"
	}
	switch {
	case m.Steady:
		p.Noise = "none: a change over its limit fails"
	case m.Unit == Share:
		p.Noise = fmt.Sprintf("up to %s between single runs, unless the gate file sets it", Points(m.NoiseOf(UsualNoise)))
	default:
		p.Noise = fmt.Sprintf("up to %s between single runs, unless the gate file sets it", Percent(m.NoiseOf(UsualNoise)))
	}
	var needed []string
	for _, key := range m.Keys {
		needs := slices.Contains(m.Needs, key)
		meaning, _ := m.explained(key)
		p.Selects = append(p.Selects, KeyPage{key, meaning, key + "=" + m.value(key), needs})
		if needs {
			needed = append(needed, key+"="+m.value(key))
		}
	}
	if m.settings {
		p.Selects = append(p.Selects, settingPages()...)
	}
	if m.limits {
		p.Selects = append(p.Selects, KeyPage{"LIMIT", "limit of a number that a benchmark reports: a metric, without \"serving.\" or in full, with <=, >=, < or >; " +
			"several limits must all be met", exampleLimit, true})
		needed = append(needed, exampleLimit)
	}
	p.Examples = m.examples(needed)
	if m.settings && !m.limits {
		target, _, _ := strings.Cut(p.Examples[0], ": ")
		p.Examples = append(p.Examples, target+"{request_rate=4}"+strings.TrimPrefix(p.Examples[0], target))
	}
	return p, nil
}

// explained returns the meaning and an example of a selector: what the description of the rows says of its key,
// or the text here, or what follows from the form of the key.
func (m *Metric) explained(key string) (meaning, example string) {
	text, ok := keys[key]
	if m.rows == nil {
		return text[0], text[1]
	}
	if meaning, example, own := m.rows.Explained(m.rows.Column(key)); own || !ok {
		return meaning, example
	}
	return text[0], text[1]
}

// value returns a value of a selector for an example.
func (m *Metric) value(key string) string {
	if key == "dtype" && m.Efficiency {
		return "bf16"
	}
	if key == "op" && (slices.Contains(m.Keys, "kernel") || m.Efficiency) {
		return "aten::mm"
	}
	if key == "phase" && slices.Contains(m.Keys, "place") {
		return "decode"
	}
	_, example := m.explained(key)
	return example
}

// examples returns a gate with a target and a gate with a comparison.
func (m *Metric) examples(needed []string) []string {
	name := m.Name
	if needed != nil {
		name += "{" + strings.Join(needed, ", ") + "}"
	}
	target, change := "<= "+m.Unit.Example(), "max_increase: 5%"
	if m.Higher {
		target, change = ">= "+m.Unit.Example(), "max_decrease: 5%"
	}
	if m.Unit == Share {
		target = strings.Replace(target, ">= 5%", ">= 80%", 1)
		change = strings.Replace(change, "5%", "2pp", 1)
	}
	return []string{fmt.Sprintf("%s: %q", name, target), fmt.Sprintf("%s: {%s}", name, change)}
}

// words says how values of the unit are written.
func (u Unit) words() string {
	return [...]string{"share, as 80% or 0.8", "time, as 2s, 15ms or 200us", "size, as 64GiB or 80GB", "number",
		"bandwidth, as 300GB/s", "rate, as 300TFLOP/s"}[u]
}
