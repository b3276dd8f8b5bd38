package logs

import (
	"strconv"

	"assay/internal/label"
	"assay/report/doc"
	"assay/report/section"
)

// mostSettingRows is the largest number of rows of the table of settings.
const mostSettingRows = 100

// settings returns the settings that programs printed at their start.
func settings(ctx *section.Context) doc.Section {
	if len(ctx.Settings) == 0 {
		return doc.Section{}
	}
	t := doc.Table{Title: "settings", Columns: []doc.Column{doc.Col("program", doc.Name), doc.Col("setting", doc.Name),
		doc.Col("value", doc.Text), doc.Col("line", doc.Number)}}
	several := len(ctx.Inputs) > 1
	if several {
		t.Columns = append([]doc.Column{doc.Col("input", doc.Number)}, t.Columns...)
	}
	for i := range ctx.Settings {
		s := &ctx.Settings[i]
		value := label.Clean(s.Value)
		if s.Varies {
			value += " (varies)"
		}
		cells := []string{label.Clean(s.Producer), label.Clean(s.Key), value, strconv.FormatInt(s.Line, 10)}
		if several {
			cells = append([]string{strconv.Itoa(s.Input + 1)}, cells...)
		}
		t.Rows = append(t.Rows, doc.Row{Weight: 1, Cells: cells})
	}
	return doc.Section{Title: "Settings", Lead: "of the configuration that the log begins with", Blocks: []doc.Block{t.Cut(mostSettingRows)}}
}
