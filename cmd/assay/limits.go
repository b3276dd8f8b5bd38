package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"assay/internal/membudget"
	"assay/internal/tempfile"
	"assay/summary"
	"assay/trace"
	"assay/unit"
)

// limits has the limits for memory and input size.
type limits struct {
	memory budget
	input  int64 // bytes of one input, uncompressed; 0 for no limit
}

// A budget is the memory limit of the process in bytes. The shares that follow leave a
// quarter of it for results and garbage.
type budget int64

// minMemory is the memory that reading needs at least.
const minMemory = 64 << 20

// defaultMemory is the value of --max-memory, if the machine has that much.
const defaultMemory = "8GiB"

// largest is the limit of one trace in bytes.
func (b budget) largest() int64 { return int64(b) / 2 }

// together is the limit of several traces in bytes. Over it only one continues at a time.
func (b budget) together() int64 { return int64(b) / 8 }

// rows is the largest number of rows of each table of one input. A row takes about 4 KB,
// because the whole JSON text is in memory before it is written.
func (b budget) rows() int { return int((b - programMemory) >> 15) }

// spans is the largest number of operations of the details of a run.
func (b budget) spans() int { return min(summary.MaxRunSpans, 4*b.rows()) }

// stacks is the limit of a profile that is made of a trace, in bytes.
func (b budget) stacks() int64 { return int64(b) / 4 }

// programMemory is how much memory the code of the program takes in use. The runtime
// of Go does not count it.
const programMemory = 24 << 20

// use sets the budget as limit of the garbage collector, unless GOMEMLIMIT is set.
func (b budget) use() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(b) - max(int64(b)/16, programMemory))
	}
}

// watch frees garbage if the process takes more memory than the budget, and calls over if
// it then still takes more than the budget plus a 16th, so that it ends before it takes a
// tenth more. Readers obey the budget, so this is the last
// resort: if memory runs out, the Go runtime ends the process with a dump. The watch ends
// with the process.
func (b budget) watch(over func(resident int64)) {
	most := int64(b) + int64(b)/16
	every := 20 * time.Millisecond
	switch { // a tenth of it is allocated faster
	case b < 256<<20:
		every = time.Millisecond
	case b < 1<<30:
		every = 3 * time.Millisecond
	}
	go func() {
		for range time.Tick(every) {
			if n, ok := membudget.Resident(); !ok || n <= int64(b) {
				continue
			}
			debug.FreeOSMemory()
			if n, ok := membudget.Resident(); ok && n > most {
				over(n)
				return
			}
		}
	}()
}

// outOfMemory ends the process because it takes more memory than the limit. No file is
// created while tempfile.Exit removes the temporary files.
func (r *reading) outOfMemory(resident int64) {
	r.e.say("assay: the inputs take %s of memory, over the limit of %s; raise --max-memory, or name fewer inputs", unit.FineBytes(resident), unit.Bytes(int64(r.limits.memory)))
	tempfile.Exit(exitTrouble)
}

// fitted returns the smaller of the flag's budget and the machine's limit, and the name
// of the limit that decides: "" for the flag.
func fitted(flag int64) (budget, string) {
	if machine, ok := membudget.Smallest(); ok && machine.Bytes < flag {
		return budget(machine.Bytes), machine.By
	}
	return budget(flag), ""
}

// trace returns the limits of one trace.
func (l limits) trace() trace.Limits {
	out := trace.LimitsOf(l.memory.largest())
	out.Input = l.input
	return out
}

// limits reads the flags.
func (s *source) limits() (limits, error) {
	memory, err := unit.ParseBytes(cmp.Or(s.maxMemory, defaultMemory))
	switch {
	case err != nil:
		return limits{}, fmt.Errorf("--max-memory: %w", err)
	case memory < minMemory:
		return limits{}, fmt.Errorf("--max-memory is %q, want at least %s", s.maxMemory, unit.FineBytes(minMemory))
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
