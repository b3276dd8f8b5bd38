package view

import (
	"cmp"
	"slices"

	"assay/internal/label"
	"assay/summary"
)

// A Span is every run of the host spans of one name and category, over all
// threads.
type Span struct {
	Name, Category     string
	Count, Total, Self int64
	Max                int64
	Threads            int64
}

// Spans adds up the spans of s and returns them by falling self time, then
// name and category, with the self time of all.
func Spans(s *summary.Summary) (out []Span, self int64) {
	out = Group(s.Spans, func(sp *summary.Span) [2]string { return [2]string{sp.Name, sp.Category} }, func(sp *summary.Span) Span {
		return Span{Name: sp.Name, Category: label.Clip(label.Clean(sp.Category), 24)}
	}, func(sum *Span, sp *summary.Span) {
		self = summary.Plus(self, sp.SelfNS)
		sum.Count = summary.Plus(sum.Count, sp.Count)
		sum.Total = summary.Plus(sum.Total, sp.TotalNS)
		sum.Self = summary.Plus(sum.Self, sp.SelfNS)
		sum.Max = max(sum.Max, sp.MaxNS)
		sum.Threads++
	})
	slices.SortStableFunc(out, func(a, b Span) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Category, b.Category))
	})
	return out, self
}
