// Package timeline has the sections on what ran when: the time breakdown, steps, phases,
// idle time, launches, kernels, operators and CPU slices.
package timeline

import (
	"fmt"
	"slices"

	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/words"
	"assay/summary"
)

// A budgetRow is one window, or the mean of several, that is split into compute,
// exposed communication, exposed copies and idle time.
type budgetRow struct {
	label []string // the cells in front
	a     summary.Activity
	of    int64    // windows that a adds up; the row shows their mean. 0 means 1
	extra []string // the cells behind
}

// budgetTable returns a time breakdown: for each part its time and its share of the
// window of the row.
func budgetTable(front []doc.Column, rows []budgetRow, window string, behind ...doc.Column) doc.Table {
	var times []int64
	for _, r := range rows {
		times = append(times, doc.Mean(r.a.Window(), max(1, r.of)))
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Columns: slices.Concat(front, []doc.Column{
		doc.Col(scale.Head(window), doc.Number),
		doc.Col(scale.Head("compute"), doc.Number), doc.Col("%", doc.Number),
		doc.Col(scale.Head("exposed comm"), doc.Number), doc.Col("%", doc.Number),
		doc.Col(scale.Head("exposed copies"), doc.Number), doc.Col("%", doc.Number),
		doc.Col(scale.Head("idle"), doc.Number), doc.Col("%", doc.Number),
	}, behind)}
	for _, r := range rows {
		cells := append(slices.Clone(r.label), scale.Text(doc.Mean(r.a.Window(), max(1, r.of))))
		for _, ns := range []int64{r.a.Compute(), r.a.ExposedComm(), r.a.ExposedCopy(), r.a.Idle()} {
			cells = append(cells, scale.Text(doc.Mean(ns, max(1, r.of))), unit.Share(ns, r.a.Window()))
		}
		t.Rows = append(t.Rows, doc.Row{Cells: append(cells, r.extra...), Weight: r.a.Window()})
	}
	return t
}

// Budget returns the time breakdown of each GPU.
func Budget(ctx *section.Context) doc.Section {
	if len(ctx.Devices) == 0 || ctx.WithoutClock() {
		return doc.Section{}
	}
	var rows []budgetRow
	hidden := func(a summary.Activity) []string {
		return []string{unit.Share(a.HiddenComm(), a.With(summary.ClassComm))}
	}
	choice := chosenDevices(ctx, section.MaxDevices)
	shown := choice.Devices
	for _, i := range shown {
		rows = append(rows, budgetRow{label: []string{ctx.Labels[i]}, a: ctx.Judged.GPUs[i], extra: hidden(ctx.Judged.GPUs[i])})
	}
	if n := len(ctx.Devices); n > 1 {
		rows = slices.Insert(rows, 0, budgetRow{[]string{meanOf(ctx.GPUs, n)}, ctx.JudgedTotal(), int64(ctx.GPUs), hidden(ctx.JudgedTotal())})
	}
	t := budgetTable([]doc.Column{doc.Col("GPU", doc.Text)}, rows, "window", doc.Col("overlapped comm", doc.Number))
	t.Title = "GPUs"
	t.Note = "The window runs from the first to the last GPU event. Its four parts sum to it; % of the window. "
	t.Note += "Exposed communication is not overlapped by compute. Exposed copies and memsets are not overlapped by compute or communication. "
	t.Note += "Overlapped comm: % of all communication time of the row."
	if left := ctx.Judged.LeftOut(ctx.Total.Window(), int64(ctx.GPUs)); left != "" {
		t.Note += " " + left
	}
	if rest := len(ctx.Devices) - len(shown); rest > 0 {
		t.More.Rows = rest
		t.Note = "The table has " + words.Choice(choice, ctx.Devices) + " " + t.Note
	}
	blocks := []doc.Block{doc.Paragraph{Text: budgetSentence(ctx)}, t}
	return doc.Section{Title: "GPU time breakdown", Blocks: append(blocks, ctx.Pictures("time-budget.png", "activity.png")...)}
}

func budgetSentence(ctx *section.Context) string {
	a, n := ctx.JudgedTotal(), int64(ctx.GPUs)
	each := func(ns int64) string { return unit.Duration(doc.Mean(ns, n)) }
	window := "Window " + each(a.Window())
	if n > 1 {
		window = fmt.Sprintf("Mean per GPU (%d GPUs): window %s", n, each(a.Window()))
	}
	text := fmt.Sprintf("%s: compute %s (%s), exposed communication %s (%s), exposed copies %s (%s), idle %s (%s).", window,
		each(a.Compute()), unit.Share(a.Compute(), a.Window()),
		each(a.ExposedComm()), unit.Share(a.ExposedComm(), a.Window()),
		each(a.ExposedCopy()), unit.Share(a.ExposedCopy(), a.Window()),
		each(a.Idle()), unit.Share(a.Idle(), a.Window()))
	if comm := a.With(summary.ClassComm); comm > 0 {
		text += fmt.Sprintf(" Compute overlaps %s of the communication (%s).", unit.Share(a.HiddenComm(), comm), each(comm))
	}
	return text
}

// meanOf labels the row of all GPUs: their mean, or the sum of the captures of one GPU.
func meanOf(gpus, captures int) string {
	if gpus == 1 {
		return fmt.Sprintf("sum of %d", captures)
	}
	return fmt.Sprintf("mean of %d", gpus)
}
