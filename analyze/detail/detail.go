// Package detail measures what a zoomable timeline of a GPU shows: activity in fine bins, the
// operations of each stream, phases, idle time by cause, and the state of the launching thread.
//
// A trace is dropped as soon as it is measured, because the traces of all ranks of a run do not
// fit into memory. So this package must choose the operations to keep before anything is judged.
// It keeps all of them around the places that a reader looks at: the longest steps, gaps, waits
// and phases. Findings refer to the same places.
//
// Start with detail.go (Of). lanes.go chooses the operations, with focus.go for the places.
// host.go bins the states of the launching thread, memory.go the allocated memory. Package
// report/section/timeline draws the result.
package detail

import (
	"assay/analyze/attribute"
	"assay/analyze/gpu"
	"assay/analyze/limits"
	"assay/analyze/steps"
	"assay/internal/interval"
	"assay/summary"
)

// A Request says how much detail to measure for the GPUs of an input. The methods of a nil Request
// return zero: no detail.
type Request struct {
	// Inputs is the number of inputs of the run, which share the limits of a run.
	Inputs int
	// Spans is the maximum number of operations of the whole run; 0 for [summary.MaxRunSpans],
	// which is also the highest value.
	Spans int
}

// Cells returns the number of bins per GPU of an input with the given number of GPUs.
func (r *Request) Cells(gpus int) int {
	switch {
	case r == nil:
		return 0
	case max(1, r.Inputs)*gpus > summary.MaxFullDetails:
		return summary.MaxDetailCells / 4
	}
	return summary.MaxDetailCells
}

// Gaps returns the number of gaps per GPU that are listed, each with its cause.
func (r *Request) Gaps() int {
	if r == nil {
		return summary.MaxLargestGaps
	}
	return summary.MaxDetailGaps
}

// spans returns the maximum number of operations per GPU of an input with the given number of
// GPUs.
func (r *Request) spans(gpus int) int {
	all := summary.MaxRunSpans
	if r.Spans > 0 {
		all = min(all, r.Spans)
	}
	return min(summary.MaxDetailSpans, all/(max(1, r.Inputs)*max(1, gpus)))
}

// Measured has the measurements of an input that details are made of.
type Measured struct {
	Timeline    *gpu.Timeline
	Attribution *attribute.Attribution
	Phases      *steps.Phases
	Completions []*steps.Completion
	Hosts       *Hosts
	Queues      [][]int64 // queue length by device and bin, in thousandths
	Summary     *summary.Summary
}

// Of returns the detail of each GPU. GPUs with an implausible window have none.
func Of(r *Request, m Measured) (out []summary.Detail) {
	gpus := len(m.Timeline.Devices)
	for i, d := range m.Timeline.Devices {
		if limits.Implausible(d.Window) || d.Window.Empty() {
			continue
		}
		row := &m.Summary.Devices[i]
		one := &device{Measured: m, d: d, number: i, rank: row.Rank, names: newNames(m.Timeline.Trace)}
		one.out = summary.Detail{Rank: row.Rank, Device: d.Ordinal, StartNS: d.Window.Start, WindowNS: d.Window.Len()}
		one.out.Cells = cellsOf(d, r.Cells(gpus))
		one.out.Cells.Queue = m.Queues[i]
		one.out.Cells.MemoryBytes = allocated(m.Timeline.Trace, d, one.out.Cells.BinNS)
		one.phases()
		one.lanes(r.spans(gpus))
		one.gaps()
		one.host()
		one.out.Names = one.names.list
		out = append(out, one.out)
	}
	return out
}

// A device builds the detail of one GPU.
type device struct {
	Measured
	d      *gpu.Device
	number int // index into Timeline.Devices
	rank   int
	names  *names
	out    summary.Detail
}

// at converts a time to ns since the start of the window.
func (d *device) at(ns int64) int64 { return ns - d.d.Window.Start }

// phases adds the runs of phases. If there are too many, it keeps outer and longer ones.
func (d *device) phases() {
	runs := d.Phases.OnDevice(d.Completions[d.number])
	for _, r := range atMost(runs, summary.MaxDetailPhases) {
		d.out.Phases = append(d.out.Phases, summary.DetailSpan{AtNS: d.at(r.Start), NS: r.Len(), Name: d.names.of(r.Name),
			Depth: int32(r.Depth)})
	}
}

// gaps adds the longest gaps with their causes.
func (d *device) gaps() {
	for _, g := range d.Attribution.Gaps(d.number) {
		d.out.Gaps = append(d.out.Gaps, summary.DetailGap{
			AtNS: d.at(g.StartNS), NS: g.NS, Owner: g.Owner, State: g.State,
			Name: d.names.orNone(g.Name), After: d.names.orNone(g.Before), Until: d.names.orNone(g.After),
		})
	}
}

// cellsOf divides the window of a device into at most most bins.
func cellsOf(d *gpu.Device, most int) summary.Cells {
	c := summary.Cells{BinNS: gpu.Bin(d.Window, most)}
	n := gpu.Bins(d.Window, most)
	rows := make([]int64, 4*n)
	c.Compute, c.Comm, c.Copy, c.Hidden = rows[:n:n], rows[n:2*n:2*n], rows[2*n:3*n:3*n], rows[3*n:]
	for piece, mask := range interval.Pieces(d.Window, d.Layers[:]...) {
		if mask == 0 {
			continue
		}
		set, row := summary.Class(mask), c.Copy
		switch {
		case set&summary.ClassCompute != 0:
			row = c.Compute
		case set&summary.ClassComm != 0:
			row = c.Comm
		}
		from, to := piece.Start-d.Window.Start, piece.End-d.Window.Start
		gpu.Spread(row, from, to, c.BinNS)
		if set&summary.ClassCompute != 0 && set != summary.ClassCompute {
			gpu.Spread(c.Hidden, from, to, c.BinNS)
		}
	}
	return c
}
