package compare

import (
	"cmp"
	"fmt"
	"slices"

	"assay/summary"
	"assay/unit"
)

// still is the share of a step under which a change is not worth a sentence.
const still = 0.01

// headline names what changed most, with its numbers.
func (c *Comparison) headline() string {
	if c.Per == PerNone {
		return c.sumsHeadline()
	}
	text := c.movement()
	if len(c.Shapes) > 0 {
		what := operators(len(c.Shapes)) + " have other inputs"
		if len(c.Shapes) == 1 {
			what = "1 operator has other inputs"
		}
		text = fmt.Sprintf("the runs do different work (%s: %s): %s", what, c.Shapes[0].text(), text)
	}
	if s := c.significance(); s != "" {
		text += "; " + s
	}
	return text
}

// movement says how long a step takes and what made the difference.
func (c *Comparison) movement() string {
	whole := map[string]string{PerStep: "a step takes ", PerWindow: "the window is "}[c.Per]
	delta := c.Budget.DeltaNS
	part := c.mover(delta)
	moved := fmt.Sprintf("%s%s instead of %s", whole, unit.Duration(c.Budget.NewNS), unit.Duration(c.Budget.BaseNS))
	if c.isStill(delta) {
		if part == nil || c.isStill(part.DeltaNS) {
			return fmt.Sprintf("%s%s as before, and no part of it moved by 1%% (%s, %s)%s", whole, unit.Duration(c.Budget.NewNS), Signed(delta), c.percent(delta), c.renamed())
		}
		return fmt.Sprintf("%s (%s), but parts of it moved: %s", moved, c.percent(delta), c.because(part))
	}
	text := fmt.Sprintf("%s, %s (%s)", moved, Signed(delta), c.percent(delta))
	if part == nil {
		return text
	}
	return text + ": " + c.because(part) + c.second(part, delta)
}

// second adds the next part that moved in the same direction, if it is at least
// half as large as the first.
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

// percent prints a delta as a share of the base, with its sign.
func (c *Comparison) percent(delta int64) string { return percentOf(delta, c.Budget.BaseNS) }

func percentOf(delta, of int64) string {
	text := unit.Share(delta, of)
	if delta > 0 && of > 0 {
		return "+" + text
	}
	return text
}

// mover returns the part of the budget that moved most in the direction of the
// whole, or, where that stands still, in any.
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

// because says how far a part of the budget moved, and what in it.
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

// largest returns the row that moved most in the given direction.
func largest(rows []Row, direction int64) *Row {
	for i := range rows { // the largest first
		if d := rows[i].DeltaNS; d != 0 && (d > 0) == (direction > 0) {
			return &rows[i]
		}
	}
	return nil
}

// kernelReason names the kernel of a class that moved most.
func (c *Comparison) kernelReason(direction int64, class string) string {
	rows := slices.Clone(c.Kernels.Rows)
	rows = slices.DeleteFunc(rows, func(r Row) bool { return (r.Class == "comm") != (class == "comm") })
	r := largest(rows, direction)
	if r == nil {
		return "kernels overlap less than before"
	}
	return mostly(r.DeltaNS, direction) + " " + c.runs(r)
}

// commReason tells communication that takes longer from such that is hidden
// less.
func (c *Comparison) commReason(part *Row) string {
	if work := c.New.CommNS - c.Base.CommNS; float64(size(work)) >= 0.5*float64(size(part.DeltaNS)) && (work > 0) == (part.DeltaNS > 0) {
		return c.kernelReason(part.DeltaNS, "comm")
	}
	return fmt.Sprintf("for compute hides %s of it instead of %s", c.New.hidden(), c.Base.hidden())
}

// hidden returns the share of communication that runs under compute.
func (s Side) hidden() string {
	all := s.Activity.HiddenComm() + s.Activity.ExposedComm()
	if all == 0 {
		return "none"
	}
	return unit.Share(s.Activity.HiddenComm(), all)
}

// runs says what happened to a kernel or copy: how often it runs, or how long a
// run takes, whichever made more.
func (c *Comparison) runs(r *Row) string {
	name := fmt.Sprintf("%q", r.Name)
	if r.Category != "" {
		name += " (" + r.Category + ")"
	}
	if len(r.Was) == 1 && r.Match == ByPlace {
		name += fmt.Sprintf(" in place of %q", r.Was[0])
	}
	each := map[string]string{PerStep: "a step", PerWindow: "in the window"}[c.Per]
	base, new := times(r.BaseCount, c.Base.Parts), times(r.NewCount, c.New.Parts)
	switch {
	case r.Match == OnlyNew:
		return fmt.Sprintf("%s, which is new and runs %s %s (%s)", name, often(new), each, Signed(r.DeltaNS))
	case r.Match == OnlyBase:
		return fmt.Sprintf("%s, which ran %s %s and is gone (%s)", name, often(base), each, Signed(r.DeltaNS))
	case size(r.CountNS) > size(r.DurationNS):
		return fmt.Sprintf("%s, which runs %s %s instead of %s (%s)", name, often(new), each, often(base), Signed(r.DeltaNS))
	}
	b, n := r.Means(c)
	return fmt.Sprintf("%s, of which a run takes %s instead of %s (%s)", name, unit.Duration(n), unit.Duration(b), Signed(r.DeltaNS))
}

// often prints how many times something happens.
func often(times string) string {
	if times == "1" {
		return "once"
	}
	return times + " times"
}

// Means returns the mean duration of a run on both sides, 0 where there is none.
func (r *Row) Means(c *Comparison) (base, new int64) {
	of := func(ns, count, parts int64) int64 {
		if count <= 0 {
			return 0
		}
		return int64(float64(ns)*float64(parts)/float64(count) + 0.5)
	}
	return of(r.BaseNS, r.BaseCount, c.Base.Parts), of(r.NewNS, r.NewCount, c.New.Parts)
}

// times prints a count of one step or window: whole where it is.
func times(count, parts int64) string {
	if count%parts == 0 {
		return unit.Count(count / parts)
	}
	return fmt.Sprintf("%.1f", float64(count)/float64(parts))
}

// Times is how often the row runs in one step or window on both sides.
func (r *Row) Times(c *Comparison) (base, new string) {
	return times(r.BaseCount, c.Base.Parts), times(r.NewCount, c.New.Parts)
}

// idleReason names the owner whose idle time moved most, and what of it did.
func (c *Comparison) idleReason(direction int64) string {
	r := largest(c.Idle.ByOwner().Rows, direction)
	if r == nil {
		return ""
	}
	if r.Name == Unattributed {
		return fmt.Sprintf("%s at times of which no owner is known (%s)", mostly(r.DeltaNS, direction), Signed(r.DeltaNS))
	}
	owner := r.Owner
	if owner == summary.OwnerUnknown {
		owner = "without a known owner"
	}
	if r.State != "" {
		owner += ", " + r.State
	}
	text := fmt.Sprintf("%s %s (%s)", mostly(r.DeltaNS, direction), owner, Signed(r.DeltaNS))
	for _, it := range c.Idle.Rows { // the largest first
		if it.Owner == r.Owner && it.State == r.State && it.Name != "" && (it.DeltaNS > 0) == (direction > 0) {
			return text + fmt.Sprintf(" in %q", it.Name)
		}
	}
	return text
}

// mostly introduces what has a part of a delta: half of it or more, or less.
func mostly(part, of int64) string {
	if float64(size(part)) >= 0.5*float64(size(of)) {
		return "most of it"
	}
	return "first of all"
}

// ByOwner adds up rows of idle time with the same owner and state.
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

// renamed says that kernels have other names, where nothing else happened.
func (c *Comparison) renamed() string {
	n, first := 0, ""
	for _, r := range c.Kernels.Rows {
		if len(r.Was) > 0 {
			if n++; first == "" {
				first = fmt.Sprintf("%q for %q", r.Name, r.Was[0])
			}
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "; 1 kernel has another name, " + first
	}
	return fmt.Sprintf("; %d kernels have other names, as %s", n, first)
}

// significance says whether repeated runs tell the sides apart.
func (c *Comparison) significance() string {
	if len(c.Estimates) == 0 {
		return ""
	}
	e := c.Estimates[0]
	if e.Base.Runs < 2 || e.New.Runs < 2 {
		return "a single run on one side says nothing about chance"
	}
	if e.Differs() {
		return fmt.Sprintf("the runs tell the sides apart (p=%.3f, %d and %d runs)", e.P, e.Base.Runs, e.New.Runs)
	}
	return fmt.Sprintf("which may be chance: the runs do not tell the sides apart (p=%.3f, %d and %d runs)", e.P, e.Base.Runs, e.New.Runs)
}

// sumsHeadline is the headline of sums without a timeline.
func (c *Comparison) sumsHeadline() string {
	for _, k := range c.Counters {
		if d := k.Delta(); d != 0 {
			return fmt.Sprintf("a launch of %q takes %s instead of %s (%s)", k.Kernel, unit.Duration(*k.NewNS), unit.Duration(*k.BaseNS), percentOf(d, *k.BaseNS))
		}
	}
	if len(c.Counters) > 0 && !slices.ContainsFunc(c.Counters, func(k CounterDelta) bool { return k.Match == ByName }) {
		return "no kernel was profiled on both sides"
	}
	if len(c.Counters) > 0 {
		return "no kernel's launch takes longer or shorter than before"
	}
	tables := slices.Clone(c.Tables)
	slices.SortStableFunc(tables, func(a, b TableDelta) int { return cmp.Compare(a.weight(), b.weight()) })
	for _, t := range tables {
		if len(t.Rows) > 0 && t.Rows[0].Delta(0) != 0 {
			r, col := t.Rows[0], t.Columns[0]
			return fmt.Sprintf("%s of %s is %s instead of %s (%s), %s %q (%s)", col.Name, t.Name, col.Text(col.New), col.Text(col.Base),
				percentOf(col.New-col.Base, col.Base), mostly(r.Delta(0), col.New-col.Base), r.Name, signedText(col, r.Delta(0)))
		}
	}
	return "no table changed"
}

// weight orders tables by how much they say of a GPU: kernels first.
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
