package nsysstats

import "assay/trace"

// callRows sums the durations of calls of the runtime and driver by name.
func callRows(m *maker, table *Table) {
	names := newIndex[string]()
	bySym := make(map[trace.Sym]int)
	all := func(yield func(int, int64) bool) {
		for c := range m.t.Calls.All() {
			g, ok := bySym[c.Name]
			if !ok {
				g = names.numberOf(m.callName(c.Name))
				bySym[c.Name] = g
			}
			if !yield(g, c.Dur) {
				return
			}
		}
	}
	m.timed(table, all, func(g int) []string { return []string{names.keys[g]} })
}

// callName returns the name of a call as nsys stats prints it. Nsight appends
// the version of the interface to it. nsys stats removes versions of four
// digits and keeps those of five: cudaLaunchKernel, but cudaGraphLaunch_v10000.
func (m *maker) callName(s trace.Sym) string {
	name := m.t.Name(s)
	if full, ok := m.t.Meta.APINames[name]; ok {
		name = full
	}
	const version = len("_v7000")
	if n := len(name) - version; n > 0 && name[n:n+2] == "_v" {
		return name[:n]
	}
	return name
}

// osCallRows sums the durations of calls of the operating system's runtime by
// name.
func osCallRows(m *maker, table *Table) {
	names := newIndex[trace.Sym]()
	all := func(yield func(int, int64) bool) {
		for s := range m.t.Spans.All() {
			if s.Kind == trace.OSCall && !yield(names.numberOf(s.Name), s.Dur) {
				return
			}
		}
	}
	m.timed(table, all, func(g int) []string { return []string{m.t.Name(names.keys[g])} })
}
