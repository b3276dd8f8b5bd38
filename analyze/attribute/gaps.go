package attribute

import (
	"iter"

	"assay/analyze/gpu"
	"assay/analyze/linking"
	"assay/interval"
	"assay/summary"
	"assay/trace"
)

// A gap is a stretch of a device's window in which nothing ran.
type gap struct {
	span          interval.Span
	all           interval.Span   // it, and what of it lies outside the window of the trace
	before, after *trace.Activity // what ran last and next
	link          int32           // of after, or -1
	beforeLink    int32           // of before, or -1
	mark          gapMark
}

// gapsOf returns the gaps of a device in order.
func gapsOf(tl *gpu.Timeline, d *gpu.Device, l *linking.Links) iter.Seq[gap] {
	return func(yield func(gap) bool) {
		var before *trace.Activity
		beforeLink, at := int32(-1), 0
		edge := tl.EdgeOf(d)
		if edge.Known {
			before, beforeLink = tl.Activity(edge.Before), l.Of[edge.Before.Number]
		}
		for piece := range d.Gaps() {
			g := gap{span: piece, link: -1, mark: markOf(-1, piece.Len() < summary.ShortGapNS)}
			for ; at < len(d.Work) && d.Work[at].Start < piece.End; at++ {
				if w := d.Work[at]; before == nil || w.End() >= before.End() {
					before, beforeLink = tl.Activity(w), l.Of[w.Number]
				}
			}
			g.before, g.beforeLink = before, beforeLink
			for next := at; next < len(d.Work) && d.Work[next].Start == piece.End; next++ {
				g.precedes(tl, l, d.Work[next])
			}
			g.all = edge.Whole(d, piece)
			if g.after == nil {
				for _, w := range edge.After {
					g.precedes(tl, l, w)
				}
			}
			if !yield(g) {
				return
			}
		}
	}
}

// precedes notes work that starts at the end of the gap. Of several the one that was
// launched first ends it.
func (g *gap) precedes(tl *gpu.Timeline, l *linking.Links, w gpu.Work) {
	i := l.Of[w.Number]
	if g.after == nil || i >= 0 && (g.link < 0 || l.Start(i) < l.Start(g.link)) {
		g.after, g.link = tl.Activity(w), i
	}
}
