package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"assay/internal/label"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// A longGap is one gap and the device it was on.
type longGap struct {
	summary.Gap
	at int // index of the device
}

// gaps lists the longest gaps of all devices one by one, where a summary knows
// more of them than their lengths.
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
	t.Note = "A start is the ts of the trace's file times 1000, so in ns: Perfetto goes there with the command \"Pan to timestamp\" " +
		"(Ctrl-Shift-P), and shows such times with the timestamp format \"Raw\". Into the window is " +
		"from the first event of the device, as in the pictures. Owner and state are those with the largest part of the gap; before and after are what ran last and next."
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
		{"device", Text}, {"start (ns)", Number}, {into.head("into the window"), Number}, {length.head("length"), Number}, {"share of window", Number},
		{"owner", Text}, {"state", Text}, {"in", Name}, {"before", Name}, {"after", Name},
	}}
	if len(b.Devices) == 1 {
		t.Columns = t.Columns[1:]
	}
	for i, g := range list {
		for j, name := range []string{g.Before, g.After} {
			if name == "" {
				labels[2*i+j] = "" // not known
			}
		}
		cells := []string{
			b.devices[g.at], strconv.FormatInt(g.StartNS, 10), into.text(starts[i]), length.text(g.NS), unit.Share(g.NS, b.Devices[g.at].Activity.Window()),
			view.OwnerText(g.Owner), view.OwnerText(g.State), g.Name, labels[2*i], labels[2*i+1],
		}
		t.Rows = append(t.Rows, Row{Weight: g.NS, Cells: cells[len(cells)-len(t.Columns):]})
	}
	return t.withoutEmpty()
}

// intoWindow returns how long after the start of its device's window a gap
// begins.
func (b *builder) intoWindow(g longGap) int64 {
	return summary.Plus(g.StartNS, -max(b.Devices[g.at].StartNS, -math.MaxInt64))
}

// gapLine names the longest gap for the screen.
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
	sum := view.Idle{Owner: best.Owner, State: best.State}
	text := "longest gap"
	if len(b.Devices) > 1 {
		text += " (" + b.devices[best.at] + ")"
	}
	return fmt.Sprintf("%s %s at %s: %s", text, unit.Duration(best.NS), unit.Timestamp(best.StartNS), sum.Reason())
}
