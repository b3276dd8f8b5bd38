package samplerun

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"assay/summary"
)

// Efficient adds operators of a forward pass to a run of one GPU. Its peaks are 989.4
// TFLOP/s in bf16 and 3352 GB/s. In ns:
//
//	mm 4,055,251, roofline 2,502,440 (compute), recoverable 1,552,811
//	flash attention 2,722,705, roofline 524,524 (memory), recoverable 2,198,181
//	mul 2,679,732, roofline 1,051,347 (memory), recoverable 1,628,385
//	copy from the host 500,000, roofline 400,000 (link), recoverable 100,000
//	tanh 40,000, roofline 1,000 (latency), recoverable 39,000
//	foreach 300,000, bytes only, roofline 250,000 (memory), recoverable 50,000
//	one without formula 702,312; without operator 3,000,000, of which graphs 1,000,000
//
// GPU time is 14,000,000 of a window of 20,000,000; FLOPs are known for 9,997,688, bytes for
// 10,297,688. The two steps are 10 ms each, one with all FLOPs but those of the attention.
func Efficient() *summary.Summary {
	s := OneKernel(20 * MS)
	d := &s.Devices[0]
	e := summary.EfficiencyDevice{Device: d.Device, Name: "NVIDIA H100 80GB HBM3", PeakSource: "table", PeakTFLOPS: map[string]float64{"bf16": 989.4, "fp32": 66.9},
		HBMGBPS: PctOf(3352), LinkGBPS: PctOf(450), PCIeGBPS: PctOf(63)}
	row := func(op, dims, types, unit string, count, ns int64, flops, bytes, roofline *int64, bound string) {
		s.Efficiency.Rows = append(s.Efficiency.Rows, summary.EfficiencyRow{Device: d.Device, Op: op, Dims: json.RawMessage(strings.ReplaceAll(dims, " ", "")), Types: json.RawMessage(strings.ReplaceAll(types, " ", "")), Unit: unit, Dtype: "bf16",
			Count: count, GPUNS: ns, FLOPs: flops, Bytes: bytes, BytesIs: "exact", RooflineNS: roofline, Bound: bound})
	}
	const bf16 = `["c10::BFloat16", "c10::BFloat16"]`
	row("aten::mm", "[[8944, 1024], [1024, 2816]]", bf16, "matrix", 48, 4_055_251, Whole(2_475_914_428_416), Whole(3_573_940_224), Whole(2_502_440), summary.BoundCompute)
	row("aten::_scaled_dot_product_flash_attention", "[[16, 16, 559, 64], [16, 16, 559, 64], [16, 16, 559, 64], [], []]", `["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"]`,
		"matrix", 24, 2_722_705, Whole(246_168_944_640), Whole(1_758_205_440), Whole(524_524), summary.BoundMemory)
	row("aten::mul", "[[16, 16, 559, 64], [1, 1, 559, 64]]", bf16, "vector", 96, 2_679_732, Whole(879_231_744), Whole(3_524_115_456), Whole(1_051_347), summary.BoundMemory)
	row("aten::copy_", "[[1575, 4000], [1575, 4000]]", bf16, "none", 2, 500_000, Whole(0), Whole(25_200_000), Whole(400_000), summary.BoundLink)
	row("aten::tanh", "[[419, 500]]", bf16, "vector", 4, 40_000, Whole(838_000), Whole(3_352_000), Whole(1_000), summary.BoundLatency)
	row("aten::_foreach_add_", "[[[1024, 1024], [1024, 1024]], []]", `["TensorList", "Scalar"]`, "vector", 1, 300_000, nil, Whole(838_000_000), Whole(250_000), summary.BoundMemory)
	row("custom::op", "[[64]]", `["float"]`, "", 7, 702_312, nil, nil, nil, "")
	rows := s.Efficiency.Rows
	rows[5].BytesIs, rows[5].Unknown, rows[6].BytesIs, rows[6].Dtype, rows[6].Unknown = "estimate", "type of a list", "", "", "no formula"
	flops := summary.Sum(2_475_914_428_416 + 246_168_944_640)
	share := float64(flops) / (989.4e12 * 20e-3)
	e.EfficiencySums = summary.EfficiencySums{GPUNS: 14_000_000, NoOperatorNS: 3_000_000, GraphNS: 1_000_000, FLOPsKnownNS: 9_997_688, BytesKnownNS: 10_297_688,
		MatrixNS: 6_777_956, MatrixFLOPs: flops, ModelFLOPs: flops, WallNS: 20 * MS, MFU: &share, HFU: &share, RooflineNS: 4_729_311, RecoverableNS: 5_568_377}
	s.Efficiency.Devices = []summary.EfficiencyDevice{e}
	for i := range int64(2) {
		half := e.EfficiencySums
		half.GPUNS, half.NoOperatorNS, half.GraphNS, half.FLOPsKnownNS, half.BytesKnownNS = 7*MS, 0, 0, 7*MS, 7*MS
		half.MatrixNS, half.MatrixFLOPs, half.ModelFLOPs, half.WallNS = 3_388_978, flops/2, flops/2, 10*MS
		s.Efficiency.Steps = append(s.Efficiency.Steps, summary.EfficiencyStep{Device: d.Device, Name: fmt.Sprintf("ProfilerStep#%d", 10+i), Number: 10 + i, StartNS: i * 10 * MS, EfficiencySums: half})
	}
	s.Efficiency.Transfers = []summary.EfficiencyTransfer{
		{Device: d.Device, Kind: "copy", Name: "Memcpy HtoD (Pinned -> Device)", Count: 2, NS: 500_000, Bytes: 25_200_000, AlgGBPS: PctOf(50.4), Link: "pcie", PeakGBPS: PctOf(63)},
		{Device: d.Device, Kind: "copy", Name: "Memcpy DtoD (Device -> Device)", Count: 4, NS: 100_000, Bytes: 83_800_000, AlgGBPS: PctOf(838), Link: "hbm", PeakGBPS: PctOf(3352)},
		{Device: d.Device, Kind: "collective", Name: "all-reduce", Group: 8, Count: 3, NS: 600_000, Bytes: 120_000_000, AlgGBPS: PctOf(200), BusGBPS: PctOf(350), Link: "link", PeakGBPS: PctOf(450), Lower: true},
	}
	s.Sort()
	return s
}

// EfficientRanks is [Efficient] on n ranks. The mm of rank r takes r ms more, all of which
// is recoverable.
func EfficientRanks(n int) *summary.Summary {
	list := make([]*summary.Summary, n)
	for r := range list {
		s := Efficient()
		s.Inputs[0].Path, s.Inputs[0].Rank, s.Inputs[0].RankFrom = fmt.Sprintf("traces/rank%d.json", r), r, "trace"
		more := int64(r) * MS
		s.SetRanks(map[int64]int{0: r})
		s.Efficiency.Rows[0].GPUNS += more
		d := &s.Efficiency.Devices[0]
		d.GPUNS, d.FLOPsKnownNS, d.BytesKnownNS, d.MatrixNS, d.RecoverableNS = d.GPUNS+more, d.FLOPsKnownNS+more, d.BytesKnownNS+more, d.MatrixNS+more, d.RecoverableNS+more
		list[r] = s
	}
	return summary.Merge(list...)
}

// StrangeEfficiency has names that a report must not show as they are, and numbers at the
// limits.
func StrangeEfficiency() *summary.Summary {
	s := Efficient()
	for i := range s.Efficiency.Rows {
		r := &s.Efficiency.Rows[i]
		name := HostileNames()[i%len(HostileNames())]
		r.Op, r.Dtype, r.Kernel, r.Unknown = name, name, name, name
		quoted, _ := json.Marshal([]string{name, name})
		r.Types = quoted
		r.Dims = json.RawMessage([]string{`[[9223372036854775807, -1]]`, `"` + "x" + `"`, `{}`, `[[[[[]]]]]`, `[null, [[]], []]`, `[[1.5]]`, `[["a"]]`}[i])
		r.Count = int64(i)
	}
	huge := int64(math.MaxInt64)
	s.Efficiency.Rows[0].FLOPs, s.Efficiency.Rows[0].Bytes, s.Efficiency.Rows[0].RooflineNS = &huge, Whole(1), &huge
	for i := range s.Efficiency.Transfers {
		s.Efficiency.Transfers[i].Name, s.Efficiency.Transfers[i].Link = HostileNames()[i%len(HostileNames())], HostileNames()[0]
	}
	d := &s.Efficiency.Devices[0]
	d.Name, d.PeakSource = HostileNames()[0], HostileNames()[1%len(HostileNames())]
	d.PeakOrigin, d.PeakNote = HostileNames()[0], HostileNames()[0]
	d.PeakTFLOPS[HostileNames()[0]] = 1e300
	s.Efficiency.Steps[0].Name, s.Efficiency.Steps[1].WallNS = HostileNames()[0], 0
	s.Sort()
	return s
}
