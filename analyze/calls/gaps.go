package calls

import (
	"iter"

	"assay/analyze/gpu"
	"assay/analyze/launches"
	"assay/internal/interval"
	"assay/trace"
)

// A Gap is a span of a device's window in which nothing ran.
type Gap struct {
	interval.Span
	All           interval.Span   // the whole gap, with its part outside the window of the trace
	Before, After *trace.Activity // the work that ended last before it and that starts at its end; may be nil
	Link          int32           // link of After, or -1
	BeforeLink    int32           // link of Before, or -1
}

// Gaps returns the gaps of a device in the order of time.
func (c *Calls) Gaps(d *gpu.Device) iter.Seq[Gap] {
	tl, l := c.tl, c.links
	return func(yield func(Gap) bool) {
		var before *trace.Activity
		beforeLink, at := int32(-1), 0
		edge := tl.EdgeOf(d)
		if edge.Known {
			before, beforeLink = tl.Activity(edge.Before), l.Of[edge.Before.Number]
		}
		for piece := range d.Gaps() {
			g := Gap{Span: piece, Link: -1}
			for ; at < len(d.Work) && d.Work[at].Start < piece.End; at++ {
				if w := d.Work[at]; before == nil || w.End() >= before.End() {
					before, beforeLink = tl.Activity(w), l.Of[w.Number]
				}
			}
			g.Before, g.BeforeLink = before, beforeLink
			for next := at; next < len(d.Work) && d.Work[next].Start == piece.End; next++ {
				g.precedes(tl, l, d.Work[next])
			}
			g.All = edge.Whole(d, piece)
			if g.After == nil {
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

// precedes adds work that starts at the end of the gap. Of several, the one that was launched first
// becomes After.
func (g *Gap) precedes(tl *gpu.Timeline, l *launches.Links, w gpu.Work) {
	i := l.Of[w.Number]
	if g.After == nil || i >= 0 && (g.Link < 0 || l.Start(i) < l.Start(g.Link)) {
		g.After, g.Link = tl.Activity(w), i
	}
}
