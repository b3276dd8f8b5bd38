package summary

import (
	"cmp"
	"fmt"
)

// A DecodeFloor is the least time in which the hardware could do a decode step: the larger of the bytes over
// the bandwidth of the memory and the FLOPs over the rate of their type.
type DecodeFloor struct {
	FloorNS *int64 `json:"floor_ns,omitempty"`
	// FloorFrom is [FloorOfOperators] if the bytes are those of recorded shapes, or [FloorOfModel].
	FloorFrom string `json:"floor_from,omitempty"`
	// MBU (memory bandwidth utilization) is the bytes over the step's length and the bandwidth of the memory, MFU
	// the FLOPs of the model over the step's length and the rate of their type. MBU is a lower limit if
	// the model's CacheBytes are null.
	MBU *float64 `json:"mbu,omitempty"`
	MFU *float64 `json:"mfu,omitempty"`

	Model *DecodeModel `json:"model,omitempty"`
}

// A DecodeModel is what the configuration of the model says about a decode step on one GPU.
type DecodeModel struct {
	Type   string `json:"type"`             // model_type of config.json
	Dtype  string `json:"dtype"`            // of what is not quantized
	Scheme string `json:"scheme,omitempty"` // of quantized matrices: fp8, int4, mxfp4 …

	Requests     int64  `json:"requests,omitempty"`
	Tokens       int64  `json:"tokens,omitempty"`
	RequestsFrom string `json:"requests_from,omitempty"` // [FromStep] or [FromUser]

	// Tensor, Expert and Pipeline are the GPUs that divide the work, ParallelFrom where they are from:
	// [FromUser], "log", "groups" (process groups) or "alone" (nothing was communicated).
	Tensor       int64  `json:"tensor,omitempty"`
	Expert       int64  `json:"expert,omitempty"`
	Pipeline     int64  `json:"pipeline,omitempty"`
	ParallelFrom string `json:"parallel_from,omitempty"`

	WeightBytes *int64       `json:"weight_bytes"`
	CacheBytes  *int64       `json:"cache_bytes"` // null if no annotation states the lengths
	FLOPs       *int64       `json:"flops"`
	MemoryNS    *int64       `json:"memory_ns"`  // the bytes at the bandwidth of the memory
	ComputeNS   *int64       `json:"compute_ns"` // the FLOPs at the rate of their type
	Parts       []DecodePart `json:"parts,omitempty"`
	Unknown     string       `json:"unknown,omitempty"` // why the floor of the model is not known or not stated
}

// A DecodePart is one kind of matrices, or the cache.
type DecodePart struct {
	Part  string `json:"part"`
	Bytes int64  `json:"bytes"`
	FLOPs int64  `json:"flops"`
	NS    int64  `json:"ns"` // its bytes at the bandwidth of the memory
}

// Values of [DecodeFloor.FloorFrom].
const (
	FloorOfOperators = "operators"
	FloorOfModel     = "model"
)

// Values of [DecodeModel.RequestsFrom] and [DecodeModel.ParallelFrom].
const (
	FromStep   = "step"
	FromUser   = "user"
	FromLog    = "log"
	FromGroups = "groups"
	FromAlone  = "alone"
)

// Values of [DecodeModel.Unknown] besides messages about a model that GPUs cannot divide so.
const (
	FloorNoRequests = "no requests"    // neither an annotation nor the user says how many run
	FloorNoParallel = "no parallelism" // the capture communicates, and does not say how the work is divided
	FloorNoPeak     = "no peak"
	FloorOver       = "over peak"      // the step took less than the floor
	FloorLittleWork = "little work"    // the GPU worked for less time than the floor, so work is not recorded
	FloorLayers     = "other layers"   // no kernel runs once in each layer
	FloorPasses     = "several passes" // the step runs the model several times, and nothing says that each is of decoding
	FloorOther      = "other model"    // operators with recorded shapes have other weights
)

func (f *DecodeFloor) check() error {
	if negative(f.FloorNS) {
		return fmt.Errorf(".floor_ns is negative")
	}
	return cmp.Or(checkNumbers(1, "mbu or mfu", f.MBU, f.MFU), f.Model.check())
}

// check returns the first violated constraint of m, which may be nil.
func (m *DecodeModel) check() error {
	if m == nil {
		return nil
	}
	if negative(m.WeightBytes) || negative(m.CacheBytes) || negative(m.FLOPs) || negative(m.MemoryNS) || negative(m.ComputeNS) || min(m.Requests, m.Tokens, m.Tensor, m.Expert, m.Pipeline) < 0 {
		return fmt.Errorf(".model: a number is negative")
	}
	for _, p := range m.Parts {
		if min(p.Bytes, p.FLOPs, p.NS) < 0 {
			return fmt.Errorf(".model.parts: a number is negative")
		}
	}
	return nil
}
