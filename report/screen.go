package report

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/judge"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// The limits of the one-screen summary: a terminal of some 40 lines.
const (
	screenDevices  = 4
	fewDevices     = 2 // where the screen has more to tell than budgets
	screenFindings = 3
	screenIssues   = 3
	screenKernels  = 10
	fewKernels     = 3 // where the screen has more to tell than kernels

	// A bar has what a label leaves of barRoom columns, within these limits:
	// then a terminal of 80 columns shows labels whole.
	barRoom, minBar, maxBar = 28, 8, 14
)

func (b *builder) screenVerdict() Section {
	s := Section{Title: "Verdict", Lead: b.bound()}
	if text := b.verdictSentence(b.brief); text != "" {
		s.Blocks = append(s.Blocks, Paragraph{Text: text})
	}
	if over := b.overLimits(); len(over) > 0 {
		s.Blocks = append(s.Blocks, List{{Mark: "→", Text: overLimitsText(over)}})
	} else if f, ok := b.decisive(); ok && len(f.Next) > 0 {
		s.Blocks = append(s.Blocks, List{{Mark: "→", Text: b.step(f.Next[0])}})
	}
	return s
}

// overLimitsText says how many findings there are that matter more than a verdict
// of all is well. They stand below, with what to do.
func overLimitsText(over []judge.Finding) string {
	critical := int64(0)
	for _, f := range over {
		if f.Level == judge.Critical {
			critical++
		}
	}
	var parts []string
	if critical > 0 {
		parts = append(parts, plural(critical, "critical finding"))
	}
	if n := int64(len(over)) - critical; n > 0 {
		parts = append(parts, plural(n, "warning"))
	}
	return "look first at what is over its limit, below: " + strings.Join(parts, " and ")
}

func (b *builder) screenCapture() Section {
	s := Section{Title: "Capture", Lead: b.captureLine()}
	if len(b.Inputs) == 1 {
		s.Lead = label.Base(b.Inputs[0].Path) + ", " + s.Lead
	}
	if key := inputKey(b.Summary, b.shownDevices()); key != nil {
		s.Blocks = append(s.Blocks, key)
	}
	var list List
	for i, is := range b.Issues {
		if i == screenIssues {
			list = append(list, Item{Text: plural(int64(len(b.Issues)-i), "more issue")})
			break
		}
		list = append(list, b.screenIssue(is))
	}
	if list != nil {
		s.Blocks = append(s.Blocks, list)
	}
	return s
}

// screenIssue says where an issue was met first if that is not plain: which of
// several inputs it was in, or where one ends too early.
func (b *builder) screenIssue(is summary.Issue) Item {
	it := issueTitle(is)
	if is.Help != "" {
		it.Text += ": " + b.brief(is.Help)
	}
	if is.First != "" && (len(b.Inputs) > 1 || is.Code == "input-truncated") {
		it.Sub = List{{Text: "first at", Code: clip(shortenWords(clean(b.below(is.First)), briefWord), 200)}}
	}
	return it
}

// bar draws a as cells: full compute, dark exposed communication, light
// exposed copies, dots idle. A part of under half a cell is not drawn.
func bar(a summary.Activity, cells int) string {
	glyphs := []string{"█", "▓", "░", "·"}
	var out strings.Builder
	for i, n := range apportion(cells, a.Compute(), a.ExposedComm(), a.ExposedCopy(), a.Idle()) {
		out.WriteString(strings.Repeat(glyphs[i], n))
	}
	return out.String()
}

func (b *builder) screenBudget() Section {
	if len(b.Devices) == 0 || b.withoutClock() {
		return Section{}
	}
	t := Table{Title: "devices", Columns: []Column{
		{"device", Name}, {"window", Number}, {"█ compute", Number}, {"▓ comm", Number}, {"░ copies", Number}, {"· idle", Number},
		{"", Text},
	}}
	shown, cells := b.shownDevices(), maxBar
	for _, i := range shown {
		cells = max(minBar, min(cells, barRoom-width(b.devices[i])))
	}
	row := func(label string, a summary.Activity) Row {
		of := func(ns int64) string { return unit.Share(ns, a.Window()) }
		return Row{Cells: []string{label, fourDigits(a.Window()), of(a.Compute()), of(a.ExposedComm()), of(a.ExposedCopy()), of(a.Idle()), bar(a, cells)}}
	}
	for _, i := range shown {
		t.Rows = append(t.Rows, row(b.devices[i], b.Devices[i].Activity))
	}
	s := Section{Title: "Time budget", Lead: "share of the window; of comm and copies the exposed part"}
	if n := len(b.Devices); n > 1 {
		label := fmt.Sprintf("all %d", n)
		if n > len(shown) {
			which := "the %d of %d devices with the largest share of idle time"
			if _, ok := b.namedDevice(); ok {
				which = "%d of %d devices, with the one that a finding names"
			}
			s.Lead += "; " + fmt.Sprintf(which, len(shown), n)
		}
		t.Rows = append(t.Rows, row(label, b.total))
	}
	s.Blocks = []Block{t}
	return s
}

// withoutClock reports whether the windows of the devices are not plausible: their
// lengths and shares are not shown.
func (b *builder) withoutClock() bool {
	a := b.result.Verdict.Abstained
	return a != nil && a.Code == judge.RuleClocks
}

// screenDevices is how many devices the screen lists.
func (b *builder) screenDevices() int {
	if b.attributed() {
		return fewDevices
	}
	return screenDevices
}

// shownDevices are those that the screen lists: the one that a finding on ranks names
// is among them, for else nothing is to be seen of it.
func (b *builder) shownDevices() []int {
	n := b.screenDevices()
	shown := b.worstDevices(n)
	named, ok := b.namedDevice()
	if !ok || slices.Contains(shown, named) {
		return shown
	}
	shown = append(b.worstDevices(n-1), named)
	slices.Sort(shown)
	return shown
}

// namedDevice returns the device of the rank that a finding is about, if one is.
func (b *builder) namedDevice() (int, bool) {
	for _, f := range b.result.Findings {
		ofRank := f.Rule == judge.RuleStragglingRank || f.Rule == judge.RuleUnevenRanks
		if !ofRank || f.Level == judge.Info || len(f.Where) == 0 || f.Where[0].Device == nil {
			continue
		}
		at := f.Where[0]
		for i, d := range b.Devices {
			if d.Input == at.Input && d.Rank == at.Rank && d.Device == *at.Device {
				return i, true
			}
		}
	}
	return 0, false
}

// worstDevices returns the indices of at most n devices in rising order: those
// with the largest share of idle time where there are more.
func (b *builder) worstDevices(n int) []int { return view.Worst(b.Summary, n) }

// screenFindings leaves out what stands above already, the finding of the
// verdict and that of the issues, and advice where no action is needed.
func (b *builder) screenFindings() Section {
	s := Section{Title: "Findings"}
	var list List
	rest := int64(0)
	for _, f := range b.result.Findings {
		switch {
		case b.decides(f), f.Rule == judge.RuleCaptureQuality:
		case len(list) == screenFindings:
			rest++
		default:
			it := Item{Mark: f.Level.String(), Text: b.brief(f.Title + doubt(f))}
			if f.Level > judge.Info && len(f.Next) > 0 {
				it.Sub = List{{Mark: "→", Text: b.step(f.Next[0])}}
			}
			list = append(list, it)
		}
	}
	if rest > 0 {
		list = append(list, Item{Text: plural(rest, "more finding")})
	}
	if list != nil {
		s.Blocks = []Block{list}
	}
	return s
}

func (b *builder) screenKernels() Section {
	if len(b.kernels) == 0 {
		return Section{}
	}
	t := Table{Title: "kernels", More: Rest{Total: b.work, Of: "kernel time"}, Columns: []Column{
		{"share", Number}, {"count", Number}, {"mean", Number}, {"category", Text}, {"kernel", KernelName},
	}}
	for _, k := range b.kernels {
		t.Rows = append(t.Rows, Row{Weight: k.Total, Cells: []string{
			unit.Share(k.Total, b.work), unit.Count(k.Count), fourDigits(mean(k.Total, k.Count)), k.Category, k.Name,
		}})
	}
	rows := screenKernels
	if b.attributed() {
		rows = fewKernels
	}
	return Section{
		Title:  "Top kernels",
		Lead:   fmt.Sprintf("share of %s kernel time (sum of durations)", unit.Duration(b.work)),
		Blocks: []Block{t.cut(rows)},
	}
}

func (b *builder) screenSpans() Section {
	spans, self := b.spanSums()
	if len(spans) == 0 {
		return Section{}
	}
	t := Table{Title: "spans", More: Rest{Total: self, Of: "self time"}, Columns: []Column{
		{"share", Number}, {"self", Number}, {"count", Number}, {"category", Text}, {"host span", Name},
	}}
	for _, sp := range spans {
		t.Rows = append(t.Rows, Row{Weight: sp.Self, Cells: []string{
			unit.Share(sp.Self, self), fourDigits(sp.Self), unit.Count(sp.Count), sp.Category, sp.Name,
		}})
	}
	return Section{
		Title:  "Top host spans",
		Lead:   fmt.Sprintf("share of %s self time of all threads", unit.Duration(self)),
		Blocks: []Block{t.cut(screenKernels)},
	}
}
