package doctor

import (
	"slices"
	"strings"
	"sync"

	"assay/judge"
	"assay/judge/capture"
	"assay/judge/rule"
	"assay/summary"
)

// An Answer says whether a capture can answer a question. Its texts are whole sentences.
type Answer struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	Can      string `json:"can"` // "yes", "partly" or "no"
	Why      string `json:"why"`

	// Flags says how to record a capture that can answer, for each producer of the inputs. It is
	// empty if this capture can.
	Flags []Flags `json:"flags,omitempty"`
}

// The values of [Answer.Can].
const (
	Yes    = "yes"
	Partly = "partly"
	No     = "no"
)

// Flags says how to record with one producer.
type Flags struct {
	Producer string `json:"producer"` // "torch.profiler", "xla", "nsys", "rocprofv3", "ncu", "rocprof-compute", "SGLang", "vLLM"
	Text     string `json:"text"`     // whole sentences; code is between backticks
}

// A questionEntry is a question as questions.yaml has it.
type questionEntry struct {
	Question string `yaml:"question"`
	Torch    string `yaml:"torch"`
	Nsys     string `yaml:"nsys"`
	ROCm     string `yaml:"rocprofv3"`
	XLA      string `yaml:"xla"`
	SGLang   string `yaml:"sglang"`
	VLLM     string `yaml:"vllm"`
	NCU      string `yaml:"ncu"`
	AMD      string `yaml:"rocprof-compute"`
	Any      string `yaml:"any"`

	VeRL      string `yaml:"verl"`
	Megatron  string `yaml:"megatron"`
	DeepSpeed string `yaml:"deepspeed"`
	Of        string `yaml:"of"` // the inputs that have the question; "" for what recorded GPU events
	Setting   string `yaml:"setting"`

	id string
}

// questions returns the entries of questions.yaml, in their order.
var questions = sync.OnceValue(builtInQuestions)

// deviceQuestions are the questions that only device records answer.
var deviceQuestions = []string{"kernels", "budget", "idle", "profiler", "operators", "lines", "shapes", "steps", "phases",
	"graphs", "ranks", "whole", "clocks", "complete"}

// Examine answers all questions for a capture, in the order of questions.yaml; r must be the result
// for s.
func Examine(s *summary.Summary, r judge.Result) (out []Answer) {
	e := examination{Summary: s}
	for _, d := range s.Devices {
		e.total = e.total.Plus(d.Activity)
	}
	e.lost, e.loses = capture.WorstLoss(s)
	e.unusable = r.Unusable()
	answer := e.byQuestion()
	subjects := logged{&e}.subjects()
	for _, q := range questions() {
		if !q.asks(subjects) {
			continue
		}
		a := Answer{ID: q.id, Question: q.Question}
		a.Can, a.Why = answer[q.id]()
		if q.id == "waits" && a.Can == Yes || a.Can == "" {
			continue // only forecasts ask for waits; a question without an answer does not apply to this capture
		}
		if slices.Contains(deviceQuestions, q.id) {
			a.Can, a.Why = e.qualified(a.Can, a.Why)
		}
		if a.Can != Yes && e.recordedWith(q.Setting) {
			a.Why += " The profiler was started with " + q.Setting + ", so it recorded what there is."
		} else if a.Can != Yes {
			a.Flags = q.flags(producers(s), r.Stacks, rule.ValueOf("gpu", s, r.Stacks))
			if q.Of != "" {
				a.Flags = q.flagsOfLogs(logged{&e})
			}
		}
		out = append(out, a)
	}
	return out
}

// qualified limits an answer that needs device records if some of them are missing.
func (e *examination) qualified(can, why string) (string, string) {
	switch {
	case e.unusable != nil:
		return No, strings.TrimSuffix(e.unusable.Reason, ".") + "."
	case can == Yes && e.loses:
		return Partly, e.lost.Text() + " have no GPU work. " + why
	}
	return can, why
}

// recordedWith reports whether all inputs state that they were recorded with a setting.
func (e *examination) recordedWith(setting string) bool {
	without := func(in summary.Input) bool { return in.Recorder[setting] != "1" }
	return setting != "" && len(e.Inputs) > 0 && !slices.ContainsFunc(e.Inputs, without)
}

// producers returns the profilers that wrote the inputs: "torch", "xla", "nsys", "rocprofv3" or several.
func producers(s *summary.Summary) (out []string) {
	nsys := func(in summary.Input) bool {
		return strings.HasPrefix(in.Format, "nsys") || strings.HasPrefix(in.Format, "ncu")
	}
	others := func(in summary.Input) bool { return !nsys(in) && !rule.ByROCm(in) && !rule.ByXLA(in) }
	if len(s.Inputs) == 0 || slices.ContainsFunc(s.Inputs, others) {
		out = append(out, "torch")
	}
	if slices.ContainsFunc(s.Inputs, rule.ByXLA) {
		out = append(out, "xla")
	}
	if slices.ContainsFunc(s.Inputs, nsys) {
		out = append(out, "nsys")
	}
	if slices.ContainsFunc(s.Inputs, rule.ByROCm) {
		out = append(out, "rocprofv3")
	}
	return out
}

// flags returns how to record the answer to a question, for each producer. If SGLang or vLLM was
// found, its text replaces that of torch.profiler. Counters are read with the tool of the maker of the GPUs.
func (q *questionEntry) flags(producers []string, stacks []rule.Stack, maker string) (out []Flags) {
	found := func(id string) bool {
		return slices.ContainsFunc(stacks, func(s rule.Stack) bool { return s.ID == id })
	}
	switch maker {
	case "", "nvidia":
		out = append(out, Flags{"ncu", q.NCU})
	case "amd":
		out = append(out, Flags{"rocprof-compute", q.AMD})
	}
	for _, p := range producers {
		switch {
		case p == "nsys":
			out = append(out, Flags{"nsys", q.Nsys})
		case p == "rocprofv3":
			out = append(out, Flags{p, q.ROCm})
		case p == "xla":
			out = append(out, Flags{p, q.XLA})
		case found("sglang") && q.SGLang != "":
			out = append(out, Flags{"SGLang", q.SGLang})
		case found("vllm") && q.VLLM != "":
			out = append(out, Flags{"vLLM", q.VLLM})
		default:
			out = append(out, Flags{"torch.profiler", q.Torch})
		}
	}
	return slices.DeleteFunc(out, func(f Flags) bool { return f.Text == "" })
}
