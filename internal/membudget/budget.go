package membudget

import (
	"os"
	"runtime/debug"
	"time"
)

// A Budget is the memory limit of the process in bytes. The shares that follow leave a
// quarter of it for results and garbage.
type Budget int64

// Least is the memory that reading needs at least.
const Least = 64 << 20

// Largest is the limit of one trace in bytes.
func (b Budget) Largest() int64 { return int64(b) / 2 }

// Together is the limit of several traces in bytes. Over it only one continues at a time.
func (b Budget) Together() int64 { return int64(b) / 8 }

// Rows is the largest number of rows of each table of one input. A row takes about 4 KB,
// because the whole JSON text is in memory before it is written.
func (b Budget) Rows() int { return int((b - programMemory) >> 15) }

// Stacks is the limit of a profile that is made of a trace, in bytes.
func (b Budget) Stacks() int64 { return int64(b) / 4 }

// programMemory is how much memory the code of the program takes in use. The runtime
// of Go does not count it.
const programMemory = 24 << 20

// Use sets the budget as limit of the garbage collector, unless GOMEMLIMIT is set.
func (b Budget) Use() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(b) - max(int64(b)/16, programMemory))
	}
}

// Watch frees garbage if the process takes more memory than the budget, and calls over if
// it then still takes more than the budget plus a 16th, so that it ends before it takes a
// tenth more. Readers obey the budget, so this is the last
// resort: if memory runs out, the Go runtime ends the process with a dump. The watch ends
// with the process.
func (b Budget) Watch(over func(resident int64)) {
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
			if n, ok := Resident(); !ok || n <= int64(b) {
				continue
			}
			debug.FreeOSMemory()
			if n, ok := Resident(); ok && n > most {
				over(n)
				return
			}
		}
	}()
}

// Fitted returns the smaller of the flag's budget and the machine's limit, and the name
// of the limit that decides: "" for the flag.
func Fitted(flag int64) (Budget, string) {
	if machine, ok := Smallest(); ok && machine.Bytes < flag {
		return Budget(machine.Bytes), machine.By
	}
	return Budget(flag), ""
}
