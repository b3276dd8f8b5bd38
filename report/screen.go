package report

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/judge"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// The limits of the one-screen summary, which has at most 60 lines.
const (
	screenDevices  = 4
	fewDevices     = 2  // if the screen also has causes or operators
	screenFindings = 3  // fewer if the screen of one input has more than screenLines
	screenLines    = 60 // of 80 columns
	screenIssues   = 3
	screenKernels  = 10
	fewKernels     = 3 // if the screen also has causes or operators

	// A bar has the columns of barRoom that the label leaves, within these limits.
	// Then a terminal of 80 columns shows labels in full.
	barRoom, minBar, maxBar = 28, 8, 14
)

func (b *builder) screenVerdict() Section {
	s := Section{Title: "Verdict", Lead: b.bound()}
	if text := b.verdictSentence(b.brief); text != "" {
		s.Blocks = append(s.Blocks, Paragraph{Text: text})
	}
	if text := b.verdictCause(); text != "" {
		s.Blocks = append(s.Blocks, Paragraph{Text: "Cause: " + b.brief(text)})
	}
	if over := b.overLimits(); len(over) > 0 {
		s.Blocks = append(s.Blocks, Paragraph{Text: overLimitsText(over)})
	} else if f, ok := b.decisive(); ok && len(f.Next) > 0 {
		s.Blocks = append(s.Blocks, Paragraph{Text: "Fix: " + b.step(f.Next[0])})
	}
	return s
}

// overLimitsText returns how many findings are more important than a verdict that asks
// for no action. The screen lists them below with their fixes.
func overLimitsText(over []judge.Finding) string {
	critical := int64(0)
	for _, f := range over {
		if f.Level == judge.Critical {
			critical++
		}
	}
	var parts []string
	if critical > 0 {
		parts = append(parts, label.Plural(critical, "critical finding"))
	}
	if n := int64(len(over)) - critical; n > 0 {
		parts = append(parts, label.Plural(n, "warning"))
	}
	return "First see the " + strings.Join(parts, " and ") + " below."
}

func (b *builder) screenCapture() Section {
	s := Section{Title: "Capture", Lead: b.captureLead()}
	if text := b.gpuLine(); text != "" {
		s.Blocks = append(s.Blocks, Paragraph{Text: text})
	}
	if key := inputKey(b.Summary, b.shownDevices()); key != nil {
		s.Blocks = append(s.Blocks, key)
	}
	var list List
	for i, is := range b.Issues {
		if i == screenIssues {
			list = append(list, Item{Text: label.Plural(int64(len(b.Issues)-i), "more issue")})
			break
		}
		list = append(list, b.screenIssue(is))
	}
	if list != nil {
		s.Blocks = append(s.Blocks, list)
	}
	return s
}

// screenIssue returns an issue with its help. If there are several inputs or the input
// is truncated, it also returns where the issue was first.
func (b *builder) screenIssue(is summary.Issue) Item {
	it := issueTitle(is)
	if is.Help != "" {
		it.Text += ": " + b.brief(is.Help)
	}
	if is.First != "" && (len(b.Inputs) > 1 || is.Code == "input-truncated") {
		it.Sub = List{{Text: "first at", Code: label.Clip(shortenWords(label.Clean(b.below(is.First)), briefWord), 200)}}
	}
	return it
}

// bar draws a breakdown as cells: full for compute, dark for exposed communication,
// light for exposed copies, dots for idle. A part under half a cell is not drawn.
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
	t := Table{Title: "GPUs", Columns: []Column{
		{"GPU", Name}, {"window", Number}, {"█ compute", Number}, {"▓ comm", Number}, {"░ copies", Number}, {"· idle", Number},
		{"", Text},
	}}
	shown, cells := b.shownDevices(), maxBar
	for _, i := range shown {
		cells = max(minBar, min(cells, barRoom-label.Width(b.devices[i])))
	}
	row := func(label string, a summary.Activity, gpus int64) Row {
		of := func(ns int64) string { return unit.Share(ns, a.Window()) }
		return Row{Cells: []string{label, fourDigits(mean(a.Window(), gpus)), of(a.Compute()), of(a.ExposedComm()), of(a.ExposedCopy()), of(a.Idle()), bar(a, cells)}}
	}
	for _, i := range shown {
		t.Rows = append(t.Rows, row(b.devices[i], b.Devices[i].Activity, 1))
	}
	s := Section{Title: "GPU time breakdown", Lead: "% of the window; comm and copies: exposed only"}
	n := len(b.Devices)
	if n > 1 {
		t.Rows = append(t.Rows, row(fmt.Sprintf("mean of %d", n), b.total, int64(n)))
	}
	s.Blocks = []Block{t}
	if n > len(shown) {
		which := fmt.Sprintf("Shown: the %d GPUs with the most idle time.", len(shown))
		if _, ok := b.namedDevice(); ok {
			which = fmt.Sprintf("Shown: %d GPUs, including the one that a finding names.", len(shown))
		}
		s.Blocks = append(s.Blocks, Paragraph{Text: which})
	}
	return s
}

// withoutClock reports whether the timestamps are not plausible. Then the screen shows
// no windows and no shares of them.
func (b *builder) withoutClock() bool {
	a := b.result.Verdict.Abstained
	return a != nil && a.Code == judge.RuleClocks
}

// screenDevices returns how many GPUs the screen lists.
func (b *builder) screenDevices() int {
	if b.attributed() {
		return fewDevices
	}
	return screenDevices
}

// shownDevices returns the indices of the GPUs that the screen lists. They include the
// GPU that a finding on ranks names.
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

// namedDevice returns the index of the GPU that a finding on ranks names, if there is
// such a finding.
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

// worstDevices returns the indices of the n GPUs with the largest share of idle time,
// in rising order.
func (b *builder) worstDevices(n int) []int { return view.Worst(b.Summary, n) }

// screenFindings returns the first findings: title, savings, cause and fix. It leaves
// out the finding of the verdict and the finding on issues, which the screen shows
// above, and fixes of findings that need no action.
func (b *builder) screenFindings(most int) Section {
	s := Section{Title: "Findings"}
	var list List
	rest := int64(0)
	for _, f := range b.result.Findings {
		switch {
		case b.decides(f), f.Rule == judge.RuleCaptureQuality:
		case len(list) == most:
			rest++
		default:
			it := Item{Mark: words.Level(f.Level) + " ", Text: b.brief(f.Title)}
			if text := savingsText(f); text != "" {
				it.Sub = append(it.Sub, Item{Text: text})
			}
			if text := b.causeText(f); text != "" && f.Level > judge.Info {
				it.Sub = append(it.Sub, Item{Text: "Cause: " + b.brief(text)})
			}
			if f.Level > judge.Info && len(f.Next) > 0 {
				it.Sub = append(it.Sub, Item{Text: "Fix: " + b.step(f.Next[0])})
			}
			list = append(list, it)
		}
	}
	if rest > 0 {
		list = append(list, Item{Text: label.Plural(rest, "more finding")})
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
	rows := screenKernels
	if b.attributed() {
		rows = fewKernels
	}
	var means []int64
	for _, k := range b.kernels[:min(rows, len(b.kernels))] {
		means = append(means, mean(k.Total, k.Count))
	}
	scale := scaleOf(means...)
	t := Table{Title: "kernels", More: Rest{Total: b.work, Of: "total kernel time"}, Columns: []Column{
		{"%", Number}, {"launches", Number}, {scale.head("mean"), Number}, {"category", Text}, {"kernel", KernelName},
	}}
	for _, k := range b.kernels {
		t.Rows = append(t.Rows, Row{Weight: k.Total, Cells: []string{
			unit.Share(k.Total, b.work), unit.Count(k.Count), scale.text(mean(k.Total, k.Count)), k.Category, k.Name,
		}})
	}
	of := unit.Duration(b.work) + ", all streams"
	if n := int64(len(b.Devices)); n > 1 {
		of = fmt.Sprintf("%s per GPU, all streams; launches: sum of %d GPUs", unit.Duration(mean(b.work, n)), n)
	}
	return Section{Title: "Top kernels by total kernel time (" + of + ")", Blocks: []Block{t.cut(rows)}}
}

func (b *builder) screenSpans() Section {
	spans, self := b.spanSums()
	if len(spans) == 0 {
		return Section{}
	}
	t := Table{Title: "slices", More: Rest{Total: self, Of: "self time"}, Columns: []Column{
		{"%", Number}, {"self", Number}, {"count", Number}, {"category", Text}, {"slice", Name},
	}}
	for _, sp := range spans {
		t.Rows = append(t.Rows, Row{Weight: sp.Self, Cells: []string{
			unit.Share(sp.Self, self), fourDigits(sp.Self), unit.Count(sp.Count), sp.Category, sp.Name,
		}})
	}
	return Section{
		Title:  "Top CPU slices by self time (" + unit.Duration(self) + ", all threads)",
		Blocks: []Block{t.cut(screenKernels)},
	}
}
