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

// An Output has the tables and issues of the inputs, in the order of the inputs.
type Output struct {
	Paths  []string
	Tables [][]nsysstats.Table
	Issues [][]diag.Issue
}

// Write writes the tables in a format: text, csv or md. reports is the number of tables per input. Notes on
// the numbers are passed to say.
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

// writer writes tables. A write error is returned when the buffer is flushed.
type writer struct {
	w      *bufio.Writer
	say    func(line string)
	format string
	many   bool // there are several inputs
	blocks int  // total number of tables
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
	if t.format != "csv" { // CSV is escaped while it is written
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

// makePrintable replaces unprintable characters in all cells. The result for a name is computed once,
// because many rows share it.
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
	for _, line := range diag.Warnings(path, issues) {
		t.say(line)
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

// mostOfName is the maximum number of characters of a name in a text table.
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
