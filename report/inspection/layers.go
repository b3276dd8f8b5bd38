package inspection

import (
	"fmt"
	"slices"

	"assay/analyze/inspect"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/words"
	"assay/summary"
)

// layers returns a section for each pass and kind of a layer, with its kernels beside those of the median layer. Of several GPUs it is
// the one where the layer differs most by its own work.
func (v *view) layers(list []inspect.Layer) (out []doc.Section) {
	gpus := map[summary.GPU]bool{}
	most := &list[0]
	for i := range list {
		if l := &list[i]; apart(l) > apart(most) {
			most = l
		}
		gpus[list[i].GPU] = true
	}
	for i := range list {
		if list[i].GPU == most.GPU {
			out = append(out, v.layer(&list[i]))
		}
	}
	if len(gpus) > 1 {
		choose := "--rank"
		if v.inputs < 2 {
			choose = "--device"
		}
		out = append(out, doc.Section{Title: "Other GPUs",
			Lead: fmt.Sprintf("%s; shown is the one where the layer differs most, communication apart; choose others with %s", label.Plural(int64(len(gpus))-1, "more GPU"), choose)})
	}
	return out
}

// apart returns how much a layer differs from the median layer, without communication: that of a GPU lasts until the last one is there.
func apart(l *inspect.Layer) (ns int64) {
	for _, p := range l.Parts {
		if p.Name != "communication" && p.Name != "overlapped" {
			ns += p.NS - p.OfNS
		}
	}
	return max(ns, -ns)
}

// shownKind returns the kind of a layer under the name that the summary shows.
func shownKind(l *inspect.Layer) string {
	return summary.LayerName(l.Kind, slices.ContainsFunc(l.Parts, func(p inspect.LayerPart) bool { return p.Name == "mlp" && p.NS > 0 }))
}

func (v *view) layer(l *inspect.Layer) doc.Section {
	pass := ""
	if l.Pass != "" {
		pass = ", " + label.Clip(label.Clean(l.Pass), 20)
	}
	title := fmt.Sprintf("Layer %d (%s%s), %s%s", l.Index, words.Layer(shownKind(l)), pass, v.placed(l.GPU), v.in())
	s := doc.Section{Title: title, Lead: unit.FineDuration(l.NS)}
	if l.Step != "" {
		s.Lead += " in " + name(l.Step)
	}
	if l.Runs > 1 {
		s.Lead += fmt.Sprintf(", median of %d runs (%s to %s)", l.Runs, unit.Duration(l.MinNS), unit.Duration(l.MaxNS))
	}
	if l.Others == 0 {
		s.Lead += "; no other layer of its kind"
	} else {
		s.Lead += fmt.Sprintf("; the median of %s is layer %d: %s", label.Plural(int64(l.Others)+1, "layer"), l.Median, unit.FineDuration(l.OfNS))
	}
	s.Blocks = []doc.Block{layerParts(l), layerKernels(l)}
	return s
}

func layerParts(l *inspect.Layer) doc.Table {
	scale := doc.ScaleOf(l.NS, l.OfNS)
	t := doc.Table{Title: "parts", Columns: []doc.Column{doc.Col("part", doc.Text), doc.Col(scale.Head("time"), doc.Number), doc.Col("median layer", doc.Number), doc.Col("delta", doc.Number)}}
	if slices.ContainsFunc(l.Parts, func(p inspect.LayerPart) bool { return p.Name == "overlapped" }) {
		t.Note = "Overlapped is what kernels at the same time count twice, and what runs after the layer. The rows add up to the length of the layer."
	}
	for _, p := range l.Parts {
		t.Rows = append(t.Rows, doc.Row{Cells: []string{words.LayerPart(p.Name), scale.Text(p.NS), scale.Text(p.OfNS), scale.Signed(p.NS - p.OfNS)}})
	}
	return t
}

// layerKernels has a row for each kernel; one that only the median layer has is marked.
func layerKernels(l *inspect.Layer) doc.Table {
	scale := doc.ScaleOf(l.NS, l.OfNS)
	t := doc.Table{Title: "kernels", Columns: []doc.Column{doc.Col(scale.Head("start"), doc.Number), doc.Col("time", doc.Number), doc.Col("median", doc.Number), doc.Col("delta", doc.Number),
		doc.Col("part", doc.Text), doc.Col("", doc.Text), doc.Col("kernel", doc.KernelName)},
		Note: "Start is since the start of the layer; median is the same kernel in the median layer. Kernels of both layers are in one row if they have the same name, or the same part at the same place (\"other\")."}
	for _, k := range l.Kernels {
		if gap := k.Gap - k.Was; 10*max(k.Gap, k.Was) >= l.NS || 50*max(gap, -gap) >= l.OfNS {
			start, was := scale.Text(k.AtNS-k.Gap), scale.Text(k.Was)
			if k.Only == "median" {
				start = ""
			}
			if k.Only == "this" {
				was = ""
			}
			t.Rows = append(t.Rows, doc.Row{Cells: []string{start, scale.Text(k.Gap), was, scale.Signed(gap), "gap", "", "no kernel runs"}})
		}
		cells := []string{scale.Text(k.AtNS), scale.Text(k.NS), "", "", words.LayerPart(k.Part), "", k.Name}
		switch {
		case k.Only == "median":
			cells[0], cells[1], cells[2], cells[3], cells[5] = "", "", scale.Text(k.NS), scale.Signed(-k.NS), "only median"
		case k.OfNS == nil:
			cells[3], cells[5] = scale.Signed(k.NS), "only here"
		default:
			cells[2], cells[3] = scale.Text(*k.OfNS), scale.Signed(k.NS-*k.OfNS)
			if k.Of != "" {
				cells[5] = "other"
			}
		}
		t.Rows = append(t.Rows, doc.Row{Cells: cells})
	}
	return t.WithoutEmpty()
}
