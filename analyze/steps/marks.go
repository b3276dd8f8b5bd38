// Package steps finds the steps and phases that the host marks, and divides the work of devices
// between them.
//
// Start with marks.go, which finds the markers of steps by name. A device may be far behind its
// host, so completion.go maps times of the host to times of a device. steps.go measures each step
// on each device; phases.go and phases_cells.go do the same for phases.
//
// The names come from package phase. Package analyze puts the rows into the summary.
package steps

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/analyze/limits"
	"assay/analyze/phase"
	"assay/internal/diag"
	"assay/internal/interval"
	"assay/internal/stat"
	"assay/trace"
)

// A Mark is one step as the host marked it.
type Mark struct {
	number int64 // number of the step
	Span   interval.Span
	Name   trace.Sym
	Track  trace.TrackID // of the marker
	Is     phase.Match
}

// Number returns the number of the step.
func (m Mark) Number() int64 { return m.number }

// torchFamily is the producer that writes a copy of each marker on every thread that runs
// operators.
const torchFamily = "PyTorch"

// A Vocabulary caches which names of a trace mark steps or phases.
type Vocabulary struct {
	t       *trace.Trace
	rules   *phase.Rules
	index   []int32 // by name: index into matches plus 1; 0 until looked up; or marksNothing
	matches []phase.Match
	lookups int // number of names looked up
}

// marksNothing is the index of names that match no rule.
const marksNothing = -1

// maxNames is the maximum number of names that are looked up. Programs have a few dozen. Servers
// that write requests into names have one per batch.
const maxNames = 1 << 18

// NewVocabulary returns a Vocabulary with the given rules, or the built-in ones for nil.
func NewVocabulary(t *trace.Trace, rules *phase.Rules) *Vocabulary {
	if rules == nil {
		rules = phase.Default()
	}
	return &Vocabulary{t: t, rules: rules, index: make([]int32, t.Names())}
}

// Name returns the text of a name.
func (v *Vocabulary) Name(s trace.Sym) string { return v.t.Name(s) }

// of returns the rule that a name matches, or nil.
func (v *Vocabulary) of(name trace.Sym) *phase.Match {
	if v.index[name] == 0 {
		v.index[name] = marksNothing
		if v.lookups++; v.lookups <= maxNames {
			if is := v.rules.Match(v.t.Name(name)); is.Rule != "" {
				v.matches = append(v.matches, is)
				v.index[name] = int32(len(v.matches))
			}
		}
	}
	if v.index[name] == marksNothing {
		return nil
	}
	return &v.matches[v.index[name]-1]
}

// each calls f with every event of the host that matches a rule. It looks at annotations and at
// operators: profilers of 2021 recorded annotations as operators, and PyTorch still records data
// loaders so.
func (v *Vocabulary) each(f func(name trace.Sym, track trace.TrackID, span interval.Span, is phase.Match)) {
	for s := range v.t.Spans.All() {
		if s.Kind == trace.Annotation && !v.t.Tracks[s.Track].OnDevice {
			if is := v.of(s.Name); is != nil {
				f(s.Name, s.Track, interval.Span{Start: s.Start, End: s.Start + s.Dur}, *is)
			}
		}
	}
	for o := range v.t.Ops.All() {
		if is := v.of(o.Name); is != nil {
			f(o.Name, o.Track, interval.Span{Start: o.Start, End: o.Start + o.Dur}, *is)
		}
	}
}

// A family is the step markers that one producer writes on one thread. Those of PyTorch's
// profiler are one family across all threads.
type family struct {
	of    string // the producer, or else the rule
	track trace.TrackID
	marks []Mark
	ns    int64 // time covered by marks
}

// MarksOf returns the step markers of the host, sorted by time. It drops markers without a length
// and with an implausible one.
//
// If there are several families of markers, the outermost one that repeats counts: the family
// with at least two markers that covers the most time. A family that is nested in another one
// covers less. Without any, the calls of the optimizer mark the steps: see optimizerMarks.
func MarksOf(v *Vocabulary, issues *diag.Ledger) []Mark {
	type key struct {
		of    string
		track trace.TrackID
	}
	families := make(map[key]*family)
	v.each(func(name trace.Sym, track trace.TrackID, span interval.Span, is phase.Match) {
		if is.Step == "" || is.Producer == torchFamily && is.Number < 0 {
			return
		}
		if limits.Implausible(span) {
			issues.Add(diag.Issue{Code: "step-implausible", Severity: diag.Suspect,
				Help: fmt.Sprintf("The marker %q runs from %d ns to %d ns, over 100 hours, so a time in the trace is wrong. Such markers were left out. Record again.", v.t.Name(name), span.Start, span.End)})
			return
		}
		k := key{cmp.Or(is.Producer, is.Rule), track}
		if k.of == torchFamily {
			k.track = 0
		}
		f := families[k]
		if f == nil {
			f = &family{of: k.of, track: k.track}
			families[k] = f
		}
		f.marks = append(f.marks, Mark{is.Number, span, name, track, is})
	})
	if served(families) {
		maps.DeleteFunc(families, func(k key, f *family) bool { return f.of == "vLLM" })
	}
	var best *family
	for _, f := range families {
		f.tidy()
		if best == nil || f.before(best) {
			best = f
		}
	}
	if best == nil {
		return optimizerMarks(v.t)
	}
	return best.cut(issues)
}

// served reports whether a server other than vLLM marks its batches. Some servers reuse a model
// runner of vLLM with its markers, as SGLang for AMD does; their own markers decide.
func served[K comparable](families map[K]*family) bool {
	for _, f := range families {
		if f.of == "SGLang" {
			return true
		}
	}
	return false
}

// before reports whether f is preferred to g as the family of the steps.
func (f *family) before(g *family) bool {
	repeats := func(f *family) int {
		if len(f.marks) > 1 {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(repeats(f), repeats(g)), cmp.Compare(g.ns, f.ns), strings.Compare(f.of, g.of),
		cmp.Compare(f.track, g.track)) < 0
}

// tidy sorts the markers. Of copies on several threads it keeps the longest, and it removes
// markers inside of others. Markers without a number in their name get one.
func (f *family) tidy() {
	if f.of == torchFamily {
		longest := make(map[int64]Mark)
		for _, m := range f.marks {
			have, ok := longest[m.number]
			if !ok || m.Span.Len() > have.Span.Len() || m.Span.Len() == have.Span.Len() && m.Span.Start < have.Span.Start {
				longest[m.number] = m
			}
		}
		f.marks = f.marks[:0]
		for _, m := range longest {
			f.marks = append(f.marks, m)
		}
	}
	slices.SortStableFunc(f.marks, func(a, b Mark) int {
		return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(b.Span.End, a.Span.End),
			cmp.Compare(a.number, b.number))
	})
	if f.of == torchFamily {
		slices.SortStableFunc(f.marks, func(a, b Mark) int {
			return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.number, b.number))
		})
	} else {
		end := int64(0)
		kept := f.marks[:0]
		for i, m := range f.marks {
			if i > 0 && m.Span.End <= end {
				continue
			}
			end = m.Span.End
			kept = append(kept, m)
		}
		f.marks = kept
		f.number()
	}
	var all interval.Builder
	for _, m := range f.marks {
		all.Add(m.Span)
	}
	f.ns = all.Set().Len()
}

// number numbers the steps from 0, unless the numbers in their names increase.
func (f *family) number() {
	last := int64(-1)
	rises := true
	for _, m := range f.marks {
		rises = rises && m.number > last
		last = m.number
	}
	if rises {
		return
	}
	for i := range f.marks {
		f.marks[i].number = int64(i)
	}
}

// noteMissing adds an issue for lost markers. PyTorch's profiler numbers steps consecutively, and
// each starts where the one before ends. So a marker is lost if a number is skipped and there is
// time for at least half a step.
func (f *family) noteMissing(issues *diag.Ledger) {
	if f.of != torchFamily || len(f.marks) < 2 {
		return
	}
	half := stat.MedianBy(f.marks, func(m Mark) int64 { return m.Span.Len() }) / 2
	for i := 1; i < len(f.marks); i++ {
		a, b := f.marks[i-1], f.marks[i]
		if skipped := b.number - a.number - 1; skipped > 0 && b.Span.Start-a.Span.End > half {
			issues.AddN(diag.Issue{Code: "steps-missing", Severity: diag.DataLoss}, skipped)
		}
	}
}

// cut returns the markers, each cut where the next one starts.
func (f *family) cut(issues *diag.Ledger) []Mark {
	marks := f.marks
	f.noteMissing(issues)
	for i := range marks {
		marks[i].Is.Step = marks[0].Is.Step // steps with different rules could overlap
	}
	for i := 1; i < len(marks); i++ {
		if prev := &marks[i-1]; prev.Span.End > marks[i].Span.Start {
			prev.Span.End = marks[i].Span.Start
			issues.Add(diag.Issue{Code: "steps-overlap", Severity: diag.Suspect})
		}
	}
	return slices.DeleteFunc(marks, func(m Mark) bool { return m.Span.Empty() })
}
