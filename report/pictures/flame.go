package pictures

import (
	"fmt"
	"hash/fnv"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
)

// flameColors are muted, and light enough for dark text.
func flameColors() []plot.Color {
	return []plot.Color{0xf2c6a0, 0xe9b7a4, 0xf0d9a0, 0xd9c7a8, 0xe6c1bd, 0xc9d0a6, 0xf3d5bd, 0xd8bfae, 0xb9cdb6, 0xc4c9d8}
}

// colorOthers is the colour of boxes of several functions.
const colorOthers plot.Color = 0xe6e6e6

// flameName returns a name without directories.
func flameName(n summary.FlameNode) string {
	if n.Others > 0 {
		return label.Plural(n.Others, "more function")
	}
	name := label.ShortLine(label.Clean(n.Name))
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

// flameColor returns the colour of a function, which depends on its file or package.
func flameColor(n summary.FlameNode) plot.Color {
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

// mostFlames is the largest number of trees in one picture.
const mostFlames = 3

func flame(s *summary.Summary) (plot.Chart, bool) {
	var g plot.FlameGraph
	left, deeper := 0, 0
	for _, f := range s.Flames {
		if f.Total <= 0 || len(f.Nodes) == 0 {
			continue
		}
		if len(g.Panels) == mostFlames {
			left++
			continue
		}
		panel := plot.FlamePanel{Title: flameTotal(f), Total: f.Total}
		for _, n := range f.Nodes {
			panel.Boxes = append(panel.Boxes, plot.FlameBox{Depth: n.Depth, Value: n.Value, Color: flameColor(n), Name: flameName(n)})
		}
		if f.Input >= 0 && f.Input < len(s.Inputs) {
			panel.Title += " in " + label.Base(s.Inputs[f.Input].Path)
		}
		deeper = max(deeper, panel.Deeper())
		g.Panels = append(g.Panels, panel)
	}
	if len(g.Panels) == 0 {
		return plot.Chart{}, false
	}
	first := g.Panels[0]
	c := plot.Chart{Title: "Flame graph", Body: g, Subtitle: "width: % of " + first.Title}
	if len(g.Panels) > 1 {
		c.Subtitle = "width: % of the total of each profile"
	}
	c.Subtitle += "; callees are below their caller; self is the part of a box without boxes below it; one colour per file or package, grey: small functions"
	if deeper > 0 {
		c.Caption = label.Plural(int64(deeper), "more level") + " of calls."
	}
	if left > 0 {
		c.Caption = joinSentences(c.Caption, label.Plural(int64(left), "more profile")+".")
	}
	c.Alt = fmt.Sprintf("Flame graph of %s; the first box at the top is %s with %s", first.Title, first.Boxes[0].Name, unit.Share(first.Boxes[0].Value, first.Total))
	return c, true
}

// flameTotal returns the denominator of the widths: "7.2 s cpu".
func flameTotal(f summary.Flame) string {
	name := label.Clip(label.Clean(f.Name), 40)
	switch f.Unit {
	case "ns":
		return unit.Duration(f.Total) + " " + name
	case "bytes":
		return unit.Bytes(f.Total) + " " + name
	}
	return unit.Count(f.Total) + " " + name
}
