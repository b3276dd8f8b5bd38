package history

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"assay/compare"
	"assay/gate"
	"assay/internal/label"
	"assay/summary"
	"assay/summary/view"
)

// A Cause is what the runs after a change do differently from those before it.
type Cause struct {
	Base     []string `json:"base"` // names of the runs before the change that are compared
	New      []string `json:"new"`
	Headline string   `json:"headline,omitempty"` // of their comparison
	Rows     []Row    `json:"rows,omitempty"`     // the largest differences
	Recorded []string `json:"recorded,omitempty"` // versions that captures state and that differ
	Reasons  []string `json:"reasons,omitempty"`  // why the runs may not be comparable
	Refused  string   `json:"refused,omitempty"`  // why there is no comparison
}

// A Row is a kernel, a copy or a cause of idle time whose time differs, per step or window.
type Row struct {
	Of      string `json:"of"` // "kernel", "copy" or "idle"
	Name    string `json:"name"`
	State   string `json:"state,omitempty"` // of the CPU during idle time
	BaseNS  int64  `json:"base_ns"`
	NewNS   int64  `json:"new_ns"`
	DeltaNS int64  `json:"delta_ns"`
}

const (
	runsOfSide = gate.MinRuns // runs on each side of a change that are compared
	mostRows   = 5
	// leastRow is the smallest difference that is listed, as a share of the largest.
	leastRow = 0.05
)

// explain compares runs before a change with those after it.
func (h *History) explain(base, new []int, load func(int) (*summary.Summary, error)) *Cause {
	c := &Cause{}
	var failed []error
	side := func(runs []int, names *[]string) *summary.Summary {
		var parts []*summary.Summary
		for _, i := range runs {
			s, err := load(i)
			if err != nil {
				failed = append(failed, err)
				continue
			}
			for n := range s.Inputs {
				s.Inputs[n].Run, s.Inputs[n].RunFrom = h.Runs[i].Path, string(view.ByPattern)
			}
			parts, *names = append(parts, s), append(*names, h.Runs[i].Name)
		}
		return summary.Join(parts...)
	}
	b, n := side(base, &c.Base), side(new, &c.New)
	if len(failed) > 0 {
		c.Refused = errors.Join(failed...).Error()
		return c
	}
	c.Recorded = recorded(b, n)
	cmp, err := compare.Summaries(b, n, compare.Options{})
	if err != nil {
		c.Refused = err.Error()
		return c
	}
	c.Headline = cmp.Headline
	for _, r := range cmp.Reasons {
		c.Reasons = append(c.Reasons, r.Text)
	}
	c.Rows = rowsOf(cmp)
	return c
}

// recorded lists what captures state of their software where all of one side agree and differ from all of the
// other: "cuda_driver_version: 12040, then 12060".
func recorded(base, new *summary.Summary) (out []string) {
	stated := func(s *summary.Summary) map[string]string {
		all := map[string]string{}
		for i, in := range s.Inputs {
			for key, value := range in.Recorder {
				if have, ok := all[key]; i > 0 && (!ok || have != value) {
					value = ""
				}
				all[key] = value
			}
		}
		return all
	}
	before, after := stated(base), stated(new)
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if a, b := before[key], after[key]; a != "" && b != "" && a != b {
			out = append(out, label.Clean(key+": "+a+", then "+b))
		}
	}
	return out
}

func indices(from, to int) (out []int) {
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}

// sides returns the runs nearest to the place of a change on both sides of it, in the levels that it
// divides: runs in the range of the place are on neither side.
func (h *History) sides(c *Change) (base, new []int) {
	from, to := 0, len(h.Runs)
	for _, x := range h.Changes {
		switch {
		case x.At < c.At:
			from = max(from, x.Last)
		case x.At > c.At:
			to = min(to, x.First)
		}
	}
	for i := c.First - 1; i >= from && len(base) < runsOfSide; i-- {
		base = append(base, i)
	}
	for i := c.Last; i < to && len(new) < runsOfSide; i++ {
		new = append(new, i)
	}
	if len(base) == 0 {
		base = []int{c.At - 1}
	}
	if len(new) == 0 {
		new = []int{c.At}
	}
	slices.Sort(base)
	return base, new
}

func rowsOf(c *compare.Comparison) (out []Row) {
	for _, part := range []struct {
		of   string
		rows []compare.Row
	}{{"kernel", c.Kernels.Rows}, {"copy", c.Copies.Rows}, {"idle", c.Idle.Rows}} {
		for _, r := range part.rows {
			out = append(out, Row{Of: part.of, Name: label.Clean(cmp.Or(r.Name, r.Owner)), State: r.State, BaseNS: r.BaseNS, NewNS: r.NewNS, DeltaNS: r.DeltaNS})
		}
	}
	size := func(r Row) int64 { return max(r.DeltaNS, -r.DeltaNS) }
	slices.SortStableFunc(out, func(a, b Row) int { return cmp.Compare(size(b), size(a)) })
	out = out[:min(mostRows, len(out))]
	if len(out) > 0 {
		least := int64(leastRow * float64(size(out[0])))
		out = slices.DeleteFunc(out, func(r Row) bool { return size(r) < max(1, least) })
	}
	return out
}
