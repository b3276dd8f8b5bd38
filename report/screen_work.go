package report

import (
	"fmt"
	"strings"

	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// The limits of the one-screen summary on idle time and on operators. The larger part
// of the window gets more rows.
const (
	screenReasons   = 4
	fewReasons      = 3
	screenOperators = 3
)

// mostlyIdle reports whether the GPUs are idle for more than half of the window.
func (b *builder) mostlyIdle() bool { return b.total.Idle() > b.total.Busy() }

// attributed reports whether the causes of idle time or the operators are known.
func (b *builder) attributed() bool { return len(b.Idle) > 0 || len(b.Ops) > 0 }

// screenIdle returns the largest causes of idle time over all GPUs.
func (b *builder) screenIdle() Section {
	devices, all := view.IdleOfDevices(b.Summary)
	if len(devices) == 0 {
		return Section{}
	}
	var total summary.Activity
	for _, d := range devices {
		total = total.Plus(b.Devices[d.At].Activity)
	}
	if total.Idle() == 0 {
		return Section{}
	}
	n := int64(len(devices))
	sums := view.SumIdleByState(all)
	var times []int64
	for _, r := range sums {
		times = append(times, mean(r.NS, n))
	}
	scale := scaleOf(times...)
	t := Table{Title: "causes", More: Rest{Total: total.Idle(), Of: "idle time"}, Columns: []Column{
		{"%", Number}, {scale.head("idle"), Number}, {"cause", Text}, {"in", Name},
	}}
	for _, r := range sums {
		name := r.Name
		if name == "" {
			name = unit.None
		}
		t.Rows = append(t.Rows, Row{Weight: r.NS, Cells: []string{unit.Share(r.NS, total.Idle()), scale.text(mean(r.NS, n)), words.Cause(r.Owner, r.State, ""), name}})
	}
	each := ""
	if n > 1 {
		each = fmt.Sprintf(" per GPU, mean of %d", n)
	}
	s := Section{Title: fmt.Sprintf("Idle time by cause (%s%s, %s of the window)", unit.Duration(mean(total.Idle(), n)), each, unit.Share(total.Idle(), total.Window()))}
	if !b.mostlyIdle() {
		s.Blocks = []Block{t.cut(fewReasons)}
		return s
	}
	s.Blocks = []Block{t.cut(screenReasons)}
	var list List
	if line := b.gapLine(); line != "" {
		list = append(list, Item{Text: line})
	}
	if rows, at := b.knownLaunches(); len(rows) > 0 {
		list = append(list, Item{Text: strings.TrimSuffix(b.launchSentence(rows, at), ".")})
	}
	if list != nil {
		s.Blocks = append(s.Blocks, list)
	}
	return s
}

// screenOperators returns the operators with the most self GPU time, unless the GPUs
// are mostly idle.
func (b *builder) screenOperators() Section {
	list := view.Ops(b.Summary)
	if !view.HasGPUTime(list) || b.mostlyIdle() {
		return Section{}
	}
	work := view.GPUWork(b.Summary)
	n := max(1, int64(len(b.Devices)))
	scale := scaleOf(mean(list[0].Self, n))
	t := Table{Title: "operators", More: Rest{Total: work, Of: "total GPU time"}, Columns: []Column{
		{"%", Number}, {scale.head("self"), Number}, {"calls", Number}, {"operator", Name},
	}}
	for _, l := range list {
		if l.Self > 0 {
			t.Rows = append(t.Rows, Row{Weight: l.Self, Cells: []string{unit.Share(l.Self, work), scale.text(mean(l.Self, n)), unit.Count(l.Count), l.Name}})
		}
	}
	of := unit.Duration(work)
	if n > 1 {
		of = fmt.Sprintf("%s per GPU; calls: sum of all ranks", unit.Duration(mean(work, n)))
	}
	return Section{Title: "Top operators by self GPU time (" + of + ")", Blocks: []Block{t.cut(screenOperators)}}
}

// screenMemory is one line.
func (b *builder) screenMemory() Section { return Section{Title: "Memory", Lead: b.memoryLine()} }
