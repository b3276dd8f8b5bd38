package judge

import (
	"fmt"
	"strings"
	"testing"

	"assay/analyze"
	"assay/judge/rule"
	"assay/summary"
	"assay/trace"
)

// A grid is a kernel of a round: how long it runs, on how many blocks of 128 threads, and on which stream. Kernels of stream 7 run one
// after the other, those of another one from the start of the kernel before.
type grid struct {
	name   string
	us     int64
	blocks int64
	stream int64
}

// rounds repeats kernels 50 times without gaps, but for idle µs after each round, on a GPU with some multiprocessors. A block of 128
// threads with 128 registers each: an SM holds four.
func rounds(sms, idle int64, list ...grid) func(t *testing.T) *summary.Summary {
	return func(t *testing.T) *summary.Summary {
		t.Helper()
		var events []string
		at, start := int64(0), int64(0)
		for range 50 {
			for _, k := range list {
				begin := at
				if k.stream != 7 {
					begin = start
				}
				n := len(events)/2 + 1
				events = append(events,
					fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"correlation":%d}}`, 3*n, n),
					fmt.Sprintf(`{"ph":"X","cat":"kernel","name":%q,"pid":0,"tid":%d,"ts":%d,"dur":%d,"args":{"device":0,"stream":%d,"correlation":%d,`+
						`"grid":[%d,1,1],"block":[128,1,1],"registers per thread":128,"shared memory":0}}`, k.name, k.stream, 10_000+begin, k.us, k.stream, n, k.blocks))
				if k.stream == 7 {
					start, at = at, at+k.us
				}
			}
			at += idle
		}
		text := fmt.Sprintf(`{"deviceProperties":[{"id":0,"name":"NVIDIA H100","computeMajor":9,"computeMinor":0,"numSms":%d}],"traceEvents":[%s]}`,
			sms, strings.Join(events, ","))
		tr, err := trace.Read(strings.NewReader(text), "blocks.json", analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		return analyze.Trace(tr, summary.Input{Path: "blocks.json", Format: "kineto"}, analyze.DefaultOptions())
	}
}

// labelledBlocks are runs of a busy GPU. A round has four products of 200 µs that fill it, and kernels that do not.
func labelledBlocks() []labelled {
	with := func(list ...grid) []grid {
		for i, tile := range []string{"128x128", "256x128", "128x256", "192x128"} {
			list = append(list, grid{"nvjet_tst_" + tile + "_64x4_1x2_h_bz_TNT", 200, 132 * 80 * int64(i+1), 7})
		}
		return list
	}
	const us = int64(1000)
	return []labelled{
		// 33 of 132 SMs: three quarters of 200 µs, but for the 2 µs of a launch. A round has 1 ms.
		{name: "products on a quarter of the SMs", label: rule.FewBlocks, num: 50 * 148_500, den: 50 * 1000 * us,
			in: rounds(132, 0, with(grid{"nvjet_tst_64x8_64x16_4x1_v_bz_TNT", 200, 33, 7})...)},
		// 32 of 132: 100/132 of 298 µs. A round has 1.1 ms.
		{name: "attention of few heads", label: rule.FewBlocks, num: 11_287_878, den: 50 * 1100 * us,
			in: rounds(132, 0, with(grid{"flash_fwd_kernel", 300, 32, 7})...)},
		// 8 of 80: 0.9 of 98 µs, twice a round of 1 ms.
		{name: "reductions on a tenth of the SMs", label: rule.FewBlocks, num: 50 * 2 * 88_200, den: 50 * 1000 * us,
			in: rounds(80, 0, with(grid{"row_reduce_kernel", 100, 8, 7}, grid{"row_reduce_kernel", 100, 8, 7})...)},

		{name: "products on a quarter of the SMs beside others", label: rule.ComputeBound, near: rule.FewBlocks,
			in: rounds(132, 0, with(grid{"nvjet_tst_64x8_64x16_4x1_v_bz_TNT", 200, 33, 7}, grid{"nvjet_tst_64x8_64x16_4x1_v_bz_NNT", 200, 99, 9})...)},
		// 660 blocks are 1.25 waves of 528, if all blocks take equally long.
		{name: "attention with a tail", label: rule.ComputeBound, near: rule.FewBlocks,
			in: rounds(132, 0, with(grid{"flash_fwd_kernel", 300, 660, 7})...)},
		{name: "products on nearly all SMs", label: rule.ComputeBound, near: rule.FewBlocks,
			in: rounds(132, 0, with(grid{"nvjet_tst_64x8_64x16_4x1_v_bz_TNT", 200, 120, 7})...)},
		{name: "reductions on half of the SMs", label: rule.ComputeBound, near: rule.FewBlocks, // they may be at the limit of the memory
			in: rounds(132, 0, with(grid{"row_reduce_kernel", 200, 66, 7})...)},
		{name: "products on a quarter of the SMs between pauses", label: rule.GPUIdle, near: rule.FewBlocks,
			in: rounds(132, 400, with(grid{"nvjet_tst_64x8_64x16_4x1_v_bz_TNT", 200, 33, 7})...)},
	}
}

// TestBlocksAdvice: the advice follows from what the kernels do and why multiprocessors are idle, and the evidence says how many are.
func TestBlocksAdvice(t *testing.T) {
	for _, run := range labelledBlocks() {
		if run.label != rule.FewBlocks {
			continue
		}
		f := find(t, Judge(run.in(t), rule.DefaultThresholds()), rule.FewBlocks)
		want := map[string][2]string{
			"products on a quarter of the SMs": {"33 of 132 multiprocessors, 50 × 200 µs", "more-rows-each"},
			"attention of few heads":           {"32 of 132 multiprocessors, 50 × 300 µs", "more-rows-each"},
			"reductions on a tenth of the SMs": {"8 of 80 multiprocessors, 100 × 100 µs", "fuse-small-kernels"},
		}[run.name]
		if len(f.Next) == 0 || f.Next[0].ID != want[1] || !strings.Contains(strings.Join(f.Evidence, "\n"), want[0]) {
			t.Errorf("%s: %v %v, want %q", run.name, f.Evidence, f.Next, want)
		}
		if f.GainNS == nil || *f.GainNS != run.num || f.GainOfNS != run.den {
			t.Errorf("%s: savings of %v of %d, want %d of %d", run.name, f.GainNS, f.GainOfNS, run.num, run.den)
		}
	}
}
