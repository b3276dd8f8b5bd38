package timeline

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/show"
	"assay/report/words"
	"assay/summary"
	"assay/summary/row"
	"assay/summary/view"
)

// The limits of the one-screen summary. The larger part of the window gets more rows.
const (
	fewDevices      = 2 // if the screen also has causes or operators
	screenKernels   = 10
	fewKernels      = 3 // if the screen also has causes or operators
	screenReasons   = 4
	fewReasons      = 3
	screenOperators = 3
)

// A bar has the columns of barRoom that the label leaves, within these limits.
// Then a terminal of 80 columns shows labels in full.
const barRoom, minBar, maxBar = 28, 8, 14

func ScreenBudget(ctx *section.Context) doc.Section {
	if len(ctx.Devices) == 0 || ctx.WithoutClock() {
		return doc.Section{}
	}
	t := doc.Table{Title: "GPUs", Columns: []doc.Column{
		doc.Col("GPU", doc.Name), doc.Col("window", doc.Number), doc.Col("█ compute", doc.Number), doc.Col("▓ comm", doc.Number), doc.Col("░ copies", doc.Number), doc.Col("· idle", doc.Number),
		doc.Col("", doc.Text),
	}}
	choice, cells := screenChoice(ctx), maxBar
	shown := choice.Devices
	for _, i := range shown {
		cells = max(minBar, min(cells, barRoom-label.Width(ctx.Labels[i])))
	}
	row := func(label string, a summary.Activity, gpus int64) doc.Row {
		of := func(ns int64) string { return unit.Share(ns, a.Window()) }
		return doc.Row{Cells: []string{label, doc.FourDigits(doc.Mean(a.Window(), gpus)), of(a.Compute()), of(a.ExposedComm()), of(a.ExposedCopy()), of(a.Idle()), doc.Bar(cells, a.Compute(), a.ExposedComm(), a.ExposedCopy(), a.Idle())}}
	}
	for _, i := range shown {
		t.Rows = append(t.Rows, row(ctx.Labels[i], ctx.Judged.GPUs[i], 1))
	}
	s := doc.Section{Title: "GPU time breakdown", Lead: "% of the window; comm and copies: exposed only"}
	n := len(ctx.Devices)
	if n > 1 {
		t.Rows = append(t.Rows, row(meanOf(ctx.GPUs, n), ctx.JudgedTotal(), int64(ctx.GPUs)))
	}
	s.Blocks = []doc.Block{t}
	if left := ctx.Judged.LeftOut(ctx.Total, int64(ctx.GPUs)); left != "" {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: left})
	}
	if n > len(shown) {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: "Shown: " + words.Choice(choice, ctx.Devices)})
	}
	return s
}

// screenDevices returns how many GPUs the screen lists.
func screenDevices(ctx *section.Context) int {
	if ctx.Attributed() {
		return fewDevices
	}
	return section.ScreenDevices
}

// ShownDevices returns the indices of the GPUs that the screen lists. They include the
// GPU that a finding on ranks names.
func ShownDevices(ctx *section.Context) []int { return screenChoice(ctx).Devices }

func screenChoice(ctx *section.Context) view.Choice { return chosenDevices(ctx, screenDevices(ctx)) }

// chosenDevices returns at most n of all GPUs.
func chosenDevices(ctx *section.Context, n int) view.Choice {
	var named []summary.GPU
	if i, ok := namedDevice(ctx); ok {
		d := &ctx.Devices[i]
		named = append(named, summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device})
	}
	all := make([]int, len(ctx.Devices))
	for i := range all {
		all[i] = i
	}
	return view.Choose(ctx.Summary, all, named, n)
}

// namedDevice returns the index of the GPU that a finding on ranks or on the division of work names,
// if there is such a finding.
func namedDevice(ctx *section.Context) (int, bool) {
	for _, f := range ctx.Result.Findings {
		ofRank := f.Rule == rule.StragglingRank || f.Rule == rule.UnevenRanks || f.Rule == rule.UnevenGPUs
		if !ofRank || f.Level == finding.Info || len(f.Where) == 0 || f.Where[0].Device == nil {
			continue
		}
		at := f.Where[0]
		for i, d := range ctx.Devices {
			if d.Input == at.Input && d.Rank == at.Rank && d.Device == *at.Device {
				return i, true
			}
		}
	}
	return 0, false
}

func ScreenKernels(ctx *section.Context) doc.Section {
	if len(ctx.ByName.Rows) == 0 {
		return doc.Section{}
	}
	v := show.View{Columns: "%;launches;mean;category;kernel", Most: screenKernels}
	if ctx.Attributed() {
		v.Most = fewKernels
	}
	of := unit.Duration(ctx.ByName.Whole) + ", all streams"
	if n := int64(ctx.GPUs); n > 1 {
		of = fmt.Sprintf("%s per GPU, all streams; launches: sum of %d GPUs", unit.Duration(doc.Mean(ctx.ByName.Whole, n)), n)
	}
	return doc.Section{Title: "Top kernels by total kernel time (" + of + ")", Blocks: []doc.Block{v.Table(ctx.ByName)}}
}

func ScreenSpans(ctx *section.Context) doc.Section {
	spans := spanSums(ctx)
	if spans.Whole == 0 {
		return doc.Section{}
	}
	v := show.View{Columns: "%;self;count;category;slice", Most: screenKernels}
	return doc.Section{
		Title:  "Top " + slicesTitle(ctx) + " by self time (" + unit.Duration(spans.Whole) + ", all threads)",
		Blocks: []doc.Block{v.Table(spans)},
	}
}

// ScreenAsync returns the asynchronous operations of a capture without GPU events.
func ScreenAsync(ctx *section.Context) doc.Section {
	t, ok := asyncTable(ctx, screenKernels)
	if !ok {
		return doc.Section{}
	}
	return doc.Section{Title: "Top asynchronous operations by total time (they overlap)", Blocks: []doc.Block{t}}
}

// ScreenIdle returns the largest causes of idle time over all GPUs.
func ScreenIdle(ctx *section.Context) doc.Section {
	devices, all := judgedIdle(ctx)
	if len(devices) == 0 {
		return doc.Section{}
	}
	var total summary.Activity
	for _, d := range devices {
		total = total.Plus(ctx.Judged.IdleGPUs[d.At])
	}
	if total.Idle() == 0 {
		return doc.Section{}
	}
	n := int64(view.IdleGPUs(ctx.Summary, devices))
	causes := summary.Idles().By(all, "owner", "state")
	v := show.View{Columns: "%;idle;cause;in", Most: fewReasons, Title: "causes", Whole: total.Idle(), Of: causes.Of, Per: n, Cells: map[string]show.Cell{
		"cause": causeCell(causes, all),
		"in":    inCell(causes),
	}}
	each := ""
	if n > 1 {
		each = fmt.Sprintf(" per GPU, mean of %d", n)
	}
	s := doc.Section{Title: fmt.Sprintf("Idle time by cause (%s%s, %s of the %s)", unit.Duration(doc.Mean(total.Idle(), n)), each, unit.Share(total.Idle(), total.Window()), ctx.Judged.IdleName())}
	if !ctx.MostlyIdle() {
		s.Blocks = []doc.Block{v.Table(causes).WithoutEmpty()}
		return s
	}
	v.Most = screenReasons
	s.Blocks = []doc.Block{v.Table(causes).WithoutEmpty()}
	var list doc.List
	if line := gapLine(ctx); line != "" {
		list = append(list, doc.Item{Text: line})
	}
	if rows, at := knownLaunches(ctx); len(rows) > 0 {
		list = append(list, doc.Item{Text: strings.TrimSuffix(launchSentence(ctx, rows, at), ".")})
	}
	if list != nil {
		s.Blocks = append(s.Blocks, list)
	}
	return s
}

// ScreenOperators returns the operators with the most self GPU time, unless the GPUs
// are mostly idle.
func ScreenOperators(ctx *section.Context) doc.Section {
	ops := summary.Ops().By(ctx.Ops, "operator")
	if !view.HasGPUTime(ops) || ctx.MostlyIdle() {
		return doc.Section{}
	}
	ops.Rows = slices.DeleteFunc(ops.Rows, func(r row.Row) bool { return ops.Main(&r) <= 0 })
	work, n := view.GPUWork(ctx.Summary), max(1, int64(ctx.GPUs))
	t := show.View{Columns: "%;self;calls;operator", Most: screenOperators, Whole: work, Of: ops.Of, Per: n}.Table(ops)
	of := unit.Duration(work)
	if n > 1 {
		of = fmt.Sprintf("%s per GPU; calls: sum of all GPUs", unit.Duration(doc.Mean(work, n)))
	}
	// Work of CUDA graphs and of calls whose operator is unknown is in no row.
	if rest := work - ops.Whole; rest >= work/100 && rest > 0 {
		of += "; " + unit.Share(rest, work) + " in " + outside(ctx.Summary, rest)
	}
	return doc.Section{Title: "Top operators by self GPU time (" + of + ")", Blocks: []doc.Block{t}}
}

// outside names the work without an operator: replays of graphs, if these do most of it. The tables of efficiency list the
// operators of their capture.
func outside(s *summary.Summary, rest int64) string {
	replays := int64(0)
	for i := range s.Graphs {
		replays = summary.Plus(replays, s.Graphs[i].WorkNS)
	}
	switch {
	case replays < rest-rest/10:
		return "no operator"
	case slices.ContainsFunc(s.Efficiency.Rows, func(r summary.EfficiencyRow) bool { return r.From == summary.FromCapture }):
		return "graph replays, see Efficiency"
	}
	return "graph replays"
}
