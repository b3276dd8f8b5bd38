package summary

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Efficiency compares what GPUs did with what their hardware can do: floating-point operations and bytes of
// operators, and the time that the peaks of the device allow for them. It is empty unless the caller
// requested this measurement. The formulas are in package analyze/efficiency.
type Efficiency struct {
	Devices   []EfficiencyDevice   `json:"devices"`
	Rows      []EfficiencyRow      `json:"rows"`
	Steps     []EfficiencyStep     `json:"steps,omitempty"`
	Decode    []EfficiencyDecode   `json:"decode,omitempty"`
	Transfers []EfficiencyTransfer `json:"transfers,omitempty"`
	Replays   []EfficiencyReplay   `json:"replays,omitempty"`
	Captures  []EfficiencyCapture  `json:"captures,omitempty"`
	Occupancy []Occupancy          `json:"occupancy,omitempty"`
	Savings   []Saving             `json:"savings,omitempty"`

	// Sums is the result of Total, set only in the JSON that [Write] writes. It is nil otherwise.
	Sums *EfficiencySums `json:"total,omitempty"`
}

// IsZero reports whether efficiency was not measured or nothing ran on a GPU.
func (e Efficiency) IsZero() bool { return len(e.Devices) == 0 && len(e.Rows) == 0 }

// An EfficiencyDevice has the peaks of one GPU in one input and the sums of its rows.
// (Input, Rank, Device) is its key.
type EfficiencyDevice struct {
	Input  int    `json:"input"`
	Rank   int    `json:"rank"`
	Device int64  `json:"device"`
	Name   string `json:"name"`

	// PeakSource is the origin of the peaks: "table" (data sheets), "nsys" (figures in the export), "capture"
	// (figures in another capture), "estimated" (from the number of SMs and the clock), "user" if the user stated any of them, or "" if
	// no peak is known. PeakSources has the origin of each figure: the types of PeakTFLOPS, hbm, link, pcie
	// and c2c.
	PeakSource  string            `json:"peak_source,omitempty"`
	PeakSources map[string]string `json:"peak_sources,omitempty"`
	// PeakOrigin is the document with the figures, or the source that a user's file of peaks names.
	// PeakNote is a restriction that a reader should know, such as that the link needs a bridge or that the
	// device is a partition.
	PeakOrigin string `json:"peak_origin,omitempty"`
	PeakNote   string `json:"peak_note,omitempty"`
	// PeakTFLOPS has the dense rates in 10^12 FLOP/s by type: fp32, tf32, fp16, bf16, fp8,
	// fp4, int8. Types without a known peak are absent.
	PeakTFLOPS map[string]float64 `json:"peak_tflops,omitempty"`
	HBMGBPS    *float64           `json:"hbm_gbps,omitempty"`  // memory, 10^9 bytes/s
	LinkGBPS   *float64           `json:"link_gbps,omitempty"` // NVLink or xGMI, each direction
	PCIeGBPS   *float64           `json:"pcie_gbps,omitempty"` // each direction
	C2CGBPS    *float64           `json:"c2c_gbps,omitempty"`  // to the CPU of the same package, each direction
	// PeakMHz is the clock that the rates of matrix units assume. HBMSource is the origin of HBMGBPS if it
	// differs from PeakSource.
	PeakMHz   *float64 `json:"peak_mhz,omitempty"`
	HBMSource string   `json:"hbm_source,omitempty"`
	// CacheBytes is the size of the last-level cache; 0 if it is not known.
	CacheBytes int64 `json:"cache_bytes,omitempty"`

	// Clock is the clock of the SMs while the GPU was busy. Throttled is the share of this time in which a
	// power or temperature limit lowered it. They are absent unless a monitor recorded this GPU at this
	// time.
	Clock       *WorkingClock `json:"clock_mhz,omitempty"`
	ClockSource string        `json:"clock_source,omitempty"` // [ClockOfMonitor]
	Throttled   *float64      `json:"throttled_share,omitempty" of:"the time in which the GPU was busy"`

	EfficiencySums
}

// SourceOf returns the origin of one figure. Summaries of earlier versions have only PeakSource.
func (d *EfficiencyDevice) SourceOf(figure string) string {
	switch source, ok := d.PeakSources[figure]; {
	case ok:
		return source
	case figure == "hbm" && d.HBMSource != "":
		return d.HBMSource
	}
	return d.PeakSource
}

// A WorkingClock is a clock in MHz, as the median over the samples of a monitor.
type WorkingClock struct {
	Median  float64 `json:"median"`
	Samples int64   `json:"samples"`
}

// ClockOfMonitor is the source of a clock that nvidia-smi, DCGM or another monitor recorded.
const ClockOfMonitor = "monitor"

// EfficiencySums are sums over the operators of a device, of a step on it or of several devices. A call of
// an operator counts completely where its first GPU operation starts.
type EfficiencySums struct {
	GPUNS        int64 `json:"gpu_ns"`         // GPU time of rows and of GPU operations without an operator
	NoOperatorNS int64 `json:"no_operator_ns"` // GPU time of operations whose launch is unknown or outside of operators
	// GraphNS is the GPU time of graph replays whose operators no capture shows, so that their FLOPs and
	// bytes are unknown. CommNS is the part of GPUNS during which communication kernels ran.
	GraphNS int64 `json:"graph_ns,omitempty"`
	CommNS  int64 `json:"comm_ns,omitempty"`
	// NoOperatorCommNS is the part of NoOperatorNS during which communication kernels ran, without graph
	// replays.
	NoOperatorCommNS int64 `json:"no_operator_comm_ns,omitempty"`
	FLOPsKnownNS     int64 `json:"flops_known_ns"` // GPU time of rows with known FLOPs
	BytesKnownNS     int64 `json:"bytes_known_ns"` // GPU time of rows with known bytes
	MatrixNS         int64 `json:"matrix_ns"`      // GPU time of matrix rows
	MatrixFLOPs      Sum   `json:"matrix_flops"`   // executed FLOPs of matrix rows
	ModelFLOPs       Sum   `json:"model_flops"`    // MatrixFLOPs without recomputation
	WallNS           int64 `json:"wall_ns"`        // the window of the device, or the length of the step
	// MFU and HFU are ModelFLOPs and MatrixFLOPs as shares of the peak over WallNS. If FLOPsKnownNS is less
	// than GPUNS, they are lower bounds. They are null if no FLOPs of matrix rows are known, or no peak of
	// any of their types.
	MFU *float64 `json:"mfu" of:"the peak over wall_ns"`
	HFU *float64 `json:"hfu" of:"the peak over wall_ns"`
	// MFUFrom is [MFUOfUser] if the user stated ModelFLOPs per step, and "" if they follow from the
	// operators. It is [MFUOver] if MFU and HFU are null because they would exceed 100%.
	MFUFrom       string `json:"mfu_from,omitempty"`
	RooflineNS    int64  `json:"roofline_ns"`    // sum of the rooflines of the rows that have one
	RecoverableNS int64  `json:"recoverable_ns"` // GPU time above the roofline of these rows
}

// An EfficiencyRow is one operator with one set of inputs on one GPU. (Input, Rank, Device, Op, Dims,
// Types, From) is its key, with three exceptions that have rows of their own: calls whose work is not
// known, calls whose bytes are estimated from the grids of kernels, and copies between host and device.
// GPUNS is the length of the union of the GPU operations that each call launched, summed over the calls.
// FLOPs and bytes are sums over the calls too; null is unknown.
type EfficiencyRow struct {
	Input  int             `json:"input"`
	Rank   int             `json:"rank"`
	Device int64           `json:"device"`
	Op     string          `json:"op"`
	Dims   json.RawMessage `json:"dims"`  // as recorded; null if absent
	Types  json.RawMessage `json:"types"` // as recorded; null if absent
	Unit   string          `json:"unit"`  // "matrix", "vector", "none", or "" if unknown
	Dtype  string          `json:"dtype,omitempty"`
	Kernel string          `json:"kernel,omitempty"` // the longest kernel that a call launched
	// From is [FromCapture] if graphs replayed the kernels and the operators come from the capture of the
	// graph; [FromCompiler] if Op is an operation of a device whose FLOPs and bytes the compiler (XLA) states;
	// "" if the operators launched the kernels.
	From string `json:"from,omitempty"`

	// Grid and Block are those of Kernel if every call launched only this kernel, always with the same grid
	// and block; otherwise null.
	Grid  *[3]int64 `json:"grid,omitempty"`
	Block *[3]int64 `json:"block,omitempty"`

	Count   int64  `json:"count"`
	Untimed int64  `json:"untimed,omitempty"` // calls without a duration; FLOPs and bytes exclude them
	GPUNS   int64  `json:"gpu_ns"`
	FLOPs   *int64 `json:"flops"`
	Model   *int64 `json:"model_flops,omitempty"` // FLOPs without recomputation; only where they differ
	Bytes   *int64 `json:"bytes"`
	BytesIs string `json:"bytes_is,omitempty"` // "exact" or "estimate"

	// FLOPsMin and FLOPsMax limit FLOPs if these are null, BytesMin and BytesMax the bytes, because the
	// capture does not record how many experts had tokens or how long sequences were. Both limits are null
	// if one is unknown. Sums and rooflines do not use them.
	FLOPsMin *int64 `json:"flops_min,omitempty"`
	FLOPsMax *int64 `json:"flops_max,omitempty"`
	BytesMin *int64 `json:"bytes_min,omitempty"`
	BytesMax *int64 `json:"bytes_max,omitempty"`

	Intensity *float64 `json:"intensity"` // FLOPs per byte
	TFLOPS    *float64 `json:"tflops"`    // achieved, over GPUNS
	GBPS      *float64 `json:"gbps"`      // achieved, over GPUNS
	// Bound is the limit that determines the roofline: "compute", "memory", "link" (for a copy between host
	// and device), or "latency" if the launch of a call takes longer than its work. RooflineNS is null if
	// the row exceeds a peak.
	Bound      string `json:"bound,omitempty"`
	RooflineNS *int64 `json:"roofline_ns"`
	// Unknown is why FLOPs or bytes are null, or [NoPeak] if only the roofline is null.
	Unknown string `json:"unknown,omitempty"`
	// Over is the peak that the row exceeds: "cached" (more bytes than the memory delivers,
	// which a cache hit explains), or "memory" or "compute", which is impossible: then the FLOPs, the
	// bytes, the time or the peak is wrong for this GPU, and the row has no roofline.
	Over string `json:"over_peak,omitempty"`
	// OverlapNS is the part of GPUNS during which communication ran at the same time.
	OverlapNS int64 `json:"overlap_ns,omitempty"`
}

// An EfficiencyStep has the sums of one step on one GPU. (Input, Rank, Device, StartNS, Number, Name) is
// its key, as for [Step].
type EfficiencyStep struct {
	Input   int    `json:"input"`
	Rank    int    `json:"rank"`
	Device  int64  `json:"device"`
	Name    string `json:"name"`
	Number  int64  `json:"number"`
	StartNS int64  `json:"start_ns"`
	// Replays has the launches of graphs in the step. It is removed when replays are joined with captures.
	Replays []StepReplay `json:"replays,omitempty"`
	EfficiencySums
}

// An EfficiencyTransfer is one kind of copy or collective of one GPU, compared with the link that it used.
type EfficiencyTransfer struct {
	Input  int    `json:"input"`
	Rank   int    `json:"rank"`
	Device int64  `json:"device"`
	Kind   string `json:"kind"` // "copy" or "collective"
	Name   string `json:"name"` // such as "Memcpy HtoD (Pinned -> Device)" or "all-reduce"
	Group  int    `json:"group_size,omitempty"`
	Count  int64  `json:"count"`
	NS     int64  `json:"ns"`
	Bytes  Sum    `json:"bytes"` // as nccl-tests counts them
	// AlgGBPS is bytes over time. BusGBPS is AlgGBPS times the factor of nccl-tests; it is null for copies
	// and if the factor is not known.
	AlgGBPS  *float64 `json:"algbw_gbps"`
	BusGBPS  *float64 `json:"busbw_gbps,omitempty"`
	Link     string   `json:"link,omitempty"` // "pcie", "c2c", "link" or "hbm"
	PeakGBPS *float64 `json:"peak_gbps"`
	Lower    bool     `json:"lower_bound,omitempty"` // of the bandwidth: the time includes waiting
	// Over says that the bandwidth exceeds the peak: [OverCached], or [OverMemory] or [OverLink],
	// which are impossible. It is never set for collectives that the switch may compute (NVLink SHARP).
	Over string `json:"over_peak,omitempty"`
}

// Values of [EfficiencySums.MFUFrom].
const (
	MFUOfUser = "user" // the user gave the model FLOPs
	MFUOver   = "over peak"
)

// MayReduceInSwitch reports whether the switch between GPUs can compute a collective, as NVLink SHARP does.
// Its bus bandwidth may then exceed the rate of the links. The names of NCCL's kernels do not show whether
// the switch was used.
func MayReduceInSwitch(op string) bool {
	return op == "all-reduce" || op == "reduce-scatter" || op == "all-gather"
}

// Total returns the sums over the devices. MFU and HFU refer to the sum of their windows. They are null if
// a device with matrix FLOPs has no MFU or HFU.
func (e *Efficiency) Total() EfficiencySums {
	var out EfficiencySums
	for i := range e.Devices {
		out.add(&e.Devices[i].EfficiencySums)
		if from := e.Devices[i].MFUFrom; out.MFUFrom == "" || from == MFUOver {
			out.MFUFrom = from
		}
	}
	out.MFU = e.mean(out.WallNS, func(s *EfficiencySums) *float64 { return s.MFU })
	out.HFU = e.mean(out.WallNS, func(s *EfficiencySums) *float64 { return s.HFU })
	return out
}

// mean returns the mean of a share over the devices, weighted by their windows, which sum to wall.
func (e *Efficiency) mean(wall int64, share func(*EfficiencySums) *float64) *float64 {
	sum, known := 0.0, false
	for i := range e.Devices {
		d := &e.Devices[i].EfficiencySums
		if v := share(d); v != nil {
			sum, known = sum+*v*float64(d.WallNS), true
		} else if d.MatrixFLOPs > 0 {
			return nil
		}
	}
	if !known || wall == 0 {
		return nil
	}
	sum /= float64(wall)
	return &sum
}

// add adds the sums of another device, without shares.
func (s *EfficiencySums) add(o *EfficiencySums) {
	for _, f := range []struct{ to, from *int64 }{
		{&s.GPUNS, &o.GPUNS}, {&s.NoOperatorNS, &o.NoOperatorNS}, {&s.GraphNS, &o.GraphNS}, {&s.CommNS, &o.CommNS}, {&s.NoOperatorCommNS, &o.NoOperatorCommNS},
		{&s.FLOPsKnownNS, &o.FLOPsKnownNS}, {&s.BytesKnownNS, &o.BytesKnownNS}, {&s.MatrixNS, &o.MatrixNS},
		{&s.WallNS, &o.WallNS},
		{&s.RooflineNS, &o.RooflineNS}, {&s.RecoverableNS, &o.RecoverableNS},
	} {
		*f.to = Plus(*f.to, *f.from)
	}
	s.MatrixFLOPs, s.ModelFLOPs = s.MatrixFLOPs.Plus(int64(o.MatrixFLOPs)), s.ModelFLOPs.Plus(int64(o.ModelFLOPs))
}

// written returns e as JSON shows it: with its total, and with empty lists instead of null.
func (e Efficiency) written() Efficiency {
	if !e.IsZero() {
		total := e.Total()
		e.Sums, e.Devices, e.Rows = &total, orEmpty(e.Devices), orEmpty(e.Rows)
	}
	return e
}

// Bounds of the rooflines of rows.
const (
	BoundCompute = "compute"
	BoundMemory  = "memory"
	BoundLink    = "link"
	BoundLatency = "latency"
)

// Values of [EfficiencyRow.Over] and [EfficiencyTransfer.Over].
const (
	OverCached  = "cached"
	OverMemory  = "memory"
	OverCompute = "compute"
	OverLink    = "link"
)

// NoPeak is the Unknown of rows with FLOPs and bytes for which the GPU has no known peak.
const NoPeak = "no peak"

// IsOver reports whether a value of Over is impossible, so that the FLOPs, the bytes, the time or the peak
// must be wrong. OverCached is possible.
func IsOver(over string) bool { return over != "" && over != OverCached }

// check returns the first violated constraint of s.
func (s *EfficiencySums) check() error {
	for _, n := range []int64{s.GPUNS, s.NoOperatorNS, s.GraphNS, s.CommNS, s.NoOperatorCommNS, s.FLOPsKnownNS, s.BytesKnownNS, s.MatrixNS, int64(s.MatrixFLOPs), int64(s.ModelFLOPs), s.WallNS, s.RooflineNS, s.RecoverableNS} {
		if n < 0 {
			return fmt.Errorf("a sum is %d, want 0 or more", n)
		}
	}
	for _, part := range []int64{s.NoOperatorNS, s.FLOPsKnownNS, s.BytesKnownNS, s.MatrixNS} {
		if part > s.GPUNS {
			return fmt.Errorf("a part of gpu_ns is %d, want at most %d", part, s.GPUNS)
		}
	}
	if s.RecoverableNS > s.GPUNS {
		return fmt.Errorf(".recoverable_ns: got %d, want at most gpu_ns, %d", s.RecoverableNS, s.GPUNS)
	}
	return checkNumbers(1, "mfu or hfu", s.MFU, s.HFU)
}

// rounded is the factor by which rounding may make a mean of shares of 1 exceed 1.
const rounded = 1 + 1e-9

// maxRate is larger than any count of 63 bits per nanosecond can be.
const maxRate = 1e20

// checkNumbers returns an error if one of some numbers is negative or over a limit.
func checkNumbers(most float64, name string, list ...*float64) error {
	for _, v := range list {
		if v != nil && !(*v >= 0 && *v <= most*rounded) {
			return fmt.Errorf("%s is %v, want a number from 0 to %v", name, *v, most)
		}
	}
	return nil
}

// check returns the first violated constraint of d.
func (d *EfficiencyDevice) check() error {
	peaks := []*float64{d.HBMGBPS, d.LinkGBPS, d.PCIeGBPS, d.C2CGBPS, d.PeakMHz}
	for _, name := range slices.Sorted(maps.Keys(d.PeakTFLOPS)) {
		v := d.PeakTFLOPS[name]
		peaks = append(peaks, &v)
	}
	return cmp.Or(d.EfficiencySums.check(), checkNumbers(maxRate, "a peak", peaks...), checkNumbers(1, "throttled_share", d.Throttled))
}

func (r *EfficiencyRow) check() error {
	switch {
	case r.Count < 0 || r.Untimed < 0 || r.GPUNS < 0 || r.OverlapNS < 0:
		return fmt.Errorf("count %d, gpu_ns %d, overlap_ns %d: want 0 or more", r.Count, r.GPUNS, r.OverlapNS)
	case negative(r.FLOPs) || negative(r.Model) || negative(r.Bytes) || negative(r.RooflineNS):
		return fmt.Errorf("flops, model_flops, bytes or roofline_ns is negative")
	case disordered(r.FLOPs, r.FLOPsMin, r.FLOPsMax) || disordered(r.Bytes, r.BytesMin, r.BytesMax):
		return fmt.Errorf("the limits of flops or bytes are not in order, not both there, or those of a known number")
	case !slices.Contains([]string{"", "matrix", "vector", "none"}, r.Unit):
		return fmt.Errorf(".unit: got %q, want matrix, vector, none or nothing", r.Unit)
	case !slices.Contains([]string{"", BoundCompute, BoundMemory, BoundLink, BoundLatency}, r.Bound):
		return fmt.Errorf(".bound: got %q, want compute, memory, link, latency or nothing", r.Bound)
	}
	return checkNumbers(maxRate, "intensity, tflops or gbps", r.Intensity, r.TFLOPS, r.GBPS)
}

func negative(n *int64) bool { return n != nil && *n < 0 }

// disordered reports whether limits are invalid: n is known, only one limit is given, or they are not in
// order.
func disordered(n, least, most *int64) bool {
	if least == nil && most == nil {
		return false
	}
	return n != nil || least == nil || most == nil || *least < 0 || *least > *most
}

func (r *EfficiencyRow) order(o *EfficiencyRow) int {
	return cmp.Or(cmp.Compare(o.GPUNS, r.GPUNS), cmp.Compare(r.Op, o.Op), bytes.Compare(r.Dims, o.Dims), bytes.Compare(r.Types, o.Types), cmp.Compare(r.From, o.From))
}

func (t *EfficiencyTransfer) order(o *EfficiencyTransfer) int {
	return cmp.Or(cmp.Compare(t.Kind, o.Kind), cmp.Compare(o.NS, t.NS), cmp.Compare(t.Name, o.Name), cmp.Compare(t.Group, o.Group), cmp.Compare(t.Bytes, o.Bytes))
}

func (t *EfficiencyTransfer) check() error {
	if t.Count < 0 || t.NS < 0 || t.Bytes < 0 {
		return fmt.Errorf("count %d, ns %d, bytes %d: want 0 or more", t.Count, t.NS, t.Bytes)
	}
	return checkNumbers(maxRate, "algbw_gbps, busbw_gbps or peak_gbps", t.AlgGBPS, t.BusGBPS, t.PeakGBPS)
}
