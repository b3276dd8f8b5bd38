package report

import (
	"fmt"
	"strings"

	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// The limits of what the one-screen summary tells of idle time and of what
// launched the work: more of what is the larger part.
const (
	screenReasons   = 4
	fewReasons      = 3
	screenOperators = 3
)

// mostlyIdle reports whether nothing ran for the larger part of the windows.
func (b *builder) mostlyIdle() bool { return b.total.Idle() > b.total.Busy() }

// attributed reports whether it is known where time or work came from.
func (b *builder) attributed() bool { return len(b.Idle) > 0 || len(b.Ops) > 0 }

// screenIdle has the largest reasons of idle time, of all devices together.
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
	t := Table{Title: "reasons", More: Rest{Total: total.Idle(), Of: "idle time"}, Columns: []Column{
		{"share", Number}, {"idle", Number}, {"owner", Text}, {"most of it in", Name},
	}}
	for _, r := range view.SumIdleByState(all) {
		name := r.Name
		if name == "" {
			name = unit.None
		}
		t.Rows = append(t.Rows, Row{Weight: r.NS, Cells: []string{unit.Share(r.NS, total.Idle()), fourDigits(r.NS), r.Reason(), name}})
	}
	s := Section{Title: "Idle time", Lead: fmt.Sprintf("share of the %s idle, %s of the window", unit.Duration(total.Idle()), unit.Share(total.Idle(), total.Window()))}
	if n := len(devices); n > 1 {
		s.Lead += fmt.Sprintf("s of %d devices", n)
	}
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

// screenOperators has the operators with the most GPU time of their own, unless
// the GPU waits more than it works.
func (b *builder) screenOperators() Section {
	list := view.Ops(b.Summary)
	if !view.HasGPUTime(list) || b.mostlyIdle() {
		return Section{}
	}
	work := view.GPUWork(b.Summary)
	t := Table{Title: "operators", More: Rest{Total: work, Of: "GPU work"}, Columns: []Column{
		{"share", Number}, {"self", Number}, {"count", Number}, {"operator", Name},
	}}
	for _, l := range list {
		if l.Self > 0 {
			t.Rows = append(t.Rows, Row{Weight: l.Self, Cells: []string{unit.Share(l.Self, work), fourDigits(l.Self), unit.Count(l.Count), l.Name}})
		}
	}
	return Section{
		Title:  "Top operators",
		Lead:   fmt.Sprintf("share of %s GPU work that they launched themselves", unit.Duration(work)),
		Blocks: []Block{t.cut(screenOperators)},
	}
}

// screenMemory is one line.
func (b *builder) screenMemory() Section { return Section{Title: "Memory", Lead: b.memoryLine()} }
