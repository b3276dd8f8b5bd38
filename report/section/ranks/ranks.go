package ranks

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
	"assay/summary/view"
)

// screenRanks is the maximum number of ranks in the one-screen summary.
const screenRanks = 4

// maxCollectives is the maximum number of kinds of collectives in the report.
const maxCollectives = 25

// screenJobs is the maximum number of runs whose ranks the one-screen summary compares.
const screenJobs = 2

// Screen returns a section for each run with the ranks for which the others wait most.
func Screen(ctx *section.Context) (out []doc.Section) {
	for _, job := range view.Jobs(ctx.Summary) {
		if w := waitsOf(ctx, job); w.wait > 0 && len(out) < screenJobs {
			out = append(out, w.screen(ctx))
		}
	}
	return out
}

func (w *waits) screen(ctx *section.Context) doc.Section {
	scale := doc.ScaleOf(w.longest)
	t := doc.Table{Title: "ranks", More: doc.Rest{Total: w.wait, Of: "waiting"}, Columns: []doc.Column{
		doc.Col("% of wait caused", doc.Number), doc.Col("came last in", doc.Number), doc.Col("of collectives", doc.Number),
		doc.Col(scale.Head("own wait"), doc.Number), doc.Col("rank", doc.Text),
	}}
	for _, r := range w.rows {
		t.Rows = append(t.Rows, doc.Row{Weight: r.CausedNS, Cells: []string{
			unit.Share(r.CausedNS, w.wait), unit.Count(r.Last), unit.Count(r.Collectives), scale.Text(r.WaitNS), w.name(ctx, r),
		}})
	}
	title := "Waiting in collectives"
	if w.job != "" {
		title += " of the run " + w.job
	}
	return doc.Section{
		Title: fmt.Sprintf("%s (%s per GPU, %s of the window; transfer %s)", title, unit.Duration(doc.Mean(w.wait, w.n)),
			unit.Share(w.wait, w.window), unit.Duration(doc.Mean(w.transfer, w.n))),
		Blocks: []doc.Block{t.Cut(screenRanks)},
	}
}

// waits are the ranks of a run, those for which the others wait most first.
type waits struct {
	job                    string // the name of the run if there are several
	rows                   []summary.RankWait
	n                      int64 // GPUs
	wait, transfer, window int64 // ns over all GPUs
	longest                int64 // wait of one GPU
	several                bool  // a rank has several GPUs
}

func waitsOf(ctx *section.Context, job int) waits {
	w := waits{job: label.Clip(label.Clean(view.JobName(ctx.Summary, job)), 30)}
	seen := map[int]bool{}
	same := view.SameGPU(ctx.Summary)
	for _, r := range view.WaitsOfGPUs(ctx.Summary) {
		if r.Job != job {
			continue
		}
		w.rows, w.n = append(w.rows, r), w.n+1
		w.wait, w.transfer = w.wait+r.WaitNS, w.transfer+r.TransferNS
		w.longest = max(w.longest, r.WaitNS)
		w.several = w.several || seen[r.Rank]
		seen[r.Rank] = true
		for _, d := range ctx.Devices {
			if same(summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}) == (summary.GPU{Input: r.Input, Rank: r.Rank, Device: r.Device}) {
				w.window = summary.Plus(w.window, d.WindowNS)
			}
		}
	}
	slices.SortStableFunc(w.rows, func(a, b summary.RankWait) int { return cmp.Compare(b.CausedNS, a.CausedNS) })
	return w
}

// name returns the display name of a rank.
func (w waits) name(ctx *section.Context, r summary.RankWait) string {
	if w.several {
		return ctx.Place[summary.GPU{Input: r.Input, Rank: r.Rank, Device: r.Device}]
	}
	return "rank " + strconv.Itoa(r.Rank)
}

// Ranks returns the table of all ranks, and the pictures that compare them.
func Ranks(ctx *section.Context) doc.Section {
	compared := ctx.Pictures("ranks-waits.png", "ranks-budget.png", "ranks-activity.png", "ranks-time.png",
		"ranks-phases.png", "ranks-steps.png")
	if text := evenText(ctx); text != "" {
		compared = append(compared, doc.Paragraph{Text: text})
	}
	var tables []doc.Block
	for _, job := range view.Jobs(ctx.Summary) {
		if w := waitsOf(ctx, job); w.wait+w.transfer > 0 {
			tables = append(tables, w.table(ctx)...)
		}
	}
	switch {
	case tables != nil:
		return doc.Section{Title: "Ranks", Blocks: append(tables, compared...)}
	case len(compared) > 0 && len(view.Pipelines(ctx.Summary)) > 0:
		return doc.Section{Title: "Ranks", Blocks: compared}
	case len(compared) > 0:
		return doc.Section{Title: "Ranks", Blocks: append([]doc.Block{doc.Paragraph{Text: "The waiting of each rank in collectives is unknown."}}, compared...)}
	}
	return doc.Section{}
}

// table returns all ranks of a run, sorted by rank and GPU.
func (w *waits) table(ctx *section.Context) []doc.Block {
	slices.SortStableFunc(w.rows, func(a, b summary.RankWait) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Device, b.Device))
	})
	own, caused := doc.ScaleOf(w.longest), int64(0)
	for _, r := range w.rows {
		caused = max(caused, r.CausedNS)
	}
	cause := doc.ScaleOf(caused)
	t := doc.Table{Title: "ranks", More: doc.Rest{Total: w.wait, Of: "waiting"}, Columns: []doc.Column{
		doc.Col("rank", doc.Text), doc.Col("collectives", doc.Number), doc.Col("incomplete", doc.Number),
		doc.Col(own.Head("transfer"), doc.Number), doc.Col(own.Head("own wait"), doc.Number),
		doc.Col("last", doc.Number), doc.Col(cause.Head("wait caused"), doc.Number), doc.Col("% caused", doc.Number),
		doc.Col("clock offset (µs)", doc.Number), doc.Col("residual (µs)", doc.Number),
	}}
	for _, r := range w.rows {
		t.Rows = append(t.Rows, doc.Row{Weight: r.CausedNS, Cells: []string{
			w.name(ctx, r), unit.Count(r.Collectives), countOrNone(r.Incomplete), own.Text(r.TransferNS), own.Text(r.WaitNS),
			unit.Count(r.Last), cause.Text(r.CausedNS), unit.Share(r.CausedNS, w.wait), micros(r.OffsetNS), micros(r.ResidualNS),
		}})
	}
	t.Note = "Transfer: the shortest duration among the ranks, added up over the collectives. Own wait: the rest of this rank's durations. " +
		"Last: collectives to which the rank came last, late enough to matter. Wait caused: sum of the waiting of all other ranks in them. " +
		"Incomplete: collectives that not every rank recorded; no sum has them. " +
		"Clock offset: by the ends of matched collectives, against the first rank; sums do not use it."
	lead := fmt.Sprintf("Waiting takes %s of the time in matched collectives (%s of %s per GPU).",
		unit.Share(w.wait, w.wait+w.transfer),
		unit.Duration(doc.Mean(w.wait, w.n)), unit.Duration(doc.Mean(w.wait+w.transfer, w.n)))
	if w.job != "" {
		lead = "Run " + w.job + ". " + lead
	}
	return []doc.Block{doc.Paragraph{Text: lead}, t.Cut(section.MaxDevices).WithoutEmpty()}
}

// leastEvenSteps is the minimum number of steps for comparing the ranks by steps.
const leastEvenSteps = 3

// evenText states which times are equal on all ranks, or returns "".
func evenText(ctx *section.Context) string {
	devices := view.RankDevices(ctx.Summary)
	if devices == nil {
		return ""
	}
	var equal []string
	most := 0.0
	add := func(name string, rows []view.RankRow, least int) {
		if apart := view.Apart(rows); len(rows) >= least && apart <= view.EvenRanks {
			equal, most = append(equal, name), max(most, apart)
		}
	}
	phases, _ := view.PhasesOfRanks(ctx.Summary, devices)
	add("phases", phases, 1)
	add("steps", view.StepsOfRanks(ctx.Summary, devices), leastEvenSteps)
	if equal == nil {
		return ""
	}
	return fmt.Sprintf("The times of %s differ by at most %.1f%% from the median of the ranks.",
		strings.Join(equal, " and "), max(0.1, 100*most))
}

// Collectives returns the table of collectives by group, kind and size.
func Collectives(ctx *section.Context) doc.Section {
	if len(ctx.Summary.Collectives) == 0 {
		return doc.Section{}
	}
	total := int64(0)
	var means []int64
	for _, c := range ctx.Summary.Collectives {
		if c.TransferNS != nil {
			total += *c.TransferNS
			means = append(means, doc.Mean(*c.TransferNS, c.Count))
		}
	}
	each := doc.ScaleOf(means...)
	t := doc.Table{Title: "kinds of collectives", More: doc.Rest{Total: total, Of: "transfer"}, Columns: []doc.Column{
		doc.Col("operation", doc.Text), doc.Col("group", doc.Name), doc.Col("ranks", doc.Number), doc.Col("type", doc.Text),
		doc.Col("size", doc.Number), doc.Col("count", doc.Number), doc.Col("incomplete", doc.Number),
		doc.Col(each.Head("mean transfer"), doc.Number), doc.Col("% waiting", doc.Number),
		doc.Col("algbw (GB/s)", doc.Number), doc.Col("busbw (GB/s)", doc.Number),
	}}
	partial := false
	for _, c := range ctx.Summary.Collectives {
		row := doc.Row{Cells: []string{c.Op, cmp.Or(c.Group, c.GroupRanks), ranksOf(c), c.Dtype, sizeOf(c),
			unit.Count(c.Count), countOrNone(c.Incomplete), "", "", speed(c.AlgBWGBps), speed(c.BusBWGBps)}}
		if c.TransferNS != nil && c.Count > 0 {
			row.Weight = *c.TransferNS
			row.Cells[7] = each.Text(doc.Mean(*c.TransferNS, c.Count))
			row.Cells[8] = waitingOf(c)
		}
		partial = partial || c.Partial
		t.Rows = append(t.Rows, row)
	}
	t.Note = "Transfer: the shortest duration among the ranks. % waiting: the rest of the durations, over all ranks. " +
		"Algbw is size / transfer, busbw is algbw times the factor of the operation, as in nccl-tests."
	if partial {
		t.Note += " \"2 of 128\": the other ranks of the group were not given. One of them may have come last, so bandwidths are left out."
	}
	return doc.Section{Title: "Collectives", Blocks: []doc.Block{t.Cut(maxCollectives).WithoutEmpty()}}
}

// waitingOf returns the share of waiting in the durations of a row.
func waitingOf(c summary.Collective) string {
	durations := *c.WaitNS
	for range c.Ranks {
		durations += *c.TransferNS
	}
	return unit.Share(*c.WaitNS, durations)
}

func ranksOf(c summary.Collective) string {
	if c.Partial {
		return fmt.Sprintf("%d of %d", c.Ranks, c.GroupSize)
	}
	return strconv.Itoa(c.Ranks)
}

func sizeOf(c summary.Collective) string {
	if c.Bytes == nil {
		return ""
	}
	return unit.FineBytes(*c.Bytes)
}

// countOrNone prints a number that is usually 0; 0 is printed as an empty cell.
func countOrNone(n int64) string {
	if n == 0 {
		return ""
	}
	return unit.Count(n)
}

func speed(gbps *float64) string {
	if gbps == nil {
		return ""
	}
	return strconv.FormatFloat(*gbps, 'f', 1, 64)
}

// micros prints a time in ns as µs with one decimal.
func micros(ns *int64) string {
	if ns == nil {
		return ""
	}
	return strconv.FormatFloat(float64(*ns)/1000, 'f', 1, 64)
}
