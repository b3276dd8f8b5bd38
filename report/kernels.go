package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
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

// maxKernels is how many kernels the report lists.
const maxKernels = 25

func (b *builder) kernelTable() Section {
	if len(b.kernels) == 0 {
		return Section{}
	}
	shown := b.kernels[:min(maxKernels, len(b.kernels))]
	var means, longest []int64
	for _, k := range shown {
		means = append(means, mean(k.Total, k.Count), k.Min)
		longest = append(longest, k.Max)
	}
	total, each, most := scaleOf(b.kernels[0].Total), scaleOf(means...), scaleOf(longest...)
	t := Table{Title: "kernels", More: Rest{Total: b.work, Of: "total kernel time"}, Columns: []Column{
		{"kernel", KernelName}, {"%", Number}, {total.head("total"), Number}, {"launches", Number},
		{each.head("mean"), Number}, {each.head("min"), Number}, {most.head("max"), Number},
		{"class", Text}, {"category", Text}, {"streams", Text}, {"launched by", Name},
	}}
	for _, k := range shown {
		t.Rows = append(t.Rows, Row{Weight: k.Total, Cells: []string{
			k.Name, unit.Share(k.Total, b.work), total.text(k.Total), unit.Count(k.Count),
			each.text(mean(k.Total, k.Count)), each.text(k.Min), most.text(k.Max),
			label.Clip(label.Clean(k.Class), 20), k.Category, streamList(k), launchedBy(k),
		}})
	}
	for _, k := range b.kernels[len(shown):] {
		t.More.Rows++
		t.More.Weight = summary.Plus(t.More.Weight, k.Total)
	}
	t.Note = fmt.Sprintf("%% of total kernel time: %s on all GPUs and streams; kernels that run at the same time all count. ", unit.Duration(b.work))
	t.Note += "Each row is a sum over streams, GPUs and operators. Long names are shortened; the JSON has the full names."
	return Section{Title: "Kernels", Blocks: append(b.pictures("top-kernels.png"), t.withoutEmpty())}
}

// categories returns the total kernel time by category.
func (b *builder) categories() Section {
	type key struct{ class, category string }
	sums := map[key]*view.Kernel{}
	names := map[key]int64{}
	for _, k := range b.kernels {
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
		return Section{}
	}
	total := scaleOf(sums[keys[0]].Total)
	t := Table{Title: "categories", More: Rest{Total: b.work, Of: "total kernel time"}, Columns: []Column{
		{"category", Text}, {"class", Text}, {"%", Number}, {total.head("total"), Number}, {"launches", Number}, {"kernels", Number},
	}}
	for _, k := range keys {
		t.Rows = append(t.Rows, Row{Weight: sums[k].Total, Cells: []string{
			k.category, k.class, unit.Share(sums[k].Total, b.work), total.text(sums[k].Total), unit.Count(sums[k].Count), unit.Count(names[k]),
		}})
	}
	t.Note = "% of total kernel time."
	return Section{Title: "Kernel categories", Blocks: []Block{t.cut(maxKernels)}}
}

// unclassified lists the kernels that match no rule and take over 1% of the total kernel
// time.
func (b *builder) unclassified() Section {
	scale := scaleOf()
	t := Table{Title: "kernels"}
	for _, k := range b.kernels {
		if k.Category != "other" || k.Total <= b.work/100 {
			continue
		}
		if len(t.Rows) == 0 {
			scale = scaleOf(k.Total)
		}
		t.Rows = append(t.Rows, Row{Weight: k.Total, Cells: []string{k.Name, unit.Share(k.Total, b.work), scale.text(k.Total), unit.Count(k.Count)}})
	}
	if len(t.Rows) == 0 {
		return Section{}
	}
	t.Columns = []Column{{"kernel", KernelName}, {"%", Number}, {scale.head("total"), Number}, {"launches", Number}}
	t.Note = "% of total kernel time."
	return Section{Title: "Unclassified kernels", Blocks: []Block{
		Paragraph{Text: "These kernels match no rule and each takes over 1% of the total kernel time. They count as compute. To classify them, write a rule file and pass it with --rules FILE."}, t,
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

func (b *builder) copies() Section {
	sums, work := sumCopies(b.Summary)
	if len(sums) == 0 {
		return Section{}
	}
	var means []int64
	for _, c := range sums {
		means = append(means, mean(c.total, c.count))
	}
	total, each := scaleOf(sums[0].total), scaleOf(means...)
	t := Table{Title: "kinds of copies", More: Rest{Total: work, Of: "copy and memset time"}, Columns: []Column{
		{"copy", Name}, {"class", Text}, {"%", Number}, {total.head("total"), Number}, {"count", Number}, {each.head("mean"), Number},
		{"bytes", Number}, {"bytes / total time", Number}, {"% of link", Number},
	}}
	link := linkOf(b.Devices)
	for i, c := range sums {
		bytes, rate, used := unit.None, unit.None, ""
		if c.all || c.told > 0 {
			bytes, rate, used = unit.FineBytes(c.bytes), unit.Rate(c.bytes, c.told), link.share(c.name, c.bytes, c.told)
			if !c.all {
				bytes = "≥ " + bytes
			}
		}
		t.Rows = append(t.Rows, Row{Weight: c.total, Cells: []string{
			c.name, label.Clip(label.Clean(c.class), 20), unit.Share(c.total, work), total.text(c.total), unit.Count(c.count), each.text(means[i]), bytes, rate, used,
		}})
	}
	t.Note = fmt.Sprintf("%% of the total time of copies and memsets: %s. The rate is bytes / total time of the rows with recorded bytes. "+
		"\"≥\": the bytes of some rows are not recorded.", unit.Duration(work)) + link.note()
	return Section{Title: "Copies and memsets", Blocks: []Block{t.cut(maxKernels).withoutEmpty()}}
}

// maxStreams is the largest number of streams that a table shows.
const maxStreams = 32

func (b *builder) streams() Section {
	if len(b.Streams) == 0 {
		return Section{}
	}
	window := map[view.DeviceKey]int64{}
	for _, d := range b.Devices {
		window[view.DeviceKey{Input: d.Input, Rank: d.Rank, Device: d.Device}] = d.WindowNS
	}
	rows := slices.Clone(b.Streams)
	slices.SortStableFunc(rows, func(a, c summary.Stream) int { return cmp.Compare(c.WorkNS, a.WorkNS) })
	scale, several := scaleOf(rows[0].WorkNS), view.Numbered(b.Summary)
	t := Table{Title: "streams", Columns: []Column{
		{"GPU", Text}, {"stream", Number}, {"name", Name}, {"kernels", Number}, {"copies, memsets", Number},
		{scale.head("busy"), Number}, {"busy % of window", Number}, {scale.head("total"), Number},
	}}
	for _, r := range rows {
		at := view.DeviceKey{Input: r.Input, Rank: r.Rank, Device: r.Device}
		place, ok := b.place[at]
		if !ok {
			place = view.DeviceLabel(at, several)
		}
		t.More.Total = summary.Plus(t.More.Total, r.WorkNS)
		t.Rows = append(t.Rows, Row{Weight: r.WorkNS, Cells: []string{
			place, fmt.Sprint(r.Stream), r.Name, unit.Count(r.Kernels), unit.Count(r.Others),
			scale.text(r.BusyNS), unit.Share(r.BusyNS, window[at]), scale.text(r.WorkNS),
		}})
	}
	t.More.Of = "total time"
	t.Note = "Busy: time with at least one operation on the stream. Total: durations added up, so overlapping operations all count."
	return Section{Title: "Streams", Blocks: []Block{t.cut(maxStreams).withoutEmpty()}}
}

func (b *builder) distributions() Section {
	blocks := b.pictures("durations.png")
	if len(blocks) == 0 {
		return Section{}
	}
	return Section{Title: "Kernel and gap durations", Blocks: blocks}
}
