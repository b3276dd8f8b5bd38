package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/doctor"
	"assay/internal/label"
	"assay/judge"
	"assay/summary"
)

// Doctor makes the report on the capture: which questions it can answer, its issues, and
// how to record a better one.
func Doctor(s *summary.Summary, r judge.Result, answers []doctor.Answer) Doc {
	b := newBuilder(s, r)
	sections := func(item func(summary.Issue) Item, mark string) []Section {
		return present(b.doctorVerdict(answers), b.doctorCapture(), doctorAnswers(answers), b.doctorIssues(item), doctorAgain(answers, mark))
	}
	return Doc{Title: "Capture check", summary: s, result: r,
		Screen:   sections(b.doctorIssue, "→"),
		Sections: sections(issueItem, "")}
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

func (b *builder) doctorVerdict(answers []doctor.Answer) Section {
	yes, partly, no := counted(answers)
	return Section{
		Title: "Capture check", Lead: fmt.Sprintf("%d of %d questions can be answered, %d partly, %d not", yes, len(answers), partly, no),
	}
}

// doctorCapture returns what was read, its profiler, and the software that it shows.
func (b *builder) doctorCapture() Section {
	s := Section{Title: "Capture", Lead: b.captureLead()}
	var list List
	if text := b.gpuLine(); text != "" {
		list = append(list, Item{Mark: "GPU", Text: text})
	}
	for _, text := range b.recorders() {
		list = append(list, Item{Mark: "profiler", Text: text})
	}
	var names []string
	for _, st := range b.result.Stacks {
		names = append(names, st.Name+", shown by "+st.Because)
	}
	for _, name := range names {
		list = append(list, Item{Mark: "software", Text: brief(name)})
	}
	if list != nil {
		s.Blocks = []Block{list}
	}
	return s
}

// recorders returns what the profilers recorded about themselves, each text once.
func (b *builder) recorders() (out []string) {
	for _, in := range b.Inputs {
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
func doctorAnswers(answers []doctor.Answer) Section {
	var list List
	for _, can := range []string{doctor.No, doctor.Partly, doctor.Yes} {
		for _, a := range answers {
			if a.Can == can {
				list = append(list, Item{Mark: can, Text: sentence(a.Question + " " + a.Why)})
			}
		}
	}
	if list == nil {
		return Section{}
	}
	return Section{Title: "Questions this capture can answer", Blocks: []Block{list}}
}

// mostUnanswered is the largest number of unanswered questions in the report.
const mostUnanswered = 5

// unanswered lists the questions that a capture does not answer, with the option that
// records the answer. It lists nothing for inputs without a timeline.
func (b *builder) unanswered() (list List) {
	rest := int64(0)
	for _, a := range doctor.Examine(b.Summary) {
		switch {
		case a.Can == doctor.Yes || len(a.Flags) == 0 || len(b.Devices) == 0:
		case len(list) == mostUnanswered:
			rest++
		default:
			list = append(list, Item{Mark: a.Can, Text: a.Question + " " + a.Flags[0].Text, Ticks: true})
		}
	}
	if rest > 0 {
		list = append(list, Item{Text: label.Plural(rest, "more question") + ". \"assay doctor\" lists all of them."})
	}
	return list
}

// doctorIssues lists all issues, the most severe first.
func (b *builder) doctorIssues(item func(summary.Issue) Item) Section {
	s := Section{Title: "Issues"}
	if len(b.Issues) == 0 {
		s.Lead = "none"
		return s
	}
	var list List
	for _, is := range b.Issues {
		list = append(list, item(is))
	}
	s.Blocks = []Block{list}
	return s
}

// doctorIssue returns an issue for the screen with its whole help.
func (b *builder) doctorIssue(is summary.Issue) Item {
	it := issueTitle(is)
	if is.Help != "" {
		it.Text += ": " + sentence(b.below(is.Help))
	}
	if is.First != "" {
		it.Sub = List{{Text: "first at", Code: label.Clip(shortenWords(label.Clean(b.below(is.First)), briefWord), 200)}}
	}
	return it
}

// doctorAgain lists the options to record with, and the questions that each answers.
func doctorAgain(answers []doctor.Answer, mark string) Section {
	var list List
	index := map[doctor.Flags]int{}
	for _, a := range answers {
		for _, f := range a.Flags {
			i, ok := index[f]
			if !ok {
				i = len(list)
				index[f] = i
				list = append(list, Item{Mark: mark, Text: f.Text, Ticks: true})
			}
			sub := &list[i].Sub
			if len(*sub) == 0 {
				*sub = List{{Text: "Answers: " + a.Question}}
			} else {
				(*sub)[0].Text += " " + a.Question
			}
		}
	}
	if list == nil {
		return Section{}
	}
	return Section{Title: "To answer more, record again", Blocks: []Block{list}}
}
