package report

import (
	"fmt"
	"strings"

	"assay/judge"
	"assay/unit"
)

// findings lists all findings with their evidence, how sure they are, and what to
// do about them.
func (b *builder) findings() Section {
	s := Section{Title: "Findings"}
	var list List
	for _, f := range b.result.Findings {
		it := Item{Mark: f.Level.String(), Text: sentence(f.Title), Code: clip(clean(f.Rule), 40)}
		for _, e := range f.Evidence {
			it.Sub = append(it.Sub, Item{Mark: "evidence", Text: sentence(e)})
		}
		if text := confidenceText(f); text != "" {
			it.Sub = append(it.Sub, Item{Mark: string(f.Confidence), Text: sentence(text)})
		}
		for i, n := range f.Next {
			next := Item{Mark: "next", Text: sentence(n)}
			if i < len(f.Sources) {
				next.Source = Source(f.Sources[i])
			}
			it.Sub = append(it.Sub, next)
		}
		list = append(list, it)
	}
	if list == nil {
		return s
	}
	s.Lead = "Worst first, and within a level what could gain most; the rule that made it stands behind each, and \"assay explain RULE\" says more."
	s.Blocks = []Block{list}
	return s
}

// confidenceText says in one line what a finding could gain at most and what would
// make it sure. Of what is for information it says nothing.
func confidenceText(f judge.Finding) string {
	if f.Confidence == "" || f.Level == judge.Info {
		return ""
	}
	var parts []string
	if f.GainNS != nil {
		parts = append(parts, fmt.Sprintf("at most %s to gain, %s of %s", unit.Duration(*f.GainNS), unit.Share(*f.GainNS, f.GainOfNS), f.GainOf))
	}
	if len(f.ToBeSure) > 0 {
		parts = append(parts, "to be sure: "+strings.Join(f.ToBeSure, "; "))
	}
	return strings.Join(parts, "; ")
}

// doubt says behind a finding on the screen if it is less than certain.
func doubt(f judge.Finding) string {
	if f.Level == judge.Info || f.Confidence == judge.Certain || f.Confidence == "" {
		return ""
	}
	return " (" + string(f.Confidence) + ")"
}
