package samplerun

import (
	"fmt"
	"math/rand/v2"

	"assay/summary"
)

// Ranks is a training run of n ranks with 8 steps of 100 ms and three phases. Each rank
// has one GPU. Of rank r, per step in ms: forward is 30, backward 50, optimizer 10, all
// compute; 2 of copies; the rest of the window, 108 per step, is an all-reduce of which
// transfer is 4, and 1 ms of idle time. The times of forward vary by 1%. On the late rank
// n*3/4, forward takes 10 ms longer, and its own wait is the shortest. On rank n/3, step 5
// is 12 ms longer.
//
// The window of each rank is 8 * 108 ms. The clock of rank r is r ms ahead.
func Ranks(n int) *summary.Summary {
	const steps = 8
	rnd := rand.New(rand.NewPCG(7, uint64(n)))
	s := &summary.Summary{Schema: summary.Schema}
	var waiting int64
	for r := range n {
		s.Inputs = append(s.Inputs, summary.Input{Path: fmt.Sprintf("rank%d.json.gz", r), Format: "kineto", Compression: "gzip", Rank: r, RankFrom: "trace", Complete: true})
		forward := 30*MS + rnd.Int64N(MS*3/10)
		if r == Late(n) {
			forward += 10 * MS
		}
		work := forward + 60*MS
		of := func(compute, comm, copies, idle int64) (a summary.Activity) {
			a[Comp], a[Comm], a[Copies], a[0] = compute, comm, copies, idle
			return a
		}
		step := of(work, 105*MS-work, 2*MS, MS)
		var all summary.Activity
		for i := range int64(steps) {
			all = all.Plus(step)
			one := step
			if i == 5 && r == n/3 {
				one[0] += 12 * MS // once late
			}
			s.Steps = append(s.Steps, summary.Step{Input: r, Rank: r, Device: int64(r % 8), Name: fmt.Sprintf("ProfilerStep#%d", i), Number: i,
				StartNS: Sec + int64(r)*MS + i*108*MS, WallNS: one.Window(), Activity: one})
		}
		d := summary.Device{Input: r, Rank: r, Device: int64(r % 8), Name: "NVIDIA H100 80GB HBM3", StartNS: Sec + int64(r)*MS, WindowNS: all.Window(), Activity: all, Events: 100}
		d.Strip = &summary.Strip{BinNS: 9 * MS, NS: map[string][]int64{"compute": nil, "comm": nil, "copy": nil}}
		for i := range int64(steps * 12) {
			at := func(from, to int64) int64 { return max(0, min((i%12+1)*9*MS, to)-max(i%12*9*MS, from)) }
			d.Strip.NS["compute"] = append(d.Strip.NS["compute"], at(0, work))
			d.Strip.NS["comm"] = append(d.Strip.NS["comm"], at(work, 105*MS))
			d.Strip.NS["copy"] = append(d.Strip.NS["copy"], at(105*MS, 107*MS))
		}
		s.Devices = append(s.Devices, d)
		phase := func(path string, own summary.Activity) {
			s.Phases = append(s.Phases, summary.Phase{Input: r, Rank: r, Device: int64(r % 8), Path: path, Count: steps, HostNS: steps * MS, HostOwnNS: steps * MS, MedianNS: MS, MaxNS: MS,
				Activity: own, Total: own, Launched: 10, WorkNS: own.Busy()})
		}
		phase("forward", of(steps*forward, 0, 0, 0))
		phase("backward", of(steps*50*MS, steps*(105*MS-work), 0, 0))
		phase("optimizer", of(steps*10*MS, 0, steps*2*MS, 0))
		s.Phases = append(s.Phases, summary.Phase{Input: r, Rank: r, Device: int64(r % 8), Activity: of(0, 0, 0, steps*MS), Total: of(0, 0, 0, steps*MS)})
		own := steps * (101*MS - work)
		waiting += own
		offset, residual := int64(r)*MS, 3*US
		s.Ranks = append(s.Ranks, summary.RankWait{Input: r, Rank: r, Device: int64(r % 8), Collectives: steps, TransferNS: steps * 4 * MS, WaitNS: own, OffsetNS: &offset, ResidualNS: &residual})
	}
	s.Ranks[Late(n)].Last, s.Ranks[Late(n)].CausedNS = 6, waiting/4*3
	s.Ranks[0].Last, s.Ranks[0].CausedNS = 2, waiting-waiting/4*3
	transfer, bytes := int64(steps*4*MS), int64(64<<20)
	s.Collectives = []summary.Collective{{Op: "all-reduce", Ranks: n, GroupSize: n, Dtype: "BFloat16", Bytes: &bytes, MatchedBy: "number", Count: steps, TransferNS: &transfer, WaitNS: &waiting}}
	s.Sort()
	return s
}

// Late is the rank of [Ranks] for which the others wait.
func Late(n int) int { return n * 3 / 4 }
