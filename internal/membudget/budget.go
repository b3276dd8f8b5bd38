package membudget

import (
	"os"
	"runtime/debug"
	"time"
)

// A Budget is the memory limit of the process in bytes. Its shares, below, leave a quarter of it for
// results and garbage.
type Budget int64

// Least is the smallest useful budget, in bytes.
const Least = 64 << 20

// Largest returns the limit of one trace, in bytes.
func (b Budget) Largest() int64 { return int64(b) / 2 }

// Together returns the limit, in bytes, of several traces that are read at the same time. Over it,
// only one continues.
func (b Budget) Together() int64 { return int64(b) / 8 }

// Rows returns the maximum number of rows of each table of an input. A row takes about 4 KB, because
// the whole JSON text is in memory before it is written.
func (b Budget) Rows() int { return int((b - programMemory) >> 15) }

// Stacks returns the limit of a profile made of a trace, in bytes.
func (b Budget) Stacks() int64 { return int64(b) / 4 }

// programMemory is the resident memory of the program's code at start, in bytes. The Go runtime
// does not count it. It grows as more of the code is used, to at most mostProgram.
const (
	programMemory = 24 << 20
	mostProgram   = 40 << 20
)

// Use sets the budget as the memory limit of the Go runtime, unless GOMEMLIMIT is set.
func (b Budget) Use() { b.use(programMemory) }

func (b Budget) use(program int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(b) - max(int64(b)/16, program))
	}
}

// Watch collects garbage if the process takes more memory than the budget. If it still takes more
// than the budget plus a 16th, or more than a 12th over it before the collection ends, Watch calls
// over, which should end the process. Readers respect the budget, so this is the last resort before
// the Go runtime runs out of memory and dumps its stacks. As more of the program's code becomes
// resident, Watch lowers the memory limit of the Go runtime. The watch runs until the process ends.
func (b Budget) Watch(over func(resident int64)) {
	budget := int64(b)
	every := 20 * time.Millisecond
	switch { // a tenth of it is allocated faster
	case b < 256<<20:
		every = time.Millisecond
	case b < 1<<30:
		every = 3 * time.Millisecond
	}
	go func() {
		collected := make(chan struct{}, 1)
		collecting := false
		program := int64(programMemory)
		tick := time.Tick(every)
		for {
			most := budget
			select {
			case <-tick:
				if collecting { // readers still allocate
					most += budget / 12
				}
			case <-collected:
				collecting = false
				most += budget / 16
			}
			n, files, ok := Resident()
			if code := min(files, mostProgram); code > program+1<<20 {
				program = code
				b.use(program)
			}
			switch {
			case !ok || n <= most:
			case most > budget:
				over(n)
				return
			default:
				collecting = true
				go func() {
					debug.FreeOSMemory()
					collected <- struct{}{}
				}()
			}
		}
	}()
}

// Fitted returns the smaller of the flag's budget and the machine's limit, and the name of
// the machine's limit if that is the smaller, "" otherwise.
func Fitted(flag int64) (Budget, string) {
	if machine, ok := Smallest(); ok && machine.Bytes < flag {
		return Budget(machine.Bytes), machine.By
	}
	return Budget(flag), ""
}
