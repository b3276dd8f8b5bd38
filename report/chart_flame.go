package report

import (
	"fmt"
	"hash/fnv"
	"math"
	"strings"

	"assay/summary"
	"assay/unit"
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

// flameColors are muted, and light enough for dark text.
func flameColors() []Color {
	return []Color{0xf2c6a0, 0xe9b7a4, 0xf0d9a0, 0xd9c7a8, 0xe6c1bd, 0xc9d0a6, 0xf3d5bd, 0xd8bfae, 0xb9cdb6, 0xc4c9d8}
}

// colorOthers is that of the boxes of several functions.
const colorOthers Color = 0xe6e6e6

func (g FlameGraph) height(*pen) (h float64) {
	for _, f := range g.Panels {
		h += g.head() + flamePitch*float64(f.rows()) + 6
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

func (g FlameGraph) draw(c *canvas, top float64) {
	for _, f := range g.Panels {
		if g.head() > 0 {
			c.text(margin, top+18, c.fit(f.Title, sizeText, ChartWidth-2*margin), textStyle{bold: true})
		}
		f.draw(c, top+g.head())
		top += g.head() + flamePitch*float64(f.rows()) + 6
	}
}

// rows is how many levels are drawn.
func (f FlamePanel) rows() int {
	rows := 0
	for _, n := range f.Boxes {
		rows = max(rows, n.Depth+1)
	}
	return min(rows, flameRows)
}

// deeper is how many levels are not.
func (f FlamePanel) deeper() int {
	rows := 0
	for _, n := range f.Boxes {
		rows = max(rows, n.Depth+1)
	}
	return rows - min(rows, flameRows)
}

func (f FlamePanel) draw(c *canvas, top float64) {
	const length = ChartWidth - 2*margin
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
	return margin + math.Floor(length*min(1, at/float64(max(1, f.Total))))
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

// flameName is a name without directories.
func flameName(n summary.FlameNode) string {
	if n.Others > 0 {
		return plural(n.Others, "more function")
	}
	name := shortLine(clean(n.Name))
	// Go's names begin with the path of a module: "net/http.(*conn).serve".
	end := len(name)
	if i := strings.IndexAny(name, "[(<{ "); i >= 0 {
		end = i
	}
	if i := strings.LastIndexByte(name[:end], '/'); i > 0 && strings.Contains(name[i:end], ".") {
		name = name[i+1:]
	}
	if strings.TrimSpace(name) == "" {
		return "(no name)"
	}
	return name
}

// flameColor gives the functions of one file or package one colour.
func flameColor(n summary.FlameNode) Color {
	if n.Others > 0 {
		return colorOthers
	}
	key := n.File
	if key == "" {
		key = n.Name
		if i := strings.IndexAny(key, "(<:"); i > 0 {
			key = key[:i]
		}
		if i := strings.LastIndexAny(key, "./"); i > 0 {
			key = key[:i]
		}
	}
	h := fnv.New32a()
	h.Write([]byte(key))
	colors := flameColors()
	return colors[h.Sum32()%uint32(len(colors))]
}

// fitHead cuts s at its end until it is at most limit pixels wide.
func (p *pen) fitHead(s string, size, limit float64) string {
	const narrowest = 2.5 // pixels of a character; names may be of any length
	s = headOf(s, int(limit/narrowest))
	cut := s
	for columns := width(s); columns > 1 && p.width(cut, textStyle{size: size}) > limit; {
		columns = min(columns-1, columns*9/10+1)
		cut = headOf(s, columns)
	}
	return cut
}

// mostFlames is how many trees one picture has.
const mostFlames = 3

func flameChart(s *summary.Summary) (Chart, bool) {
	var g FlameGraph
	left, deeper := 0, 0
	for _, f := range s.Flames {
		if f.Total <= 0 || len(f.Nodes) == 0 {
			continue
		}
		if len(g.Panels) == mostFlames {
			left++
			continue
		}
		panel := FlamePanel{Title: flameTotal(f), Total: f.Total}
		for _, n := range f.Nodes {
			panel.Boxes = append(panel.Boxes, FlameBox{n.Depth, n.Value, flameColor(n), flameName(n)})
		}
		if f.Input >= 0 && f.Input < len(s.Inputs) {
			panel.Title += " in " + baseName(s.Inputs[f.Input].Path)
		}
		deeper = max(deeper, panel.deeper())
		g.Panels = append(g.Panels, panel)
	}
	if len(g.Panels) == 0 {
		return Chart{}, false
	}
	first := g.Panels[0]
	c := Chart{Title: "What called what, and what it cost", Body: g, Subtitle: "width: share of " + first.Title}
	if len(g.Panels) > 1 {
		c.Subtitle = "width: share of the total of each profile"
	}
	c.Subtitle += "; a box is below what called it, and what it has over the boxes below it, it cost itself; one colour for each file or package, grey for small functions added up"
	if deeper > 0 {
		c.Caption = plural(int64(deeper), "more level") + " of calls below."
	}
	if left > 0 {
		c.Caption = joinSentences(c.Caption, plural(int64(left), "more profile")+".")
	}
	c.Alt = fmt.Sprintf("Boxes of the stacks of %s; the first at the top is %s with %s", first.Title, first.Boxes[0].Name, unit.Share(first.Boxes[0].Value, first.Total))
	return c, true
}

// flameTotal prints what the widths of a flame are shares of: "7.2 s cpu".
func flameTotal(f summary.Flame) string {
	name := clip(clean(f.Name), 40)
	switch f.Unit {
	case "ns":
		return unit.Duration(f.Total) + " " + name
	case "bytes":
		return unit.Bytes(f.Total) + " " + name
	}
	return unit.Count(f.Total) + " " + name
}
