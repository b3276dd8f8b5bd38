package main

import (
	"errors"
	"fmt"

	"assay/analyze/events"
	"assay/ingest"
	"assay/internal/tabular"
)

// events writes the table of single events while the inputs are read, one after another: no more than one trace and a
// part of the table are in memory at a time.
func (rt *rowTables) events(e env, c *command, args []string) error {
	rt.outputs, rt.jobs = []output{tableOutput}, 1
	r, err := rt.open(e, c, args)
	if err != nil {
		return err
	}
	var failed []error
	none := false // no input could be read
	t := tabular.Table{Name: events.Name, Says: events.Says, Columns: events.Columns(), Means: events.Means()}
	t.Each = func(yield func([]tabular.Cell) bool) error {
		more := true
		errs := make([]error, len(r.paths))
		failed = r.all(func(i int, in *ingest.Input) {
			if !more {
				return
			}
			more, errs[i] = rt.eventsOf(r, i, in, yield)
		})
		failed = append(failed, notNil(errs)...)
		if none = len(failed) >= len(r.paths); none {
			return errors.Join(failed...)
		}
		return nil
	}
	result := mask(rt.query.of(t)).as(rowFormats().named(rt.format).write)
	if rt.dir != "" {
		err = rt.writeFiles(e, []namedResult{{rt.files(nil)[0], result}})
	} else {
		err = e.print(result)
	}
	if err != nil && !none {
		return err
	}
	return errors.Join(failed...)
}

// eventsOf passes the events of an input to yield. It returns false if yield does.
func (rt *rowTables) eventsOf(r *reading, i int, in *ingest.Input, yield func([]tabular.Cell) bool) (more bool, err error) {
	if in.Trace == nil {
		return true, fmt.Errorf("%s: the table events needs a trace, but this is %s", in.Path, in.Format)
	}
	t, err := r.narrowed(in)
	if err != nil {
		return true, err
	}
	rt.hideUsers(t)
	source := events.Source{Trace: mask(t).value, Input: i, Rank: in.Rank, Options: r.options(in).Options, Python: rt.python}
	return source.Each(yield), nil
}
