package diff

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/compare"
	"assay/compare/logs"
	"assay/compare/ranks"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/words"
)

// changes finds what changed most in a comparison.
type changes struct{ *differ }

// A mover is something that changed, in words.
type mover struct {
	delta      string
	text, code string
	size       float64
	order      int // of kinds that cannot be compared by size
}

// section lists the largest changes of whatever kind: kernels, causes of idle time, copies
// and stragglers of a timeline; functions, allocation sites and other rows of totals; metrics
// and figures.
func (b changes) section() doc.Section {
	var list []mover
	lead, noun, all := "", "row", 0
	switch {
	case b.Per != compare.PerNone:
		list, all = b.timeChanges()
		lead = b.each() + " and GPU"
	case len(b.Counters) > 0:
		list, all = b.counterChanges()
		lead, noun = "per launch", "kernel"
	case len(b.Tables) > 0:
		list, all = b.totalChanges()
	default:
		list, lead, noun = b.loggedChanges(), "medians after warm-up", "metric"
		if slices.ContainsFunc(b.Benchmarks, func(r logs.Benchmark) bool { return r.Match == logs.ByName }) {
			lead, noun = "as reported", "figure"
		}
	}
	if len(list) == 0 {
		return doc.Section{}
	}
	slices.SortStableFunc(list, func(x, y mover) int {
		return cmp.Or(cmp.Compare(x.order, y.order), cmp.Compare(y.size, x.size))
	})
	var out doc.List
	for _, c := range list[:min(briefChanges, len(list))] {
		out = append(out, doc.Item{Mark: c.delta, Text: c.text, Code: c.code})
	}
	if all = max(all, len(list)); all > len(out) {
		lead = strings.TrimPrefix(lead+fmt.Sprintf("; %d of %s", len(out), label.Plural(int64(all), noun)+" that changed"),
			"; ")
	}
	return doc.Section{Title: "Largest changes", Lead: lead, Blocks: []doc.Block{out}}
}

// timeChanges returns what changed on the GPUs, and how many rows did. Phases of the step have a
// table of their own.
func (b changes) timeChanges() (list []mover, changed int) {
	put := func(ns int64, text, code string) {
		list = append(list, mover{compare.Signed(ns),
			text + " (" + compare.SignedShare(ns, b.Budget.BaseNS) + " of the " + b.whole() + ")", code, float64(size(ns)), 0})
	}
	each := func(rows []compare.Row, describe func(compare.Row) (text, code string)) {
		for i, r := range rows { // the largest first
			if r.DeltaNS == 0 {
				break
			}
			if changed++; i < briefChanges {
				text, code := describe(r)
				put(r.DeltaNS, text, code)
			}
		}
	}
	each(b.Kernels.Rows, func(r compare.Row) (string, string) {
		return "kernel, " + b.launched(r),
			doc.KernelLabel(r.Name)
	})
	each(b.Copies.Rows, func(r compare.Row) (string, string) {
		return "copy, " + b.launched(r), label.Clip(label.Clean(r.Name), doc.NameColumns)
	})
	each(b.Idle.ByOwner().Rows, func(r compare.Row) (string, string) {
		if r.Name == compare.Unattributed {
			return "idle time, unattributed", ""
		}
		return "idle time, " + idleReason(r), b.idlePlace(r)
	})
	if w := b.Waits; w == nil || len(w.Base.Stragglers)+len(w.New.Stragglers) == 0 {
		return list, changed
	}
	for _, r := range b.Ranks {
		if mark := rankMark(r); mark != "" && r.Base != nil && r.New != nil {
			if part := largestPart(r); part.NS != 0 {
				changed++
				put(part.NS, fmt.Sprintf("%s of rank %d, %s", part.Name, r.Rank, mark), "")
			}
		}
	}
	return list, changed
}

// largestPart returns the part of a rank's step that changed most.
func largestPart(r ranks.Row) (out ranks.Part) {
	before := r.Base.Parts()
	for i, p := range r.New.Parts() {
		if d := p.NS - before[i].NS; size(d) > size(out.NS) {
			out = ranks.Part{Name: p.Name, NS: d}
		}
	}
	return out
}

// launched returns what changed of a kernel or copy: its launches or their mean duration.
func (b changes) launched(r compare.Row) string {
	base, new := r.Means(b.Comparison)
	before, after := r.Times(b.Comparison)
	switch word := words.Match(r.Match); {
	case r.Match == compare.OnlyNew:
		return fmt.Sprintf("%s: %s of mean %s %s", word, launches(after), unit.Duration(new), b.each())
	case r.Match == compare.OnlyBase:
		return fmt.Sprintf("%s: was %s of mean %s %s", word, launches(before), unit.Duration(base), b.each())
	case size(r.CountNS) > size(r.DurationNS):
		return fmt.Sprintf("%s %s, was %s", launches(after), b.each(), before)
	}
	return fmt.Sprintf("mean %s, was %s", unit.Duration(new), unit.Duration(base))
}

// launches returns a number of launches, which may be a mean.
func launches(text string) string {
	if text == "1" {
		return "1 launch"
	}
	return text + " launches"
}

// idlePlace returns the function or call with the largest change of idle time of a cause, or "".
func (b changes) idlePlace(cause compare.Row) string {
	for _, r := range b.Idle.Rows { // the largest first
		if r.Owner == cause.Owner && r.State == cause.State && r.Name != "" && r.Name != compare.Unattributed &&
			(r.DeltaNS > 0) == (cause.DeltaNS > 0) {
			return label.Clip(label.Clean(r.Name), doc.NameColumns)
		}
	}
	return ""
}

// counterChanges returns the kernels whose time per launch changed, and their number.
func (b changes) counterChanges() (list []mover, changed int) {
	for _, k := range b.Counters { // the largest first
		d := k.Delta()
		if d == 0 {
			break
		}
		if changed++; changed <= briefChanges {
			list = append(list, mover{compare.Signed(d),
				fmt.Sprintf("kernel, %s, was %s", unit.Duration(*k.NewNS), unit.Duration(*k.BaseNS)), doc.KernelLabel(k.Kernel),
				float64(size(d)), 0})
		}
	}
	return list, changed
}

// totalChanges returns the rows of tables of totals that changed, by their first column, and
// their number.
func (b changes) totalChanges() (list []mover, changed int) {
	for i := range b.Tables {
		t := &b.Tables[i]
		if len(t.Columns) == 0 {
			continue
		}
		col := t.Columns[0]
		for j, r := range t.Rows { // the largest first
			d := r.Delta(0)
			if d == 0 {
				break
			}
			if changed++; j >= briefChanges {
				continue
			}
			text := bothSides(col, r.Base[0], r.New[0])
			delta := col.Text(d)
			if d > 0 {
				delta = "+" + delta
			}
			list = append(list, mover{delta, text, shortName(t.Of, r.Name), float64(size(d)), i})
		}
	}
	return list, changed
}

// bothSides returns the value of a column on both sides, with its name.
func bothSides(col compare.ColumnDelta, base, new *int64) string {
	name := label.Clip(label.Clean(col.Title()), 30)
	switch {
	case base == nil:
		return "added, " + name + " " + col.Text(*new)
	case new == nil:
		return "removed, " + name + " was " + col.Text(*base)
	}
	return name + " " + col.Text(*new) + ", was " + col.Text(*base)
}

// shortName returns the name of a row in the columns that it has on the page.
func shortName(of, name string) string {
	if of == "kernel" {
		return doc.KernelLabel(name)
	}
	return label.Clip(label.Clean(name), doc.NameColumns)
}

// loggedChanges returns the figures of the results of both sides or, if there is none, the
// metrics that changed. Times, rates and failures precede what explains them.
func (b changes) loggedChanges() (list []mover) {
	put := func(name, where, role, of, effect string, base, new, relative *float64) {
		if effect == logs.Same || effect == logs.Unclear || effect == "" || base == nil || new == nil {
			return
		}
		c := mover{"", fmt.Sprintf("%s: %s → %s", label.Clip(label.Clean(name), 60), unit.Value(*base, of),
			unit.Value(*new, of)), "", math.Inf(1), min(logs.Rank(role)/3, 2)}
		if where != "" {
			c.text += " (" + label.Clip(label.Clean(where), 60) + ")"
		}
		if relative != nil {
			c.size, c.delta = math.Abs(*relative), compare.SignedPercent(*relative)
			if c.delta == unit.None {
				c.delta = ""
			}
		}
		if effect != logs.Changed {
			c.text += ", " + effect
		}
		list = append(list, c)
	}
	for _, r := range b.Benchmarks {
		for _, f := range r.Figures {
			if f.Stat != "std" {
				put(strings.TrimSpace(f.Metric+" "+f.Stat), "", f.Role, f.Unit, f.Effect, f.Base, f.New, f.Change)
			}
		}
	}
	if list != nil {
		return list
	}
	place := logs.Places(b.Series)
	for i := range b.Series {
		m := &b.Series[i]
		told := m.Metric == "step.phase" || m.Metric == "step.time" && b.Steps != nil // by the phases of the step
		if m.Role != "other" && !told && m.Base != nil && m.New != nil {
			put(m.Metric, place(m), m.Role, m.Unit, m.Effect, &m.Base.Median, &m.New.Median, m.Change)
		}
	}
	return list
}

// size returns the absolute value of a change in ns.
func size(ns int64) int64 { return max(ns, -max(ns, -1<<63+1)) }
