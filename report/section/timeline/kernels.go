package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
	"assay/summary/view"
)

// streamList returns up to four stream numbers, or the number of streams.
func streamList(k view.Kernel) string {
	if len(k.Streams) > 4 {
		return label.Plural(int64(len(k.Streams)), "stream")
	}
	var parts []string
	for _, n := range slices.Sorted(maps.Keys(k.Streams)) {
		parts = append(parts, fmt.Sprint(n))
	}
	return strings.Join(parts, ", ")
}

// launchedBy returns the operator that launched most of a kernel's total time.
func launchedBy(k view.Kernel) string {
	best, most := "", int64(-1)
	for _, op := range slices.Sorted(maps.Keys(k.Ops)) {
		if op != "" && k.Ops[op] > most {
			best, most = op, k.Ops[op]
		}
	}
	if best == "" {
		return ""
	}
	text := label.Clip(label.Clean(best), 40)
	if n := len(k.Ops); n > 1 {
		text += fmt.Sprintf(" (%s)", unit.Share(most, k.Total))
	}
	return text
}

func KernelTable(ctx *section.Context) doc.Section {
	if len(ctx.ByName) == 0 {
		return doc.Section{}
	}
	shown := ctx.ByName[:min(section.MaxKernels, len(ctx.ByName))]
	var means, longest []int64
	for _, k := range shown {
		means = append(means, doc.Mean(k.Total, k.Count), k.Min)
		longest = append(longest, k.Max)
	}
	total, each, most := doc.ScaleOf(ctx.ByName[0].Total), doc.ScaleOf(means...), doc.ScaleOf(longest...)
	t := doc.Table{Title: "kernels", More: doc.Rest{Total: ctx.KernelNS, Of: "total kernel time"}, Columns: []doc.Column{
		doc.Col("kernel", doc.KernelName), doc.Col("%", doc.Number), doc.Col(total.Head("total"), doc.Number), doc.Col("launches", doc.Number),
		doc.Col(each.Head("mean"), doc.Number), doc.Col(each.Head("min"), doc.Number), doc.Col(most.Head("max"), doc.Number),
		doc.Col("class", doc.Text), doc.Col("category", doc.Text), doc.Col("streams", doc.Text), doc.Col("launched by", doc.Name),
	}}
	for _, k := range shown {
		t.Rows = append(t.Rows, doc.Row{Weight: k.Total, Cells: []string{
			k.Name, unit.Share(k.Total, ctx.KernelNS), total.Text(k.Total), unit.Count(k.Count),
			each.Text(doc.Mean(k.Total, k.Count)), each.Text(k.Min), most.Text(k.Max),
			label.Clip(label.Clean(k.Class), 20), k.Category, streamList(k), launchedBy(k),
		}})
	}
	for _, k := range ctx.ByName[len(shown):] {
		t.More.Rows++
		t.More.Weight = summary.Plus(t.More.Weight, k.Total)
	}
	t.Note = fmt.Sprintf("%% of total kernel time: %s on all GPUs and streams; kernels that run at the same time all count. ", unit.Duration(ctx.KernelNS))
	t.Note += "Each row is a sum over streams, GPUs and operators. Long names are shortened; the JSON has the full names."
	return doc.Section{Title: "Kernels", Blocks: append(ctx.Pictures("top-kernels.png"), t.WithoutEmpty())}
}

// Categories returns the total kernel time by category.
func Categories(ctx *section.Context) doc.Section {
	type key struct{ class, category string }
	sums := map[key]*view.Kernel{}
	names := map[key]int64{}
	for _, k := range ctx.ByName {
		at := key{label.Clip(label.Clean(k.Class), 20), k.Category}
		if sums[at] == nil {
			sums[at] = &view.Kernel{}
		}
		sums[at].Count = summary.Plus(sums[at].Count, k.Count)
		sums[at].Total = summary.Plus(sums[at].Total, k.Total)
		names[at]++
	}
	keys := slices.SortedFunc(maps.Keys(sums), func(a, c key) int {
		return cmp.Or(cmp.Compare(sums[c].Total, sums[a].Total), cmp.Compare(a.category, c.category), cmp.Compare(a.class, c.class))
	})
	if len(keys) == 0 {
		return doc.Section{}
	}
	total := doc.ScaleOf(sums[keys[0]].Total)
	t := doc.Table{Title: "categories", More: doc.Rest{Total: ctx.KernelNS, Of: "total kernel time"}, Columns: []doc.Column{
		doc.Col("category", doc.Text), doc.Col("class", doc.Text), doc.Col("%", doc.Number), doc.Col(total.Head("total"), doc.Number), doc.Col("launches", doc.Number), doc.Col("kernels", doc.Number),
	}}
	for _, k := range keys {
		t.Rows = append(t.Rows, doc.Row{Weight: sums[k].Total, Cells: []string{
			k.category, k.class, unit.Share(sums[k].Total, ctx.KernelNS), total.Text(sums[k].Total), unit.Count(sums[k].Count), unit.Count(names[k]),
		}})
	}
	t.Note = "% of total kernel time."
	return doc.Section{Title: "Kernel categories", Blocks: []doc.Block{t.Cut(section.MaxKernels)}}
}

// Unclassified lists the kernels that match no rule and take over 1% of the total kernel
// time.
func Unclassified(ctx *section.Context) doc.Section {
	scale := doc.ScaleOf()
	t := doc.Table{Title: "kernels"}
	for _, k := range ctx.ByName {
		if k.Category != "other" || k.Total <= ctx.KernelNS/100 {
			continue
		}
		if len(t.Rows) == 0 {
			scale = doc.ScaleOf(k.Total)
		}
		t.Rows = append(t.Rows, doc.Row{Weight: k.Total, Cells: []string{k.Name, unit.Share(k.Total, ctx.KernelNS), scale.Text(k.Total), unit.Count(k.Count)}})
	}
	if len(t.Rows) == 0 {
		return doc.Section{}
	}
	t.Columns = []doc.Column{doc.Col("kernel", doc.KernelName), doc.Col("%", doc.Number), doc.Col(scale.Head("total"), doc.Number), doc.Col("launches", doc.Number)}
	t.Note = "% of total kernel time."
	return doc.Section{Title: "Unclassified kernels", Blocks: []doc.Block{
		doc.Paragraph{Text: "These kernels match no rule and each takes over 1% of the total kernel time. They count as compute. To classify them, write a rule file and pass it with --rules FILE."}, t,
	}}
}

// A copySum adds up all copies or memsets of one name, over all GPUs and streams.
type copySum struct {
	name, class  string
	count, total int64
	bytes, told  int64 // of the rows whose bytes are recorded: bytes and ns
	all          bool  // the bytes of all rows are recorded
}

func sumCopies(s *summary.Summary) (out []copySum, work int64) {
	out = view.Group(s.Copies, func(c *summary.Copy) [2]string { return [2]string{c.Name, c.Class} }, func(c *summary.Copy) copySum {
		return copySum{name: c.Name, class: c.Class, all: true}
	}, func(sum *copySum, c *summary.Copy) {
		work = summary.Plus(work, c.TotalNS)
		sum.count = summary.Plus(sum.count, c.Count)
		sum.total = summary.Plus(sum.total, c.TotalNS)
		if c.Bytes == nil {
			sum.all = false
			return
		}
		sum.bytes = summary.Plus(sum.bytes, *c.Bytes)
		sum.told = summary.Plus(sum.told, c.TotalNS)
	})
	slices.SortFunc(out, func(a, b copySum) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.name, b.name), cmp.Compare(a.class, b.class))
	})
	return out, work
}

func Copies(ctx *section.Context) doc.Section {
	sums, work := sumCopies(ctx.Summary)
	if len(sums) == 0 {
		return doc.Section{}
	}
	var means []int64
	for _, c := range sums {
		means = append(means, doc.Mean(c.total, c.count))
	}
	total, each := doc.ScaleOf(sums[0].total), doc.ScaleOf(means...)
	t := doc.Table{Title: "kinds of copies", More: doc.Rest{Total: work, Of: "copy and memset time"}, Columns: []doc.Column{
		doc.Col("copy", doc.Name), doc.Col("class", doc.Text), doc.Col("%", doc.Number), doc.Col(total.Head("total"), doc.Number), doc.Col("count", doc.Number), doc.Col(each.Head("mean"), doc.Number),
		doc.Col("bytes", doc.Number), doc.Col("bytes / total time", doc.Number), doc.Col("% of link", doc.Number),
	}}
	link := view.LinkOf(ctx.Devices)
	for i, c := range sums {
		bytes, rate, used := unit.None, unit.None, ""
		if c.all || c.told > 0 {
			bytes, rate, used = unit.FineBytes(c.bytes), unit.Rate(c.bytes, c.told), linkShare(link, c)
			if !c.all {
				bytes = "≥ " + bytes
			}
		}
		t.Rows = append(t.Rows, doc.Row{Weight: c.total, Cells: []string{
			c.name, label.Clip(label.Clean(c.class), 20), unit.Share(c.total, work), total.Text(c.total), unit.Count(c.count), each.Text(means[i]), bytes, rate, used,
		}})
	}
	t.Note = fmt.Sprintf("%% of the total time of copies and memsets: %s. The rate is bytes / total time of the rows with recorded bytes. "+
		"\"≥\": the bytes of some rows are not recorded.", unit.Duration(work)) + linkNote(link)
	return doc.Section{Title: "Copies and memsets", Blocks: []doc.Block{t.Cut(section.MaxKernels).WithoutEmpty()}}
}

// maxStreams is the largest number of streams that a table shows.
const maxStreams = 32

func Streams(ctx *section.Context) doc.Section {
	if len(ctx.Streams) == 0 {
		return doc.Section{}
	}
	window := map[view.DeviceKey]int64{}
	for _, d := range ctx.Devices {
		window[view.DeviceKey{Input: d.Input, Rank: d.Rank, Device: d.Device}] = d.WindowNS
	}
	rows := slices.Clone(ctx.Streams)
	slices.SortStableFunc(rows, func(a, c summary.Stream) int { return cmp.Compare(c.WorkNS, a.WorkNS) })
	scale, several := doc.ScaleOf(rows[0].WorkNS), view.Numbered(ctx.Summary)
	t := doc.Table{Title: "streams", Columns: []doc.Column{
		doc.Col("GPU", doc.Text), doc.Col("stream", doc.Number), doc.Col("name", doc.Name), doc.Col("kernels", doc.Number), doc.Col("copies, memsets", doc.Number),
		doc.Col(scale.Head("busy"), doc.Number), doc.Col("busy % of window", doc.Number), doc.Col(scale.Head("total"), doc.Number),
	}}
	for _, r := range rows {
		at := view.DeviceKey{Input: r.Input, Rank: r.Rank, Device: r.Device}
		place, ok := ctx.Place[at]
		if !ok {
			place = view.DeviceLabel(at, several)
		}
		t.More.Total = summary.Plus(t.More.Total, r.WorkNS)
		t.Rows = append(t.Rows, doc.Row{Weight: r.WorkNS, Cells: []string{
			place, fmt.Sprint(r.Stream), r.Name, unit.Count(r.Kernels), unit.Count(r.Others),
			scale.Text(r.BusyNS), unit.Share(r.BusyNS, window[at]), scale.Text(r.WorkNS),
		}})
	}
	t.More.Of = "total time"
	t.Note = "Busy: time with at least one operation on the stream. Total: durations added up, so overlapping operations all count."
	return doc.Section{Title: "Streams", Blocks: []doc.Block{t.Cut(maxStreams).WithoutEmpty()}}
}

func Distributions(ctx *section.Context) doc.Section {
	blocks := ctx.Pictures("durations.png")
	if len(blocks) == 0 {
		return doc.Section{}
	}
	return doc.Section{Title: "Kernel and gap durations", Blocks: blocks}
}

// linkShare returns the part of the link's rate that copies reached, or "".
func linkShare(l view.HostLink, c copySum) string {
	share, ok := l.Share(c.name, c.bytes, c.told)
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
