package whatif

import (
	"fmt"
	"iter"

	"assay/trace"
)

// copied returns which trace is a copy of that of another rank, or "": its GPU work has the same times to the
// nanosecond. A program whose kernels always take the same time tells nothing, because no real one does.
func copied(inputs []Input) string {
	for i := range inputs {
		for j := range inputs[:i] {
			if sameTimes(inputs[i].Trace, inputs[j].Trace) {
				return fmt.Sprintf("the file of rank %d has all times of that of rank %d, so it is a copy with another rank", inputs[i].Rank, inputs[j].Rank)
			}
		}
	}
	return ""
}

// sameTimes reports whether the GPU work of two traces has the same times, and varies.
func sameTimes(a, b *trace.Trace) bool {
	if a.Activities.Len() != b.Activities.Len() || a.Activities.Len() == 0 {
		return false
	}
	first, varies := map[trace.Sym]int64{}, false
	next, stop := iter.Pull(b.Activities.All())
	defer stop()
	for x := range a.Activities.All() {
		y, ok := next()
		if !ok || x.Start != y.Start || x.Dur != y.Dur {
			return false
		}
		if dur, ok := first[x.Name]; ok && dur != x.Dur {
			varies = true
		} else if !ok {
			first[x.Name] = x.Dur
		}
	}
	return varies
}
