package main

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"assay/analyze"
	"assay/analyze/detail"
	"assay/ingest"
	"assay/ingest/partial"
	"assay/internal/redact"
	"assay/internal/unit"
	"assay/summary"
	"assay/trace"
)

// measureAll measures all inputs. It returns those that could be read, in the order of
// [partial.Arrange], and the errors of the others.
func (r *reading) measureAll() ([]partial.Part, []error) {
	all, failed := r.parts()
	all, repeated, differ := partial.Arrange(all)
	r.sayRepeated(repeated)
	slices.Sort(r.saved)
	r.flags.note(all, r.saved)
	return all, append(failed, differ...)
}

// parts measures all inputs, in their order. An input that could not be read has a part without a
// summary.
func (r *reading) parts() ([]partial.Part, []error) {
	all, damaged := make([]partial.Part, len(r.paths)), make([]error, len(r.paths))
	var strips partial.Strips
	failed := r.all(func(i int, in *ingest.Input) {
		p, err := r.measured(in)
		if err == nil {
			err = r.addSaved(p, in.Path)
		}
		if damaged[i] = err; err != nil {
			return
		}
		if all[i] = p; !r.save {
			strips.Add(&all[i])
		}
	})
	damaged = slices.DeleteFunc(damaged, func(err error) bool { return err == nil })
	return all, append(failed, damaged...)
}

// measured measures one input.
func (r *reading) measured(in *ingest.Input) (partial.Part, error) {
	run, from, _ := r.places.Run(in) // its error was checked when the input was read
	opt := r.options(in)
	opt.Run, opt.RunFrom = run, from
	if r.need.details {
		opt.Detail = &detail.Request{Inputs: len(r.paths), Spans: min(summary.MaxRunSpans, 4*r.limits.memory.Rows())}
	}
	p, err := partial.Measure(in, opt)
	if err == nil {
		r.keep(memoryOf(p.Summary))
	}
	if err == nil && in.Summary != nil && !in.Summary.Efficiency.IsZero() {
		r.mu.Lock()
		r.saved = append(r.saved, in.Path)
		r.mu.Unlock()
	}
	return p, err
}

// options returns the options with which an input is measured.
func (r *reading) options(in *ingest.Input) partial.Options {
	without := r.need.without()
	if r.roles {
		without &^= analyze.Strips // they show when each role works
	}
	return partial.Options{
		Options: analyze.Options{Rules: r.rules, Phases: r.phases, StripBins: analyze.StripBins, MaxRows: r.limits.memory.Rows(), Without: without, Peaks: r.peaks, Model: r.model},
		Alone:   len(r.paths) == 1 && !r.save,
		Window:  r.window, Work: r.choice.work, Steady: steady,
		Clock:  r.clocks.Of(in.Path),
		Memory: r.limits.memory.Largest() / 4, Sampled: r.sampled,
		Paths: r.need.paths, MostEvents: r.mostEvents(),
	}
}

// mostEvents returns the number of events of a trace up to which it has a critical path. The graphs of all
// ranks, and their traces, are kept until the last is read.
func (r *reading) mostEvents() int64 {
	const perEvent, mostInputs = 512, 16 // bytes of a graph and its trace
	if len(r.paths) > mostInputs {
		return 0
	}
	return r.limits.memory.Largest() / 2 / perEvent / int64(max(1, len(r.paths)))
}

// narrowed returns the part of an input's trace that the flags select.
func (r *reading) narrowed(in *ingest.Input) (*trace.Trace, error) {
	t, _, err := r.options(in).Narrow(in.Trace, summary.Input{Path: in.Path})
	return t, err
}

// memoryOf estimates the memory of a summary in bytes from the lengths of its tables.
func memoryOf(sum *summary.Summary) (n int64) {
	const perRow = 64 // bytes of strings and nested values
	v := reflect.ValueOf(sum).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Slice {
			n += int64(f.Len()) * (int64(f.Type().Elem().Size()) + perRow)
		}
	}
	const perSpan, perCell = 32, 6 * 8
	for _, d := range sum.Details {
		n += int64(len(d.Cells.Compute)) * perCell
		for _, l := range d.Lanes {
			n += int64(len(l.Spans)) * perSpan
		}
	}
	return n
}

// addSaved adds the size of a saved part's collectives to the total, and returns an error over the
// limit.
func (r *reading) addSaved(p partial.Part, path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.matched += p.SavedBytes(); r.matched > r.limits.memory.Largest() {
		return fmt.Errorf("%s: the collectives of the partials up to this one take more than %s of memory; raise --max-memory, or see \"assay help cluster\"", path, unit.Bytes(r.limits.memory.Largest()))
	}
	return nil
}

// sayRepeated warns about partials that were given more than once.
func (r *reading) sayRepeated(n int) {
	if n > 0 {
		r.e.say("assay: %s given more than once; each input counts once", plural(n, "partial was", "partials were"))
	}
}

// merged measures all inputs and joins them. It returns nil if none could be read.
func (r *reading) merged() (*summary.Summary, []error) {
	all, failed := r.measureAll()
	return r.joined(all), failed
}

// joined returns the summary of all parts, or nil if there are none. The summaries of the parts
// must not be used afterwards.
func (r *reading) joined(all []partial.Part) *summary.Summary {
	if len(all) == 0 {
		return nil
	}
	s := r.withFloor(partial.Join(all))
	s.LeftOut = s.LeftOut.Plus(r.leftOut())
	if len(r.secrets) > 0 {
		slices.SortFunc(r.secrets, func(a, b summary.Issue) int { return cmp.Compare(a.First, b.First) })
		s = summary.Join(s, &summary.Summary{Issues: r.secrets})
	}
	return s
}

// leftOut lists the files of directories that are not read, with masked names.
func (r *reading) leftOut() *summary.LeftOut {
	if len(r.skipped) == 0 {
		return nil
	}
	out := &summary.LeftOut{Count: int64(len(r.skipped))}
	for _, f := range r.skipped[:min(len(r.skipped), summary.MaxLeftOut)] {
		out.Files = append(out.Files, summary.LeftOutFile{Path: redact.Mask(f.Path), Why: f.Why})
	}
	return out
}

// runs measures all inputs. The traces of one run whose ranks can be compared become one summary;
// every other input has a summary of its own.
func (r *reading) runs() ([]*summary.Summary, []error) {
	all, failed := r.measureAll()
	list := partial.Runs(all)
	for _, s := range list {
		r.withFloor(s)
	}
	return list, failed
}
