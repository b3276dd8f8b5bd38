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

// A tableRow is a row of a table of sums with what rules ask for.
type tableRow struct {
	summary.TableRow
	ns      int64 // what it has of the sum
	runs    int64 // how often; 0 if the table does not say
	longest int64 // 0 if it does not say
}

// A tableSet is the rows of one kind of one run.
type tableSet struct {
	rows []tableRow
	ns   int64 // of all rows, those left out too
	runs int64
}

// A runTables is what the tables of one run say. A set without rows is of a table
// that was not given, or that its tool had nothing for.
type runTables struct {
	kernels, copies, calls tableSet
	bytes                  map[string]int64 // by the name of a copy
	unrecorded             bool             // the tool says that it has no kernels
	torch                  *torchRun        // what a table of torch.profiler says besides; nil of all others
}

// tableRuns sorts the tables by the runs that they are of. A run's kernels may be
// in several tables, so of each kind one table is taken.
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
			// Two runs that are called the same: then each input is by itself.
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

// runKey names the run of a table: what the tool calls it within a directory, or
// the input where the tool does not say. Each table that torch.profiler printed
// is by itself.
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

// fits reports whether t can be of the same run as the tables: no other input
// has such a table.
func fits(tables []*summary.Table, t *summary.Table) bool {
	return !slices.ContainsFunc(tables, func(o *summary.Table) bool { return o.Name == t.Name && o.Input != t.Input })
}

// runOf takes from the tables of a run one of kernels, one of copies and one of
// calls: the first that has only those, else the first that has them among others.
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
			continue // ranges have the kernels of the ranges within them, too
		}
		if t.Doubted() {
			continue // a share of its sum would be wrong
		}
		take(&run.kernels, t, summary.OfKernel, func(r summary.TableRow) bool { return r.Class == "compute" || r.Class == "comm" })
		take(&run.copies, t, summary.OfCopy, func(r summary.TableRow) bool { return r.Class == "copy" || r.Class == "memset" })
		if slices.ContainsFunc(t.Rows, func(r summary.TableRow) bool { return r.Kind != "" && r.Kind != "other" }) {
			take(&run.calls, t, summary.OfCall, func(r summary.TableRow) bool { return r.Kind != "" })
		}
	}
	run.unrecorded = run.unrecorded && len(run.kernels.rows) == 0
	return run
}

// take fills an empty set with the rows of t that wanted accepts. The omitted part of a
// table counts if wanted accepts all its rows.
func take(set *tableSet, t *summary.Table, of string, wanted func(summary.TableRow) bool) {
	if len(set.rows) > 0 {
		return
	}
	total, count, longest := t.Column("total"), t.Column("count"), t.Column("max")
	for _, r := range t.Rows {
		if !wanted(r) {
			continue
		}
		row := tableRow{TableRow: r, ns: positive(r.Value(total)), runs: positive(r.Value(count)), longest: positive(r.Value(longest))}
		set.rows = append(set.rows, row)
		set.ns, set.runs = summary.Plus(set.ns, row.ns), summary.Plus(set.runs, row.runs)
	}
	if t.Of == of && len(set.rows) > 0 {
		rest := summary.TableRow{Values: t.Rest}
		set.ns = summary.Plus(set.ns, positive(rest.Value(total)))
		set.runs = summary.Plus(set.runs, positive(rest.Value(count)))
	}
}

// positive returns a value, or 0 where it is not known or broken.
func positive(n int64, known bool) int64 {
	if !known || n == math.MaxInt64 {
		return 0
	}
	return max(0, n)
}

// of returns the rows of the given kinds of calls, with their sums.
func (s tableSet) of(kinds ...string) (out tableSet) {
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
	s.ns, s.runs = summary.Plus(s.ns, r.ns), summary.Plus(s.runs, r.runs)
}

// plus adds the rows of another run.
func (s tableSet) plus(o tableSet) tableSet {
	return tableSet{slices.Concat(s.rows, o.rows), summary.Plus(s.ns, o.ns), summary.Plus(s.runs, o.runs)}
}

// byName returns the rows with those of one name added up, the largest first.
// Names that the tool has cut are ambiguous and are not added up.
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
		sum.ns, sum.runs, sum.longest = summary.Plus(sum.ns, r.ns), summary.Plus(sum.runs, r.runs), max(sum.longest, r.longest)
	}
	slices.SortStableFunc(out, func(a, b tableRow) int { return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.Name, b.Name)) })
	return out
}

// place names a row of a table.
func (r tableRow) place() finding.Place { return finding.Place{Row: r.Name, NS: r.ns} }

// places names the largest rows.
func (s tableSet) places() (out []finding.Place) {
	for _, r := range s.byName() {
		if len(out) == finding.MostPlaces || r.ns == 0 {
			break
		}
		out = append(out, r.place())
	}
	return out
}
