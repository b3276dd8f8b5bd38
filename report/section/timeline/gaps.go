package timeline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/words"
	"assay/summary"
)

// A longGap is one gap and the index of its GPU.
type longGap struct {
	summary.Gap
	at int // index of the GPU
}

// Gaps lists the longest gaps of all GPUs, if the summary has more than their lengths.
func Gaps(ctx *section.Context) doc.Section {
	var list []longGap
	known, count, total := false, int64(0), int64(0)
	for i, d := range ctx.Devices {
		count, total = count+d.Gaps.Count(), total+d.Gaps.TotalNS()
		for _, g := range d.LargestGaps {
			known = known || g.Owner != "" || g.Before != "" || g.After != ""
			list = append(list, longGap{g, i})
		}
	}
	if !known {
		return doc.Section{}
	}
	slices.SortStableFunc(list, func(a, c longGap) int {
		return cmp.Or(cmp.Compare(c.NS, a.NS), cmp.Compare(a.at, c.at), cmp.Compare(a.StartNS, c.StartNS))
	})
	list = list[:min(maxGaps, len(list))]
	t := gapTable(ctx, list)
	if hidden := count - int64(len(list)); hidden > 0 {
		t.More = doc.Rest{Rows: int(min(hidden, math.MaxInt32)), Total: total, Of: "the time of all gaps", Weight: total}
		for _, g := range list {
			t.More.Weight -= max(0, g.NS)
		}
	}
	t.Note = "Start is the trace's ts in ns. In Perfetto, use \"Pan to timestamp\" (Ctrl-Shift-P) and the timestamp format \"Raw\". "
	t.Note += "Into the window: time since the first GPU event, as in the pictures. Cause: the largest in the gap. Before, after: previous and next GPU operation."
	return doc.Section{Title: "Largest gaps", Blocks: []doc.Block{t}}
}

func gapTable(ctx *section.Context, list []longGap) doc.Table {
	var lengths, starts []int64
	var names []string
	for _, g := range list {
		lengths = append(lengths, g.NS)
		starts = append(starts, intoWindow(ctx, g))
		names = append(names, g.Before, g.After)
	}
	length, into := doc.ScaleOf(lengths...), doc.ScaleOf(starts...)
	labels := label.Short(label.Kernel, names, gapName)
	t := doc.Table{Title: "gaps", Columns: []doc.Column{
		doc.Col("GPU", doc.Text), doc.Col("start (ns)", doc.Number), doc.Col(into.Head("into the window"), doc.Number), doc.Col(length.Head("length"), doc.Number), doc.Col("% of window", doc.Number),
		doc.Col("cause", doc.Text), doc.Col("in", doc.Name), doc.Col("before", doc.Name), doc.Col("after", doc.Name),
	}}
	if len(ctx.Devices) == 1 {
		t.Columns = t.Columns[1:]
	}
	for i, g := range list {
		for j, name := range []string{g.Before, g.After} {
			if name == "" {
				labels[2*i+j] = "" // unknown
			}
		}
		cells := []string{
			ctx.Labels[g.at], strconv.FormatInt(g.StartNS, 10), into.Text(starts[i]), length.Text(g.NS), unit.Share(g.NS, ctx.Devices[g.at].Activity.Window()),
			words.Cause(g.Owner, g.State, ""), g.Name, labels[2*i], labels[2*i+1],
		}
		t.Rows = append(t.Rows, doc.Row{Weight: g.NS, Cells: cells[len(cells)-len(t.Columns):]})
	}
	return t.WithoutEmpty()
}

// intoWindow returns the time from the start of the GPU window to a gap, in ns.
func intoWindow(ctx *section.Context, g longGap) int64 {
	return summary.Plus(g.StartNS, -max(ctx.Devices[g.at].StartNS, -math.MaxInt64))
}

// gapLine describes the longest gap for the screen.
func gapLine(ctx *section.Context) string {
	best := longGap{at: -1}
	for i, gaps := range ctx.Judged.Gaps {
		for _, g := range gaps {
			if g.Owner != "" && (best.at < 0 || g.NS > best.NS) {
				best = longGap{g, i}
			}
		}
	}
	if best.at < 0 {
		return ""
	}
	text := "Largest gap"
	if len(ctx.Devices) > 1 {
		text += " (" + ctx.Labels[best.at] + ")"
	}
	return fmt.Sprintf("%s: %s at ts %s (%s)", text, unit.Duration(best.NS), unit.Timestamp(best.StartNS), words.Cause(best.Owner, best.State, ""))
}
