package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"assay/trace"
	"assay/unit"
)

// limits say how much the inputs may take.
type limits struct {
	memory budget
	input  int64 // bytes of one input, uncompressed; 0 for no limit
}

// A budget is how many bytes of memory the process may take. The shares that
// follow leave a quarter of it for what results and for garbage.
type budget int64

// minMemory is what reading takes by itself.
const minMemory = 64 << 20

// largest is what the largest trace may take.
func (b budget) largest() int64 { return int64(b) / 2 }

// together is what several traces may take before only one of them goes on.
func (b budget) together() int64 { return int64(b) / 8 }

// rows is how many rows each table of one input may have: a row takes some 4 KB
// until it is written as JSON, for which the whole text is put together first.
func (b budget) rows() int { return int(b >> 15) }

// use makes the garbage collector keep to the budget, unless the user has told
// it what to do.
func (b budget) use() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(b))
	}
}

// trace returns the limits of one trace.
func (l limits) trace() trace.Limits {
	out := trace.LimitsOf(l.memory.largest())
	out.Input = l.input
	return out
}

// limits reads the flags.
func (s *source) limits() (limits, error) {
	memory, err := unit.ParseBytes(s.maxMemory)
	switch {
	case err != nil:
		return limits{}, fmt.Errorf("--max-memory: %w", err)
	case memory < minMemory:
		return limits{}, fmt.Errorf("--max-memory is %q, want at least %s", s.maxMemory, unit.Bytes(minMemory))
	case s.maxInput == "":
		return limits{memory: budget(memory)}, nil
	}
	input, err := unit.ParseBytes(s.maxInput)
	switch {
	case err != nil:
		return limits{}, fmt.Errorf("--max-input: %w", err)
	case input < 1:
		return limits{}, fmt.Errorf("--max-input is %q, want at least 1 byte", s.maxInput)
	}
	return limits{budget(memory), input}, nil
}
