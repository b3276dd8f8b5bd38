package plot

import (
	"cmp"
	"slices"

	"assay/internal/label"
)

// Nested are horizontal bars on one axis whose parts all start at 0, such as percentiles: a shorter
// part covers the start of a longer one.
type Nested struct{ Rows []NestedRow }

// A NestedRow is one bar and the text after it. The label may be "".
type NestedRow struct {
	Label, Value string
	Parts        []Part
}

const nestedPitch = 30.0

func (n Nested) height(*pen) float64 { return nestedPitch*float64(len(n.Rows)) + 40 }

func (n Nested) draw(c *Canvas, top float64) {
	var labels, values []string
	longest := int64(1)
	for _, r := range n.Rows {
		labels, values = append(labels, r.Label), append(values, r.Value)
		for _, p := range r.Parts {
			longest = max(longest, p.NS)
		}
	}
	small := textStyle{size: sizeSmall, color: colorGrey}
	x := float64(Margin)
	if slices.ContainsFunc(labels, func(l string) bool { return l != "" }) {
		labels = c.labels(label.Plain, labels, 260)
		x += c.widest(labels, textStyle{}) + 14
	}
	a := axis{0, float64(longest), x, max(120, Width-Margin-14-c.widest(values, small)-x)}
	bottom := top + nestedPitch*float64(len(n.Rows))
	c.grid(a, ticksBetween(0, longest, 6), top, bottom)
	for i, r := range n.Rows {
		y := top + nestedPitch*float64(i)
		c.text(x-10, y+nestedPitch/2+5, labels[i], textStyle{align: right})
		parts := slices.Clone(r.Parts)
		slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(b.NS, a.NS) })
		for _, p := range parts {
			c.rect(x, y+4, max(1, a.at(float64(p.NS))-x), nestedPitch-8, p.Color)
		}
		c.text(x+a.length+14, y+nestedPitch/2+5, r.Value, small)
	}
	c.line(x, top, x, bottom, 1, colorGrey)
}
