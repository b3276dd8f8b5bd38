package report

import (
	"fmt"
	"slices"

	"assay/summary"
	"assay/unit"
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
func budgetTable(front []Column, rows []budgetRow, window string, behind ...Column) Table {
	var times []int64
	for _, r := range rows {
		times = append(times, mean(r.a.Window(), max(1, r.of)))
	}
	scale := scaleOf(times...)
	t := Table{Columns: slices.Concat(front, []Column{
		{scale.head(window), Number},
		{scale.head("compute"), Number}, {"%", Number},
		{scale.head("exposed comm"), Number}, {"%", Number},
		{scale.head("exposed copies"), Number}, {"%", Number},
		{scale.head("idle"), Number}, {"%", Number},
	}, behind)}
	for _, r := range rows {
		cells := append(slices.Clone(r.label), scale.text(mean(r.a.Window(), max(1, r.of))))
		for _, ns := range []int64{r.a.Compute(), r.a.ExposedComm(), r.a.ExposedCopy(), r.a.Idle()} {
			cells = append(cells, scale.text(mean(ns, max(1, r.of))), unit.Share(ns, r.a.Window()))
		}
		t.Rows = append(t.Rows, Row{Cells: append(cells, r.extra...), Weight: r.a.Window()})
	}
	return t
}

// maxDevices is the largest number of GPUs that a table lists.
const maxDevices = 64

// budget returns the time breakdown of each GPU.
func (b *builder) budget() Section {
	if len(b.Devices) == 0 || b.withoutClock() {
		return Section{}
	}
	var rows []budgetRow
	hidden := func(a summary.Activity) []string {
		return []string{unit.Share(a.HiddenComm(), a.With(summary.ClassComm))}
	}
	shown := b.worstDevices(maxDevices)
	for _, i := range shown {
		rows = append(rows, budgetRow{label: []string{b.devices[i]}, a: b.Devices[i].Activity, extra: hidden(b.Devices[i].Activity)})
	}
	if n := len(b.Devices); n > 1 {
		rows = slices.Insert(rows, 0, budgetRow{[]string{fmt.Sprintf("mean of %d", n)}, b.total, int64(n), hidden(b.total)})
	}
	t := budgetTable([]Column{{"GPU", Text}}, rows, "window", Column{"overlapped comm", Number})
	t.Title = "GPUs"
	t.Note = "The window runs from the first to the last GPU event. Its four parts sum to it; % of the window. "
	t.Note += "Exposed communication is not overlapped by compute. Exposed copies and memsets are not overlapped by compute or communication. "
	t.Note += "Overlapped comm: % of all communication time of the row."
	if rest := len(b.Devices) - len(shown); rest > 0 {
		t.More.Rows = rest
		t.Note = fmt.Sprintf("The table has the %d GPUs with the most idle time. ", len(shown)) + t.Note
	}
	blocks := []Block{Paragraph{Text: b.budgetSentence()}, t}
	return Section{Title: "GPU time breakdown", Blocks: append(blocks, b.pictures("time-budget.png", "activity.png")...)}
}

func (b *builder) budgetSentence() string {
	a, n := b.total, int64(len(b.Devices))
	each := func(ns int64) string { return unit.Duration(mean(ns, n)) }
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

// pictures returns those of the files that exist.
func (b *builder) pictures(files ...string) []Block {
	var blocks []Block
	for _, f := range files {
		if c, ok := b.charts[f]; ok {
			blocks = append(blocks, Picture{c})
		}
	}
	return blocks
}
