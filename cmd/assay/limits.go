package main

import (
	"cmp"
	"fmt"

	"assay/internal/membudget"
	"assay/internal/outfile"
	"assay/internal/unit"
	"assay/trace"
)

// limits has the limits for memory and input size.
type limits struct {
	memory membudget.Budget
	input  int64 // bytes of one input, uncompressed; 0 for no limit
}

// defaultMemory is the value of --max-memory, if the machine has that much.
const defaultMemory = "8GiB"

// outOfMemory ends the process because it takes more memory than the limit. No file is
// created while outfile.Exit removes the temporary files.
func (r *reading) outOfMemory(resident int64) {
	r.e.say("assay: the inputs take %s of memory, over the limit of %s; raise --max-memory, or name fewer inputs", unit.FineBytes(resident), unit.Bytes(int64(r.limits.memory)))
	outfile.Exit(exitTrouble)
}

// trace returns the limits of one trace.
func (l limits) trace() trace.Limits {
	out := trace.LimitsOf(l.memory.Largest())
	out.Input = l.input
	return out
}

// limits reads the flags.
func (s *source) limits() (limits, error) {
	memory, err := unit.ParseBytes(cmp.Or(s.maxMemory, defaultMemory))
	switch {
	case err != nil:
		return limits{}, fmt.Errorf("--max-memory: %w", err)
	case memory < membudget.Least:
		return limits{}, fmt.Errorf("--max-memory is %q, want at least %s", s.maxMemory, unit.FineBytes(membudget.Least))
	case s.maxInput == "":
		return limits{memory: membudget.Budget(memory)}, nil
	}
	input, err := unit.ParseBytes(s.maxInput)
	switch {
	case err != nil:
		return limits{}, fmt.Errorf("--max-input: %w", err)
	case input < 1:
		return limits{}, fmt.Errorf("--max-input is %q, want at least 1 byte", s.maxInput)
	}
	return limits{membudget.Budget(memory), input}, nil
}
