package samplerun

import (
	"fmt"

	"assay/summary"
)

// Layered is a server's model of 3 dense layers and 33 of a mixture of experts on n GPUs, with 4 decode steps of 11 ms.
// In µs, a dense layer has attention 40, MLP 70, norms 10, communication 20, so 150 with the gaps of 10; one with experts
// has attention 40, MoE 160, norms 10, communication 40, so 260 with its gaps; layer 17 takes 100 more in MoE on each
// GPU. So layers take 3*150 + 33*260 + 100 = 9130 µs of a step. Step i of rank r has 10*i + 20*r more in layer 20.
func Layered(n int64) *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema}
	for r := range n {
		s.Inputs = append(s.Inputs, summary.Input{Path: fmt.Sprintf("decode-%d.json.gz", r), Format: "kineto", Compression: "gzip",
			Bytes: 1 << 20, Events: 5000, Rank: int(r), RankFrom: "trace", Complete: true})
		s.Devices = append(s.Devices, summary.Device{Input: int(r), Rank: int(r), Name: "NVIDIA H100 80GB HBM3", StartNS: Sec, WindowNS: 44 * MS, Events: 2000,
			Activity: Cells(map[summary.Class]int64{Comp: 36, Comm: 6, 0: 2})})
		s.Kernels = append(s.Kernels, summary.Kernel{Name: "fused_moe_kernel", Class: "compute", Category: "moe", Input: int(r), Rank: int(r), Stream: 7, Count: 264, TotalNS: 36 * MS, MinNS: 50 * US, MaxNS: 200 * US},
			summary.Kernel{Name: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", Class: "comm", Category: "all-reduce", Input: int(r), Rank: int(r), Stream: 7, Count: 288, TotalNS: 6 * MS, MinNS: 10 * US, MaxNS: 30 * US})
		s.Streams = append(s.Streams, summary.Stream{Input: int(r), Rank: int(r), Stream: 7, Kernels: 552, BusyNS: 42 * MS, WorkNS: 42 * MS})
		for i := range int64(4) {
			start := Sec + i*11*MS
			s.Steps = append(s.Steps, summary.Step{Input: int(r), Rank: int(r), Name: fmt.Sprintf("step %d", i), Number: i, StartNS: start, WallNS: 11 * MS, Kind: "decode", Batch: 8,
				Activity: summary.Activity{Comp: 9 * MS, Comm: 1500 * US, 0: 500 * US}})
			s.Layers = append(s.Layers, layersOf(r, i, start)...)
		}
	}
	s.Layers[1].Typical = typicalLayer()
	s.Compilations = compilations()
	s.Sort()
	return s
}

// layersOf returns the two rows of a step.
func layersOf(r, i, start int64) []summary.Layer {
	l := summary.Layer{Input: int(r), Rank: int(r), Step: fmt.Sprintf("step %d", i), Pass: "forward", Confidence: 1}
	dense, experts := l, l
	dense.Kind, dense.Count, dense.MedianNS, dense.StartNS, dense.EndNS = "decoder", 3, 150*US, start+100*US, start+550*US
	dense.Parts = summary.LayerParts{Attention: 120 * US, MLP: 210 * US, Norm: 30 * US, Communication: 60 * US}
	experts.Kind, experts.Count, experts.MedianNS, experts.StartNS = "moe-layer", 33, 260*US, start+550*US
	experts.EndNS = experts.StartNS + 33*260*US + 100*US
	experts.Parts = summary.LayerParts{Attention: 33 * 40 * US, MoE: 33*160*US + 100*US, Norm: 330 * US, Communication: 33 * 40 * US}
	for at := range int32(36) {
		switch ns := 260 * US; {
		case at < 3:
			dense.Index, dense.LengthNS = append(dense.Index, at), append(dense.LengthNS, 150*US)
		case at == 17:
			ns += 100 * US
			experts.Odd = append(experts.Odd, summary.OddLayer{Index: at, NS: ns, Part: "moe"})
			experts.Index, experts.LengthNS = append(experts.Index, at), append(experts.LengthNS, ns)
		case at == 20:
			experts.Index, experts.LengthNS = append(experts.Index, at), append(experts.LengthNS, ns+10*US*i+20*US*r)
		default:
			experts.Index, experts.LengthNS = append(experts.Index, at), append(experts.LengthNS, ns)
		}
	}
	return []summary.Layer{dense, experts}
}

// typicalLayer is a layer of 260 µs, with an expert on a second stream.
func typicalLayer() (out []summary.LayerKernel) {
	at := int64(0)
	for _, k := range []struct {
		name, part string
		us, stream int64
	}{
		{"void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*)", "norm", 5, 7}, {"nvjet_tst_128x8_64x12_4x1_v_bz_TNT", "attention", 12, 7},
		{"flash_fwd_splitkv_kernel", "attention", 18, 7}, {"nvjet_tst_64x8_64x16_2x4_h_bz_TNT", "attention", 10, 7},
		{"cross_device_reduce_1stage", "communication", 20, 7}, {"void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*)", "norm", 5, 7},
		{"void vllm::moe::topkGating<8, 128>(float const*)", "moe", 6, 7}, {"fused_moe_kernel", "moe", 90, 7}, {"void vllm::act_and_mul_kernel(c10::BFloat16*)", "moe", 6, 7},
		{"fused_moe_kernel", "moe", 58, 7}, {"cross_device_reduce_1stage", "communication", 20, 7},
	} {
		out = append(out, summary.LayerKernel{AtNS: at * US, NS: k.us * US, Stream: k.stream, Part: k.part, Name: k.name})
		at += k.us + 1
	}
	shared := summary.LayerKernel{AtNS: out[7].AtNS, NS: 40 * US, Stream: 24, Part: "moe", Name: "nvjet_tst_128x8_64x12_2x1_v_bz_TNN"}
	return append(out, shared)
}

// compilations are those of a model that is compiled for two sizes, with a branch on data in one of four functions.
func compilations() []summary.Compilation {
	return []summary.Compilation{
		{ID: "0/0", Function: "forward", File: "/app/model.py", Line: 88, WallNS: 900 * MS},
		{ID: "0/1", Function: "forward", File: "/app/model.py", Line: 88, Again: 1, WallNS: 300 * MS, GuardKind: summary.GuardSize,
			Guard:  "tensor 'x' size mismatch at index 0. expected 4, actual 8",
			Breaks: []summary.GraphBreak{{Kind: summary.BreakData, Reason: "Data-dependent branching", File: "/app/model.py", Line: 91}}},
		{ID: "1/0", Function: "loss", File: "/app/model.py", Line: 120, WallNS: 100 * MS},
		{ID: "2/0", Function: "norm", File: "/app/model.py", Line: 30, WallNS: 100 * MS},
		{ID: "3/0", Function: "embed", File: "/app/model.py", Line: 10, WallNS: 100 * MS},
	}
}
