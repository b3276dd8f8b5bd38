package profile

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// waiting judges how much of a wall-clock profile is in functions that wait.
func (c *Evaluator) waiting(f *functions) (finding.Finding, bool) {
	if !f.waits() || !f.complete() {
		return finding.Finding{}, false
	}
	var all int64
	var rows []functionRow
	for _, r := range f.rows {
		if r.wait && r.self > 0 {
			rows = append(rows, r)
			all += r.self
		}
	}
	out, limit, ok := f.measured(c.Limits[rule.Waiting], all, f.own)
	if !ok {
		return finding.Finding{}, false
	}
	slices.SortStableFunc(rows, func(a, b functionRow) int { return cmp.Compare(b.self, a.self) })
	amounts := f.amount(all) + " of " + f.amount(f.own)
	if f.isTime() {
		amounts = unit.DurationOf(all, f.own)
	}
	out.Title = fmt.Sprintf("Blocked%s: functions that wait take %s of the self %s (%s)", f.where, unit.Share(all, f.own), f.noun(),
		amounts) + rule.Over(limit)
	for _, r := range rows[:min(4, len(rows))] {
		out.Evidence = append(out.Evidence, fmt.Sprintf("%s: %s (%s)", r, unit.Share(r.self, f.own), f.described(r)))
	}
	if callers := f.callersOf(rows[0].name); len(callers) > 0 {
		out.Evidence = append(out.Evidence, "called by "+callers[0])
	}
	if f.Clock == summary.ClockWall {
		out.Evidence = append(out.Evidence, "wall clock: tasks that wait at the same time all count, so the sum can exceed the run time")
	}
	out.Next = waitAdvice()
	return out, true
}

// callersOf returns the callers of a function, the largest first.
func (f *functions) callersOf(name string) (out []string) {
	if f.calls == nil {
		return nil
	}
	type caller struct {
		text  string
		total int64
	}
	var list []caller
	for i := range f.calls.Rows {
		r := &f.calls.Rows[i]
		if n, ok := r.Value(f.calls.Column("total")); ok && r.Name == name {
			list = append(list, caller{fmt.Sprintf("%s (%s)", called(r.Labels["caller"]), f.amount(n)), n})
		}
	}
	slices.SortStableFunc(list, func(a, b caller) int { return cmp.Compare(b.total, a.total) })
	for _, c := range list {
		out = append(out, c.text)
	}
	return out
}

// pair returns the functions of profile b by name, and whether both profiles show one program: b
// has at least half of the own functions of a.
func pair(a, b *functions) (map[string]functionRow, bool) {
	in := make(map[string]functionRow, len(b.rows))
	for _, r := range b.rows {
		in[r.name] = r
	}
	own, both := 0, 0
	for _, r := range a.rows {
		if r.foreign {
			continue
		}
		own++
		if _, ok := in[r.name]; ok {
			both++
		}
	}
	return in, own > 0 && 2*both >= own
}

// againstCPU compares a wall-clock profile with a CPU-clock profile of the same program: the
// difference is waiting.
func (c *Evaluator) againstCPU(profiles []functions) (finding.Finding, bool) {
	var best finding.Finding
	found := false
	for i := range profiles {
		for j := range profiles {
			wall, cpu := &profiles[i], &profiles[j]
			if wall.Clock != summary.ClockWall || cpu.Clock != summary.ClockCPU || !wall.isTime() {
				continue
			}
			in, ok := pair(wall, cpu)
			if !ok {
				continue
			}
			if f, ok := c.waitOf(wall, in); ok && (!found || f.NumeratorNS > best.NumeratorNS) {
				best, found = f, true
			}
		}
	}
	return best, found
}

// waitOf finds the program's own function that waits longest.
func (c *Evaluator) waitOf(wall *functions, cpu map[string]functionRow) (best finding.Finding, found bool) {
	for _, r := range wall.rows {
		other, ok := cpu[r.name]
		if !ok || r.foreign || other.total < 0 || r.total <= other.total || found && r.total-other.total <= best.NumeratorNS {
			continue
		}
		wait := r.total - other.total
		f, limit, ok := wall.measured(c.Limits[rule.Waiting], wait, r.total)
		if !ok {
			continue
		}
		f.Title = fmt.Sprintf("Blocked: %s waits for %s of its wall time (%s)", r, unit.Share(wait, r.total),
			unit.DurationOf(wait, r.total)) + rule.Over(limit)
		f.Evidence = []string{
			"wall clock: " + wall.described(r), "CPU clock: " + wall.described(other),
			"the profiles come from two runs, so their difference includes run-to-run noise",
		}
		f.Next = waitAdvice()
		best, found = f, true
	}
	return best, found
}

// growingAverage compares two profiles of one program by the same clock, in the order in which they
// were given, for example before and after a change, or with little and much data.
func (c *Evaluator) growingAverage(profiles []functions) (finding.Finding, bool) {
	if len(profiles) != 2 || profiles[0].Clock != profiles[1].Clock || profiles[0].Tool != profiles[1].Tool ||
		!profiles[0].isTime() || !profiles[1].isTime() {
		return finding.Finding{}, false
	}
	before, after := &profiles[0], &profiles[1]
	if before.Input > after.Input {
		before, after = after, before
	}
	in, ok := pair(after, before)
	if !ok || before.Input == after.Input {
		return finding.Finding{}, false
	}
	var best finding.Finding
	found := false
	for _, r := range after.rows {
		old, ok := in[r.name]
		matters := float64(r.total) >= c.Limits[rule.FunctionTotal].Warn*float64(after.whole)
		if !ok || r.foreign || !matters || old.mean <= 0 || r.mean <= old.mean {
			continue
		}
		f, limit, ok := after.measured(c.Limits[rule.GrowingAverage], r.mean-old.mean, old.mean)
		if !ok || found && f.Value <= best.Value {
			continue
		}
		f.Title = fmt.Sprintf("Mean call time +%s: %s, %s, was %s", unit.Share(r.mean-old.mean, old.mean), r,
			unit.Duration(r.mean), unit.Duration(old.mean)) + rule.Over(limit)
		f.Evidence = []string{
			c.Inputs[before.Input].Path + ": " + before.described(old), c.Inputs[after.Input].Path + ": " + after.described(r),
		}
		f.Next = []finding.Step{finding.Advise("use-sets-and-dicts"), finding.Advise("compare-the-two-programs")}
		best, found = f, true
	}
	return best, found
}
