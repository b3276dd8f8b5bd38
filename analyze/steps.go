package analyze

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"assay/diag"
	"assay/interval"
	"assay/summary"
	"assay/trace"
)

// stepPrefix is how PyTorch's profiler names the span of one step.
const stepPrefix = "ProfilerStep#"

// A mark is one step as the host marked it.
type mark struct {
	number int64
	span   interval.Span
	name   trace.Sym
}

// steps cuts each device's activity by the host's step markers. The cells of a
// step sum to its marker's length. Markers do not overlap, so the steps of a
// device share no time.
func steps(tl *timeline, rank int, issues *diag.Ledger) (out []summary.Step) {
	marks := marksOf(tl.t, issues)
	for _, d := range tl.devices {
		for _, m := range marks {
			out = append(out, summary.Step{
				Rank: rank, Device: d.ordinal, Name: tl.t.Name(m.name), Number: m.number,
				StartNS: m.span.Start, WallNS: m.span.Len(), Activity: d.activity(m.span),
			})
		}
	}
	return out
}

// marksOf finds the step markers on the host, in order. Every thread that runs
// operators has its own copy of a step's marker; the longest stands for all.
func marksOf(t *trace.Trace, issues *diag.Ledger) []mark {
	longest := make(map[int64]mark)
	see := func(name trace.Sym, start, end int64) {
		digits, ok := strings.CutPrefix(t.Name(name), stepPrefix)
		if !ok {
			return
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return
		}
		m := mark{n, interval.Span{Start: start, End: end}, name}
		have, ok := longest[n]
		if !ok || m.span.Len() > have.span.Len() || m.span.Len() == have.span.Len() && m.span.Start < have.span.Start {
			longest[n] = m
		}
	}
	for s := range t.Spans.All() {
		if s.Kind == trace.Annotation {
			see(s.Name, s.Start, s.Start+s.Dur)
		}
	}
	for o := range t.Ops.All() { // where profilers of 2021 put them
		see(o.Name, o.Start, o.Start+o.Dur)
	}
	marks := make([]mark, 0, len(longest))
	for _, m := range longest {
		marks = append(marks, m)
	}
	slices.SortFunc(marks, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.span.Start, b.span.Start), cmp.Compare(a.number, b.number))
	})
	for i := 1; i < len(marks); i++ {
		if prev := &marks[i-1]; prev.span.End > marks[i].span.Start {
			prev.span.End = marks[i].span.Start
			issues.Add(diag.Issue{Code: "steps-overlap", Severity: diag.Suspect,
				Help: "markers of different steps overlap; each step was cut where the next one starts"})
		}
	}
	return marks
}
