package tables

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/judge/finding"
	"assay/summary"
)

// A tableRow is a row of a table of totals with the values that rules need.
type tableRow struct {
	summary.TableRow
	ns      int64 // its part of the total
	runs    int64 // number of calls; 0 if the table has none
	longest int64 // ns of the longest call; 0 if the table has none
}

// A tableSet has the rows of one kind of operation of one run.
type tableSet struct {
	rows []tableRow
	ns   int64 // of all rows, including those that the table omits
	runs int64
}

// A runTables has the tables of one run by kind. A set without rows means that the table is missing
// or that the tool recorded nothing for it.
type runTables struct {
	kernels, copies, calls tableSet
	bytes                  map[string]int64 // by the name of a copy
	unrecorded             bool             // the tool states that it has no kernels
	torch                  *torchRun        // more values of a table of torch.profiler; nil for other tools
}

// tableRuns sorts the tables by run. Several tables may list the same kernels of a run, so only one
// table of each kind is used.
func (c *Evaluator) tableRuns() []runTables {
	type group struct {
		key    string
		tables []*summary.Table
	}
	var groups []group
	for i := range c.Tables {
		t := &c.Tables[i]
		key := c.runKey(t)
		at := slices.IndexFunc(groups, func(g group) bool { return g.key == key })
		if at >= 0 && !fits(groups[at].tables, t) {
			// Two runs have the same name, so each input is a run.
			key = fmt.Sprint("input ", t.Input)
			at = slices.IndexFunc(groups, func(g group) bool { return g.key == key })
		}
		if at < 0 {
			at = len(groups)
			groups = append(groups, group{key: key})
		}
		groups[at].tables = append(groups[at].tables, t)
	}
	out := make([]runTables, len(groups))
	for i, g := range groups {
		if out[i] = runOf(g.tables); g.tables[0].Tool == "torch" {
			out[i].addTorch(g.tables)
		}
	}
	return withoutRepeats(out)
}

// runKey identifies the run of a table: its name in the directory, or its input if the tool writes
// no name. Each table that torch.profiler printed is a run.
func (c *Evaluator) runKey(t *summary.Table) string {
	if t.Tool == "torch" {
		return fmt.Sprint("input ", t.Input, " line ", t.Line)
	}
	if t.Run == "" || t.Input < 0 || t.Input >= len(c.Inputs) {
		return fmt.Sprint("input ", t.Input)
	}
	path := c.Inputs[t.Input].Path
	return path[:strings.LastIndexAny(path, `/\`)+1] + "\x00" + t.Run
}

// fits reports whether t can belong to the same run as tables: no other input has a table of its
// name.
func fits(tables []*summary.Table, t *summary.Table) bool {
	return !slices.ContainsFunc(tables, func(o *summary.Table) bool { return o.Name == t.Name && o.Input != t.Input })
}

// runOf selects the tables of kernels, of copies and of calls of a run. For each kind it is the
// first table that lists only this kind, otherwise the first that lists it among others.
func runOf(tables []*summary.Table) runTables {
	run := runTables{bytes: map[string]int64{}}
	narrow := func(t *summary.Table) int {
		if t.Of == summary.OfRow || t.Of == summary.OfDeviceOp {
			return 1
		}
		return 0
	}
	sorted := slices.Clone(tables)
	slices.SortStableFunc(sorted, func(a, b *summary.Table) int { return cmp.Compare(narrow(a), narrow(b)) })
	for _, t := range sorted {
		at := t.Column("total")
		if t.Missing != "" && t.Of == summary.OfKernel {
			run.unrecorded = true
		}
		if at >= 0 && t.Of == summary.OfCopy && t.Columns[at].Unit == "bytes" {
			for _, r := range t.Rows {
				if n, ok := r.Value(at); ok {
					run.bytes[r.Name] = n
				}
			}
		}
		if at < 0 || t.Columns[at].Unit != "ns" || t.Columns[at].Adds != summary.AddsSelf {
			continue // ranges include the kernels of nested ranges, so their rows do not add up
		}
		if t.Doubted() {
			continue // a share of its sum would be wrong
		}
		take(&run.kernels, t, summary.OfKernel, func(r summary.TableRow) bool {
			return r.Class == "compute" || r.Class == "comm"
		})
		take(&run.copies, t, summary.OfCopy, func(r summary.TableRow) bool {
			return r.Class == "copy" || r.Class == "memset"
		})
		if slices.ContainsFunc(t.Rows, func(r summary.TableRow) bool { return r.Kind != "" && r.Kind != "other" }) {
			take(&run.calls, t, summary.OfCall, func(r summary.TableRow) bool { return r.Kind != "" })
		}
	}
	run.unrecorded = run.unrecorded && len(run.kernels.rows) == 0
	return run
}

// take fills an empty set with the rows of t that wanted accepts. Rows that the table omits are
// counted if kind says that all its rows are wanted.
func take(set *tableSet, t *summary.Table, kind string, wanted func(summary.TableRow) bool) {
	if len(set.rows) > 0 {
		return
	}
	total, count, longest := t.Column("total"), t.Column("count"), t.Column("max")
	for _, r := range t.Rows {
		if !wanted(r) {
			continue
		}
		row := tableRow{TableRow: r, ns: positive(r.Value(total)), runs: positive(r.Value(count)),
			longest: positive(r.Value(longest))}
		set.rows = append(set.rows, row)
		set.ns, set.runs = set.ns+row.ns, set.runs+row.runs
	}
	if t.Of == kind && len(set.rows) > 0 {
		rest := summary.TableRow{Values: t.Rest}
		set.ns += positive(rest.Value(total))
		set.runs += positive(rest.Value(count))
	}
}

// positive returns a value, or 0 if it is unknown, negative or saturated.
func positive(n int64, known bool) int64 {
	if !known || n == math.MaxInt64 {
		return 0
	}
	return max(0, n)
}

// ofKinds returns the calls of the given kinds, with their sums.
func (s tableSet) ofKinds(kinds ...string) (out tableSet) {
	for _, r := range s.rows {
		if slices.Contains(kinds, r.Kind) {
			out.add(r)
		}
	}
	return out
}

// class returns the rows of one class.
func (s tableSet) class(class string) (out tableSet) {
	for _, r := range s.rows {
		if r.Class == class {
			out.add(r)
		}
	}
	return out
}

func (s *tableSet) add(r tableRow) {
	s.rows = append(s.rows, r)
	s.ns, s.runs = s.ns+r.ns, s.runs+r.runs
}

// plus adds the rows of another run.
func (s tableSet) plus(o tableSet) tableSet {
	return tableSet{slices.Concat(s.rows, o.rows), s.ns + o.ns, s.runs + o.runs}
}

// byName adds up the rows of one name and returns the largest first. Names that the tool truncated
// are ambiguous and are not added up.
func (s tableSet) byName() []tableRow {
	index := map[string]int{}
	var out []tableRow
	for _, r := range s.rows {
		i, ok := index[r.Name]
		if !ok || strings.HasSuffix(r.Name, "…") {
			index[r.Name] = len(out)
			out = append(out, r)
			continue
		}
		sum := &out[i]
		sum.ns, sum.runs, sum.longest = sum.ns+r.ns, sum.runs+r.runs,
			max(sum.longest, r.longest)
	}
	slices.SortStableFunc(out, func(a, b tableRow) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns),
			cmp.Compare(a.Name, b.Name))
	})
	return out
}

// place returns a row of a table as a place.
func (r tableRow) place() finding.Place { return finding.Place{Row: r.Name, NS: r.ns} }

// places returns the largest rows as places.
func (s tableSet) places() (out []finding.Place) {
	for _, r := range s.byName() {
		if len(out) == finding.MostPlaces || r.ns == 0 {
			break
		}
		out = append(out, r.place())
	}
	return out
}
