package page

import (
	"slices"

	"assay/internal/label"
	"assay/report/doc"
)

// data is what the script reads. report/web/model.ts has the same types. Tables are stored by column, names
// are interned, and ascending times are stored as differences, because that compresses best.
type data struct {
	Title    string    `json:"title"`
	Head     Head      `json:"head"`
	Facts    []Fact    `json:"facts,omitempty"`
	Budget   *Budget   `json:"budget,omitempty"`
	Findings []Finding `json:"findings,omitempty"`

	Devices []device `json:"devices,omitempty"`
	Aligned string   `json:"aligned,omitempty"` // how the clocks of devices were aligned
	Tables  []table  `json:"tables,omitempty"`
	Flames  []flame  `json:"flames,omitempty"`
	Charts  []chart  `json:"charts,omitempty"`
	Planes  []plane  `json:"planes,omitempty"`
	Bars    []bars   `json:"bars,omitempty"`
	Graphs  []graph  `json:"graphs,omitempty"`
	Diff    *diff    `json:"diff,omitempty"`

	Roofline *roofline `json:"roofline,omitempty"`

	History  bool      `json:"history,omitempty"` // of many runs: there are no findings
	Sections []section `json:"sections,omitempty"`
	Capture  []section `json:"capture,omitempty"`

	Names []string    `json:"names,omitempty"`
	Tidy  map[int]any `json:"tidy,omitempty"` // shorter forms of names, by index
}

func (p *Page) data() *data {
	n := newNames()
	d := &data{
		Title: prose(p.Title), Head: p.Head.visible(), Budget: p.Budget, History: p.History,
		Sections: sections(p.Sections, dataRows), Capture: sections(p.Capture, dataRows),
	}
	for _, f := range p.Facts {
		d.Facts = append(d.Facts, Fact{prose(f.Value), prose(f.Name)})
	}
	if s := p.Summary; s != nil {
		t := newTimelines(s, p.States, n)
		d.Devices, d.Aligned = t.devices, t.aligned
		for i := range d.Devices {
			if p.words != nil {
				d.Devices[i].Label = p.words(d.Devices[i].Label)
			}
		}
		d.Tables = tables(s, n)
		calls, graphs := functions(s, n)
		d.Tables, d.Graphs = append(d.Tables, calls...), graphs
		d.Findings = t.placed(visibleFindings(p.Findings), d.Tables)
		d.Flames = flames(s, n)
		d.Charts = charts(s)
		d.Roofline = rooflineOf(s, n)
	}
	drawn := ""
	if d.Roofline != nil {
		drawn = "efficiency-roofline"
	}
	d.Planes, d.Bars = planes(p.Charts, drawn), barsOf(p.Charts)
	if p.Comparison != nil {
		d.Diff = diffOf(p.Comparison, n)
	}
	d.Names, d.Tidy = n.list, n.tidy
	return d
}

// names assigns a number to each name.
type names struct {
	list []string
	tidy map[int]any
	at   map[string]int
}

func newNames() *names { return &names{at: map[string]int{}, tidy: map[int]any{}} }

// nameColumns is the maximum width of a name in the page. Kernels may differ at either end of a long name,
// so it is cut in the middle.
const nameColumns = 500

// number returns the number of a name, and adds the name if it is new.
func (n *names) number(name string) int {
	i, ok := n.at[name]
	if !ok {
		i = len(n.list)
		n.list = append(n.list, visible(name))
		n.at[name] = i
	}
	return i
}

// kernel returns the number of the name of a kernel, which also has a short form.
func (n *names) kernel(name string) int {
	i, ok := n.at[name]
	if ok {
		return i
	}
	i = n.number(name)
	if short := visible(label.TidyKernel(name)); short != n.list[i] && short != "" {
		n.tidy[i] = short
	}
	return i
}

// visible returns a name with invisible and direction-changing characters made visible, cut to nameColumns.
func visible(name string) string { return label.Clip(label.Clean(name), nameColumns) }

// prose is like visible for a text of the report, which may be longer than a name.
func prose(text string) string { return label.Clip(label.Clean(text), 8*nameColumns) }

// visible returns the head with all texts made visible.
func (h Head) visible() Head {
	return Head{prose(h.Kind), prose(h.Headline), prose(h.Sentence), prose(h.Cause), proses(h.First), proses(h.Warnings)}
}

func proses(list []string) (out []string) {
	for _, s := range list {
		out = append(out, prose(s))
	}
	return out
}

// visibleFindings returns findings with all texts made visible.
func visibleFindings(list []Finding) []Finding {
	out := slices.Clone(list)
	for i := range out {
		f := &out[i]
		f.Rule, f.Title, f.Savings, f.Cause, f.Confirm = visible(f.Rule), prose(f.Title), prose(f.Savings), prose(f.Cause), prose(f.Confirm)
		f.Evidence, f.Fixes, f.Places = proses(f.Evidence), slices.Clone(f.Fixes), slices.Clone(f.Places)
		for k, fix := range f.Fixes {
			f.Fixes[k] = Fix{prose(fix.Text), visible(fix.Source), link(fix.URL)}
		}
		for k := range f.Places {
			f.Places[k].Label, f.Places[k].Query = visible(f.Places[k].Label), label.Clean(f.Places[k].Query)
		}
	}
	return out
}

// A section is a [doc.Section] for the script and for the static text.
type section struct {
	Title  string  `json:"title,omitempty"`
	Lead   string  `json:"lead,omitempty"`
	Blocks []block `json:"blocks,omitempty"`
}

// block has one of its fields set.
type block struct {
	Text   string `json:"text,omitempty"`
	Strong bool   `json:"strong,omitempty"`
	List   []item `json:"list,omitempty"`
	Table  *grid  `json:"table,omitempty"`
	Gantt  *gantt `json:"gantt,omitempty"`
	Heat   *heat  `json:"heat,omitempty"`
}

type item struct {
	Mark   string `json:"mark,omitempty"`
	Text   string `json:"text,omitempty"`
	Code   string `json:"code,omitempty"`
	Ticks  bool   `json:"ticks,omitempty"` // backticks in Text enclose code
	Source string `json:"source,omitempty"`
	URL    string `json:"url,omitempty"`
	Sub    []item `json:"sub,omitempty"`
}

// grid is a table whose cells are texts.
type grid struct {
	Title   string     `json:"title,omitempty"`
	Columns []column   `json:"columns"`
	Rows    [][]string `json:"rows"`
	More    string     `json:"more,omitempty"`
	Note    string     `json:"note,omitempty"`
}

type column struct {
	Title  string `json:"title"`
	Number bool   `json:"number,omitempty"`
	Name   bool   `json:"name,omitempty"`
}

// Maximum number of rows of a table: in the static text, and in the data.
const (
	staticRows = 10
	dataRows   = 1000
)

// sections converts sections. Of pictures it keeps those of layers, because interactive parts replace the others.
func sections(list []doc.Section, rows int) (out []section) {
	for _, s := range list {
		converted := section{Title: visible(s.Title), Lead: prose(s.Lead)}
		for _, b := range s.Blocks {
			switch b := b.(type) {
			case doc.Paragraph:
				converted.Blocks = append(converted.Blocks, block{Text: prose(b.Text), Strong: b.Strong})
			case doc.List:
				converted.Blocks = append(converted.Blocks, block{List: items(b)})
			case doc.Table:
				converted.Blocks = append(converted.Blocks, block{Table: gridOf(b, rows)})
			case doc.Picture:
				if drawn := pictureOf(b.Chart); drawn.Gantt != nil || drawn.Heat != nil {
					converted.Blocks = append(converted.Blocks, drawn)
				}
			}
		}
		if converted.Lead != "" || len(converted.Blocks) > 0 {
			out = append(out, converted)
		}
	}
	return out
}

func items(list doc.List) (out []item) {
	for _, it := range list {
		converted := item{Mark: visible(it.Mark), Text: prose(it.Text), Code: visible(it.Code), Ticks: it.Ticks, Sub: items(it.Sub)}
		converted.Source, converted.URL = visible(it.Source.Title), link(it.Source.URL)
		out = append(out, converted)
	}
	return out
}

func gridOf(t doc.Table, rows int) *grid {
	t = t.Cut(rows)
	g := &grid{Title: visible(t.Title), More: visible(t.More.Text(t.Title)), Note: prose(t.Note), Rows: [][]string{}}
	for _, c := range t.Columns {
		g.Columns = append(g.Columns, column{visible(c.Title), c.Kind == doc.Number, c.Kind != doc.Number && c.Kind != doc.Text})
	}
	for _, r := range t.Rows {
		cells := make([]string, len(r.Cells))
		for i, cell := range r.Cells {
			cells[i] = visible(cell)
		}
		g.Rows = append(g.Rows, cells)
	}
	return g
}
