package report

import (
	"fmt"
	"strings"

	"assay/judge"
	"assay/summary/view"
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
		if text := b.whereText(f); text != "" {
			it.Sub = append(it.Sub, Item{Mark: "where", Text: text})
		}
		if text := confidenceText(f); text != "" {
			it.Sub = append(it.Sub, Item{Mark: string(f.Confidence), Text: sentence(text)})
		}
		for _, step := range f.Next {
			it.Sub = append(it.Sub, Item{Mark: "next", Text: sentence(step.Text()), Source: Source(step.Source())})
		}
		list = append(list, it)
	}
	if list == nil {
		return s
	}
	s.Lead = "Worst first; within a level what decides the verdict, then what could gain most. The rule that made it stands behind each, and \"assay explain RULE\" says more."
	s.Blocks = []Block{list}
	return s
}

// mostWhere is how many places of a finding the report names; the JSON has all.
const mostWhere = 3

// whereText names the places to look at first. Of what is for information it says
// nothing.
func (b *builder) whereText(f judge.Finding) string {
	if f.Level == judge.Info {
		return ""
	}
	var parts []string
	for _, p := range f.Where[:min(mostWhere, len(f.Where))] {
		parts = append(parts, b.placeText(p))
	}
	if n := len(f.Where) - mostWhere; n > 0 {
		parts = append(parts, fmt.Sprintf("%d more in summary.json", n))
	}
	return strings.Join(parts, "; ")
}

// placeText names a place by what is known of it, with its time in microseconds as
// it stands in the trace.
func (b *builder) placeText(p judge.Place) string {
	var words []string
	for _, named := range []struct{ what, name string }{
		{"step", p.Step}, {"phase", p.Phase}, {"kernel", p.Kernel}, {"operator", p.Op}, {"copy", p.Copy}, {"call", p.Call}, {"row", p.Row},
	} {
		if named.name != "" {
			words = append(words, named.what+" "+clip(clean(named.name), 60))
		}
	}
	if p.Device != nil && len(b.Devices) > 1 {
		words = append(words, b.place[view.DeviceKey{Input: p.Input, Rank: p.Rank, Device: *p.Device}])
	}
	text := strings.Join(words, ", ")
	if p.StartNS != nil {
		text = strings.TrimSpace(text + " at " + unit.Timestamp(*p.StartNS) + b.intoWindowText(p))
	}
	if p.NS > 0 {
		text = strings.TrimSpace(text + " for " + unit.Duration(p.NS))
	}
	return text
}

// intoWindowText says how far into its device's window a place is: so it is found in
// the pictures, and where a viewer counts from the beginning.
func (b *builder) intoWindowText(p judge.Place) string {
	if p.Device == nil {
		return ""
	}
	for _, d := range b.Devices {
		into := *p.StartNS - d.StartNS
		if d.Input == p.Input && d.Rank == p.Rank && d.Device == *p.Device && *p.StartNS > d.StartNS && into >= 0 && into <= d.WindowNS {
			return " (" + unit.Duration(into) + " into the window)"
		}
	}
	return ""
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
