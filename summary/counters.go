package summary

import (
	"errors"
	"fmt"
)

// A Counter is what hardware counters said of all profiled launches of the
// kernels of one name on one device. (Input, Device, Kernel) is its key.
//
// A profiler of counters runs a launch alone and many times, often at a fixed
// clock, so its times compare with each other and not with those of a timeline.
//
// Shares (names ending in Pct) are in percent of what the device can do at most,
// means over the launches that have the figure, weighted by their durations or,
// where none has one, by their number. Absent is what was not collected.
type Counter struct {
	Input      int    `json:"input"`
	Process    string `json:"process,omitempty"`
	Device     int64  `json:"device"`
	Capability string `json:"compute_capability,omitempty"` // as "9.0"
	Kernel     string `json:"kernel"`

	// Class, Category and Rule are those of a [Kernel].
	Class    string `json:"class"`
	Category string `json:"category"`
	Rule     string `json:"rule"`

	Launches int64 `json:"launches"`
	Shapes   int64 `json:"shapes"` // how many different grids and blocks they had; what differs is averaged

	// Sum and extremes of the durations, of Timed launches.
	Timed   int64  `json:"timed"`
	TotalNS int64  `json:"total_ns"`
	MinNS   *int64 `json:"min_ns,omitempty"`
	MaxNS   *int64 `json:"max_ns,omitempty"`

	ComputePct *float64 `json:"compute_pct,omitempty"` // busiest part of the SMs, of elapsed cycles
	MemoryPct  *float64 `json:"memory_pct,omitempty"`  // busiest part of caches and DRAM, of elapsed cycles
	DRAMPct    *float64 `json:"dram_pct,omitempty"`    // of DRAM's bandwidth, of elapsed cycles
	L1Pct      *float64 `json:"l1_pct,omitempty"`      // of L1's throughput, of active cycles
	L2Pct      *float64 `json:"l2_pct,omitempty"`      // of L2's throughput, of elapsed cycles
	L1HitPct   *float64 `json:"l1_hit_pct,omitempty"`  // of L1's lookups
	L2HitPct   *float64 `json:"l2_hit_pct,omitempty"`  // of L2's lookups

	OccupancyPct   *float64 `json:"occupancy_pct,omitempty"`             // resident warps, of those that an SM holds
	TheoreticalPct *float64 `json:"theoretical_occupancy_pct,omitempty"` // the same, as the limits of the launch allow

	// Limiters are what the theoretical occupancy is limited by: "registers",
	// "shared memory", "barriers", "warps", "blocks", those of the launches with the
	// most time.
	Limiters  []string `json:"limiters,omitempty"`
	Registers *float64 `json:"registers_per_thread,omitempty"`

	// Waves are blocks of the grid over those that run at a time. In the last one
	// places stay empty unless the number is whole: TailNS is their share of all
	// places, times the durations, WavesNS these durations.
	Waves   *float64 `json:"waves,omitempty"`
	TailNS  int64    `json:"tail_ns,omitempty"`
	WavesNS int64    `json:"waves_ns,omitempty"`

	DRAMBytes *int64 `json:"dram_bytes,omitempty"` // sum over BytesNS
	BytesNS   int64  `json:"dram_bytes_ns,omitempty"`

	WarpCycles *float64 `json:"warp_cycles,omitempty"` // from one instruction of a warp to its next
	Stalls     []Stall  `json:"stalls,omitempty"`      // what they pass with, the largest first

	Work  []Work   `json:"work,omitempty"` // by precision
	Rules []Advice `json:"rules,omitempty"`
}

// A Stall is why warps wait.
type Stall struct {
	Reason string  `json:"reason"` // as "long scoreboard"
	Cycles float64 `json:"cycles"` // of each instruction
}

// A Work is the arithmetic of the launches whose counters of it were collected.
type Work struct {
	Precision string `json:"precision"` // "fp16", "fp32", "fp64", "tensor"
	FLOPs     int64  `json:"flops"`
	NS        int64  `json:"ns"` // durations of these launches

	DRAMBytes    *int64 `json:"dram_bytes,omitempty"`     // that they moved
	PeakFLOPs    *int64 `json:"peak_flops,omitempty"`     // a second, at the clock they ran at
	PeakDRAMRate *int64 `json:"peak_dram_rate,omitempty"` // bytes a second
}

// An Advice is what the profiler itself concluded.
type Advice struct {
	Name     string `json:"name"` // as "SOLBottleneck"
	Type     string `json:"type"` // "OPT", "INF", "WRN"
	Text     string `json:"text"` // of the longest launch that has it, cut
	Launches int64  `json:"launches"`

	// SpeedupPct is what the profiler expects of doing it, in percent, of the launch
	// ("global") or of what the rule looks at ("local").
	SpeedupPct  *float64 `json:"speedup_pct,omitempty"`
	SpeedupKind string   `json:"speedup_kind,omitempty"`
}

// check returns the first promise that c breaks.
func (c *Counter) check() error {
	if c.Launches < 0 || c.TotalNS < 0 || c.TailNS < 0 || c.WavesNS < 0 {
		return errors.New("a count or a time is negative, want 0 or more")
	}
	if c.TailNS > c.WavesNS {
		return fmt.Errorf(".tail_ns: got %d, want at most %d, waves_ns", c.TailNS, c.WavesNS)
	}
	return nil
}
