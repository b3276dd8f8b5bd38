package doc

import (
	"io"
	"strings"
)

// WriteGrid writes a table outside a report as Markdown. It writes all rows and shortens
// nothing. Texts are names, so they are set as code.
func WriteGrid(w io.Writer, columns []Column, rows [][]string) error {
	cells := make([][]string, len(rows)+1)
	for _, c := range columns {
		cells[0] = append(cells[0], escapeMarkdown(c.Title))
	}
	for n, row := range rows {
		for i, text := range row {
			if columns[i].Kind == Number {
				text = escapeMarkdown(text)
			} else {
				text = codeSpan(text)
			}
			cells[n+1] = append(cells[n+1], text)
		}
	}
	var b strings.Builder
	writeGrid(&b, columns, cells)
	_, err := io.WriteString(w, b.String())
	return err
}

// Code returns text as code in one line of Markdown.
func Code(text string) string { return codeSpan(text) }
