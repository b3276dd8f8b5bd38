package trace

import (
	"cmp"
	"math"
	"slices"

	"assay/internal/diag"
)

// pair makes spans from begins and ends. Phases B and E are paired by nesting
// on their track, as the format defines; asynchronous ones by category, id and
// name. Kineto writes neither; Chromium, Node and many others do.
func (m *merger) pair() {
	if m.marks.Len() == 0 {
		return
	}
	nested := make([]placedMark, 0, m.marks.Len())
	var async []placedMark
	n := uint32(0)
	for k := range m.marks.All() {
		if k.Phase == 'B' || k.Phase == 'E' {
			nested = append(nested, placedMark{k, n})
		} else {
			async = append(async, placedMark{k, n})
		}
		n++
	}
	// Events with equal times stay in the order of the file, which separates an
	// end from the begin that follows it.
	slices.SortStableFunc(nested, func(a, b placedMark) int {
		return cmp.Or(cmp.Compare(a.Track, b.Track), cmp.Compare(a.Start, b.Start))
	})
	spans, open := m.pairNested(nested)
	m.t.Spans.add([][]HostSpan{spans})
	slices.SortStableFunc(async, func(a, b placedMark) int { return cmp.Compare(a.Start, b.Start) })
	var openAsync int64
	m.t.Async, openAsync = m.pairAsync(async)
	m.issues.AddN(diag.Issue{Code: "spans-not-paired", Severity: diag.DataLoss,
		Help: "Begins without an end or ends without a begin have no duration and were left out. The recording began or ended within them."}, open+openAsync)
}

// A placedMark is a mark with its number in the file.
type placedMark struct {
	*Mark
	n uint32
}

// pairNested pairs B with E and counts the marks without a partner. The marks
// are sorted by track and time.
func (m *merger) pairNested(marks []placedMark) (spans []HostSpan, left int64) {
	var stack []placedMark
	for _, k := range marks {
		if n := len(stack); n > 0 && stack[n-1].Track != k.Track {
			left += int64(n)
			stack = stack[:0]
		}
		n := len(stack)
		switch {
		case k.Phase == 'B':
			stack = append(stack, k)
		case n == 0:
			left++
		default:
			spans = append(spans, m.span(stack[n-1], k))
			stack = stack[:n-1]
		}
	}
	return spans, left + int64(len(stack))
}

// pairAsync pairs b with e, latest begin first, and counts the marks without a
// partner. The marks are sorted by time.
func (m *merger) pairAsync(marks []placedMark) (spans []HostSpan, left int64) {
	type key struct {
		id             ID
		name, category Sym
	}
	open := make(map[key][]placedMark)
	for _, k := range marks {
		id := key{k.ID, k.Name, k.Category}
		stack := open[id]
		switch n := len(stack); {
		case k.Phase == 'b' || k.Phase == 'S':
			open[id] = append(stack, k)
		case n == 0:
			left++
		default:
			spans = append(spans, m.span(stack[n-1], k))
			open[id] = stack[:n-1]
		}
	}
	for _, stack := range open {
		left += int64(len(stack))
	}
	return spans, left
}

func (m *merger) span(begin, end placedMark) HostSpan {
	if m.index != nil {
		m.pairs = append(m.pairs, [2]uint32{begin.n, end.n})
	}
	dur := end.Start - begin.Start
	if dur < 0 { // overflow of int64
		dur = math.MaxInt64 - max(0, begin.Start)
	}
	return HostSpan{
		Start: begin.Start, Dur: dur, Name: begin.Name, Category: begin.Category, Track: begin.Track,
		Kind: KindOf([]byte(m.names.texts[begin.Category])),
	}
}
