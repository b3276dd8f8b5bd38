package judge

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"assay/internal/label"
	"assay/summary"
	"assay/unit"
)

// An Answer says whether a capture can answer a question.
type Answer struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	Can      string `json:"can"` // "yes", "partly" or "no"
	Why      string `json:"why"`

	// Flags is how to record so that it can, for each producer of the inputs; empty
	// where it can.
	Flags []Flags `json:"flags,omitempty"`
}

// The answers.
const (
	Yes    = "yes"
	Partly = "partly"
	No     = "no"
)

// Flags are the options of one producer.
type Flags struct {
	Producer string `json:"producer"` // "torch.profiler", "nsys", "SGLang", "vLLM"
	Text     string `json:"text"`
}

// A questionEntry is a question as its file has it.
type questionEntry struct {
	Question string `yaml:"question"`
	Torch    string `yaml:"torch"`
	Nsys     string `yaml:"nsys"`
	SGLang   string `yaml:"sglang"`
	VLLM     string `yaml:"vllm"`
	NCU      string `yaml:"ncu"`
	Setting  string `yaml:"setting"`

	id string
}

// questions returns what questions.yaml says, in its order.
var questions = sync.OnceValue(builtInQuestions)

// Examine says which questions a capture can answer, which it cannot, and how to
// record one that can.
func Examine(s *summary.Summary) (out []Answer) {
	c := evaluator{Summary: s}
	for _, d := range s.Devices {
		c.total = c.total.Plus(d.Activity)
	}
	ask := c.examinations()
	stacks := Stacks(s)
	unusable := evaluate(s, DefaultThresholds()).withReason().Unusable()
	for _, q := range questions() {
		a := Answer{ID: q.id, Question: q.Question}
		a.Can, a.Why = ask[q.id]()
		if slices.Contains(ofDeviceRecords, q.id) {
			a.Can, a.Why = c.qualified(a.Can, a.Why, unusable)
		}
		if a.Can != Yes && c.recordedWith(q.Setting) {
			a.Why += "; it was recorded with " + q.Setting
		} else if a.Can != Yes {
			a.Flags = q.flags(c.producers(), stacks)
		}
		out = append(out, a)
	}
	return out
}

// recordedWith reports whether all inputs say that they were recorded with a
// setting.
func (c *evaluator) recordedWith(setting string) bool {
	return setting != "" && len(c.Inputs) > 0 && !slices.ContainsFunc(c.Inputs, func(in summary.Input) bool { return in.Recorder[setting] != "1" })
}

// examinations has how each question is looked into, by its id.
func (c *evaluator) examinations() map[string]func() (can, why string) {
	return map[string]func() (can, why string){
		"kernels": c.canKernels, "budget": c.canBudget, "idle": c.canIdle, "operators": c.canOperators, "lines": c.canLines,
		"shapes": c.canShapes, "memory": c.canMemory, "steps": c.canSteps, "phases": c.canPhases, "graphs": c.canGraphs,
		"ranks": c.canRanks, "efficiency": c.canEfficiency, "whole": c.canWhole, "clocks": c.canClocks, "complete": c.canComplete, "sharing": c.canShare,
	}
}

// producers returns which profilers the inputs are of: "torch", "nsys" or both.
func (c *evaluator) producers() (out []string) {
	is := func(of func(string) bool) bool {
		return slices.ContainsFunc(c.Inputs, func(in summary.Input) bool { return of(in.Format) })
	}
	nsys := func(format string) bool { return strings.HasPrefix(format, "nsys") || strings.HasPrefix(format, "ncu") }
	if is(func(format string) bool { return !nsys(format) }) || len(c.Inputs) == 0 {
		out = append(out, "torch")
	}
	if is(nsys) {
		out = append(out, "nsys")
	}
	return out
}

// flags returns the options that answer a question, for the producers. A server
// that was found has its own instead of torch.profiler's.
func (q *questionEntry) flags(producers []string, stacks []Stack) (out []Flags) {
	found := func(id string) bool { return slices.ContainsFunc(stacks, func(s Stack) bool { return s.ID == id }) }
	if q.NCU != "" {
		out = append(out, Flags{"ncu", q.NCU})
	}
	for _, p := range producers {
		switch {
		case p == "nsys":
			out = append(out, Flags{"nsys", q.Nsys})
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

// enough is the share from which on a table counts as whole, and some that from
// which on it counts at all.
const enough, some = 0.8, 0.01

// shareAnswer answers by how much of something is known.
func shareAnswer(known, all int64, of string) (can, why string) {
	if all <= 0 {
		return No, "there is no " + of
	}
	why = fmt.Sprintf("known for %s of the %s (%s)", unit.Share(known, all), of, fraction(known, all))
	switch share := float64(known) / float64(all); {
	case share >= enough:
		return Yes, why
	case share >= some:
		return Partly, why
	}
	return No, why
}

// work returns the sum of the durations of all device work.
func (c *evaluator) work() (ns int64) {
	for _, k := range c.Kernels {
		ns = summary.Plus(ns, k.TotalNS)
	}
	return summary.Plus(ns, c.copyWork())
}

func (c *evaluator) canKernels() (can, why string) {
	opaque := int64(0)
	for _, k := range c.Kernels {
		if k.Category == wholeGraph {
			opaque = summary.Plus(opaque, k.TotalNS)
		}
	}
	ofKernels := func(t summary.Table) bool {
		return len(t.Rows) > 0 && slices.Contains([]string{summary.OfKernel, summary.OfDeviceOp}, t.Of)
	}
	switch {
	case opaque > 0:
		return Partly, fmt.Sprintf("%s of GPU time is in CUDA graphs without node trace", unit.Share(opaque, c.work()))
	case len(c.Kernels) > 0:
		return Yes, label.Plural(int64(len(c.Kernels)), "row") + " of kernels"
	case slices.ContainsFunc(c.Tables, ofKernels):
		return Partly, "totals only, no timeline"
	case len(c.Counters) > 0:
		return Partly, "of the profiled launches only"
	}
	return No, "no kernel was recorded"
}

func (c *evaluator) canBudget() (can, why string) {
	events := int64(0)
	for _, d := range c.Devices {
		events = summary.Plus(events, d.Events)
	}
	least, _ := Thresholds{}.Rule(RuleTooLittleWork)
	switch window := c.total.Window(); {
	case window > 0 && events < least.MinEvents:
		return Partly, "too few for meaningful shares: " + label.Plural(events, "GPU event")
	case window > 0:
		return Yes, fmt.Sprintf("%s in windows of %s", label.Plural(events, "GPU event"), unit.Duration(window))
	case len(c.Tables) > 0:
		return No, "totals have no timeline"
	}
	return No, "no GPU event has a time"
}

func (c *evaluator) canIdle() (can, why string) {
	idle := c.total.Idle()
	switch {
	case c.total.Window() == 0:
		return No, "there is no timeline"
	case idle == 0:
		return Yes, "it was never idle"
	}
	known, vague := int64(0), int64(0)
	for _, r := range c.Idle {
		switch {
		case r.Owner == summary.OwnerUnknown || r.Owner == summary.OwnerOpaque:
		case r.State == summary.StateUnrecorded:
			vague = summary.Plus(vague, r.NS)
		default:
			known = summary.Plus(known, r.NS)
		}
	}
	can, why = shareAnswer(known, idle, "idle time")
	if vague > 0 {
		why += fmt.Sprintf("; for %s only host wait is known, not its state", unit.Share(vague, idle))
	}
	if can == No && vague > idle/2 {
		can = Partly
	}
	return can, why
}

func (c *evaluator) canOperators() (can, why string) {
	known := int64(0)
	for _, o := range c.Ops {
		known = summary.Plus(known, o.GPUSelfNS)
	}
	switch {
	case len(c.Ops) == 0 && slices.ContainsFunc(c.Tables, func(t summary.Table) bool { return t.Of == summary.OfOp && len(t.Rows) > 0 }):
		return Yes, "a table of operators has it"
	case len(c.Ops) == 0:
		return No, "no operator was recorded"
	}
	return shareAnswer(min(known, c.work()), c.work(), "GPU work")
}

func (c *evaluator) canLines() (can, why string) {
	known := int64(0)
	for _, l := range c.Lines {
		known = summary.Plus(known, l.GPUSelfNS)
	}
	modules := int64(0)
	for _, m := range c.Modules {
		modules = summary.Plus(modules, m.GPUSelfNS)
	}
	switch {
	case len(c.Lines)+len(c.Modules) == 0 && len(c.Flames) > 0:
		return Yes, "a profile with stacks has it"
	case len(c.Lines)+len(c.Modules) == 0:
		return No, "no stack was recorded"
	}
	can, why = shareAnswer(min(max(known, modules), c.work()), c.work(), "GPU work")
	return can, why + fmt.Sprintf("; %s and %s", label.Plural(int64(len(c.Modules)), "module"), label.Plural(int64(len(c.Lines)), "line"))
}

func (c *evaluator) canShapes() (can, why string) {
	with := int64(0)
	for _, o := range c.Ops {
		if o.Shapes > 0 {
			with++
		}
	}
	for _, t := range c.Tables {
		for _, r := range t.Rows {
			if r.Labels["shapes"] != "" {
				return Yes, "a table has them"
			}
		}
	}
	if with == 0 {
		return No, "no operator has its shapes"
	}
	return Yes, label.Plural(with, "operator") + " have them"
}

func (c *evaluator) canMemory() (can, why string) {
	switch {
	case len(c.Snapshots)+len(c.MemoryTimelines) > 0:
		return Yes, label.Plural(int64(len(c.Snapshots)+len(c.MemoryTimelines)), "snapshot or timeline of memory")
	case slices.ContainsFunc(c.Memory, func(m summary.Memory) bool { return m.PeakAllocated != nil }):
		return Yes, "allocations and their operators"
	case len(c.Memory) > 0:
		return Partly, "allocations, without the memory allocated before"
	}
	return No, "no allocation was recorded"
}

func (c *evaluator) canSteps() (can, why string) {
	seen := map[int64]bool{}
	for _, s := range c.Steps {
		seen[s.Number] = true
	}
	switch n := int64(len(seen)); {
	case n >= 3:
		return Yes, label.Plural(n, "step")
	case n > 0:
		return Partly, label.Plural(n, "step") + ", at least 3 are needed"
	}
	return No, "no step was marked"
}

func (c *evaluator) canPhases() (can, why string) {
	var own []string
	for _, a := range c.Annotations {
		if !strings.HasPrefix(a.Name, "ProfilerStep") {
			own = append(own, a.Name)
		}
	}
	switch {
	case len(own) > 0:
		return Yes, fmt.Sprintf("%s, for example %q", label.Plural(int64(len(own)), "kind")+" of annotations", short(own[0]))
	case slices.ContainsFunc(c.Tables, func(t summary.Table) bool { return t.Of == summary.OfRange && len(t.Rows) > 0 }):
		return Yes, "a table of ranges has them"
	}
	return No, "the program marked none"
}
