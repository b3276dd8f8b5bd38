package diff

import (
	"fmt"
	"math"

	compared "assay/compare/efficiency"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view/efficiency"
)

// mostOperators is how many operators the section on efficiency has.
const mostOperators = 10

// sameCoverage is by how much the share without known FLOPs may differ between two lower bounds
// that are compared; gates use the same.
const sameCoverage = 0.01

// efficiency compares MFU, and the operators whose calls became faster or slower.
func (b *differ) efficiency() doc.Section {
	c := b.Comparison.Efficiency
	switch {
	case c == nil && b.Comparison.OtherPeaks:
		return doc.Section{Title: "Efficiency", Lead: "Not compared: the GPUs or their peaks differ. The report of each run has its own MFU and rooflines."}
	case c == nil:
		return doc.Section{}
	}
	s := doc.Section{Title: "Efficiency", Lead: fmt.Sprintf("FLOPs are known for %s of total GPU time without communication, was %s; bytes for %s, was %s.",
		known(&c.New, c.New.FLOPsKnownNS), known(&c.Base, c.Base.FLOPsKnownNS), known(&c.New,
			c.New.BytesKnownNS), known(&c.Base, c.Base.BytesKnownNS))}
	for _, text := range []string{utilizations(c), recoverable(c)} {
		if text != "" {
			s.Blocks = append(s.Blocks, doc.Paragraph{Text: text})
		}
	}
	t := doc.Table{Title: "operators", Columns: []doc.Column{
		doc.Col("operator", doc.Name), doc.Col("input shapes", doc.Name), doc.Col("calls", doc.Number),
		doc.Col("was", doc.Number),
		doc.Col("mean call", doc.Number), doc.Col("was", doc.Number), doc.Col("% of roofline", doc.Number),
		doc.Col("was", doc.Number), doc.Col("effect", doc.Number),
	}}
	for _, o := range c.Ops {
		if o.EffectNS == 0 {
			continue
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{
			o.Op, efficiency.DimsText(string(o.Dims)), unit.Count(o.New.Count), unit.Count(o.Base.Count),
			doc.FourDigits(doc.Mean(o.New.NS, o.New.Count)), doc.FourDigits(doc.Mean(o.Base.NS, o.Base.Count)),
			ofRoofline(o.New), ofRoofline(o.Base), effect(o.EffectNS),
		}})
	}
	if len(t.Rows) > 0 {
		t.Note = "Effect: the change of the mean call, times the calls of the new side, over all GPUs."
		s.Blocks = append(s.Blocks, t.Cut(mostOperators))
	}
	return s
}

// known prints a part of the GPU time as a share of it without communication.
func known(s *summary.EfficiencySums, ns int64) string {
	work := efficiency.Work(s)
	return unit.Share(min(ns, work), work)
}

// utilizations states MFU of both sides, and HFU where it is another number.
func utilizations(c *compared.Comparison) string {
	mfu, hfu := c.MFU, c.HFU
	if mfu.Base == nil || mfu.New == nil {
		return ""
	}
	text := fmt.Sprintf("MFU: %s, was %s.", words.Utilization(*mfu.New), words.Utilization(*mfu.Base))
	if hfu.Base != nil && hfu.New != nil && (*hfu.Base != *mfu.Base || *hfu.New != *mfu.New) {
		text += fmt.Sprintf(" HFU: %s, was %s.", words.Utilization(*hfu.New), words.Utilization(*hfu.Base))
	}
	if math.Abs(mfu.New.Unknown-mfu.Base.Unknown) > sameCoverage && !mfu.New.Apart(*mfu.Base) {
		text += " FLOPs are known for other shares of GPU time and the ranges overlap, so it is not certain that MFU changed."
	}
	return text
}

// recoverable states the recoverable time of both sides.
func recoverable(c *compared.Comparison) string {
	if c.Base.RooflineNS == 0 || c.New.RooflineNS == 0 {
		return ""
	}
	return fmt.Sprintf("Recoverable time: up to %s of this GPU time, was %s.", known(&c.New, c.New.RecoverableNS),
		known(&c.Base, c.Base.RecoverableNS))
}

func ofRoofline(s compared.Side) string {
	if s.RooflineNS == nil || s.NS <= 0 {
		return unit.None
	}
	return unit.Share(*s.RooflineNS, s.NS)
}

// effect prints a change with its sign.
func effect(ns int64) string {
	if ns < 0 {
		return "-" + doc.FourDigits(-ns)
	}
	return "+" + doc.FourDigits(ns)
}
