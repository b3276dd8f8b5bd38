package report

import (
	"fmt"

	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// spanSums is empty where there are devices: then host spans are not what the
// report is about.
func (b *builder) spanSums() ([]view.Span, int64) {
	if len(b.Devices) > 0 {
		return nil, 0
	}
	return view.Spans(b.Summary)
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
		totals = append(totals, s.Total)
		longest = append(longest, s.Max)
	}
	total, most := scaleOf(totals...), scaleOf(longest...)
	t := Table{Title: "host spans", More: Rest{Total: self, Of: "self time"}, Columns: []Column{
		{"span", Name}, {"category", Text}, {"share", Number}, {total.head("self"), Number}, {total.head("total"), Number},
		{"count", Number}, {most.head("max"), Number}, {"threads", Number},
	}}
	for _, s := range sums {
		t.Rows = append(t.Rows, Row{Weight: s.Self, Cells: []string{
			s.Name, s.Category, unit.Share(s.Self, self), total.text(s.Self), total.text(s.Total),
			unit.Count(s.Count), most.text(s.Max), unit.Count(s.Threads),
		}})
	}
	t.Note = b.concurrency(self) + fmt.Sprintf("Shares are of %s, the self time of all spans on all threads: their durations less what spans nested in them on the same "+
		"thread took.", unit.Duration(self))
	return Section{Title: "Host", Blocks: append(append([]Block{missing}, b.pictures("top-spans.png")...), t.cut(maxKernels).withoutEmpty())}
}
