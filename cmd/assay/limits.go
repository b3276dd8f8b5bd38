package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"assay/internal/membudget"
	"assay/internal/tempfile"
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

// defaultMemory is the value of --max-memory on a machine that has as much.
const defaultMemory = "8GiB"

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
		debug.SetMemoryLimit(int64(b) - int64(b)/16)
	}
}

// watch ends the process if it takes more memory than the budget and a tenth, or
// than the budget and what the program takes by itself. Readers keep to the budget,
// so this is the last resort: where memory runs out, the runtime of Go would end
// the process with a dump. The watch ends with the process.
func (b budget) watch(over func(resident int64)) {
	const every = 20 * time.Millisecond
	most := int64(b) + max(int64(b)/10, minMemory/2)
	go func() {
		for range time.Tick(every) {
			if n, ok := membudget.Resident(); !ok || n <= most {
				continue
			}
			debug.FreeOSMemory() // what is garbage does not count
			if n, ok := membudget.Resident(); ok && n > most {
				over(n)
				return
			}
		}
	}()
}

// outOfMemory ends the process because it takes more memory than it may. It runs
// beside the reading and the writing of results: the temporary files of both are
// removed, and none is made meanwhile.
func (r *reading) outOfMemory(resident int64) {
	r.e.say("assay: the inputs take %s of memory, over the limit of %s; give more with --max-memory SIZE, or name fewer inputs", unit.Bytes(resident), unit.Bytes(int64(r.limits.memory)))
	tempfile.Exit(exitTrouble)
}

// fitted returns the flag's budget, or what the machine allows where that is less,
// and who sets it: "" for the flag.
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
