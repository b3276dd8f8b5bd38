package counters

import (
	"cmp"
	"slices"

	"assay/nsys/ncu"
	"assay/summary"
)

// maxShapesCounted is the number of shapes of a kernel that are counted separately, and maxShapesShown the
// number of them in a row: those with the most launches.
const (
	maxShapesCounted = 1 << 10
	maxShapesShown   = 64
)

// A shape is a grid and a block.
type shape struct{ grid, block ncu.Dim }

// counted has the counts of the launches of one shape. A value that one launch lacks is unknown for the
// shape.
type counted struct {
	launches, bytes float64
	noBytes         bool
	flops           [ncu.Precisions]float64
	noFLOPs         [ncu.Precisions]bool
}

// shape adds the work of a launch to that of its shape.
func (g *group) shape(c *ncu.Capture, l *ncu.Launch) {
	key := shape{l.Grid, l.Block}
	if key.grid.Size() == 0 || key.block.Size() == 0 {
		return
	}
	to := g.counts[key]
	if to == nil {
		if len(g.counts) >= maxShapesCounted {
			return
		}
		to = new(counted)
		g.counts[key] = to
	}
	to.launches += g.count
	n, ok := c.Bytes(l)
	to.bytes, to.noBytes = to.bytes+float64(n*g.count), to.noBytes || !ok || !(n >= 0 && n <= maxInteger)
	for p := range ncu.Precisions {
		n, ok := c.FLOPs(l, p)
		to.flops[p] += float64(n * g.count)
		to.noFLOPs[p] = to.noFLOPs[p] || !ok || !(n >= 0 && n <= maxInteger)
	}
}

// byShape returns the shapes with at least one known count.
func (g *group) byShape() (out []summary.CounterShape) {
	for key, n := range g.counts {
		row := summary.CounterShape{Grid: key.grid, Block: key.block, Launches: integer(n.launches)}
		if !n.noBytes {
			bytes := integer(n.bytes)
			row.DRAMBytes = &bytes
		}
		for p := range ncu.Precisions {
			if n.noFLOPs[p] {
				continue
			}
			if row.FLOPs == nil {
				row.FLOPs = make(map[string]int64)
			}
			row.FLOPs[p.String()] = integer(n.flops[p])
		}
		if row.DRAMBytes != nil || row.FLOPs != nil {
			out = append(out, row)
		}
	}
	slices.SortFunc(out, func(a, b summary.CounterShape) int {
		return cmp.Or(cmp.Compare(b.Launches, a.Launches), slices.Compare(a.Grid[:], b.Grid[:]),
			slices.Compare(a.Block[:], b.Block[:]))
	})
	return out[:min(maxShapesShown, len(out))]
}
