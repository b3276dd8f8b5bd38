package efficiency

import (
	"cmp"
	"slices"

	"assay/summary"
)

// A Decode has the decode steps with one batch size, over all GPUs.
type Decode struct {
	Batch int64 // 0 if it is not known
	Steps int64

	// Known is the number of steps with a known bandwidth. The fields below are means over these steps:
	// bytes and times per step, and shares and bandwidth weighted by time.
	Known           int64
	Weights, KV     int64 // bytes; KV is the sum of reads and writes
	WallNS, GPUNS   int64
	GBPS            float64
	Share, ShareGPU float64
	ShareReplay     float64 // 0 unless it is known for all steps
	Ceiling         float64 // tokens/s; 0 unless it is known for all steps
	Unknown         []UnknownDecode

	replayNS, replayed, ceilings int64
}

// An UnknownDecode counts the decode steps without a bandwidth for one reason: a value of
// [summary.EfficiencyDecode.Unknown].
type UnknownDecode struct {
	Reason string
	Steps  int64
}

// DecodeOf returns the decode steps by batch size, those with the most time first.
func DecodeOf(s *summary.Summary) []Decode {
	at := map[int64]int{}
	var out []Decode
	var times []int64
	for i := range s.Efficiency.Decode {
		d := &s.Efficiency.Decode[i]
		k, ok := at[d.Batch]
		if !ok {
			k = len(out)
			at[d.Batch], out, times = k, append(out, Decode{Batch: d.Batch}), append(times, 0)
		}
		times[k] += d.WallNS
		out[k].add(d)
	}
	order := make([]int, len(out))
	for i := range out {
		out[i].finish()
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(out[a].Batch, out[b].Batch))
	})
	sorted := make([]Decode, len(out))
	for i, k := range order {
		sorted[i] = out[k]
	}
	return sorted
}

// add adds a step: sums, until finish.
func (d *Decode) add(s *summary.EfficiencyDecode) {
	d.Steps++
	if s.Share == nil || s.ShareGPU == nil || s.GBPS == nil || s.WeightBytes == nil || s.KVReadBytes == nil || s.KVWrittenBytes == nil {
		at := slices.IndexFunc(d.Unknown, func(u UnknownDecode) bool { return u.Reason == s.Unknown })
		if at < 0 {
			at = len(d.Unknown)
			d.Unknown = append(d.Unknown, UnknownDecode{Reason: s.Unknown})
		}
		d.Unknown[at].Steps++
		return
	}
	d.Known++
	d.Weights, d.KV = d.Weights+*s.WeightBytes, d.KV+(*s.KVReadBytes+*s.KVWrittenBytes)
	d.WallNS, d.GPUNS = d.WallNS+s.WallNS, d.GPUNS+s.GPUNS
	d.GBPS += *s.GBPS * float64(s.WallNS)
	d.Share += *s.Share * float64(s.WallNS)
	d.ShareGPU += *s.ShareGPU * float64(s.GPUNS)
	if s.ShareReplay != nil {
		d.ShareReplay += *s.ShareReplay * float64(s.ReplayNS)
		d.replayNS, d.replayed = d.replayNS+s.ReplayNS, d.replayed+1
	}
	if s.CeilingTokensPerS != nil {
		d.Ceiling += 1 / *s.CeilingTokensPerS
		d.ceilings++
	}
}

// finish converts the sums to means. The ceiling is all tokens over the sum of the times.
func (d *Decode) finish() {
	n := d.Known
	if n == 0 {
		return
	}
	d.GBPS, d.Share, d.ShareGPU = d.GBPS/float64(d.WallNS), d.Share/float64(d.WallNS), d.ShareGPU/float64(d.GPUNS)
	if d.replayed == n {
		d.ShareReplay /= float64(d.replayNS)
	} else {
		d.ShareReplay = 0
	}
	if d.ceilings == n {
		d.Ceiling = float64(n) / d.Ceiling
	} else {
		d.Ceiling = 0
	}
	d.Weights, d.KV, d.WallNS, d.GPUNS = d.Weights/n, d.KV/n, d.WallNS/n, d.GPUNS/n
}
