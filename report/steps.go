package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/judge"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// maxSteps is how many steps a table shows.
const maxSteps = 50

func (b *builder) steps() Section {
	steps := view.Steps(b.Summary)
	if len(steps) == 0 {
		return Section{}
	}
	high := int64(0)
	for _, st := range b.Steps {
		high = max(high, st.WallNS)
	}
	order := "in order"
	if len(steps) > maxSteps {
		order = "longest first"
		slices.SortStableFunc(steps, func(a, b view.Step) int { return cmp.Compare(b.Max, a.Max) })
	}
	walled := scaleOf(high)
	var rows []budgetRow
	for _, st := range steps {
		rows = append(rows, budgetRow{
			[]string{stepName(st), b.stateWords(st), unit.Count(st.Windows), walled.text(st.Min), walled.text(st.Max)}, st.Activity, nil,
		})
	}
	t := budgetTable([]Column{{"step", Name}, {"", Text}, {"devices", Number}, {walled.head("min wall"), Number}, {walled.head("max wall"), Number}},
		rows, "sum of walls")
	t.Title = "steps"
	t.More = Rest{Total: b.stepTime(), Of: "step time"}
	t.Note = "Steps are " + order + ". " + b.stepNote() + "Wall times are over the devices, and shares are of the sum of wall times in their row."
	blocks := []Block{Paragraph{Text: b.stepSentence(int64(len(steps)))}}
	if g, ok := b.stepGroups(); ok {
		blocks = append(blocks, g)
	}
	return Section{Title: "Steps", Blocks: slices.Concat(blocks, []Block{t.cut(maxSteps).withoutEmpty()}, b.pictures("steps.png"))}
}

// stepName names a step, by its kind and number where its name has a whole batch in
// it.
func stepName(st view.Step) string {
	if st.Kind != "" {
		return fmt.Sprintf("%s %d", st.Kind, st.Number)
	}
	if number := strconv.FormatInt(st.Number, 10); !strings.Contains(st.Name, number) {
		return st.Name + " " + number // all have one name
	}
	return st.Name
}

// stateWords says why a step does not count, or stands out.
func (b *builder) stateWords(st view.Step) string {
	var words []string
	for _, n := range st.Rows {
		if n < len(b.result.States) && b.result.States[n] != judge.StepSteady {
			words = append(words, string(b.result.States[n]))
		}
	}
	slices.Sort(words)
	return strings.Join(slices.Compact(words), ", ")
}

// markers says who marks the steps.
func (b *builder) markers() string {
	var names []string
	for _, st := range b.Steps {
		if st.Marker != "" && !slices.Contains(names, st.Marker) {
			names = append(names, st.Marker)
		}
	}
	slices.Sort(names)
	for i, n := range names {
		if n == summary.MarkedByProgram {
			n = "the program"
		}
		names[i] = clip(clean(n), 40)
	}
	return strings.Join(names, " and ")
}

// stepSentence says how many steps there are, how long one is, and what of them
// is left out of that.
func (b *builder) stepSentence(steps int64) string {
	text := fmt.Sprintf("%s in %s", plural(steps, "step"), plural(int64(len(b.Steps)), "step window"))
	if by := b.markers(); by != "" {
		text += ", marked by " + by
	}
	text += ". "
	if len(b.result.Groups) == 0 {
		var walls []int64
		for _, st := range b.Steps {
			walls = append(walls, st.WallNS)
		}
		return text + fmt.Sprintf("Wall time of a step: median %s, min %s, max %s.", unit.Duration(median(walls)), unit.Duration(slices.Min(walls)), unit.Duration(slices.Max(walls)))
	}
	for _, g := range b.result.Groups {
		of := "a step"
		if g.Kind != "" {
			of = "a step of " + clip(clean(g.Kind), 30)
		}
		text += fmt.Sprintf("Wall time of %s: median %s, spread %s, min %s, max %s%s. ", of, unit.Duration(g.MedianNS), unit.Duration(g.SpreadNS),
			unit.Duration(g.MinNS), unit.Duration(g.MaxNS), leftOut(g))
	}
	return strings.TrimSpace(text) + " The spread is the median of how far steps are from their median."
}

// leftOut says which steps of a group are not in its median.
func leftOut(g judge.StepGroup) string {
	var words []string
	if g.WarmUp > 0 {
		words = append(words, unit.Count(g.WarmUp)+" of warm-up left out")
	}
	if g.Edge > 0 {
		words = append(words, unit.Count(g.Edge)+" at the edge of the capture left out")
	}
	if g.Slow > 0 {
		words = append(words, unit.Count(g.Slow)+" far over the median")
	}
	if words == nil {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// stepNote says what a step is.
func (b *builder) stepNote() string {
	byWork := slices.ContainsFunc(b.Steps, func(st summary.Step) bool { return st.Cut != "" })
	byMarker := slices.ContainsFunc(b.Steps, func(st summary.Step) bool { return st.Cut == "" })
	text := ""
	if byMarker {
		text += "A step is what the profiler or the program marked on the host; GPU work that ran on after its end falls into a later step or into none. "
	}
	if byWork {
		text += "A step of a server is the device's: it begins when the work launched before its marker is done, and ends when that launched within it is. "
	}
	return text
}

// stepGroups compares the kinds of steps, where there are several.
func (b *builder) stepGroups() (Table, bool) {
	if len(b.result.Groups) < 2 {
		return Table{}, false
	}
	var rows []budgetRow
	for _, g := range b.result.Groups {
		rows = append(rows, budgetRow{[]string{clip(clean(cmp.Or(g.Kind, "steps")), 30), unit.Count(g.Steps), unit.Duration(g.MedianNS), unit.Duration(g.SpreadNS)}, g.Activity, []string{boundOf(g.Bound)}})
	}
	t := budgetTable([]Column{{"kind", Text}, {"steps", Number}, {"median", Number}, {"spread", Number}}, rows, "sum of walls", Column{"bound", Text})
	t.Title = "kinds of steps"
	t.Note = "Times are of the steps that count in the median, added up over the devices. The bound is that of the median step."
	return t, true
}

func (b *builder) stepTime() (ns int64) {
	for _, st := range b.Steps {
		ns = summary.Plus(ns, st.WallNS)
	}
	return ns
}
