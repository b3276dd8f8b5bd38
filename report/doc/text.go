package doc

import (
	"bytes"
	"io"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
)

// minText is the minimum width of a text summary in columns.
const minText = 60

// Text writes the one-screen summary, for a terminal of the given width. No
// line is wider, unless the width is under 60 columns or a table has more
// columns than fit.
func (d Doc) Text(w io.Writer, columns int) error {
	columns = max(columns, minText)
	var b strings.Builder
	for i, s := range d.Screen {
		if i > 0 {
			b.WriteByte('\n')
		}
		head := s.Title
		if s.Lead != "" {
			head += ": " + s.Lead
		}
		writeWrapped(&b, head, "", "  ", columns)
		for _, block := range s.Blocks {
			textBlock(&b, block, columns)
		}
	}
	_, err := io.WriteString(w, label.CleanLines(b.String())) // a summary of another program may have any text anywhere
	return err
}

// ScreenLines returns the number of lines of the one-screen summary, for a terminal of 80
// columns.
func (d Doc) ScreenLines() int {
	var b strings.Builder
	d.Text(&b, 80) // a Builder never fails
	return strings.Count(b.String(), "\n")
}

// mostProse is the largest number of columns of sentences. Longer lines are hard to read; tables may be wider.
const mostProse = 120

func textBlock(b *strings.Builder, block Block, columns int) {
	switch block := block.(type) {
	case Paragraph:
		writeWrapped(b, block.Text, "  ", "  ", min(columns, mostProse))
	case List:
		textList(b, block, "  ", min(columns, mostProse))
	case Table:
		textTable(b, block.fitted(columns), "  ", columns)
	case Picture: // a terminal cannot show it
	}
}

// textList writes the marks in one column and the texts in the next.
func textList(b *strings.Builder, list List, indent string, columns int) {
	marks := 0
	for _, it := range list {
		marks = max(marks, label.Width(it.Mark))
	}
	if marks > 0 {
		marks++
	}
	hang := indent + strings.Repeat(" ", marks)
	for _, it := range list {
		text := it.Text
		if it.Ticks {
			text = strings.ReplaceAll(text, "`", "")
		}
		if it.Code != "" {
			text = strings.TrimSpace(text + " " + it.Code)
		}
		writeWrapped(b, text, indent+pad(it.Mark, marks, false), hang, columns)
		textList(b, it.Sub, hang, columns)
	}
}

// writeWrapped breaks text at spaces into lines of at most the given columns. It breaks
// a word only if the word is longer than a line.
func writeWrapped(b *strings.Builder, text, first, hang string, columns int) {
	line, used := append(make([]byte, 0, 128), first...), label.Width(first)
	empty := true
	flush := func() {
		b.Write(bytes.TrimRight(line, " "))
		b.WriteByte('\n')
		line, used, empty = append(line[:0], hang...), label.Width(hang), true
	}
	for word := range strings.FieldsSeq(text) {
		width := label.Width(word)
		if !empty && used+1+width > columns {
			flush()
		}
		for empty && used+width > columns {
			head := label.CutHead(word, columns-used)
			if head == "" {
				break
			}
			line = append(line, head...)
			word = word[len(head):]
			width = label.Width(word)
			flush()
		}
		if !empty {
			line = append(line, ' ')
			used++
		}
		line = append(line, word...)
		used += width
		empty = false
	}
	if !empty || text == "" {
		flush()
	}
}

// pad fills s with spaces to the given number of columns.
func pad(s string, columns int, right bool) string {
	fill := strings.Repeat(" ", max(0, columns-label.Width(s)))
	if right {
		return fill + s
	}
	return s + fill
}

// textTable sets a table with two spaces between its columns. Names are
// shortened to what the other columns leave them.
func textTable(b *strings.Builder, t Table, indent string, columns int) {
	cells := make([][]string, 0, len(t.Rows)+1)
	head := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = c.Title
	}
	cells = append(cells, head)
	for _, r := range t.Rows {
		cells = append(cells, append([]string(nil), r.Cells...))
	}
	shortenNames(t.Columns, cells, columns-len(indent)-2*(len(t.Columns)-1))
	widths := columnWidths(cells)
	for _, row := range cells {
		line := indent
		for i, cell := range row {
			if i > 0 {
				line += "  "
			}
			line += pad(cell, widths[i], t.Columns[i].Kind == Number)
		}
		b.WriteString(strings.TrimRight(line, " "))
		b.WriteByte('\n')
	}
	if rest := t.More.brief(t.Title); rest != "" {
		writeWrapped(b, rest, indent, indent, columns)
	}
	if left := t.leftText(); left != "" {
		writeWrapped(b, left, indent, indent, columns)
	}
}

// shortenNames replaces the names in the rows below the first by shortened ones. The columns of names share
// equally the width that the other columns leave.
func shortenNames(columns []Column, cells [][]string, total int) {
	names := 0
	for i, c := range columns {
		if c.Kind.isName() {
			names++
			continue
		}
		total -= columnWidths(cells)[i]
	}
	for i, c := range columns {
		if !c.Kind.isName() {
			continue
		}
		var list []string
		for _, row := range cells[1:] {
			list = append(list, row[i])
		}
		for j, label := range nameLabels(c.Kind, list, total/names) {
			cells[j+1][i] = label
		}
	}
}

// isName reports whether cells of the kind are unprocessed names.
func (k Kind) isName() bool { return k == Name || k == KernelName || k == LineName }

func nameLabels(kind Kind, names []string, columns int) []string {
	return label.Short(kind.form(), names, columns)
}

// form returns how cells of the kind are shortened.
func (k Kind) form() label.Form {
	switch k {
	case KernelName:
		return label.Kernel
	case LineName:
		return label.Line
	}
	return label.Plain
}

func columnWidths(cells [][]string) []int {
	widths := make([]int, len(cells[0]))
	for _, row := range cells {
		for i, cell := range row {
			widths[i] = max(widths[i], label.Width(cell))
		}
	}
	return widths
}

// Text returns what is not shown: "12 more kernels (3.4% of total kernel time)", or ""
// if nothing is missing.
func (r Rest) Text(rows string) string {
	text := r.rows(rows)
	if text != "" && r.Total > 0 {
		text += " (" + unit.Share(r.Weight, r.Total) + " of " + r.Of + ")"
	}
	return text
}

// brief is Text for a screen, where the heading has the denominator: "12 more kernels,
// 3.4%".
func (r Rest) brief(rows string) string {
	text := r.rows(rows)
	if text != "" && r.Total > 0 {
		text += ", " + unit.Share(r.Weight, r.Total)
	}
	return text
}

// rows returns the number of rows that are not shown, or "" if there are none.
func (r Rest) rows(rows string) string {
	if r.Rows == 0 {
		return ""
	}
	noun := rows
	if r.Rows == 1 {
		noun = strings.TrimSuffix(rows, "s")
		if kind, ok := strings.CutPrefix(rows, "kinds of "); ok {
			noun = "kind of " + kind
		}
	}
	return unit.Count(int64(r.Rows)) + " more " + noun
}
