package summary

import "fmt"

// A Compilation is one compilation of a function by torch.compile, as its log (TORCH_TRACE) has it. (Input, ID) is its
// key.
type Compilation struct {
	Input    int    `json:"input"`
	Rank     int    `json:"rank"`
	ID       string `json:"id"` // number of the frame and of its compilation, as PyTorch writes them: "0/1"
	Function string `json:"function"`
	File     string `json:"file,omitempty"`
	Line     int64  `json:"line,omitempty"`
	// Again is the number of earlier compilations of the same frame. Guard is the check of an earlier one that
	// failed, and GuardKind what it is about: a constant below.
	Again     int64  `json:"again"`
	Guard     string `json:"guard,omitempty"`
	GuardKind string `json:"guard_kind,omitempty"`

	StartNS    int64 `json:"start_ns,omitempty"` // Unix time
	WallNS     int64 `json:"wall_ns"`
	BackendNS  int64 `json:"backend_ns,omitempty"`  // part of WallNS
	InductorNS int64 `json:"inductor_ns,omitempty"` // part of BackendNS
	TritonNS   int64 `json:"triton_ns,omitempty"`   // part of InductorNS

	Breaks      []GraphBreak `json:"breaks,omitempty"`
	CacheHits   int64        `json:"cache_hits,omitempty"`   // of caches of compiled code
	CacheMisses int64        `json:"cache_misses,omitempty"` // of the same
	Failed      string       `json:"failed,omitempty"`       // kind of error
	Unfinished  bool         `json:"unfinished,omitempty"`   // the log ends before it

	// Step is the step of a timeline, of the same rank, in which most of it was; nil if none is known.
	Step *CompiledStep `json:"step,omitempty"`
}

// A GraphBreak is a place at which torch.compile divides a function.
type GraphBreak struct {
	Reason string `json:"reason,omitempty"`
	Kind   string `json:"kind"` // a constant below
	File   string `json:"file,omitempty"`
	Line   int64  `json:"line,omitempty"`
}

// A CompiledStep is a step in which something was compiled.
type CompiledStep struct {
	Name   string `json:"name"`
	WallNS int64  `json:"wall_ns"`
	// InNS is the part of the compilation that is in the step.
	InNS int64 `json:"in_ns"`
}

// Values of [Compilation.GuardKind].
const (
	GuardSize  = "size"  // of a tensor
	GuardValue = "value" // of a Python number or text
	GuardOther = "other"
)

// Values of [GraphBreak.Kind].
const (
	BreakData  = "data"  // control flow depends on data, or a value is read from a tensor
	BreakOther = "other" // what the compiler does not support
)

func (c *Compilation) check() error {
	if c.WallNS < 0 || c.Again < 0 || c.StartNS < 0 {
		return fmt.Errorf(".wall_ns: a number is negative")
	}
	return nil
}
