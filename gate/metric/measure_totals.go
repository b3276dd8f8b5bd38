package metric

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/summary"
)

// A functions is the sum of the selected functions of one profile.
type functions struct {
	name             string
	count            int
	self, total      int64
	hottest          int64 // largest self time of one function
	calls, whole     int64
	hasSelf, hasCall bool
}

func (f functions) selfTime() (Value, error) {
	if !f.hasSelf {
		return Value{}, errors.New("no time of functions without the functions that they call, in this profile")
	}
	return whole(f.self), nil
}

// hottestShare returns the largest self time of one function as a share of the profile.
func (f functions) hottestShare() (Value, error) {
	f.self = f.hottest
	return f.share()
}

// totalTime returns the total time of one function. It is an error for several, because their times
// include each other.
func (f functions) totalTime() (Value, error) {
	if f.count > 1 {
		return Value{}, ambiguous("no sum: the total times of %d functions include each other; select one, or use function.self", f.count)
	}
	return whole(f.total), nil
}

func (f functions) share() (Value, error) {
	if _, err := f.selfTime(); err != nil {
		return Value{}, err
	}
	return ratio(f.self, f.whole), nil
}

func (f functions) called() (Value, error) {
	if !f.hasCall {
		return Value{}, errors.New("no number of calls in this profile: it has samples")
	}
	return whole(f.calls), nil
}

func (f functions) all() (Value, error) {
	if !f.hasSelf {
		return Value{}, errors.New("no time of functions without the functions that they call, in this profile")
	}
	return whole(f.whole), nil
}

// unknownClock selects profiles that do not state what their times are.
const unknownClock = "unknown"

// An Ambiguity is the error for a selector that selects several things without a common value. A
// gate is never skipped for it.
type Ambiguity struct{ text string }

func (a *Ambiguity) Error() string { return a.text }

func ambiguous(format string, args ...any) error { return &Ambiguity{fmt.Sprintf(format, args...)} }

// functionsAs returns a function that measures functions in profiles with values of a unit, or of one of
// several units that are separated by spaces. Of several profiles the largest value counts. Profiles with different clocks cannot be compared.
func functionsAs(unit string, of func(functions) (Value, error)) func(selection) (Value, error) {
	return func(v selection) (out Value, err error) {
		names, clocks, n := map[string]bool{}, map[string]bool{}, 0
		for i := range v.Tables {
			t := &v.Tables[i]
			rank := t.Rank()
			if t.Of != summary.OfFunction || rank < 0 || !slices.Contains(strings.Fields(unit), t.Columns[rank].Unit) ||
				!v.sel.has("clock", cmp.Or(t.Clock, unknownClock)) {
				continue
			}
			f := functionsOf(t, v.sel, names)
			if f.count == 0 {
				continue
			}
			clocks[t.Clock] = true
			x, err := of(f)
			if err != nil {
				return Value{}, err
			}
			if t.Columns[rank].Unit == samples {
				x.Num, x.Den = 0, 0 // they are no times
			}
			if n++; n == 1 || x.V > out.V {
				out = x
			}
		}
		switch {
		case len(names) == 0:
			return out, errors.New("no profile of functions (yappi, cProfile, pprof, stacks) with such values")
		case n == 0:
			return out, fmt.Errorf("no such function; there is %s", few(sorted(names)))
		case len(clocks) > 1:
			return out, ambiguous("no single clock: there are profiles of CPU time and of wall time; select clock=cpu or clock=wall")
		case n > 1:
			out.Note = fmt.Sprintf("the largest of %d profiles", n)
		}
		return out, nil
	}
}

// samples is the unit of profiles that count samples of equal time.
const samples = "count"

// functionsOf adds up the selected functions of a table, and records names of the table.
func functionsOf(t *summary.Table, sel Selector, names map[string]bool) functions {
	f := functions{name: t.Name}
	self, total, count := t.Column("self"), t.Column("total"), t.Column("count")
	if self < 0 || t.Columns[self].Unit != t.Columns[t.Rank()].Unit {
		self = -1
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		if len(names) < 50 {
			names[strconv.Quote(r.Name)] = true
		}
		if !sel.has("function", r.Name) {
			continue
		}
		f.count++
		add := func(sum *int64, column int) bool {
			n, ok := r.Value(column)
			*sum += n
			return ok
		}
		before := f.self
		f.hasSelf = add(&f.self, self) || f.hasSelf
		f.hottest = max(f.hottest, f.self-before)
		f.hasCall = add(&f.calls, count) || f.hasCall
		add(&f.total, total)
	}
	if self >= 0 {
		f.whole, _ = t.Whole(self)
	}
	return f
}

// cellsAs returns a function that measures cells of tables of other tools.
func cellsAs(unit string) func(selection) (Value, error) {
	return func(v selection) (out Value, err error) {
		tables, columns, rows, n := map[string]bool{}, map[string]bool{}, map[string]bool{}, 0
		for i := range v.Tables {
			t := &v.Tables[i]
			tables[t.Name] = true
			if !v.sel.has("table", t.Name) {
				continue
			}
			column := -1
			for j, c := range t.Columns {
				if c.Unit == unit {
					columns[c.Name] = true
					if c.Name == v.sel.Value("column") {
						column = j
					}
				}
			}
			if column < 0 {
				continue
			}
			sum, cells := int64(0), 0
			for j := range t.Rows {
				if len(rows) < 50 {
					rows[strconv.Quote(t.Rows[j].Name)] = true
				}
				if x, ok := t.Rows[j].Value(column); ok && v.sel.has("row", t.Rows[j].Name) {
					sum, cells = sum+x, cells+1
				}
			}
			if cells > 1 && t.Columns[column].Adds != summary.AddsSelf {
				return out, ambiguous("no sum: values of %q do not add up, and %d rows are selected; select one",
					v.sel.Value("column"), cells)
			}
			if cells > 0 {
				if n++; n == 1 || float64(sum) > out.V {
					out = whole(sum)
				}
			}
		}
		switch {
		case len(tables) == 0:
			return out, errors.New("no table of another tool")
		case n == 0 && len(rows) > 0:
			return out, fmt.Errorf("no such row; there is %s", few(sorted(rows)))
		case n == 0:
			return out, fmt.Errorf("no such table or column; there are the tables %s and of this unit the columns %s",
				few(sorted(tables)), few(sorted(columns)))
		case n > 1:
			out.Note = fmt.Sprintf("the largest of %d tables", n)
		}
		return out, nil
	}
}

// A counted is the sum of the counters of the selected kernels.
type counted struct {
	launches, timed, ns int64
	tail, waves         int64
	dram                int64
	hasDRAM             bool
	registers           Value
}

func known(ok bool, what string) error {
	if !ok {
		return fmt.Errorf("no %s among the counters that were collected", what)
	}
	return nil
}

func (c counted) time(of func(int64) Value) (Value, error) {
	return of(c.ns), known(c.timed > 0, "durations")
}

// counters returns the rows of the selected kernels.
func (v selection) counters() ([]*summary.Counter, error) {
	var out []*summary.Counter
	names := map[string]bool{}
	for i := range v.Counters {
		c := &v.Counters[i]
		names[strconv.Quote(c.Kernel)] = true
		if v.sel.hasNumber("device", c.Device) && v.sel.has("category", c.Category) && v.sel.has("class", c.Class) &&
			v.sel.has("kernel", c.Kernel) {
			out = append(out, c)
		}
	}
	switch {
	case len(names) == 0:
		return nil, errors.New("no hardware counters: record with ncu")
	case len(out) == 0:
		return nil, fmt.Errorf("no such kernel; there is %s", few(sorted(names)))
	}
	return out, nil
}

func countersAs(of func(counted) (Value, error)) func(selection) (Value, error) {
	return func(v selection) (Value, error) {
		rows, err := v.counters()
		if err != nil {
			return Value{}, err
		}
		var sum counted
		for _, c := range rows {
			sum.launches += c.Launches
			sum.timed += c.Timed
			sum.ns += c.TotalNS
			sum.tail += c.TailNS
			sum.waves += c.WavesNS
			if c.DRAMBytes != nil {
				sum.dram, sum.hasDRAM = sum.dram+*c.DRAMBytes, true
			}
			if c.Registers != nil {
				sum.registers.V = max(sum.registers.V, *c.Registers)
			}
		}
		return of(sum)
	}
}

// counterMean returns a function that measures the mean of a percentage, weighted by time or, if a
// kernel has none, by launches.
func counterMean(of func(*summary.Counter) *float64) func(selection) (Value, error) {
	return func(v selection) (Value, error) {
		rows, err := v.counters()
		if err != nil {
			return Value{}, err
		}
		timed := true
		for _, c := range rows {
			timed = timed && (of(c) == nil || c.TotalNS > 0)
		}
		var sum, weights float64
		for _, c := range rows {
			pct, weight := of(c), float64(c.TotalNS)
			if !timed {
				weight = float64(c.Launches)
			}
			if pct != nil {
				sum += *pct / 100 * weight
				weights += weight
			}
		}
		return Value{V: sum / weights}, known(weights > 0, "such values")
	}
}
