package plot

import (
	"math"

	"assay/internal/unit"
)

// A FlameGraph shows the call trees of profiles: a box for each function in each call path, as wide
// as its share, below the box of its caller.
type FlameGraph struct {
	Panels []FlamePanel
}

// A FlamePanel is the tree of one profile.
type FlamePanel struct {
	Title string
	Boxes []FlameBox // callers before their callees
	Total int64      // value of the full width
}

// A FlameBox is one function in one call path.
type FlameBox struct {
	Depth int
	Value int64 // the width
	Color Color
	Name  string
}

const (
	flamePitch = 22.0 // from row to row
	flameRows  = 36   // maximum number of levels that are drawn
	flameText  = 8.0  // distance between the edges of a box and its name
	flameLeast = 30.0 // smallest width of a box with a name
)

func (g FlameGraph) height(*pen) (h float64) {
	for _, f := range g.Panels {
		h += g.head() + flamePitch*float64(f.Rows()) + 6
	}
	return h
}

// head returns the height of the title of a panel. A single panel has no title.
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

// Rows returns the number of levels that are drawn.
func (f FlamePanel) Rows() int {
	rows := 0
	for _, n := range f.Boxes {
		rows = max(rows, n.Depth+1)
	}
	return min(rows, flameRows)
}

// Deeper returns the number of levels that are too deep to draw.
func (f FlamePanel) Deeper() int {
	rows := 0
	for _, n := range f.Boxes {
		rows = max(rows, n.Depth+1)
	}
	return rows - min(rows, flameRows)
}

func (f FlamePanel) draw(c *Canvas, top float64) {
	const length = Width - 2*Margin
	next := make([]float64, 1, flameRows+1) // start of the next box of each level
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
		if space := x1 - x0 - flameText; space >= flameLeast {
			c.text(x0+flameText/2, y+flamePitch-7, f.label(c.pen, n, space), textStyle{size: sizeSmall})
		}
	}
}

func (f FlamePanel) x(at float64, length float64) float64 {
	return Margin + math.Floor(length*min(1, at/float64(max(1, f.Total))))
}

// label returns the name of a box, with its share if both fit.
func (f FlamePanel) label(p *pen, n FlameBox, space float64) string {
	name := n.Name
	if len(name) > 400 {
		return p.fitHead(name, sizeSmall, space)
	}
	if whole := name + "  " + unit.Share(n.Value, f.Total); p.width(whole, textStyle{size: sizeSmall}) <= space {
		return whole
	}
	return p.fitHead(name, sizeSmall, space)
}
