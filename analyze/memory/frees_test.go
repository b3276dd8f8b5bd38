package memory_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"assay/internal/test/snapgen"
	"assay/summary"
	"assay/torchprof/memory"
)

// TestUnmatchedFrees: frees that are recorded twice, and frees whose allocation was taken
// out of the history, are counted exactly. Frees of memory that was live before the
// history raise nothing.
func TestUnmatchedFrees(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for i := range 40 {
		opt := snapgen.Options{Seed: uint64(i), Steps: 1 + rnd.IntN(4), Layers: 1 + rnd.IntN(8), Depth: 2, EmptyCache: i%2 == 0, Scatter: i%3 == 0, Streams: i%5 == 0}
		_, m := play(t, opt)
		entries := m.Devices[0].Entries
		peak := measure(m).Snapshots[0].Peak.Live
		freed := freedAllocations(entries)
		if len(freed) < 4 {
			continue
		}
		rnd.Shuffle(len(freed), func(a, b int) { freed[a], freed[b] = freed[b], freed[a] })
		n := 1 + rnd.IntN(len(freed)/2)
		var twice, without []memory.Entry
		for k, e := range entries {
			twice = append(twice, e)
			if slices.ContainsFunc(freed[:n], func(p [2]int) bool { return p[1] == k }) {
				twice = append(twice, e)
			}
			if !slices.ContainsFunc(freed[:n], func(p [2]int) bool { return p[0] == k }) {
				without = append(without, e)
			}
		}
		for name, list := range map[string][]memory.Entry{"freed twice": twice, "never allocated": without} {
			m.Devices[0].Entries = list
			s := measure(m)
			if got := countOf(s, "memory-frees-unmatched"); got != int64(n) {
				t.Errorf("%+v, %s: %d, want %d", opt, name, got, n)
			}
			if name == "freed twice" && s.Snapshots[0].Peak.Live != peak {
				t.Errorf("%+v: a second free changes the peak from %d to %d", opt, peak, s.Snapshots[0].Peak.Live)
			}
		}
		for _, late := range []snapgen.Options{{Seed: opt.Seed, Steps: 2, Layers: 3, RecordLate: true}, {Seed: opt.Seed, Steps: 3, Layers: 4, MaxEntries: 1 + rnd.IntN(200)}} {
			_, m := play(t, late)
			if got := countOf(measure(m), "memory-frees-unmatched"); got != 0 {
				t.Errorf("%+v: %d of no unmatched frees", late, got)
			}
		}
	}
}

// freedAllocations returns the indexes of allocations and of their frees.
func freedAllocations(entries []memory.Entry) (out [][2]int) {
	open := map[int64]int{}
	for i, e := range entries {
		switch e.Action {
		case memory.Alloc:
			open[e.Address] = i
		case memory.FreeCompleted:
			if at, ok := open[e.Address]; ok {
				out = append(out, [2]int{at, i})
			}
			delete(open, e.Address)
		}
	}
	return out
}

func countOf(s *summary.Summary, code string) (n int64) {
	for _, is := range s.Issues {
		if is.Code == code {
			n += is.Count
		}
	}
	return n
}
