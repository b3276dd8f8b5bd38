// Package report prints a summary and its verdict: as a one-screen text, as a Markdown
// report with pictures, as a step summary for CI, and as JSON. It reads no events; it
// shows only what the summary has.
//
// [Build] makes a [Report], which is data; its methods print it. The sections are in
// packages by subject; package doc prints them. Equal
// input gives equal bytes: nothing here asks for the time, the locale or the
// terminal, and every sort is total.
//
// # Style
//
// The verdict comes first, then the issues of the capture, then the time breakdown,
// then details by falling impact. A share has its denominator in the heading, in the
// column head or in the note of its table. All times of a column have one unit, which
// the column head has, and the same number of decimals, so that they can be compared
// by eye. A time that is not zero never prints as zero ("<0.001"). Tables count what
// they leave out, with its share. Kernel names are shortened such that different names
// stay different; the JSON has them in full. A class of GPU work has one colour in all
// pictures.
package report

import (
	"slices"

	"assay/internal/label"
	"assay/internal/redact"
	"assay/judge"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/report/doc"
	"assay/report/pictures"
	"assay/report/plot"
	"assay/report/section"
	"assay/report/section/efficiency"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
)

// contextOf returns the context of a summary and its result. It masks their secrets in place, before
// any text is shortened or joined: a caller may have read the summary with package summary, or made it.
func contextOf(s *summary.Summary, r judge.Result) *section.Context {
	secrets := redact.New(false)
	secrets.Strings(s)
	secrets.Strings(&r)
	return section.New(s, r)
}

// Build makes the report of a summary and its result. It masks secrets in them and changes nothing
// else. The report shares their memory.
func Build(s *summary.Summary, r judge.Result) Report {
	ctx := contextOf(s, r)
	var charts []plot.Chart
	pictured, done := make(chan struct{}), make(chan struct{})
	byFile := map[string]plot.Chart{}
	ctx.Charts = func() map[string]plot.Chart {
		<-pictured
		return byFile
	}
	order := parts(ctx)
	made := make([][]doc.Section, len(order))
	makeParts := func(apart bool) {
		for i, p := range order {
			if p.report != nil && p.apart == apart {
				made[i] = p.report(ctx)
			}
		}
	}
	go func() {
		defer close(done)
		charts = pictures.Of(s, r)
		for i := range charts {
			charts[i].Say(rule.ForMaker(s))
		}
		for _, c := range charts {
			byFile[c.File()] = c
		}
		close(pictured)
		makeParts(true)
	}()
	d := screen(ctx, efficiency.Headline(ctx))
	d.Brief = brief(ctx)
	makeParts(false)
	<-done
	for i, p := range order {
		for j := range made[i] {
			made[i][j].Drawn = p.drawn
		}
	}
	d.Sections = doc.Present(slices.Concat(made...)...)
	d.charts = doc.InPlace(charts, d.Sections)
	d.Say(rule.ForMaker(s))
	return d
}

// Overview makes a report without the sections and pictures of the whole report, which
// take longer to make. It has all that [doc.Doc.Text] and [Report.JSON] print.
func Overview(s *summary.Summary, r judge.Result) Report {
	ctx := contextOf(s, r)
	d := screen(ctx, efficiency.FloorLine(ctx))
	d.Say(rule.ForMaker(s))
	return d
}

// Brief makes a report that has the page for a pull request alone, and all that
// [Report.JSON] prints.
func Brief(s *summary.Summary, r judge.Result) Report {
	ctx := contextOf(s, r)
	d := Report{Doc: doc.Doc{Title: title(ctx), Brief: brief(ctx)}, summary: s, result: ctx.Result}
	d.Say(rule.ForMaker(s))
	return d
}

// screen makes a report with the sections of the one-screen summary. The sentence on
// efficiency, which may be "", comes in addition: it takes the place of no finding.
func screen(ctx *section.Context, efficiency string) Report {
	d := Report{Doc: doc.Doc{Title: title(ctx)}, summary: ctx.Whole, result: ctx.Result}
	for most := mostFindings; ; most-- {
		d.Screen = screenSections(ctx, "", most)
		if most == 1 || len(ctx.Inputs) != 1 || d.ScreenLines() <= screenLines {
			if efficiency != "" {
				d.Screen = screenSections(ctx, efficiency, most)
			}
			return d
		}
	}
}

// screenSections returns the verdict and what the screen shows of each part, with at most so
// many findings.
func screenSections(ctx *section.Context, efficiency string, findings int) []doc.Section {
	out := []doc.Section{screenVerdict(ctx, efficiency, findings)}
	for _, p := range parts(ctx) {
		switch {
		case p.name == partFindings:
			out = append(out, screenFindings(ctx, findings))
		case p.screen != nil:
			out = append(out, p.screen(ctx)...)
		}
	}
	return doc.Present(out...)
}

func title(ctx *section.Context) string {
	what := "GPU time report"
	switch {
	case ctx.ProfilesOnly():
		what = "Profile"
	case ctx.OfMemory():
		what = "GPU memory report"
	case ctx.OfLogs():
		what = "Log report"
	}
	switch len(ctx.Inputs) {
	case 0:
		return what
	case 1:
		return what + ": " + label.Base(ctx.Inputs[0].Path)
	}
	return what + ": " + label.Plural(int64(len(ctx.Inputs)), "input")
}

// bound returns the display words of the verdict.
func bound(ctx *section.Context) string {
	v := ctx.Result.Verdict
	switch {
	case v.Bound == finding.BoundHost && v.Rule == rule.GPUIdle && ctx.IdleForOthers():
		return words.WaitsForOthers(ctx.IdleOwner())
	case (v.Bound == finding.BoundUnknown || v.Bound == "") && ctx.SumsOnly() && len(view.Tables(ctx.Summary)) > 0:
		return words.TotalsOnly
	case v.Rule == rule.RunsDiffer:
		return words.SeveralRuns
	case (ctx.OfLogs() || ctx.OnlyMachines()) && v.Bound == finding.BoundUnknown:
		if f, ok := decisive(ctx); ok && f.Level > finding.Info {
			return rule.LineOf(f.Rule)
		}
		if ctx.OnlyMachines() {
			return words.MachinesOnly
		}
		return words.ValuesOnly
	}
	return words.Verdict(v.Bound)
}

// decisive returns the finding that decides the verdict: the first of its rule.
func decisive(ctx *section.Context) (finding.Finding, bool) {
	for _, f := range ctx.Result.Findings {
		if f.Rule == ctx.Result.Verdict.Rule {
			return f, true
		}
	}
	return finding.Finding{}, false
}

// decides reports whether f decides the verdict.
func decides(ctx *section.Context, f finding.Finding) bool {
	first, ok := decisive(ctx)
	return ok && f.Rule == first.Rule && f.Title == first.Title
}

// overLimits returns the warnings and critical findings of a run whose verdict asks for
// no action.
func overLimits(ctx *section.Context) (out []finding.Finding) {
	if bound := ctx.Result.Verdict.Bound; bound != finding.BoundCompute && bound != finding.BoundGPU && bound != finding.BoundMixed {
		return nil
	}
	for _, f := range ctx.Result.Findings {
		switch {
		case f.Rule == rule.CaptureQuality || f.Level == finding.Info:
		case decides(ctx, f):
			return nil
		default:
			out = append(out, f)
		}
	}
	return out
}
