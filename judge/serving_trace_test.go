package judge

import (
	"fmt"
	"strings"
	"testing"

	"assay/analyze"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/trace"
)

// A served is a trace of a server whose steps replay graphs: what each step runs, in order, and its pause.
type served struct {
	gpu, marker   string // markers of the steps in turn, with "|" between
	steps         int
	kernels       []string
	ns            []int64 // of each kernel, per layer
	layers, pause int64
	args          string // further args of kernels with "nccl" in their names
}

// judged returns the verdict on the trace: the host launches one graph per step, and waits for it.
func (s served) judged(t *testing.T) (*summary.Summary, Result) {
	t.Helper()
	var events []string
	add := func(format string, args ...any) { events = append(events, fmt.Sprintf(format, args...)) }
	us := func(ns int64) string { return fmt.Sprintf("%.3f", float64(ns)/1e3) }
	now, markers := int64(1_000_000), strings.Split(s.marker, "|")
	for i := range s.steps {
		corr, start := i+1, now
		at := now + 20_000
		for layer := range s.layers {
			for k, name := range s.kernels {
				more := ""
				if strings.Contains(name, "nccl") {
					more = s.args
				}
				add(`{"ph":"X","cat":"kernel","name":%q,"pid":0,"tid":7,"ts":%s,"dur":%s,"args":{"device":0,"stream":7,"correlation":%d,"graph node id":%d%s}}`,
					name, us(at), us(s.ns[k]-50), corr, int(layer)*len(s.kernels)+k+1, more)
				at += s.ns[k]
			}
		}
		add(`{"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":1,"ts":%s,"dur":10,"args":{"correlation":%d}}`, us(start+5_000), corr)
		if s.marker != "" {
			add(`{"ph":"X","cat":"user_annotation","name":%q,"pid":1,"tid":1,"ts":%s,"dur":%s}`, markers[i%len(markers)], us(start), us(at-start))
		}
		now = at + s.pause
	}
	text := fmt.Sprintf(`{"deviceProperties":[{"id":0,"name":%q}],"traceEvents":[%s]}`, s.gpu, strings.Join(events, ","))
	tr, err := trace.Read(strings.NewReader(text), "trace.json", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	sum := analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
	return sum, Judge(sum, rule.Thresholds{})
}

// TestDecodeSteps: what limits the steps of servers whose GPUs are busy. A product of 24 rows with weights of 2 bytes
// takes 24 operations for each byte, and an H100 can do 989.4/3.35 = 295, an H20 148/4 = 37.
func TestDecodeSteps(t *testing.T) {
	const decode = "execute_context_0(0)_generation_%[1]d(%[1]d)"
	llama := func(gpu, marker string) served {
		return served{gpu: gpu, marker: marker, steps: 12, layers: 16, pause: 3_000,
			kernels: []string{"ampere_bf16_s16816gemm_bf16_64x64_ldg8_f2f_stages_64x6_tn", "void flash::flash_fwd_splitkv_kernel<T>(P)", "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(int)"},
			ns:      []int64{150_000, 50_000, 12_000}}
	}
	with := func(s served, change func(*served)) served {
		change(&s)
		return s
	}
	h100, h20 := "NVIDIA H100 80GB HBM3", "NVIDIA H20"
	for _, tc := range []struct {
		name  string
		run   served
		bound finding.Bound
	}{
		{"vLLM decodes 24 sequences", llama(h100, fmt.Sprintf(decode, 24)), finding.BoundMemory},
		{"TensorRT-LLM decodes 24 sequences", llama(h100, "[Executor] _forward_step 7: 0 ctx reqs, 24 gen reqs"), finding.BoundMemory},
		{"SGLang checks 4 tokens of each of 8 sequences", llama(h100, "step[TARGET_VERIFY bs=8 toks=32]"), finding.BoundMemory},
		// Near misses: arithmetic may be the limit, or nothing tells.
		{"512 sequences", llama(h100, fmt.Sprintf(decode, 512)), finding.BoundGPU},
		{"24 sequences on a GPU with little arithmetic", llama(h20, fmt.Sprintf(decode, 24)), finding.BoundGPU},
		{"24 sequences on an unknown GPU", llama("", fmt.Sprintf(decode, 24)), finding.BoundGPU},
		{"no number of tokens", llama(h100, "step[TARGET_VERIFY bs=8]"), finding.BoundGPU},
		{"attention to a latent vector", with(llama(h100, fmt.Sprintf(decode, 24)), func(s *served) {
			s.kernels, s.ns = []string{"flash_fwd_splitkv_mla_kernel", s.kernels[0]}, []int64{150_000, 50_000}
		}), finding.BoundGPU},
		{"kernels of 8 µs", with(llama(h100, fmt.Sprintf(decode, 24)), func(s *served) { s.ns = []int64{8_000, 8_000, 4_000} }), finding.BoundGPU},
		{"2 of 3 steps decode", llama(h100, "step[DECODE bs=24]|step[EXTEND bs=4 toks=8192]|step[DECODE bs=25]"), finding.BoundGPU},
		{"1 of 2 steps decodes", llama(h100, "step[DECODE bs=24]|step[EXTEND bs=4 toks=8192]"), finding.BoundCompute},
		{"prefill", llama(h100, "execute_context_2(4096)_generation_0(0)"), finding.BoundCompute},
		{"no marker", llama(h100, ""), finding.BoundCompute},
		{"training", llama(h100, "ProfilerStep#3"), finding.BoundCompute},
		// Not the GPU: pauses between the steps of a server, and a slow fused all-reduce.
		{"bubbles between batches", with(llama(h100, fmt.Sprintf(decode, 24)), func(s *served) { s.pause = 25_000_000 }), finding.BoundHost},
		{"slow all-reduce in a decode step", with(llama(h100, "step[DECODE bs=24]"), func(s *served) {
			s.kernels = append(s.kernels, "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<1, 8>(P)")
			s.ns = append(s.ns, 140_000)
		}), finding.BoundCommunication},
	} {
		sum, r := tc.run.judged(t)
		if r.Verdict.Bound != tc.bound {
			t.Errorf("%s: %s (%s), want %s", tc.name, r.Verdict.Bound, r.Verdict.Sentence, tc.bound)
		}
		serves := strings.Contains(tc.run.marker, "gen") || strings.Contains(tc.run.marker, "step[")
		for _, f := range r.Findings {
			for _, step := range f.Next {
				if text := rule.Text(step); serves && (strings.Contains(text, "checkpoint") || strings.Contains(text, "DDP")) {
					t.Errorf("%s: advice of training to a server: %s", tc.name, text)
				}
			}
		}
		if g := r.Groups; tc.bound == finding.BoundHost && (len(g) != 1 || g[0].BetweenNS == nil || *g[0].BetweenNS < 24_000_000 || g[0].Bound != finding.BoundMemory) {
			t.Errorf("%s: %+v, want steps that the memory limits and 25 ms between them", tc.name, g)
		}
		if ridge := sum.Devices[0].Ridge; tc.run.gpu == h100 && strings.Contains(tc.run.marker, "24 gen") && (ridge < 290 || ridge > 300) {
			t.Errorf("%s: %v operations per byte, want 295", tc.name, ridge)
		}
	}
}

// TestGenericCollectiveOfServer: communication is named by what the profiler recorded with its kernel, also in graphs.
func TestGenericCollectiveOfServer(t *testing.T) {
	run := served{gpu: "AMD Instinct MI300X", marker: "step[DECODE bs=16]", steps: 12, layers: 16, pause: 3_000,
		kernels: []string{"Cijk_Alik_Bljk_BBS_BH_MT64x32x256", "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)"}, ns: []int64{100_000, 60_000},
		args: `,"Collective name":"allreduce","dtype":"BFloat16","In msg nelems":65536,"Out msg nelems":65536,"Group size":8`}
	sum, r := run.judged(t)
	for _, k := range sum.Kernels {
		if k.Class == "comm" && k.Category != "all-reduce" {
			t.Errorf("%s is %s, want all-reduce", k.Name, k.Category)
		}
	}
	if r.Verdict.Bound != finding.BoundCommunication {
		t.Errorf("%s: %s", r.Verdict.Bound, r.Verdict.Sentence)
	}
}
