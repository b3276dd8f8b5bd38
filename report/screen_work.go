package report

import (
	"fmt"
	"strings"

	"assay/summary"
	"assay/unit"
)

// The limits of what the one-screen summary tells of idle time and of what
// launched the work.
const (
	screenReasons   = 4
	screenOperators = 4
)

// screenIdle has the largest reasons of idle time, of all devices together.
func (b *builder) screenIdle() Section {
	devices, all := idleOfDevices(b.Summary)
	if len(devices) == 0 {
		return Section{}
	}
	var total summary.Activity
	for _, d := range devices {
		total = total.Plus(b.Devices[d.at].Activity)
	}
	if total.Idle() == 0 {
		return Section{}
	}
	t := Table{Title: "reasons", More: Rest{Total: total.Idle(), Of: "idle time"}, Columns: []Column{
		{"share", Number}, {"idle", Number}, {"owner", Text}, {"in", Name},
	}}
	for _, r := range sumIdle(all) {
		t.Rows = append(t.Rows, Row{Weight: r.ns, Cells: []string{unit.Share(r.ns, total.Idle()), fourDigits(r.ns), r.reason(), r.name}})
	}
	s := Section{Title: "Idle time", Lead: fmt.Sprintf("share of the %s idle, %s of the window", unit.Duration(total.Idle()), unit.Share(total.Idle(), total.Window()))}
	if n := len(devices); n > 1 {
		s.Lead += fmt.Sprintf("s of %d devices", n)
	}
	s.Blocks = []Block{t.cut(screenReasons).withoutEmpty()}
	if line := b.gapLine(); line != "" {
		s.Blocks = append(s.Blocks, List{{Mark: "→", Text: line}})
	}
	return s
}

// screenLaunches is one line.
func (b *builder) screenLaunches() Section {
	rows, at := b.knownLaunches()
	if len(rows) == 0 {
		return Section{}
	}
	return Section{Title: "Launches", Lead: strings.TrimSuffix(b.launchSentence(rows, at), ".")}
}

// screenOperators has the operators with the most GPU time of their own.
func (b *builder) screenOperators() Section {
	list := sumOps(b.Summary)
	if !has(list) {
		return Section{}
	}
	work := gpuWork(b.Summary)
	t := Table{Title: "operators", More: Rest{Total: work, Of: "GPU work"}, Columns: []Column{
		{"share", Number}, {"self", Number}, {"count", Number}, {"operator", Name},
	}}
	for _, l := range list {
		t.Rows = append(t.Rows, Row{Weight: l.self, Cells: []string{unit.Share(l.self, work), fourDigits(l.self), unit.Count(l.count), l.name}})
	}
	return Section{
		Title:  "Top operators",
		Lead:   fmt.Sprintf("share of %s GPU work that they launched themselves", unit.Duration(work)),
		Blocks: []Block{t.cut(screenOperators)},
	}
}

// screenMemory is one line.
func (b *builder) screenMemory() Section { return Section{Title: "Memory", Lead: b.memoryLine()} }
