package page

import (
	"assay/compare"
	"assay/report/words"
)

// A diff is the comparison of two runs. Times are per step or per window, as Per says.
type diff struct {
	Per    string   `json:"per"`
	Base   int64    `json:"base"` // ns of the step or window
	New    int64    `json:"new"`
	Budget []change `json:"budget,omitempty"`
	Movers []movers `json:"movers,omitempty"`
}

// change is one row on both sides.
type change struct {
	Name  int    `json:"name"`
	Note  string `json:"note,omitempty"`
	Base  int64  `json:"base"`
	New   int64  `json:"new"`
	Count int64  `json:"count,omitempty"` // the part of the change that the number of launches or calls explains, in ns
}

// movers are the rows of one part of the comparison, the largest change first.
type movers struct {
	ID    string   `json:"id"`
	Title string   `json:"title"`
	Of    string   `json:"of"`
	Base  int64    `json:"base"`
	New   int64    `json:"new"`
	Rows  []change `json:"rows"`
}

// mostMovers is the maximum number of rows of a part in the page.
const mostMovers = 300

func diffOf(c *compare.Comparison, n *names) *diff {
	d := &diff{Per: c.Per, Base: c.Budget.BaseNS, New: c.Budget.NewNS}
	if c.Per == compare.PerStep || c.Per == compare.PerWindow {
		for _, r := range c.Budget.Rows {
			d.Budget = append(d.Budget, change{Name: n.number(r.Name), Base: r.BaseNS, New: r.NewNS})
		}
	}
	for _, part := range []struct {
		id, title, of string
		part          compare.Part
	}{
		{"kernels", "Kernels", "total kernel time", c.Kernels},
		{"idle", "Idle time", "idle time", c.Idle.ByOwner()},
		{"operators", "Operators", "total kernel time by the operator that launched it", c.Ops},
		{"categories", "Categories", "total kernel time", c.Categories},
		{"copies", "Copies", "total time of copies and memsets", c.Copies},
		{"calls", "CUDA API calls", "CPU time in calls", c.Calls},
		{"passes", "Passes", "total GPU time", c.Passes},
	} {
		if len(part.part.Rows) == 0 {
			continue
		}
		m := movers{ID: part.id, Title: part.title, Of: part.of, Base: part.part.BaseNS, New: part.part.NewNS}
		for i := range part.part.Rows {
			if i == mostMovers {
				break
			}
			m.Rows = append(m.Rows, changeOf(&part.part.Rows[i], n))
		}
		d.Movers = append(d.Movers, m)
	}
	return d
}

func changeOf(r *compare.Row, n *names) change {
	name := r.Name
	if r.Owner != "" {
		name = words.Cause(r.Owner, r.State, "")
	}
	return change{Name: n.kernel(name), Note: words.Match(r.Match), Base: r.BaseNS, New: r.NewNS, Count: r.CountNS}
}
