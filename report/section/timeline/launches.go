package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/show"
	"assay/summary"
	"assay/summary/row"
	"assay/summary/view"
)

// The largest numbers of rows of the tables on launches.
const (
	maxCalls  = 20
	maxGraphs = 20
)

// knownLaunches returns the rows of GPUs that the summary lists, and the index of each
// GPU. The GPU with the largest share of idle time is first.
func knownLaunches(ctx *section.Context) (rows []summary.Launches, at []int) {
	of := map[summary.GPU]summary.Launches{}
	for _, l := range ctx.Launches {
		of[summary.GPU{Input: l.Input, Rank: l.Rank, Device: l.Device}] = l
	}
	for i, d := range ctx.Devices {
		if _, ok := of[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}]; ok {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(i, j int) int {
		return cmp.Compare(view.IdleShare(ctx.Devices[j].Activity), view.IdleShare(ctx.Devices[i].Activity))
	})
	for _, i := range at {
		d := ctx.Devices[i]
		rows = append(rows, of[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}])
	}
	return rows, at
}

// Launches returns how GPU operations were launched, and how long they waited in the
// queue.
func Launches(ctx *section.Context) doc.Section {
	rows, at := knownLaunches(ctx)
	if len(rows) == 0 {
		return doc.Section{}
	}
	t := doc.Table{Title: "GPUs", Columns: []doc.Column{
		doc.Col("GPU", doc.Text), doc.Col("launch calls", doc.Number), doc.Col("GPU operations", doc.Number), doc.Col("without a call", doc.Number), doc.Col("queue time, median", doc.Number), doc.Col("queue time, p99", doc.Number),
		doc.Col("short kernels", doc.Number), doc.Col("% of launches", doc.Number), doc.Col("% of kernel time", doc.Number), doc.Col("calls per step, median", doc.Number), doc.Col("min–max", doc.Number),
	}}
	for i, l := range rows {
		kernels := ctx.Devices[at[i]].Durations
		steps, spread := "", ""
		if len(l.PerStep) > 0 {
			steps = unit.Count(stat.Median(l.PerStep))
			spread = unit.Count(slices.Min(l.PerStep)) + "–" + unit.Count(slices.Max(l.PerStep))
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{
			ctx.Labels[at[i]], unit.Count(l.Calls), unit.Count(l.Launched), unit.Count(l.Without),
			quantile(l.Delays, fraction{1, 2}), quantile(l.Delays, fraction{99, 100}),
			unit.Count(l.Short), unit.Share(l.Short, kernels.Count()), unit.Share(l.ShortNS, kernels.TotalNS()), steps, spread,
		}})
	}
	t.Note = fmt.Sprintf("Queue time: from the end of the launch call to the start of the operation. Short kernels take "+
		"under %s, about the time of a launch. Tables of launch sites omit operations without a call.", unit.Duration(summary.ShortKernelNS))
	blocks := append([]doc.Block{doc.Paragraph{Text: launchSentence(ctx, rows, at)}}, ctx.Pictures("queue.png")...)
	blocks = append(blocks, t.Cut(section.MaxDevices).WithoutEmpty())
	if queue, ok := queueTable(ctx, rows, at); ok {
		blocks = append(blocks, queue)
	}
	return doc.Section{Title: "Launches", Blocks: blocks}
}

// A launchSum is the sum of rows on launches.
type launchSum struct {
	calls, launched, without, withoutNS int64
	short, kernels                      int64
	delays                              summary.Histogram
}

func sumLaunches(ctx *section.Context, rows []summary.Launches, at []int) (sum launchSum) {
	for i, l := range rows {
		sum.calls, sum.launched = sum.calls+l.Calls, sum.launched+l.Launched
		sum.without, sum.short = sum.without+l.Without, sum.short+l.Short
		sum.withoutNS += l.WithoutNS
		sum.kernels = summary.Plus(sum.kernels, ctx.Devices[at[i]].Durations.Count())
		sum.delays = sum.delays.Plus(l.Delays)
	}
	return sum
}

// launchSentence summarizes the launches, for the report and for the screen.
func launchSentence(ctx *section.Context, rows []summary.Launches, at []int) string {
	sum := sumLaunches(ctx, rows, at)
	work := sum.launched + sum.without
	text := fmt.Sprintf("%s launched %s of %s", label.Plural(sum.calls, "call"), unit.Count(sum.launched), label.Plural(work, "GPU operation"))
	if sum.withoutNS > 0 {
		text += fmt.Sprintf("; the others take %s of total GPU time (%s)", unit.Share(sum.withoutNS, view.GPUWork(ctx.Summary)), unit.Duration(sum.withoutNS))
	}
	if sum.delays.Count() > 0 {
		text += fmt.Sprintf("; queue time: median %s, p99 %s", quantile(sum.delays, fraction{1, 2}), quantile(sum.delays, fraction{99, 100}))
	}
	if sum.kernels > 0 {
		text += fmt.Sprintf("; short kernels (under %s): %s of launches", unit.Duration(summary.ShortKernelNS), unit.Share(sum.short, sum.kernels))
	}
	return text + "."
}

// queueTable returns for how much of the window the queue had each length.
func queueTable(ctx *section.Context, rows []summary.Launches, at []int) (doc.Table, bool) {
	sums := map[int64]int64{}
	window := int64(0)
	for i, l := range rows {
		for _, q := range l.Queue {
			sums[q.From] += q.NS
		}
		if len(l.Queue) > 0 {
			window = summary.Plus(window, ctx.Devices[at[i]].WindowNS)
		}
	}
	if len(sums) == 0 {
		return doc.Table{}, false
	}
	depths := slices.Sorted(maps.Keys(sums))
	scale := doc.ScaleOf(slices.Collect(maps.Values(sums))...)
	t := doc.Table{Title: "lengths", More: doc.Rest{Total: window, Of: "the window"}, Columns: []doc.Column{doc.Col("queue length", doc.Text), doc.Col(scale.Head("time"), doc.Number), doc.Col("% of window", doc.Number)}}
	for i, from := range depths {
		text := unit.Count(from) + " or more"
		if i+1 < len(depths) && depths[i+1]-1 == from {
			text = unit.Count(from)
		} else if i+1 < len(depths) {
			text = unit.Count(from) + "–" + unit.Count(depths[i+1]-1)
		}
		t.Rows = append(t.Rows, doc.Row{Weight: sums[from], Cells: []string{text, scale.Text(sums[from]), unit.Share(sums[from], window)}})
	}
	t.Note = "Queue length: GPU operations queued and not started. While it is 0, the GPU has no next operation."
	if len(rows) > 1 {
		t.Note += fmt.Sprintf(" Times are sums over %d GPUs.", len(rows))
	}
	return t.Cut(section.MaxDevices), true
}

// Calls lists the functions of the CUDA runtime and driver. For blocking calls it splits
// the wait into GPU busy and GPU idle: a wait while the GPU is busy costs nothing if the
// next operations are already launched.
func Calls(ctx *section.Context) doc.Section {
	calls := summary.Calls().By(ctx.Calls, "call", "kind")
	if len(calls.Rows) == 0 {
		return doc.Section{}
	}
	// Calls wait for a GPU by their kind or as measured.
	waits := func(r *row.Row) bool {
		return calls.Text(r, "kind") == "sync" || calls.Number(r, "waiting") != 0 || calls.Number(r, "idle") != 0
	}
	all, waited, lost := calls.Whole, calls.Sum("waiting"), calls.Sum("idle")
	scale := doc.ScaleOf(calls.Main(&calls.Rows[0]))
	blocked := func(ns func(r *row.Row) int64) show.Cell {
		return show.Cell{Kind: doc.Number, Text: func(r *row.Row) string {
			if !waits(r) {
				return ""
			}
			return scale.Text(ns(r))
		}}
	}
	// Launches take microseconds and waits take seconds, so each mean and maximum
	// has its own unit. In a common unit, launches would have no digits.
	own := func(name string) show.Cell {
		return show.Cell{Kind: doc.Number, Text: func(r *row.Row) string { return doc.FourDigits(calls.Number(r, name)) }}
	}
	t := show.View{Most: maxCalls, Title: "functions", Columns: "call;kind;total;%;calls;mean;max;launches;" + scale.Head("blocked, GPU busy") + "=busy;" + scale.Head("blocked, GPU idle") + "=idle",
		Cells: map[string]show.Cell{
			"mean": own("mean"), "max": own("max"),
			"busy": blocked(func(r *row.Row) int64 {
				return calls.Number(r, "waiting") - max(0, calls.Number(r, "idle"))
			}),
			"idle": blocked(func(r *row.Row) int64 { return calls.Number(r, "idle") }),
		}}.Table(calls)
	t.Note = fmt.Sprintf("CPU time on all threads; %% of the total time in calls (%s).", unit.Duration(all))
	var blocks []doc.Block
	if waited > 0 {
		busy := waited - max(0, lost)
		text := fmt.Sprintf("Blocking calls (synchronization, and copies that ended before their call returned) took %s. A GPU was busy for %s (%s) of it. "+
			"All GPUs were idle for the other %s (%s).", unit.Duration(waited), unit.Duration(busy), unit.Share(busy, waited),
			unit.Duration(lost), unit.Share(lost, waited))
		blocks = append(blocks, doc.Paragraph{Text: text + savedByNotWaiting(ctx)})
	}
	if n := calls.Sum("calls in steps"); n > 0 {
		blocks = append(blocks, doc.Paragraph{Text: fmt.Sprintf("Inside steps, %s allocated or freed GPU memory (cudaMalloc, cudaFree). After warm-up a caching allocator needs none.", label.Plural(n, "call"))})
	}
	return doc.Section{Title: "CUDA API calls", Blocks: append(blocks, t.WithoutEmpty())}
}

// savedByNotWaiting returns the idle time that follows from late launches after waits.
func savedByNotWaiting(ctx *section.Context) string {
	lost := int64(0)
	for _, r := range ctx.Syncs {
		lost += r.LostNS
	}
	for _, r := range ctx.CopyCalls {
		lost += r.LostNS
	}
	if lost == 0 {
		return ""
	}
	return fmt.Sprintf(" A blocked CPU also launches the next operations late. Without the waits, up to %s (%s) of the %s of idle time could be saved.",
		unit.Duration(lost), unit.Share(lost, ctx.Total.Idle()), unit.Duration(ctx.Total.Idle()))
}

// Graphs lists CUDA and HIP graphs, the graph with the longest span first.
func Graphs(ctx *section.Context) doc.Section {
	if len(ctx.Graphs) == 0 {
		return doc.Section{}
	}
	rows := slices.Clone(ctx.Graphs)
	slices.SortStableFunc(rows, func(a, c summary.Graph) int {
		return cmp.Or(cmp.Compare(c.SpanNS, a.SpanNS), cmp.Compare(a.Input, c.Input), cmp.Compare(a.Rank, c.Rank),
			cmp.Compare(a.Device, c.Device), cmp.Compare(a.ID, c.ID))
	})
	var spans, delays, hosts []int64
	total := int64(0)
	for _, g := range rows {
		total += g.SpanNS
		spans = append(spans, g.SpanNS, g.WorkNS)
		delays = append(delays, doc.Mean(g.DelayNS, g.Launches))
		hosts = append(hosts, doc.Mean(g.CallNS, g.Launches))
	}
	span, delay, host := doc.ScaleOf(spans...), doc.ScaleOf(delays...), doc.ScaleOf(hosts...)
	t := doc.Table{Title: "graphs", More: doc.Rest{Total: total, Of: "the time in graphs"}, Columns: []doc.Column{
		doc.Col("GPU", doc.Text), doc.Col("graph", doc.Number), doc.Col("call", doc.Name), doc.Col("launches", doc.Number), doc.Col("nodes", doc.Number), doc.Col(span.Head("span"), doc.Number), doc.Col(span.Head("total"), doc.Number),
		doc.Col("idle in span", doc.Number), doc.Col(delay.Head("mean queue time"), doc.Number), doc.Col(host.Head("mean call"), doc.Number), doc.Col("first operation", doc.KernelName),
	}}
	several := view.Numbered(ctx.Summary)
	for i, g := range rows {
		place, ok := ctx.Place[summary.GPU{Input: g.Input, Rank: g.Rank, Device: g.Device}]
		if !ok {
			place = view.DeviceLabel(summary.GPU{Input: g.Input, Rank: g.Rank, Device: g.Device}, several)
		}
		nodes, idle := unit.Count(g.Nodes), unit.Share(g.IdleNS, g.SpanNS)
		if g.Opaque {
			nodes, idle = unit.None, unit.None
		}
		t.Rows = append(t.Rows, doc.Row{Weight: g.SpanNS, Cells: []string{
			place, fmt.Sprint(g.ID), g.Call, unit.Count(g.Launches), nodes, span.Text(g.SpanNS), span.Text(g.WorkNS), idle,
			delay.Text(delays[i]), host.Text(hosts[i]), g.First,
		}})
	}
	t.Note = "Span: from the first start to the last end of a launch, added up over the launches. Total: durations of the operations, added up. " +
		"Queue time: from the end of the call to the first start. " + unit.None + ": the profiler did not record the nodes."
	return doc.Section{Title: "Graphs", Blocks: []doc.Block{t.Cut(maxGraphs)}}
}
