package blind

import (
	"fmt"
	"math/rand/v2"
)

// A Cause is one of several in a mixed program.
type Cause struct {
	Rules []string // findings that name it
	cost  int64    // of each step
}

// A Mixture is a program with several causes of random sizes, each of which can be
// taken away.
type Mixture struct {
	Name    string
	Causes  []Cause
	kernels int64 // ns of a matrix product
	layers  int
}

// Mixed returns a mixture that depends on nothing but its seed.
func Mixed(seed uint64) Mixture {
	rnd := rand.New(rand.NewPCG(seed, 77))
	cost := func(most int64) int64 {
		if rnd.IntN(3) == 0 {
			return 0
		}
		return 100*us + rnd.Int64N(most)
	}
	return Mixture{
		Name:    fmt.Sprintf("mixed %d", seed),
		kernels: 150*us + rnd.Int64N(250*us),
		layers:  3 + rnd.IntN(4),
		Causes: []Cause{
			{Rules: []string{"data-loading"}, cost: cost(8 * ms)},
			{Rules: []string{"cpu-work"}, cost: cost(8 * ms)},
			{Rules: []string{"allocating"}, cost: cost(4 * ms)},
			{Rules: []string{"exposed-communication"}, cost: cost(8 * ms)},
			{Rules: []string{"exposed-copies"}, cost: cost(8 * ms)},
		},
	}
}

// Simulate runs the mixture without one of its causes, or with all if without is -1, and
// with all times factor times as long.
func (m Mixture) Simulate(without int, factor int64) ([]byte, Parts) {
	s := newSim(0, 4, nil)
	s.factor = factor
	cost := func(i int) int64 {
		if i == without {
			return 0
		}
		return m.Causes[i].cost
	}
	s.steps(7, func(int) {
		if d := cost(0); d > 0 {
			s.note("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", func() { s.busy(d) })
		}
		if d := cost(4); d > 0 {
			s.copy(transfer{stream: 7, kind: "HtoD", bytes: 25 * d})
		}
		s.forward(m.layers, m.kernels)
		if d := cost(3); d > 0 {
			s.collect(collective{kernel: allReduce, op: "allreduce", bytes: d * 50, d: d, inline: true})
		}
		s.update(m.kernels)
		s.syncAll()
		s.frame("metrics.py(40): score", cost(1))
		if d := cost(2); d > 0 {
			s.malloc(d)
		}
	})
	return s.JSON(), s.Parts()
}
