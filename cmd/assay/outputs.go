package main

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"sync"

	"assay/analyze/inspect"
	"assay/analyze/whatif"
	"assay/compare"
	"assay/compare/history"
	"assay/gate/metric"
	"assay/internal/jsonschema"
	"assay/report"
	"assay/report/check"
	"assay/report/show"
	"assay/summary"
)

// jsonDocument is one of the JSON documents that commands write. Its schema, the fields that --fields can name, and the
// keys of rows all follow from the types that it is encoded from.
type jsonDocument struct {
	name, id, title string
	parts           func() []any
}

// outputList lists the JSON documents by the names of "assay schema".
func outputList() []jsonDocument {
	of := func(v any) func() []any { return func() []any { return []any{v} } }
	return []jsonDocument{
		{"summary", summary.Schema, "Measurements of a run with the verdict and its findings: assay summary, assay report", report.JSONParts},
		{"comparison", compare.Schema, "What changed between two runs: assay diff", of(compare.Comparison{})},
		{"history", history.Schema, "Metrics over many runs, and where they change: assay history", of(history.History{})},
		{"groups", show.Schema, "Rows added up by keys, of one run or of two: assay summary --by, assay diff --by", show.JSONParts},
		{"check", check.CheckSchema, "Results of gates: assay check", check.JSONParts},
		{"doctor", doctorSchema, "What a capture can and cannot answer: assay doctor", of(examined{})},
		{"inspection", inspect.Schema, "Single events of a trace: assay inspect", of(inspect.Answer{})},
		{"whatif", whatif.Schema, "Critical paths of steps, and forecasts of changes: assay whatif", of(whatif.Answer{})},
		{"explanation", "", "Rules, issue codes and pages of the manual: assay explain", of(explainedJSON{})},
		{"metric", "", "A metric of gates: assay check --explain", of(metric.Page{})},
	}
}

// outputNamed returns the document with a name.
func outputNamed(name string) (jsonDocument, bool) {
	all := outputList()
	i := slices.IndexFunc(all, func(d jsonDocument) bool { return d.name == name })
	if i < 0 {
		return jsonDocument{}, false
	}
	return all[i], true
}

// described returns the description of a document. A closed one refuses members that it does not name.
func (d jsonDocument) described(closed bool) *jsonschema.Schema {
	return jsonschema.Document{Name: d.id, Title: d.title, Parts: d.parts(), Notes: noteOn, Closed: closed}.Schema()
}

// notesOnMembers has what the lists of a summary are, and what the fields of their rows mean.
var notesOnMembers = sync.OnceValue(func() map[reflect.Type]map[string]string {
	notes := map[reflect.Type]map[string]string{}
	note := func(of reflect.Type, name, text string) {
		if notes[of] == nil {
			notes[of] = map[string]string{}
		}
		notes[of][name] = cmp.Or(notes[of][name], text)
	}
	for _, m := range summary.Members() {
		of, name := reflect.TypeFor[summary.Summary](), m.Name()
		if below, ok := strings.CutPrefix(name, "efficiency."); ok {
			of, name = reflect.TypeFor[summary.Efficiency](), below
		}
		says, _ := m.About()
		says, _, _ = strings.Cut(says, "; see [") // a link of the manual
		says, _, _ = strings.Cut(says, ": see [")
		note(of, name, says)
		k := m.Kind()
		if k == nil {
			continue
		}
		for i := range k.Columns {
			c := &k.Columns[i]
			if c.JSON == "" {
				continue
			}
			if k.IsNumber(c) {
				note(k.Row, c.JSON, c.Name)
			} else {
				meaning, _, _ := k.Explained(c)
				meaning, _, _ = strings.Cut(meaning, "; * matches")
				note(k.Row, c.JSON, meaning)
			}
		}
	}
	return notes
})

func noteOn(of reflect.Type, name string) string { return notesOnMembers()[of][name] }
