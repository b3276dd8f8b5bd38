package report

import (
	"slices"
	"strings"

	"assay/internal/label"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/section/efficiency"
	"assay/report/section/timeline"
	"assay/report/words"
)

// The limits of the page for a pull request.
const (
	briefFindings = 3
	briefMore     = 8 // further findings, by title
)

// brief returns the sections of the page for a pull request, with which the report begins: the
// verdict, the phases of the step, the time breakdown and the most important findings. The other sections of
// the screen are folded. If there are no times of steps and GPUs, the first section with measurements stays
// open.
func brief(ctx *section.Context) []doc.Section {
	budget := timeline.ScreenBudget(ctx)
	budget.Title = "GPU time"
	if budget.Blocks == nil {
		budget = doc.Section{}
	}
	top := screenFindings(ctx, briefFindings)
	top.Title = "Top findings"
	if more := moreFindings(ctx); more.Blocks != nil {
		top.Blocks = []doc.Block{top.Blocks[0].(doc.List)[:briefFindings]} // more has the number of the others
	}
	below := map[fold][]doc.Section{folded: {moreFindings(ctx), briefCapture(ctx)}}
	for _, p := range parts(ctx) {
		if p.fold != notBriefly {
			below[p.fold] = append(below[p.fold], p.screen(ctx)...)
		}
	}
	steps, others := stepPhases(ctx), doc.Present(below[measured]...)
	open := []doc.Section{verdict(ctx), steps, budget}
	if budget.Blocks == nil && steps.Blocks == nil && len(others) > 0 {
		others[0].Title = "Overview: " + others[0].Title // the report has the whole section below
		open, others = append(open, others[0]), others[1:]
	}
	closed := slices.Concat(below[folded], others)
	for i := range closed {
		closed[i].Fold = true
	}
	return doc.Present(slices.Concat(open, []doc.Section{top}, closed)...)
}

// verdict returns the verdict with its cause, the fixes to try first, and what was read.
func verdict(ctx *section.Context) doc.Section {
	s := doc.Section{Title: "Verdict: " + bound(ctx)}
	if text := stepSentence(ctx); text != "" {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: text})
	}
	if text := verdictSentence(ctx, ctx.Brief); text != "" {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: text, Strong: true})
	}
	if list := stageVerdicts(ctx); list != nil {
		s.Blocks = append(s.Blocks, list)
	}
	if text := verdictCause(ctx); text != "" {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: "Cause: " + ctx.Brief(text)})
	}
	if text := efficiency.Headline(ctx); text != "" {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: text})
	}
	if list, of := firstFixes(ctx); list != nil {
		first := "What to do first:"
		if of != "" {
			first = "What to do first (finding " + of + "):"
		}
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: first}, list)
	}
	return s
}

// firstFixes returns the fixes to try first, and the finding that they are of if it is more
// important than the verdict. The findings of the report have all of them.
func firstFixes(ctx *section.Context) (list doc.List, of string) {
	f, ok := decisive(ctx)
	if over := overLimits(ctx); len(over) > 0 {
		f, ok = over[0], true
		of = f.Rule
	}
	if !ok {
		return nil, ""
	}
	for _, step := range f.Next[:min(2, len(f.Next))] {
		list = append(list, doc.Item{Text: ctx.Step(step)})
	}
	return list, of
}

// moreFindings returns the titles of the findings after the first ones.
func moreFindings(ctx *section.Context) doc.Section {
	var list doc.List
	for _, f := range screenable(ctx) {
		list = append(list, doc.Item{Mark: words.Level(f.Level), Text: ctx.Brief(f.Title)})
	}
	list = list[min(briefFindings, len(list)):]
	if len(list) == 0 {
		return doc.Section{}
	}
	title := label.Plural(int64(len(list)), "more finding")
	if rest := len(list) - briefMore; rest > 0 {
		list = append(list[:briefMore:briefMore], doc.Item{Text: label.Plural(int64(rest), "more finding")})
	}
	return doc.Section{Title: title, Blocks: []doc.Block{list}}
}

// briefCapture returns the capture. Its title has the codes of the issues that may have
// changed numbers, because a reader must not miss them.
func briefCapture(ctx *section.Context) doc.Section {
	s := screenCapture(ctx)
	var codes []string
	for _, is := range ctx.Issues {
		if is.Severity != "info" {
			codes = append(codes, label.Clip(label.Clean(is.Code), 40))
		}
	}
	if len(codes) > screenIssues {
		codes = append(codes[:screenIssues], "...")
	}
	if codes != nil {
		s.Title += " (issues: " + strings.Join(codes, ", ") + ")"
	}
	return s
}
