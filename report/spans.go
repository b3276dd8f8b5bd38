package report

import (
	"cmp"
	"fmt"
	"slices"

	"assay/summary"
	"assay/unit"
)

// A spanSum is every run of the host spans of one name and category, over all
// threads.
type spanSum struct {
	name, category     string
	count, total, self int64
	max                int64
	threads            int64
}

// sumSpans adds up the spans of s and returns them by falling self time, then
// name and category, with the self time of all.
func sumSpans(s *summary.Summary) (out []spanSum, self int64) {
	type key struct{ name, category string }
	index := map[key]int{}
	for _, sp := range s.Spans {
		i, ok := index[key{sp.Name, sp.Category}]
		if !ok {
			i = len(out)
			index[key{sp.Name, sp.Category}] = i
			out = append(out, spanSum{name: sp.Name, category: clip(clean(sp.Category), 24)})
		}
		sum := &out[i]
		self = summary.Plus(self, sp.SelfNS)
		sum.count = summary.Plus(sum.count, sp.Count)
		sum.total = summary.Plus(sum.total, sp.TotalNS)
		sum.self = summary.Plus(sum.self, sp.SelfNS)
		sum.max = max(sum.max, sp.MaxNS)
		sum.threads++
	}
	slices.SortStableFunc(out, func(a, b spanSum) int {
		return cmp.Or(cmp.Compare(b.self, a.self), cmp.Compare(a.name, b.name), cmp.Compare(a.category, b.category))
	})
	return out, self
}

// spanSums is empty where there are devices: then host spans are not what the
// report is about.
func (b *builder) spanSums() ([]spanSum, int64) {
	if len(b.Devices) > 0 {
		return nil, 0
	}
	return sumSpans(b.Summary)
}

// concurrency says how many threads were busy on average, if that is known: the
// self time of all threads over the span of the capture.
func (b *builder) concurrency(self int64) string {
	span := int64(0)
	for _, in := range b.Inputs {
		span = summary.Plus(span, in.SpanNS)
	}
	if span <= 0 {
		return ""
	}
	return fmt.Sprintf("On average %.2f threads were busy over the %s of the capture. ", float64(self)/float64(span), unit.Duration(span))
}

// spans stands in for all that a capture without GPU events cannot answer.
func (b *builder) spans() Section {
	if len(b.Devices) > 0 || (len(b.Counters) > 0 || b.ofMemory()) && len(b.Spans) == 0 || b.sumsOnly() {
		return Section{}
	}
	missing := Paragraph{Text: "The capture holds no GPU events, so there is no time budget, no kernel and no stream to report. "}
	sums, self := b.spanSums()
	if len(sums) == 0 {
		missing.Text += "It holds no host spans either."
		return Section{Title: "Host", Blocks: []Block{missing}}
	}
	missing.Text += "What follows is the time of the host alone."
	var totals, longest []int64
	for _, s := range sums[:min(maxKernels, len(sums))] {
		totals = append(totals, s.total)
		longest = append(longest, s.max)
	}
	total, most := scaleOf(totals...), scaleOf(longest...)
	t := Table{Title: "host spans", More: Rest{Total: self, Of: "self time"}, Columns: []Column{
		{"span", Name}, {"category", Text}, {"share", Number}, {total.head("self"), Number}, {total.head("total"), Number},
		{"count", Number}, {most.head("max"), Number}, {"threads", Number},
	}}
	for _, s := range sums {
		t.Rows = append(t.Rows, Row{Weight: s.self, Cells: []string{
			s.name, s.category, unit.Share(s.self, self), total.text(s.self), total.text(s.total),
			unit.Count(s.count), most.text(s.max), unit.Count(s.threads),
		}})
	}
	t.Note = b.concurrency(self) + fmt.Sprintf("Shares are of %s, the self time of all spans on all threads: their durations less what spans nested in them on the same "+
		"thread took.", unit.Duration(self))
	return Section{Title: "Host", Blocks: append(append([]Block{missing}, b.pictures("top-spans.png")...), t.cut(maxKernels).withoutEmpty())}
}
