package plot

import (
	"math"
	"strconv"

	"assay/internal/unit"
)

// Histograms are distributions of durations above one logarithmic axis.
type Histograms struct {
	Panels []HistogramPanel
}

// A HistogramPanel is one distribution. For each bucket it shows its share of
// the count and its share of the time.
type HistogramPanel struct {
	Title string
	Bins  []Bin
}

// A Bin counts the durations of one bucket.
type Bin struct {
	FromNS, ToNS   int64 // FromNS is 0 for all that is under [Shortest]
	Count, TotalNS int64
}

const (
	histHeight = 210.0
	histPitch  = histHeight + 92
	histX      = Margin + 44.0
	histLength = Width - 2*Margin - 50.0
)

func (h Histograms) height(*pen) float64 { return histPitch * float64(len(h.Panels)) }

// A logAxis maps durations to pixels, on a logarithmic scale.
type logAxis struct{ low, high float64 } // decades

// Shortest is the shortest duration, in ns, that has a bucket of its own. The clocks of many devices
// tick in tens of ns, so shorter gaps are rounding errors.
const Shortest = 100

// decade returns the logarithm of the edge of a bucket. For 0 it returns the start of the bucket of
// all durations below [Shortest].
func decade(ns int64) float64 {
	if ns < Shortest {
		return math.Log10(Shortest) - 0.3
	}
	return math.Log10(float64(ns))
}

// axis returns an axis that shows all buckets and at least two powers of ten.
func (h Histograms) axis() logAxis {
	a := logAxis{math.Inf(1), math.Inf(-1)}
	for _, p := range h.Panels {
		for _, b := range p.Bins {
			a.low = min(a.low, decade(b.FromNS))
			a.high = max(a.high, decade(b.ToNS))
		}
	}
	for math.Floor(a.high)-math.Ceil(a.low) < 1 {
		a.low = max(decade(0), math.Ceil(a.low)-1)
		a.high = math.Floor(a.high) + 1
	}
	return logAxis{a.low - 0.05, a.high + 0.05}
}

func (a logAxis) x(d float64) float64 { return histX + histLength*(d-a.low)/(a.high-a.low) }

func (h Histograms) draw(c *Canvas, top float64) {
	a := h.axis()
	for _, p := range h.Panels {
		p.draw(c, a, top)
		top += histPitch
	}
}

func (p HistogramPanel) draw(c *Canvas, a logAxis, top float64) {
	c.text(Margin, top+18, p.Title, textStyle{bold: true})
	base := top + 34 + histHeight
	count, total, most := 0.0, 0.0, 0.0
	for _, b := range p.Bins {
		count, total = count+float64(b.Count), total+float64(b.TotalNS)
	}
	total = max(1, total)
	for _, b := range p.Bins {
		most = max(most, float64(b.Count)/count, float64(b.TotalNS)/total)
	}
	step := shareStep(most)
	full := step * math.Ceil(float64(most/step)-1e-9)
	for i := 0; float64(i)*step <= full+1e-9; i++ {
		y := base - histHeight*float64(i)*step/full
		c.line(histX, y, histX+histLength, y, 1, colorGrid)
		c.text(histX-8, y+5, strconv.Itoa(int(math.Round(100*step*float64(i))))+"%",
			textStyle{size: sizeSmall, color: colorGrey, align: right})
	}
	for _, b := range p.Bins {
		from, to := a.x(decade(b.FromNS)), a.x(decade(b.ToNS))
		mid := (from + to) / 2
		byCount, byTime := histHeight*float64(b.Count)/count/full, histHeight*float64(b.TotalNS)/total/full
		c.rect(from+1, base-byCount, mid-from-1, byCount, ColorCount)
		c.rect(mid, base-byTime, to-mid-1, byTime, ColorTime)
	}
	c.line(histX, base, histX+histLength, base, 1, colorGrey)
	a.draw(c, base)
}

// draw draws the ticks below a panel and the title of the axis.
func (a logAxis) draw(c *Canvas, base float64) {
	small := textStyle{size: sizeSmall, color: colorGrey, align: center}
	first := math.Ceil(a.low)
	if end := math.Log10(Shortest); a.low <= decade(0) {
		// The bucket below Shortest has a name, not a tick at its end.
		c.line(a.x(end), base, a.x(end), base+6, 1, colorGrey)
		c.text((a.x(decade(0))+a.x(end))/2, base+20, "<"+unit.Duration(Shortest), small)
		first = end + 1
	}
	for d := first; d <= a.high; d++ {
		c.line(a.x(d), base, a.x(d), base+6, 1, colorGrey)
		c.text(a.x(d), base+20, decadeText(int(d)), small)
	}
	c.text(histX+histLength/2, base+40, "duration, log scale", small)
}

// shareStep returns the distance of the grid lines for shares up to most.
func shareStep(most float64) float64 {
	for _, step := range []float64{0.01, 0.02, 0.05, 0.1, 0.2} {
		if most <= 5*step {
			return step
		}
	}
	return 0.25
}

// decadeText prints 10^d ns. It uses no unit above seconds, because minutes are no power of ten.
func decadeText(d int) string {
	ns := int64(math.Pow10(d))
	if ns >= 1e9 {
		return unit.Count(ns/1e9) + " s"
	}
	return unit.Duration(ns)
}
