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

func KernelTable(ctx *section.Context) doc.Section {
	if len(ctx.ByName.Rows) == 0 {
		return doc.Section{}
	}
	t := show.View{Columns: "kernel;%;total;launches;mean;min;max;class;category;streams=stream;launched by", Most: section.MaxKernels}.Table(ctx.ByName)
	t.Note = fmt.Sprintf("%% of total kernel time: %s on all GPUs and streams; kernels that run at the same time all count. ", unit.Duration(ctx.ByName.Whole))
	t.Note += "Each row is a sum over streams, GPUs and operators. Long names are shortened; the JSON has the full names."
	return doc.Section{Title: "Kernels", Blocks: append(ctx.Pictures("top-kernels.png"), t.WithoutEmpty())}
}

// Categories returns the total kernel time by category.
func Categories(ctx *section.Context) doc.Section {
	if len(ctx.Kernels) == 0 {
		return doc.Section{}
	}
	t := show.View{Columns: "category;class;%;total;launches;kernels=#kernel", Most: section.MaxKernels, Title: "categories"}.Table(summary.Kernels().By(ctx.Kernels, "category", "class"))
	t.Note = "% of total kernel time."
	return doc.Section{Title: "Kernel categories", Blocks: []doc.Block{t}}
}

// Unclassified lists the kernels that match no rule and take over 1% of the total kernel
// time.
func Unclassified(ctx *section.Context) doc.Section {
	kernels := *ctx.ByName
	kernels.Rows = slices.DeleteFunc(slices.Clone(kernels.Rows), func(r row.Row) bool {
		return kernels.Text(&r, "category") != "other" || kernels.Main(&r) <= kernels.Whole/100
	})
	if len(kernels.Rows) == 0 {
		return doc.Section{}
	}
	t := show.View{Columns: "kernel;%;total;launches"}.Table(&kernels)
	t.More = doc.Rest{}
	t.Note = "% of total kernel time."
	return doc.Section{Title: "Unclassified kernels", Blocks: []doc.Block{
		doc.Paragraph{Text: "These kernels match no rule and each takes over 1% of the total kernel time. They count as compute. To classify them, write a rule file and pass it with --rules FILE."}, t,
	}}
}

// moved returns the bytes of copies, as far as they are recorded, the time of these copies, and whether all are recorded.
func moved(copies []summary.Copy, r *row.Row) (bytes, ns int64, all bool) {
	all = true
	for _, i := range r.Of {
		if c := &copies[i]; c.Bytes != nil {
			bytes, ns = bytes+*c.Bytes, ns+c.TotalNS
		} else {
			all = false
		}
	}
	return bytes, ns, all
}

func Copies(ctx *section.Context) doc.Section {
	if len(ctx.Copies) == 0 {
		return doc.Section{}
	}
	copies, link := summary.Copies().By(ctx.Copies, "copy", "class"), view.LinkOf(ctx.Devices)
	known := func(none string, text func(r *row.Row, bytes, ns int64, all bool) string) show.Cell {
		return show.Cell{Kind: doc.Number, Text: func(r *row.Row) string {
			bytes, ns, all := moved(ctx.Copies, r)
			if !all && ns <= 0 {
				return none
			}
			return text(r, bytes, ns, all)
		}}
	}
	t := show.View{Columns: "copy;class;%;total;count;mean;bytes;bytes / total time;% of link", Most: section.MaxKernels, Title: "kinds of copies", Cells: map[string]show.Cell{
		"bytes": known(unit.None, func(_ *row.Row, bytes, _ int64, all bool) string {
			if !all {
				return "≥ " + unit.FineBytes(bytes)
			}
			return unit.FineBytes(bytes)
		}),
		"bytes / total time": known(unit.None, func(_ *row.Row, bytes, ns int64, _ bool) string { return unit.Rate(bytes, ns) }),
		"% of link": known("", func(r *row.Row, bytes, ns int64, _ bool) string {
			return linkShare(link, copies.Text(r, "copy"), bytes, ns)
		}),
	}}.Table(copies)
	t.Note = fmt.Sprintf("%% of the total time of copies and memsets: %s. The rate is bytes / total time of the rows with recorded bytes. "+
		"\"≥\": the bytes of some rows are not recorded.", unit.Duration(copies.Whole)) + linkNote(link)
	return doc.Section{Title: "Copies and memsets", Blocks: []doc.Block{t.WithoutEmpty()}}
}

// maxStreams is the largest number of streams that a table shows.
const maxStreams = 32

func Streams(ctx *section.Context) doc.Section {
	if len(ctx.Streams) == 0 {
		return doc.Section{}
	}
	window := map[summary.GPU]int64{}
	for _, d := range ctx.Devices {
		window[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}] = d.WindowNS
	}
	streams, several := summary.Streams().By(ctx.Streams, "input", "rank", "device", "stream"), view.Numbered(ctx.Summary)
	at := func(r *row.Row) summary.GPU {
		s := &ctx.Streams[r.Of[0]]
		return summary.GPU{Input: s.Input, Rank: s.Rank, Device: s.Device}
	}
	t := show.View{Columns: "GPU;stream;name;kernels;copies, memsets=others;busy;busy % of window;total", Most: maxStreams, Cells: map[string]show.Cell{
		"GPU": {Text: func(r *row.Row) string {
			if place, ok := ctx.Place[at(r)]; ok {
				return place
			}
			return view.DeviceLabel(at(r), several)
		}},
		"busy % of window": {Kind: doc.Number, Text: func(r *row.Row) string { return unit.Share(streams.Number(r, "busy"), window[at(r)]) }},
		"name":             {Kind: doc.Name, Text: func(r *row.Row) string { return ctx.Streams[r.Of[0]].Name }},
	}}.Table(streams)
	t.Note = "Busy: time with at least one operation on the stream. Total: durations added up, so overlapping operations all count."
	return doc.Section{Title: "Streams", Blocks: []doc.Block{t.WithoutEmpty()}}
}

func Distributions(ctx *section.Context) doc.Section {
	blocks := ctx.Pictures("durations.png")
	if len(blocks) == 0 {
		return doc.Section{}
	}
	return doc.Section{Title: "Kernel and gap durations", Blocks: blocks}
}

// linkShare returns the part of the link's rate that copies reached, or "".
func linkShare(l view.HostLink, name string, bytes, ns int64) string {
	share, ok := l.Share(name, bytes, ns)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%.0f%%", 100*share)
}

// linkNote explains the column of shares of a link.
func linkNote(l view.HostLink) string {
	if l.Rate == 0 {
		return ""
	}
	return fmt.Sprintf(" %% of link: the rate compared with %s in practice, %d GB/s. Copies of pageable memory and many small copies reach only a part of it.",
		l.Name, l.Rate/1e9)
}
