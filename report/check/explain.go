package check

import (
	"io"

	"assay/gate/metric"
	"assay/internal/jsonscan"
	"assay/report/doc"
)

// An Explanation prints the page of a metric.
type Explanation struct{ metric.Page }

func (x Explanation) doc() doc.Doc {
	facts := doc.List{{Mark: "measures", Text: x.Meaning}}
	if x.Denominator != "" {
		facts = append(facts, doc.Item{Mark: "denominator", Text: x.Denominator})
	}
	facts = append(facts, doc.Item{Mark: "unit", Text: x.Unit}, doc.Item{Mark: "better", Text: x.Better},
		doc.Item{Mark: "noise", Text: x.Noise})
	var keys doc.List
	for _, k := range x.Selects {
		text := k.Meaning + ", as " + k.Example
		if k.Needed {
			text += "; required"
		}
		keys = append(keys, doc.Item{Mark: k.Key, Text: text})
	}
	var lines doc.List
	for _, line := range x.Examples {
		lines = append(lines, doc.Item{Code: line})
	}
	s := []doc.Section{
		{Title: x.Name, Lead: "metric of \"assay check\"", Blocks: []doc.Block{facts}},
		{Title: "Selectors", Lead: "without one, all is selected", Blocks: []doc.Block{keys}},
		{Title: "Examples", Lead: "lines of a gate file", Blocks: []doc.Block{lines}},
	}
	return doc.Doc{Title: x.Name, Screen: s, Sections: s}
}

// Text writes the page for a terminal.
func (x Explanation) Text(w io.Writer, columns int) error { return x.doc().Text(w, columns) }

// Markdown writes the page.
func (x Explanation) Markdown(w io.Writer) error { return x.doc().Markdown(w) }

// JSON writes the page as an object.
func (x Explanation) JSON(w io.Writer) error { return jsonscan.Write(w, x.Page) }
