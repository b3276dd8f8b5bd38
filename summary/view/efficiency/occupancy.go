package efficiency

import (
	"cmp"
	"slices"

	"assay/summary"
	"assay/summary/view"
)

// A Loss is the launches of a kernel with one configuration that leave multiprocessors idle, over all GPUs.
type Loss struct {
	summary.Occupancy // of the first GPU; Count, TotalNS and GainNS are sums
	GPUs              int
}

// minLoss is the share of the GPU time of kernels that launches must save at most, to be worth a row.
const minLoss = 0.005

// Losses returns the launches that leave multiprocessors idle, those that could save the most time first, and the sum
// of what these rows save at most. It returns the number of GPUs with rows too.
func Losses(s *summary.Summary) (list []Loss, gain int64, gpus int) {
	type key struct {
		name   string
		blocks int64
		sms    int64
		block  [3]int64
	}
	seen := map[summary.GPU]bool{}
	all := view.Group(s.Efficiency.Occupancy, func(o *summary.Occupancy) key { return key{o.Name, o.Blocks, o.SMs, o.Block} },
		func(o *summary.Occupancy) Loss {
			first := Loss{Occupancy: *o}
			first.Count, first.TotalNS, first.GainNS = 0, 0, 0
			return first
		},
		func(l *Loss, o *summary.Occupancy) {
			seen[summary.GPU{Input: o.Input, Rank: o.Rank, Device: o.Device}] = true
			l.GPUs++
			l.Count, l.TotalNS, l.GainNS = l.Count+o.Count, summary.Plus(l.TotalNS, o.TotalNS), summary.Plus(l.GainNS, o.GainNS)
		})
	total := int64(0)
	for i := range s.Kernels {
		total = summary.Plus(total, s.Kernels[i].TotalNS)
	}
	for _, l := range all {
		if l.GainNS > 0 && float64(l.GainNS) >= minLoss*float64(total) {
			list, gain = append(list, l), summary.Plus(gain, l.GainNS)
		}
	}
	slices.SortStableFunc(list, func(a, b Loss) int { return cmp.Or(cmp.Compare(b.GainNS, a.GainNS), cmp.Compare(a.Name, b.Name)) })
	return list, gain, len(seen)
}

// Movers are the categories of kernels that do few operations per byte, so that memory limits them.
// Matrix products, attention, convolutions and unknown kernels are not among them.
var Movers = []string{
	"elementwise", "normalization", "softmax", "reduction", "layout", "copy", "fill", "index", "rope", "kv-cache",
	"optimizer", "loss",
	"pooling", "interpolation", "random", "quantization", "sort-scan", "triton-fused",
}

// Shares of the threads that a multiprocessor can hold: below which they are few, and from how many more seldom help.
const (
	fewThreads    = 0.25
	enoughThreads = 0.5
)

// shortest is the time in ns of a kernel below which latency limits it.
const shortest = 10_000

// Scarce returns what memory-bound launches alone on the GPU save at most with enough threads, if their registers or shared memory allow few.
func Scarce(o *summary.Occupancy) int64 {
	if o.Theoretical == nil || *o.Theoretical >= fewThreads || o.Limiter != "registers" && o.Limiter != "shared memory" ||
		o.TotalNS < shortest*o.Count || !slices.Contains(Movers, o.Category) {
		return 0
	}
	return int64((1 - *o.Theoretical/enoughThreads) * float64(o.AloneNS))
}
