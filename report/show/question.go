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
// any text. Without keys, rows are added up by their names. A key may name the kind of rows, which other kinds with
// this key then do not answer: "streams:stream". The error of a key that no kind of rows has lists all keys.
func Ask(by, where []string) (Question, error) {
	q := Question{where: map[string]string{}}
	of := "" // the kind that a key names
	var keys []string
	add := func(key string) (name string, err error) {
		kind, name, named := strings.Cut(key, ":")
		switch {
		case !named:
			name = key
		case !slices.ContainsFunc(summary.Described(), func(k *row.Kind) bool { return k.Name == kind }):
			return "", fmt.Errorf("%s: there are no rows %q; the keys are those of %s", key, kind, allKeys())
		case of != "" && of != kind:
			return "", fmt.Errorf("%s: the keys are of two kinds of rows, %s and %s", key, of, kind)
		default:
			of = kind
		}
		keys = append(keys, name)
		return name, nil
	}
	for _, key := range by {
		name, err := add(key)
		if err == nil && slices.Contains(q.by, name) {
			err = fmt.Errorf("the key %s is given twice", name)
		}
		if err != nil {
			return q, err
		}
		q.by = append(q.by, name)
	}
	for _, term := range where {
		key, value, ok := strings.Cut(term, "=")
		if !ok || key == "" {
			return q, fmt.Errorf("%q is no condition, want a key, \"=\" and a value", term)
		}
		name, err := add(key)
		if err != nil {
			return q, err
		}
		if _, twice := q.where[name]; twice {
			return q, fmt.Errorf("there are two conditions for %s", name)
		}
		q.where[name] = value
	}
	return q, q.answeredBy(keys, of)
}

// answeredBy sets the kinds of rows that have all keys. If of is not "", only the kind of that name can answer.
func (q *Question) answeredBy(keys []string, of string) error {
	unknown := keys
	for _, k := range summary.Described() {
		if of != "" && k.Name != of {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return isKey(k, key) })
		if len(missing) == 0 {
			q.kinds = append(q.kinds, k)
		}
		unknown = slices.DeleteFunc(slices.Clone(unknown), func(key string) bool { return !slices.Contains(missing, key) })
	}
	which := "no rows"
	if of != "" {
		which = "no " + of
	}
	switch {
	case len(unknown) > 0:
		return fmt.Errorf("%s have the key %q; the keys are those of %s", which, unknown[0], allKeys())
	case len(q.kinds) == 0:
		return fmt.Errorf("no kind of rows has all of the keys %s; the keys are those of %s", strings.Join(keys, ", "), allKeys())
	}
	return nil
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
