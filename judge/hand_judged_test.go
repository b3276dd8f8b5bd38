package judge

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// A handJudged is a real capture that was judged before its verdict was looked at, from the
// figures of a script that reads the events by itself: it merges intervals by class, lists
// the gaps and the kernels, and adds up the calls and frames of the CPU in the gaps.
type handJudged struct {
	path  string
	bound finding.Bound
	first []string // first findings that fit

	compute, comm, copies, idle float64 // % of the window of all GPUs, by the script
}

var handJudgements = []handJudged{
	// AlexNet again, as in TestVerdictsOnCaptures: 98 events in 16 s, cudaFree in 50% of
	// the window and the first cudaLaunchKernel in 26%, all within annotations "warmup".
	// Judged "allocating". The verdict leaves the warm-up out, 97.7% of the window, and
	// says so; the events show no cudaFree after it. Both are right, so idle is the first.
	{"kineto/hta/critical_path/simple_add/benchmark_result_493459_1694039959_trace.json.gz", finding.BoundHost, []string{rule.GPUIdle, rule.Allocating}, 0.1, 0, 0.2, 99.7},

	// DDP training on one of several GPUs: 3,480 gaps with a median of 55 µs, but gaps
	// under 100 µs are only 9.2% of the window. In the gaps run operators:
	// unflatten_dense_tensors 10.2%, batch_norm 9.8%; no call waits. A slow host.
	{"kineto/hta/nccl_parser_config/nccl_data.json.gz", finding.BoundHost, []string{rule.GPUIdle, rule.LaunchBound, rule.CPUWork}, 17.5, 6.0, 0.3, 76.2},

	// A recommendation model, of which events were sampled: 930 gaps, up to 59 ms. The
	// backward pass and a Shampoo optimizer run in them. SendRecv is 65% of the work.
	{"kineto/hta/timeline_analysis/sampled_rank-0.json.gz", finding.BoundHost, []string{rule.GPUIdle, rule.CPUWork}, 17.2, 27.6, 0.0, 55.2},

	// The same kind of model, whole: SendRecv is 26% of the work. Idle time is over its limit
	// by little, in gaps of 2 µs; communication is the larger loss.
	{"kineto/hta/trace_diff/control/control.json.gz", finding.BoundCommunication, []string{rule.ExposedComm}, 60.6, 18.9, 4.2, 16.4},

	// ViT on an H100, eager: 156 kernels of 8 µs, 155 gaps with a median of 43 µs; gaps
	// under 100 µs are 81.9% of the window. Modules and addmm run in them.
	{"kineto/tracelens/h100/Falconsai_nsfw_image_detection__1016002.json.gz", finding.BoundHost, []string{rule.LaunchBound}, 16.2, 0, 0.1, 83.8},

	// BERT small on an H100, eager: 61 events, gaps with a median of 51 µs, those under
	// 100 µs are 64.1% of the window.
	{"kineto/tracelens/h100/gaunernst_bert-small-uncased__1016001.json.gz", finding.BoundHost, []string{rule.LaunchBound}, 7.9, 0, 0.1, 92.1},

	// SGLang decode on ROCm: one gap of 463 ms, in which hipMemcpyWithStream waits for a
	// batch whose kernels are not in the file. Without it 94.7% of 10.5 ms is compute: a decode
	// step of 32 sequences, whose matrix products read 16-bit weights for 32 tokens.
	{"kineto/tracelens/inference/sglang_decode/sglang_Qwen3-8B_decode.json.gz", finding.BoundMemory, []string{rule.MemoryBandwidth}, 2.1, 0, 0.0, 97.9},

	// The capture of that server's graph: two fills of 5 µs.
	{"kineto/tracelens/inference/sglang_decode/capture_traces/bs_32_rank0.json.gz", finding.BoundUnknown, []string{rule.TooLittleWork}, 100, 0, 0, 0},

	// A trace without operators: 562 kernels, no gap over 100 µs, batch norm, transposes,
	// additions. The 10.6% of idle time is all in gaps before kernels whose calls were late; it
	// is under the limit of idle time, and kernels that move memory take 60.7% of the window.
	{"kineto/tracelens/mi210/gpu_only_trace/gpu_only_trace.json.gz", finding.BoundMemory, []string{rule.MemoryBandwidth}, 89.4, 0, 0, 10.6},

	// ViT on an MI300: 154 gaps with a median of 34 µs; gaps under 100 µs are 71.0%.
	{"kineto/tracelens/mi300/Falconsai_nsfw_image_detection__1016002.json.gz", finding.BoundHost, []string{rule.LaunchBound}, 25.0, 0, 0, 75.0},

	// A test of normalization layers that starts within the capture: 173 kernels, gaps of
	// 130 to 332 ms, 91.2% of the window in hipLaunchKernel, which loads code.
	{"kineto/tracelens/perf_model/normalization/normalization_layer_test.json.gz", finding.BoundHost, []string{rule.GPUIdle}, 0.1, 0, 0, 99.9},

	// A compiled layer: 12 kernels of up to 3.7 ms without a gap; two matrix products and
	// attention, none over 30% of the work.
	{"kineto/tracelens/torch_compile_triton/trace.json.gz", finding.BoundCompute, []string{rule.ComputeBound}, 100, 0, 0, 0},

	// DeepSeek's training with two micro-batches at a time: dispatch and combine are a
	// third of the work, and compute hides all of it but 3.2%.
	{"ranks/deepseek_ep64_train/train.json.gz", finding.BoundCompute, []string{rule.ComputeBound}, 96.4, 3.2, 0, 0.4},

	// Megatron with eight-way tensor parallelism: AllReduce is 61% of the work and
	// nothing runs at the same time. Idle time is large too, in 11 to 19 ms after the start.
	{"ranks/megatron_tp8_a100/rank0.json.gz", finding.BoundCommunication, []string{rule.ExposedComm}, 22.1, 40.5, 0, 37.4},

	// Two H100s: 450 copies to the GPU of 4 ms each. Judged copies; but 1,708 of 3,346
	// launches have no work in the capture, which ends before it, so abstaining is right.
	{"nsight/GindaChen_nsys-ai/h100_2gpu_1s.sqlite", finding.BoundUnknown, []string{rule.RecordsMissing}, 2.3, 0, 97.0, 0.7},

	// Power iteration in CuPy: gemv in 94.9% of the work, and 44 gaps of about 15 ms
	// between them within NVTX ranges "IO".
	{"nsight/brycelelbach_nsightful/power_iteration__baseline.sqlite", finding.BoundHost, []string{rule.CPUWork}, 63.2, 0, 0, 36.8},

	// A database query: 15 ms of work within a capture of 6.5 s. Judged host; the capture
	// is nearly all start of the program, so too little is known.
	{"nsight/bwyogatama_Mordred-Deprecated/report1_v1.sqlite", finding.BoundUnknown, []string{rule.TooLittleWork}, 56.8, 0, 0.9, 42.3},

	// saxpy with MPI: 20 events in 1.1 s, four gaps of 172 to 196 ms.
	{"nsight/hpcgroup_pipit/saxpy-mpi-cuda_nsys_perlmutter0.sqlite", finding.BoundHost, []string{rule.GPUIdle}, 8.1, 0, 25.9, 66.0},

	// Benchmark of a model that loads its weights in the capture. Judged copies, 40.1%; they
	// are all before the first measured step, and of the rest 99.5% is compute.
	{"nsight/zx3xyy_assignment2-systems/result_2_7B_nvtx.sqlite", finding.BoundCompute, []string{rule.DominantKernel, rule.ComputeBound}, 43.3, 0, 40.1, 16.5},

	// DDP over two GPUs: 90% idle while the program starts (cuLibraryLoadData 391 ms,
	// cudaFree 225 ms).
	{"ranks/cs336_ddp_2x3090_nsys/ddp53_profile.sqlite", finding.BoundHost, []string{rule.GPUIdle}, 1.2, 7.0, 1.4, 90.4},

	// Two stages of a pipeline: flash attention is 50.3% of the work, and no loss is large.
	{"ranks/nsysai_pipeline_2gpu/mfu_2gpu_before.sqlite", finding.BoundCompute, []string{rule.DominantKernel, rule.ComputeBound}, 85.2, 4.2, 1.0, 9.6},
}

// TestHandJudged compares the parts of the window and the verdicts of real captures with
// what was judged by hand.
func TestHandJudged(t *testing.T) {
	for _, tc := range handJudgements {
		t.Run(filepath.Base(tc.path), func(t *testing.T) {
			s := anyCapture(t, test.Corpus(t, strings.Split(tc.path, "/")...))
			if s == nil {
				t.Fatal("no GPU in it")
			}
			var all summary.Activity
			for _, d := range s.Devices {
				for class := range all {
					all[class] += d.Activity[class]
				}
			}
			for _, part := range []struct {
				name string
				ns   int64
				want float64
			}{{"compute", all.Compute(), tc.compute}, {"communication", all.ExposedComm(), tc.comm}, {"copies", all.ExposedCopy(), tc.copies}, {"idle", all.Idle(), tc.idle}} {
				if got := 100 * float64(part.ns) / float64(all.Window()); math.Abs(got-part.want) > 0.1 {
					t.Errorf("%s takes %.2f%% of the window, the script has %.1f%%", part.name, got, part.want)
				}
			}
			r := Judge(s, rule.DefaultThresholds())
			if r.Verdict.Bound != tc.bound || !slices.Contains(tc.first, firstRule(r)) {
				t.Errorf("%s-bound, first %s; want %s, first of %v\n%s", r.Verdict.Bound, firstRule(r), tc.bound, tc.first, told(r))
			}
		})
	}
}
