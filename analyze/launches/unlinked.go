package launches

import (
	"cmp"
	"slices"

	"assay/internal/diag"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// hasWork reports whether each of the calls that share the correlation of c has work, although it
// is not known which work belongs to which call.
func (x *callIndex) hasWork(c *trace.Call) bool {
	r := x.rivals[c.Correlation]
	return r != nil && r.work >= len(r.all)
}

// withoutUnlinked removes the launches of kernels whose work is recorded without a correlation. A
// stream runs work in the order of its launches, so each such kernel belongs to the first launch
// before it that has none. The slice is modified in place.
func withoutUnlinked(t *trace.Trace, kinds lossNames, lost []*trace.Call) []*trace.Call {
	var starts []int64 // of kernels without a correlation
	for a := range t.Activities.All() {
		if a.Kind == trace.Kernel && a.Correlation == 0 {
			starts = append(starts, a.Start)
		}
	}
	if len(starts) == 0 {
		return lost
	}
	slices.Sort(starts)
	slices.SortStableFunc(lost, func(a, b *trace.Call) int { return cmp.Compare(a.Start, b.Start) })
	next := 0
	return slices.DeleteFunc(lost, func(c *trace.Call) bool {
		if lossKinds[kinds.of(c.Name)].kind != summary.LossKernel {
			return false
		}
		for next < len(starts) && starts[next] < c.Start-clockSlack {
			next++ // launched before the capture
		}
		if next++; next > len(starts) {
			return false
		}
		return true
	})
}

// noteMixed adds an issue if the calls of a process have so many correlations twice that they are
// those of several captures. A profiler numbers the calls of a process once, so that its work
// cannot be separated from that of the other capture.
func (l *Links) noteMixed(issues *diag.Ledger) {
	<-l.found
	if float64(l.mixed) >= lossShare*float64(l.Called) {
		issues.AddN(diag.Issue{Code: summary.CapturesMixed, Severity: diag.Suspect}, l.mixed)
	}
}

// mixed returns the number of activities whose correlation several calls of one process have, if
// these calls are in captures that overlap in time, and 0 otherwise. Captures that do not overlap
// are linked by time.
func (x *callIndex) mixed(kinds lossNames) (n int64) {
	var copies [2]interval.Span // from the first to the last of the first calls, and of the second
	for _, r := range x.rivals {
		for _, list := range r.byPID {
			if len(list) < 2 || r.work < len(r.all) || kinds.of(list[0].Name) < 0 {
				continue
			}
			for i := range copies {
				start := list[i].Start
				if n == 0 {
					copies[i] = interval.Span{Start: start, End: start}
				}
				copies[i].Start, copies[i].End = min(copies[i].Start, start), max(copies[i].End, start)
			}
			n += int64(r.work)
			break
		}
	}
	if n == 0 || copies[0].End < copies[1].Start {
		return 0
	}
	return n
}
