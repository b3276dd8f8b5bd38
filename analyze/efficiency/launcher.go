package efficiency

import (
	"assay/analyze/efficiency/hardware"
	"assay/analyze/efficiency/operators"
	"assay/analyze/gpu"
	"assay/summary"
)

// A Launcher is the operator that launched some work, for analyses of the order of work.
type Launcher struct {
	Call        int32 // a number of the call; equal for all work of one call
	Name        string
	Dims, Types string // as recorded
}

// Launcher returns the operator that owns the work of a link, or false if none is known or the work is the replay of a
// graph.
func (o *Owners) Launcher(link int32) (l Launcher, ok bool) {
	if link < 0 || o.ofLink[link] == 0 || o.replays(link) {
		return l, false
	}
	at := o.ofLink[link] - 1
	c := &o.calls[at]
	s := o.t.Shape(c.op.Shape)
	return Launcher{Call: at, Name: o.t.Name(c.op.Name), Dims: o.t.Name(s.Dims), Types: o.t.Name(s.Types)}, true
}

// Least returns what gives the call that owns the work of a number on a GPU, and the roofline of all work of this call; false if it is
// not known. It is nil if o is nil.
func (o *Owners) Least(peaks hardware.Catalog) func(d *gpu.Device, number int) (int32, summary.PartFloor, bool) {
	if o == nil {
		return nil
	}
	of := map[int64]*hardware.Peaks{}
	return func(d *gpu.Device, number int) (call int32, f summary.PartFloor, ok bool) {
		link := o.links.Of[number]
		if link < 0 || o.ofLink[link] == 0 || o.replays(link) {
			return 0, f, false
		}
		p := of[d.Ordinal]
		if p == nil {
			own := peaks.Peaks(PropertiesOf(o.t, d.Ordinal))
			p = &own
			of[d.Ordinal] = p
		}
		call = o.ofLink[link] - 1
		known := &o.works[o.calls[call].known]
		kernel := o.t.Name(o.first[link])
		w := &known.work
		roof, ok := p.Roofline(hardware.Totals{Unit: w.Unit, Peak: hardware.PeakType(w.Unit, w.Type, kernel), Lane: hardware.HBM, Calls: 1,
			FLOPs: w.FLOPs, Bytes: w.Bytes}, hardware.ShortNS)
		if !ok || o.rows[known.row].link {
			return call, f, false
		}
		f = summary.PartFloor{Bytes: w.Bytes.N, NS: roof.NS, Bound: string(roof.Bound)}
		if w.FLOPs.Why == operators.Known {
			f.FLOPs = w.FLOPs.N
		}
		return call, f, true
	}
}
