package report

import (
	"cmp"
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
	if len(b.Devices) == 0 {
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

// A stepSum is one step of the program on all devices.
type stepSum struct {
	name    string
	number  int64
	windows int64 // how many devices were in it
	min     int64 // wall time, over devices
	max     int64
	a       summary.Activity // summed over devices
}

// sumSteps adds up the steps of all devices by number and name, and returns
// them by number, then name.
func sumSteps(s *summary.Summary) []stepSum {
	type key struct {
		number int64
		name   string
	}
	index := map[key]int{}
	var out []stepSum
	for _, st := range s.Steps {
		k := key{st.Number, st.Name}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			out = append(out, stepSum{name: st.Name, number: st.Number, min: st.WallNS, max: st.WallNS})
		}
		sum := &out[i]
		sum.windows++
		sum.min = min(sum.min, st.WallNS)
		sum.max = max(sum.max, st.WallNS)
		sum.a = sum.a.Plus(st.Activity)
	}
	slices.SortFunc(out, func(a, b stepSum) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.name, b.name))
	})
	return out
}

// maxSteps is how many steps a table shows.
const maxSteps = 50

func (b *builder) steps() Section {
	steps := sumSteps(b.Summary)
	if len(steps) == 0 {
		return Section{}
	}
	var walls []int64
	for _, st := range b.Steps {
		walls = append(walls, st.WallNS)
	}
	low, high := slices.Min(walls), slices.Max(walls)
	text := fmt.Sprintf("%s in %s. Wall time of a step: median %s, min %s, max %s.", plural(int64(len(steps)), "step"),
		plural(int64(len(walls)), "step window"), unit.Duration(median(walls)), unit.Duration(low), unit.Duration(high))
	order := "in order"
	if len(steps) > maxSteps {
		order = "longest first"
		slices.SortStableFunc(steps, func(a, b stepSum) int { return cmp.Compare(b.max, a.max) })
	}
	walled := scaleOf(high)
	var rows []budgetRow
	for _, st := range steps {
		rows = append(rows, budgetRow{
			[]string{st.name, unit.Count(st.windows), walled.text(st.min), walled.text(st.max)}, st.a, nil,
		})
	}
	t := budgetTable([]Column{{"step", Name}, {"devices", Number}, {walled.head("min wall"), Number}, {walled.head("max wall"), Number}},
		rows, "sum of walls")
	t.Title = "steps"
	t.More = Rest{Total: b.stepTime(), Of: "step time"}
	t.Note = "Steps are " + order + ". A step is what the profiler marked on the host; wall times are over the devices, and shares are of the sum of " +
		"wall times in their row. GPU work that ran on after a step's end falls into a later step or into none."
	return Section{Title: "Steps", Blocks: append([]Block{Paragraph{Text: text}, t.cut(maxSteps)}, b.pictures("steps.png")...)}
}

func (b *builder) stepTime() (ns int64) {
	for _, st := range b.Steps {
		ns = summary.Plus(ns, st.WallNS)
	}
	return ns
}
