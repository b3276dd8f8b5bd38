// Package section has what the sections of a report share: the summary with what several
// of them derive from it, and its limits.
package section

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"assay/compare/phases"
	"assay/internal/unit"
	"assay/judge"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/timeline"
	"assay/report/doc"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/row"
	"assay/summary/view"
	"assay/summary/view/comparability"
)

// MaxDevices is the largest number of GPUs that a table lists.
const MaxDevices = 64

// ScreenDevices is how many GPUs the one-screen summary lists.
const ScreenDevices = 4

// MaxKernels is how many kernels the report lists.
const MaxKernels = 25

// A Context has a summary, its result, and what several sections derive from them.
type Context struct {
	*summary.Summary                  // without what logs say of steps and phases
	Whole            *summary.Summary // with it
	Result           judge.Result

	GPUs     int                          // captures of one GPU count once
	Labels   []string                     // label of each device, in order
	Total    summary.Activity             // of all devices
	Judged   timeline.Part                // of the windows, that the verdict is about
	ByName   *row.Table                   // kernels by name, class and category
	Place    map[summary.GPU]string       // label of the GPU of a row
	Charts   func() map[string]plot.Chart // by file; waits until they are made
	MeanStep func() *phases.Mean          // the mean step on the host, or nil; measured when first asked for
}

// New returns the context of a summary and its result. It has no charts.
func New(s *summary.Summary, r judge.Result) *Context {
	whole := s
	s = s.Timelines()
	ctx := &Context{Summary: s, Whole: whole, Result: r, Charts: func() map[string]plot.Chart { return nil }, Place: map[summary.GPU]string{}}
	ctx.MeanStep = sync.OnceValue(func() *phases.Mean { return phases.Of([]comparability.Part{{Summary: whole}}) })
	ctx.GPUs, ctx.Labels = view.GPUs(s), view.DeviceLabels(s)
	ctx.Judged = r.Judged(s)
	for i, d := range s.Devices {
		ctx.Total = ctx.Total.Plus(d.Activity)
		ctx.Place[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}] = ctx.Labels[i]
	}
	ctx.ByName = summary.Kernels().By(s.Kernels, "kernel", "class", "category")
	return ctx
}

// JudgedTotal returns the activity of all GPUs in the part of their windows that the verdict judges.
func (ctx *Context) JudgedTotal() (total summary.Activity) {
	for _, a := range ctx.Judged.GPUs {
		total = total.Plus(a)
	}
	return total
}

// Pictures returns those of the files that exist.
func (ctx *Context) Pictures(files ...string) []doc.Block {
	var blocks []doc.Block
	charts := ctx.Charts()
	for _, f := range files {
		if c, ok := charts[f]; ok {
			blocks = append(blocks, doc.Picture{Chart: c})
		}
	}
	return blocks
}

// SumsOnly reports whether the inputs are tables of other tools only. Then idle time is
// unknown, and the report must not ask for GPU events.
func (ctx *Context) SumsOnly() bool {
	return len(ctx.Tables) > 0 && len(ctx.Devices) == 0 && len(ctx.Spans) == 0 && len(ctx.Counters) == 0
}

// ProfilesOnly reports whether the inputs are profiles of functions only.
func (ctx *Context) ProfilesOnly() bool {
	return ctx.SumsOnly() && !slices.ContainsFunc(ctx.Tables, func(t summary.Table) bool {
		return t.Of != summary.OfFunction && t.Of != summary.OfEdge && t.Of != summary.OfThread
	})
}

// OfMemory reports whether the inputs have memory data and no times.
func (ctx *Context) OfMemory() bool {
	return len(ctx.Devices)+len(ctx.Counters)+len(ctx.Tables) == 0 && len(ctx.Snapshots)+len(ctx.MemoryTimelines) > 0
}

// OfLogs reports whether the inputs have values over steps or time, or results of
// benchmarks, and nothing else.
func (ctx *Context) OfLogs() bool {
	return len(ctx.Series)+len(ctx.Benchmarks)+len(ctx.Groups) > 0 && len(ctx.Devices)+len(ctx.Counters)+len(ctx.Tables)+len(ctx.Spans)+len(ctx.Snapshots)+len(ctx.MemoryTimelines) == 0
}

// WithoutClock reports whether the timestamps are not plausible. Then the screen shows
// no windows and no shares of them.
func (ctx *Context) WithoutClock() bool {
	a := ctx.Result.Verdict.Abstained
	return a != nil && a.Code == rule.Clocks
}

// MostlyIdle reports whether the GPUs are idle for more than half of the window.
func (ctx *Context) MostlyIdle() bool {
	a := ctx.JudgedTotal()
	return a.Idle() > a.Busy()
}

// Attributed reports whether the causes of idle time or the operators are known.
func (ctx *Context) Attributed() bool { return len(ctx.Idle) > 0 || len(ctx.Ops) > 0 }

// PerGPU returns the mean of a sum over all GPUs, for a sentence: " (52.7 ms per GPU,
// mean of 8)".
func (ctx *Context) PerGPU(sum int64) string {
	n := int64(ctx.GPUs)
	if n < 2 {
		return " (" + unit.Duration(sum) + ")"
	}
	return fmt.Sprintf(" (%s per GPU, mean of %d)", unit.Duration(doc.Mean(sum, n)), n)
}

// Brief prepares a statement of a finding for the screen. Its paths are those of the
// list of inputs.
func (ctx *Context) Brief(text string) string { return doc.Brief(ctx.Below(text)) }

// Step prepares a fix for the screen. It keeps names of settings in full.
func (ctx *Context) Step(s finding.Step) string {
	return doc.Briefly(ctx.Below(rule.Text(s)), doc.SettingWord)
}

// Below cuts the directory of all inputs off the paths in text, where one
// begins a word.
func (ctx *Context) Below(text string) string {
	_, dir := view.ShortPaths(ctx.Summary)
	if dir == "" {
		return text
	}
	text = strings.TrimPrefix(text, dir)
	return strings.NewReplacer(" "+dir, " ", `"`+dir, `"`).Replace(text)
}
