package doc

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/report/plot"
)

const (
	// NameColumns is the maximum width of a name in a Markdown table, in columns.
	NameColumns = 90
	// WordColumns is the maximum width of a class, category or kind, in columns.
	WordColumns = 24

	// A table of more than foldOver rows shows openRows of them; the others
	// unfold on a click.
	foldOver, openRows = 20, 10

	// StepSummaryLimit is the size in bytes that GitHub allows for the summary
	// of one step of a workflow. It silently drops larger ones.
	StepSummaryLimit = 1 << 20

	// BriefLimit is the size in bytes of the page for a pull request. Names have
	// briefName columns there, and tables and lists briefRows rows.
	BriefLimit = 4000
	briefName  = 60
	briefRows  = 10
	briefTitle = 200
)

// markdown has the limits of one Markdown rendering.
type markdown struct {
	pictures bool
	form     plot.Form // files of pictures that are linked
	rows     int       // maximum number of rows of a table
	names    int       // columns of a name
}

// Markdown writes the whole report. It links its pictures by file name, so they must
// be in the same directory. The text has at most [StepSummaryLimit] bytes, because
// users paste it into step summaries; it counts what it omits.
func (d Doc) Markdown(w io.Writer) error {
	_, err := io.WriteString(w, markdown{pictures: true, form: d.Pictures}.report(d, StepSummaryLimit))
	return err
}

// StepSummary writes the report for $GITHUB_STEP_SUMMARY: without pictures, and in at
// most [StepSummaryLimit] bytes. It counts what it omits.
func (d Doc) StepSummary(w io.Writer) error {
	_, err := io.WriteString(w, d.Within(StepSummaryLimit))
	return err
}

// BriefMarkdown writes the page for a pull request, in at most [BriefLimit] bytes: the
// verdict, the time breakdown and the most important findings; the rest unfolds on a
// click. It has no pictures, and counts what it omits: folded sections first.
func (d Doc) BriefMarkdown(w io.Writer) error {
	_, err := io.WriteString(w, d.page())
	return err
}

// page returns the page for a pull request. The report begins with the same text.
func (d Doc) page() string {
	m, page := markdown{rows: briefRows, names: briefName}, Doc{Title: label.Clip(d.Title, briefTitle)}
	for n := len(d.Brief); ; n-- {
		page.Sections = d.Brief[:n:n]
		if n < len(d.Brief) {
			page.Sections = append(page.Sections, notFitting(d.Brief[n:]))
		}
		text := m.doc(page)
		if len(text) > BriefLimit && n > 0 && d.Brief[n-1].Fold {
			continue
		}
		if len(text) > BriefLimit {
			text = m.within(page, BriefLimit)
		}
		return text
	}
}

// report returns the page for a pull request and the sections after it, in at most limit bytes,
// or "" if nothing fits.
func (m markdown) report(d Doc, limit int) string {
	if len(d.Brief) == 0 {
		return m.within(d, limit)
	}
	page := d.page()
	rest := ""
	if len(page) <= limit {
		rest = m.within(Doc{Sections: d.Sections}, limit-len(page))
	}
	if rest != "" || len(d.Sections) == 0 && len(page) <= limit {
		return page + rest
	}
	cut := Doc{Title: d.Title, Sections: d.Brief[:len(d.Brief):len(d.Brief)]}
	if len(d.Sections) > 0 {
		cut.Sections = append(cut.Sections, notFitting(d.Sections))
	}
	return m.within(cut, limit)
}

// mostTitles is the maximum number of sections that the note names.
const mostTitles = 3

// notFitting returns the note that names sections that were left out.
func notFitting(left []Section) Section {
	text := label.Plural(int64(len(left)), "more section") + " did not fit here"
	var titles []string
	for _, s := range left[:min(mostTitles, len(left))] {
		if s.Title != "" {
			titles = append(titles, label.Clip(s.Title, 50))
		}
	}
	switch {
	case len(titles) == 0:
		return Section{Blocks: []Block{Paragraph{Text: text + "."}}}
	case len(left) > len(titles):
		titles = append(titles, "…")
	}
	return Section{Blocks: []Block{Paragraph{Text: text + ": " + strings.Join(titles, "; ") + "."}}}
}

// Within returns the report without pictures in at most limit bytes, or "" if nothing
// fits.
func (d Doc) Within(limit int) string { return markdown{}.report(d, limit) }

// within shortens the document until it has at most limit bytes: first fewer rows, then
// shorter names, then fewer sections. It returns "" if nothing fits.
func (m markdown) within(d Doc, limit int) string {
	m.rows, m.names = 1<<30, cmp.Or(m.names, NameColumns)
	text := m.doc(d)
	for _, m.rows = range []int{64, 25, 10, 5, 2, 1, 0} {
		if len(text) <= limit {
			return text
		}
		text = m.doc(d)
	}
	m.names = label.MinLabel
	for n := len(d.Sections); ; n-- {
		cut := d
		cut.Sections = slices.Clone(d.Sections[:n])
		if n < len(d.Sections) {
			cut.Sections = append(cut.Sections, notFitting(d.Sections[n:]))
		}
		if text = m.doc(cut); len(text) <= limit || n == 0 {
			break
		}
	}
	if len(text) > limit {
		return ""
	}
	return text
}

func (m markdown) doc(d Doc) string {
	var b strings.Builder
	if d.Title != "" {
		b.WriteString("# " + escapeMarkdown(d.Title) + "\n")
	}
	for _, s := range d.Sections {
		if s.Fold {
			b.WriteString("\n<details>\n<summary>" + escapeHTML(s.Title) + "</summary>\n")
		} else if s.Title != "" {
			b.WriteString("\n## " + escapeMarkdown(s.Title) + "\n")
		}
		if s.Lead != "" {
			b.WriteString("\n" + escapeMarkdown(s.Lead) + "\n")
		}
		for _, block := range s.Blocks {
			m.block(&b, block)
		}
		if s.Fold {
			b.WriteString("\n</details>\n")
		}
	}
	return b.String()
}

func (m markdown) block(b *strings.Builder, block Block) {
	switch block := block.(type) {
	case Paragraph:
		text := escapeMarkdown(block.Text)
		if block.Strong {
			text = "**" + text + "**"
		}
		b.WriteString("\n" + text + "\n")
	case List:
		b.WriteString("\n")
		m.list(b, block, "")
	case Table:
		m.table(b, block.fitted(usualWidth))
	case Picture:
		if m.pictures {
			b.WriteString("\n" + m.picture(block.Chart) + "\n")
		}
	}
}

// picture shows a picture. Not every viewer of Markdown shows SVG, so if there are two files, it shows the
// PNG.
func (m markdown) picture(c plot.Chart) string {
	alt := "![" + escapeMarkdown(c.Alt) + "]("
	switch m.form {
	case plot.Vector:
		return alt + c.SVGFile() + ")"
	case plot.Both:
		return "[" + alt + c.File() + ")](" + c.SVGFile() + ")"
	}
	return alt + c.File() + ")"
}

func (m markdown) list(b *strings.Builder, list List, indent string) {
	for i, it := range list {
		if left := len(list) - i; i >= max(m.rows, 1) && left > 1 {
			b.WriteString(indent + "- " + label.Plural(int64(left), "more point") + "\n")
			break
		}
		var parts []string
		if it.Mark != "" {
			parts = append(parts, "**"+escapeMarkdown(it.Mark)+"**")
		}
		if it.Ticks {
			parts = append(parts, markTicks(it.Text))
		} else if it.Text != "" {
			parts = append(parts, escapeMarkdown(it.Text))
		}
		if it.Code != "" {
			parts = append(parts, codeSpan(it.Code))
		}
		if it.Source.Title != "" {
			parts = append(parts, "("+sourceLink(it.Source)+")")
		}
		b.WriteString(indent + "- " + strings.Join(parts, " ") + "\n")
		m.list(b, it.Sub, indent+"  ")
	}
}

// sourceLink returns a source as a link, if it is on the web.
func sourceLink(s Source) string {
	if !strings.HasPrefix(s.URL, "https://") {
		return escapeMarkdown(s.Title)
	}
	return "[" + escapeMarkdown(s.Title) + "](" + s.URL + ")"
}

// table writes a table whose columns are aligned in the source too. A long table is
// folded after its first rows.
func (m markdown) table(b *strings.Builder, t Table) {
	t = t.Cut(m.rows)
	cells := make([][]string, 0, len(t.Rows)+1)
	cells = append(cells, make([]string, len(t.Columns)))
	for i, c := range t.Columns {
		cells[0][i] = escapeMarkdown(c.Title)
	}
	for _, r := range t.Rows {
		cells = append(cells, slices.Clone(r.Cells))
	}
	for i, c := range t.Columns {
		m.column(c.Kind, cells[1:], i)
	}
	if len(cells) == 1 {
		t.More.Rows = max(t.More.Rows, 0)
	} else if len(t.Rows) <= foldOver {
		writeGrid(b, t.Columns, cells)
	} else {
		writeGrid(b, t.Columns, cells[:1+openRows])
		b.WriteString("\n<details>\n<summary>" + label.Plural(int64(len(t.Rows)-openRows), "more row") + "</summary>\n")
		writeGrid(b, t.Columns, append([][]string{cells[0]}, cells[1+openRows:]...))
		b.WriteString("\n</details>\n")
	}
	if rest := t.More.Text(t.Title); rest != "" {
		b.WriteString("\n" + escapeMarkdown(rest) + "\n")
	}
	if left := t.leftText(); left != "" {
		b.WriteString("\n" + left + "\n")
	}
	if t.Note != "" {
		b.WriteString("\n" + escapeMarkdown(t.Note) + "\n")
	}
}

// column prepares the cells of column i for a table.
func (m markdown) column(kind Kind, rows [][]string, i int) {
	if kind == Text || kind == Number {
		for _, row := range rows {
			row[i] = escapeMarkdown(row[i])
		}
		return
	}
	var names []string
	for _, row := range rows {
		names = append(names, row[i])
	}
	for j, label := range nameLabels(kind, names, m.names) {
		rows[j][i] = ""
		if names[j] != "" || kind == KernelName {
			rows[j][i] = codeSpan(label)
		}
	}
}

// writeGrid writes rows; the first row has the titles.
func writeGrid(b *strings.Builder, columns []Column, cells [][]string) {
	widths := columnWidths(cells)
	b.WriteByte('\n')
	line := func(cell func(i int) string) {
		for i := range columns {
			b.WriteString("| " + cell(i) + " ")
		}
		b.WriteString("|\n")
	}
	for n, row := range cells {
		line(func(i int) string { return pad(row[i], max(3, widths[i]), columns[i].Kind == Number) })
		if n > 0 {
			continue
		}
		line(func(i int) string {
			return rule(max(3, widths[i]), columns[i].Kind == Number)
		})
	}
}
