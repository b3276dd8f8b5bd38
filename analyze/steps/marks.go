// Package steps finds the steps and phases that the host marks, and cuts the work of
// devices by them. A device may be far behind its host: see [Completion].
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
	number int64
	Span   interval.Span
	Name   trace.Sym
	Is     phase.Match
}

// torchFamily is the producer of markers of which every thread that runs
// operators has its own copy.
const torchFamily = "PyTorch"

// A Vocabulary caches which names of a trace mark steps or phases.
type Vocabulary struct {
	t     *trace.Trace
	rules *phase.Rules
	index []int32 // by name: an index of known plus 1; 0 if it was not asked for, or marksNothing
	known []phase.Match
	asked int
}

// marksNothing is the index of names that no rule knows.
const marksNothing = -1

// maxNames is the number of names that are looked up. A program has a few dozen;
// servers that write each request into a name have one per batch.
const maxNames = 1 << 18

// NewVocabulary looks names up in the given rules; nil for the built-in ones.
func NewVocabulary(t *trace.Trace, rules *phase.Rules) *Vocabulary {
	if rules == nil {
		rules = phase.Default()
	}
	return &Vocabulary{t: t, rules: rules, index: make([]int32, t.Names())}
}

// of returns what a name marks, or nil.
func (v *Vocabulary) of(name trace.Sym) *phase.Match {
	if v.index[name] == 0 {
		v.index[name] = marksNothing
		if v.asked++; v.asked <= maxNames {
			if is := v.rules.Match(v.t.Name(name)); is.Rule != "" {
				v.known = append(v.known, is)
				v.index[name] = int32(len(v.known))
			}
		}
	}
	if v.index[name] == marksNothing {
		return nil
	}
	return &v.known[v.index[name]-1]
}

// each calls f with every event of the host that may mark something:
// annotations, and operators, where profilers of 2021 put them and PyTorch its
// data loaders.
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

// A family is the step markers that one producer writes on one thread. Those of
// PyTorch's profiler are one family, whatever threads they are on.
type family struct {
	of    string // the producer, or the rule
	track trace.TrackID
	marks []Mark
	ns    int64 // that they cover
}

// MarksOf returns the step markers on the host, in order, without markers that have
// no length or an implausible one.
//
// If there are several families of markers, the outermost family that repeats
// counts: the one with at least two markers that covers the most time. A family
// nested in another one covers less.
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
		f.marks = append(f.marks, Mark{is.Number, span, name, is})
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
		return nil
	}
	return best.cut(issues)
}

// served reports whether a server other than vLLM marks its batches too. Its model runner
// can have taken over the markers of vLLM, as SGLang's for AMD has, and is named by its own.
func served[K comparable](families map[K]*family) bool {
	for _, f := range families {
		if f.of == "SGLang" {
			return true
		}
	}
	return false
}

// before reports whether the steps are those of f rather than those of g.
func (f *family) before(g *family) bool {
	repeats := func(f *family) int {
		if len(f.marks) > 1 {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(repeats(f), repeats(g)), cmp.Compare(g.ns, f.ns), strings.Compare(f.of, g.of), cmp.Compare(f.track, g.track)) < 0
}

// tidy keeps the longest of the copies that several threads have of a marker and
// removes markers within others. It sorts the rest, and numbers markers whose names
// have no number.
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
		return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(b.Span.End, a.Span.End), cmp.Compare(a.number, b.number))
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

// number counts the steps, unless their names have numbers that rise.
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

// noteMissing counts the steps whose markers are missing. PyTorch's profiler numbers its
// steps one by one, and each begins where the one before ends. So a number that is
// skipped, with time between the markers for half a step at least, is a lost marker.
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
		marks[i].Is.Step = marks[0].Is.Step // one cut for all, or they would share time
	}
	for i := 1; i < len(marks); i++ {
		if prev := &marks[i-1]; prev.Span.End > marks[i].Span.Start {
			prev.Span.End = marks[i].Span.Start
			issues.Add(diag.Issue{Code: "steps-overlap", Severity: diag.Suspect})
		}
	}
	return slices.DeleteFunc(marks, func(m Mark) bool { return m.Span.Empty() })
}
