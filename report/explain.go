package report

import (
	"cmp"
	"strings"

	"assay/internal/lazyregexp"
	"assay/internal/unit"
	"assay/judge/rule"
	"assay/report/doc"
)

// Rules makes the list of all rules, one line for each.
func Rules(pages []rule.Page) doc.Doc {
	var list doc.List
	for _, p := range pages {
		list = append(list, doc.Item{Mark: p.ID, Text: p.Line + levelLimits(p)})
	}
	s := []doc.Section{{Title: "Rules", Lead: "in order of precedence; \"assay explain RULE\" describes one", Blocks: []doc.Block{list}}}
	return doc.Doc{Title: "Rules", Screen: s, Sections: s}
}

// levelLimits lists the limits of a rule's levels.
func levelLimits(p rule.Page) string {
	var limits []string
	for _, l := range []struct {
		name  string
		share float64
	}{{"info", p.Info}, {"warning", p.Warn}, {"critical", p.Critical}} {
		if l.share != 0 {
			limits = append(limits, l.name+" "+unit.Percent(l.share))
		}
	}
	if limits == nil {
		return ""
	}
	return " (" + strings.Join(limits, ", ") + ")"
}

// Explain makes the page of one rule.
func Explain(p rule.Page) doc.Doc {
	return doc.Doc{Title: p.ID, Screen: explainSections(p, "→"), Sections: explainSections(p, "")}
}

// explainSections returns the sections of a page. The mark is for items of lists that
// have none, because a screen shows no bullets.
func explainSections(p rule.Page, mark string) []doc.Section {
	marked := func(list doc.List) doc.List {
		for i := range list {
			list[i].Mark = mark
		}
		return list
	}
	return []doc.Section{
		{Title: p.ID, Lead: p.Line, Blocks: []doc.Block{explainMeaning(p)}},
		{Title: "Limits", Blocks: []doc.Block{explainLimits(p), doc.Paragraph{Text: "Source of the limits: " + p.Source + "."}}},
		{Title: "Estimated savings", Lead: "upper bound", Blocks: []doc.Block{doc.Paragraph{Text: explainGain(p)}}},
		{Title: "Confidence", Lead: string(p.Confidence), Blocks: []doc.Block{doc.Paragraph{Text: "To confirm:"}, marked(doc.Points(p.Sure))}},
		{Title: "What changes the verdict", Blocks: []doc.Block{doc.Paragraph{Text: p.Changes + "."}}},
		{Title: "Recommendations", Lead: "with sources; ranks, files and numbers are examples", Blocks: []doc.Block{marked(explainRemedies(p))}},
	}
}

func explainMeaning(p rule.Page) doc.List {
	list := doc.List{{Mark: "definition", Text: p.Meaning}, {Mark: "numerator", Text: p.Part}}
	if p.Whole != "" {
		list = append(list, doc.Item{Mark: "denominator", Text: p.Whole})
	}
	return list
}

// explainLimits lists the limits that a threshold file may set.
func explainLimits(p rule.Page) doc.Block {
	var list doc.List
	add := func(key, value string, set bool) {
		if set {
			list = append(list, doc.Item{Mark: key, Text: value})
		}
	}
	for _, l := range []struct {
		key   string
		share float64
	}{
		{"info", p.Info}, {"warn", p.Warn}, {"critical", p.Critical}, {"min_share", p.MinShare}, {"min_busy", p.MinBusy},
		{"of_peak", p.OfPeak}, {"margin", p.Margin},
	} {
		add(l.key, unit.Percent(l.share), l.share != 0)
	}
	add("min_events", unit.Count(p.MinEvents), p.MinEvents != 0)
	add("min_gap", unit.Duration(p.MinGapNS), p.MinGapNS != 0)
	add("under", unit.Duration(p.Under), p.Under != 0)
	if list == nil {
		return doc.Paragraph{Text: "This rule has no limit."}
	}
	return list
}

func explainGain(p rule.Page) string {
	if p.Gain == "none" {
		return "Not estimated (gain_ns is null)."
	}
	return p.Gain + "."
}

// blank matches a placeholder of a recommendation.
var blank = lazyregexp.New(`\{[a-z_]+\}`)

// example returns what a placeholder can stand for.
func example(word string) string {
	return map[string]string{
		"rank": "rank 3", "ranks": "ranks 3 and 5", "site": "train.py:88", "bytes": "120 MiB", "phase": "data", "phases": "setup and warm-up", "what": `"collate"`, "n": "10",
		"file": `"rank3.json"`, "time": "ts 102300.000 µs", "kernel": `"gemm_f16"`, "side": "memory", "share": "40.0%", "peak": "35.0%",
		"waves": "0.50", "reason": `"long_scoreboard"`, "cycles": "12.3", "rule": `"Occupancy"`, "speedup": "20%", "text": "low occupancy",
		"issue_help": "Do what the issue says",
	}[word]
}

// explainRemedies lists the recommendations of a rule by id.
func explainRemedies(p rule.Page) doc.List {
	var list doc.List
	for _, r := range p.Remedies {
		text := blank().ReplaceAllStringFunc(r.Text, func(word string) string {
			return cmp.Or(example(word[1:len(word)-1]), word)
		})
		it := doc.Item{Text: text, Code: r.ID}
		if len(r.Stacks) > 0 {
			it.Sub = append(it.Sub, doc.Item{Mark: "for", Text: strings.Join(r.Stacks, ", ")})
		}
		if r.Plain {
			it.Sub = append(it.Sub, doc.Item{Mark: "for", Text: "programs without PyTorch"})
		}
		if r.Nsys {
			it.Sub = append(it.Sub, doc.Item{Mark: "for", Text: "Nsight Systems captures"})
		}
		it.Sub = append(it.Sub, doc.Item{Mark: "source", Text: r.Source.Title, Code: r.Source.URL})
		list = append(list, it)
	}
	return list
}
