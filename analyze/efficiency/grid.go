package efficiency

import (
	"assay/analyze/efficiency/operators"
	"assay/summary"
	"assay/trace"
)

// estimate adds the bytes of an elementwise kernel to its call, estimated from the kernel's grid.
// It is for captures without shapes.
func (m *meter) estimate(a *trace.Activity, s *spent) {
	if s.row == noOperator || s.graph || m.works[s.known].work.Bytes.Why != operators.NoShapes || s.grid < 0 {
		return
	}
	g, ok := m.grids[a.Name]
	if !ok {
		g = operators.GridOf(m.t.Name(a.Name))
		if m.grids == nil {
			m.grids = make(map[trace.Sym]operators.Grid)
		}
		m.grids[a.Name] = g
	}
	d := m.t.Detail(a.Detail)
	bytes, known := g.Bytes(d.Grid, d.Block)
	if !known || a.Kind != trace.Kernel {
		s.grid = -1
		return
	}
	if s.grid = summary.Plus(s.grid, bytes); s.kernel == 0 {
		s.kernel = a.Name
	}
}

// estimated reports whether the bytes of a call are estimated from the grids of its kernels.
func (s *spent) estimated(w *operators.Work) bool {
	return w.Bytes.Why == operators.NoShapes && s.grid > 0
}

// placeEstimates moves calls with estimates to rows of their own, because a row that also has
// calls without an estimate could not state any bytes.
func (m *meter) placeEstimates() {
	for i := range m.spent {
		s := &m.spent[i]
		if s.row == noOperator || !s.estimated(&m.works[s.known].work) {
			continue
		}
		id := m.Owners.rows[s.row]
		id.grid = true
		s.row = m.Owners.row(id)
		for len(m.longest) < len(m.Owners.rows) {
			m.longest, m.single = append(m.longest, longest{}), append(m.single, single{})
		}
		if l := &m.longest[s.row]; l.name == 0 || s.ns > l.ns {
			*l = longest{s.ns, s.kernel}
		}
	}
}
