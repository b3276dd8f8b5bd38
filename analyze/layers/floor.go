package layers

import (
	"cmp"

	"assay/summary"
	"assay/trace"
)

// covered is the share of the kernel time of a part whose floor must be known for the part to have one.
const covered = 0.8

// A piece is some work and the part of the layer that it belongs to.
type piece struct {
	work int32
	part string
}

// heads returns the matrix products behind the last layer of the forward passes of a step, up to the sampling or the loss, by the row of
// this layer: the output layer. Before it the last token of each sequence may be picked.
func (r *measurer) heads(list []timed, runs []int32) map[rowKey][]piece {
	out := make(map[rowKey][]piece)
	for i := range list {
		l := &list[i]
		key := rowKey{l.step + l.turn, l.pass, l.group.kind, runs[i]}
		end := len(r.list)
		if i+1 < len(list) {
			if end = list[i+1].from; list[i+1].pass == l.pass && list[i+1].step+list[i+1].turn == key.step {
				continue
			}
		}
		for k := l.to; k < end && l.pass == "forward"; k++ {
			at := &r.list[k]
			if at.role == stop && (!at.looksUp || out[key] != nil) || at.role == attends || at.role == scans || r.sequence.steps[at.work] != l.step {
				break
			}
			if at.role == product {
				out[key] = append(out[key], piece{at.work, summary.HeadPart})
			}
		}
	}
	return out
}

// addFloor adds the head behind the layers of a row, and the floors of the parts of a typical layer and of the head.
func (r *measurer) addFloor(row *summary.Layer, middle *timed, pieces []piece) {
	for _, p := range pieces {
		row.HeadNS = summary.Plus(row.HeadNS, r.device.Work[p.work].Dur)
	}
	if r.Least == nil {
		return
	}
	r.each(middle, func(w int32, p part) bool {
		if a := r.Timeline.Activity(r.device.Work[w]); a.Kind == trace.Kernel && r.natures(a.Name).role != skipped { // no fill of a product's workspace
			pieces = append(pieces, piece{w, partNames[p]})
		}
		return len(pieces) < 4*MostKernels
	})
	row.Floor = r.floors(pieces)
}

// floors adds up the floors of calls by part. A call is not faster than its floor: what is, was read from a cache.
func (r *measurer) floors(list []piece) (out []summary.PartFloor) {
	type sum struct {
		summary.PartFloor
		all, memory int64
		over        bool
	}
	sums, calls, order := map[string]*sum{}, map[int32]*summary.PartFloor{}, []int32(nil)
	for _, p := range list {
		s, work := sums[p.part], r.device.Work[p.work]
		if s == nil {
			s = &sum{PartFloor: summary.PartFloor{Part: p.part, From: summary.FloorOfOperators}}
			sums[p.part] = s
		}
		s.all = summary.Plus(s.all, work.Dur)
		call, least, ok := r.Least(r.device, work)
		if !ok {
			continue
		}
		of := calls[call]
		if of == nil {
			of = &least
			of.Part, of.KernelNS = p.part, 0
			calls[call], order = of, append(order, call)
		}
		of.KernelNS = summary.Plus(of.KernelNS, work.Dur)
	}
	for _, call := range order {
		of := calls[call]
		s := sums[of.Part]
		s.over = s.over || (of.Bound == summary.BoundCompute || of.Bound == summary.BoundLink) && of.NS > of.KernelNS
		s.KernelNS, s.Bytes, s.FLOPs = summary.Plus(s.KernelNS, of.KernelNS), summary.Plus(s.Bytes, of.Bytes), summary.Plus(s.FLOPs, of.FLOPs)
		ns := min(of.NS, of.KernelNS)
		if s.NS = summary.Plus(s.NS, ns); of.Bound == "memory" {
			s.memory = summary.Plus(s.memory, ns)
		} else if of.Bound == summary.BoundLink {
			s.Bound = of.Bound // of communication, which has nothing else
		}
	}
	for _, name := range append(partNames[:], summary.HeadPart) {
		s := sums[name]
		if s == nil || s.over || s.KernelNS == 0 || float64(s.KernelNS) < covered*float64(s.all) {
			continue
		}
		if 2*s.memory >= s.NS {
			s.Bound = summary.BoundMemory
		}
		s.Bound = cmp.Or(s.Bound, summary.BoundCompute)
		out = append(out, s.PartFloor)
	}
	return out
}
