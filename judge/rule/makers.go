package rule

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"assay/internal/lazyregexp"
	"assay/judge/finding"
	"assay/summary"
)

// What texts say of GPUs of NVIDIA alone: the library of their profilers, and why their work can overlap.
const (
	otherProfiler   = `nother profiler used CUPTI\b`
	dependentLaunch = `, which programmatic dependent launch allows and clocks of whole microseconds show`
)

// makerWords are the words of texts that differ where all GPUs are of a maker, or all devices are of a kind that is no
// GPU. For AMD, names of PyTorch (torch.cuda,
// ProfilerActivity.CUDA, --cuda-graph-max-bs) and settings of NCCL (NCCL_DEBUG), which RCCL has too, are the same.
var makerWords = map[string][][2]string{
	"amd": {
		{`\bCUDA (graph|API|call|IPC|context|runtime|driver|event|kernel)`, "HIP $1"},
		{`\bcudaMallocHost\b`, "hipHostMalloc"},
		{`\bcudaFreeHost\b`, "hipHostFree"},
		{`\bcuda([A-Z]\w+)`, "hip$1"},
		{`\bNCCL\b`, "RCCL"},
		{`\btensor cores\b`, "matrix cores"},
		{`, bfloat16 or TF32 inputs \(CUBLAS_TF32_TENSOR_OP_MATH of cuBLAS\)`, " or bfloat16 inputs"},
		{`\bncu --[a-z]+ [A-Za-z]+( --section [A-Za-z]+)*`, "rocprof-compute profile"},
		{` \(nsys --python-backtrace=cuda\)`, ""},
		{`\bnsys --python-backtrace=cuda\b`, "stacks (with_stack=True)"},
		{`\bnvidia-smi( dmon -s pct)?\b`, "amd-smi"},
		{`\bprogrammatic dependent launch allows\b`, "queues that several streams share allow"},
		{otherProfiler, "nother profiler traced the GPU"},
	},
	"intel": {
		{otherProfiler, "nother profiler traced the GPU"},
		{dependentLaunch, ""},
		{` \(nsys --python-backtrace=cuda\)`, ""},
		{` \(older PyTorch: PYTORCH_CUDA_ALLOC_CONF\)`, ""},
		{`\bCUDA (API|call|context|runtime|driver|event|kernel)`, "SYCL $1"},
		{`\bProfilerActivity\.CUDA\b`, "ProfilerActivity.XPU"},
		{`\btorch\.cuda\.(synchronize|empty_cache|Event|memory|Stream)`, "torch.xpu.$1"},
		{`\b(NCCL|RCCL)\b`, "oneCCL"},
		{`\bNCCL_DEBUG=INFO\b`, "CCL_LOG_LEVEL=info"},
		{`\btensor cores\b`, "XMX engines"},
		{`\bncu --[a-z]+ [A-Za-z]+( --section [A-Za-z]+)*`, "unitrace -q"},
		{`\bcudaDeviceSynchronize or cudaStreamSynchronize\b`, "queue.wait()"},
		{`\bcuda(Device|Stream)Synchronize\b`, "queue.wait()"},
		{`\bcudaEventSynchronize\b`, "event.wait()"},
		{`\bcudaStreamWaitEvent\b`, "depends_on of a SYCL handler"},
		{`\bcudaMallocHost(?:( or |, )cudaHostRegister)?\b`, "sycl::malloc_host"},
		{`\bcudaMemcpyAsync\b`, "queue.memcpy"},
		{`\bcudaMalloc/cudaFree\b`, "allocation of GPU memory"},
		{`\bcudaMalloc\b`, "sycl::malloc_device"},
		{`\bcudaFree\b`, "sycl::free"},
	},
	"ascend": {
		{otherProfiler, "nother profiler traced the NPU"},
		{dependentLaunch, ""},
		{` \(nsys --python-backtrace=cuda\)`, ""},
		{`\bPYTORCH_ALLOC_CONF=expandable_segments:True \(older PyTorch: PYTORCH_CUDA_ALLOC_CONF\)`, "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True"},
		{`\bCUDA (API|call|context|runtime|driver|event|kernel)`, "CANN $1"},
		{`\bProfilerActivity\.CUDA\b`, "ProfilerActivity.NPU"},
		{`\btorch\.cuda\.`, "torch.npu."},
		{`\btorch\.profiler\b`, "torch_npu.profiler"},
		{`\bNCCL\b`, "HCCL"},
		{`\btensor cores\b`, "cube units"},
		{`\boptimizers with fused=True`, "optimizers of torch_npu.optim"},
		{`\bfused losses and optimizers \(fused=True\)`, "fused losses and optimizers (torch_npu.optim)"},
		{`\bncu --[a-z]+ [A-Za-z]+( --section [A-Za-z]+)*`, "msprof --aic-metrics=PipeUtilization"},
		{`\bcudaMallocHost\b`, "aclrtMallocHost"},
		{`\bcuda(Stream|Device|Event)Synchronize\b`, "aclrtSynchronize$1"},
		{`\bcuda([A-Z]\w+)`, "aclrt$1"},
		{`\bGPU(s?)\b`, "NPU$1"},
	},
	"tpu": {
		{`\bin the trace, follow the arrow from the largest copy to its launch and to the operator around it\.`,
			"copy-done waits for a transfer to or from the host or another memory. Offload less, or compute more before it."},
		{`, graph capture, the start of data loaders\b`, ", the input pipeline"},
		{dependentLaunch, ""},
		{` \(nsys --python-backtrace=cuda\)`, ""},
		{`\bCUDA (API|call|context|runtime|driver|event|kernel)`, "runtime $1"},
		{`\bNCCL\b`, "ICI"},
		{`\btensor cores\b`, "the MXU"},
		{`\bncu --[a-z]+ [A-Za-z]+( --section [A-Za-z]+)*`, "the op profile of XProf"},
		{`\bkernel launches\b`, "operations"},
		{`\bGPU(s?)\b`, "TPU$1"},
	},
	// Not makers: what the profilers of XLA and of ROCm can record, if all inputs are theirs.
	"xla": {
		{`\bwith_stack=True or NVTX ranges\b`, "python_tracer_level=1 or ranges of jax.profiler.TraceAnnotation"},
		{`\bwith_stack=True\b`, "python_tracer_level=1"},
		{`\btorch\.profiler\.schedule and prof\.step\(\)`, "jax.profiler.StepTraceAnnotation"},
	},
	"rocm": {
		{`\b(A|a)nother profiler (used CUPTI|traced the GPU), or tracing was not permitted\b`, "The profiler traced no kernels"},
		{`\bRecord again with permission to trace and without a second profiler\b`, "Record them: rocprofv3 --kernel-trace"},
		{`\bThe profiler recorded none of this work: update it and the driver\.`, "Record it: rocprofv3 --kernel-trace --memory-copy-trace."},
		{`\btorch\.profiler\.schedule and prof\.step\(\)`, "ranges (roctxRangePush)"},
		{`\bRecord CPU activities too\b`, "Record them: rocprofv3 --hip-trace"},
	},
}

// A wording replaces words.
type wording []struct {
	from *regexp.Regexp
	to   string
}

func (w wording) of(text string) string {
	for _, it := range w {
		text = it.from.ReplaceAllString(text, it.to)
	}
	return text
}

// wordings are the compiled makerWords.
var wordings = sync.OnceValue(func() map[string]wording {
	out := map[string]wording{}
	for maker, words := range makerWords {
		for _, pair := range words {
			out[maker] = append(out[maker], struct {
				from *regexp.Regexp
				to   string
			}{regexp.MustCompile(pair[0]), pair[1]})
		}
	}
	return out
})

// maker is the blank of a step that has the maker of the GPUs whose words its text uses.
const maker = "maker"

// familyOf returns the maker whose words the texts of a run have: for devices that are no GPUs, the word in their name.
func familyOf(s *summary.Summary, vendor string) string {
	if vendor == "other" && len(s.Devices) > 0 {
		name := strings.ToLower(s.Devices[0].Name)
		for _, family := range []string{"ascend", "tpu"} {
			if strings.Contains(name, family) {
				return family
			}
		}
	}
	return vendor
}

// What only GPUs of NVIDIA have, and what only GPUs have: calls, libraries, tools and settings.
var (
	onlyCUDA = lazyregexp.New(`\bcuda[A-Z_]|\bCUDA|NCCL|(?i:cublas|cutlass|cudnn)|\b(?:nsys|ncu|nvidia-smi)\b|Nsight`)
	onlyGPUs = lazyregexp.New(`RCCL|\b(?:amd-smi|xpu-smi|unitrace|rocprof)\b|tensor cores|TF32|torch\.compile|Triton|multiprocessor`)
)

// foreign reports whether the text of a remedy, in the words that the devices of the run have for it, names what they do
// not have: GPUs of Intel have nothing of CUDA, other devices nothing of GPUs. What XLA compiled runs no code of PyTorch.
func (on setting) foreign(text string) bool {
	switch {
	case on.meets("gpu=intel"):
		return onlyCUDA().MatchString(wordings()["intel"].of(text))
	case on.meets("gpu=other"):
		text = wordings()[familyOf(on.run, "other")].of(text)
		return onlyCUDA().MatchString(text) || onlyGPUs().MatchString(text) || on.meets("xla") && strings.Contains(text, "torch")
	}
	return false
}

// ForMaker returns a function that replaces words of texts by those of the maker of all GPUs of a run, or nil if they are
// the same.
func ForMaker(s *summary.Summary) func(string) string {
	w := wordsOf(s, familyOf(s, vendorOf(s)))
	if w == nil {
		return nil
	}
	return w.of
}

// wordsOf returns the wording of a maker, and that of the profiler of all inputs.
func wordsOf(s *summary.Summary, maker string) wording {
	w := wordings()[maker]
	if OfROCm(s) {
		w = slices.Concat(w, wordings()["rocm"])
	}
	if allInputs(s, ByXLA) {
		w = slices.Concat(w, wordings()["xla"])
	}
	return w
}

// inMakersWords replaces words of a finding by those of the maker of the GPUs of the run.
func (on setting) inMakersWords(f *finding.Finding) {
	vendor := familyOf(on.run, ValueOf("gpu", on.run, on.stacks))
	w := wordsOf(on.run, vendor)
	if w == nil {
		return
	}
	f.Title, f.Cause = w.of(f.Title), w.of(f.Cause)
	for _, list := range [][]string{f.Evidence, f.ToBeSure} {
		for i := range list {
			list[i] = w.of(list[i])
		}
	}
	for i, s := range f.Next {
		if text := Text(s); wordings()[vendor].of(text) != text {
			args := map[string]string{maker: vendor}
			for k, v := range s.Args {
				args[k] = v
			}
			f.Next[i].Args = args
		}
	}
}
