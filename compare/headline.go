package compare

import (
	"cmp"
	"fmt"
	"slices"

	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// still is the share of a step below which a change is not reported.
const still = 0.01

// headline returns the largest change, with its numbers.
func (c *Comparison) headline() string {
	text := ""
	switch {
	case c.PhasesLead():
		text = c.stepMovement()
	case c.Per == PerNone:
		if text = c.sumsHeadline(); c.logged() && len(c.Tables) == 0 && len(c.Counters) == 0 {
			text = c.loggedHeadline()
		}
	default:
		text = c.movement()
	}
	if len(c.Shapes) > 0 {
		what := operators(len(c.Shapes)) + " have different inputs"
		if len(c.Shapes) == 1 {
			what = "1 operator has different inputs"
		}
		text = fmt.Sprintf("the runs do different work (%s: %s): %s", what, c.Shapes[0].text(), text)
	}
	if s := c.significance(); s != "" {
		text += "; " + s
	}
	return text
}

// movement returns the change of the step time and its main contribution: a rank that the
// others wait for, or a part of the breakdown.
func (c *Comparison) movement() string {
	why, leads := c.rankReason()
	if !leads {
		text := c.partsMovement()
		if why != "" {
			text += "; " + why
		}
		return text
	}
	delta := c.Budget.DeltaNS
	if c.isStill(delta) {
		return fmt.Sprintf("%s, but %s", c.moved(), why)
	}
	return fmt.Sprintf("%s (%s); %s", c.moved(), Signed(delta), why)
}

// moved returns the time of a step or window on both sides.
func (c *Comparison) moved() string {
	return fmt.Sprintf("%s%s: %s, was %s", c.wholeName(), c.percent(c.Budget.DeltaNS), unit.Duration(c.Budget.NewNS), unit.Duration(c.Budget.BaseNS))
}

func (c *Comparison) wholeName() string {
	return map[string]string{PerStep: "step time ", PerWindow: "window "}[c.Per]
}

// partsMovement returns the change of the step time and the parts that contribute most.
func (c *Comparison) partsMovement() string {
	whole, delta := c.wholeName(), c.Budget.DeltaNS
	part, moved := c.mover(delta), c.moved()
	if c.isStill(delta) {
		if part == nil || c.isStill(part.DeltaNS) {
			return fmt.Sprintf("%sunchanged: %s (%s, %s), no part changed by 1%% or more%s", whole, unit.Duration(c.Budget.NewNS), Signed(delta), c.percent(delta), c.renamed())
		}
		return fmt.Sprintf("%s, but its parts changed: %s", moved, c.because(part))
	}
	text := fmt.Sprintf("%s (%s)", moved, Signed(delta))
	if part == nil {
		return text
	}
	return text + "; " + c.because(part) + c.second(part, delta)
}

// second returns the next part that changed in the same direction, if it is at
// least half as large as the first.
func (c *Comparison) second(first *Row, delta int64) string {
	var next *Row
	for i := range c.Budget.Rows {
		r := &c.Budget.Rows[i]
		if r.Name != first.Name && (r.DeltaNS > 0) == (delta > 0) && (next == nil || size(r.DeltaNS) > size(next.DeltaNS)) {
			next = r
		}
	}
	if next == nil || 2*size(next.DeltaNS) < size(first.DeltaNS) {
		return ""
	}
	return "; and " + c.because(next)
}

func (c *Comparison) isStill(delta int64) bool {
	return float64(size(delta)) < still*float64(c.Budget.BaseNS)
}

// percent returns a delta as a share of the base, with its sign.
func (c *Comparison) percent(delta int64) string { return percentOf(delta, c.Budget.BaseNS) }

// manyTimes is the ratio from which a change is told as a factor: "×225".
const manyTimes = 10

// percentOf returns a delta as a share of a base, with its sign, or as a factor if it is
// large.
func percentOf(delta, of int64) string {
	if of > 0 && delta/of >= manyTimes-1 {
		return "×" + unit.Count(int64(float64(delta)/float64(of)+1.5))
	}
	text := unit.Share(delta, of)
	if delta > 0 && of > 0 {
		return "+" + text
	}
	return text
}

// mover returns the part of the budget that changed most in the direction of
// the whole or, if that is unchanged, in any direction.
func (c *Comparison) mover(delta int64) *Row {
	rows := slices.Clone(c.Budget.Rows)
	if !c.isStill(delta) {
		rows = slices.DeleteFunc(rows, func(r Row) bool { return (r.DeltaNS > 0) != (delta > 0) })
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(size(b.DeltaNS), size(a.DeltaNS)) })
	if len(rows) == 0 || rows[0].DeltaNS == 0 {
		return nil
	}
	return &rows[0]
}

// because returns the change of a part of the budget, and the main contribution
// to it.
func (c *Comparison) because(part *Row) string {
	text := fmt.Sprintf("%s %s", part.Name, Signed(part.DeltaNS))
	why := ""
	switch part.Name {
	case BudgetCompute:
		why = c.kernelReason(part.DeltaNS, "compute")
	case BudgetComm:
		why = c.commReason(part)
	case BudgetCopies:
		if r := largest(c.Copies.Rows, part.DeltaNS); r != nil {
			why = mostly(r.DeltaNS, part.DeltaNS) + " " + c.runs(r)
		}
	case BudgetIdle:
		why = c.idleReason(part.DeltaNS)
	}
	if why == "" {
		return text
	}
	return text + ", " + why
}

// largest returns the row with the largest change in the given direction.
func largest(rows []Row, direction int64) *Row {
	for i := range rows { // the largest first
		if d := rows[i].DeltaNS; d != 0 && (d > 0) == (direction > 0) {
			return &rows[i]
		}
	}
	return nil
}

// kernelReason describes the kernel of a class with the largest change.
func (c *Comparison) kernelReason(direction int64, class string) string {
	rows := slices.Clone(c.Kernels.Rows)
	rows = slices.DeleteFunc(rows, func(r Row) bool { return (r.Class == "comm") != (class == "comm") })
	r := largest(rows, direction)
	if r == nil {
		return "because kernels overlap less"
	}
	return mostly(r.DeltaNS, direction) + " " + c.runs(r)
}

// commReason distinguishes communication that takes longer from communication
// that is overlapped less.
func (c *Comparison) commReason(part *Row) string {
	if work := c.New.CommNS - c.Base.CommNS; float64(size(work)) >= 0.5*float64(size(part.DeltaNS)) && (work > 0) == (part.DeltaNS > 0) {
		return c.kernelReason(part.DeltaNS, "comm")
	}
	return fmt.Sprintf("because compute overlaps %s of it, was %s", c.New.hidden(), c.Base.hidden())
}

// hidden returns the share of communication that is overlapped by compute.
func (s Side) hidden() string {
	all := s.Activity.HiddenComm() + s.Activity.ExposedComm()
	if all == 0 {
		return "none"
	}
	return unit.Share(s.Activity.HiddenComm(), all)
}

// runs describes the change of a kernel or copy: its number of runs or the
// duration of a run, whichever has the larger effect.
func (c *Comparison) runs(r *Row) string {
	name := fmt.Sprintf("%q", r.Name)
	if r.Category != "" {
		name += " (" + r.Category + ")"
	}
	if len(r.Was) == 1 && r.Match == ByPlace {
		name += fmt.Sprintf(", which replaces %q", r.Was[0])
	}
	each := map[string]string{PerStep: "per step", PerWindow: "in the window"}[c.Per]
	base, new := times(r.BaseCount, c.Base.Parts), times(r.NewCount, c.New.Parts)
	switch {
	case r.Match == OnlyNew:
		return fmt.Sprintf("%s, added: %s %s (%s)", name, often(new), each, Signed(r.DeltaNS))
	case r.Match == OnlyBase:
		return fmt.Sprintf("%s, removed: was %s %s (%s)", name, often(base), each, Signed(r.DeltaNS))
	case size(r.CountNS) > size(r.DurationNS):
		return fmt.Sprintf("%s: %s %s, was %s (%s)", name, often(new), each, often(base), Signed(r.DeltaNS))
	}
	b, n := r.Means(c)
	return fmt.Sprintf("%s: mean %s, was %s (%s)", name, unit.Duration(n), unit.Duration(b), Signed(r.DeltaNS))
}

// often returns the text for a number of times.
func often(times string) string {
	if times == "1" {
		return "once"
	}
	return times + " times"
}

// Means returns the mean duration of a run on both sides, or 0 if there is
// none.
func (r *Row) Means(c *Comparison) (base, new int64) {
	of := func(ns, count, parts int64) int64 {
		if count <= 0 {
			return 0
		}
		return int64(float64(ns)*float64(parts)/float64(count) + 0.5)
	}
	return of(r.BaseNS, r.BaseCount, c.Base.Parts), of(r.NewNS, r.NewCount, c.New.Parts)
}

// times returns the count per step or window, as a whole number if it is one.
func times(count, parts int64) string {
	if count%parts == 0 {
		return unit.Count(count / parts)
	}
	return fmt.Sprintf("%.1f", float64(count)/float64(parts))
}

// Times returns the number of runs of the row per step or window on both sides.
func (r *Row) Times(c *Comparison) (base, new string) {
	return times(r.BaseCount, c.Base.Parts), times(r.NewCount, c.New.Parts)
}

// idleReason describes the cause with the largest change of idle time, and its
// largest item.
func (c *Comparison) idleReason(direction int64) string {
	r := largest(c.Idle.ByOwner().Rows, direction)
	if r == nil {
		return ""
	}
	if r.Name == Unattributed {
		return fmt.Sprintf("%s unattributed (%s)", mostly(r.DeltaNS, direction), Signed(r.DeltaNS))
	}
	text := fmt.Sprintf("%s %s (%s)", mostly(r.DeltaNS, direction), view.Cause(r.Owner, r.State), Signed(r.DeltaNS))
	for _, it := range c.Idle.Rows { // the largest first
		if it.Owner == r.Owner && it.State == r.State && it.Name != "" && (it.DeltaNS > 0) == (direction > 0) {
			return text + fmt.Sprintf(" in %q", it.Name)
		}
	}
	return text
}

// mostly returns the word for a part of a delta: at least half of it, or less.
func mostly(part, of int64) string {
	if float64(size(part)) >= 0.5*float64(size(of)) {
		return "mainly"
	}
	return "in part"
}

// ByOwner adds up rows of idle time with the same cause and state.
func (p Part) ByOwner() Part {
	rows := slices.Clone(p.Rows)
	for i := range rows {
		if rows[i].Owner != "" {
			rows[i].Name = ""
		}
	}
	p.Rows = rows
	return p.fold(func(r Row) Row { return Row{Name: r.Name, Owner: r.Owner, State: r.State} })
}

// renamed describes kernels with changed names, if there is no other change.
func (c *Comparison) renamed() string {
	n, first := 0, ""
	for _, r := range c.Kernels.Rows {
		if len(r.Was) > 0 {
			if n++; first == "" {
				first = fmt.Sprintf("%q, was %q", r.Name, r.Was[0])
			}
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "; 1 kernel was renamed: " + first
	}
	return fmt.Sprintf("; %d kernels were renamed, for example %s", n, first)
}

// significance returns the significance of the change, from repeated runs.
func (c *Comparison) significance() string {
	if len(c.Estimates) == 0 {
		return ""
	}
	e := c.Estimates[0]
	if e.Base.Runs < 2 || e.New.Runs < 2 {
		return "significance unknown, because one side has a single run"
	}
	if e.Differs() {
		return fmt.Sprintf("significant (p=%.3f, n=%d+%d)", e.P, e.Base.Runs, e.New.Runs)
	}
	return fmt.Sprintf("not significant (p=%.3f, n=%d+%d)", e.P, e.Base.Runs, e.New.Runs)
}

// sumsHeadline returns the headline for totals without a timeline.
func (c *Comparison) sumsHeadline() string {
	for _, k := range c.Counters {
		if d := k.Delta(); d != 0 {
			return fmt.Sprintf("%q %s: %s per launch, was %s", k.Kernel, percentOf(d, *k.BaseNS), unit.Duration(*k.NewNS), unit.Duration(*k.BaseNS))
		}
	}
	if len(c.Counters) > 0 && !slices.ContainsFunc(c.Counters, func(k CounterDelta) bool { return k.Match == ByName }) {
		return "no kernel was profiled on both sides"
	}
	if len(c.Counters) > 0 {
		return "no kernel's time per launch changed"
	}
	tables := slices.Clone(c.Tables)
	slices.SortStableFunc(tables, func(a, b TableDelta) int { return cmp.Compare(a.weight(), b.weight()) })
	for _, t := range tables {
		if len(t.Rows) == 0 || t.Rows[0].Delta(0) == 0 {
			continue
		}
		r, col := t.Rows[0], t.Columns[0]
		row := fmt.Sprintf("%q (%s)", r.Name, signedText(col, r.Delta(0)))
		if base, new, ok := col.Sums(); ok {
			return fmt.Sprintf("%s of %s %s: %s, was %s, %s %s", col.Title(), t.Name, percentOf(new-base, base), col.Text(new), col.Text(base), mostly(r.Delta(0), new-base), row)
		}
		return fmt.Sprintf("largest change of the %s of %s: %s", col.Title(), t.Name, row)
	}
	return "no table changed"
}

// weight returns the rank of a table by its relevance for a GPU: kernels first.
func (t TableDelta) weight() int {
	order := []string{summary.OfKernel, summary.OfDeviceOp, summary.OfCopy}
	if i := slices.Index(order, t.Of); i >= 0 {
		return i
	}
	return len(order)
}

// Text prints a value of the column with its unit.
func (c ColumnDelta) Text(n int64) string {
	switch c.Unit {
	case "ns":
		return unit.Duration(n)
	case "bytes":
		return unit.Bytes(n)
	}
	return unit.Count(n)
}

func signedText(c ColumnDelta, n int64) string {
	if n > 0 {
		return "+" + c.Text(n)
	}
	return c.Text(n)
}
