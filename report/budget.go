package report

import (
	"fmt"
	"slices"

	"assay/summary"
	"assay/unit"
)

// A budgetRow is one window, or several added up, to be split into compute,
// exposed communication, exposed copies and idle time.
type budgetRow struct {
	label []string // the cells in front
	a     summary.Activity
	extra []string // the cells behind
}

// budgetTable sets rows of a time budget: for each part its time and its share
// of the row's window.
func budgetTable(front []Column, rows []budgetRow, window string, behind ...Column) Table {
	var times []int64
	for _, r := range rows {
		times = append(times, r.a.Window())
	}
	scale := scaleOf(times...)
	t := Table{Columns: slices.Concat(front, []Column{
		{scale.head(window), Number},
		{scale.head("compute"), Number}, {"share", Number},
		{scale.head("exposed comm"), Number}, {"share", Number},
		{scale.head("exposed copies"), Number}, {"share", Number},
		{scale.head("idle"), Number}, {"share", Number},
	}, behind)}
	for _, r := range rows {
		cells := append(slices.Clone(r.label), scale.text(r.a.Window()))
		for _, ns := range []int64{r.a.Compute(), r.a.ExposedComm(), r.a.ExposedCopy(), r.a.Idle()} {
			cells = append(cells, scale.text(ns), unit.Share(ns, r.a.Window()))
		}
		t.Rows = append(t.Rows, Row{Cells: append(cells, r.extra...), Weight: r.a.Window()})
	}
	return t
}

// maxDevices is how many devices the time budget lists.
const maxDevices = 64

// budget is where the time of each device went.
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
		rows = append(rows, budgetRow{[]string{b.devices[i]}, b.Devices[i].Activity, hidden(b.Devices[i].Activity)})
	}
	if n := len(b.Devices); n > 1 {
		rows = slices.Insert(rows, 0, budgetRow{[]string{fmt.Sprintf("all %d", n)}, b.total, hidden(b.total)})
	}
	t := budgetTable([]Column{{"device", Text}}, rows, "window", Column{"comm hidden", Number})
	t.Title = "devices"
	t.Note = "A window runs from the first start to the last end of the GPU events of a device. Compute, exposed communication " +
		"(no compute beside it), exposed copies (no compute and no communication beside them; memsets included) and idle time " +
		"sum to it, and each share is of the window in its row. Hidden communication ran under compute and is given as a share of " +
		"all communication time of the row."
	if rest := len(b.Devices) - len(shown); rest > 0 {
		t.More.Rows = rest
		t.Note = fmt.Sprintf("The table has the %d devices with the largest share of idle time. ", len(shown)) + t.Note
	}
	blocks := []Block{Paragraph{Text: b.budgetSentence()}, t}
	return Section{Title: "Time budget", Blocks: append(blocks, b.pictures("time-budget.png", "activity.png")...)}
}

func (b *builder) budgetSentence() string {
	a, window := b.total, "the window of "+unit.Duration(b.total.Window())
	if n := len(b.Devices); n > 1 {
		window = fmt.Sprintf("%s, the windows of %d devices together", unit.Duration(a.Window()), n)
	}
	text := fmt.Sprintf("Of %s, %s (%s) is compute, %s (%s) exposed communication, %s (%s) exposed copies and %s (%s) idle time.", window,
		unit.Duration(a.Compute()), unit.Share(a.Compute(), a.Window()),
		unit.Duration(a.ExposedComm()), unit.Share(a.ExposedComm(), a.Window()),
		unit.Duration(a.ExposedCopy()), unit.Share(a.ExposedCopy(), a.Window()),
		unit.Duration(a.Idle()), unit.Share(a.Idle(), a.Window()))
	if comm := a.With(summary.ClassComm); comm > 0 {
		text += fmt.Sprintf(" Compute hides %s of the %s of communication.", unit.Share(a.HiddenComm(), comm), unit.Duration(comm))
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
