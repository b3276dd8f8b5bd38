package efficiency

import (
	"cmp"
	"slices"

	"assay/summary"
)

// A Floor has the decode steps of one model with one number of requests, over all GPUs, next to the least time
// in which the hardware could do them.
type Floor struct {
	Model *summary.DecodeModel // that of one of the steps
	Steps int64
	Known int64 // steps with a floor of the model

	// Means of a step: over all steps, or over those with a floor if there are any.
	WallNS, MemoryNS, ComputeNS, CacheBytes int64
	MBU, MFU                                float64 // MFU is 0 if the rate is not known
	Lower                                   bool    // MBU is a lower limit: the lengths in the cache are not known
	HBMGBPS                                 float64 // of one of the GPUs; 0 if it is not known
}

// FloorNS returns the mean floor of a step.
func (f *Floor) FloorNS() int64 { return max(f.MemoryNS, f.ComputeNS) }

// Floors returns the floors by number of requests, those with the most time first.
func Floors(s *summary.Summary) []Floor {
	type key struct {
		requests int64
		unknown  string
	}
	at := map[key]int{}
	var out []Floor
	for i := range s.Efficiency.Decode {
		d := &s.Efficiency.Decode[i]
		if d.Model == nil {
			continue
		}
		k := key{d.Model.Requests, d.Model.Unknown}
		n, ok := at[k]
		if !ok {
			n = len(out)
			at[k], out = n, append(out, Floor{Model: d.Model, HBMGBPS: memoryOf(s, d)})
		}
		out[n].add(d)
	}
	for i := range out {
		f := &out[i]
		if f.WallNS > 0 {
			f.MBU, f.MFU = float64(f.MemoryNS)/float64(f.WallNS), float64(f.ComputeNS)/float64(f.WallNS)
		}
		for _, n := range []*int64{&f.WallNS, &f.MemoryNS, &f.ComputeNS, &f.CacheBytes} {
			*n /= f.Steps
		}
	}
	slices.SortStableFunc(out, func(a, b Floor) int {
		return cmp.Or(cmp.Compare(min(b.Known, 1), min(a.Known, 1)), cmp.Compare(b.WallNS*b.Steps, a.WallNS*a.Steps))
	})
	return out
}

// add adds a step: sums, until the means are made.
func (f *Floor) add(d *summary.EfficiencyDecode) {
	m := d.Model
	f.Steps++
	if m.Unknown == "" {
		f.Known++
	}
	f.WallNS += d.WallNS
	f.Lower = f.Lower || m.CacheBytes == nil
	for _, n := range []struct {
		to   *int64
		from *int64
	}{{&f.MemoryNS, m.MemoryNS}, {&f.ComputeNS, m.ComputeNS}, {&f.CacheBytes, m.CacheBytes}} {
		if n.from != nil {
			*n.to = summary.Plus(*n.to, *n.from)
		}
	}
}

// memoryOf returns the bandwidth of the memory of the GPU of a step, or 0.
func memoryOf(s *summary.Summary, d *summary.EfficiencyDecode) float64 {
	for i := range s.Efficiency.Devices {
		g := &s.Efficiency.Devices[i]
		if g.Input == d.Input && g.Rank == d.Rank && g.Device == d.Device && g.HBMGBPS != nil {
			return *g.HBMGBPS
		}
	}
	return 0
}

// NoMBU returns why a decode step has no MBU, in the words of its row.
func NoMBU(d *summary.EfficiencyDecode) string {
	if d.Model != nil {
		return d.Model.Unknown
	}
	return d.Unknown
}
