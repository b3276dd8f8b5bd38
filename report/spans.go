package report

import (
	"fmt"

	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// spanSums returns the CPU slices and their self time in ns. It is empty if there are
// GPUs: then the report is about the GPUs.
func (b *builder) spanSums() ([]view.Span, int64) {
	if len(b.Devices) > 0 {
		return nil, 0
	}
	return view.Spans(b.Summary)
}

// concurrency returns the mean number of busy threads: the self time of all threads,
// divided by the length of the capture. It is "" if that length is unknown.
func (b *builder) concurrency(self int64) string {
	span := int64(0)
	for _, in := range b.Inputs {
		span = summary.Plus(span, in.SpanNS)
	}
	if span <= 0 {
		return ""
	}
	return fmt.Sprintf("On average %.2f threads were busy during the capture (%s). ", float64(self)/float64(span), unit.Duration(span))
}

// spans returns the CPU slices of a capture without GPU events.
func (b *builder) spans() Section {
	if len(b.Devices) > 0 || (len(b.Counters) > 0 || b.ofMemory()) && len(b.Spans) == 0 || b.sumsOnly() {
		return Section{}
	}
	missing := Paragraph{Text: "The capture has no GPU events, so there is no GPU time breakdown. To record them, use ProfilerActivity.CUDA. "}
	sums, self := b.spanSums()
	if len(sums) == 0 {
		missing.Text += "It has no CPU slices either."
		return Section{Title: "CPU slices", Blocks: []Block{missing}}
	}
	missing.Text += "The table has CPU time only."
	var totals, longest []int64
	for _, s := range sums[:min(maxKernels, len(sums))] {
		totals = append(totals, s.Total)
		longest = append(longest, s.Max)
	}
	total, most := scaleOf(totals...), scaleOf(longest...)
	t := Table{Title: "slices", More: Rest{Total: self, Of: "self time"}, Columns: []Column{
		{"slice", Name}, {"category", Text}, {"%", Number}, {total.head("self"), Number}, {total.head("total"), Number},
		{"count", Number}, {most.head("max"), Number}, {"threads", Number},
	}}
	for _, s := range sums {
		t.Rows = append(t.Rows, Row{Weight: s.Self, Cells: []string{
			s.Name, s.Category, unit.Share(s.Self, self), total.text(s.Self), total.text(s.Total),
			unit.Count(s.Count), most.text(s.Max), unit.Count(s.Threads),
		}})
	}
	t.Note = b.concurrency(self) + fmt.Sprintf("%% of the self time of all threads (%s). Self time: duration minus nested slices of the same thread.", unit.Duration(self))
	return Section{Title: "CPU slices", Blocks: append(append([]Block{missing}, b.pictures("top-spans.png")...), t.cut(maxKernels).withoutEmpty())}
}
