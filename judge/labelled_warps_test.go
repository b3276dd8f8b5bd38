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

// needs is what a kernel of 200 µs needs of a multiprocessor: threads of a block, registers of a thread, and shared memory of a block.
type needs struct {
	name                       string
	threads, registers, shared int64
}

// resident repeats 800 µs of products and a kernel 50 times, on an A100: 108 multiprocessors of 2,048 threads, 65,536 registers and
// 167,936 bytes, of which each block takes 1,024 more. Every kernel has enough blocks.
func resident(k needs) func(t *testing.T) *summary.Summary {
	return func(t *testing.T) *summary.Summary {
		t.Helper()
		var events []string
		at := 0
		add := func(us int, k needs) {
			n := len(events)/2 + 1
			events = append(events,
				fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"correlation":%d}}`, 3*n, n),
				fmt.Sprintf(`{"ph":"X","cat":"kernel","name":%q,"pid":0,"tid":7,"ts":%d,"dur":%d,"args":{"device":0,"stream":7,"correlation":%d,`+
					`"grid":[108000,1,1],"block":[%d,1,1],"registers per thread":%d,"shared memory":%d}}`, k.name, 10_000+at, us, n, k.threads, k.registers, k.shared))
			at += us
		}
		for range 50 {
			for i := range 4 {
				add(200, needs{fmt.Sprintf("ampere_bf16_s16816gemm_bf16_%dx128_ldg8_f2f_stages_32x5_tn", 64<<i), 128, 160, 81920})
			}
			add(200, k)
		}
		text := fmt.Sprintf(`{"deviceProperties":[{"id":0,"name":"NVIDIA A100","computeMajor":8,"computeMinor":0,"numSms":108}],"traceEvents":[%s]}`, strings.Join(events, ","))
		tr, err := trace.Read(strings.NewReader(text), "warps.json", analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		return analyze.Trace(tr, summary.Input{Path: "warps.json", Format: "kineto"}, analyze.DefaultOptions())
	}
}

// labelledWarps are runs of a busy GPU. A fifth of the time is a kernel of a memory-bound type.
func labelledWarps() []labelled {
	const window = 50 * int64(1_000_000)
	return []labelled{
		// 255 registers of 128 threads: 65,536 / (256 * 128) are 2 blocks, 256 of 2,048 threads: an eighth, of a half: 3/4 of 10 ms.
		{name: "a reduction with many registers", label: rule.FewWarps, num: 7_500_000, den: window, in: resident(needs{"row_reduce_kernel", 128, 255, 0})},
		// Blocks of 32 threads: 32 of them are 1,024 threads, a half. Of 64 KiB, two fit: 2 * 128 threads, an eighth.
		{name: "a softmax with much shared memory", label: rule.FewWarps, num: 7_500_000, den: window, in: resident(needs{"softmax_warp_forward", 128, 32, 64 << 10})},

		{name: "a reduction with half of the threads", label: rule.ComputeBound, near: rule.FewWarps, in: resident(needs{"row_reduce_kernel", 32, 32, 0})},
		{name: "attention with many registers", label: rule.ComputeBound, near: rule.FewWarps, in: resident(needs{"flash_fwd_kernel", 128, 255, 64 << 10})},
	}
}

// TestWarpsAdvice: the advice follows from what limits the threads.
func TestWarpsAdvice(t *testing.T) {
	for _, tc := range []struct {
		k    needs
		want string
	}{
		{needs{"row_reduce_kernel", 128, 255, 0}, "let-threads-use-fewer-registers"},
		{needs{"row_reduce_kernel", 128, 32, 64 << 10}, "let-blocks-share-less"},
	} {
		f := find(t, Judge(resident(tc.k)(t), rule.DefaultThresholds()), rule.FewWarps)
		if len(f.Next) != 1 || f.Next[0].ID != tc.want || !strings.Contains(strings.Join(f.Evidence, "\n"), "12.5% of the threads that fit") {
			t.Errorf("%+v: %v %v, want %q", tc.k, f.Evidence, f.Next, tc.want)
		}
	}
}
