package rule

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/summary"
)

// TestWhen goes through the forms of a condition.
func TestWhen(t *testing.T) {
	facts := Facts{"nsys": "yes", "plain": "", "vllm": "yes", "top": "gemv"}
	for when, want := range map[When]bool{
		"": true, "nsys": true, "!nsys": false, "plain": false, "!plain": true, "nsys,vllm": true, "nsys, plain": false, "nsys, !plain": true,
		"top=gemv": true, "top=reduction": false, "top!=gemv": false, "top!=reduction": true, "plain=yes": false, "plain!=yes": true,
		"undecided": true, "!undecided": true, "undecided=x, plain": false,
	} {
		if got := when.Matches(facts); got != want {
			t.Errorf("%q holds: %t, want %t", when, got, want)
		}
	}
}

// TestFactsPage: the table of docs/adding-a-rule.md is that of the facts, and no word is in two rows.
func TestFactsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../../docs/adding-a-rule.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	table := "| word | holds if | found by |\n|---|---|---|\n"
	for _, f := range FactsTable() {
		words := "`" + strings.Join(f.Words, "`, `") + "`"
		if f.Values != nil {
			words += " (" + strings.Join(f.Values, ", ") + ")"
		}
		if f.evaluate == nil {
			words += " *(evidence)*"
		}
		table += "| " + words + " | " + f.Meaning + " | " + f.Found + " |\n"
		all = append(all, f.Words...)
	}
	if !strings.Contains(string(page), "\n"+table+"\n") {
		t.Errorf("docs/adding-a-rule.md lacks the table of the facts:\n%s", table)
	}
	if slices.Sort(all); len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("a word is in two rows: %q", all)
	}
}

// TestPublished: the fields of a remedy say which software it is for; the whole condition is there, too. A condition
// with a word that no fact has is refused.
func TestPublished(t *testing.T) {
	r := Remedy{ID: "x", When: "vllm,maybe-fsdp,!plain,nsys,gpu!=intel,rl"}
	r.publish()
	if !slices.Equal(r.Stacks, []string{"vllm", "fsdp"}) || r.Plain || !r.Nsys {
		t.Errorf("got %+v", r)
	}
	text, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(text), `"when":"vllm,maybe-fsdp,!plain,nsys,gpu!=intel,rl"`) {
		t.Errorf("%s (%v)", text, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a condition with an unknown word was published as software")
		}
	}()
	unknown := Remedy{ID: "x", When: "vlllm"}
	unknown.publish()
}

// TestPrecision: the size of the types in which most of the time of matrix products is spent.
func TestPrecision(t *testing.T) {
	for name, want := range map[string]string{
		"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nn": "16-bit", "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT": "16-bit",
		"Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI16x16x1_SN": "16-bit", "volta_h884gemm_128x128": "16-bit",
		"sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n": "8-bit", "void machete::kernel<cutlass::half_t>": "8-bit", "awq_gemm_forward_4bit_cuda_m16n128k32": "8-bit",
		"nvjet_qqtst_128x128_128x6": "8-bit", "_w8a8_block_matmul": "8-bit",
		"ampere_sgemm_128x64_tn": "", "cutlass_80_tensorop_s1688gemm_128x128": "", "gather_rows(int4 const*, float4*)": "",
	} {
		s := &summary.Summary{Kernels: []summary.Kernel{{Name: name, Category: "gemm", TotalNS: 60}, {Name: "my_gemm", Category: "gemm", TotalNS: 40},
			{Name: "copy_fp8", Category: "copy", TotalNS: 900}}}
		if got := ValueOf("precision", s, nil); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if s.Kernels[0].TotalNS = 40; ValueOf("precision", s, nil) != "" { // half of the time is not most of it
			t.Errorf("%s has half of the time and counts", name)
		}
	}
}

// TestOverloaded: a server that serves four fifths of the lowest rate follows it.
func TestOverloaded(t *testing.T) {
	result := func(rate string, served float64) summary.Benchmark {
		return summary.Benchmark{Settings: map[string]string{"request_rate": rate}, Metrics: []summary.Figure{{Metric: "throughput.requests", Value: served}}}
	}
	// 40 requests of 100 tokens at 4 per second are sent in 10 s, and take 10 s each at 100 ms per token.
	short := func(seconds float64) summary.Benchmark {
		b := result("4", 40/seconds)
		b.Metrics = append(b.Metrics, summary.Figure{Metric: "serving.duration", Value: seconds * 1e9}, summary.Figure{Metric: "serving.tpot", Stat: "median", Value: 1e8},
			summary.Figure{Metric: "throughput.output_tokens", Value: 4000 / seconds})
		return b
	}
	for _, tt := range []struct {
		name    string
		results []summary.Benchmark
		want    string
	}{
		{"the last requests take as long as the sending", []summary.Benchmark{short(20)}, ""}, {"they end 3 s later", []summary.Benchmark{short(23)}, "yes"},
		{"79%", []summary.Benchmark{result("10", 7.9)}, "yes"}, {"80%", []summary.Benchmark{result("10", 8)}, ""},
		{"the lowest of three", []summary.Benchmark{result("inf", 6.2), result("16", 6.1), result("4", 3.96)}, ""},
		{"even the lowest of two", []summary.Benchmark{result("16", 2.1), result("8", 2)}, "yes"},
		{"no limit of the rate", []summary.Benchmark{result("inf", 6)}, ""}, {"none", nil, ""},
	} {
		if got := ValueOf("overloaded", &summary.Summary{Benchmarks: tt.results}, nil); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestMakersOfTables: the devices of tables show their maker, unless they differ or one row has another.
func TestMakersOfTables(t *testing.T) {
	for _, tt := range []struct {
		devices []string
		want    string
	}{
		{[]string{"CUDA 0", "CUDA 1"}, "nvidia"}, {[]string{"HIP 0", ""}, "amd"}, {[]string{"XPU 3"}, "intel"},
		{[]string{"CUDA 0", "HIP 1"}, ""}, {[]string{"NVIDIA L4 (0)"}, ""}, {nil, ""},
	} {
		s := &summary.Summary{Tables: []summary.Table{{Tool: "proton"}}}
		for _, d := range tt.devices {
			s.Tables[0].Rows = append(s.Tables[0].Rows, summary.TableRow{Labels: map[string]string{"device": d}})
		}
		if got := ValueOf("gpu", s, nil); got != tt.want {
			t.Errorf("devices %q: %q, want %q", tt.devices, got, tt.want)
		}
	}
}

// TestMakers: without names of GPUs, the calls of the runtime show their maker.
func TestMakers(t *testing.T) {
	for _, tt := range []struct {
		names, calls []string
		want         string
	}{
		{[]string{"NVIDIA H200"}, []string{"hipLaunchKernel"}, "nvidia"}, {[]string{""}, []string{"hipLaunchKernel"}, "amd"}, {nil, []string{"cudaLaunchKernelExC"}, "nvidia"},
		{[]string{"", ""}, []string{"urEnqueueKernelLaunch"}, "intel"}, {[]string{"AMD Instinct MI300X", "NVIDIA L4"}, nil, ""}, {[]string{"xyz"}, []string{"cudaMalloc"}, ""},
		{nil, []string{"cudaMalloc", "hipMalloc"}, ""}, {nil, []string{"current_device"}, ""},
	} {
		s := &summary.Summary{}
		for _, n := range tt.names {
			s.Devices = append(s.Devices, summary.Device{Name: n})
		}
		for _, n := range tt.calls {
			s.Calls = append(s.Calls, summary.Call{Name: n})
		}
		if got := ValueOf("gpu", s, nil); got != tt.want {
			t.Errorf("GPUs %q, calls %q: %q, want %q", tt.names, tt.calls, got, tt.want)
		}
	}
}

// TestCollectorOfOneProcess: the time that eight processes together spend in the collector is not compared with that
// of one. Each collects for 4 s in 20 min.
func TestCollectorOfOneProcess(t *testing.T) {
	first, last, minute := int64(0), int64(20*60e9), 60e9
	of := func(each float64) *summary.Summary {
		all := 8 * each
		s := &summary.Summary{Series: []summary.Series{{Metric: "python.gc", Pooled: 8, N: 160, Sum: &all, FirstNS: &first, LastNS: &last}}}
		for range 8 {
			s.Series = append(s.Series, summary.Series{Metric: "python.gc", N: 20, Sum: &each, FirstNS: &first, LastNS: &last})
		}
		return s
	}
	if collects(of(4e9)) || !collects(of(minute)) {
		t.Errorf("4 s of 20 min: %v, 1 min: %v", collects(of(4e9)), collects(of(minute)))
	}
}

// TestPlainTables: tables of kernels show a program without PyTorch if all their rows are there and none is of PyTorch.
func TestPlainTables(t *testing.T) {
	for _, tc := range []struct {
		name, of, format string
		left             int64
		want             bool
	}{
		{"vector_add(float*)", summary.OfKernel, "nsys-stats", 0, true},
		{"void at::native::vectorized_elementwise_kernel<4>", summary.OfKernel, "nsys-stats", 0, false},
		{"_ZN2at6native13reduce_kernelILi512EEvT_", summary.OfKernel, "nsys-stats", 0, false},
		{"triton_poi_fused_add_0", summary.OfKernel, "rocprof-counters", 0, false},
		{"vector_add(float*)", summary.OfKernel, "nsys-stats", 3, false},
		{"vector_add(float*)", summary.OfKernel, "torch-table", 0, false},
		{"cudaLaunchKernel", summary.OfCall, "nsys-stats", 0, false},
	} {
		s := &summary.Summary{Inputs: []summary.Input{{Format: tc.format}},
			Tables: []summary.Table{{Of: tc.of, Left: tc.left, Rows: []summary.TableRow{{Name: tc.name}}}}}
		if got := ValueOf("plain", s, Stacks(s)) != ""; got != tc.want {
			t.Errorf("%+v: %t", tc, got)
		}
	}
}
