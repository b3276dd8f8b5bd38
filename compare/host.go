package compare

import (
	"fmt"
	"slices"
	"strings"

	"assay/compare/logs"
	"assay/compare/phases"
	"assay/internal/unit"
	"assay/summary"
)

// host compares what does not come from a GPU: steps and phases on the host, logs and results.
func (d *differ) host() {
	base, new := d.base.parts(), d.new.parts()
	if d.phases = phases.Compare(base, new); d.phases != nil {
		d.c.Steps, d.c.Phases = &d.phases.Steps, d.phases.Rows
	}
	d.c.Series = logs.Metrics(base, new)
	d.c.Benchmarks = logs.Benchmarks(base, new, d.force)
}

// logged reports whether any logged values or results were compared.
func (c *Comparison) logged() bool {
	return c.Steps != nil || slices.ContainsFunc(c.Series, func(m logs.Metric) bool { return m.Match == logs.ByName }) ||
		slices.ContainsFunc(c.Benchmarks, func(b logs.Benchmark) bool { return b.Match == logs.ByName })
}

// stepEstimates returns the statistics of the steps of several logs.
func (d *differ) stepEstimates() []Estimate {
	if d.phases == nil || len(d.phases.Steps.Base.Runs) < 2 && len(d.phases.Steps.New.Runs) < 2 {
		return nil
	}
	return []Estimate{estimate(PerStep, d.phases.Steps.Base.Runs, d.phases.Steps.New.Runs)}
}

// overlap warns that phases run at the same time and so do not divide the step.
func (d *differ) overlap() (Reason, bool) {
	return Reason{"phases-overlap", Warn, "the phases of a side add up to more than its step, so some run at the same time: the delta of a phase is not a part of the delta of the step"},
		d.phases != nil && d.phases.Overlap()
}

// otherSteps says which steps of logs of different length are compared.
func (d *differ) otherSteps() (Reason, bool) {
	if d.phases == nil {
		return Reason{}, false
	}
	s := d.phases.Steps
	switch {
	case d.phases.Common:
		return Reason{"common-steps", Note, commonSteps(s.Base.Count, s.New.Count)}, true
	case d.phases.Apart:
		return Reason{"other-steps", Warn, "the logs have no three steps with the same numbers, so all steps are compared: the work of a step can depend on how far training is"}, true
	}
	return Reason{}, false
}

// commonSteps says which steps of two logs are compared.
func commonSteps(base, new int64) string {
	if base == new {
		return fmt.Sprintf("only the %d steps whose numbers both logs have are compared", base)
	}
	return fmt.Sprintf("only steps whose numbers both logs have are compared: %d of the base, %d of the new run", base,
		new)
}

// onePhased says that only one side has phases, so they cannot be compared.
func (d *differ) onePhased() (Reason, bool) {
	if d.phases == nil || !d.phases.OneSided {
		return Reason{}, false
	}
	return Reason{"phases-missing", Note, "only one side has the phases of its steps, so phases are not compared"}, true
}

// otherSource warns that a trace is compared with a log: a profiler makes a program slower, and a
// log has no GPU times.
func (d *differ) otherSource() (Reason, bool) {
	if d.phases == nil || d.phases.Steps.Base.From == d.phases.Steps.New.From {
		return Reason{}, false
	}
	const otherStep = 20 // times as long: no profiler makes a program so slow
	a, b := d.phases.Steps.Base.MedianNS, d.phases.Steps.New.MedianNS
	if short, long := min(a, b), max(a, b); short > 0 && long/short >= otherStep {
		return Reason{"trace-and-log", Refuse, fmt.Sprintf("one run is a trace and the other a log, and their steps take %s and %s: they are not the same step, or a unit is wrong",
			unit.Duration(a), unit.Duration(b))}, true
	}
	return Reason{"trace-and-log", Warn, "one run is a trace and the other a log: only steps and phases on the host are compared, and the profiler makes its run slower"}, true
}

// otherRank warns that the sides were logged by different ranks, because programs log on their
// first rank or on their last.
func (d *differ) otherRank() (Reason, bool) {
	for i := range d.c.Series {
		if m := &d.c.Series[i]; m.Match == logs.ByName && m.NewRank != "" {
			return Reason{"other-rank", Warn, fmt.Sprintf("the base was logged by rank %s and the new run by rank %s, which may do different parts of the work", m.Labels["rank"], m.NewRank)}, true
		}
	}
	return Reason{}, false
}

// unknownClock warns about profiles without a clock: time with waiting differs from time without,
// for any program.
func (d *differ) unknownClock() (Reason, bool) {
	of := func(t TableDelta) bool { return t.Of == summary.OfFunction && t.Clock == "" }
	return Reason{"unknown-clock", Warn, "the profiles do not record their clock (CPU time, or wall time, which includes waiting): make sure that both have the same one"},
		slices.ContainsFunc(d.c.Tables, of)
}

// otherWork warns about different settings of benchmarks, which are compared only if this is
// forced.
func (d *differ) otherWork() (Reason, bool) {
	for _, b := range d.c.Benchmarks {
		if b.Match != logs.ByName || len(b.Changed) == 0 {
			continue
		}
		var list []string
		for _, s := range b.Changed {
			list = append(list, fmt.Sprintf("%s %s, was %s", s.Name, orNothing(s.New), orNothing(s.Base)))
		}
		if more := len(list) - 3; more > 0 {
			list = append(list[:3], fmt.Sprintf("%d more", more))
		}
		return Reason{"other-settings", Warn, "the benchmark was run with other settings: " + strings.Join(list, "; ")}, true
	}
	return Reason{}, false
}

func orNothing(text string) string {
	if text == "" {
		return "not set"
	}
	return text
}

// noneInCommon says why logs and results of both sides cannot be compared, or returns "".
func (d *differ) noneInCommon() string {
	base, new := d.base.benchmarks(), d.new.benchmarks()
	if len(base) > 0 && len(new) > 0 {
		if base[0].Producer != new[0].Producer {
			return fmt.Sprintf("different benchmarks made the results (%s and %s): compare two results of the same benchmark",
				base[0].Producer, new[0].Producer)
		}
		return fmt.Sprintf("no result of %s has the same workload on both sides (%s): compare results of equal settings",
			base[0].Producer, firstDifference(base[0].Settings, new[0].Settings))
	}
	b, n := d.base.producers(), d.new.producers()
	if len(b) > 0 && len(n) > 0 {
		return fmt.Sprintf("the runs have no metric in common: the base was logged by %s, the new run by %s", some(b),
			some(n))
	}
	return ""
}

// firstDifference describes the first setting that differs.
func firstDifference(base, new map[string]string) string {
	names := []string{}
	for name := range base {
		names = append(names, name)
	}
	for name := range new {
		if _, ok := base[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if base[name] != new[name] && name != "date" {
			return fmt.Sprintf("%s %s, was %s", name, orNothing(new[name]), orNothing(base[name]))
		}
	}
	return "different numbers of results"
}

// some returns up to three names, and the number of the others.
func some(names []string) string {
	if more := len(names) - 3; more > 0 {
		return strings.Join(names[:3], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

func (f *facts) benchmarks() (out []summary.Benchmark) {
	for _, r := range f.runs {
		for _, b := range r.Benchmarks {
			if r.has(b.Input) {
				out = append(out, b)
			}
		}
	}
	return out
}

// producers returns the programs that logged values of a side.
func (f *facts) producers() (out []string) {
	for _, r := range f.runs {
		for i := range r.Series {
			if s := &r.Series[i]; r.has(s.Input) && !slices.Contains(out, s.Producer) {
				out = append(out, s.Producer)
			}
		}
	}
	return out
}

// logs returns the number of inputs with logged values or results.
func (f *facts) logs() int {
	inputs := map[[2]int]bool{}
	for n, r := range f.runs {
		for i := range r.Series {
			if in := r.Series[i].Input; r.has(in) {
				inputs[[2]int{n, in}] = true
			}
		}
		for i := range r.Benchmarks {
			if in := r.Benchmarks[i].Input; r.has(in) {
				inputs[[2]int{n, in}] = true
			}
		}
	}
	return len(inputs)
}
