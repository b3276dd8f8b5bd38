package efficiency

import (
	"strings"

	"assay/analyze/efficiency/hardware"
	"assay/analyze/efficiency/operators"
	"assay/analyze/gpu"
	"assay/summary"
	"assay/trace"
)

// A transferKey is a kind of copy.
type transferKey struct {
	name trace.Sym
	lane hardware.Figure
}

// largeCopy is the smallest size, in bytes, of a copy with a meaningful bandwidth. Smaller copies
// take as long as their launch.
const largeCopy = 1 << 20

// copies returns the large copies of a GPU by name, relative to the peaks of their links.
func copies(tl *gpu.Timeline, d *gpu.Device, p *hardware.Peaks, rank int) (out []summary.EfficiencyTransfer) {
	index, sizeOf := map[transferKey]int{}, gpu.CopyBytes(tl.Trace)
	for _, w := range d.Work {
		a := tl.Activity(w)
		n, known := sizeOf(a)
		if a.Kind != trace.Memcpy || !known || n < largeCopy || a.Dur == 0 || !tl.Starts(w) {
			continue
		}
		lane := LaneOf(p, tl.Trace.Name(a.Name))
		key := transferKey{a.Name, lane}
		at, ok := index[key]
		if !ok {
			at = len(out)
			index[key] = at
			out = append(out, summary.EfficiencyTransfer{Rank: rank, Device: d.Ordinal, Kind: "copy", Name: tl.Trace.Name(a.Name), Link: lane.String(), PeakGBPS: known64(p, lane)})
		}
		out[at].Count++
		out[at].NS, out[at].Bytes = summary.Plus(out[at].NS, a.Dur), out[at].Bytes.Plus(n)
	}
	for key, i := range index {
		t := &out[i]
		if t.NS == 0 || !t.Bytes.Fits() {
			continue
		}
		v := float64(t.Bytes) / float64(t.NS)
		t.AlgGBPS = &v
		moved := int64(t.Bytes)
		if key.lane == hardware.HBM { // the same memory is read and written
			moved = summary.Plus(moved, moved)
		}
		of := hardware.Totals{Unit: operators.None, Lane: key.lane, Calls: t.Count, Bytes: operators.Count{N: moved}}
		t.Over = overNames[p.Excess(of, t.NS)]
		if key.lane != hardware.HBM && t.Over != "" {
			t.Over = summary.OverLink
		}
	}
	return out
}

// LaneOf returns the link or memory that limits a copy.
func LaneOf(p *hardware.Peaks, name string) hardware.Figure {
	switch {
	case operators.IsHostCopy(name):
		return p.LaneOf(name)
	case strings.Contains(name, "PtoP"):
		return hardware.Link
	case strings.Contains(name, "DtoD"), strings.Contains(name, "DeviceToDevice"):
		return hardware.HBM
	}
	return hardware.NoFigure
}
