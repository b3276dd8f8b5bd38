package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/report/doc"
	"assay/report/page"
	"assay/report/section"
	"assay/report/section/efficiency"
	"assay/report/section/timeline"
	"assay/report/words"
	"assay/summary"
)

// HTML writes the report as one self-contained page for a browser.
func (d Report) HTML(w io.Writer) error {
	if d.comparison != nil {
		p := page.Page{
			Title:      d.Title,
			Head:       page.Head{Kind: "What changed", Headline: doc.Capital(doc.Sentence(doc.ShortenQuoted(d.comparison.Headline, doc.BriefQuote)))},
			Text:       d.Sections,
			Comparison: d.comparison,
		}
		p.Sections = p.Text
		return p.Write(w)
	}
	if d.history != nil {
		p := page.Page{Title: d.Title, Head: page.Head{Kind: "History", Headline: doc.Capital(doc.Sentence(doc.ShortenQuoted(d.history.Headline, doc.BriefQuote)))},
			Text: d.Sections, Sections: d.Sections[1:], Charts: d.charts, History: true}
		return p.Write(w)
	}
	ctx := section.New(d.summary, d.result)
	p := page.Page{
		Title: d.Title, Head: pageHead(ctx), Facts: pageFacts(ctx), Budget: pageBudget(ctx), Findings: pageFindings(ctx),
		Text:    d.Sections,
		Capture: []doc.Section{capture(ctx)}, Charts: d.charts, Summary: d.summary, States: d.result.States,
	}
	p.Say(rule.ForMaker(d.summary))
	for _, s := range p.Text {
		if !s.Drawn {
			p.Sections = append(p.Sections, s)
		}
	}
	return p.Write(w)
}

// pageHead returns the verdict with its cause and the fixes to try first.
func pageHead(ctx *section.Context) page.Head {
	sentences := []string{stepSentence(ctx), verdictSentence(ctx, ctx.Brief)}
	for _, stage := range stageVerdicts(ctx) {
		sentences = append(sentences, stage.Mark+" "+stage.Text)
	}
	h := page.Head{Kind: "Verdict", Headline: finding.Upper(bound(ctx)), Sentence: strings.TrimSpace(strings.Join(sentences, " "))}
	if text := verdictCause(ctx); text != "" {
		h.Cause = ctx.Brief(text)
	}
	fixes, _ := firstFixes(ctx)
	for _, fix := range fixes {
		h.First = append(h.First, doc.Sentence(fix.Text))
	}
	if text := timeline.FirstChange(ctx); text != "" {
		h.First = append(h.First, doc.Sentence(text))
	}
	for _, is := range ctx.Issues {
		if is.Severity == "data-loss" {
			h.Warnings = append(h.Warnings, label.Clip(label.Clean(is.Code), 40)+": "+doc.Sentence(is.Help))
		}
	}
	h.Warnings = h.Warnings[:min(len(h.Warnings), 3)]
	return h
}

// pageFacts returns the numbers next to the verdict.
func pageFacts(ctx *section.Context) (out []page.Fact) {
	n := int64(ctx.GPUs)
	if n == 0 || ctx.WithoutClock() {
		return nil
	}
	a := ctx.JudgedTotal()
	out = append(out, page.Fact{Value: unit.Share(a.Busy(), a.Window()), Name: "GPU busy"})
	if len(ctx.Result.Groups) == 1 && ctx.Result.Groups[0].MedianNS > 0 {
		name := "median step"
		if ctx.Result.Groups[0].Steps == 1 {
			name = "step"
		}
		out = append(out, page.Fact{Value: unit.Duration(ctx.Result.Groups[0].MedianNS), Name: name})
	}
	if comm := a.With(summary.ClassComm); comm > 0 {
		out = append(out, page.Fact{Value: unit.Share(a.HiddenComm(), comm), Name: "comm overlapped"})
	}
	for _, f := range efficiency.Facts(ctx) {
		out = append(out, page.Fact{Value: f.Value, Name: f.Name})
	}
	name := "GPU window"
	if n > 1 {
		name = fmt.Sprintf("mean window of %d GPUs", n)
	}
	if a.Window() < ctx.Total.Window() {
		kind := strings.Fields(strings.Replace(ctx.Judged.Name(), "window", "", 1))
		name = fmt.Sprintf("%s, of a %s of %s", strings.Join(kind, " "), name, unit.Duration(doc.Mean(ctx.Total.Window(), n)))
	}
	return append(out, page.Fact{Value: unit.Duration(doc.Mean(a.Window(), n)), Name: name})
}

func pageBudget(ctx *section.Context) *page.Budget {
	n := int64(ctx.GPUs)
	if n == 0 || ctx.WithoutClock() || ctx.JudgedTotal().Window() == 0 {
		return nil
	}
	a, of := ctx.JudgedTotal(), "the "+ctx.Judged.Name()
	b := &page.Budget{WindowNS: doc.Mean(a.Window(), n), Of: of}
	for i, ns := range []int64{a.Compute(), a.ExposedComm(), a.ExposedCopy(), a.Idle()} {
		b.Parts[i] = doc.Mean(ns, n)
	}
	if n > 1 {
		b.Of += fmt.Sprintf(", mean of %d GPUs", n)
	}
	return b
}

// pageFindings returns the findings with the texts of the report.
func pageFindings(ctx *section.Context) (out []page.Finding) {
	for i := range ctx.Result.Findings {
		f := &ctx.Result.Findings[i]
		p := page.Finding{
			Rule: label.Clip(label.Clean(f.Rule), 40), Level: words.Level(f.Level), Title: doc.Sentence(ctx.Brief(f.Title)),
			Savings: savingsText(*f), Places: pagePlaces(ctx, f),
		}
		if f.GainNS != nil && f.GainOfNS > 0 && f.Level > finding.Info {
			p.Gain = float64(*f.GainNS) / float64(f.GainOfNS)
		}
		if text := causeText(ctx, *f); text != "" {
			p.Cause = doc.Sentence(ctx.Brief(text))
		}
		for _, e := range f.Evidence {
			p.Evidence = append(p.Evidence, doc.Sentence(ctx.Brief(e)))
		}
		if len(f.ToBeSure) > 0 && f.Level > finding.Info {
			p.Confirm = doc.Sentence(strings.Join(f.ToBeSure, "; "))
		}
		for _, step := range f.Next {
			fix := page.Fix{Text: doc.Sentence(rule.Text(step))}
			if source := rule.SourceOf(step); strings.HasPrefix(source.URL, "https://") {
				fix.Source, fix.URL = source.Title, source.URL
			}
			p.Fixes = append(p.Fixes, fix)
		}
		out = append(out, p)
	}
	return out
}

// mostPlaces is how many places of a finding have a button.
const mostPlaces = 3

// placeColumns is how much of a name a button has.
const placeColumns = 40

// pagePlaces returns the places of a finding: those in time first.
func pagePlaces(ctx *section.Context, f *finding.Finding) (out []page.Target) {
	for i := range f.Where {
		w := &f.Where[i]
		p := page.Target{StartNS: w.StartNS, Length: w.NS}
		if key, ok := placeDevice(ctx, w); ok {
			p.Key = &key
			if len(ctx.Devices) > 1 {
				p.Label = ctx.Place[key]
			}
		}
		if p.StartNS == nil && w.Step != "" {
			p.StartNS, p.Length = stepPlace(ctx, w)
		}
		for _, named := range []struct{ name, table string }{
			{w.Step, ""}, {w.Phase, ""}, {w.Kernel, "kernels"}, {w.Op, "operators"}, {w.Copy, "copies"}, {w.Call, "calls"},
		} {
			if named.name == "" {
				continue
			}
			p.Table, p.Query = named.table, named.name
			if p.StartNS == nil {
				p.Label = "" // the row has all ranks
			}
			p.Label = strings.TrimPrefix(p.Label+", ", ", ") + label.Clip(label.Clean(named.name), placeColumns)
			break
		}
		same := func(other page.Target) bool {
			return other.StartNS == nil && other.Table == p.Table && other.Query == p.Query
		}
		if p.StartNS == nil && (p.Table == "" || slices.ContainsFunc(out, same)) {
			continue
		}
		if p.Label == "" {
			p.Label = unit.Duration(w.NS)
		}
		out = append(out, p)
	}
	// Places in time lead to the proof; a row of a table only to a sum.
	slices.SortStableFunc(out, func(a, b page.Target) int { return rankOf(a) - rankOf(b) })
	out = out[:min(len(out), mostPlaces)]
	distinguish(out)
	return out
}

// distinguish gives different rows of one table different labels, and places in time that have the same label their
// lengths.
func distinguish(list []page.Target) {
	rows, labels := map[string][]int{}, map[string]int{}
	for _, p := range list {
		if p.StartNS != nil {
			labels[p.Label]++
		}
	}
	for i, p := range list {
		if p.StartNS != nil && labels[p.Label] > 1 && p.Length > 0 {
			list[i].Label += ", " + unit.Duration(p.Length)
		}
		if p.StartNS == nil {
			rows[p.Table] = append(rows[p.Table], i)
		}
	}
	for table, at := range rows {
		names := make([]string, len(at))
		for k, i := range at {
			names[k] = list[i].Query
		}
		form := label.Plain
		if table == "kernels" {
			form = label.Kernel
		}
		for k, text := range label.Short(form, names, placeColumns) {
			list[at[k]].Label = text
		}
	}
}

func rankOf(p page.Target) int {
	if p.StartNS != nil {
		return 0
	}
	return 1
}

// placeDevice returns the GPU of a place. A place without a device is on the first of its
// input.
func placeDevice(ctx *section.Context, w *finding.Place) (summary.GPU, bool) {
	for i := range ctx.Devices {
		d := &ctx.Devices[i]
		if d.Input == w.Input && d.Rank == w.Rank && (w.Device == nil || *w.Device == d.Device) {
			return summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}, true
		}
	}
	return summary.GPU{}, false
}

// stepPlace returns where a step is that a place names without its time.
func stepPlace(ctx *section.Context, w *finding.Place) (start *int64, ns int64) {
	for i := range ctx.Steps {
		st := &ctx.Steps[i]
		if st.Input == w.Input && st.Rank == w.Rank && st.Name == w.Step && (w.Device == nil || *w.Device == st.Device) {
			return &st.StartNS, st.WallNS
		}
	}
	return nil, w.NS
}
