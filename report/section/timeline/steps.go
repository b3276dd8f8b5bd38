package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/internal/unit"
	"assay/judge/timeline"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
)

// maxSteps is how many steps a table shows.
const maxSteps = 50

func Steps(ctx *section.Context) doc.Section {
	steps := view.Steps(ctx.Summary)
	if len(steps) == 0 {
		return doc.Section{}
	}
	high := int64(0)
	for _, st := range ctx.Steps {
		high = max(high, st.WallNS)
	}
	order := "in order"
	if len(steps) > maxSteps {
		order = "longest first"
		slices.SortStableFunc(steps, func(a, b view.Step) int { return cmp.Compare(b.Max, a.Max) })
	}
	walled := doc.ScaleOf(high)
	var rows []budgetRow
	for _, st := range steps {
		rows = append(rows, budgetRow{
			label: []string{stepName(st), stateWords(ctx, st), unit.Count(st.Windows), walled.Text(st.Min), walled.Text(st.Max)},
			a:     st.Activity, of: int64(st.Windows),
		})
	}
	t := budgetTable([]doc.Column{doc.Col("step", doc.Name), doc.Col("", doc.Text), doc.Col("GPUs", doc.Number), doc.Col(walled.Head("min step time"), doc.Number), doc.Col(walled.Head("max step time"), doc.Number)},
		rows, "mean step time")
	t.Title = "steps"
	t.More = doc.Rest{Total: stepTime(ctx), Of: "step time"}
	t.Note = "Steps are " + order + ". " + stepNote(ctx) + "Times are means over the GPUs; % of the mean step time of the row."
	blocks := []doc.Block{doc.Paragraph{Text: stepSentence(ctx, int64(len(steps)))}}
	if g, ok := stepGroups(ctx); ok {
		blocks = append(blocks, g)
	}
	if b, ok := stepBatches(ctx); ok {
		blocks = append(blocks, b)
	}
	return doc.Section{Title: "Steps", Blocks: slices.Concat(blocks, []doc.Block{t.Cut(maxSteps).WithoutEmpty()}, ctx.Pictures("steps.png"))}
}

// stepName returns the name of a step: its kind and number if it has a kind, because
// the name then describes a whole batch.
func stepName(st view.Step) string {
	if st.Kind != "" {
		return fmt.Sprintf("%s %d", st.Kind, st.Number)
	}
	if number := strconv.FormatInt(st.Number, 10); !strings.Contains(st.Name, number) {
		return st.Name + " " + number // all have one name
	}
	return st.Name
}

// stateWords returns why a step does not count, or why it is remarkable.
func stateWords(ctx *section.Context, st view.Step) string {
	var list []string
	for _, n := range st.Rows {
		if n < len(ctx.Result.States) && ctx.Result.States[n] != timeline.StepSteady {
			list = append(list, words.Step(ctx.Result.States[n]))
		}
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), ", ")
}

// markers returns the names of the programs that mark the steps.
func markers(ctx *section.Context) string {
	var names []string
	for _, st := range ctx.Steps {
		if st.Marker != "" && !slices.Contains(names, st.Marker) {
			names = append(names, st.Marker)
		}
	}
	slices.Sort(names)
	for i, n := range names {
		if n == summary.MarkedByProgram {
			n = "the program"
		}
		names[i] = label.Clip(label.Clean(n), 40)
	}
	return strings.Join(names, " and ")
}

// stepSentence returns the number of steps, their times, and which steps these times
// leave out.
func stepSentence(ctx *section.Context, steps int64) string {
	text := label.Plural(steps, "step")
	if n := int64(len(ctx.Steps)); n > steps {
		text += strings.TrimPrefix(stepsOnGPUs(steps, n, int64(ctx.GPUs)), unit.Count(steps))
	}
	if by := markers(ctx); by != "" {
		text += ", marked by " + by
	}
	text += ". "
	if len(ctx.Result.Groups) == 0 {
		var walls []int64
		for _, st := range ctx.Steps {
			walls = append(walls, st.WallNS)
		}
		return text + fmt.Sprintf("Step time: median %s, min %s, max %s.", unit.FineDuration(stat.Median(walls)), unit.FineDuration(slices.Min(walls)), unit.FineDuration(slices.Max(walls)))
	}
	for _, g := range ctx.Result.Groups {
		of := "Step time"
		if g.Kind != "" {
			of += " (" + words.PhaseName(g.Kind) + ")"
		}
		text += of + ": " + stepTimes(g, true, true) + leftOut(g) + ". "
	}
	if strings.Contains(text, "MAD ") {
		text += "MAD: median absolute deviation from the median."
	}
	return strings.TrimSpace(text)
}

// stepTimes returns the times of the steps of a group. One step has one time, and neither a median nor a spread.
func stepTimes(g timeline.StepGroup, spread, least bool) string {
	if g.Steps == 1 {
		return unit.FineDuration(g.MedianNS)
	}
	text := "median " + unit.FineDuration(g.MedianNS)
	if spread {
		text += ", MAD " + unit.FineDuration(g.SpreadNS)
	}
	if least {
		text += ", min " + unit.FineDuration(g.MinNS)
	}
	return text + ", max " + unit.FineDuration(g.MaxNS)
}

// leftOut returns which steps of a group its median leaves out, in parentheses.
func leftOut(g timeline.StepGroup) string {
	var list []string
	if g.WarmUp > 0 {
		list = append(list, unit.Count(g.WarmUp)+" warm-up left out")
	}
	if g.Edge > 0 {
		list = append(list, unit.Count(g.Edge)+" partial left out")
	}
	if g.Slow > 0 {
		list = append(list, unit.Count(g.Slow)+" slow")
	}
	if list == nil {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// stepNote explains what a step is.
func stepNote(ctx *section.Context) string {
	byWork := slices.ContainsFunc(ctx.Steps, func(st summary.Step) bool { return st.Cut != "" })
	byMarker := slices.ContainsFunc(ctx.Steps, func(st summary.Step) bool { return st.Cut == "" })
	text := ""
	if byMarker {
		text += "A step is a marked range on the CPU. GPU work after the end of the marker counts for a later step or none. "
	}
	if byWork {
		text += "Where the CPU runs ahead of the GPU, a step is a range on the GPU: it starts when all work launched before the marker has ended, and ends when all work launched inside the marker has ended. "
	}
	return text
}

// stepGroups returns a row for each kind of step. It reports false if there is only one.
func stepGroups(ctx *section.Context) (doc.Table, bool) {
	if len(ctx.Result.Groups) < 2 {
		return doc.Table{}, false
	}
	var rows []budgetRow
	for _, g := range ctx.Result.Groups {
		rows = append(rows, budgetRow{label: []string{cmp.Or(words.PhaseName(g.Kind), "steps"), unit.Count(g.Steps), unit.FineDuration(g.MedianNS), unit.FineDuration(g.SpreadNS)}, a: g.Activity, extra: []string{limitedBy(ctx, g.Bound)}})
	}
	t := budgetTable([]doc.Column{doc.Col("kind", doc.Text), doc.Col("steps", doc.Number), doc.Col("median", doc.Number), doc.Col("MAD", doc.Number)}, rows, "sum of step times", doc.Col("limited by", doc.Text))
	t.Title = "kinds of steps"
	t.Note = "Times are sums over the steps that count in the median and over the GPUs. Limited by: what limits the median step."
	return t, true
}

// maxBatches is how many batch sizes of each kind a table shows.
const maxBatches = 12

// stepBatches returns the steps of a server by kind and number of sequences. It reports false if no marker
// contains that number.
func stepBatches(ctx *section.Context) (doc.Table, bool) {
	t := doc.Table{Title: "steps by batch", Columns: []doc.Column{
		doc.Col("kind", doc.Text), doc.Col("sequences", doc.Number), doc.Col("steps", doc.Number),
		doc.Col("median step time", doc.Number), doc.Col("tokens/s", doc.Number),
	}, Note: "Tokens/s: tokens that the steps compute over their time, without the time between steps. Decode: one token for each sequence."}
	for _, g := range ctx.Result.Groups {
		for _, b := range g.Batches {
			rate := ""
			if b.TokensPerS > 0 {
				rate = unit.Count(int64(b.TokensPerS + 0.5))
			}
			t.Rows = append(t.Rows, doc.Row{Weight: b.MedianNS * b.Steps, Cells: []string{words.PhaseName(g.Kind), unit.Count(b.Sequences),
				unit.Count(b.Steps), unit.FineDuration(b.MedianNS), rate}})
		}
	}
	return t.Cut(maxBatches).WithoutEmpty(), len(t.Rows) > 0
}

func stepTime(ctx *section.Context) (ns int64) {
	for _, st := range ctx.Steps {
		ns += st.WallNS
	}
	return ns
}
