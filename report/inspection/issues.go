package inspection

import (
	"assay/analyze/inspect"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
)

// issues lists what makes the answer incomplete or doubtful. Each kind of issue is listed once for all
// inputs.
func issues(inputs []inspect.Source) doc.Section {
	type seen struct {
		mark, code, help string
		count            int64
	}
	var all []seen
	at := make(map[string]int) // by code
	for _, in := range inputs {
		for _, is := range in.Issues {
			i, ok := at[is.Code]
			if !ok {
				i = len(all)
				at[is.Code] = i
				all = append(all, seen{is.Severity, is.Code, is.Help, 0})
			}
			all[i].count = unit.Plus(all[i].count, is.Count)
		}
	}
	var list doc.List
	for _, is := range all {
		text := is.code
		if is.count != 1 {
			text += " (" + unit.Count(is.count) + " ×)"
		}
		list = append(list, doc.Item{Mark: is.mark, Text: text + ": " + doc.Sentence(label.Clean(is.help))})
	}
	if len(list) == 0 {
		return doc.Section{}
	}
	return doc.Section{Title: "Capture", Lead: "what makes this answer incomplete or doubtful", Blocks: []doc.Block{list}}
}
