package page

import (
	"fmt"
	"math"
	"slices"

	"assay/report/plot"
)

// plane is a picture of points: results of a sweep, or kernels in a roofline. It has the numbers of the
// picture in the report.
type plane struct {
	Title  string   `json:"title"`
	Note   string   `json:"note,omitempty"`
	Legend []swatch `json:"legend,omitempty"`
	Parts  []part   `json:"parts"`
	Left   string   `json:"left,omitempty"` // note on points that are left out
}

type swatch struct {
	Color string `json:"color"`
	Text  string `json:"text"`
}

type part struct {
	Title   string   `json:"title,omitempty"`
	X       axis     `json:"x"`
	Y       axis     `json:"y"`
	Regions []region `json:"regions,omitempty"`
	Curves  []region `json:"curves,omitempty"`
	Dots    []point  `json:"dots"`
}

type axis struct {
	Title string    `json:"title"`
	From  float64   `json:"from"`
	To    float64   `json:"to"`
	Log   bool      `json:"log,omitempty"`
	At    []float64 `json:"at"` // positions of the ticks
	Text  []string  `json:"text"`
}

// A region is an area or a curve.
type region struct {
	Points [][2]float64 `json:"points"`
	Color  string       `json:"color,omitempty"` // the colour of text if absent
	Label  string       `json:"label,omitempty"`
	At     [2]float64   `json:"at"`              // position of the label of an area
	Right  bool         `json:"right,omitempty"` // the label ends at this position
}

type point struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Radius float64 `json:"r"`
	Color  string  `json:"color,omitempty"`
	Label  string  `json:"label,omitempty"`  // next to it
	Text   string  `json:"text,omitempty"`   // shown when the pointer is on it
	Listed bool    `json:"listed,omitempty"` // also listed below the plane
}

// planes returns the pictures that consist of points, in their order, without the one that is already
// drawn.
func planes(charts []plot.Chart, drawn string) (out []plane) {
	for _, c := range charts {
		if c.Name == drawn {
			continue
		}
		var parts []part
		switch body := c.Body.(type) {
		case plot.Scatter:
			parts = append(parts, partOf("", body))
		case plot.Titled:
			for _, b := range body {
				if s, ok := b.Body.(plot.Scatter); ok {
					parts = append(parts, partOf(b.Title, s))
				}
			}
		}
		if len(parts) == 0 {
			continue
		}
		p := plane{Title: visible(c.Title), Note: prose(c.Subtitle), Parts: parts, Left: prose(c.Caption)}
		for _, s := range c.Legend {
			p.Legend = append(p.Legend, swatch{hex(s.Color), visible(s.Text)})
		}
		out = append(out, p)
	}
	return out
}

// bars is a picture of bars that are divided into parts, each a time.
type bars struct {
	Title  string   `json:"title"`
	Note   string   `json:"note,omitempty"`
	Legend []swatch `json:"legend"`
	Rows   []bar    `json:"rows"`
}

type bar struct {
	Name  string    `json:"name"`
	Parts []barPart `json:"parts"`
}

type barPart struct {
	Color string `json:"color"`
	NS    int64  `json:"ns"`
}

// barsOnPage are the pictures of bars that no other part of the page has.
var barsOnPage = []string{"log-roles"}

// barsOf returns the pictures of bars that the page shows.
func barsOf(charts []plot.Chart) (out []bars) {
	for _, c := range charts {
		body, ok := c.Body.(plot.Stacks)
		if !ok || !slices.Contains(barsOnPage, c.Name) {
			continue
		}
		b := bars{Title: visible(c.Title), Note: prose(c.Subtitle)}
		for _, s := range c.Legend {
			b.Legend = append(b.Legend, swatch{hex(s.Color), visible(s.Text)})
		}
		for _, r := range body.Rows {
			one := bar{Name: visible(r.Label)}
			for _, p := range r.Parts {
				one.Parts = append(one.Parts, barPart{hex(p.Color), p.NS})
			}
			b.Rows = append(b.Rows, one)
		}
		out = append(out, b)
	}
	return out
}

func partOf(title string, s plot.Scatter) part {
	p := part{Title: visible(title), X: axisOf(s.X), Y: axisOf(s.Y), Dots: []point{}}
	for _, r := range s.Regions {
		if label := visible(r.Label); label != "" && finiteAll(append(slices.Clone(r.Corners), r.At)) {
			p.Regions = append(p.Regions, region{r.Corners, hex(r.Color), label, r.At, r.Right})
		}
	}
	for _, c := range s.Curves {
		if finiteAll(c.Points) {
			p.Curves = append(p.Curves, region{Points: c.Points, Color: hex(c.Color), Label: visible(c.Label)})
		}
	}
	for _, d := range s.Dots {
		if !finiteAll([][2]float64{{d.X, d.Y}}) {
			continue
		}
		to := point{X: d.X, Y: d.Y, Radius: d.Radius, Color: hex(d.Color), Label: visible(d.Label)}
		if d.Number != "" {
			to.Label, to.Listed = d.Number, true
		}
		to.Text = visible(d.Key)
		if d.Name != "" {
			to.Text += ", " + visible(d.Name)
		}
		p.Dots = append(p.Dots, to)
	}
	return p
}

func axisOf(a plot.Axis) axis {
	out := axis{Title: visible(a.Title), From: a.From, To: a.To, Log: a.Log, At: []float64{}, Text: []string{}}
	for _, t := range a.Ticks {
		out.At, out.Text = append(out.At, t.At), append(out.Text, visible(t.Text))
	}
	return out
}

// hex returns a colour, or "" for ink, which is light in a dark theme.
func hex(c plot.Color) string {
	if c == plot.ColorInk {
		return ""
	}
	return fmt.Sprintf("#%06x", uint32(c))
}

func finiteAll(points [][2]float64) bool {
	for _, p := range points {
		for _, v := range p {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return false
			}
		}
	}
	return true
}
