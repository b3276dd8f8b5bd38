package ncu

import "fmt"

// A Quantity identifies what a metric measures, independent of the producer's
// name.
type Quantity uint8

// The quantities. Shares are in percent, as producers print them.
const (
	None Quantity = iota // a metric that has no meaning here

	Duration // ns

	// Shares of the device's peak, over the elapsed cycles. Compute is the
	// busiest part of the SMs, Memory the busiest of caches and DRAM.
	ComputeShare
	MemoryShare
	DRAMShare
	L1Share
	L2Share

	L1Hits // share of L1's lookups
	L2Hits // share of L2's lookups

	// Occupancy is resident warps divided by the maximum of an SM. The smallest
	// of the block limits determines the theoretical occupancy.
	Occupancy
	TheoreticalOccupancy
	LimitBlocks // blocks per SM, for each limiter
	LimitRegisters
	LimitShared
	LimitWarps
	LimitBarriers

	Registers   // per thread
	Waves       // blocks of the grid divided by blocks that run at a time
	SMs         // of the device
	SMFrequency // hz, while the launch ran

	WarpCycles // cycles from one instruction of a warp to the next

	// Stalls are cycles from one instruction of a warp to the next, by reason,
	// which is the key's Part. Together with the cycle of the issue they sum to
	// WarpCycles.
	Stalls

	DRAMRate  // byte/s
	DRAMBytes // byte
	DRAMRead  // byte
	DRAMWrite // byte

	// Instructions of all threads. They are operations once they are weighted,
	// see [FLOPs].
	AddF16
	MulF16
	FmaF16
	AddF32
	MulF32
	FmaF32
	AddF64
	MulF64
	FmaF64

	// The same per cycle of the device.
	AddF16Rate
	MulF16Rate
	FmaF16Rate
	AddF32Rate
	MulF32Rate
	FmaF32Rate
	AddF64Rate
	MulF64Rate
	FmaF64Rate

	TensorOps     // operations on tensor cores: a multiply-add is two
	TensorOpsRate // the same per cycle

	// The peak of the device, per cycle of its own clock.
	PeakF16 // operations
	PeakF32
	PeakF64
	PeakTensor
	PeakDRAM      // byte
	DRAMFrequency // hz, of PeakDRAM's cycles

	quantities // number of quantities
)

// A Precision is a number format that has a peak of its own.
type Precision uint8

// The precisions.
const (
	F16 Precision = iota
	F32
	F64
	Tensor
	Precisions // number of precisions
)

// String returns "fp16", "fp32", "fp64" or "tensor".
func (p Precision) String() string {
	if p < Precisions {
		return [...]string{F16: "fp16", F32: "fp32", F64: "fp64", Tensor: "tensor"}[p]
	}
	return fmt.Sprintf("precision(%d)", uint8(p))
}

// An operation is a counter of instructions and the number of operations per
// instruction.
type operation struct {
	sum, rate Quantity
	weight    float64
}

// operations returns the counters whose weighted sum is the number of
// operations in a precision. Half precision instructions work on two numbers, a
// multiply-add does two operations.
func operations(p Precision) []operation {
	switch p {
	case F16:
		return []operation{{AddF16, AddF16Rate, 2}, {MulF16, MulF16Rate, 2}, {FmaF16, FmaF16Rate, 4}}
	case F32:
		return []operation{{AddF32, AddF32Rate, 1}, {MulF32, MulF32Rate, 1}, {FmaF32, FmaF32Rate, 2}}
	case F64:
		return []operation{{AddF64, AddF64Rate, 1}, {MulF64, MulF64Rate, 1}, {FmaF64, FmaF64Rate, 2}}
	}
	return []operation{{TensorOps, TensorOpsRate, 1}}
}

// peak returns the quantity of a precision's peak.
func (p Precision) peak() Quantity {
	return [...]Quantity{F16: PeakF16, F32: PeakF32, F64: PeakF64, Tensor: PeakTensor}[p]
}
