package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"assay/internal/label"
	"assay/report/words"
	"assay/summary"
	"assay/unit"
)

// A longGap is one gap and the index of its GPU.
type longGap struct {
	summary.Gap
	at int // index of the GPU
}

// gaps lists the longest gaps of all GPUs, if the summary has more than their lengths.
func (b *builder) gaps() Section {
	var list []longGap
	known, count, total := false, int64(0), int64(0)
	for i, d := range b.Devices {
		count, total = summary.Plus(count, d.Gaps.Count()), summary.Plus(total, d.Gaps.TotalNS())
		for _, g := range d.LargestGaps {
			known = known || g.Owner != "" || g.Before != "" || g.After != ""
			list = append(list, longGap{g, i})
		}
	}
	if !known {
		return Section{}
	}
	slices.SortStableFunc(list, func(a, c longGap) int {
		return cmp.Or(cmp.Compare(c.NS, a.NS), cmp.Compare(a.at, c.at), cmp.Compare(a.StartNS, c.StartNS))
	})
	list = list[:min(maxGaps, len(list))]
	t := b.gapTable(list)
	if hidden := count - int64(len(list)); hidden > 0 {
		t.More = Rest{Rows: int(min(hidden, math.MaxInt32)), Total: total, Of: "the time of all gaps", Weight: total}
		for _, g := range list {
			t.More.Weight = summary.Plus(t.More.Weight, -max(0, g.NS))
		}
	}
	t.Note = "Start is the trace's ts in ns. In Perfetto, use \"Pan to timestamp\" (Ctrl-Shift-P) and the timestamp format \"Raw\". "
	t.Note += "Into the window: time since the first GPU event, as in the pictures. Cause: the largest in the gap. Before, after: previous and next GPU operation."
	return Section{Title: "Largest gaps", Blocks: []Block{t}}
}

func (b *builder) gapTable(list []longGap) Table {
	var lengths, starts []int64
	var names []string
	for _, g := range list {
		lengths = append(lengths, g.NS)
		starts = append(starts, b.intoWindow(g))
		names = append(names, g.Before, g.After)
	}
	length, into := scaleOf(lengths...), scaleOf(starts...)
	labels := label.Short(label.Kernel, names, gapName)
	t := Table{Title: "gaps", Columns: []Column{
		{"GPU", Text}, {"start (ns)", Number}, {into.head("into the window"), Number}, {length.head("length"), Number}, {"% of window", Number},
		{"cause", Text}, {"in", Name}, {"before", Name}, {"after", Name},
	}}
	if len(b.Devices) == 1 {
		t.Columns = t.Columns[1:]
	}
	for i, g := range list {
		for j, name := range []string{g.Before, g.After} {
			if name == "" {
				labels[2*i+j] = "" // unknown
			}
		}
		cells := []string{
			b.devices[g.at], strconv.FormatInt(g.StartNS, 10), into.text(starts[i]), length.text(g.NS), unit.Share(g.NS, b.Devices[g.at].Activity.Window()),
			words.Cause(g.Owner, g.State, ""), g.Name, labels[2*i], labels[2*i+1],
		}
		t.Rows = append(t.Rows, Row{Weight: g.NS, Cells: cells[len(cells)-len(t.Columns):]})
	}
	return t.withoutEmpty()
}

// intoWindow returns the time from the start of the GPU window to a gap, in ns.
func (b *builder) intoWindow(g longGap) int64 {
	return summary.Plus(g.StartNS, -max(b.Devices[g.at].StartNS, -math.MaxInt64))
}

// gapLine describes the longest gap for the screen.
func (b *builder) gapLine() string {
	best := longGap{at: -1}
	for i, d := range b.Devices {
		for _, g := range d.LargestGaps {
			if g.Owner != "" && (best.at < 0 || g.NS > best.NS) {
				best = longGap{g, i}
			}
		}
	}
	if best.at < 0 {
		return ""
	}
	text := "Largest gap"
	if len(b.Devices) > 1 {
		text += " (" + b.devices[best.at] + ")"
	}
	return fmt.Sprintf("%s: %s at ts %s (%s)", text, unit.Duration(best.NS), unit.Timestamp(best.StartNS), words.Cause(best.Owner, best.State, ""))
}
