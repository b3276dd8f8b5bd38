package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"assay/analyze/nsysstats"
	"assay/diag"
	"assay/internal/ingest"
	"assay/internal/label"
	"assay/report/doc"
	"assay/trace"
)

// A tabulation prints the reports of nsys stats.
type tabulation struct {
	names  []string
	format string // "text", "csv" or "md"
}

// newTabulation checks the flags. It returns a message if they are wrong.
func newTabulation(names []string, format string) (tab tabulation, wrong string) {
	tab.format = format
	switch format {
	case "text", "csv", "md":
	default:
		return tab, fmt.Sprintf("--format is %q, want text, csv or md with --table", format)
	}
	for _, name := range names {
		current, ok := nsysstats.Find(strings.TrimSpace(name))
		if !ok {
			return tab, fmt.Sprintf("--table is %q, want one or more of %s", name, strings.Join(nsysstats.Names(), ", "))
		}
		tab.names = append(tab.names, current)
	}
	if len(tab.names) == 0 {
		return tab, "--table is empty, want one or more of " + strings.Join(nsysstats.Names(), ", ")
	}
	return tab, ""
}

// run reads the inputs and prints the reports on each, in their order.
func (tab *tabulation) run(e env, c *command, src *source, args []string) error {
	r, err := src.open(e, c, args)
	if err != nil {
		return err
	}
	r.needs = func() trace.Select { return nsysstats.Needs(tab.names) }
	tables := make([][]nsysstats.Table, len(r.paths))
	issues := make([][]diag.Issue, len(r.paths))
	strangers := make([]error, len(r.paths))
	failed := r.all(func(i int, in *ingest.Input) {
		if in.Trace == nil {
			strangers[i] = fmt.Errorf("%s: --table needs a trace, but this is %s; run without --table", in.Path, in.Format)
			return
		}
		t, err := r.narrowed(in)
		if strangers[i] = err; err != nil {
			return
		}
		issues[i] = t.Issues
		tables[i] = nsysstats.Tables(t.Starting(), tab.names, r.limits.memory.rows())
	})
	failed = append(failed, strangers...)
	all := tabulated{slices.Clone(r.paths), tables, issues}
	src.hidden(&all)
	err = e.print(mask(all).as(func(all tabulated, w io.Writer) error { return tab.write(e, c, all, w) }))
	return errors.Join(append(failed, err)...)
}

// A tabulated is the tables and issues of the inputs, in their order.
type tabulated struct {
	Paths  []string
	Tables [][]nsysstats.Table
	Issues [][]diag.Issue
}

func (tab *tabulation) write(e env, c *command, all tabulated, w io.Writer) error {
	out := tableWriter{w: bufio.NewWriter(w), e: e, c: c, format: tab.format, many: len(all.Paths) > 1, blocks: len(all.Paths) * len(tab.names)}
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

// A tableWriter writes tables. A failed write shows when it is flushed.
type tableWriter struct {
	w      *bufio.Writer
	e      env
	c      *command
	format string
	many   bool // inputs
	blocks int  // tables in all
	done   int
}

// table writes one table. If there are no rows, it prints the message of nsys stats
// instead; for CSV the message goes to standard error.
func (t *tableWriter) table(path string, table *nsysstats.Table) {
	for _, note := range table.Notes {
		t.e.say("assay %s: %s: %s: %s", t.c.name, path, table.Name, note)
	}
	skipped := ""
	if len(table.Rows) == 0 {
		skipped = fmt.Sprintf("SKIPPED: %s does not contain %s.", path, table.Missing)
	}
	if skipped != "" && t.format == "csv" {
		t.e.say("assay %s: %s", t.c.name, skipped)
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
		writeTableText(t.w, table)
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
func (t *tableWriter) caveats(path string, issues []diag.Issue) {
	for _, is := range issues {
		if is.Severity != diag.Info {
			t.e.say("assay %s: %s: %s ×%d: %s", t.c.name, path, is.Code, is.Count, is.Help)
		}
	}
}

func (t *tableWriter) csv(table *nsysstats.Table) {
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
				cells[i] = noFormula(cells[i])
			}
		}
		w.Write(cells)
	}
	w.Flush()
}

// noFormula puts an apostrophe before a text that a spreadsheet would take for a formula.
// Such a text can come from the names of a trace, and a formula can send data away.
func noFormula(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

func (t *tableWriter) markdown(path string, table *nsysstats.Table, skipped string) {
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

// writeTableText writes a table in the layout of nsys stats: centered titles above dashes,
// numbers to the right and names to the left.
func writeTableText(w io.Writer, table *nsysstats.Table) {
	widths := make([]int, len(table.Columns))
	for i, c := range table.Columns {
		widths[i] = utf8.RuneCountInString(c.Head)
		for _, row := range table.Rows {
			if c.Text {
				row[i] = clip(row[i])
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

// clip cuts a name to the width of a column.
func clip(name string) string {
	if utf8.RuneCountInString(name) <= mostOfName {
		return name
	}
	return string([]rune(name)[:mostOfName-1]) + "…"
}
