package show

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/summary"
	"assay/summary/row"
)

// A Question asks for sums of the rows of one kind: by some keys, of the rows whose keys have some values.
type Question struct {
	by    []string
	where map[string]string
	kinds []*row.Kind // that have these keys
}

// Ask reads a question: keys as "op,rank", and conditions as "category=gemm,kernel=*splitK*", in which "*" stands for
// any text. Without keys, rows are added up by their names. The error of a key that no kind of rows has lists all keys.
func Ask(by, where []string) (Question, error) {
	q := Question{where: map[string]string{}}
	keys := slices.Clone(by)
	for _, term := range where {
		key, value, ok := strings.Cut(term, "=")
		if !ok || key == "" {
			return q, fmt.Errorf("%q is no condition, want a key, \"=\" and a value", term)
		}
		if _, twice := q.where[key]; twice {
			return q, fmt.Errorf("there are two conditions for %s", key)
		}
		q.where[key], keys = value, append(keys, key)
	}
	for i, key := range by {
		if slices.Contains(by[:i], key) {
			return q, fmt.Errorf("the key %s is given twice", key)
		}
	}
	q.by = by
	unknown := keys
	for _, k := range summary.Described() {
		missing := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return isKey(k, key) })
		if len(missing) == 0 {
			q.kinds = append(q.kinds, k)
		}
		unknown = slices.DeleteFunc(slices.Clone(unknown), func(key string) bool { return !slices.Contains(missing, key) })
	}
	switch {
	case len(unknown) > 0:
		return q, fmt.Errorf("no rows have the key %q; the keys are those of %s", unknown[0], allKeys())
	case len(q.kinds) == 0:
		return q, fmt.Errorf("no kind of rows has all of the keys %s; the keys are those of %s", strings.Join(keys, ", "), allKeys())
	}
	return q, nil
}

// isKey reports whether a kind has a key that a user named.
func isKey(k *row.Kind, name string) bool {
	i, ok := k.Find(name)
	return ok && k.Columns[i].Adds == row.Key
}

// allKeys lists the keys of each kind of rows.
func allKeys() string {
	var kinds []string
	for _, k := range summary.Described() {
		kinds = append(kinds, k.Name+" ("+strings.Join(k.Keys(), ", ")+")")
	}
	return strings.Join(kinds, "; ")
}

// Doc answers the question from the first kind of rows that the summary has.
func (q Question) Doc(s *summary.Summary) (doc.Doc, error) {
	var names []string
	for _, k := range q.kinds {
		rows := s.RowsOf(k)
		if all := k.By(rows); len(all.Rows) > 0 {
			return q.answer(k, rows, all.Whole)
		}
		names = append(names, k.Name)
	}
	return doc.Doc{}, errors.New("the capture has no " + strings.Join(names, ", no "))
}

// answer returns the document with the sums of some of the rows, whose main measure is whole for all of them.
func (q Question) answer(k *row.Kind, rows any, whole int64) (doc.Doc, error) {
	by := q.by
	if len(by) == 0 {
		by = []string{k.Noun}
	}
	t := k.By(k.Where(rows, q.where), by...)
	if len(t.Rows) == 0 {
		return doc.Doc{}, fmt.Errorf("no %s match --where", k.Name)
	}
	const most = 100
	_, plural, _ := strings.Cut(label.Plural(2, k.Noun), " ")
	of := fmt.Sprintf("the %s time of all %s", strings.TrimSuffix(k.Main().Name, " time"), plural)
	sections := func(onScreen bool) []doc.Section {
		v := View{Columns: strings.Join(q.columns(t, by, onScreen), ";"), Most: most, Title: "rows", Whole: whole, Of: of}
		return []doc.Section{{
			Title:  strings.ToUpper(k.Name[:1]) + k.Name[1:] + " by " + strings.Join(by, ", "),
			Lead:   fmt.Sprintf("%% of %s (%s)", of, unit.Duration(whole)),
			Blocks: []doc.Block{v.Table(t)},
		}}
	}
	return doc.Doc{Title: "Sums by key", Screen: sections(true), Sections: sections(false)}, nil
}

// columns are the keys, the share and all measures. Sums of rows that contain each other are left out
// unless a name is among the keys. On the screen, names need the columns of the extremes.
func (q Question) columns(t *row.Table, by []string, onScreen bool) []string {
	var columns []string
	named := false
	for _, key := range by {
		c := t.Column(key)
		named = named || c.Form != row.Word
		columns = append(columns, strings.ReplaceAll(key, "_", " ")+"="+c.Name)
	}
	columns = append(columns, "%")
	for i := range t.Columns {
		c := &t.Columns[i]
		extreme := c.Adds == row.Min || c.Adds == row.Max
		if c.Adds != row.Key && (named || !c.Nested) && !(named && onScreen && extreme) {
			columns = append(columns, c.Name)
		}
	}
	return columns
}
