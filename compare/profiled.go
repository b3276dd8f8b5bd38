package compare

import (
	"fmt"

	"assay/internal/unit"
	"assay/summary/view"
)

// profilerCost returns what PyTorch's profiler costs a step or window of a side.
func (f *facts) profilerCost() (sum view.ProfilerCost) {
	for _, r := range f.runs {
		c := view.ProfilerCostOf(r.Summary, r.has)
		sum = view.ProfilerCost{Events: sum.Events + c.Events, Idle: sum.Idle + c.Idle, Least: sum.Least + c.Least, Most: sum.Most + c.Most}
	}
	part := 1.0
	if windows := f.windows.Window(); f.per == PerStep && windows > 0 { // the steps are a part of the windows
		part = min(1, float64(f.cells.Window())/float64(windows))
	}
	each := func(ns int64) int64 { return int64(part * float64(ns) / float64(f.n)) }
	return view.ProfilerCost{Events: each(sum.Events), Idle: each(sum.Idle), Least: each(sum.Least), Most: each(sum.Most)}
}

// profilersOwn warns that the idle time may have changed only because the profiler cost the runs more or less:
// without it, the step may even have changed in the other direction.
func (d *differ) profilersOwn() (Reason, bool) {
	if d.c.Per == PerNone {
		return Reason{}, false
	}
	base, new := d.base.profilerCost(), d.new.profilerCost()
	change := d.c.idleDelta()
	within := base.Events > 0 && new.Events > 0 && !d.c.isStill(change) && new.Least-base.Most <= change && change <= new.Most-base.Least
	d.c.profiled = within && 2*size(change) >= size(d.c.Budget.DeltaNS)
	return Reason{"profiler-cost", Warn, fmt.Sprintf("PyTorch's profiler itself takes %s of a %s in the base and %s in the new run, "+
		"so the idle time (%s) may change otherwise without it, even in the other direction: compare step times measured without the profiler",
		between(base), d.c.Per, between(new), Signed(change))}, within
}

func between(c view.ProfilerCost) string {
	switch {
	case c.Most == 0:
		return "none"
	case c.Least == c.Most:
		return unit.Duration(c.Most)
	}
	return unit.Duration(c.Least) + " to " + unit.Duration(c.Most)
}

// idleDelta returns the change of the idle part of the budget.
func (c *Comparison) idleDelta() int64 {
	for _, r := range c.Budget.Rows {
		if r.Name == BudgetIdle {
			return r.DeltaNS
		}
	}
	return 0
}
