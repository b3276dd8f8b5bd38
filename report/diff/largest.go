package diff

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/compare"
	"assay/compare/ranks"
	"assay/compare/series"
	"assay/internal/label"
	"assay/report/doc"
	"assay/report/words"
	"assay/unit"
)

// A mover is something that changed, in words.
type mover struct {
	delta      string
	text, code string
	size       float64
	order      int // of kinds that cannot be compared by size
}

// largest lists the largest changes of whatever kind: kernels, causes of idle time, copies
// and stragglers of a timeline; functions, allocation sites and other rows of totals; metrics
// and figures.
func (b *differ) largest() doc.Section {
	var list []mover
	lead, noun := "", "row"
	switch {
	case b.Per != compare.PerNone:
		list, lead = b.timeChanges(), b.each()+" and GPU"
	case len(b.Counters) > 0:
		list, lead, noun = b.counterChanges(), "per launch", "kernel"
	case len(b.Tables) > 0:
		list = b.totalChanges()
	default:
		list, lead, noun = b.loggedChanges(), "medians after warm-up", "metric"
		if slices.ContainsFunc(b.Benchmarks, func(r series.Benchmark) bool { return r.Match == series.ByName }) {
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
	if more := len(list) - len(out); more > 0 {
		lead = strings.TrimPrefix(lead+fmt.Sprintf("; %d of %s", len(out), label.Plural(int64(len(list)), noun)+" that changed"), "; ")
	}
	return doc.Section{Title: "Largest changes", Lead: lead, Blocks: []doc.Block{out}}
}

// timeChanges returns what changed on the GPUs. Phases of the step have a table of their own.
func (b *differ) timeChanges() (list []mover) {
	put := func(ns int64, text, code string) {
		if ns != 0 {
			list = append(list, mover{compare.Signed(ns), text + " (" + compare.SignedShare(ns, b.Budget.BaseNS) + " of the " + b.whole() + ")", code, float64(size(ns)), 0})
		}
	}
	for _, r := range b.Kernels.Rows {
		put(r.DeltaNS, "kernel, "+b.launched(r), doc.KernelLabel(r.Name))
	}
	for _, r := range b.Copies.Rows {
		put(r.DeltaNS, "copy, "+b.launched(r), label.Clip(label.Clean(r.Name), doc.NameColumns))
	}
	for _, r := range b.Idle.ByOwner().Rows {
		cause := idleReason(r)
		if r.Name == compare.Unattributed {
			cause = "unattributed"
		}
		put(r.DeltaNS, "idle time, "+cause, b.idlePlace(r))
	}
	if w := b.Waits; w == nil || len(w.Base.Stragglers)+len(w.New.Stragglers) == 0 {
		return list
	}
	for _, r := range b.Ranks {
		if mark := rankMark(r); mark != "" && r.Base != nil && r.New != nil {
			part := largestPart(r)
			put(part.NS, fmt.Sprintf("%s of rank %d, %s", part.Name, r.Rank, mark), "")
		}
	}
	return list
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
func (b *differ) launched(r compare.Row) string {
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
func (b *differ) idlePlace(cause compare.Row) string {
	for _, r := range b.Idle.Rows { // the largest first
		if r.Owner == cause.Owner && r.State == cause.State && r.Name != "" && r.Name != compare.Unattributed && (r.DeltaNS > 0) == (cause.DeltaNS > 0) {
			return label.Clip(label.Clean(r.Name), doc.NameColumns)
		}
	}
	return ""
}

// counterChanges returns the kernels whose time per launch changed.
func (b *differ) counterChanges() (list []mover) {
	for _, k := range b.Counters {
		if d := k.Delta(); d != 0 {
			list = append(list, mover{compare.Signed(d), fmt.Sprintf("kernel, %s, was %s", unit.Duration(*k.NewNS), unit.Duration(*k.BaseNS)), doc.KernelLabel(k.Kernel), float64(size(d)), 0})
		}
	}
	return list
}

// totalChanges returns the rows of tables of totals that changed, by their first column.
func (b *differ) totalChanges() (list []mover) {
	for i := range b.Tables {
		t := &b.Tables[i]
		if len(t.Columns) == 0 {
			continue
		}
		col := t.Columns[0]
		for _, r := range t.Rows {
			d := r.Delta(0)
			if d == 0 {
				continue
			}
			text := fmt.Sprintf("%s %s", label.Clip(label.Clean(col.Title()), 30), changed(col, r.Base[0], r.New[0]))
			delta := col.Text(d)
			if d > 0 {
				delta = "+" + delta
			}
			list = append(list, mover{delta, text, shortName(t.Of, r.Name), float64(size(d)), i})
		}
	}
	return list
}

// changed returns the value of a column on both sides.
func changed(col compare.ColumnDelta, base, new *int64) string {
	switch {
	case base == nil:
		return col.Text(*new) + ", added"
	case new == nil:
		return "removed, was " + col.Text(*base)
	}
	return col.Text(*new) + ", was " + col.Text(*base)
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
func (b *differ) loggedChanges() (list []mover) {
	put := func(name, where, role, of, effect string, base, new, relative *float64) {
		if effect == series.Same || effect == series.Unclear || effect == "" || base == nil || new == nil {
			return
		}
		c := mover{"", fmt.Sprintf("%s: %s → %s", label.Clip(label.Clean(name), 60), unit.Value(*base, of), unit.Value(*new, of)), "", math.Inf(1), min(series.Rank(role)/3, 2)}
		if where != "" {
			c.text += " (" + label.Clip(label.Clean(where), 60) + ")"
		}
		if relative != nil {
			c.size, c.delta = math.Abs(*relative), compare.SignedPercent(*relative)
		}
		if effect != series.Changed {
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
	place := series.Places(b.Series)
	for i := range b.Series {
		m := &b.Series[i]
		if m.Role != "other" && m.Metric != "step.phase" && m.Base != nil && m.New != nil {
			put(m.Metric, place(m), m.Role, m.Unit, m.Effect, &m.Base.Median, &m.New.Median, m.Change)
		}
	}
	return list
}

// size returns the absolute value of a change in ns.
func size(ns int64) int64 { return max(ns, -max(ns, -1<<63+1)) }
