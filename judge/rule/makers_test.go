package rule

import (
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/summary"
)

// runOn returns a summary of a run on GPUs of a name, in a format.
func runOn(gpu, format string) *summary.Summary {
	return &summary.Summary{Inputs: []summary.Input{{Format: format}}, Devices: []summary.Device{{Name: gpu}}}
}

// TestMakersWords: texts for AMD GPUs have the words of HIP, and those of others stay. Names of PyTorch and settings are
// the same everywhere.
func TestMakersWords(t *testing.T) {
	say := func(gpu, format, text string) string {
		if w := ForMaker(runOn(gpu, format)); w != nil {
			return w(text)
		}
		return text
	}
	for _, tc := range []struct{ text, amd string }{
		{"Use CUDA graphs: capture launches (cudaStreamBeginCapture), replay them (cudaGraphLaunch).", "Use HIP graphs: capture launches (hipStreamBeginCapture), replay them (hipGraphLaunch)."},
		{"pinned memory (cudaMallocHost, cudaHostRegister)", "pinned memory (hipHostMalloc, hipHostRegister)"},
		{"NCCL's rings; set NCCL_DEBUG=INFO", "RCCL's rings; set NCCL_DEBUG=INFO"},
		{"torch.cuda.graph, ProfilerActivity.CUDA, --cuda-graph-max-bs, PYTORCH_CUDA_ALLOC_CONF", "torch.cuda.graph, ProfilerActivity.CUDA, --cuda-graph-max-bs, PYTORCH_CUDA_ALLOC_CONF"},
		{"other CUDA call in hipGetDevice; a CUDA out-of-memory error", "other HIP call in hipGetDevice; a CUDA out-of-memory error"},
		{"kernel gated_delta_net_cuda<128>", "kernel gated_delta_net_cuda<128>"},
	} {
		for _, gpu := range []string{"AMD Instinct MI250X", "AMD Radeon PRO W7900"} {
			if got := say(gpu, "kineto", tc.text); got != tc.amd {
				t.Errorf("%s: %q, want %q", gpu, got, tc.amd)
			}
		}
		for _, gpu := range []string{"NVIDIA H200", "MTIA"} {
			if got := say(gpu, "kineto", tc.text); got != tc.text {
				t.Errorf("%s: %q", gpu, got)
			}
		}
	}
	const overlapping = "Events of one stream overlap in time, which programmatic dependent launch allows and clocks of whole microseconds show. Total"
	for _, tc := range []struct{ gpu, text, want string }{
		{"Intel(R) Data Center GPU Max 1550", "cudaDeviceSynchronize or cudaStreamSynchronize; NCCL's rings", "queue.wait(); oneCCL's rings"},
		{"Intel(R) Data Center GPU Max 1550", "profile it with ncu --section SpeedOfLight, which shows", "profile it with unitrace -q, which shows"},
		{"Ascend NPU", "GPU idle; torch.cuda.Event, cudaEventSynchronize; 8 GPUs", "NPU idle; torch.npu.Event, aclrtSynchronizeEvent; 8 NPUs"},
		{"Ascend NPU", "other CUDA call, with ProfilerActivity.CUDA of torch.profiler", "other CANN call, with ProfilerActivity.NPU of torch_npu.profiler"},
		{"TPU v5e", "GPU time breakdown", "TPU time breakdown"},
		{"Ascend NPU", "Another profiler used CUPTI, or tracing was not permitted.", "Another profiler traced the NPU, or tracing was not permitted."},
		{"Ascend NPU", overlapping, "Events of one stream overlap in time. Total"},
		{"NVIDIA H200", "Another profiler used CUPTI", "Another profiler used CUPTI"},
		{"NVIDIA H200", overlapping, overlapping},
	} {
		if got := say(tc.gpu, "kineto", tc.text); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.gpu, got, tc.want)
		}
	}
	stacks := "record with with_stack=True or NVTX ranges; mark steps with torch.profiler.schedule and prof.step()"
	if got, want := say("", "xplane", stacks), "record with python_tracer_level=1 or ranges of jax.profiler.TraceAnnotation; mark steps with jax.profiler.StepTraceAnnotation"; got != want {
		t.Errorf("XLA: %q, want %q", got, want)
	}
	if got := say("NVIDIA H200", "kineto", stacks); got != stacks {
		t.Errorf("PyTorch: %q", got)
	}
	lost := "The profiler recorded none of this work: update it and the driver."
	if got := say("", "rocprofv3-csv", lost); !strings.Contains(got, "--memory-copy-trace") {
		t.Errorf("rocprofv3: %q", got)
	}
	if got := say("AMD Instinct MI250X", "kineto", lost); got != lost {
		t.Errorf("Kineto on AMD: %q", got)
	}
}

// TestWordsOfTPUs: TPUs have no arrows to launches and no graphs to capture; GPUs keep the words.
func TestWordsOfTPUs(t *testing.T) {
	const copies, gaps = "follow the arrow from the largest copy", "evaluation, compilation, graph capture, the start of data loaders."
	for id, was := range map[string]string{"find-who-copies": copies, "find-what-runs-in-the-gaps": gaps} {
		text := builtIn().remedy(id).Text
		if !strings.Contains(text, was) {
			t.Fatalf("%s: %q", id, text)
		}
		if got := ForMaker(runOn("TPU v6 Lite", "xplane"))(text); strings.Contains(got, "arrow") || strings.Contains(got, "graph capture") || strings.Contains(got, "data loaders") || !strings.HasSuffix(got, ".") {
			t.Errorf("%s of a TPU: %q", id, got)
		}
		if of := ForMaker(runOn("AMD Instinct MI300X", "xplane")); of != nil && of(text) != text {
			t.Errorf("%s of a GPU: %q", id, of(text))
		}
	}
}

// TestForGPUsOnly: remedies that name what only GPUs have are not for other devices, unless these have a word for it.
func TestForGPUsOnly(t *testing.T) {
	for _, tc := range []struct {
		gpu, format, id string
		given           bool
	}{
		{"Ascend NPU", "ascend-trace", "launch-more-each", true}, {"Ascend NPU", "ascend-trace", "capture-more-in-graphs", false},
		{"Ascend NPU", "ascend-trace", "fuse-small-kernels", false}, {"Ascend NPU", "ascend-trace", "wait-for-an-event", true},
		{"MTIA", "kineto", "wait-for-an-event", false}, {"TPU v4", "xplane", "fuse-small-kernels", false},
		{"NVIDIA H200", "kineto", "fuse-small-kernels", true},
	} {
		on := SettingOf(runOn(tc.gpu, tc.format), nil)
		on.facts["graphs"], on.facts["plain"] = "yes", ""
		if r := builtIn().remedy(tc.id); r == nil {
			t.Errorf("no remedy %s", tc.id)
		} else if got := on.allows(r, nil); got != tc.given {
			t.Errorf("%s: %s given %t, want %t", tc.gpu, tc.id, got, tc.given)
		}
	}
}

// TestRecordersAdvice: advice on PyTorch's profiler is not given for what a profiler of ROCm recorded, and the other way
// round.
func TestRecordersAdvice(t *testing.T) {
	for _, tc := range []struct{ format, step, want string }{
		{"rpd", "record-whole-steps", "record-whole-steps-rocm"}, {"kineto", "record-whole-steps", "record-whole-steps"},
		{"nsys-json", "record-whole-steps", "record-whole-steps-nsys"}, {"xplane", "record-whole-steps", "record-whole-steps-xla"},
		{"rocprof-csv", "record-the-gpu", "record-the-gpu-rocm"}, {"kineto-perfetto", "record-the-gpu", "record-the-gpu"},
		{"rocprofv3-perfetto", "record-the-cpu", "record-the-cpu-rocm"}, {"rocprofv3-json", "begin-earlier", "record-the-cpu-rocm"},
		{"kineto", "begin-earlier", "begin-earlier"}, {"proton-trace", "begin-earlier", "record-the-launches"},
		{"unitrace", "record-whole-steps", "record-whole-steps-unitrace"}, {"unitrace", "begin-earlier", "record-the-launches"},
		{"xla-trace", "begin-earlier", "record-the-launches-xla"},
		{"xplane", "launch-less", "compile-with-xla"}, {"rocprof-csv", "launch-less", "launch-less-by-graphs"},
		{"tf-timeline", "tensor-cores", "tensor-cores-xla"}, {"rpd", "tensor-cores", "tensor-cores-by-type"},
		{"proton-tree", "record-a-timeline", "record-a-timeline-proton"}, {"rocprof-stats", "record-a-timeline", "record-a-timeline-rocm"},
		{"torch-table", "record-a-timeline", "record-a-timeline"},
	} {
		s := runOn("AMD Instinct MI300X", tc.format)
		s.Kernels = []summary.Kernel{{Name: "gemm", Class: "compute"}}
		if tc.want == "begin-earlier" { // it records launches, those of this work excepted
			s.Calls = append(s.Calls, summary.Call{Name: "hipLaunchKernel", Kind: "launch", Count: 3})
		}
		on := SettingOf(s, nil)
		got := on.stepsFor(TooLittleWork, []finding.Step{finding.Advise(tc.step)}, false)
		if len(got) == 0 || got[0].ID != tc.want {
			t.Errorf("%s, %s: %+v, want %s", tc.format, tc.step, got, tc.want)
		}
	}
}

// TestStepsWords: the text of a step has the words of the maker, and the step says so.
func TestStepsWords(t *testing.T) {
	for gpu, want := range map[string]string{"AMD Instinct MI300X": "hipMemcpyAsync", "NVIDIA L40S": "cudaMemcpyAsync"} {
		on := SettingOf(runOn(gpu, "kineto"), nil)
		f := finding.Finding{Rule: SyncCopies, Title: "CUDA graphs", Next: []finding.Step{finding.Advise("copy-asynchronously")}}
		on.Complete(&f, false)
		found := false
		for _, s := range f.Next {
			found = found || strings.Contains(Text(s), want)
		}
		if !found || strings.HasPrefix(f.Title, "HIP") != (want == "hipMemcpyAsync") {
			t.Errorf("%s: %q, %+v", gpu, f.Title, f.Next)
		}
	}
}

// TestOnlyOfTheMaker: what confirms a finding on a GPU of AMD names no tool and no library of NVIDIA.
func TestOnlyOfTheMaker(t *testing.T) {
	ofNsight := []string{"opaque-graphs", "tables-empty", "graphs-hide-kernels", "device-time-missing"} // the last names a setting of PyTorch, which AMD shares
	on := SettingOf(runOn("AMD Instinct MI300X", "kineto"), nil)
	for _, r := range Rules() {
		f := finding.Finding{Rule: r.ID}
		on.Complete(&f, false)
		for _, text := range f.ToBeSure {
			if onlyCUDA().MatchString(strings.ReplaceAll(text, "NCCL_", "")) && !slices.Contains(ofNsight, r.ID) {
				t.Errorf("%s: %q", r.ID, text)
			}
		}
	}
	f := finding.Finding{Rule: DominantKernel, Next: []finding.Step{finding.Advise("tensor-cores-by-type")}}
	on.inMakersWords(&f)
	if got := Text(f.Next[0]); strings.Contains(got, "cuBLAS") || !strings.Contains(got, "half or bfloat16 inputs") {
		t.Errorf("%q", got)
	}
}

// TestCompilesOperators: calls that compile operators count from a tenth of the time of all calls.
func TestCompilesOperators(t *testing.T) {
	for ns, want := range map[int64]bool{99: false, 100: true, 0: false} {
		s := &summary.Summary{Calls: []summary.Call{{Name: "aclopCompileAndExecute", TotalNS: ns}, {Name: "aclnnAdd", TotalNS: 1000 - ns}}}
		if got := compilesOperators(s); got != want {
			t.Errorf("%d of 1000 ns: %t", ns, got)
		}
	}
}

// TestWordsOfOthers: what confirms a finding and how memory is configured have the names of other makers.
func TestWordsOfOthers(t *testing.T) {
	for gpu, want := range map[string][2]string{
		"Ascend NPU":                        {"PYTORCH_NPU_ALLOC_CONF=expandable_segments:True", "record with with_stack=True, which"},
		"Intel(R) Data Center GPU Max 1550": {"PYTORCH_ALLOC_CONF=expandable_segments:True, so", "record with with_stack=True, which"},
		"NVIDIA H200":                       {"(older PyTorch: PYTORCH_CUDA_ALLOC_CONF)", "(nsys --python-backtrace=cuda)"},
	} {
		on := SettingOf(runOn(gpu, "kineto"), nil)
		f := finding.Finding{Rule: SyncCopies, Next: []finding.Step{finding.Advise("expandable-segments")}}
		f.ToBeSure = slices.Clone(builtIn().rule(SyncCopies).Sure)
		on.inMakersWords(&f)
		if text := Text(f.Next[0]); !strings.Contains(text, want[0]) || !strings.Contains(strings.Join(f.ToBeSure, " "), want[1]) {
			t.Errorf("%s: %q, %q", gpu, text, f.ToBeSure)
		}
	}
}
