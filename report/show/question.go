package show

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/query"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/summary"
	"assay/summary/row"
)

// A Question asks for sums of the rows of one kind: by some keys, of the rows that meet a condition.
type Question struct {
	by    []string
	where condition
	kinds []*row.Kind // that have these keys
}

// Ask reads a question: keys as "op,rank", and conditions as package query explains them, "category=gemm,kernel=*splitK*".
// Without keys, rows are added up by their names. A name may have the kind of rows before it, which other kinds with
// this key then do not answer: "streams:stream". The error of a key that no kind of rows has lists all keys.
func Ask(by, where []string) (q Question, err error) {
	of := "" // the kind that a name has before it
	add := func(name string) (string, error) {
		kind, rest := split(name)
		switch {
		case rest == name:
			return name, nil
		case !slices.ContainsFunc(summary.Described(), func(k *row.Kind) bool { return k.Name == kind }):
			return "", fmt.Errorf("%s: there are no rows %q; the keys are those of %s", name, kind, allKeys())
		case of != "" && of != kind:
			return "", fmt.Errorf("%s: the keys are of two kinds of rows, %s and %s", name, of, kind)
		}
		of = kind
		return rest, nil
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
	if q.where, err = conditionOf(where); err != nil {
		return q, err
	}
	var columns []string
	for _, name := range q.where.names() {
		column, err := add(name)
		if err != nil {
			return q, err
		}
		columns = append(columns, column)
	}
	if err := q.answeredBy(columns, of); err != nil {
		return q, err
	}
	for _, k := range q.kinds { // values that cannot be compared with a column are told before anything is read
		if _, err = q.where.filter(k); err == nil {
			break
		}
	}
	return q, err
}

// answeredBy sets the kinds of rows that have all keys, and the columns of the condition. If of is not "", only the kind
// of that name can answer.
func (q *Question) answeredBy(columns []string, of string) error {
	all := slices.Concat(q.by, columns)
	unknown := all
	var nearest *row.Kind // has all keys, but not the columns
	for _, k := range summary.Described() {
		if of != "" && k.Name != of {
			continue
		}
		has := func(i int, name string) bool { return isKey(k, name) || i >= len(q.by) && isMeasure(k, name) }
		var missing []string
		for i, name := range all {
			if !has(i, name) {
				missing = append(missing, name)
			}
		}
		if len(missing) == 0 {
			q.kinds = append(q.kinds, k)
		}
		if nearest == nil && len(q.by) > 0 && !slices.ContainsFunc(q.by, func(key string) bool { return !isKey(k, key) }) {
			nearest = k
		}
		unknown = slices.DeleteFunc(slices.Clone(unknown), func(name string) bool { return !slices.Contains(missing, name) })
	}
	which := "no rows"
	if of != "" {
		which = "no " + of
	}
	switch {
	case len(unknown) > 0 && slices.Contains(columns, unknown[0]) && nearest != nil:
		_, err := q.where.filter(nearest) // says where the name is, and which are like it
		return err
	case len(unknown) > 0:
		near := ""
		if list := query.Near(unknown[0], keysOf(of)); list != nil {
			near = "; near are " + strings.Join(list, ", ")
		}
		return fmt.Errorf("%s have the key %q%s; the keys are those of %s", which, unknown[0], near, allKeys())
	case len(q.kinds) == 0:
		return fmt.Errorf("no kind of rows has all of the keys %s; the keys are those of %s", strings.Join(all, ", "), allKeys())
	}
	return nil
}

// isKey reports whether a kind has a key that a user named.
func isKey(k *row.Kind, name string) bool {
	_, ok := k.Key(name)
	return ok
}

// isMeasure reports whether a kind has a measure of single rows that a user named.
func isMeasure(k *row.Kind, name string) bool {
	i, ok := k.Find(name)
	return ok && k.Columns[i].Adds != row.Key && k.Columns[i].Adds != row.Mean
}

// keysOf returns the keys of one kind of rows, or of all.
func keysOf(of string) (names []string) {
	for _, k := range summary.Described() {
		for _, name := range k.Keys() {
			if (of == "" || of == k.Name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
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
	match, err := q.where.filter(k)
	if err != nil {
		return Answer{}, err
	}
	t := k.By(row.Filtered(rows, match), by...)
	if len(t.Rows) == 0 {
		return Answer{}, fmt.Errorf("no %s match --where", k.Name)
	}
	_, plural, _ := strings.Cut(label.Plural(2, k.Noun), " ")
	of := fmt.Sprintf("the %s of all %s", mainWords(k), plural)
	wholes, each := wholesOf(k, rows, t, whole)
	if wholes != nil {
		of, whole = fmt.Sprintf("the %s of its own %s", mainWords(k), k.Within), each
	}
	lead := "% of " + of
	if whole > 0 {
		lead += " (" + amount(k, whole) + ")"
	}
	sections := func(onScreen bool) []doc.Section {
		v := View{Columns: strings.Join(q.columns(t, by, onScreen), ";"), Most: mostRows, Title: "rows", Whole: whole, WholeOf: wholes, Of: of}
		return []doc.Section{{
			Title:  title(k, by),
			Lead:   lead,
			Blocks: []doc.Block{v.Table(t)},
		}}
	}
	if wholes == nil {
		wholes = func(*row.Row) int64 { return whole }
	}
	d := data(t, by, wholes, q.measures(t, by, false))
	d.About = append(q.about(k, by), Member{"share_of", k.Main().Field()}, Member{wholeName(k), whole})
	return Answer{doc.Doc{Title: "Sums by key", Screen: sections(true), Sections: sections(false)}, d}, nil
}

// wholesOf returns the denominator of the share of each row: the sum of the rows with its value of the key Within of the
// kind, such as a role. each is that sum if all of them are equal. It returns nil if rows add up several values.
func wholesOf(k *row.Kind, rows any, t *row.Table, whole int64) (of func(*row.Row) int64, each int64) {
	if k.Within == "" {
		return nil, whole
	}
	wholes := map[string]int64{}
	all := k.By(rows, k.Within)
	for i := range all.Rows {
		wholes[all.Text(&all.Rows[i], k.Within)] = all.Main(&all.Rows[i])
	}
	valueOf := func(r *row.Row) string { return t.Values(r, k.Within)[0].Text }
	for i := range t.Rows {
		if len(t.Values(&t.Rows[i], k.Within)) > 1 {
			return nil, whole
		}
		if n := wholes[valueOf(&t.Rows[i])]; i == 0 || n == each {
			each = n
		} else {
			each = -1
		}
	}
	return func(r *row.Row) int64 { return wholes[valueOf(r)] }, max(0, each)
}

// mainWords names the main measure of rows: "self time", "memory".
func mainWords(k *row.Kind) string {
	if k.Main().Unit == row.Bytes {
		return k.Main().Name
	}
	return strings.TrimSuffix(k.Main().Name, " time") + " time"
}

// amount prints a value of the main measure of rows.
func amount(k *row.Kind, n int64) string {
	if k.Main().Unit == row.Bytes {
		return unit.Bytes(n)
	}
	return unit.Duration(n)
}

func wholeName(k *row.Kind) string {
	if k.Main().Unit == row.Bytes {
		return "whole_bytes"
	}
	return "whole_ns"
}

// title says what the rows of a table are.
func title(k *row.Kind, by []string) string {
	return strings.ToUpper(k.Name[:1]) + strings.ReplaceAll(k.Name[1:], "_", " ") + " by " + strings.Join(by, ", ")
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
