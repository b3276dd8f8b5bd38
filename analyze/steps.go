package analyze

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/diag"
	"assay/interval"
	"assay/phase"
	"assay/summary"
	"assay/trace"
)

// stepPrefix is how PyTorch's profiler names the span of one step.
const stepPrefix = "ProfilerStep#"

// steps cuts each device's activity by the host's step markers. The cells of a
// step sum to its length. Markers do not overlap, so the steps of a device share
// no time. A step outside a device's window has no row for that device. Rows beyond most
// are left out and counted.
func steps(tl *timeline, marks []mark, done []*completion, p *phases, lost *losses, rank, most int, issues *diag.Ledger) (out []summary.Step) {
	counted := stepCalls(tl.t, marks)
	leftOut := 0
	for i, d := range tl.devices {
		if implausible(d.window) {
			continue
		}
		first, within := within(marks, d.window, done[i])
		if room := most - len(out); len(within) > room {
			leftOut += len(within) - room
			within = within[:room]
		}
		for k, m := range within {
			st := summary.Step{
				Rank: rank, Device: d.ordinal, Name: tl.t.Name(m.name), Number: m.number,
				Marker: cmp.Or(m.is.Producer, summary.MarkedByProgram), Kind: m.is.Phase, Batch: m.is.Batch,
				Allocs: counted[first+k].allocs, Loads: counted[first+k].loads, Phases: p.within(m),
				LaunchesCut: lost.cut(m.span),
			}
			span := m.span
			if m.is.Step == phase.CutWork {
				st.Cut, st.HostNS = m.is.Step, span.Len()
				span = done[i].cut(span)
			}
			st.StartNS, st.WallNS, st.Activity = span.Start, span.Len(), d.activity(span)
			if st.WallNS > 0 {
				out = append(out, st)
			}
		}
	}
	more := ""
	if most < maxSteps {
		more = ", or raise --max-memory"
	}
	issues.AddN(diag.Issue{Code: "too-many-steps", Severity: diag.DataLoss,
		Help: fmt.Sprintf("The table of steps has %d rows per input at most, one per step and device. Further rows were left out; all other numbers are correct. Give a shorter capture%s.", most, more)}, int64(leftOut))
	return out
}

// within returns the marks of the steps that a device has, and the index of the
// first of them.
func within(marks []mark, window interval.Span, s *completion) (first int, out []mark) {
	if !cutByWork(marks) {
		out = overlapping(marks, window)
	} else {
		// Cut by work they follow each other too.
		from, _ := slices.BinarySearchFunc(marks, window.Start, func(m mark, t int64) int {
			if s.at(m.span.End) <= t {
				return -1
			}
			return 1
		})
		to, _ := slices.BinarySearchFunc(marks, window.End, func(m mark, t int64) int { return cmp.Compare(s.at(m.span.Start), t) })
		out = marks[from:max(from, to)]
	}
	if len(out) == 0 {
		return 0, nil
	}
	first, _ = slices.BinarySearchFunc(marks, out[0].span.Start, func(m mark, t int64) int { return cmp.Compare(m.span.Start, t) })
	return first, out
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

// A firstWork counts the calls within a step that programs make while they warm
// up.
type firstWork struct{ allocs, loads int64 }

// stepCalls counts the calls that take or return memory of a device, and those
// that load code onto it, by step.
func stepCalls(t *trace.Trace, marks []mark) []firstWork {
	out := make([]firstWork, len(marks))
	if len(marks) == 0 {
		return out
	}
	const alloc, load = 1, 2
	kinds := make(map[trace.Sym]int)
	for c := range t.Calls.All() {
		kind, ok := kinds[c.Name]
		if !ok {
			name := t.Name(c.Name)
			switch k := callKind(name); {
			case strings.Contains(name, "ModuleLoad"), strings.Contains(name, "LibraryLoad"), strings.Contains(name, "LinkComplete"):
				kind = load
			case k == "alloc" || k == "free":
				kind = alloc
			}
			kinds[c.Name] = kind
		}
		if kind == 0 {
			continue
		}
		if i := stepAt(marks, c.Start); i >= 0 && kind == alloc {
			out[i].allocs++
		} else if i >= 0 {
			out[i].loads++
		}
	}
	return out
}
