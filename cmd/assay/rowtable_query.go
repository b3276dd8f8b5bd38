package main

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"assay/analyze/events"
	"assay/internal/query"
	"assay/internal/tabular"
	"assay/summary/columns"
)

// A rowQuery has the flags that choose, add up and order the rows of a table.
type rowQuery struct {
	where, by []string
	sort      string
	top       int

	steps []func(tabular.Table) (tabular.Table, error)
}

func (q *rowQuery) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&q.where, "where", nil, "only rows that meet `CONDITION`, such as 'category=gemm and total_ns>1ms'; \"assay help rows\" explains it")
	flags.StringSliceVar(&q.by, "by", nil, "add up rows with equal `COLUMN`[,COLUMN...]")
	flags.StringVar(&q.sort, "sort", "", "sort rows by `COLUMN`; -COLUMN has the largest value first")
	flags.IntVar(&q.top, "top", 0, "only the first `N` rows")
}

// check reads the flags. It returns a message if they are wrong, or "".
func (q *rowQuery) check(flags *pflag.FlagSet, names []string, format string) string {
	single := slices.Contains(names, events.Name) && q.top == 0 && len(q.by) == 0
	if single && format == "md" {
		return "a page of all single events would be longer than memory; add --top or --by, or choose another format"
	}
	var first string
	for _, name := range []string{"where", "by", "sort", "top"} {
		if flags.Changed(name) && first == "" {
			first = "--" + name
		}
	}
	switch {
	case first == "":
		return ""
	case len(names) != 1 || names[0] == allTables:
		return first + " is for one table; name it"
	case flags.Changed("top") && q.top < 1:
		return fmt.Sprintf("--top is %d, want a number of rows from 1", q.top)
	case flags.Changed("by") && len(q.by) == 0:
		return "--by is empty; name columns"
	case q.sort != "" && single:
		return "--sort of single events needs --top, because they may be longer than memory"
	}
	add := func(flag string, step func(tabular.Table) (tabular.Table, error)) {
		q.steps = append(q.steps, func(t tabular.Table) (tabular.Table, error) {
			t, err := step(t)
			if err != nil {
				return t, fmt.Errorf("%s: %w", flag, err)
			}
			return t, nil
		})
	}
	if flags.Changed("where") {
		e, err := query.All(q.where)
		if err != nil {
			return "--where: " + err.Error()
		}
		add("--where", func(t tabular.Table) (tabular.Table, error) { return query.Where(t, e) })
	}
	if len(q.by) > 0 {
		add("--by", func(t tabular.Table) (tabular.Table, error) { return query.Group(t, q.by) })
	}
	if q.sort != "" {
		add("--sort", func(t tabular.Table) (tabular.Table, error) { return query.Sort(t, q.sort, q.top) })
	} else if q.top > 0 {
		add("--top", func(t tabular.Table) (tabular.Table, error) { return query.Top(t, q.top), nil })
	}
	if _, err := q.apply(emptyTable(names[0])); err != nil { // before the inputs are read
		return err.Error()
	}
	return ""
}

func emptyTable(name string) tabular.Table {
	if name == events.Name {
		return tabular.Table{Name: events.Name, Columns: events.Columns(), Means: events.Means()}
	}
	sources := columns.Sources()
	src := sources[slices.IndexFunc(sources, func(s columns.Source) bool { return s.Name == name })]
	return tabular.Table{Name: src.Name, Columns: src.Columns(), Plain: src.Plain}
}

func (q *rowQuery) apply(t tabular.Table) (tabular.Table, error) {
	for _, step := range q.steps {
		var err error
		if t, err = step(t); err != nil {
			return t, err
		}
	}
	return t, nil
}

// of returns the rows that are asked for. The flags were checked with the columns of the table.
func (q *rowQuery) of(t tabular.Table) tabular.Table {
	out, err := q.apply(t)
	if err != nil {
		out.Each = func(func([]tabular.Cell) bool) error { return err }
	}
	return out
}
