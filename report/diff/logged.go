package diff

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/compare"
	"assay/compare/logs"
	"assay/compare/phases"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/words"
)

// hostSteps returns the change of the step on the host and of its phases.
func (b *differ) hostSteps(most int) doc.Section {
	if b.Steps == nil || b.Per != compare.PerNone && len(b.Phases) == 0 {
		return doc.Section{}
	}
	scale := doc.ScaleOf(b.Steps.Base.MeanNS, b.Steps.New.MeanNS)
	t := doc.Table{Title: "phases", Columns: []doc.Column{
		doc.Col("phase", doc.Text), doc.Col(scale.Head("baseline"), doc.Number), doc.Col(scale.Head("new"), doc.Number),
		doc.Col(scale.Head("delta"), doc.Number), doc.Col("delta %", doc.Number), doc.Col("", doc.Text),
	}}
	row := func(name string, base, new int64, match string) doc.Row {
		return doc.Row{Cells: []string{name, scale.Text(base), scale.Text(new), scale.Signed(new - base),
			compare.SignedShare(new-base, base), match}}
	}
	for _, r := range shownPhases(b.Phases, most) {
		t.Rows = append(t.Rows, row(phaseWord(r), r.BaseNS, r.NewNS, words.Match(r.Match)))
	}
	t.Rows = append(t.Rows, row("step", b.Steps.Base.MeanNS, b.Steps.New.MeanNS, ""))
	lead := "host time per step, mean; phases and deltas sum to the step"
	if len(b.Phases) == 0 {
		lead = "host time per step, mean"
	}
	return doc.Section{Title: "Step by phase", Lead: lead, Blocks: []doc.Block{t.WithoutEmpty()}}
}

// leadingSteps is hostSteps for a screen, if the headline is about the phases.
func (b *differ) leadingSteps() doc.Section {
	if !b.PhasesLead() {
		return doc.Section{}
	}
	return b.hostSteps(screenPhases)
}

// shownPhases returns the rows to show: those with the largest times or changes, and the time
// outside phases if there is any.
func shownPhases(rows []phases.Row, most int) []phases.Row {
	return shortened(slices.DeleteFunc(slices.Clone(rows),
		func(r phases.Row) bool { return r.Phase == "" && r.BaseNS == 0 && r.NewNS == 0 }), most)
}

// shortened returns the rows with the largest times or changes, and one for all others.
func shortened(rows []phases.Row, most int) []phases.Row {
	if len(rows) <= most {
		return rows
	}
	out := slices.Clone(rows)
	slices.SortStableFunc(out, func(x, y phases.Row) int {
		weight := func(r phases.Row) int64 { return max(size(r.DeltaNS), r.BaseNS/4, r.NewNS/4) }
		return cmp.Compare(weight(y), weight(x))
	})
	rest := phases.Row{Phase: label.Plural(int64(len(out)-most+1), "more phase"), Match: logs.ByName}
	for _, r := range out[most-1:] {
		rest.BaseNS, rest.NewNS, rest.DeltaNS = rest.BaseNS+r.BaseNS, rest.NewNS+r.NewNS, rest.DeltaNS+r.DeltaNS
	}
	out = slices.Clone(out[:most-1])
	slices.SortStableFunc(out, func(x, y phases.Row) int { return cmp.Compare(size(y.DeltaNS), size(x.DeltaNS)) })
	return append(out, rest)
}

func phaseWord(r phases.Row) string {
	switch {
	case r.Phase == "" && (r.BaseNS < 0 || r.NewNS < 0):
		return "less overlap of phases"
	case r.Phase == "":
		return "outside phases"
	}
	return words.PhaseName(r.Phase)
}

// metrics compares what programs logged. The screen has those that changed.
func (b *differ) metrics(most int, screen bool) doc.Section {
	t := doc.Table{Title: "metrics", Columns: []doc.Column{
		doc.Col("metric", doc.Text), doc.Col("of", doc.Text), doc.Col("baseline", doc.Number), doc.Col("", doc.Text),
		doc.Col("new", doc.Number), doc.Col("", doc.Text),
		doc.Col("change", doc.Number), doc.Col("", doc.Text), doc.Col("", doc.Text),
	}}
	same, unclear := 0, 0
	for _, m := range b.Series {
		still := m.Effect == logs.Same || m.Effect == logs.Unclear || m.Effect == ""
		if screen && (still || m.Role == "other" || m.Metric == "step.phase") {
			switch m.Effect {
			case logs.Same:
				same++
			case logs.Unclear:
				unclear++
			}
			continue
		}
		of := label.Clip(label.Clean(logs.LabelText(m.Labels)), 40)
		if m.Role == "other" || m.Metric == "step.phase" {
			of = label.Clip(label.Clean(strings.TrimSpace(m.Name+" "+of)), 48)
		}
		effect := m.Effect
		if m.Note != "" {
			effect = map[string]string{logs.OtherPlaces: "other number of places", logs.OtherSteps: "no common steps"}[m.Note]
		}
		cells := []string{label.Clip(label.Clean(m.Metric), 40), of, value(m.Base, m.Unit), bounds(m.Base, m.Unit),
			value(m.New, m.Unit), bounds(m.New, m.Unit), change(m.Change), effect, words.Match(m.Match)}
		if screen { // a terminal has no room for the intervals
			cells[3], cells[5] = "", ""
		}
		t.Rows = append(t.Rows, doc.Row{Weight: 1, Cells: cells})
	}
	if len(t.Rows) == 0 && same+unclear == 0 {
		return doc.Section{}
	}
	s := doc.Section{Title: "Metrics", Lead: "medians after warm-up"}
	if !screen {
		s.Lead += ", with 95% confidence intervals"
		t.Note = "Intervals are of the values of one run, or of the medians of several inputs. Unclear: the intervals overlap, or a side has too few values. " +
			"Values of one run do not show the noise between runs."
	}
	if same+unclear > 0 {
		s.Lead += fmt.Sprintf("; %d unchanged, %d unclear", same, unclear)
	}
	if len(t.Rows) > 0 {
		s.Blocks = []doc.Block{t.WithoutEmpty().Cut(most)}
	}
	return s
}

func value(v *logs.Values, of string) string {
	if v == nil {
		return unit.None
	}
	return unit.Value(v.Median, of)
}

func bounds(v *logs.Values, of string) string {
	if v == nil || v.Low == nil || v.High == nil {
		return ""
	}
	return unit.Value(*v.Low, of) + " to " + unit.Value(*v.High, of)
}

func change(share *float64) string {
	if share == nil {
		return ""
	}
	return compare.SignedPercent(*share)
}

// results compares the results of benchmarks, one section for each workload.
func (b *differ) results(most, figures int, screen bool) (out []doc.Section) {
	left := map[string]int{}
	n := 0
	for _, r := range b.Benchmarks {
		if r.Match != logs.ByName {
			left[r.Match]++
			continue
		}
		if n++; n <= most {
			out = append(out, b.result(r, figures, screen))
		}
	}
	var list doc.List
	if more := n - most; more > 0 {
		list = append(list, doc.Item{Text: label.Plural(int64(more), "more result")})
	}
	for _, side := range []struct{ match, name string }{{logs.OnlyOld, "baseline"}, {logs.OnlyNew, "new"}} {
		if k := left[side.match]; k > 0 {
			list = append(list, doc.Item{Mark: side.name,
				Text: label.Plural(int64(k), "result") + " whose workload the other side does not have"})
		}
	}
	if list != nil {
		out = append(out, doc.Section{Title: "Results not shown", Blocks: []doc.Block{list}})
	}
	return out
}

func (b *differ) result(r logs.Benchmark, figures int, screen bool) doc.Section {
	t := doc.Table{Title: "figures", Columns: []doc.Column{
		doc.Col("figure", doc.Text), doc.Col("baseline", doc.Number), doc.Col("new", doc.Number),
		doc.Col("change", doc.Number), doc.Col("", doc.Text),
	}}
	list := slices.Clone(r.Figures)
	if screen {
		slices.SortStableFunc(list, func(x, y logs.Figure) int {
			directed := func(f logs.Figure) int { return min(1, len(f.Better)) }
			return cmp.Or(cmp.Compare(directed(y), directed(x)), cmp.Compare(relative(y), relative(x)))
		})
	}
	for _, f := range list {
		t.Rows = append(t.Rows, doc.Row{Weight: 1, Cells: []string{
			label.Clip(label.Clean(strings.TrimSpace(f.Metric+" "+f.Stat)), 40), unit.Value(*f.Base, f.Unit),
			unit.Value(*f.New, f.Unit), change(f.Change), f.Effect,
		}})
	}
	lead := label.Clip(label.Clean(strings.TrimSpace(r.Title+" "+logs.LabelText(r.Settings))), 160)
	if r.Base > 1 || r.New > 1 {
		lead = strings.TrimPrefix(lead+fmt.Sprintf("; medians of %d and %d results", r.Base, r.New), "; ")
	}
	s := doc.Section{Title: "Result of " + label.Clip(label.Clean(r.Producer), 60), Lead: lead,
		Blocks: []doc.Block{t.WithoutEmpty().Cut(figures)}}
	var changed doc.List
	for _, c := range r.Changed {
		changed = append(changed, doc.Item{Mark: "setting",
			Text: label.Clip(label.Clean(fmt.Sprintf("%s: %s → %s", c.Name, cmp.Or(c.Base, "not set"),
				cmp.Or(c.New, "not set"))), 160)})
	}
	if changed != nil {
		s.Blocks = append([]doc.Block{changed}, s.Blocks...)
	}
	return s
}

// relative returns the size of a relative change.
func relative(f logs.Figure) float64 {
	if f.Change == nil {
		return 0
	}
	return math.Abs(*f.Change)
}
