package report

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/internal/label"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/section/timeline"
	"assay/report/words"
	"assay/summary"
)

// The limits of the one-screen summary, which has at most 60 lines.
const (
	mostFindings = 3  // fewer if the screen of one input has more than screenLines
	screenLines  = 60 // of 80 columns
	screenIssues = 3
)

func screenVerdict(ctx *section.Context, efficiency string, findings int) doc.Section {
	s := doc.Section{Title: "Verdict", Lead: bound(ctx)}
	if text := stepSentence(ctx); text != "" {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: text})
	}
	if text := verdictSentence(ctx, ctx.Brief); text != "" {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: text})
	}
	if f, ok := decisive(ctx); ok && f.Confidence != "" && f.Confidence != finding.Certain {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: "Confidence: " + string(f.Confidence)})
	}
	if list := stageVerdicts(ctx); list != nil {
		s.Blocks = append(s.Blocks, list)
	}
	if text := verdictCause(ctx); text != "" {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: "Cause: " + ctx.Brief(text)})
	}
	if efficiency != "" {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: efficiency})
	}
	if over := overLimits(ctx); len(over) > 0 {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: overLimitsText(over, screenable(ctx), findings)})
	} else if f, ok := decisive(ctx); ok && len(f.Next) > 0 && ctx.Result.Runs == nil {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: "Fix: " + ctx.Step(f.Next[0])})
	}
	return s
}

// stageVerdicts returns the verdict on each stage of a server, or on each of several runs that differ.
func stageVerdicts(ctx *section.Context) (out doc.List) {
	for _, st := range ctx.Result.Stages {
		out = append(out, doc.Item{Mark: label.Clip(label.Clean(st.Stage), 20) + ":", Text: words.Verdict(st.Verdict.Bound) + ". " + ctx.Brief(st.Verdict.Sentence)})
	}
	const most = 8
	name := func(input int) string { return label.Clip(label.Clean(path.Base(ctx.Inputs[input].Path)), 24) }
	for i, run := range ctx.Result.Runs {
		if i == most {
			return append(out, doc.Item{Text: label.Plural(int64(len(ctx.Result.Runs)-most), "more run")})
		}
		mark := name(run.Inputs[0])
		if n := len(run.Inputs) - 1; n > 0 {
			mark += fmt.Sprintf(" and %d more", n)
		}
		out = append(out, doc.Item{Mark: mark + ":", Text: words.Verdict(run.Verdict.Bound) + ". " + ctx.Brief(run.Verdict.Sentence)})
	}
	return out
}

// overLimitsText returns how many findings are more important than a verdict that asks for no action, of
// those that the screen lists below with their fixes, and how many it only counts.
func overLimitsText(over, all []finding.Finding, shown int) string {
	critical, warnings := int64(0), int64(0)
	for _, f := range all[:min(shown, len(all))] {
		switch f.Level {
		case finding.Critical:
			critical++
		case finding.Warn:
			warnings++
		}
	}
	var parts []string
	if critical > 0 {
		parts = append(parts, label.Plural(critical, "critical finding"))
	}
	if warnings > 0 {
		parts = append(parts, label.Plural(warnings, "warning"))
	}
	text := "Start with the " + strings.Join(parts, " and ") + " below"
	if more := int64(len(over)) - critical - warnings; more > 0 {
		text += fmt.Sprintf(" (of %d)", len(over))
	}
	return text + "."
}

// screenLeftOut is how many files that were not read the screen names.
const screenLeftOut = 3

func screenCapture(ctx *section.Context) doc.Section {
	s := doc.Section{Title: "Capture", Lead: captureLead(ctx)}
	if text := gpuLine(ctx); text != "" {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: text})
	}
	if text := groupingLine(ctx.Summary); text != "" {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: text})
	}
	if key := inputKey(ctx.Whole, timeline.ShownDevices(ctx)); key != nil && !ctx.OnlyMachines() {
		s.Blocks = append(s.Blocks, key)
	}
	s.Blocks = append(s.Blocks, leftOut(ctx, screenLeftOut)...)
	var list doc.List
	issues := slices.DeleteFunc(slices.Clone(ctx.Issues), func(is summary.Issue) bool {
		return diag.OnlyRows(is.Code) || is.Code == "same-capture" // the line above has it
	})
	for i, is := range issues {
		if i == screenIssues {
			list = append(list, doc.Item{Text: label.Plural(int64(len(issues)-i), "more issue")})
			break
		}
		list = append(list, screenIssue(ctx, is))
	}
	if list != nil {
		s.Blocks = append(s.Blocks, list)
	}
	return s
}

// screenIssue returns an issue with its help. If there are several inputs or the input
// is truncated, it also returns where the issue was first.
func screenIssue(ctx *section.Context, is summary.Issue) doc.Item {
	it := issueTitle(is)
	if is.Help != "" {
		it.Text += ": " + ctx.Brief(is.Help)
	}
	if is.First != "" && (len(ctx.Inputs) > 1 || is.Code == "input-truncated") {
		it.Sub = doc.List{{Text: "first at", Code: label.Clip(doc.ShortenWords(label.Clean(ctx.Below(is.First)), doc.BriefWord), 200)}}
	}
	return it
}

// screenable returns the findings that the screen does not show elsewhere: all but the
// finding of the verdict and the finding on issues.
func screenable(ctx *section.Context) (out []finding.Finding) {
	for _, f := range ctx.Result.Findings {
		if !decides(ctx, f) && f.Rule != rule.CaptureQuality {
			out = append(out, f)
		}
	}
	return out
}

// screenFindings returns the first findings: title, savings, cause and fix. It leaves
// out the finding of the verdict and the finding on issues, which the screen shows
// above, and fixes of findings that need no action.
func screenFindings(ctx *section.Context, most int) doc.Section {
	s := doc.Section{Title: "Findings"}
	var list doc.List
	all := screenable(ctx)
	for _, f := range all[:min(most, len(all))] {
		it := doc.Item{Mark: words.Level(f.Level) + " ", Text: ctx.Brief(f.Title)}
		if text := savingsText(f); text != "" {
			it.Sub = append(it.Sub, doc.Item{Text: text})
		}
		if text := causeText(ctx, f); text != "" && f.Level > finding.Info {
			it.Sub = append(it.Sub, doc.Item{Text: "Cause: " + ctx.Brief(text)})
		}
		if f.Level > finding.Info && len(f.Next) > 0 {
			it.Sub = append(it.Sub, doc.Item{Text: "Fix: " + ctx.Step(f.Next[0])})
		}
		list = append(list, it)
	}
	if rest := len(all) - most; rest > 0 {
		list = append(list, doc.Item{Text: label.Plural(int64(rest), "more finding")})
	}
	if list != nil {
		s.Blocks = []doc.Block{list}
	}
	return s
}
