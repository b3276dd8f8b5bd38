package compare

import (
	"cmp"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"assay/compare/efficiency"
	"assay/compare/layers"

	"assay/compare/phases"
	"assay/compare/ranks"
	"assay/summary"
)

// A differ makes a comparison from the gathered data.
type differ struct {
	c         *Comparison
	base, new *facts
	pairs     []pair
	phases    *phases.Comparison // nil if a side has no steps
	force     bool               // also compare what is not comparable
}

// An item is a row before it is divided by the number of steps.
type item struct {
	row       Row
	base, new amount
}

// part divides the items by the number of steps or windows and sorts them. They are divided in the
// order of their names, so that the same rows get the fractions of nanoseconds each time.
func (d *differ) part(items []item) Part {
	slices.SortFunc(items, func(a, b item) int { return compareNames(&a.row, &b.row) })
	p := Part{Rows: []Row{}}
	base, new := carry{n: d.base.n}, carry{n: d.new.n}
	for _, it := range items {
		r := it.row
		r.BaseCount, r.NewCount = it.base.count, it.new.count
		r.BaseNS, r.NewNS = base.next(it.base.ns), new.next(it.new.ns)
		r.DeltaNS = r.NewNS - r.BaseNS
		r.CountNS = countEffect(it, d.base.n, d.new.n, r.DeltaNS)
		r.DurationNS = r.DeltaNS - r.CountNS
		p.Rows = append(p.Rows, r)
	}
	p.BaseNS, p.NewNS = base.done, new.done
	p.DeltaNS = p.NewNS - p.BaseNS
	p.sort()
	return p
}

// sort puts the largest deltas first.
func (p *Part) sort() {
	slices.SortStableFunc(p.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(size(b.DeltaNS), size(a.DeltaNS)), cmp.Compare(b.NewNS, a.NewNS), compareNames(&a, &b))
	})
}

func compareNames(a, b *Row) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Owner, b.Owner),
		cmp.Compare(a.State, b.State), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Match, b.Match), slices.Compare(a.Keys, b.Keys))
}

func size(ns int64) int64 { return max(ns, -ns) }

// A carry divides one number after another by n and carries the remainders, so that the results sum
// to the sum divided by n.
type carry struct{ n, sum, done int64 }

func (c *carry) next(ns int64) int64 {
	c.sum += ns
	now := c.sum / c.n
	part := now - c.done
	c.done = now
	return part
}

// countEffect returns the effect of the changed count at the mean duration of the base, per step or
// window: the difference of the counts per step times that mean, rounded. The delta of an added or
// removed row is all count effect.
func countEffect(it item, baseN, newN, delta int64) int64 {
	switch {
	case it.base.count <= 0 || it.new.count <= 0:
		return delta
	case it.base.ns == 0:
		return 0
	}
	of := big.NewInt
	counts := new(big.Int).Sub(new(big.Int).Mul(of(it.new.count), of(baseN)),
		new(big.Int).Mul(of(it.base.count), of(newN)))
	num := counts.Mul(counts, of(it.base.ns))
	den := new(big.Int).Mul(of(it.base.count), new(big.Int).Mul(of(baseN), of(newN)))
	half := new(big.Int).Rsh(den, 1)
	if num.Sign() < 0 {
		half.Neg(half)
	}
	effect := num.Quo(num.Add(num, half), den)
	if rest := new(big.Int).Sub(of(delta), effect); !effect.IsInt64() || !rest.IsInt64() {
		return delta // the counts of a damaged file overflow
	}
	return effect.Int64()
}

// timeline compares the data of devices.
func (d *differ) timeline() {
	c := d.c
	c.Cells = d.cells()
	c.Budget = d.budget()
	if r := ranks.Compare(d.base.parts(), d.new.parts(), c.Per == PerStep); r != nil {
		c.Ranks, c.Waits = r.Rows, &Waits{r.Base, r.New}
	}
	d.pairs = matchKernels(d.base, d.new)
	d.kernelWork()
	c.Copies = d.part(d.rows(summary.Copies(), "total", nil, "copy", "class"))
	c.Calls = d.part(d.rows(summary.Calls(), "total", nil, "call"))
	c.Passes = d.part(d.rows(summary.Passes(), "GPU time", nil, "pass"))
	c.Annotations = d.part(d.rows(summary.Annotations(), "total", notStep, "annotation")).Rows
	if !rolled(d.base.runs) && !rolled(d.new.runs) {
		c.Modules = d.part(d.rows(summary.Modules(), "self", nil, "module")).Rows
		c.Lines = d.part(d.rows(summary.Lines(), "self", nil, "line")).Rows
	}
	c.Idle = d.idle()
	c.Shapes = d.shapes()
	c.Figures = d.figures()
	base, new := d.base.efficiency(), d.new.efficiency()
	c.Efficiency = efficiency.Of(base, new)
	c.OtherPeaks = efficiency.OtherPeaks(base, new)
	if c.Per == PerStep {
		c.StepKinds = d.stepKinds()
	}
	c.Layers = layers.Of(d.base.layers(), d.new.layers())
}

// layers returns the rows of the layers of all runs of a side. Each run has numbers of inputs of its own.
func (f *facts) layers() *summary.Summary {
	s := new(summary.Summary)
	for n, r := range f.runs {
		place := func(input int) int { return input + n*1_000_000 }
		for _, l := range r.Summary.Layers {
			if r.has(l.Input) {
				l.Input = place(l.Input)
				s.Layers = append(s.Layers, l)
			}
		}
		for _, st := range r.Summary.Steps {
			if len(r.Summary.Layers) > 0 && r.has(st.Input) {
				st.Input = place(st.Input)
				s.Steps = append(s.Steps, st)
			}
		}
	}
	return s
}

// efficiency returns the rows of all runs of a side, with the idle time in which GPUs ran work that
// was not recorded.
func (f *facts) efficiency() *summary.Summary {
	s := new(summary.Summary)
	e := &s.Efficiency
	for _, r := range f.runs {
		all := r.Summary.Efficiency
		for _, d := range all.Devices {
			if slices.Contains(r.Inputs, d.Input) {
				e.Devices = append(e.Devices, d)
			}
		}
		for _, row := range all.Rows {
			if slices.Contains(r.Inputs, row.Input) {
				e.Rows = append(e.Rows, row)
			}
		}
		for _, row := range r.Summary.Idle {
			if row.Owner == summary.OwnerNotRecorded && slices.Contains(r.Inputs, row.Input) {
				s.Idle = append(s.Idle, row)
			}
		}
	}
	return s
}

// cells compares the sets of classes that ran together.
func (d *differ) cells() Part {
	p := Part{Rows: []Row{}}
	base, new := carry{n: d.base.n}, carry{n: d.new.n}
	for set := range d.base.cells {
		r := Row{Name: summary.Class(set).String(), Match: ByName}
		r.BaseNS, r.NewNS = base.next(d.base.cells[set]), new.next(d.new.cells[set])
		p.add(r)
	}
	p.Rows = slices.DeleteFunc(p.Rows, func(r Row) bool { return r.BaseNS == 0 && r.NewNS == 0 })
	return p
}

// add adds a row without counted runs: all its delta is duration effect.
func (p *Part) add(r Row) {
	r.DeltaNS = r.NewNS - r.BaseNS
	r.DurationNS = r.DeltaNS
	p.Rows = append(p.Rows, r)
	p.BaseNS += r.BaseNS
	p.NewNS += r.NewNS
	p.DeltaNS = p.NewNS - p.BaseNS
}

// The rows of a budget.
const (
	BudgetCompute = "compute"
	BudgetComm    = "exposed communication"
	BudgetCopies  = "exposed copies"
	BudgetIdle    = "idle"
)

// budget adds up the cells to four parts. It uses the divided cells, so that both have the same
// sums.
func (d *differ) budget() Part {
	var base, new summary.Activity
	b, n := carry{n: d.base.n}, carry{n: d.new.n}
	for set := range base {
		base[set], new[set] = b.next(d.base.cells[set]), n.next(d.new.cells[set])
	}
	var p Part
	for _, part := range []struct {
		name string
		of   func(summary.Activity) int64
	}{
		{BudgetCompute, summary.Activity.Compute}, {BudgetComm, summary.Activity.ExposedComm},
		{BudgetCopies, summary.Activity.ExposedCopy}, {BudgetIdle, summary.Activity.Idle},
	} {
		p.add(Row{Name: part.name, Match: ByName, BaseNS: part.of(base), NewNS: part.of(new)})
	}
	return p
}

func matchOf(inBase, inNew bool) string {
	switch {
	case !inBase:
		return OnlyNew
	case !inNew:
		return OnlyBase
	}
	return ByName
}

// Unattributed is the name of the row for idle time without a known cause: the idle time of steps
// outside the windows of devices, minus that of the windows outside steps.
const Unattributed = "(not attributed)"

// notStep reports whether an annotation does not mark a step. Step numbers differ between runs.
func notStep(v reflect.Value) bool {
	return !strings.HasPrefix(summary.Annotations().Column("annotation").Text(v), "ProfilerStep#")
}

// idle divides the idle time of the budget by its causes. Causes are known for the windows of
// devices; the difference to the steps is a separate row.
func (d *differ) idle() Part {
	p := d.part(d.rows(summary.Idles(), "idle", nil, "in", "owner", "state"))
	want := d.c.Budget.Rows[3]
	if p.BaseNS != want.BaseNS || p.NewNS != want.NewNS {
		p.add(Row{Name: Unattributed, Match: ByName, BaseNS: want.BaseNS - p.BaseNS, NewNS: want.NewNS - p.NewNS})
		p.sort()
	}
	return p
}

// kernelWork divides the total kernel time by kernel, category and operator. Effects of count and
// duration are added up over kernels, because a category whose mix changes has no mean duration.
func (d *differ) kernelWork() {
	c := d.c
	var kernels, launched []item
	for i := range d.pairs {
		p := &d.pairs[i]
		row := p.row()
		kernels = append(kernels, item{row, p.sum(p.base), p.sum(p.new)})
		ops := map[string]bool{}
		for _, k := range slices.Concat(p.base, p.new) {
			for op := range k.ops {
				ops[op] = true
			}
		}
		for op := range ops {
			r := row
			r.Op = op
			launched = append(launched, item{r, p.under(p.base, op), p.under(p.new, op)})
		}
	}
	c.Kernels = d.part(kernels)
	c.Categories = c.Kernels.fold(func(r Row) Row { return Row{Name: r.Category, Class: r.Class} })
	c.Ops = d.part(launched).fold(func(r Row) Row { return Row{Name: r.Op} })
	for _, r := range c.Kernels.Rows {
		if r.Match != OnlyBase && r.Match != OnlyNew && r.Match != ByPlace {
			c.SharedBase += r.BaseNS
			c.SharedNew += r.NewNS
		}
	}
}

// fold adds up the rows for which target returns the same row.
func (p Part) fold(target func(Row) Row) Part {
	index := map[[4]string]int{}
	out := Part{BaseNS: p.BaseNS, NewNS: p.NewNS, DeltaNS: p.DeltaNS, Rows: []Row{}}
	for _, r := range p.Rows {
		to := target(r)
		key := [4]string{to.Name, to.Class, to.Owner, to.State}
		i, ok := index[key]
		if !ok {
			i = len(out.Rows)
			index[key] = i
			to.Match = r.Match
			out.Rows = append(out.Rows, to)
		}
		sum := &out.Rows[i]
		sum.BaseCount, sum.NewCount = sum.BaseCount+r.BaseCount, sum.NewCount+r.NewCount
		sum.BaseNS, sum.NewNS, sum.DeltaNS = sum.BaseNS+r.BaseNS, sum.NewNS+r.NewNS, sum.DeltaNS+r.DeltaNS
		sum.CountNS, sum.DurationNS = summary.Plus(sum.CountNS, r.CountNS), summary.Plus(sum.DurationNS, r.DurationNS)
		if sum.Match != r.Match {
			sum.Match = ByName // both sides have part of it
		}
	}
	for i := range out.Rows {
		if m := out.Rows[i].Match; m != OnlyBase && m != OnlyNew {
			out.Rows[i].Match = ByName
		}
	}
	out.sort()
	return out
}

// figures compares counts and sizes.
func (d *differ) figures() []Figure {
	names := maps.Clone(d.base.figures)
	maps.Copy(names, d.new.figures)
	var out []Figure
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f := Figure{Name: name, Unit: "count", Each: !strings.HasPrefix(name, "peak")}
		if strings.Contains(name, "bytes") || strings.HasPrefix(name, "peak") {
			f.Unit = "bytes"
		}
		if n, ok := d.base.figures[name]; ok {
			f.Base = &n
		}
		if n, ok := d.new.figures[name]; ok {
			f.New = &n
		}
		out = append(out, f)
	}
	return out
}
