package memory

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/summary"
	"assay/torchprof/memory"
)

// stepName matches the names of step markers: ProfilerStep#7 of PyTorch's profiler, and common names
// in programs.
var stepName = lazyregexp.New(`^(?:ProfilerStep#\d+|(?i:(?:train|training|eval)?[ _-]?(?:step|iteration|iter)[ _#:-]?\d+))$`)

// maxMemorySteps is the maximum number of steps per device.
const maxMemorySteps = 1000

// steps measures what the allocator did in each step that the program marked.
func (r *replay) steps(w *walked) (out []summary.MemoryStep) {
	if r.times == nil {
		return nil
	}
	first := int64(0)
	if len(r.older) > 0 {
		first = r.times[0] // the entries of a step that began earlier may be gone
	}
	var spans []summary.MemoryStep
	begun := make(map[string]int64)
	for _, a := range r.m.Annotations {
		if a.Device != r.d.Number || !stepName().MatchString(a.Name) {
			continue
		}
		start, ok := begun[a.Name]
		switch {
		case !a.End && len(begun) < maxMemorySteps:
			begun[a.Name] = a.Time
		case a.End && ok && a.Time >= start:
			delete(begun, a.Name)
			spans = append(spans, summary.MemoryStep{Name: a.Name, StartNS: start, NS: a.Time - start})
		}
	}
	slices.SortStableFunc(spans, func(a, b summary.MemoryStep) int { return cmp.Compare(a.StartNS, b.StartNS) })
	over, end := 0, int64(0)
	for _, s := range spans {
		// Count each entry once: of overlapping steps, use the first.
		if s.StartNS < max(end, first) || len(out) == maxMemorySteps {
			over++
			continue
		}
		r.step(w, &s)
		out, end = append(out, s), s.StartNS+s.NS
	}
	if over > 0 {
		r.issues.AddN(diag.Issue{Code: "memory-steps-left-out", Severity: diag.Info,
			Help: fmt.Sprintf("Steps that began before the history or overlap an earlier step, and those after the first %d, were left out.", maxMemorySteps)}, int64(over))
	}
	return out
}

// step counts the entries of a step, and finds their peak.
func (r *replay) step(w *walked, s *summary.MemoryStep) {
	from, end := sort.Search(len(r.times), func(i int) bool { return r.times[i] >= s.StartNS }), s.StartNS+s.NS
	s.Start = r.olderSum
	if from > 0 {
		s.Start = w.liveAt[from-1]
	}
	s.Peak = s.Start
	for i := from; i < len(r.times) && r.times[i] < end; i++ {
		switch r.d.Entries[i].Action {
		case memory.Alloc:
			s.Allocs++
		case memory.SegmentAlloc, memory.SegmentMap:
			s.SegmentAllocs++
		case memory.SegmentFree, memory.SegmentUnmap:
			s.SegmentFrees++
		}
		s.Peak = max(s.Peak, w.liveAt[i])
	}
}

// warmUp is the number of first steps that growth leaves out, because the optimizer allocates its
// state and caches fill up.
const warmUp = 2

// growth compares the live memory at the starts of the first and the last step after the warm-up, by
// allocation site. It returns nil if there are fewer than two such steps.
func (r *replay) growth(steps []summary.MemoryStep) *summary.MemoryGrowth {
	if len(steps) < warmUp+2 {
		return nil
	}
	first, last := steps[warmUp], steps[len(steps)-1]
	g := &summary.MemoryGrowth{From: first.Name, To: last.Name, Steps: int64(len(steps) - warmUp - 1),
		Bytes: summary.Plus(last.Start, -first.Start)}
	for i := warmUp + 1; i < len(steps); i++ {
		g.Fell = g.Fell || steps[i].Start < steps[i-1].Start
	}
	before, after := r.liveAt(r.lastBefore(first.StartNS)), r.liveAt(r.lastBefore(last.StartNS))
	for n, sum := range after.byOwner {
		o := summary.Owner{Kind: r.owners.list[n].kind, Frame: r.owners.list[n].frame, Bytes: sum.bytes, Count: sum.count}
		if was := before.byOwner[n]; was != nil {
			o.Bytes, o.Count = summary.Plus(o.Bytes, -was.bytes), o.Count-was.count
		}
		if o.Bytes > 0 {
			o.Stack = r.owners.stackText(sum.largest.stack)
			g.Owners = append(g.Owners, o)
		}
	}
	slices.SortFunc(g.Owners, func(a, b summary.Owner) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Kind, b.Kind))
	})
	g.Owners = slices.Clone(g.Owners[:min(len(g.Owners), maxGrown)])
	return g
}

// maxGrown is the maximum number of growing allocation sites to report.
const maxGrown = 5

// lastBefore returns the last entry before a time, or -1.
func (r *replay) lastBefore(ns int64) int32 {
	return int32(sort.Search(len(r.times), func(i int) bool { return r.times[i] >= ns })) - 1
}
