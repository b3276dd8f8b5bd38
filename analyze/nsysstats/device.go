package nsysstats

import (
	"fmt"
	"strings"

	"assay/analyze/gpu"
	"assay/summary"
	"assay/trace"
)

// kernelRows sums the durations of kernels by name. CUDA graphs traced as one
// event are not included.
func kernelRows(m *maker, table *Table) {
	names := newIndex[trace.Sym]()
	opaque := m.opaqueGraph()
	graphs, graphNS := 0, int64(0)
	for a := range m.t.Activities.All() {
		if a.Kind == trace.Kernel && a.Name == opaque && opaque != 0 {
			graphs++
			graphNS = summary.Plus(graphNS, a.Dur)
		}
	}
	all := func(yield func(int, int64) bool) {
		for a := range m.t.Activities.All() {
			if a.Kind == trace.Kernel && (a.Name != opaque || opaque == 0) && !yield(names.numberOf(a.Name), a.Dur) {
				return
			}
		}
	}
	m.timed(table, all, func(g int) []string { return []string{m.t.Name(names.keys[g])} })
	if graphs > 0 {
		table.Notes = append(table.Notes, fmt.Sprintf("CUDA graphs traced as one event are not included (%s, %d ns in total); record with --cuda-graph-trace=node to see their kernels", plural(graphs, "launch", "launches"), graphNS))
	}
}

// opaqueGraph returns the name of CUDA graphs traced as one event, or 0 if
// there are none.
func (m *maker) opaqueGraph() trace.Sym {
	for s := range trace.Sym(m.t.Names()) {
		if m.t.Name(s) == trace.OpaqueGraph {
			return s
		}
	}
	return 0
}

// copyTimeRows sums the durations of copies and memsets by source and
// destination.
func copyTimeRows(m *maker, table *Table) {
	labels := m.copyLabels()
	all := func(yield func(int, int64) bool) {
		for a := range m.t.Activities.All() {
			if a.Kind != trace.Kernel && !yield(labels.numberOf(a), a.Dur) {
				return
			}
		}
	}
	m.timed(table, all, func(g int) []string { return []string{labels.labels.keys[g]} })
}

var sized = []Column{{"Total (MB)", false}, {"Count", false}, {"Avg (MB)", false}, {"Med (MB)", false},
	{"Min (MB)", false}, {"Max (MB)", false}, {"StdDev (MB)", false}, {"Operation", true}}

// copySizeRows sums the bytes of copies and memsets with a known size.
func copySizeRows(m *maker, table *Table) {
	labels, sizeOf, silent := m.copyLabels(), gpu.CopyBytes(m.t), 0
	all := func(yield func(int, int64) bool) {
		silent = 0
		for a := range m.t.Activities.All() {
			if a.Kind == trace.Kernel {
				continue
			}
			n, ok := sizeOf(a)
			if !ok {
				silent++
			} else if !yield(labels.numberOf(a), n) {
				return
			}
		}
	}
	s := sampleOf(all)
	for _, g := range m.order(s, table, func(g int) string { return labels.labels.keys[g] }) {
		v := s.spread(g)
		table.Rows = append(table.Rows, own([]string{megabytes(float64(v.total)), whole(v.count), megabytes(v.mean), megabytes(v.median),
			megabytes(float64(v.min)), megabytes(float64(v.max)), megabytes(v.stddev), labels.labels.keys[g]}))
	}
	if silent > 0 {
		table.Notes = append(table.Notes, plural(silent, "copy is not included because its size is unknown", "copies are not included because their size is unknown"))
	}
}

// copyLabels numbers copies by the label that nsys stats uses for them.
type copyLabels struct {
	t      *trace.Trace
	labels *index[string]
	bySym  map[trace.Sym]int
}

func (m *maker) copyLabels() *copyLabels {
	return &copyLabels{m.t, newIndex[string](), make(map[trace.Sym]int)}
}

func (c *copyLabels) numberOf(a *trace.Activity) int {
	n, ok := c.bySym[a.Name]
	if !ok {
		n = c.labels.numberOf(copyLabel(c.t.Name(a.Name), a.Kind))
		c.bySym[a.Name] = n
	}
	return n
}

// copyLabel returns the label of a copy or memset: "[CUDA memcpy
// Host-to-Device]" for "Memcpy HtoD (Pageable -> Device)". A name in another
// form is returned unchanged.
func copyLabel(name string, kind trace.Kind) string {
	if kind == trace.Memset {
		return "[CUDA memset]"
	}
	direction, ok := strings.CutPrefix(name, "Memcpy ")
	direction, _, _ = strings.Cut(direction, " (")
	if long, known := directions[direction]; ok && known {
		direction = long
	}
	return "[CUDA memcpy " + direction + "]"
}

// directions maps the terms of PyTorch's profiler to those of nsys stats.
var directions = map[string]string{
	"HtoD": "Host-to-Device", "DtoH": "Device-to-Host", "HtoA": "Host-to-Array", "AtoH": "Array-to-Host", "AtoA": "Array-to-Array",
	"AtoD": "Array-to-Device", "DtoA": "Device-to-Array", "DtoD": "Device-to-Device", "HtoH": "Host-to-Host", "PtoP": "Peer-to-Peer",
	"UVM HtoD": "Unified Host-to-Device", "UVM DtoH": "Unified Device-to-Host", "UVM DtoD": "Unified Device-to-Device",
}
