package report

import (
	"fmt"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
)

// findings returns all findings: title, savings, cause, evidence, places and fixes.
func findings(ctx *section.Context) doc.Section {
	s := doc.Section{Title: "Findings"}
	var list doc.List
	for _, f := range ctx.Result.Findings {
		it := doc.Item{Mark: words.Level(f.Level), Text: doc.Sentence(f.Title), Code: label.Clip(label.Clean(f.Rule), 40)}
		if text := savingsText(f); text != "" {
			it.Sub = append(it.Sub, doc.Item{Text: text})
		}
		if text := causeText(ctx, f); text != "" {
			it.Sub = append(it.Sub, doc.Item{Mark: "cause", Text: doc.Sentence(text)})
		}
		for _, e := range f.Evidence {
			it.Sub = append(it.Sub, doc.Item{Mark: "evidence", Text: doc.Sentence(e)})
		}
		if text := whereText(ctx, f); text != "" {
			it.Sub = append(it.Sub, doc.Item{Mark: "where", Text: text})
		}
		if len(f.ToBeSure) > 0 && f.Level > finding.Info {
			it.Sub = append(it.Sub, doc.Item{Mark: "to confirm", Text: doc.Sentence(strings.Join(f.ToBeSure, "; "))})
		}
		for _, step := range f.Next {
			it.Sub = append(it.Sub, doc.Item{Mark: "fix", Text: doc.Sentence(rule.Text(step)), Source: doc.Source(rule.SourceOf(step))})
		}
		list = append(list, it)
	}
	if list == nil {
		return s
	}
	s.Lead = "The verdict's finding comes first. The others are sorted by level, then by estimated savings. Run \"assay explain RULE\" for details."
	s.Blocks = []doc.Block{list}
	return s
}

// mostWhere is how many places of a finding the report lists. The JSON has all.
const mostWhere = 3

// whereText returns the places to look at first. It is "" for findings of level info.
func whereText(ctx *section.Context, f finding.Finding) string {
	if f.Level == finding.Info {
		return ""
	}
	var parts []string
	for _, p := range f.Where[:min(mostWhere, len(f.Where))] {
		parts = append(parts, placeText(ctx, p))
	}
	if n := len(f.Where) - mostWhere; n > 0 {
		parts = append(parts, fmt.Sprintf("%d more in summary.json", n))
	}
	return strings.Join(parts, "; ")
}

// placeText returns the known parts of a place. Its time is the ts of the trace, in
// microseconds.
func placeText(ctx *section.Context, p finding.Place) string {
	var parts []string
	for _, named := range []struct{ what, name string }{
		{"step", p.Step}, {"phase", p.Phase}, {"kernel", p.Kernel}, {"operator", p.Op}, {"copy", p.Copy}, {"call", p.Call}, {"row", p.Row},
	} {
		if named.name != "" {
			parts = append(parts, named.what+" "+label.Clip(label.Clean(named.name), 60))
		}
	}
	if p.Device != nil && len(ctx.Devices) > 1 {
		parts = append(parts, ctx.Place[summary.GPU{Input: p.Input, Rank: p.Rank, Device: *p.Device}])
	}
	text := strings.Join(parts, ", ")
	if p.StartNS != nil {
		text = strings.TrimSpace(text + " at " + unit.Timestamp(*p.StartNS) + intoWindowText(ctx, p))
	}
	if p.NS > 0 {
		text = strings.TrimSpace(text + " for " + unit.Duration(p.NS))
	}
	return text
}

// intoWindowText returns the time from the start of the GPU window to a place. The
// pictures, and viewers that start at 0, show this time.
func intoWindowText(ctx *section.Context, p finding.Place) string {
	if p.Device == nil {
		return ""
	}
	for _, d := range ctx.Devices {
		into := *p.StartNS - d.StartNS
		if d.Input == p.Input && d.Rank == p.Rank && d.Device == *p.Device && *p.StartNS > d.StartNS && into >= 0 && into <= d.WindowNS {
			return " (" + unit.Duration(into) + " into the window)"
		}
	}
	return ""
}

// savingsText returns the estimated savings and the confidence of a finding. It is ""
// for findings of level info.
func savingsText(f finding.Finding) string {
	if f.Confidence == "" || f.Level == finding.Info {
		return ""
	}
	text := "Confidence: " + string(f.Confidence)
	if f.GainNS == nil {
		return text
	}
	share := unit.Share(*f.GainNS, f.GainOfNS)
	if f.GainBasis == finding.Modelled {
		return "Estimated savings, " + modelled(f, share) + " " + text
	}
	if n := int64(f.GainGPUs); n > 1 { // titles have means per GPU, and so has this
		switch {
		case f.GainWithout != "":
			share += " of GPU time without " + f.GainWithout
		case f.GainOf != "" && !f.GainOfAll:
			share += " of " + f.GainOf
		}
		return fmt.Sprintf("Estimated savings: up to %s per GPU (%s). %s", unit.Duration(*f.GainNS/n), share, text)
	}
	if f.GainOf != "" && !f.GainOfAll {
		share += " of " + f.GainOf
	}
	return fmt.Sprintf("Estimated savings: up to %s (%s). %s", unit.Duration(*f.GainNS), share, text)
}

// modelled returns the savings that a forecast gives.
func modelled(f finding.Finding, share string) string {
	most := ""
	if f.GainBound {
		most = "up to "
	}
	out := fmt.Sprintf("modelled: %s%s of %s (%s)", most, unit.Duration(*f.GainNS), f.GainOf, share)
	if f.GainVerdict != "ok" {
		out += ", with a warning"
	}
	if f.GainSharedWith != "" {
		out += "; the same time as " + f.GainSharedWith + " saves"
	}
	return out + "."
}

// verdictCause returns the cause of the finding that decides the verdict.
func verdictCause(ctx *section.Context) string {
	f, ok := decisive(ctx)
	if !ok || f.Level == finding.Info && f.Rule != rule.ComputeBound {
		return ""
	}
	return causeText(ctx, f)
}

// causeText returns the cause of a finding, and where most of the communication is for one on
// communication. It is "" if there is none.
func causeText(ctx *section.Context, f finding.Finding) string {
	if f.Rule == rule.ExposedComm {
		return commCause(ctx, f.Cause)
	}
	return sentence(f.Cause)
}

// sentence returns a line of evidence with a capital and a period, "" for none.
func sentence(line string) string {
	if line == "" {
		return ""
	}
	return finding.Upper(line) + "."
}

// commCause returns the phase with most of the exposed communication, and the cause that the
// finding has, or else the category with most of the communication time.
func commCause(ctx *section.Context, cause string) string {
	var parts []string
	for _, p := range view.Phases(ctx.Summary) {
		exposed := p.Total.ExposedComm()
		if p.Path != "" && !strings.Contains(p.Path, "/") && exposed > ctx.Total.ExposedComm()/2 {
			parts = append(parts, fmt.Sprintf("%s of it is in the phase %s.", unit.Share(exposed, ctx.Total.ExposedComm()), words.Phase(p.Path)))
		}
	}
	if cause != "" {
		return strings.Join(append(parts, sentence(cause)), " ")
	}
	comm := summary.Kernels().By(summary.Kernels().Where(ctx.Kernels, map[string]string{"class": "comm"}), "category")
	for i := range comm.Rows {
		r := &comm.Rows[i]
		if category := label.Clip(label.Clean(comm.Text(r, "category")), 24); category != "" && comm.Main(r) > comm.Whole/2 {
			parts = append(parts, fmt.Sprintf("%s is %s of the communication time.", category, unit.Share(comm.Main(r), comm.Whole)))
		}
	}
	return strings.Join(parts, " ")
}

// verdictSentence returns the sentence of the verdict with a capital and a period, and what speaks
// against it, after the given function has shortened both.
func verdictSentence(ctx *section.Context, prepare func(string) string) string {
	s := prepare(ctx.Result.Verdict.Sentence)
	if s != "" && !strings.HasSuffix(s, ".") {
		s = doc.Capital(s) + "."
	}
	if d := ctx.Result.Verdict.Doubt; d != nil {
		s += " " + prepare(d.Reason) + "."
	}
	return s
}
