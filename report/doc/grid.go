package doc

import (
	"io"
	"strings"

	"assay/internal/label"
)

// gridColumns is the widest cell that [WriteGrid] pads. Markdown ignores the padding, and one wide name
// would make every row as long.
const gridColumns = 60

// WriteGrid writes a table outside a report as Markdown, row by row. It writes all rows.
// Texts are names, so they are set as code, and shortened to [NameColumns]; different
// names of a column stay different.
func WriteGrid(w io.Writer, columns []Column, rows [][]string) error {
	names := gridNames(columns, rows)
	cell := func(i int, row []string) string {
		if columns[i].Kind == Number {
			return escapeMarkdown(row[i])
		}
		return codeSpan(names[i][row[i]])
	}
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = max(3, label.Width(escapeMarkdown(c.Title)))
		for _, row := range rows {
			widths[i] = max(widths[i], label.Width(cell(i, row)))
		}
		widths[i] = min(widths[i], gridColumns)
	}
	line := func(cell func(i int) string) error {
		var b strings.Builder
		for i := range columns {
			b.WriteString("| " + pad(cell(i), widths[i], columns[i].Kind == Number) + " ")
		}
		_, err := io.WriteString(w, b.String()+"|\n")
		return err
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	if err := line(func(i int) string { return escapeMarkdown(columns[i].Title) }); err != nil {
		return err
	}
	if err := line(func(i int) string { return rule(widths[i], columns[i].Kind == Number) }); err != nil {
		return err
	}
	for _, row := range rows {
		if err := line(func(i int) string { return cell(i, row) }); err != nil {
			return err
		}
	}
	return nil
}

// gridNames returns the short name of each text in the columns that are no numbers.
func gridNames(columns []Column, rows [][]string) []map[string]string {
	out := make([]map[string]string, len(columns))
	for i, c := range columns {
		if c.Kind == Number {
			continue
		}
		out[i] = make(map[string]string)
		var all []string
		for _, row := range rows {
			if _, ok := out[i][row[i]]; !ok {
				out[i][row[i]] = row[i]
				all = append(all, row[i])
			}
		}
		long := false
		for _, name := range all {
			long = long || label.Width(name) > NameColumns
		}
		if !long {
			continue
		}
		for k, short := range label.Short(label.Plain, all, NameColumns) {
			out[i][all[k]] = short
		}
	}
	return out
}

// rule returns the dashes below the title of a column.
func rule(width int, right bool) string {
	dashes := strings.Repeat("-", width-1)
	if right {
		return dashes + ":"
	}
	return dashes + "-"
}

// Code returns text as code in one line of Markdown.
func Code(text string) string { return codeSpan(text) }
