package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/judge"
	"assay/judge/doctor"
	"assay/judge/rule"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
)

// Doctor makes the report on the capture: which questions it can answer, its issues, and
// how to record a better one.
func Doctor(s *summary.Summary, r judge.Result, answers []doctor.Answer) Report {
	ctx := contextOf(s, r)
	sections := func(item func(summary.Issue) doc.Item, mark string) []doc.Section {
		return doc.Present(doctorVerdict(ctx, answers), doctorCapture(ctx), doctorAnswers(answers), doctorIssues(ctx, item), doctorAgain(answers, mark))
	}
	screenIssue := func(is summary.Issue) doc.Item { return doctorIssue(ctx, is) }
	d := Report{summary: s, result: ctx.Result, Doc: doc.Doc{Title: "Capture check",
		Screen:   sections(screenIssue, "→"),
		Sections: sections(issueItem, "")}}
	d.Say(rule.ForMaker(s))
	return d
}

// counted returns the number of answers of each kind.
func counted(answers []doctor.Answer) (yes, partly, no int) {
	for _, a := range answers {
		switch a.Can {
		case doctor.Yes:
			yes++
		case doctor.Partly:
			partly++
		default:
			no++
		}
	}
	return yes, partly, no
}

func doctorVerdict(ctx *section.Context, answers []doctor.Answer) doc.Section {
	yes, partly, no := counted(answers)
	return doc.Section{
		Title: "Capture check", Lead: fmt.Sprintf("%d of %d questions can be answered, %d partly, %d not", yes, len(answers), partly, no),
	}
}

// doctorCapture returns what was read, its profiler, and the software that it shows.
func doctorCapture(ctx *section.Context) doc.Section {
	s := doc.Section{Title: "Capture", Lead: captureLead(ctx)}
	var list doc.List
	if text := gpuLine(ctx); text != "" {
		list = append(list, doc.Item{Mark: "GPU", Text: text})
	}
	for _, text := range recorders(ctx) {
		list = append(list, doc.Item{Mark: "profiler", Text: text})
	}
	var names []string
	for _, st := range ctx.Result.Stacks {
		names = append(names, st.Name+", shown by "+st.Because)
	}
	for _, name := range names {
		list = append(list, doc.Item{Mark: "software", Text: doc.Brief(name)})
	}
	if list != nil {
		s.Blocks = []doc.Block{list}
	}
	return s
}

// recorders returns what the profilers recorded about themselves, each text once.
func recorders(ctx *section.Context) (out []string) {
	for _, in := range ctx.Inputs {
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(in.Recorder)) {
			parts = append(parts, label.Clean(key)+" "+label.Clip(label.Clean(in.Recorder[key]), 40))
		}
		if text := strings.Join(parts, ", "); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	const most = 3
	return out[:min(most, len(out))]
}

// doctorAnswers lists the questions. Those that cannot be answered are first.
func doctorAnswers(answers []doctor.Answer) doc.Section {
	var list doc.List
	for _, can := range []string{doctor.No, doctor.Partly, doctor.Yes} {
		for _, a := range answers {
			if a.Can == can {
				list = append(list, doc.Item{Mark: can, Text: doc.Sentence(a.Question + " " + a.Why)})
			}
		}
	}
	if list == nil {
		return doc.Section{}
	}
	return doc.Section{Title: "Questions this capture can answer", Blocks: []doc.Block{list}}
}

// mostUnanswered is the largest number of unanswered questions in the report.
const mostUnanswered = 5

// unanswered lists the questions that a capture does not answer, with the option that
// records the answer. It lists nothing for inputs without a timeline.
func unanswered(ctx *section.Context) (list doc.List) {
	if len(ctx.Devices) == 0 {
		return nil
	}
	rest := int64(0)
	for _, a := range doctor.Examine(ctx.Summary, ctx.Result) {
		switch {
		case a.Can == doctor.Yes || len(a.Flags) == 0:
		case len(list) == mostUnanswered:
			rest++
		default:
			list = append(list, doc.Item{Mark: a.Can, Text: a.Question + " " + a.Flags[0].Text, Ticks: true})
		}
	}
	if rest > 0 {
		list = append(list, doc.Item{Text: label.Plural(rest, "more question") + ". \"assay doctor\" lists all of them."})
	}
	return list
}

// doctorIssues lists all issues, the most severe first.
func doctorIssues(ctx *section.Context, item func(summary.Issue) doc.Item) doc.Section {
	s := doc.Section{Title: "Issues"}
	if len(ctx.Issues) == 0 {
		s.Lead = "none"
		return s
	}
	var list doc.List
	for _, is := range ctx.Issues {
		list = append(list, item(is))
	}
	s.Blocks = []doc.Block{list}
	return s
}

// doctorIssue returns an issue for the screen with its whole help.
func doctorIssue(ctx *section.Context, is summary.Issue) doc.Item {
	it := issueTitle(is)
	if is.Help != "" {
		it.Text += ": " + doc.Sentence(ctx.Below(is.Help))
	}
	if is.First != "" {
		it.Sub = doc.List{{Text: "first at", Code: label.Clip(doc.ShortenWords(label.Clean(ctx.Below(is.First)), doc.BriefWord), 200)}}
	}
	return it
}

// doctorAgain lists the options to record with, and the questions that each answers.
func doctorAgain(answers []doctor.Answer, mark string) doc.Section {
	var list doc.List
	index := map[doctor.Flags]int{}
	for _, a := range answers {
		for _, f := range a.Flags {
			i, ok := index[f]
			if !ok {
				i = len(list)
				index[f] = i
				list = append(list, doc.Item{Mark: mark, Text: f.Text, Ticks: true})
			}
			sub := &list[i].Sub
			if len(*sub) == 0 {
				*sub = doc.List{{Text: "Answers: " + a.Question}}
			} else {
				(*sub)[0].Text += " " + a.Question
			}
		}
	}
	if list == nil {
		return doc.Section{}
	}
	return doc.Section{Title: "To answer more, record again", Blocks: []doc.Block{list}}
}
