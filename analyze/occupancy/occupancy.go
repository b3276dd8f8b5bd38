// Package occupancy measures how kernels fill the multiprocessors of a GPU: by the grid, and by what the blocks of a
// launch need of each multiprocessor.
package occupancy

import (
	"math"

	"assay/analyze/efficiency/hardware"
	"assay/analyze/gpu"
	"assay/analyze/limits"
	"assay/summary"
	"assay/trace"
)

const (
	// maxRows is the number of rows of a GPU: those with the most time.
	maxRows = 200
	// least is the share of the time of all rows below which a row is left out.
	least = 0.005
	// beside is the share of a launch during which another kernel may run, for the launch to count as alone.
	beside = 0.1
)

// A key identifies a row.
type key struct {
	name                    trace.Sym
	grid, block             [3]int64
	registers, sharedMemory int64
}

// A sum has the launches of one row.
type sum struct {
	key
	count, ns, alone int64
	over             int64 // time of launches alone that is longer than what a launch costs
}

// Of returns the rows of a GPU, at most most. There are none if its number of multiprocessors or the grids are not known.
func Of(tl *gpu.Timeline, d *gpu.Device, props hardware.Properties, rank, most int) []summary.Occupancy {
	if props.SMs <= 0 {
		return nil
	}
	sums := sumsOf(tl, d)
	sm, known := hardware.SMOf(props.Major, props.Minor)
	var rows []summary.Occupancy
	total := int64(0)
	for i := range sums {
		total = summary.Plus(total, sums[i].ns)
	}
	for _, s := range sums {
		if float64(s.ns) < least*float64(total) {
			continue
		}
		row, ok := rowOf(tl.Trace, &s, props.SMs)
		if !ok || row.Registers == nil && row.Blocks >= props.SMs {
			continue // without registers it is a GPU of AMD, where the grid may count threads
		}
		row.Rank, row.Device = rank, d.Ordinal
		row.Category = tl.Classes[s.name].Category
		if known {
			fill(&row, sm)
		}
		lose(&row, s.over)
		rows = append(rows, row)
	}
	return limits.KeepLargest(limits.NewBudget(min(most, maxRows)), rows, func(r *summary.Occupancy) (int64, string) { return r.TotalNS, r.Name })
}

// sumsOf adds up the launches of kernels that are no communication, which takes few multiprocessors on purpose.
func sumsOf(tl *gpu.Timeline, d *gpu.Device) []sum {
	type detailed struct {
		name   trace.Sym
		detail trace.DetailID
	}
	index, byDetail, out := map[key]int32{}, map[detailed]int32{}, []sum(nil)
	n := -1
	overlaps := overlapsOf(tl, d)
	for _, w := range d.Work {
		a := tl.Activity(w)
		if !runs(w, a) {
			continue
		}
		if n++; tl.Layer(a) != gpu.ComputeLayer || !tl.Starts(w) {
			continue
		}
		at, ok := byDetail[detailed{a.Name, a.Detail}]
		if !ok {
			dt := tl.Trace.Detail(a.Detail)
			k := key{a.Name, dt.Grid, dt.Block, dt.Registers, dt.SharedMemory}
			if at, ok = index[k]; !ok {
				at = int32(len(out))
				index[k], out = at, append(out, sum{key: k})
			}
			byDetail[detailed{a.Name, a.Detail}] = at
		}
		s := &out[at]
		s.count, s.ns = s.count+1, summary.Plus(s.ns, w.Dur)
		if float64(overlaps[n]) <= beside*float64(w.Dur) {
			s.alone, s.over = summary.Plus(s.alone, w.Dur), summary.Plus(s.over, max(0, w.Dur-hardware.LaunchNS))
		}
	}
	return out
}

// runs reports whether some work is a kernel with a duration.
func runs(w gpu.Work, a *trace.Activity) bool { return a.Kind == trace.Kernel && w.Dur > 0 }

// overlapsOf returns, for each kernel with a duration, how long others ran during it: the one before that ended last,
// and the next one. It is enough to know whether a kernel was alone.
func overlapsOf(tl *gpu.Timeline, d *gpu.Device) (overlaps []int64) {
	last, end := -1, int64(0) // the kernel that ended last
	for _, w := range d.Work {
		if !runs(w, tl.Activity(w)) {
			continue
		}
		shared := int64(0)
		if last >= 0 {
			shared = max(0, min(end, w.End())-w.Start)
			overlaps[last] += shared
		}
		overlaps = append(overlaps, shared)
		if w.End() > end {
			last, end = len(overlaps)-1, w.End()
		}
	}
	return overlaps
}

// rowOf returns the row of some launches, or false if their grid is not known.
func rowOf(t *trace.Trace, s *sum, sms int64) (row summary.Occupancy, ok bool) {
	blocks, threads := volume(s.grid), volume(s.block)
	if blocks <= 0 || threads <= 0 {
		return row, false
	}
	row = summary.Occupancy{Name: t.Name(s.name), Grid: s.grid, Block: s.block, Count: s.count, TotalNS: s.ns, AloneNS: s.alone, SMs: sms, Blocks: blocks}
	if s.registers > 0 { // a thread of every kernel has some
		registers := s.registers
		row.Registers = &registers
	}
	if s.sharedMemory >= 0 {
		shared := s.sharedMemory
		row.SharedBytes = &shared
	}
	return row, true
}

// volume returns the product of three dimensions, or 0 if it is too large.
func volume(dims [3]int64) int64 {
	n := int64(1)
	for _, d := range dims {
		if d <= 0 || n > math.MaxInt32*(1<<16)/d {
			return 0
		}
		n *= d
	}
	return n
}

// fill sets what follows from the registers and the shared memory. GPUs of AMD do not record them, so their
// version numbers, which are like those of NVIDIA, do not matter.
func fill(row *summary.Occupancy, sm hardware.SM) {
	if row.Registers == nil || row.SharedBytes == nil {
		return
	}
	threads := volume(row.Block)
	blocks, by, ok := sm.Resident(threads, *row.Registers, *row.SharedBytes)
	if !ok {
		return
	}
	perSM := float64(row.Blocks) / float64(row.SMs)
	if perSM < float64(blocks) {
		by = hardware.ByGrid
	}
	theoretical := float64(blocks*threads) / float64(sm.Threads)
	achieved := min(perSM, float64(blocks)) * float64(threads) / float64(sm.Threads)
	waves := perSM / float64(blocks)
	row.BlocksPerSM, row.Limiter, row.Theoretical, row.Achieved, row.Waves = &blocks, string(by), &theoretical, &achieved, &waves
}

// products are the categories whose blocks do equal work, so that a last wave costs as much as the others.
var products = map[string]bool{"gemm": true, "attention": true, "convolution": true, "moe": true}

// full is the share of the multiprocessors from which they count as used: a grid has to be a whole number of blocks.
const full = 0.85

// lose sets what the launches alone save at most. Over is the part of their time above the cost of a launch. Short
// kernels are bound by latency, so more blocks would not help them.
func lose(row *summary.Occupancy, over int64) {
	if row.AloneNS == 0 || row.TotalNS < hardware.ShortNS*row.Count {
		return
	}
	used, loss := 1.0, ""
	switch {
	case row.Blocks < row.SMs:
		used, loss = float64(row.Blocks)/float64(row.SMs), summary.LossFewSMs
	case row.Waves != nil && *row.Waves > 1 && products[row.Category]:
		used, loss = *row.Waves/math.Ceil(*row.Waves), summary.LossTail
	}
	if used < full {
		row.Loss, row.GainNS = loss, int64((1-used)*float64(over))
	}
}
