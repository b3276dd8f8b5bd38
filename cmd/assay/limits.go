package main

import (
	"cmp"

	"assay/internal/membudget"
	"assay/internal/outfile"
	"assay/internal/unit"
	"assay/trace"
)

// limits are the limits for memory and input size.
type limits struct {
	memory membudget.Budget
	input  int64 // bytes of one input, uncompressed; 0 for no limit
}

// defaultMemory is the limit of memory in bytes if --max-memory is not given. It is lower on a
// machine with less memory.
const defaultMemory = 8 << 30

// outOfMemory ends the process because it takes more memory than the limit. It exits with
// outfile.Exit, which removes the temporary files and prevents new ones.
func (r *reading) outOfMemory(resident int64) {
	r.e.say("assay: the inputs take %s of memory, over the limit of %s; raise --max-memory, or name fewer inputs", unit.FineBytes(resident), unit.Bytes(int64(r.limits.memory)))
	outfile.Exit(exitTrouble)
}

// trace returns the limits for reading one trace.
func (l limits) trace() trace.Limits {
	out := trace.LimitsOf(l.memory.Largest())
	out.Input = l.input
	return out
}

// limits returns the limits that the flags set.
func (s *source) limits() limits {
	return limits{membudget.Budget(cmp.Or(s.maxMemory.bytes, defaultMemory)), s.maxInput.bytes}
}
