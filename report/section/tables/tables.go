package tables

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
	"assay/summary/view"
)

// source returns the table's name and tool, and its input if there are several.
func source(ctx *section.Context, t summary.Table) string {
	text := label.Clip(label.Clean(t.Name), 60)
	if t.Tool != "" {
		text += " of " + label.Clip(label.Clean(t.Tool), 30)
	}
	if t.Line > 0 {
		text += fmt.Sprintf(", line %d", t.Line)
	}
	if len(ctx.Inputs) > 1 && t.Input >= 0 && t.Input < len(ctx.Inputs) {
		text += ", from " + label.Clip(label.Clean(ctx.Below(ctx.Inputs[t.Input].Path)), 60)
	}
	return text
}

// maxTables is the largest number of tables of other tools in the report.
const maxTables = 40

// Sections returns a section for each table of another tool.
func Sections(ctx *section.Context) (out []doc.Section) {
	views := tableViews(ctx.Summary)
	for _, v := range views[:min(maxTables, len(views))] {
		s := doc.Section{Title: v.Heading(), Lead: doc.Sentence("Table " + source(ctx, v.Table) + "."),
			Blocks: tablePictures(ctx, v)}
		before, after := functionBlocks(ctx, v)
		s.Blocks = slices.Concat(s.Blocks, before, []doc.Block{v.table(section.MaxKernels)}, after)
		if t, ok := v.categories(); ok {
			s.Blocks = append(s.Blocks, t)
		}
		out = append(out, s)
	}
	if rest := len(views) - len(out); rest > 0 {
		more := doc.Section{Title: "More tables", Lead: label.Plural(int64(rest),
			"more table") + " of other tools. The JSON has them."}
		for _, v := range views[len(out):] {
			more.Blocks = append(more.Blocks, tablePictures(ctx, v)...)
		}
		out = append(out, more)
	}
	return append(out, missingTables(ctx))
}

// tablePictures returns the picture of a table. Only the largest table of each kind has one.
func tablePictures(ctx *section.Context, v tableView) []doc.Block {
	if first, ok := view.LargestTable(ctx.Summary, v.Kind.Of); !ok || first.Input != v.Input || first.Number != v.Number {
		return nil
	}
	return ctx.Pictures(v.Kind.File + ".png")
}

// table returns all columns of at most the given number of rows.
func (v tableView) table(most int) doc.Table {
	shown := v.Rows[:min(most, len(v.Rows))]
	t := doc.Table{Title: v.Kind.Plural, Columns: []doc.Column{doc.Col(v.Kind.Noun, v.nameKind())}}
	if v.ShareColumn >= 0 {
		t.Columns = append(t.Columns, doc.Col("%", doc.Number))
		t.More = doc.Rest{Total: v.ShareTotal, Of: v.ShareOf()}
	}
	print := v.printers(shown)
	for i := range v.Columns {
		t.Columns = append(t.Columns, doc.Col(print[i].head(v.ColumnTitle(i)), doc.Number))
	}
	keys := labelKeys(shown)
	t.Columns = append(t.Columns, doc.Col("class", doc.Text), doc.Col("category", doc.Text), doc.Col("kind", doc.Text))
	for _, key := range keys {
		t.Columns = append(t.Columns, doc.Col(label.Clip(label.Clean(key), 30), doc.Name))
	}
	several := v.severalClasses()
	for _, r := range shown {
		cells := []string{r.Name}
		if v.ShareColumn >= 0 {
			cells = append(cells, v.share(r))
		}
		for i := range v.Columns {
			cell := ""
			if n, ok := v.value(r, i); ok {
				cell = print[i].text(n)
			}
			cells = append(cells, cell)
		}
		class := ""
		if several {
			class = label.Clip(label.Clean(r.Class), doc.WordColumns)
		}
		cells = append(cells, class, label.Clip(label.Clean(r.Category), doc.WordColumns), label.Clip(label.Clean(r.Kind), doc.WordColumns))
		for _, key := range keys {
			cells = append(cells, r.Labels[key])
		}
		t.Rows = append(t.Rows, doc.Row{Cells: cells, Weight: v.weight(r)})
	}
	t.More = v.rest(t.More, shown)
	t.Note = v.note()
	return t.WithoutEmpty()
}

// share returns the value of a row as a share of the total, or "" if it is unknown.
func (v tableView) share(r summary.TableRow) string {
	n, ok := r.Value(v.ShareColumn)
	if !ok {
		return ""
	}
	return unit.Share(n, v.ShareTotal)
}

// rest counts the rows that are not shown, including rows that are not in the summary.
func (v tableView) rest(more doc.Rest, shown []summary.TableRow) doc.Rest {
	more.Rows = len(v.Rows) - len(shown) + int(max(0, min(v.Left, 1<<30)))
	if v.ShareColumn < 0 {
		return more
	}
	more.Weight = v.RowsTotal
	for _, r := range shown {
		more.Weight -= v.weight(r)
	}
	return more
}

// weight returns what a row contributes to the denominator of the shares.
func (v tableView) weight(r summary.TableRow) int64 {
	n, _ := r.Value(v.ShareColumn)
	return n
}

// nameKind returns the kind of the name column, which decides how names are shortened.
func (v tableView) nameKind() doc.Kind {
	switch v.NameForm() {
	case label.Kernel:
		return doc.KernelName
	case label.Line:
		return doc.LineName
	}
	return doc.Name
}

// A tableView prints a table of another tool.
type tableView struct{ view.ToolTable }

// tableViews returns the tables that have rows, in the order of the report.
func tableViews(s *summary.Summary) (out []tableView) {
	for _, t := range view.Tables(s) {
		out = append(out, tableView{t})
	}
	return out
}

// severalClasses reports whether the rows have different classes.
func (v tableView) severalClasses() bool {
	for _, r := range v.Rows {
		if r.Class != v.Rows[0].Class {
			return true
		}
	}
	return false
}

// labelKeys returns the names of further text columns, sorted.
func labelKeys(rows []summary.TableRow) []string {
	keys := map[string]bool{}
	for _, r := range rows {
		for key := range r.Labels {
			keys[key] = true
		}
	}
	sorted := slices.Sorted(maps.Keys(keys))
	return sorted[:min(6, len(sorted))]
}

// note explains the denominator of the shares, and which columns must not be added up.
func (v tableView) note() string {
	var parts []string
	if v.ShareColumn >= 0 {
		parts = append(parts, fmt.Sprintf("%% of %s, the sum of the column %q.", v.ShareOfText(),
			v.ColumnTitle(v.ShareColumn)))
	}
	if slices.ContainsFunc(v.Columns,
		func(c summary.TableColumn) bool { return c.Adds == summary.AddsTotal && c.Unit == "ns" }) {
		parts = append(parts, "Rows may be nested in other rows, so totals must not be added up.")
	}
	return strings.Join(parts, " ")
}

// categories adds up the rows of kernels by category.
func (v tableView) categories() (doc.Table, bool) {
	type group struct {
		category, class    string
		total, runs, names int64
	}
	if v.ShareColumn < 0 || v.Columns[v.ShareColumn].Unit != "ns" || v.nameKind() != doc.KernelName {
		return doc.Table{}, false
	}
	count := v.Column("count")
	var groups []group
	for _, r := range v.Rows {
		key := group{category: label.Clip(label.Clean(cmp.Or(r.Category, r.Class)), 24),
			class: label.Clip(label.Clean(r.Class), doc.WordColumns)}
		at := slices.IndexFunc(groups, func(g group) bool { return g.category == key.category && g.class == key.class })
		if at < 0 {
			at = len(groups)
			groups = append(groups, key)
		}
		total, _ := r.Value(v.ShareColumn)
		runs, _ := r.Value(count)
		g := &groups[at]
		g.total, g.runs, g.names = g.total+total, g.runs+runs, g.names+1
	}
	if len(groups) < 2 {
		return doc.Table{}, false
	}
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.category, b.category), cmp.Compare(a.class, b.class))
	})
	scale := doc.ScaleOf(groups[0].total)
	t := doc.Table{Title: "categories", More: doc.Rest{Total: v.ShareTotal, Of: v.ShareOf()}, Columns: []doc.Column{
		doc.Col("category", doc.Text), doc.Col("class", doc.Text), doc.Col("%", doc.Number),
		doc.Col(scale.Head("total"), doc.Number), doc.Col("launches", doc.Number), doc.Col("kernels", doc.Number),
	}}
	for _, g := range groups {
		runs := ""
		if count >= 0 {
			runs = unit.Count(g.runs)
		}
		t.Rows = append(t.Rows, doc.Row{Weight: g.total, Cells: []string{
			g.category, g.class, unit.Share(g.total, v.ShareTotal), scale.Text(g.total), runs, unit.Count(g.names),
		}})
	}
	t.Note = "The same rows by category, which follows from their names."
	if v.Left > 0 {
		t.Note += " Omitted rows are in no category."
	}
	return t.Cut(section.MaxKernels).WithoutEmpty(), true
}

// missingTables lists the tables without rows.
func missingTables(ctx *section.Context) doc.Section {
	var list doc.List
	for _, t := range ctx.Tables {
		switch {
		case t.Missing != "":
			list = append(list, doc.Item{Mark: label.Clip(label.Clean(t.Name), 60), Text: doc.Sentence(t.Missing)})
		case len(t.Rows) == 0 && t.Left == 0:
			list = append(list, doc.Item{Mark: label.Clip(label.Clean(t.Name), 60), Text: "no rows"})
		}
	}
	if list == nil {
		return doc.Section{}
	}
	if rest := len(list) - maxTables; rest > 0 {
		list = append(list[:maxTables:maxTables], doc.Item{Text: label.Plural(int64(rest), "more table")})
	}
	return doc.Section{Title: "Tables without rows", Lead: "Messages of the tool.", Blocks: []doc.Block{list}}
}
