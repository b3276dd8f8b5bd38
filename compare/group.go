package compare

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"

	"assay/summary"
	"assay/summary/row"
)

// A Grouped has the rows of one kind in two runs, added up by some keys.
type Grouped struct {
	Part                   // each row has Keys
	Comparison *Comparison // of the runs: what they are, and why they may not be comparable
	Counts     bool        // the rows have counts, and the effects of count and duration
}

// Rows are the rows of a kind that a condition selects, with the columns that it is about.
type Rows struct {
	Match   func(reflect.Value) bool
	Columns []string
}

// Group compares the rows of one kind in two summaries, added up by keys, of those rows that match where. Keys
// must be equal on both sides: a renamed kernel is another one. It returns an error for runs that [Summaries]
// does not compare, and none for a kind that neither run has.
func Group(base, new *summary.Summary, opt Options, k *row.Kind, where Rows, keys []string) (*Grouped, error) {
	d, err := compared(Split(base), Split(new), opt)
	if err != nil {
		return nil, err
	}
	for _, f := range []*facts{d.base, d.new} {
		if err := f.hasKeys(k, where, keys); err != nil {
			return nil, err
		}
	}
	_, counts := k.Find("count")
	g := &Grouped{Comparison: d.c, Counts: counts}
	g.Part = d.part(d.rows(k, k.Main().Name, where.Match, keys...))
	return g, nil
}

// hasKeys returns an error if a run has only sums of the rows over its ranks, which have lost a key
// or their main measure.
func (f *facts) hasKeys(k *row.Kind, where Rows, keys []string) error {
	if !rolled(f.runs) {
		return nil
	}
	keys = slices.Concat(keys, where.Columns)
	kept := []string{"kernels", "copies", "calls", "passes", "idle"}
	lost := func(key string) bool { return k.IsNumber(k.Column(key)) }
	if slices.Contains(kept, k.Name) && !slices.ContainsFunc(keys, lost) {
		return nil
	}
	return fmt.Errorf("the summary of %s is rolled up, and does not have the %s of each rank; measure the traces, or save the summary with --full", f.path(), k.Name)
}

// A group is the rows of one side that have equal keys.
type group struct {
	keys []string
	amount
}

// groups adds up the rows of a kind that are kept.
func (f *facts) groups(k *row.Kind, measure string, keep func(reflect.Value) bool, keys []string) map[string]*group {
	out := map[string]*group{}
	time, input := k.Column(measure), k.Column("input")
	count, counts := k.Find("count")
	texts, id := make([]string, len(keys)), []byte(nil)
	for _, r := range f.runs {
		rows := reflect.ValueOf(r.Summary.RowsOf(k))
		for i := range rows.Len() {
			v := rows.Index(i)
			if !r.has(int(input.Number(v))) || keep != nil && !keep(v) {
				continue
			}
			id = id[:0]
			for j, key := range keys {
				texts[j] = k.Column(key).Text(v)
				id = append(binary.AppendUvarint(id, uint64(len(texts[j]))), texts[j]...)
			}
			g := out[string(id)]
			if g == nil {
				g = &group{keys: slices.Clone(texts)}
				out[string(id)] = g
			}
			n := int64(0)
			if counts {
				n = k.Columns[count].Number(v)
			}
			g.add(n, time.Number(v))
		}
	}
	return out
}

// rows returns the rows of a kind that are kept, of both sides, added up by keys.
func (d *differ) rows(k *row.Kind, measure string, keep func(reflect.Value) bool, keys ...string) []item {
	base, new := d.base.groups(k, measure, keep, keys), d.new.groups(k, measure, keep, keys)
	var items []item
	for id, b := range base {
		it := item{named(k, keys, b.keys, OnlyBase), b.amount, amount{}}
		if n := new[id]; n != nil {
			it.row.Match, it.new = ByName, n.amount
		}
		items = append(items, it)
	}
	for id, n := range new {
		if base[id] == nil {
			items = append(items, item{named(k, keys, n.keys, OnlyNew), amount{}, n.amount})
		}
	}
	return items
}

// named returns a row with the names that the values of the keys are.
func named(k *row.Kind, keys, values []string, match string) Row {
	r := Row{Keys: values, Match: match}
	for i, key := range keys {
		switch c := k.Column(key); {
		case c.JSON == "name" || key == k.Noun:
			r.Name = values[i]
		case c.JSON == "class":
			r.Class = values[i]
		case c.JSON == "owner":
			r.Owner = values[i]
		case c.JSON == "state":
			r.State = values[i]
		}
	}
	return r
}
