package show

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"assay/compare"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/words"
	"assay/summary"
	"assay/summary/row"
)

// Compare answers the question from the first kind of rows that either of two summaries has: what changed
// between them. It returns an error if runs like these are not compared: see [compare.Summaries].
func (q Question) Compare(base, new *summary.Summary, opt compare.Options) (Answer, error) {
	var names []string
	for _, k := range q.kinds {
		if reflect.ValueOf(base.RowsOf(k)).Len()+reflect.ValueOf(new.RowsOf(k)).Len() == 0 {
			names = append(names, k.Name)
			continue
		}
		by := q.keys(k)
		match, err := q.where.filter(k)
		if err != nil {
			return Answer{}, err
		}
		var named []string
		for _, name := range q.where.names() {
			_, name = split(name)
			named = append(named, name)
		}
		g, err := compare.Group(base, new, opt, k, compare.Rows{Match: match, Columns: named}, by)
		switch {
		case err != nil:
			return Answer{}, err
		case len(g.Rows) == 0:
			return Answer{}, fmt.Errorf("no %s match --where", k.Name)
		}
		c := changes{k, by, g}
		d := c.data()
		d.About = append(q.about(k, by), c.about()...)
		sections := []doc.Section{c.section()}
		return Answer{doc.Doc{Title: "Changes by key", Screen: sections, Sections: sections}, d}, nil
	}
	return Answer{}, errors.New("the captures have no " + strings.Join(names, ", no "))
}

// changes are the rows of one kind in two runs.
type changes struct {
	*row.Kind
	by []string
	*compare.Grouped
}

// section has the remarks on the runs and the rows with the largest changes.
func (c changes) section() doc.Section {
	s := doc.Section{
		Title: title(c.Kind, c.by),
		Lead: fmt.Sprintf("%s time%s %s (%s): %s, was %s", strings.TrimSuffix(c.Main().Name, " time"), c.per(), compare.Signed(c.DeltaNS),
			compare.SignedShare(c.DeltaNS, c.BaseNS), unit.Duration(c.NewNS), unit.Duration(c.BaseNS)),
	}
	var remarks doc.List
	for _, r := range c.Comparison.Reasons {
		mark := r.Level.String()
		if r.Level == compare.Refuse {
			mark = "forced" // or there was no comparison
		}
		remarks = append(remarks, doc.Item{Mark: mark, Text: doc.Brief(r.Text)})
	}
	if remarks != nil {
		s.Blocks = append(s.Blocks, remarks)
	}
	shown := c.Rows[:min(mostRows, len(c.Rows))]
	s.Blocks = append(s.Blocks, c.table(shown))
	if rest := c.Rows[len(shown):]; len(rest) > 0 {
		sum := int64(0)
		for _, r := range rest {
			sum += r.DeltaNS
		}
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: fmt.Sprintf("%s, delta %s.", label.Plural(int64(len(rest)), "more row"), compare.Signed(sum))})
	}
	return s
}

// per says what times are divided by.
func (c changes) per() string {
	if c.Comparison.Per == compare.PerNone {
		return ""
	}
	return " per " + c.Comparison.Per
}

func (c changes) table(rows []compare.Row) doc.Table {
	var times []int64
	for _, r := range rows {
		times = append(times, r.BaseNS, r.NewNS)
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "rows"}
	for _, key := range c.by {
		kind := kindOf(c.Column(key).Form)
		if c.IsNumber(c.Column(key)) {
			kind = doc.Number
		}
		t.Columns = append(t.Columns, doc.Col(strings.ReplaceAll(key, "_", " "), kind))
	}
	t.Columns = append(t.Columns, doc.Col(scale.Head("baseline"), doc.Number), doc.Col(scale.Head("new"), doc.Number),
		doc.Col(scale.Head("delta"), doc.Number), doc.Col("delta %", doc.Number))
	onOneSide := slices.ContainsFunc(rows, func(r compare.Row) bool { return r.Match != compare.ByName })
	if onOneSide {
		t.Columns = append(t.Columns, doc.Col("", doc.Text))
	}
	for _, r := range rows {
		var cells []string
		for i, text := range r.Keys {
			if kindOf(c.Column(c.by[i]).Form) == doc.Text {
				text = label.Clip(label.Clean(text), doc.WordColumns)
			}
			cells = append(cells, text)
		}
		cells = append(cells, scale.Text(r.BaseNS), scale.Text(r.NewNS), scale.Signed(r.DeltaNS), compare.SignedShare(r.DeltaNS, r.BaseNS))
		if onOneSide {
			cells = append(cells, words.Match(r.Match))
		}
		t.Rows = append(t.Rows, doc.Row{Cells: cells})
	}
	return t
}

// value returns the value of a key: a number, or the text.
func value(k *row.Kind, key, text string) any {
	if k.IsNumber(k.Column(key)) {
		return json.Number(text)
	}
	return text
}

// about describes the runs and the sums of the rows.
func (c changes) about() Record {
	return Record{
		{"measure", c.Main().Field()}, {"per", c.Comparison.Per}, {"base_parts", c.Comparison.Base.Parts}, {"new_parts", c.Comparison.New.Parts},
		{"reasons", c.Comparison.Reasons}, {"base_ns", c.BaseNS}, {"new_ns", c.NewNS}, {"delta_ns", c.DeltaNS},
	}
}

// data has the rows as a comparison has them: times are per step or window, and counts are those of a side.
func (c changes) data() Data {
	d := Data{Columns: append(keyNames(c.by), "match", "base_ns", "new_ns", "delta_ns", "change")}
	if c.Counts {
		d.Columns = append(d.Columns, "base_count", "new_count", "count_ns", "duration_ns")
	}
	for _, r := range c.Rows {
		var cells []any
		for i, text := range r.Keys {
			cells = append(cells, value(c.Kind, c.by[i], text))
		}
		cells = append(cells, r.Match, r.BaseNS, r.NewNS, r.DeltaNS, quotient(r.DeltaNS, r.BaseNS))
		if c.Counts {
			cells = append(cells, r.BaseCount, r.NewCount, r.CountNS, r.DurationNS)
		}
		d.Rows = append(d.Rows, cells)
	}
	return d
}
