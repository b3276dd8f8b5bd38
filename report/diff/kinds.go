package diff

import (
	"fmt"
	"slices"

	"assay/compare"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/words"
)

// stepKinds says how the steps of each kind changed, unless the mean over all steps does: steps of one kind with as many sequences.
func (b *differ) stepKinds() doc.Section {
	if len(b.StepKinds) == 0 || len(b.StepKinds) == 1 && b.StepKinds[0].Alike() {
		return doc.Section{}
	}
	s := doc.Section{Title: "Steps by kind", Lead: "medians"}
	list := doc.List{}
	for i := range b.StepKinds[:min(screenKinds, len(b.StepKinds))] {
		list = append(list, doc.Item{Text: stepKindText(&b.StepKinds[i])})
	}
	s.Blocks = append(s.Blocks, list)
	return s
}

// screenKinds is how many kinds of steps the screen shows.
const screenKinds = 3

// stepKindText says how the steps of a kind changed: "decode, 32 sequences: 10.7 ms → 9.9 ms (−0.8 ms); steps 98, was 60".
func stepKindText(k *compare.StepKind) string {
	name := label.Clip(label.Clean(words.PhaseName(k.Kind)), 20)
	if k.BaseCount == 0 {
		return fmt.Sprintf("%s: %s; the baseline has none", name, label.Plural(k.NewCount, "step"))
	} else if k.NewCount == 0 {
		return fmt.Sprintf("%s: none; the baseline has %s", name, label.Plural(k.BaseCount, "step"))
	}
	if !k.Alike() {
		return fmt.Sprintf("%s: %s with %s sequences, was %s with %s", name, unit.FineDuration(k.NewNS), sequences(k.NewSequences),
			unit.FineDuration(k.BaseNS), sequences(k.BaseSequences))
	}
	if k.NewSequences > 0 {
		name += ", " + label.Plural(k.NewSequences, "sequence")
	}
	text := compare.UnitOf("ns", k.BaseNS, k.NewNS).Moved(name+":", k.BaseNS, k.NewNS)
	if k.BaseCount != k.NewCount {
		text += fmt.Sprintf("; steps %s, was %s", unit.Count(k.NewCount), unit.Count(k.BaseCount))
	}
	return text
}

func sequences(n int64) string {
	if n == 0 {
		return "an unknown number of"
	}
	return unit.Count(n)
}

// stepKindTable compares all kinds of steps.
func stepKindTable(kinds []compare.StepKind) doc.Section {
	if len(kinds) == 0 {
		return doc.Section{}
	}
	var times []int64
	for _, k := range kinds {
		times = append(times, k.BaseNS, k.NewNS)
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "kinds of steps", Columns: []doc.Column{doc.Col("kind", doc.Text), doc.Col("steps", doc.Number), doc.Col("was", doc.Number),
		doc.Col("sequences", doc.Number), doc.Col("was", doc.Number), doc.Col(scale.Head("median"), doc.Number), doc.Col("was", doc.Number), doc.Col("delta", doc.Number)},
		Note: "Medians over steps and GPUs. If both sides have enough steps with one number of sequences, the times are of these steps. There is no delta if the numbers differ."}
	count := func(n int64) string {
		if n == 0 {
			return ""
		}
		return unit.Count(n)
	}
	for i := range kinds {
		k := &kinds[i]
		delta := ""
		if k.Alike() {
			delta = scale.Signed(k.DeltaNS)
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{words.PhaseName(k.Kind), count(k.NewCount), count(k.BaseCount), count(k.NewSequences), count(k.BaseSequences),
			scaledTime(scale, k.NewNS), scaledTime(scale, k.BaseNS), delta}})
	}
	if !slices.ContainsFunc(kinds, func(k compare.StepKind) bool { return k.BaseSequences+k.NewSequences > 0 }) {
		return doc.Section{Title: "Steps by kind", Blocks: []doc.Block{t.WithoutEmpty()}}
	}
	return doc.Section{Title: "Steps by kind", Blocks: []doc.Block{t}}
}

// scaledTime prints a time, or nothing if there is none.
func scaledTime(s doc.Scale, ns int64) string {
	if ns == 0 {
		return ""
	}
	return s.Text(ns)
}
