package profile

import (
	"fmt"
	"slices"
	"strconv"

	"assay/internal/lazyregexp"
)

// placed matches the names of functions as "dir/app.py:118 Server.verify".
var placed = lazyregexp.New(`^(.+):(\d{1,9}) .+$`)

// Profile returns the rows of t as samples with a stack of one frame. The profile has
// the columns of t whose cells add up; it is nil if there are none.
//
// Rows without a value in the default column are left out; missing is their number.
// Other cells without a value become 0; unknown is their number. The rows that a limit
// left out of t become one sample.
func (t *Table) Profile() (p *Profile, missing, unknown int64) {
	var from []int
	p = &Profile{}
	for i, h := range t.Columns {
		if h.Adds == Self {
			from = append(from, i)
			p.Columns = append(p.Columns, Column{Name: h.Name, Unit: h.Unit})
		}
	}
	if len(from) == 0 {
		return nil, 0, 0
	}
	p.Default = max(0, slices.IndexFunc(p.Columns, func(c Column) bool { return c.Unit == "nanoseconds" }))
	add := func(s Sample, cells []Cell) {
		if !cells[from[p.Default]].Known {
			missing++
			return
		}
		for _, i := range from {
			if !cells[i].Known {
				unknown++
			}
			s.Values = append(s.Values, cells[i].Value)
		}
		p.Samples = append(p.Samples, s)
	}
	for _, r := range t.Rows {
		f := Frame{Name: r.Name}
		if m := placed().FindStringSubmatch(r.Name); m != nil && t.Of == OfFunction {
			f.File = m[1]
			f.Line, _ = strconv.ParseInt(m[2], 10, 64)
		}
		add(Sample{Stack: []Frame{f}, Labels: slices.Clone(r.Labels)}, r.Cells)
	}
	if t.Rest != nil {
		add(Sample{Stack: []Frame{{Name: fmt.Sprintf("(%d rows left out)", t.Left)}}}, t.Rest)
	}
	return p, missing, unknown
}
