package memory

import (
	"math"

	"assay/summary"
	"assay/torchprof/memory"
)

// A release is a run of entries in which the allocator gave segments back to the driver.
type release struct {
	count, bytes int64
	wanted       int64 // reserved before, and the memory that the entry behind the run asked the driver for
}

// retries returns how many segments were released because an allocation did not fit, and their bytes. The allocator
// releases what it does not use before it fails or tries once more; programs do not ask for that. A failed allocation
// proves how much could not be reserved: a run of releases is counted if what was wanted after it is at least as much.
func (r *replay) retries() (count, bytes int64) {
	limit := int64(math.MaxInt64)
	var runs []release
	reserved, run := r.reserved, release{}
	for i := range r.d.Entries {
		e := &r.d.Entries[i]
		change := e.Reserves()
		if change < 0 {
			if run.count == 0 {
				run.wanted = reserved
			}
			run.count, run.bytes = run.count+1, summary.Plus(run.bytes, -change)
		}
		reserved = summary.Plus(reserved, change)
		failed := e.Action == memory.OutOfMemory
		if failed {
			limit = min(limit, summary.Plus(reserved, e.Size))
		}
		if run.count > 0 && (failed || change > 0) {
			run.wanted = summary.Plus(run.wanted, max(change, e.Size))
			runs = append(runs, run)
		}
		if change >= 0 {
			run = release{}
		}
	}
	for _, run := range runs {
		if run.wanted >= limit {
			count, bytes = count+run.count, summary.Plus(bytes, run.bytes)
		}
	}
	return count, bytes
}
