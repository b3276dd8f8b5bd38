package layers_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/analyze"
	"assay/internal/test"
	"assay/internal/test/captures"
	"assay/summary"
	"assay/summary/view/layers"
	"assay/trace"
)

// A step is a line for each kernel: µs, stream and name.
type capture struct {
	events []string
	at     int64 // ns
	graphs int
}

func (c *capture) add(format string, args ...any) {
	c.events = append(c.events, fmt.Sprintf(format, args...))
}

// kernels runs kernels one after the other, with 1 µs between them.
func (c *capture) kernels(text string) {
	for line := range strings.Lines(text) {
		var us float64
		var stream int
		var name string
		if n, _ := fmt.Sscan(line, &us, &stream, &name); n != 3 {
			continue
		}
		cat := "kernel"
		if name == "Memset" {
			cat = "gpu_memset"
		}
		ns := int64(us * 1000)
		c.add(`{"ph":"X","cat":%q,"name":%q,"pid":0,"tid":%d,"ts":%d.%03d,"dur":%d.%03d,"args":{"device":0,"stream":%d,"correlation":%d}}`,
			cat, name, stream, c.at/1000, c.at%1000, ns/1000, ns%1000, stream, c.graphs)
		c.at += ns + 1000
	}
}

// step launches kernels as one graph. Without a name the step has no marker.
func (c *capture) step(name, text string) {
	c.graphs++
	start := c.at
	c.add(`{"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":1,"ts":%d.%03d,"dur":5,"args":{"correlation":%d}}`, c.at/1000, c.at%1000, c.graphs)
	c.at += 10_000
	c.kernels(text)
	if name != "" {
		c.add(`{"ph":"X","cat":"user_annotation","name":%q,"pid":1,"tid":1,"ts":%d.%03d,"dur":%d}`, name, start/1000, start%1000, (c.at-start)/1000)
	}
	c.at += 20_000
}

func (c *capture) read(t *testing.T) *trace.Trace {
	t.Helper()
	text := `{"traceEvents":[` + strings.Join(c.events, ",\n") + "]}"
	tr, err := trace.Read(strings.NewReader(text), "test", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func measure(tr *trace.Trace) *summary.Summary {
	return analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
}

const (
	embedding = "3 7 embedding_kernel\n"
	sampling  = "4 7 rms_norm_kernel\n80 7 gemm_head\n9 7 argmax_kernel\n"
)

// layer is a layer of 9 kernels and two collectives on another stream. upward is the time of its largest product.
func layer(upward int) string {
	return fmt.Sprintf("4 7 rms_norm_kernel\n10 7 gemm_qkv\n20 7 flash_fwd_kernel\n6 7 gemm_proj\n8 9 ncclDevKernel_AllReduce_Sum\n"+
		"4 7 rms_norm_kernel\n1 7 Memset\n%d 7 gemm_up\n3 7 silu_kernel\n15 7 gemm_down\n8 9 ncclDevKernel_AllReduce_Sum\n", upward)
}

// TestTimes computes a step by hand: 11 operations of a layer take 109 µs, and the 10 gaps between them 10 µs.
func TestTimes(t *testing.T) {
	var c capture
	for step := range 3 {
		text := embedding + strings.Repeat(layer(30), 4) + layer(90) + strings.Repeat(layer(30), 3) + sampling
		c.step(fmt.Sprintf("ProfilerStep#%d", step+1), text)
	}
	rows := measure(c.read(t)).Layers
	if len(rows) != 3 {
		t.Fatalf("got %d rows, want one for each step", len(rows))
	}
	pictures := 0
	for step, r := range rows {
		// A step: 10 µs, 4 µs of the embedding, 8 layers of 120 µs with their gaps, 60 µs more in one, 96 µs of the head, 20 µs.
		start := int64(step)*(10+4+8*120+60+96+20)*1000 + 14_000
		if r.Step != fmt.Sprintf("ProfilerStep#%d", step+1) || r.Count != 8 || r.StartNS != start || r.EndNS != start+(8*120+60-1)*1000 ||
			r.MedianNS != 119_000 || r.Pass != "forward" {
			t.Errorf("step %d: %d layers of %d ns from %d to %d, pass %q of %s; start should be %d", step, r.Count, r.MedianNS, r.StartNS, r.EndNS, r.Pass, r.Step, start)
		}
		want := summary.LayerParts{Attention: 8 * 36_000, MLP: 8*48_000 + 60_000, Norm: 8 * 8_000, Communication: 8 * 16_000}
		if r.Parts != want {
			t.Errorf("step %d: parts %+v, want %+v", step, r.Parts, want)
		}
		if want := []summary.OddLayer{{Index: 4, NS: 179_000, Part: "mlp", Kernel: "gemm_up"}}; !slices.Equal(r.Odd, want) {
			t.Errorf("step %d: odd layers %+v, want %+v", step, r.Odd, want)
		}
		if r.Typical != nil {
			pictures++
			if n := len(r.Typical); n != 11 || r.Typical[0].AtNS != 0 || r.Typical[n-1].AtNS+r.Typical[n-1].NS != r.MedianNS {
				t.Errorf("the typical layer has %d kernels: %+v", n, r.Typical)
			}
		}
	}
	if pictures != 1 {
		t.Errorf("%d rows have a typical layer, want 1", pictures)
	}
}

// TestRuns: without markers each run through the model is a row.
func TestRuns(t *testing.T) {
	var c capture
	for range 5 {
		c.step("", embedding+strings.Repeat(layer(30), 6)+sampling)
	}
	rows := measure(c.read(t)).Layers
	if len(rows) != 5 {
		t.Fatalf("got %d rows, want 5", len(rows))
	}
	for i, r := range rows {
		if r.Step != "" || r.Count != 6 || r.Index[0] != 0 || r.EndNS-r.StartNS != (6*120-1)*1000 {
			t.Errorf("run %d: %+v", i, r)
		}
	}
}

// TestMicroBatches: each of a few runs through the model in one step is a row; very many are one row.
func TestMicroBatches(t *testing.T) {
	for _, tc := range []struct{ runs, rows int }{{3, 3}, {32, 32}, {40, 1}} {
		var c capture
		c.step("ProfilerStep#1", strings.Repeat(embedding+strings.Repeat(layer(30), 4)+sampling, tc.runs))
		rows, n := measure(c.read(t)).Layers, 0
		for _, r := range rows {
			n += int(r.Count)
		}
		if len(rows) != tc.rows || n != 4*tc.runs {
			t.Errorf("%d runs: %d rows of %d layers, want %d of %d", tc.runs, len(rows), n, tc.rows, 4*tc.runs)
		}
	}
}

// TestWindow: only layers of selected steps have rows.
func TestWindow(t *testing.T) {
	var c capture
	var spans [][2]int64
	for step := range 4 {
		from := c.at
		c.step(fmt.Sprintf("ProfilerStep#%d", step), embedding+strings.Repeat(layer(30), 5)+sampling)
		spans = append(spans, [2]int64{from, c.at})
	}
	tr := c.read(t)
	tr.Window = &trace.Window{Start: spans[2][0], End: spans[2][1]}
	rows := measure(tr).Layers
	if len(rows) != 1 || rows[0].Step != "ProfilerStep#2" || rows[0].Count != 5 {
		t.Errorf("got %+v, want the 5 layers of one step", rows)
	}
}

// TestManySteps: of 200 steps, 64 have rows, and an issue says so.
func TestManySteps(t *testing.T) {
	for _, marker := range []string{"ProfilerStep#%d", ""} {
		var c capture
		for step := range 200 {
			name := ""
			if marker != "" {
				name = fmt.Sprintf(marker, step)
			}
			c.step(name, embedding+strings.Repeat(layer(30), 3)+sampling)
		}
		s := measure(c.read(t))
		left := int64(0)
		for _, is := range s.Issues {
			if is.Code == "layers-of-steps-left-out" {
				left = is.Count
			}
		}
		if len(s.Layers) != 64 || left != 136 {
			t.Errorf("%q: %d rows, %d steps left out; want 64 and 136", marker, len(s.Layers), left)
		}
	}
}

// TestShifted: times of all events move by the same, and so do the rows.
func TestShifted(t *testing.T) {
	rows := func(at int64) []summary.Layer {
		c := capture{at: at}
		for step := range 2 {
			c.step(fmt.Sprintf("ProfilerStep#%d", step), embedding+strings.Repeat(layer(30), 3)+layer(70)+sampling)
		}
		return measure(c.read(t)).Layers
	}
	const by = 123_456_789_000
	want, got := rows(0), rows(by)
	for i := range got {
		got[i].StartNS -= by
		got[i].EndNS -= by
	}
	if a, b := fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got); a != b || len(want) == 0 {
		t.Errorf("got\n%s, want\n%s", b, a)
	}
}

// TestOneLayer: a model of one layer that runs often has no rows, with and without markers, and neither have two in turns.
func TestOneLayer(t *testing.T) {
	for _, marker := range []string{"ProfilerStep#%d", ""} {
		for _, models := range [][]string{{layer(30)}, {layer(30), "5 7 layer_norm_kernel\n7 7 gemm_a\n9 7 fmha_kernel\n5 7 layer_norm_kernel\n8 7 gemm_b\n"}} {
			var c capture
			for step := range 12 {
				name := ""
				if marker != "" {
					name = fmt.Sprintf(marker, step)
				}
				c.step(name, embedding+models[step%len(models)]+sampling)
			}
			if rows := measure(c.read(t)).Layers; len(rows) > 0 {
				t.Errorf("%q, %d models: got %+v", marker, len(models), rows)
			}
		}
	}
}

// TestTwoStreams: two models run at the same time, each on a stream of its own, with other shapes. Each has its own
// layers, and a product that overlaps the first one is in its layers.
func TestTwoStreams(t *testing.T) {
	var c capture
	c.step("ProfilerStep#1", "")
	from := c.at
	c.kernels(embedding + strings.Repeat("4 7 rms_norm_kernel\n10 7 gemm_qkv\n20 7 flash_fwd_kernel\n6 7 gemm_proj\n4 7 rms_norm_kernel\n30 7 gemm_up\n", 6) + sampling)
	end := c.at
	c.at = from
	c.kernels(embedding + strings.Repeat("7 20 layer_norm_kernel\n11 20 gemm_a\n25 20 fmha_kernel\n7 20 gemm_b\n7 20 layer_norm_kernel\n33 20 gemm_c\n3 20 gelu_kernel\n", 4))
	c.at = from + 4000 + 4000 + 3*80_000 + 2500 // while the first product of the fourth layer runs
	c.kernels("3 24 gemm_shared\n")
	c.at = end
	rows := measure(c.read(t)).Layers
	if len(rows) != 2 {
		t.Fatalf("got %d rows, want one for each stream: %+v", len(rows), rows)
	}
	slices.SortFunc(rows, func(a, b summary.Layer) int { return int(b.Count - a.Count) })
	// 74 µs of kernels and 5 gaps; 93 µs and 6 gaps
	if a, b := rows[0], rows[1]; a.Count != 6 || a.MedianNS != 79_000 || a.Parts.Sum() != 6*74_000+3_000 || a.Parts.Attention != 6*36_000+3_000 ||
		b.Count != 4 || b.MedianNS != 99_000 || b.Parts.Sum() != 4*93_000 {
		t.Errorf("got %+v", rows)
	}
}

// TestOverlapped: an all-reduce of 100 µs starts in each layer of 79 µs, on another stream, and no kernel waits for it.
func TestOverlapped(t *testing.T) {
	var c capture
	c.step("ProfilerStep#1", "")
	from := c.at
	c.kernels(embedding + strings.Repeat("4 7 rms_norm_kernel\n10 7 gemm_qkv\n20 7 flash_fwd_kernel\n6 7 gemm_proj\n4 7 rms_norm_kernel\n30 7 gemm_up\n", 6) + sampling)
	end := c.at
	for i := range int64(6) {
		c.at = from + 4_000 + i*80_000 + 40_000
		c.kernels("100 24 ncclDevKernel_AllReduce_Sum\n")
	}
	c.at = end
	rows := measure(c.read(t)).Layers
	if len(rows) != 1 || rows[0].MedianNS != 79_000 || rows[0].EndNS-rows[0].StartNS != 479_000 || rows[0].Parts.Communication != 600_000 {
		t.Errorf("got %+v", rows)
	}
}

// TestModules: where real captures have stacks of modules, the layers that kernels tell are those that modules tell.
func TestModules(t *testing.T) {
	for _, tc := range []struct {
		path  string
		count int64
	}{
		{"h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", 24},
		{"h100/gaunernst_bert-small-uncased__1016001.json.gz", 4},
		{"h100/Falconsai_nsfw_image_detection__1016002.json.gz", 12},
		{"mi300/gaunernst_bert-small-uncased__1016001.json.gz", 4},
		{"mi300/Falconsai_nsfw_image_detection__1016002.json.gz", 12},
	} {
		path := test.Corpus(t, "kineto", "tracelens", filepath.FromSlash(tc.path))
		tr, err := trace.Read(bytes.NewReader(test.Unpacked(t, path)), path, analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		without := *tr
		without.Python = trace.Table[trace.PythonCall]{}
		a, b := measure(tr).Layers, measure(&without).Layers
		if len(a) != 1 || len(b) != 1 {
			t.Errorf("%s: %d rows by modules and %d by kernels, want 1", tc.path, len(a), len(b))
			continue
		}
		if x, y := a[0], b[0]; x.Count != tc.count || y.Count != tc.count || x.StartNS != y.StartNS || x.EndNS != y.EndNS || !slices.Equal(x.LengthNS, y.LengthNS) || x.Parts != y.Parts {
			t.Errorf("%s: by modules %+v, by kernels %+v", tc.path, x, y)
		}
	}
}

// TestCaptures: the layers of real captures without modules, as the configurations of their models say.
func TestCaptures(t *testing.T) {
	for _, tc := range []struct {
		path string
		want string // for each row of a device: count, kind, pass
	}{
		{"kineto/tracelens/inference/sglang_decode/sglang_Qwen3-8B_decode.json.gz", "36 decoder forward"},
		{"kineto/tracelens/inference/vllm_decode_full/graph_execution.json.gz", "12 moe-layer forward, 12 moe-layer-2 forward"}, // a window in every other layer
		{"ranks/megatron_tp8_a100/rank3.json.gz", "40 attention-layer forward"},
		{"nsight/zx3xyy_assignment2-systems/result_2_7B_nvtx.sqlite", strings.Repeat("32 attention-layer forward, ", 3) + "32 attention-layer forward"},
		{"ranks/cs336_ddp_2x3090_nsys/ddp53_profile.sqlite", "12 attention-layer forward, 12 layer backward"},
		{"kineto/tracelens/mi210/gpu_only_trace/gpu_only_trace.json.gz", ""}, // a ResNet
		{"kineto/tracelens/mi300/resnet_act_checkpoint.json.gz", ""},         // recomputes blocks without attention
		{"nsight/brycelelbach_nsightful/power_iteration__baseline.sqlite", ""},
	} {
		in := captures.Load(t, test.Corpus(t, strings.Split(tc.path, "/")...))
		var got []string
		rows := measure(in.Trace).Layers
		for _, r := range rows {
			if r.Device == rows[0].Device {
				got = append(got, fmt.Sprint(r.Count, " ", r.Kind, " ", r.Pass))
			}
		}
		if s := strings.Join(got, ", "); s != tc.want {
			t.Errorf("%s: got %q, want %q", tc.path, s, tc.want)
		}
	}
}

// TestFewSteps: the typical step of each kind is the same if only a few steps are looked at, also of a kind that has one step in 100.
func TestFewSteps(t *testing.T) {
	var c capture
	for step := range 100 {
		name, text := fmt.Sprintf("execute_context_0(0)_generation_%d(%d)", 32, 32), layer(30)
		if step == 71 {
			name, text = "execute_context_1(900)_generation_0(0)", layer(200)
		}
		c.step(name, embedding+strings.Repeat(text, 3)+layer(70)+sampling)
	}
	tr := c.read(t)
	opt := analyze.DefaultOptions()
	all := layers.Groups(analyze.Trace(tr, summary.Input{}, opt))
	opt.Without = analyze.LayerSteps
	s := analyze.Trace(tr, summary.Input{}, opt)
	few := layers.Groups(s)
	if len(few) != 2 || len(all) != 2 {
		t.Fatalf("got %d groups, and %d of all steps; want 2", len(few), len(all))
	}
	for i := range few {
		if want := [2]int{6, 1}[i]; len(few[i].Steps) != want {
			t.Errorf("%s: %d steps, want %d", few[i].Kind, len(few[i].Steps), want)
		}
		a, b := few[i].Kinds()[0], all[i].Kinds()[0]
		if few[i].Kind != all[i].Kind || a.MedianNS != b.MedianNS || a.Count != 4 || a.Parts != b.Parts || few[i].Kind == "decode" && len(a.Odd) != 1 {
			t.Errorf("got %q %+v, want %q %+v", few[i].Kind, a, all[i].Kind, b)
		}
	}
	for _, is := range s.Issues {
		if is.Code == "layers-of-steps-left-out" {
			t.Error("the issue about rows of 64 steps")
		}
	}
}
