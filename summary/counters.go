package summary

import (
	"errors"
	"fmt"
)

// A Counter has the hardware counters of all profiled launches of the kernels with one name on one device.
// (Input, Device, Kernel) is its key.
//
// A profiler of counters runs each launch alone and several times, often at a fixed clock. So its times can
// be compared with each other, but not with the times of a timeline.
//
// Shares (names ending in Pct) are percentages of the device's peak. They are means over the launches that
// have the metric, weighted by their durations or, if no launch has a duration, by their number. Metrics
// that were not collected are absent.
type Counter struct {
	Input      int    `json:"input"`
	Process    string `json:"process,omitempty"`
	Device     int64  `json:"device"`
	Capability string `json:"compute_capability,omitempty"` // such as "9.0"
	Kernel     string `json:"kernel"`

	// Class, Category and Rule are those of a [Kernel].
	Class    string `json:"class"`
	Category string `json:"category"`
	Rule     string `json:"rule"`

	Launches int64 `json:"launches"`
	Shapes   int64 `json:"shapes"` // number of different grids and blocks; values are averages over them

	// Sum, minimum and maximum of the durations of the Timed launches.
	Timed   int64  `json:"timed"`
	TotalNS int64  `json:"total_ns"`
	MinNS   *int64 `json:"min_ns,omitempty"`
	MaxNS   *int64 `json:"max_ns,omitempty"`

	ComputePct *float64 `json:"compute_pct,omitempty"` // busiest part of the SMs, in % of elapsed cycles
	MemoryPct  *float64 `json:"memory_pct,omitempty"`  // busiest part of caches and DRAM, in % of elapsed cycles
	DRAMPct    *float64 `json:"dram_pct,omitempty"`    // DRAM bandwidth, in % of elapsed cycles
	L1Pct      *float64 `json:"l1_pct,omitempty"`      // L1 throughput, in % of active cycles
	L2Pct      *float64 `json:"l2_pct,omitempty"`      // L2 throughput, in % of elapsed cycles
	L1HitPct   *float64 `json:"l1_hit_pct,omitempty"`  // hits in % of L1's lookups
	L2HitPct   *float64 `json:"l2_hit_pct,omitempty"`  // hits in % of L2's lookups

	OccupancyPct   *float64 `json:"occupancy_pct,omitempty"`             // resident warps in % of an SM's maximum
	TheoreticalPct *float64 `json:"theoretical_occupancy_pct,omitempty"` // the same, as permitted by the limits of the launch

	// Limiters are what limits the theoretical occupancy: "registers", "shared memory", "barriers",
	// "warps", "blocks". They are taken from the launches with the most time.
	Limiters  []string `json:"limiters,omitempty"`
	Registers *float64 `json:"registers_per_thread,omitempty"`

	// Waves is the number of blocks of the grid divided by the number of blocks that run at the same time.
	// If it is not a whole number, the last wave is partial. TailNS is the unused share of all waves times
	// the durations, and WavesNS is the sum of these durations.
	Waves   *float64 `json:"waves,omitempty"`
	TailNS  int64    `json:"tail_ns,omitempty"`
	WavesNS int64    `json:"waves_ns,omitempty"`

	DRAMBytes *int64 `json:"dram_bytes,omitempty"` // sum over BytesNS
	BytesNS   int64  `json:"dram_bytes_ns,omitempty"`

	WarpCycles *float64 `json:"warp_cycles,omitempty"` // from one instruction of a warp to the next
	Stalls     []Stall  `json:"stalls,omitempty"`      // the parts of WarpCycles by reason, the largest first

	Work []Work `json:"work,omitempty"` // by precision
	// ByShape has the counters by grid and block, the shapes with the most launches first. It may leave
	// shapes out.
	ByShape []CounterShape `json:"by_shape,omitempty"`
	Rules   []Advice       `json:"rules,omitempty"`
}

// A CounterShape has the counters of a kernel's launches with one grid and block. A metric that was not
// collected for all of them is absent.
type CounterShape struct {
	Grid      [3]int64         `json:"grid"`
	Block     [3]int64         `json:"block"`
	Launches  int64            `json:"launches"`
	DRAMBytes *int64           `json:"dram_bytes,omitempty"` // sum over all launches
	FLOPs     map[string]int64 `json:"flops,omitempty"`      // sum over all launches, by precision
}

// A Stall is a reason why warps could not issue an instruction.
type Stall struct {
	Reason string  `json:"reason"` // such as "long scoreboard"
	Cycles float64 `json:"cycles"` // per instruction
}

// A Work is the arithmetic of one precision, over the launches for which its counters were collected.
type Work struct {
	Precision string `json:"precision"` // "fp16", "fp32", "fp64", "tensor"
	FLOPs     int64  `json:"flops"`
	NS        int64  `json:"ns"` // durations of these launches

	DRAMBytes    *int64 `json:"dram_bytes,omitempty"`     // moved by these launches
	PeakFLOPs    *int64 `json:"peak_flops,omitempty"`     // per second, at the clock of the launches
	PeakDRAMRate *int64 `json:"peak_dram_rate,omitempty"` // bytes per second
}

// An Advice is a conclusion of the profiler itself.
type Advice struct {
	Name     string `json:"name"` // such as "SOLBottleneck"
	Type     string `json:"type"` // "OPT", "INF", "WRN"
	Text     string `json:"text"` // from the longest launch that has it, shortened
	Launches int64  `json:"launches"`

	// SpeedupPct is the speedup that the profiler expects from following the
	// advice, in percent, for the launch ("global") or for the part that the
	// rule examines ("local").
	SpeedupPct  *float64 `json:"speedup_pct,omitempty"`
	SpeedupKind string   `json:"speedup_kind,omitempty"`
}

// check returns the first violated constraint of c.
func (c *Counter) check() error {
	if c.Launches < 0 || c.TotalNS < 0 || c.TailNS < 0 || c.WavesNS < 0 {
		return errors.New("a count or a time is negative, want 0 or more")
	}
	if c.TailNS > c.WavesNS {
		return fmt.Errorf(".tail_ns: got %d, want at most %d, waves_ns", c.TailNS, c.WavesNS)
	}
	return nil
}
