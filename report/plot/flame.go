package plot

import (
	"math"

	"assay/internal/unit"
)

// A FlameGraph is the trees of the stacks of profiles: a box for each function
// where it was called from, as wide as its share, below the box of its caller.
type FlameGraph struct {
	Panels []FlamePanel
}

// A FlamePanel is the tree of one profile.
type FlamePanel struct {
	Title string
	Boxes []FlameBox // a box before those below it
	Total int64      // the width of the picture
}

// A FlameBox is one function where it was called.
type FlameBox struct {
	Depth int
	Value int64 // the width
	Color Color
	Name  string
}

const (
	flamePitch = 22.0 // from row to row
	flameRows  = 36   // levels of calls that are drawn
	flameText  = 8.0  // between the edges of a box and its name
	flameLeast = 30.0 // width from which on a box has a name
)

func (g FlameGraph) height(*pen) (h float64) {
	for _, f := range g.Panels {
		h += g.head() + flamePitch*float64(f.Rows()) + 6
	}
	return h
}

// head is the room for the title of a panel: one alone needs none.
func (g FlameGraph) head() float64 {
	if len(g.Panels) < 2 {
		return 0
	}
	return titleHeight
}

func (g FlameGraph) draw(c *Canvas, top float64) {
	for _, f := range g.Panels {
		if g.head() > 0 {
			c.text(Margin, top+18, c.fit(f.Title, sizeText, Width-2*Margin), textStyle{bold: true})
		}
		f.draw(c, top+g.head())
		top += g.head() + flamePitch*float64(f.Rows()) + 6
	}
}

// Rows returns how many levels are drawn.
func (f FlamePanel) Rows() int {
	rows := 0
	for _, n := range f.Boxes {
		rows = max(rows, n.Depth+1)
	}
	return min(rows, flameRows)
}

// Deeper is how many levels are not.
func (f FlamePanel) Deeper() int {
	rows := 0
	for _, n := range f.Boxes {
		rows = max(rows, n.Depth+1)
	}
	return rows - min(rows, flameRows)
}

func (f FlamePanel) draw(c *Canvas, top float64) {
	const length = Width - 2*Margin
	next := make([]float64, 1, flameRows+1) // where the next box of each level begins
	for _, n := range f.Boxes {
		if n.Depth < 0 || n.Depth >= len(next) || n.Depth >= flameRows {
			continue
		}
		from := next[n.Depth]
		to := from + float64(max(0, n.Value))
		next[n.Depth] = to
		next = append(next[:n.Depth+1], from)
		x0, x1 := f.x(from, length), f.x(to, length)
		if x1-x0 < 1 {
			continue
		}
		y := top + flamePitch*float64(n.Depth)
		c.rect(x0, y, x1-x0-1, flamePitch-1, n.Color)
		if room := x1 - x0 - flameText; room >= flameLeast {
			c.text(x0+flameText/2, y+flamePitch-7, f.label(c.pen, n, room), textStyle{size: sizeSmall})
		}
	}
}

func (f FlamePanel) x(at float64, length float64) float64 {
	return Margin + math.Floor(length*min(1, at/float64(max(1, f.Total))))
}

// label names a box, with its share where both have room.
func (f FlamePanel) label(p *pen, n FlameBox, room float64) string {
	name := n.Name
	if len(name) > 400 {
		return p.fitHead(name, sizeSmall, room)
	}
	if whole := name + "  " + unit.Share(n.Value, f.Total); p.width(whole, textStyle{size: sizeSmall}) <= room {
		return whole
	}
	return p.fitHead(name, sizeSmall, room)
}
