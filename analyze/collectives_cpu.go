package analyze

import (
	"cmp"
	"slices"
	"strings"

	"assay/analyze/ranks/collective"
	"assay/summary"
	"assay/trace"
)

// collectivesOnCPU returns the collectives that the CPU ran, in the order of their starts, or nil if there are
// none. Their ranges include the wait for other ranks, as kernels of collectives do.
func collectivesOnCPU(t *trace.Trace) *collective.Columns {
	base := int64(0)
	if t.Meta.BaseTime != nil {
		base = *t.Meta.BaseTime
	}
	group := collective.Group{Local: true}
	if len(t.Meta.Groups) == 1 {
		group.Size = t.Meta.Groups[0].Size
	}
	out := &collective.Columns{Groups: []collective.Group{group}}
	whats := make(map[collective.What]uint32)
	for s := range t.Spans.All() {
		if s.Kind != trace.Annotation || t.Tracks[s.Track].OnDevice || !collective.OnCPU(t.Name(s.Name)) || len(out.Runs) == maxCollectives {
			continue
		}
		out.Groups[0].Name, _, _ = strings.Cut(t.Name(s.Name), ":")
		what := collective.What{Op: collective.OpOf(t.Name(s.Name)), In: -1, Out: -1, Peer: -1}
		start := summary.Plus(base, s.Start)
		out.Runs = append(out.Runs, collective.Run{Start: start, End: summary.Plus(start, s.Dur), Seq: collective.NoSeq,
			Queued: collective.NoQueue, What: number(whats, &out.Whats, what)})
	}
	if len(out.Runs) == 0 {
		return nil
	}
	slices.SortStableFunc(out.Runs, func(a, b collective.Run) int { return cmp.Compare(a.Start, b.Start) })
	out.Groups[0].Name = strings.Clone(out.Groups[0].Name)
	return out
}
