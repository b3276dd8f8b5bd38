package summary

import "encoding/json"

// Efficiency compares what GPUs did with what their hardware could do: floating-point
// operations and bytes of operators, and the time that the peaks of the device allow for
// them. It is empty where it was not asked for. The formulas are those of package
// efficiency; docs/efficiency.md has the definitions.
//
// The JSON has another member, "total": the sums over the devices.
type Efficiency struct {
	Devices   []EfficiencyDevice   `json:"devices"`
	Rows      []EfficiencyRow      `json:"rows"`
	Steps     []EfficiencyStep     `json:"steps,omitempty"`
	Transfers []EfficiencyTransfer `json:"transfers,omitempty"`
}

// IsZero reports whether nothing was asked for or nothing ran on a GPU.
func (e Efficiency) IsZero() bool { return len(e.Devices) == 0 && len(e.Rows) == 0 }

// An EfficiencyDevice has the peaks of one GPU in one input and the sums of its rows.
// (Input, Rank, Device) is its key.
type EfficiencyDevice struct {
	Input  int    `json:"input"`
	Rank   int    `json:"rank"`
	Device int64  `json:"device"`
	Name   string `json:"name"`

	// PeakSource is where the peaks are from: "table" (data sheets), "nsys" (the export's
	// own figures), "estimated" (from the number of SMs and the clock), "user", or "" if no
	// peak is known.
	PeakSource string `json:"peak_source,omitempty"`
	// PeakTFLOPS has the dense rates in 10^12 FLOP/s by type: fp32, tf32, fp16, bf16, fp8,
	// fp4, int8. A type that is not there has no known peak.
	PeakTFLOPS map[string]float64 `json:"peak_tflops,omitempty"`
	HBMGBPS    *float64           `json:"hbm_gbps,omitempty"`  // memory, 10^9 bytes/s
	LinkGBPS   *float64           `json:"link_gbps,omitempty"` // NVLink or xGMI, each direction
	PCIeGBPS   *float64           `json:"pcie_gbps,omitempty"` // each direction

	EfficiencySums
}

// EfficiencySums are sums over the operators of a device or of several.
type EfficiencySums struct {
	GPUNS        int64 `json:"gpu_ns"`         // of rows, and of work without an operator
	NoOperatorNS int64 `json:"no_operator_ns"` // work whose launch is unknown, or was made outside of operators
	FLOPsKnownNS int64 `json:"flops_known_ns"` // GPU time of rows with known FLOPs
	BytesKnownNS int64 `json:"bytes_known_ns"` // GPU time of rows with known bytes
	MatrixNS     int64 `json:"matrix_ns"`      // GPU time of matrix rows
	MatrixFLOPs  int64 `json:"matrix_flops"`   // all that were executed
	ModelFLOPs   int64 `json:"model_flops"`    // MatrixFLOPs without recomputation
	WallNS       int64 `json:"wall_ns"`        // from the first start to the last end of GPU events
	// MFU and HFU are shares of the peak over WallNS, of ModelFLOPs and of MatrixFLOPs.
	// They are lower bounds where FLOPsKnownNS is less than GPUNS, and null where no FLOPs of matrix
	// rows or no peak is known.
	MFU           *float64 `json:"mfu"`
	HFU           *float64 `json:"hfu"`
	RooflineNS    int64    `json:"roofline_ns"`    // of rows that have one
	RecoverableNS int64    `json:"recoverable_ns"` // GPU time above the roofline of these rows
}

// An EfficiencyRow is one operator with one set of inputs on one GPU. (Input, Rank, Device,
// Op, Dims, Types) is its key. GPUNS is the length of the union of what each call
// launched, summed over the calls. FLOPs and bytes are sums over the calls too; null is
// unknown.
type EfficiencyRow struct {
	Input  int             `json:"input"`
	Rank   int             `json:"rank"`
	Device int64           `json:"device"`
	Op     string          `json:"op"`
	Dims   json.RawMessage `json:"dims"`  // as recorded; null if absent
	Types  json.RawMessage `json:"types"` // as recorded; null if absent
	Unit   string          `json:"unit"`  // "matrix", "vector", "none", or "" if unknown
	Dtype  string          `json:"dtype,omitempty"`
	Kernel string          `json:"kernel,omitempty"` // the longest that a call launched

	Count   int64  `json:"count"`
	GPUNS   int64  `json:"gpu_ns"`
	FLOPs   *int64 `json:"flops"`
	Model   *int64 `json:"model_flops,omitempty"` // FLOPs without recomputation; only where they differ
	Bytes   *int64 `json:"bytes"`
	BytesIs string `json:"bytes_is,omitempty"` // "exact" or "estimate"

	Intensity  *float64 `json:"intensity"` // FLOPs per byte
	TFLOPS     *float64 `json:"tflops"`    // achieved, over GPUNS
	GBPS       *float64 `json:"gbps"`      // achieved, over GPUNS
	Bound      string   `json:"bound,omitempty"`
	RooflineNS *int64   `json:"roofline_ns"`
	Unknown    string   `json:"unknown,omitempty"` // why FLOPs or bytes are null
	OverlapNS  int64    `json:"overlap_ns,omitempty"`
}

// An EfficiencyStep has the FLOPs of one step on one GPU.
type EfficiencyStep struct {
	Input  int    `json:"input"`
	Rank   int    `json:"rank"`
	Device int64  `json:"device"`
	Number int64  `json:"number"` // as in [Step]
	Name   string `json:"name"`
	EfficiencySums
}

// An EfficiencyTransfer is a kind of copy or collective of one GPU, compared with the link
// that it used.
type EfficiencyTransfer struct {
	Input  int    `json:"input"`
	Rank   int    `json:"rank"`
	Device int64  `json:"device"`
	Kind   string `json:"kind"` // "copy" or "collective"
	Name   string `json:"name"` // such as "HtoD" or "all_reduce"
	Group  int    `json:"group,omitempty"`
	Count  int64  `json:"count"`
	NS     int64  `json:"ns"`
	Bytes  int64  `json:"bytes"`
	// AlgGBPS is bytes over time; BusGBPS has the factor of nccl-tests, and is null for copies.
	AlgGBPS  *float64 `json:"algbw_gbps"`
	BusGBPS  *float64 `json:"busbw_gbps,omitempty"`
	Link     string   `json:"link,omitempty"` // "pcie", "link" or "hbm"
	PeakGBPS *float64 `json:"peak_gbps"`
	Lower    bool     `json:"lower_bound,omitempty"` // time includes waiting for other ranks
}
