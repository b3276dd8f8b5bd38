package timeline

import (
	"fmt"
	"slices"

	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/show"
	"assay/summary"
	"assay/summary/row"
	"assay/summary/view"
)

// spanSums returns the CPU slices by name. It is empty if there are GPUs: then the report is about
// the GPUs.
func spanSums(ctx *section.Context) *row.Table {
	if len(ctx.Devices) > 0 {
		return summary.Spans().By([]summary.Span{})
	}
	return summary.Spans().By(ofThreads(ctx.Spans, true), "slice", "category")
}

// ofThreads returns the spans that have a thread, or those that have none: asynchronous ones, which
// overlap each other and have no self time.
func ofThreads(spans []summary.Span, have bool) (out []summary.Span) {
	for _, s := range spans {
		if s.Async != have {
			out = append(out, s)
		}
	}
	return out
}

// asyncTable returns the asynchronous spans, those with the longest total time first. It returns false if
// none has a duration.
func asyncTable(ctx *section.Context, most int) (doc.Table, bool) {
	list := slices.DeleteFunc(ofThreads(ctx.Spans, false), func(s summary.Span) bool { return s.TotalNS == 0 })
	for i := range list {
		list[i].SelfNS = list[i].TotalNS // what the table is sorted by
	}
	sums := summary.Spans().By(list, "slice", "category")
	t := show.View{Columns: "total;count;max;category;slice", Most: most, Title: "operations"}.Table(sums)
	return t, len(ctx.Devices) == 0 && sums.Whole > 0
}

// concurrency returns the mean number of busy threads: the self time of all threads,
// divided by the length of the capture. It is "" if that length is unknown.
func concurrency(ctx *section.Context, self int64) string {
	span := int64(0)
	for _, in := range ctx.Inputs {
		span += in.SpanNS
	}
	if span <= 0 {
		return ""
	}
	return fmt.Sprintf("On average %.2f threads were busy during the capture (%s). ", float64(self)/float64(span), unit.Duration(span))
}

// Spans returns the CPU slices of a capture without GPU events.
func Spans(ctx *section.Context) doc.Section {
	if len(ctx.Devices) > 0 || (len(ctx.Counters) > 0 || ctx.OfMemory()) && len(ctx.Spans) == 0 || ctx.SumsOnly() {
		return doc.Section{}
	}
	if len(ctx.Spans) == 0 && len(ctx.Series)+len(ctx.Benchmarks)+len(ctx.Groups) > 0 {
		return doc.Section{} // logs have neither
	}
	missing := doc.Paragraph{Text: "The capture has no GPU events, so there is no GPU time breakdown. To record them, use ProfilerActivity.CUDA. "}
	sums := spanSums(ctx)
	if len(ctx.Spans) == 0 {
		missing.Text += "The capture has no CPU slices either."
		return doc.Section{Title: slicesTitle(ctx), Blocks: []doc.Block{missing}}
	}
	missing.Text += "The table has CPU time only."
	if view.OfAscend(ctx.Summary) {
		missing.Text = "The capture has no events of the Ascend NPU, so there is no time breakdown. To record them, use ProfilerActivity.NPU. The table has CPU time only."
	}
	t := show.View{Columns: "slice;category;%;self;total;count;max;threads=#", Most: section.MaxKernels}.Table(sums)
	t.Note = concurrency(ctx, sums.Whole) + fmt.Sprintf("%% of the self time of all threads (%s). Self time: duration minus nested slices of the same thread.", unit.Duration(sums.Whole))
	s := doc.Section{Title: slicesTitle(ctx), Blocks: append([]doc.Block{missing}, ctx.Pictures("top-spans.png")...)}
	if sums.Whole > 0 {
		s.Blocks = append(s.Blocks, t.WithoutEmpty())
	}
	if async, ok := asyncTable(ctx, section.MaxKernels); ok {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: "Asynchronous operations have a begin and an end and no thread. They overlap, so their total can exceed the length of the capture."}, async)
	}
	return s
}

// slicesTitle returns what the slices of a capture without GPU events are of.
func slicesTitle(ctx *section.Context) string {
	return "CPU slices"
}
