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

// Answer answers the question from the first kind of rows that the summary has.
func (q Question) Answer(s *summary.Summary) (Answer, error) {
	var names []string
	for _, k := range q.kinds {
		rows := s.RowsOf(k)
		if all := k.By(rows); len(all.Rows) > 0 {
			return q.answer(k, rows, all.Whole)
		}
		names = append(names, k.Name)
	}
	return Answer{}, errors.New("the capture has no " + strings.Join(names, ", no "))
}

// keys returns the keys by which rows are added up.
func (q Question) keys(k *row.Kind) []string {
	if len(q.by) == 0 {
		return []string{k.Noun}
	}
	return q.by
}

// mostRows is how many rows a table for people has.
const mostRows = 100

// answer adds up some of the rows, whose main measure is whole for all of them.
func (q Question) answer(k *row.Kind, rows any, whole int64) (Answer, error) {
	by := q.keys(k)
	t := k.By(k.Where(rows, q.where), by...)
	if len(t.Rows) == 0 {
		return Answer{}, fmt.Errorf("no %s match --where", k.Name)
	}
	_, plural, _ := strings.Cut(label.Plural(2, k.Noun), " ")
	of := fmt.Sprintf("the %s time of all %s", strings.TrimSuffix(k.Main().Name, " time"), plural)
	sections := func(onScreen bool) []doc.Section {
		v := View{Columns: strings.Join(q.columns(t, by, onScreen), ";"), Most: mostRows, Title: "rows", Whole: whole, Of: of}
		return []doc.Section{{
			Title:  title(k, by),
			Lead:   fmt.Sprintf("%% of %s (%s)", of, unit.Duration(whole)),
			Blocks: []doc.Block{v.Table(t)},
		}}
	}
	d := data(t, by, whole, q.measures(t, by, false))
	d.About = append(q.about(k, by), Member{"share_of", k.Main().Field()}, Member{"whole_ns", whole})
	return Answer{doc.Doc{Title: "Sums by key", Screen: sections(true), Sections: sections(false)}, d}, nil
}

// title says what the rows of a table are.
func title(k *row.Kind, by []string) string {
	return strings.ToUpper(k.Name[:1]) + k.Name[1:] + " by " + strings.Join(by, ", ")
}

// columns are the keys, the share and the measures.
func (q Question) columns(t *row.Table, by []string, onScreen bool) []string {
	var columns []string
	for _, key := range by {
		columns = append(columns, strings.ReplaceAll(key, "_", " ")+"="+t.Column(key).Name)
	}
	return append(append(columns, "%"), q.measures(t, by, onScreen)...)
}

// measures are all measures of the rows. Sums of rows that contain each other are left out unless a
// name is among the keys. On the screen, names need the columns of the extremes.
func (q Question) measures(t *row.Table, by []string, onScreen bool) (names []string) {
	named := slices.ContainsFunc(by, func(key string) bool { return t.Column(key).Form != row.Word })
	for i := range t.Columns {
		c := &t.Columns[i]
		extreme := c.Adds == row.Min || c.Adds == row.Max
		if c.Adds != row.Key && (named || !c.Nested) && !(named && onScreen && extreme) {
			names = append(names, c.Name)
		}
	}
	return names
}
