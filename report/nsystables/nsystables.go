// Package nsystables writes tables of package analyze/nsysstats as nsys stats prints them:
// as text, CSV or Markdown.
package nsystables

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"assay/analyze/nsysstats"
	"assay/internal/diag"
	"assay/internal/label"
	"assay/report/doc"
)

// An Output is the tables and issues of the inputs, in their order.
type Output struct {
	Paths  []string
	Tables [][]nsysstats.Table
	Issues [][]diag.Issue
}

// Write writes the tables in a format: text, csv or md. Each input has so many reports. It
// calls say with notes on the numbers.
func (all *Output) Write(w io.Writer, format string, reports int, say func(line string)) error {
	out := writer{w: bufio.NewWriter(w), say: say, format: format, many: len(all.Paths) > 1,
		blocks: len(all.Paths) * reports}
	for i, path := range all.Paths {
		for k := range all.Tables[i] {
			out.table(path, &all.Tables[i][k])
		}
		if all.Tables[i] != nil {
			out.caveats(path, all.Issues[i])
		}
	}
	return out.w.Flush()
}

// A writer writes tables. A failed write shows when it is flushed.
type writer struct {
	w      *bufio.Writer
	say    func(line string)
	format string
	many   bool // inputs
	blocks int  // tables in all
	done   int
}

// table writes one table. If there are no rows, it prints the message of nsys stats
// instead; for CSV the message goes to standard error.
func (t *writer) table(path string, table *nsysstats.Table) {
	for _, note := range table.Notes {
		t.say(fmt.Sprintf("%s: %s: %s", path, table.Name, note))
	}
	skipped := ""
	if len(table.Rows) == 0 {
		skipped = fmt.Sprintf("SKIPPED: %s does not contain %s.", path, table.Missing)
	}
	if skipped != "" && t.format == "csv" {
		t.say(skipped)
		return
	}
	if t.format != "csv" { // which is written row by row
		makePrintable(table.Rows)
	}
	if t.done++; t.done > 1 {
		fmt.Fprintln(t.w)
	}
	if t.format == "md" {
		t.markdown(path, table, label.Printable(skipped))
		return
	}
	if t.many || t.format == "csv" && t.blocks > 1 {
		fmt.Fprintf(t.w, "Processing [%s] with [%s]... \n", label.Printable(path), table.Name)
	}
	switch {
	case skipped != "":
		fmt.Fprintln(t.w, label.Printable(skipped))
	case t.format == "csv":
		t.csv(table)
	default:
		if t.many {
			fmt.Fprintln(t.w)
		}
		WriteText(t.w, table)
	}
}

// makePrintable replaces what does not print in all cells. Rows of one name share its
// text.
func makePrintable(rows [][]string) {
	shown := map[string]string{}
	for _, row := range rows {
		for i, text := range row {
			safe, ok := shown[text]
			if !ok {
				if safe = label.Printable(text); safe == text {
					continue
				}
				shown[text] = safe
			}
			row[i] = safe
		}
	}
}

// caveats prints the issues that affect the numbers of an input.
func (t *writer) caveats(path string, issues []diag.Issue) {
	for _, is := range issues {
		if is.Severity != diag.Info {
			t.say(fmt.Sprintf("%s: %s ×%d: %s", path, is.Code, is.Count, is.Help))
		}
	}
}

func (t *writer) csv(table *nsysstats.Table) {
	w := csv.NewWriter(t.w)
	var heads []string
	for _, c := range table.Columns {
		heads = append(heads, c.Head)
	}
	w.Write(heads)
	cells := make([]string, len(table.Columns))
	for _, row := range table.Rows {
		for i, c := range table.Columns {
			cells[i] = label.Printable(row[i])
			if c.Text {
				cells[i] = label.NoFormula(cells[i])
			}
		}
		w.Write(cells)
	}
	w.Flush()
}

func (t *writer) markdown(path string, table *nsysstats.Table, skipped string) {
	fmt.Fprintf(t.w, "### %s (%s)\n", table.Title, table.Name)
	if t.many {
		fmt.Fprintf(t.w, "\n%s\n", doc.Code(path))
	}
	if skipped != "" {
		fmt.Fprintf(t.w, "\n%s\n", doc.Code(skipped))
		return
	}
	var columns []doc.Column
	for _, c := range table.Columns {
		kind := doc.Number
		if c.Text {
			kind = doc.Text
		}
		columns = append(columns, doc.Column{Title: c.Head, Kind: kind})
	}
	doc.WriteGrid(t.w, columns, table.Rows)
}

// mostOfName is the largest number of characters of a name in a column of text.
const mostOfName = 100

// WriteText writes a table in the layout of nsys stats: centered titles above dashes,
// numbers to the right and names to the left.
func WriteText(w io.Writer, table *nsysstats.Table) {
	widths := make([]int, len(table.Columns))
	for i, c := range table.Columns {
		widths[i] = utf8.RuneCountInString(c.Head)
		for _, row := range table.Rows {
			if c.Text {
				row[i] = Clip(row[i])
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	fmt.Fprintf(w, " ** %s (%s):\n\n", table.Title, table.Name)
	line := func(cell func(i int) (left int, text string)) {
		for i := range table.Columns {
			gap := "  "
			if i == 0 {
				gap = " "
			}
			left, text := cell(i)
			right := widths[i] - left - utf8.RuneCountInString(text)
			io.WriteString(w, gap+strings.Repeat(" ", left)+text+strings.Repeat(" ", right))
		}
		io.WriteString(w, "\n")
	}
	line(func(i int) (int, string) {
		head := table.Columns[i].Head
		return (widths[i] - len(head)) / 2, head
	})
	line(func(i int) (int, string) { return 0, strings.Repeat("-", widths[i]) })
	for _, row := range table.Rows {
		line(func(i int) (int, string) {
			if table.Columns[i].Text {
				return 0, row[i]
			}
			return widths[i] - utf8.RuneCountInString(row[i]), row[i]
		})
	}
}

// Clip cuts a name to the width of a column.
func Clip(name string) string {
	if utf8.RuneCountInString(name) <= mostOfName {
		return name
	}
	return string([]rune(name)[:mostOfName-1]) + "…"
}
