package analyze

import (
	"cmp"
	"fmt"
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
// device share no time. A step that lies outside a device's window says nothing
// of the device and has no row there.
func steps(tl *timeline, marks []mark, rank int, issues *diag.Ledger) (out []summary.Step) {
	leftOut := 0
	for _, d := range tl.devices {
		if implausible(d.window) {
			continue
		}
		within := overlapping(marks, d.window)
		if room := maxSteps - len(out); len(within) > room {
			leftOut += len(within) - room
			within = within[:room]
		}
		for _, m := range within {
			out = append(out, summary.Step{
				Rank: rank, Device: d.ordinal, Name: tl.t.Name(m.name), Number: m.number,
				StartNS: m.span.Start, WallNS: m.span.Len(), Activity: d.activity(m.span),
			})
		}
	}
	issues.AddN(diag.Issue{Code: "too-many-steps", Severity: diag.DataLoss,
		Help: fmt.Sprintf("the table of steps holds %d rows of one step on one device, the most for one input; those counted here were left out of it, and no other number is touched", maxSteps)}, int64(leftOut))
	return out
}

// overlapping returns those of the marks, which are in order, that share time
// with the window.
func overlapping(marks []mark, window interval.Span) []mark {
	if window.Empty() {
		return nil
	}
	from, _ := slices.BinarySearchFunc(marks, window.Start, func(m mark, t int64) int {
		if m.span.End <= t {
			return -1
		}
		return 1
	})
	to, _ := slices.BinarySearchFunc(marks, window.End, func(m mark, t int64) int { return cmp.Compare(m.span.Start, t) })
	return marks[from:to]
}

// marksOf finds the step markers on the host, in order; those of no length, and
// those that are longer than any program runs, are none. Every thread that
// runs operators has its own copy of a step's marker; the longest stands for
// all.
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
		if implausible(m.span) {
			issues.Add(diag.Issue{Code: "step-implausible", Severity: diag.Suspect,
				Help: fmt.Sprintf("%q runs from %d ns to %d ns, longer than the %d ns (ten years) that a step may last; such markers were left out", t.Name(name), start, end, maxWindow)})
			return
		}
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
	return slices.DeleteFunc(marks, func(m mark) bool { return m.span.Empty() })
}
