// Package interval implements set algebra on half-open intervals of time.
//
// A [Set] is sorted, disjoint and free of empty spans, so every operation is
// one linear merge and every length is exact: times are integer nanoseconds and
// nothing here rounds. [Partition] is the main use of sets: it cuts a window by
// which of several sets are active.
package interval

import (
	"cmp"
	"math"
	"slices"
)

// A Span is the half-open interval [Start, End). Touching spans do not
// overlap. A span whose End is not after its Start is empty.
type Span struct{ Start, End int64 }

// Len returns the length of s, or 0 if s is empty. A length that int64 cannot
// hold is returned as math.MaxInt64.
func (s Span) Len() int64 {
	if s.Empty() {
		return 0
	}
	// The difference of two int64s always fits uint64.
	return int64(min(uint64(s.End)-uint64(s.Start), math.MaxInt64))
}

// Empty reports whether s covers no time.
func (s Span) Empty() bool { return s.End <= s.Start }

// And returns the time covered by both s and t.
func (s Span) And(t Span) Span { return Span{max(s.Start, t.Start), min(s.End, t.End)} }

// A Set is a union of spans. The zero Set is empty. A Set is immutable and
// safe for concurrent use.
type Set struct{ spans []Span }

// Of returns the union of spans, which it does not retain or reorder. Spans
// that are already sorted by Start take one linear pass; others are sorted
// first.
func Of(spans ...Span) Set {
	if !slices.IsSortedFunc(spans, byStart) {
		spans = slices.Clone(spans)
		slices.SortFunc(spans, byStart)
	}
	return Set{union(spans)}
}

func byStart(a, b Span) int { return cmp.Compare(a.Start, b.Start) }

// union joins spans that are sorted by Start. It counts first, because traces
// have millions of spans and growing the result would copy them several times.
func union(sorted []Span) []Span {
	n := 0
	joined(sorted, func(Span) { n++ })
	if n == 0 {
		return nil
	}
	out := make([]Span, 0, n)
	joined(sorted, func(s Span) { out = append(out, s) })
	return out
}

// joined calls f with the maximal intervals that sorted covers, in order.
func joined(sorted []Span, f func(Span)) {
	var open Span
	for _, s := range sorted {
		switch {
		case s.Empty():
		case open.Empty():
			open = s
		case s.Start <= open.End:
			open.End = max(open.End, s.End)
		default:
			f(open)
			open = s
		}
	}
	if !open.Empty() {
		f(open)
	}
}

// A Builder collects spans one at a time. A span that touches or overlaps the
// one added before is joined with it at once, so a busy stream uses little
// memory. The zero Builder is ready to use.
type Builder struct {
	spans    []Span
	unsorted bool
}

// Grow makes room for n more spans.
func (b *Builder) Grow(n int) { b.spans = slices.Grow(b.spans, n) }

// Add adds a span. Ascending order of Start is fastest; any order is permitted.
func (b *Builder) Add(s Span) {
	if s.Empty() {
		return
	}
	if n := len(b.spans); n > 0 {
		last := &b.spans[n-1]
		if last.Start <= s.Start && s.Start <= last.End {
			last.End = max(last.End, s.End)
			return
		}
		b.unsorted = b.unsorted || s.Start < last.Start
	}
	if len(b.spans) == cap(b.spans) {
		// The slice is doubled, because append grows large slices by a quarter
		// and would copy millions of spans often.
		b.spans = slices.Grow(b.spans, max(16, len(b.spans)))
	}
	b.spans = append(b.spans, s)
}

// Set returns the union of the spans added and empties the builder.
func (b *Builder) Set() Set {
	spans, unsorted := b.spans, b.unsorted
	*b = Builder{}
	if unsorted {
		return Of(spans...)
	}
	return Set{spans}
}

// Len returns the total time covered. A length that int64 cannot hold is
// returned as math.MaxInt64.
func (a Set) Len() (n int64) {
	for _, s := range a.spans {
		n = plus(n, s.Len())
	}
	return n
}

// plus adds two lengths and stops at math.MaxInt64.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Spans returns the set as sorted spans that neither overlap nor touch. The
// caller must not modify it.
func (a Set) Spans() []Span { return a.spans }

// Bounds returns the span from the first start to the last end, or the zero
// Span if a is empty.
func (a Set) Bounds() Span {
	if len(a.spans) == 0 {
		return Span{}
	}
	return Span{a.spans[0].Start, a.spans[len(a.spans)-1].End}
}

// from returns the index of the first span of a that ends after t.
func (a Set) from(t int64) int {
	i, _ := slices.BinarySearchFunc(a.spans, t, func(s Span, t int64) int {
		if s.End <= t {
			return -1
		}
		return 1
	})
	return i
}

// Clip returns the part of a that is within the span. It looks only at the
// spans that it returns.
func (a Set) Clip(within Span) Set {
	if within.Empty() {
		return Set{}
	}
	var out []Span
	for _, s := range a.spans[a.from(within.Start):] {
		if s.Start >= within.End {
			break
		}
		out = append(out, s.And(within))
	}
	return Set{out}
}

// And returns the time covered by both a and b.
func (a Set) And(b Set) Set {
	var out []Span
	for i, j := 0, 0; i < len(a.spans) && j < len(b.spans); {
		x, y := a.spans[i], b.spans[j]
		if s := x.And(y); !s.Empty() {
			out = append(out, s)
		}
		if x.End < y.End {
			i++
		} else {
			j++
		}
	}
	return Set{out}
}

// Or returns the time covered by a, b or both.
func (a Set) Or(b Set) Set {
	merged := make([]Span, 0, len(a.spans)+len(b.spans))
	x, y := a.spans, b.spans
	for len(x) > 0 && len(y) > 0 {
		if x[0].Start <= y[0].Start {
			merged, x = append(merged, x[0]), x[1:]
		} else {
			merged, y = append(merged, y[0]), y[1:]
		}
	}
	merged = append(append(merged, x...), y...)
	return Set{union(merged)}
}

// Sub returns the time covered by a and not by b.
func (a Set) Sub(b Set) Set {
	var out []Span
	j := 0
	for _, s := range a.spans {
		for j < len(b.spans) && b.spans[j].End <= s.Start {
			j++
		}
		// A span of b can reach into several of a, so j stays on the last one.
		for k := j; k < len(b.spans) && b.spans[k].Start < s.End; k++ {
			if left := (Span{s.Start, b.spans[k].Start}); !left.Empty() {
				out = append(out, left)
			}
			s.Start, j = b.spans[k].End, k
		}
		if !s.Empty() {
			out = append(out, s)
		}
	}
	return Set{out}
}
