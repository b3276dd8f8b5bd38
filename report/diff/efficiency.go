package diff

import (
	"fmt"

	compared "assay/compare/efficiency"
	"assay/report/doc"
	"assay/summary"
	"assay/summary/view/efficiency"
	"assay/unit"
)

// mostOperators is how many operators the section on efficiency has.
const mostOperators = 10

// efficiency compares MFU, and the operators whose calls became faster or slower.
func (b *differ) efficiency() doc.Section {
	c := b.Comparison.Efficiency
	if c == nil {
		return doc.Section{}
	}
	s := doc.Section{Title: "Efficiency", Lead: fmt.Sprintf("FLOPs are known for %s of total GPU time, was %s; bytes for %s, was %s.",
		unit.Share(c.New.FLOPsKnownNS, c.New.GPUNS), unit.Share(c.Base.FLOPsKnownNS, c.Base.GPUNS),
		unit.Share(c.New.BytesKnownNS, c.New.GPUNS), unit.Share(c.Base.BytesKnownNS, c.Base.GPUNS))}
	if c.Base.MFU != nil && c.New.MFU != nil {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: fmt.Sprintf("MFU: %s, was %s.", utilization(&c.New, c.New.MFU), utilization(&c.Base, c.Base.MFU))})
	}
	t := doc.Table{Title: "operators", Columns: []doc.Column{
		doc.Col("operator", doc.Name), doc.Col("input shapes", doc.Name), doc.Col("calls", doc.Number), doc.Col("was", doc.Number),
		doc.Col("mean call", doc.Number), doc.Col("was", doc.Number), doc.Col("% of roofline", doc.Number), doc.Col("was", doc.Number), doc.Col("effect", doc.Number),
	}}
	for _, o := range c.Ops {
		if o.EffectNS == 0 {
			continue
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{
			o.Op, efficiency.DimsText(string(o.Dims)), unit.Count(o.New.Count), unit.Count(o.Base.Count),
			doc.FourDigits(doc.Mean(o.New.NS, o.New.Count)), doc.FourDigits(doc.Mean(o.Base.NS, o.Base.Count)), ofRoofline(o.New), ofRoofline(o.Base), effect(o.EffectNS),
		}})
	}
	if len(t.Rows) > 0 {
		t.Note = "Effect: the change of the mean call, times the calls of the new side, over all GPUs."
		s.Blocks = append(s.Blocks, t.Cut(mostOperators))
	}
	return s
}

// utilization prints MFU, which is a lower bound if not all FLOPs are known, unless the user
// counted them.
func utilization(s *summary.EfficiencySums, share *float64) string {
	const parts = 1e9
	if *share > 1 {
		return "not plausible (over 100%)"
	}
	text := unit.Share(int64(*share*parts), parts)
	if s.FLOPsKnownNS < s.GPUNS && s.MFUFrom != summary.MFUOfUser {
		text = "at least " + text
	}
	return text
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
