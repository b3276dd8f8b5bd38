package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/unit"
	"assay/summary/view"
)

// Limits of headlines.
const (
	still     = Still
	mostParts = 4 // most kernels or functions that are named
)

// headline describes the largest change, with its numbers.
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
	if n := len(c.Shapes); n > 0 {
		text += "; the runs do different work: " + c.Shapes[0].text()
		if n > 1 {
			text += ", and " + operators(n-1) + " more"
		}
	}
	if s := c.significance(); s != "" {
		text += "; " + s
	}
	return text
}

// movement describes the change of the step time and its main cause: a rank that the others wait
// for, or parts of the breakdown.
func (c *Comparison) movement() string {
	why, leads := c.rankReason()
	text := ""
	switch delta := c.Budget.DeltaNS; {
	case !leads:
		if text = c.partsMovement(); why != "" {
			text += "; " + why
		}
	case c.isStill(delta):
		text = c.inUnit().Unchanged(c.wholeName(), c.Budget.BaseNS, c.Budget.NewNS) + ", but " + why
	default:
		text = c.inUnit().Moved(c.wholeName(), c.Budget.BaseNS, c.Budget.NewNS) + "; " + why
	}
	if why := c.graphReason(); why != "" {
		text += "; " + why
	}
	if c.profiled {
		text += "; the profiler's own cost may explain this"
	}
	return text
}

// inUnit returns the unit in which the step or window is printed.
func (c *Comparison) inUnit() Unit {
	return UnitOf("ns", c.Budget.BaseNS, c.Budget.NewNS)
}

func (c *Comparison) wholeName() string {
	if c.Per == PerStep {
		return "step"
	}
	return "GPU window"
}

// partsMovement describes the change of the step time and the parts that explain it.
func (c *Comparison) partsMovement() string {
	delta, in := c.Budget.DeltaNS, c.inUnit()
	base, new := c.Budget.BaseNS, c.Budget.NewNS
	if c.isStill(delta) {
		text := in.Unchanged(c.wholeName(), base, new)
		var why []string
		for _, i := range c.movedParts() {
			why = append(why, c.because(&c.Budget.Rows[i]))
		}
		if why == nil {
			return text + ", no part changed by 1% or more" + c.renamed()
		}
		return text + ", but its parts changed: " + strings.Join(why, "; ")
	}
	text := in.Moved(c.wholeName(), base, new)
	var deltas []int64
	for _, r := range c.Budget.Rows {
		deltas = append(deltas, r.DeltaNS)
	}
	named, other := Explaining(deltas, delta, len(deltas))
	for n, i := range named {
		text += map[bool]string{true: ": ", false: "; "}[n == 0] + c.because(&c.Budget.Rows[i])
	}
	if other >= 0 {
		text += "; but " + c.because(&c.Budget.Rows[other])
	}
	return text
}

// movedParts returns at most two parts of the breakdown that changed by at least [Still] of the
// whole, those with the largest changes.
func (c *Comparison) movedParts() (out []int) {
	for i, r := range c.Budget.Rows {
		if !c.isStill(r.DeltaNS) {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(i, j int) int {
		return cmp.Compare(size(c.Budget.Rows[j].DeltaNS), size(c.Budget.Rows[i].DeltaNS))
	})
	return out[:min(2, len(out))]
}

func (c *Comparison) isStill(delta int64) bool {
	return float64(size(delta)) < still*float64(c.Budget.BaseNS)
}

// mover returns the part of the budget that changed most in the direction of the whole or, if the
// whole is unchanged, in any direction.
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

// because describes the change of a part of the budget, and the main contribution to it.
func (c *Comparison) because(part *Row) string {
	text := part.Name + " " + c.inUnit().Delta(part.DeltaNS)
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

// largest returns the row with the largest change in the given direction, or nil.
func largest(rows []Row, direction int64) *Row {
	for i := range rows { // rows have the largest changes first
		if d := rows[i].DeltaNS; d != 0 && (d > 0) == (direction > 0) {
			return &rows[i]
		}
	}
	return nil
}

// kernelReason describes the kernels of a class whose changes explain a change, the largest first.
func (c *Comparison) kernelReason(delta int64, class string) string {
	rows := slices.DeleteFunc(slices.Clone(c.Kernels.Rows),
		func(r Row) bool { return (r.Class == "comm") != (class == "comm") })
	var deltas []int64
	for _, r := range rows {
		deltas = append(deltas, r.DeltaNS)
	}
	most := mostParts
	if c.isStill(c.Budget.DeltaNS) {
		most = 1 // the headline already names two parts of the breakdown
	}
	named, _ := Explaining(deltas, delta, most)
	if len(named) == 0 {
		return "because kernels overlap less"
	}
	first := &rows[named[0]]
	text := mostly(first.DeltaNS, delta) + " " + c.runs(first)
	for _, i := range named[1:] {
		text += fmt.Sprintf(", %q (%s)", rows[i].Name, c.inUnit().Delta(rows[i].DeltaNS))
	}
	return text
}

// commReason distinguishes communication that takes longer from communication that is overlapped
// less.
func (c *Comparison) commReason(part *Row) string {
	if work := c.New.CommNS - c.Base.CommNS; float64(size(work)) >= 0.5*float64(size(part.DeltaNS)) &&
		(work > 0) == (part.DeltaNS > 0) {
		return c.kernelReason(part.DeltaNS, "comm")
	}
	return fmt.Sprintf("because compute overlaps %s of it, was %s", c.New.hidden(), c.Base.hidden())
}

// hidden returns the share of communication that compute overlaps.
func (s Side) hidden() string {
	all := s.Activity.HiddenComm() + s.Activity.ExposedComm()
	if all == 0 {
		return "none"
	}
	return unit.Share(s.Activity.HiddenComm(), all)
}

// runs describes the change of a kernel or copy by its number of runs or by the duration of a run,
// whichever has the larger effect.
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
		return fmt.Sprintf("%s, added: %s %s (%s)", name, often(new), each, c.inUnit().Delta(r.DeltaNS))
	case r.Match == OnlyBase:
		return fmt.Sprintf("%s, removed: was %s %s (%s)", name, often(base), each, c.inUnit().Delta(r.DeltaNS))
	case size(r.CountNS) > size(r.DurationNS):
		return fmt.Sprintf("%s: %s %s, was %s (%s)", name, often(new), each, often(base), c.inUnit().Delta(r.DeltaNS))
	}
	b, n := r.Means(c)
	return fmt.Sprintf("%s: mean %s, was %s (%s)", name, unit.Duration(n), unit.Duration(b), c.inUnit().Delta(r.DeltaNS))
}

// often returns the text for a number of times.
func often(times string) string {
	if times == "1" {
		return "once"
	}
	return times + " times"
}

// Means returns the mean duration of a run on both sides in ns, or 0 if there is none.
func (r *Row) Means(c *Comparison) (base, new int64) {
	of := func(ns, count, parts int64) int64 {
		if count <= 0 {
			return 0
		}
		return int64(float64(ns)*float64(parts)/float64(count) + 0.5)
	}
	return of(r.BaseNS, r.BaseCount, c.Base.Parts), of(r.NewNS, r.NewCount, c.New.Parts)
}

// times returns the count per step or window, without decimals if it is a whole number.
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

// idleReason describes the cause with the largest change of idle time, and its largest item.
func (c *Comparison) idleReason(direction int64) string {
	r := largest(c.Idle.ByOwner().Rows, direction)
	if r == nil {
		return ""
	}
	if r.Name == Unattributed {
		return fmt.Sprintf("%s unattributed (%s)", mostly(r.DeltaNS, direction), c.inUnit().Delta(r.DeltaNS))
	}
	text := fmt.Sprintf("%s %s (%s)", mostly(r.DeltaNS, direction), view.Cause(r.Owner, r.State),
		c.inUnit().Delta(r.DeltaNS))
	for _, it := range c.Idle.Rows { // rows have the largest changes first
		if it.Owner == r.Owner && it.State == r.State && it.Name != "" && (it.DeltaNS > 0) == (direction > 0) {
			return text + fmt.Sprintf(" in %q", it.Name)
		}
	}
	return text
}

// mostly returns the word for a part of a delta: whether it is at least half of it.
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

// renamed describes kernels with changed names, for headlines without another change.
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

// significance describes the significance of the change, from repeated runs.
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

// graphReason says that only one side launches its kernels by graphs, which changes the work of the
// CPU and the gaps between kernels.
func (c *Comparison) graphReason() string {
	each := func(name string) (base, new string, b, n float64) {
		for _, f := range c.Figures {
			if f.Name == name && f.Each {
				b, n := valueOf(f.Base), valueOf(f.New)
				return times(b, c.Base.Parts), times(n, c.New.Parts), float64(b) / float64(c.Base.Parts),
					float64(n) / float64(c.New.Parts)
			}
		}
		return "0", "0", 0, 0
	}
	const most = 0.5 // share of the graph launches, or calls, of the other side
	base, new, b, n := each(graphLaunches)
	calls, newCalls, before, after := each(launchCalls)
	numbers := fmt.Sprintf("per %s: graph launches %s → %s, launch calls %s → %s",
		map[string]string{PerStep: "step", PerWindow: "window"}[c.Per], base, new, calls, newCalls)
	switch {
	case n < most*b && before < most*after:
		return "CUDA graphs are no longer replayed (" + numbers + ")"
	case b < most*n && after < most*before:
		return "CUDA graphs now launch the kernels (" + numbers + ")"
	}
	return ""
}
