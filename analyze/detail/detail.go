// Package detail measures what a zoomable timeline of a GPU shows: disjoint parts in fine
// bins, the operations of each stream, phases over time, idle time with its owners, and
// what the launching thread did.
//
// A trace is dropped as soon as it is measured, because a run has more ranks than memory
// has room for. So this package decides where a detail has all operations of a stretch,
// before anything is judged: around the longest steps, gaps, waits and phases. The summary
// has the times of these, and findings name them as their places. Data flows one way, and
// no file is read twice.
package detail

import (
	"assay/analyze/attribute"
	"assay/analyze/gpu"
	"assay/analyze/limits"
	"assay/analyze/steps"
	"assay/internal/interval"
	"assay/summary"
)

// A Request asks for the details of all GPUs of an input.
type Request struct {
	// Inputs is how many inputs the run has, which share what the details of a run may have.
	Inputs int
	// Spans is the number of operations of all details of the run, at most
	// [summary.MaxRunSpans]; 0 for that number.
	Spans int
}

// Cells returns the number of bins of each of so many GPUs of the input; 0 if nothing is
// asked for.
func (r *Request) Cells(gpus int) int {
	switch {
	case r == nil:
		return 0
	case max(1, r.Inputs)*gpus > summary.MaxFullDetails:
		return summary.MaxDetailCells / 4
	}
	return summary.MaxDetailCells
}

// Gaps returns the number of gaps of a GPU that get their cause by themselves.
func (r *Request) Gaps() int {
	if r == nil {
		return summary.MaxLargestGaps
	}
	return summary.MaxDetailGaps
}

// spans returns the number of operations of each of so many GPUs of the input.
func (r *Request) spans(gpus int) int {
	all := summary.MaxRunSpans
	if r.Spans > 0 {
		all = min(all, r.Spans)
	}
	return min(summary.MaxDetailSpans, all/(max(1, r.Inputs)*max(1, gpus)))
}

// Measured is what was measured of an input and what its details are made of.
type Measured struct {
	Timeline    *gpu.Timeline
	Attribution *attribute.Attribution
	Phases      *steps.Phases
	Completions []*steps.Completion
	Hosts       *Hosts
	Queues      [][]int64 // by index of the device, in the bins of the details
	Summary     *summary.Summary
}

// Of returns the detail of each GPU, except of those with an implausible window.
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

// A device is a GPU while its detail is made.
type device struct {
	Measured
	d      *gpu.Device
	number int // index into Timeline.Devices
	rank   int
	names  *names
	out    summary.Detail
}

// at returns a time since the start of the window.
func (d *device) at(ns int64) int64 { return ns - d.d.Window.Start }

// phases fills the phases. Of too many the outer and then the longer ones stay.
func (d *device) phases() {
	runs := d.Phases.OnDevice(d.Completions[d.number])
	for _, r := range atMost(runs, summary.MaxDetailPhases) {
		d.out.Phases = append(d.out.Phases, summary.DetailSpan{AtNS: d.at(r.Start), NS: r.Len(), Name: d.names.of(r.Name), Depth: int32(r.Depth)})
	}
}

// gaps fills the longest gaps.
func (d *device) gaps() {
	for _, g := range d.Attribution.Gaps(d.number) {
		d.out.Gaps = append(d.out.Gaps, summary.DetailGap{
			AtNS: d.at(g.StartNS), NS: g.NS, Owner: g.Owner, State: g.State,
			Name: d.names.orNone(g.Name), After: d.names.orNone(g.Before), Until: d.names.orNone(g.After),
		})
	}
}

// cellsOf cuts the window of a device into at most so many bins.
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
