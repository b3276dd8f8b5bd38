package steps

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"assay/analyze/classify"
	"assay/analyze/gpu"
	"assay/analyze/launches"
	"assay/analyze/limits"
	"assay/analyze/phase"
	"assay/internal/diag"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// TorchPrefix starts the names of the step markers of PyTorch's profiler.
const TorchPrefix = "ProfilerStep#"

// MaxRows is the maximum number of rows of steps of an input, whatever its memory limit.
const MaxRows = 100_000

// Rows divides each device's activity by the host's step markers. The activity of a step, in ns,
// sums to its length. Markers do not overlap, so the steps of a device do not either. A step
// outside a device's window has no row for that device. Rows beyond most are left out, which adds
// an issue.
func Rows(tl *gpu.Timeline, marks []Mark, done []*Completion, p *Phases, lost *launches.Losses, rank, most int,
	issues *diag.Ledger) (out []summary.Step) {
	counted := stepCalls(tl.Trace, marks)
	leftOut := 0
	for i, d := range tl.Devices {
		if limits.Implausible(d.Window) {
			continue
		}
		first, within := within(marks, d.Window, done[i])
		edge := tl.EdgeOf(d)
		if room := most - len(out); len(within) > room {
			leftOut += len(within) - room
			within = within[:room]
		}
		out = slices.Grow(out, len(within)) // rows are large, and there may be many
		for k, m := range within {
			st := summary.Step{
				Rank: rank, Device: d.Ordinal, Name: tl.Trace.Name(m.Name), Number: m.number,
				Marker: cmp.Or(m.Is.Producer, summary.MarkedByProgram), Kind: m.Is.Phase, Batch: m.Is.Batch, Tokens: m.Is.Tokens,
				Allocs: counted[first+k].allocs, Loads: counted[first+k].loads, Phases: p.within(m),
				LaunchesCut: lost.Cut(m.Span),
			}
			span := m.Span
			if m.Is.Step == phase.CutWork {
				st.Cut, st.HostNS = m.Is.Step, span.Len()
				span = done[i].cut(span)
			}
			st.StartNS, st.WallNS, st.Activity = span.Start, span.Len(), d.Activity(span)
			if st.WallNS > 0 && !edge.Cuts(span, m.Is.Step == phase.CutWork) {
				out = append(out, st)
			}
		}
	}
	more := ""
	if most < MaxRows {
		more = ", or raise --max-memory"
	}
	issues.AddN(diag.Issue{Code: "too-many-steps", Severity: diag.DataLoss,
		Help: fmt.Sprintf("The table of steps has %d rows per input at most, one per step and device. Further rows were left out; all other numbers are correct. Give a shorter capture%s.", most, more)}, int64(leftOut))
	return out
}

// within returns the markers of the steps in a device's window, and the index of the first.
func within(marks []Mark, window interval.Span, s *Completion) (first int, out []Mark) {
	if !CutByWork(marks) {
		out = Overlapping(marks, window)
	} else {
		// Mapped to the device, the markers are still in order.
		from, _ := slices.BinarySearchFunc(marks, window.Start, func(m Mark, t int64) int {
			if s.at(m.Span.End) <= t {
				return -1
			}
			return 1
		})
		to, _ := slices.BinarySearchFunc(marks, window.End,
			func(m Mark, t int64) int { return cmp.Compare(s.at(m.Span.Start), t) })
		out = marks[from:max(from, to)]
	}
	if len(out) == 0 {
		return 0, nil
	}
	first, _ = slices.BinarySearchFunc(marks, out[0].Span.Start,
		func(m Mark, t int64) int { return cmp.Compare(m.Span.Start, t) })
	return first, out
}

// Overlapping returns the markers, which are sorted, that overlap the window.
func Overlapping(marks []Mark, window interval.Span) []Mark {
	if window.Empty() {
		return nil
	}
	from, _ := slices.BinarySearchFunc(marks, window.Start, func(m Mark, t int64) int {
		if m.Span.End <= t {
			return -1
		}
		return 1
	})
	to, _ := slices.BinarySearchFunc(marks, window.End, func(m Mark, t int64) int { return cmp.Compare(m.Span.Start, t) })
	return marks[from:to]
}

// firstWork counts calls of a step that are typical of warm-up.
type firstWork struct{ allocs, loads int64 }

// stepCalls counts, by step, the calls that allocate or free GPU memory, and those that load code
// onto a GPU.
func stepCalls(t *trace.Trace, marks []Mark) []firstWork {
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
			switch k := classify.CallKind(name); {
			case strings.Contains(name, "ModuleLoad"), strings.Contains(name, "LibraryLoad"), strings.Contains(name,
				"LinkComplete"):
				kind = load
			case k == "alloc" || k == "free":
				kind = alloc
			}
			kinds[c.Name] = kind
		}
		if kind == 0 {
			continue
		}
		if i := At(marks, c.Start); i >= 0 && kind == alloc {
			out[i].allocs++
		} else if i >= 0 {
			out[i].loads++
		}
	}
	return out
}

// At returns the index of the marker that contains t, or -1.
func At(marks []Mark, t int64) int {
	i := sort.Search(len(marks), func(i int) bool { return marks[i].Span.End > t })
	if i < len(marks) && marks[i].Span.Start <= t {
		return i
	}
	return -1
}
