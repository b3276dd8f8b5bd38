package diff

import (
	"fmt"
	"strings"

	"assay/compare"
	"assay/compare/layers"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/words"
)

// layerParts is how many parts a sentence on layers names.
const layerParts = 3

// layers says what changed in each layer, for the kinds of layers whose change is 1% of a step or more, and which
// layers are not compared.
func (b *differ) layers(most int) doc.Section {
	s := doc.Section{Title: "Layers"}
	list := doc.List{}
	for i := range b.Layers {
		if text := layerText(b.Comparison, &b.Layers[i]); text != "" && len(list) < most {
			list = append(list, doc.Item{Text: text})
		}
	}
	if len(list) > 0 {
		s.Blocks = append(s.Blocks, list)
	}
	return s
}

// layerText returns the change of one kind of layers, or "" if it is small.
func layerText(c *compare.Comparison, r *layers.Row) string {
	name := layerName(r)
	if r.Apart != "" {
		return name + ": not compared: " + r.Apart
	}
	if float64(max(r.EffectNS, -r.EffectNS)) < compare.Still*float64(c.Budget.BaseNS) {
		return ""
	}
	text := compare.UnitOf("ns", r.BaseNS, r.NewNS).Moved(fmt.Sprintf("each of %d %s", r.NewCount, name), r.BaseNS, r.NewNS)
	var parts []string
	for _, p := range r.Parts[:min(layerParts, len(r.Parts))] {
		if 10*max(p.DeltaNS, -p.DeltaNS) >= max(r.DeltaNS, -r.DeltaNS) {
			parts = append(parts, words.LayerPart(p.Name)+" "+signed(p.DeltaNS))
		}
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

func signed(ns int64) string {
	if ns < 0 {
		return "−" + unit.Duration(-ns)
	}
	return "+" + unit.Duration(ns)
}

// layerName names a kind of layers, with its steps and pass as far as these are known.
func layerName(r *layers.Row) string {
	var parts []string
	for _, p := range []string{r.Steps, r.Pass} {
		if p != "" {
			parts = append(parts, words.PhaseName(p))
		}
	}
	if len(parts) == 0 {
		return words.Layers(r.Name)
	}
	return words.Layers(r.Name) + " (" + strings.Join(parts, ", ") + ")"
}

// layerTable compares all kinds of layers and their parts.
func layerTable(rows []layers.Row) doc.Section {
	if len(rows) == 0 {
		return doc.Section{}
	}
	var times []int64
	for _, r := range rows {
		times = append(times, r.BaseNS, r.NewNS)
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "layers", Columns: []doc.Column{doc.Col("layers", doc.Text), doc.Col("part", doc.Text), doc.Col("count", doc.Number), doc.Col("was", doc.Number),
		doc.Col(scale.Head("one layer"), doc.Number), doc.Col("was", doc.Number), doc.Col("delta", doc.Number)},
		Note: "One layer is the median over layers, steps and GPUs; a part is its kernel time in one layer."}
	s := doc.Section{Title: "Layers of the model"}
	for i := range rows {
		r := &rows[i]
		if r.Apart != "" {
			s.Blocks = append(s.Blocks, doc.Paragraph{Text: doc.Capital(layerName(r)) + ": not compared: " + r.Apart + "."})
			continue
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{layerName(r), "", unit.Count(r.NewCount), unit.Count(r.BaseCount), scale.Text(r.NewNS), scale.Text(r.BaseNS), scale.Signed(r.DeltaNS)}})
		for _, p := range r.Parts {
			t.Rows = append(t.Rows, doc.Row{Cells: []string{"", words.LayerPart(p.Name), "", "", scale.Text(p.NewNS), scale.Text(p.BaseNS), scale.Signed(p.DeltaNS)}})
		}
	}
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, t)
	}
	return s
}
