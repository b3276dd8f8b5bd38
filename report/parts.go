package report

import (
	"slices"

	"assay/report/doc"
	"assay/report/section"
	"assay/report/section/counters"
	"assay/report/section/efficiency"
	"assay/report/section/logs"
	"assay/report/section/memory"
	"assay/report/section/ranks"
	"assay/report/section/tables"
	"assay/report/section/timeline"
)

// A part is one subject of a report. The one-screen summary, the page for a pull request,
// report.md and report.html show the same parts in the same order, and differ in depth only.
// A part that an output does not show has no function for it.
type part struct {
	name   string
	screen show // what the one-screen summary shows
	report show // what report.md shows; report.html, too, unless drawn is set

	fold  fold // how the page for a pull request shows what the screen shows
	drawn bool // report.html shows it in another form: as a lane, a chart or a sortable table
	apart bool // takes about as long as all others, so it is made on another core
}

// A show makes the sections of a part. Sections without blocks are left out later.
type show func(*section.Context) []doc.Section

// A fold says how the page for a pull request shows a part.
type fold uint8

const (
	notBriefly fold = iota // not, or in its head: the verdict, the time breakdown and the first findings
	folded                 // one click away
	measured               // as folded; the first of these is open if there are neither steps nor GPUs
)

// partFindings is the part whose depth on the screen depends on the room that is left.
const partFindings = "findings"

// parts returns the parts of a report in their order. Parts on idle time come first if
// the GPUs are mostly idle, and parts on work otherwise.
func parts(ctx *section.Context) []part {
	first, second := workParts(), idleParts()
	if ctx.MostlyIdle() {
		first, second = second, first
	}
	return slices.Concat(runParts(), first, second, otherParts())
}

// runParts returns the parts on the run as a whole.
func runParts() []part {
	return []part{
		{name: "capture", screen: one(screenCapture), report: one(capture), drawn: true},
		{name: "step phases", screen: one(screenSteps)},
		{name: "time breakdown", screen: one(timeline.ScreenBudget), report: one(timeline.Budget)},
		{name: "critical path", screen: one(timeline.ScreenPath), report: one(timeline.Path), fold: folded},
		{name: partFindings, report: one(findings), drawn: true},
		{name: "symptoms", report: one(symptoms)},
		{name: "steps", screen: one(timeline.ScreenSteps), report: one(timeline.Steps), fold: folded},
		{name: "compilations", screen: one(timeline.ScreenCompilations), report: one(timeline.Compilations), fold: folded},
		{name: "layers", screen: one(timeline.ScreenLayers), report: one(timeline.Layers), fold: folded},
		{name: "phases", screen: one(timeline.ScreenPhases), report: one(timeline.Phases), fold: folded},
		{name: "ranks", screen: many(ranks.ScreenStages, ranks.Screen), report: many(one(ranks.Ranks), ranks.Stages, one(ranks.Collectives))},
	}
}

// idleParts returns the parts on what the GPUs waited for.
func idleParts() []part {
	return []part{
		{name: "idle time", screen: one(timeline.ScreenIdle), report: one(timeline.IdleOwners), fold: folded, drawn: true},
		{name: "gaps", report: one(timeline.Gaps), drawn: true},
		{name: "launches", report: one(timeline.Launches)},
		{name: "calls", report: one(timeline.Calls), drawn: true},
		{name: "graphs", report: one(timeline.Graphs)},
	}
}

// workParts returns the parts on what the GPUs did, and what launched it.
func workParts() []part {
	return []part{
		{name: "kernels", screen: one(timeline.ScreenKernels), report: one(timeline.KernelTable), fold: folded, drawn: true},
		{name: "categories", report: many(one(timeline.Categories), one(timeline.Unclassified))},
		{name: "operators", screen: one(timeline.ScreenOperators), report: one(timeline.Operators), fold: folded, drawn: true},
		{name: "modules", report: one(timeline.Modules), drawn: true},
		{name: "lines", report: one(timeline.Lines), drawn: true},
		{name: "annotations", report: one(timeline.Annotations), drawn: true},
		{name: "passes", report: one(timeline.Passes)},
	}
}

// otherParts returns the parts on single subjects and on inputs other than timelines.
func otherParts() []part {
	return []part{
		{name: "efficiency", report: efficiency.Sections, apart: true},
		{name: "counters", screen: one(counters.Screen), report: many(one(counters.Kernels), one(counters.Advice)), fold: measured},
		{name: "copies", report: one(timeline.Copies), drawn: true},
		{name: "streams", report: one(timeline.Streams)},
		{name: "allocations", screen: one(memory.Screen), report: one(memory.Allocations), fold: measured},
		{name: "snapshots", screen: memory.ScreenSnapshots, report: memory.Snapshots, fold: measured},
		{name: "memory timelines", screen: one(memory.ScreenTimelines), report: memory.Timelines, fold: measured},
		{name: "distributions", report: one(timeline.Distributions)},
		{name: "slices", screen: many(one(timeline.ScreenSpans), one(timeline.ScreenAsync)), report: one(timeline.Spans), fold: measured, drawn: true},
		{name: "tables", screen: tables.Screen, report: tables.Sections, fold: measured},
		{name: "logs", screen: logs.Screen, report: logs.Sections, fold: measured},
		{name: "machines", report: one(logs.Machines)},
	}
}

// one makes a show of a function with one section.
func one(f func(*section.Context) doc.Section) show {
	return func(ctx *section.Context) []doc.Section { return []doc.Section{f(ctx)} }
}

// many makes a show of several.
func many(list ...show) show {
	return func(ctx *section.Context) (out []doc.Section) {
		for _, s := range list {
			out = append(out, s(ctx)...)
		}
		return out
	}
}
