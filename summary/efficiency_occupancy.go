package summary

import (
	"cmp"
	"fmt"
	"slices"
)

// An Occupancy is how one kernel with one launch configuration fills the multiprocessors (SMs, compute units) of a
// GPU. (Input, Rank, Device, Name, Grid, Block, Registers, SharedBytes) is its key.
type Occupancy struct {
	Input    int      `json:"input"`
	Rank     int      `json:"rank"`
	Device   int64    `json:"device"`
	Name     string   `json:"name"`
	Category string   `json:"category"`
	Grid     [3]int64 `json:"grid"`
	Block    [3]int64 `json:"block"`
	// Registers of a thread and SharedBytes of a block are null if they are not recorded.
	Registers   *int64 `json:"registers"`
	SharedBytes *int64 `json:"shared_bytes"`

	Count   int64 `json:"count"`
	TotalNS int64 `json:"total_ns"`
	AloneNS int64 `json:"alone_ns"` // launches during which no other kernel ran

	SMs    int64 `json:"sms"`
	Blocks int64 `json:"blocks"` // of one launch

	// BlocksPerSM is how many blocks an SM can hold at a time, Limiter what limits it: "block size", "registers" or
	// "shared memory"; "grid" if a launch has fewer. Theoretical is the share of the threads that an SM can hold,
	// Achieved the same with the blocks of a launch over all SMs, Waves the blocks over those that the GPU can
	// hold. They are null where the registers or the limits of the GPU are not known.
	BlocksPerSM *int64   `json:"blocks_per_sm"`
	Limiter     string   `json:"limiter,omitempty"`
	Theoretical *float64 `json:"theoretical_occupancy"`
	Achieved    *float64 `json:"est_achieved_occupancy"`
	Waves       *float64 `json:"waves"`

	// Loss is [LossFewSMs] or [LossTail], and GainNS what the launches alone on the GPU save at most if all SMs work until
	// their end.
	Loss   string `json:"loss,omitempty"`
	GainNS int64  `json:"gain_ns"`
}

// Values of [Occupancy.Loss].
const (
	LossFewSMs = "few sms" // fewer blocks than SMs
	LossTail   = "tail"    // the last wave of blocks does not fill the SMs
)

func (o *Occupancy) check() error {
	switch {
	case o.Count < 1 || o.SMs < 1 || o.Blocks < 1:
		return fmt.Errorf(".count: got %d launches of %d blocks on %d SMs", o.Count, o.Blocks, o.SMs)
	case o.TotalNS < 0 || o.AloneNS < 0 || o.AloneNS > o.TotalNS || o.GainNS < 0 || o.GainNS > o.AloneNS:
		return fmt.Errorf(".gain_ns: got %d of %d of %d ns", o.GainNS, o.AloneNS, o.TotalNS)
	case negative(o.Registers) || negative(o.SharedBytes) || negative(o.BlocksPerSM):
		return fmt.Errorf(".registers, .shared_bytes or .blocks_per_sm is negative")
	}
	return cmp.Or(checkNumbers(1, "occupancy", o.Theoretical, o.Achieved), checkNumbers(maxRate, "waves", o.Waves))
}

func (o *Occupancy) order(p *Occupancy) int {
	value := func(n *int64) int64 {
		if n == nil {
			return -1
		}
		return *n
	}
	return cmp.Or(cmp.Compare(p.TotalNS, o.TotalNS), cmp.Compare(o.Name, p.Name), slices.Compare(o.Grid[:], p.Grid[:]), slices.Compare(o.Block[:], p.Block[:]),
		cmp.Compare(value(o.Registers), value(p.Registers)), cmp.Compare(value(o.SharedBytes), value(p.SharedBytes)))
}
