package layers_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test/captures"
	"assay/summary"
)

// TestKnownModels: captures of an H200 whose models are in testdata/capture. Each has as many layers in each pass as its program
// makes, and as many runs through the model in a step.
func TestKnownModels(t *testing.T) {
	const forward, backward = "attention-layer forward", "attention-layer backward"
	for _, c := range []struct {
		file  string
		steps int
		want  map[string]int // layers of a step
		count int64          // layers of a run through the model
	}{
		{"decode_graph/trace", 3, map[string]int{forward: 8 * 12}, 12},
		{"dataloader_bound/trace", 3, map[string]int{forward: 4, backward: 4}, 4},
		{"ddp_gloo_straggler/rank0", 3, map[string]int{forward: 4, backward: 4}, 4},
		{"ddp_gloo_straggler/rank1", 3, map[string]int{forward: 4, backward: 4}, 4},
		{"pairs/graph_on/before", 4, map[string]int{forward: 12}, 12},
		{"pairs/graph_on/after", 4, map[string]int{forward: 12}, 12},
		{"pairs/dropout_removed/before", 0, nil, 0}, // has no attention and no norm
		{"gemm_bound/trace", 0, nil, 0},
		{"launch_bound/trace", 0, nil, 0},
	} {
		path := filepath.Join("..", "..", "testdata", "h200", filepath.FromSlash(c.file)+".json.gz")
		in := captures.Load(t, path)
		got := map[string]map[string]int{}
		for _, l := range measure(in.Trace).Layers {
			if l.Count != c.count {
				t.Errorf("%s: %d layers in a run of %s, want %d", c.file, l.Count, l.Step, c.count)
			}
			if got[l.Step] == nil {
				got[l.Step] = map[string]int{}
			}
			got[l.Step][l.Kind+" "+l.Pass] += int(l.Count)
		}
		if len(got) != c.steps {
			t.Errorf("%s: layers in %d steps, want %d", c.file, len(got), c.steps)
		}
		for step, n := range got {
			if !maps.Equal(n, c.want) {
				t.Errorf("%s: %s has %v, want %v", c.file, step, n, c.want)
			}
		}
	}
}

// TestFusedEnds: a compiler fuses the embedding with the first norm, and chooses other products in the first layer. It is of the
// kind of the others if its kernels do the same, and a kind of its own if they do not.
func TestFusedEnds(t *testing.T) {
	const usual = "4 7 triton_red_fused_add_native_layer_norm_3\n10 7 gemm_qkv\n20 7 flash_fwd_kernel\n6 7 gemm_proj\n5 7 triton_red_fused_native_layer_norm_4\n" +
		"30 7 gemm_up\n3 7 triton_poi_fused_gelu_5\n15 7 gemm_down\n"
	for _, c := range []struct{ name, first, want string }{
		{"other kernels that do the same", "4 7 triton_red_fused_embedding_native_layer_norm_0\n11 7 nvjet_qkv_gemm\n20 7 flash_fwd_kernel\n7 7 cutlass_gemm_proj\n" +
			"5 7 triton_red_fused_add_layer_norm_1\n31 7 cutlass_gemm_up\n3 7 triton_poi_fused_gelu_2\n16 7 nvjet_gemm_down\n", "attention-layer ×6"},
		{"experts in the others", "4 7 triton_red_fused_embedding_native_layer_norm_0\n11 7 nvjet_qkv_gemm\n20 7 flash_fwd_kernel\n7 7 cutlass_gemm_proj\n" +
			"5 7 triton_red_fused_add_layer_norm_1\n31 7 cutlass_gemm_up\n3 7 triton_poi_fused_gelu_2\n16 7 nvjet_gemm_down\n", "attention-layer ×1 moe-layer ×5"},
	} {
		other := usual
		if strings.Contains(c.want, "moe") {
			other = strings.Replace(usual, "gemm_up", "fused_moe_kernel", 1)
		}
		var run capture
		for step := range 3 {
			run.step(fmt.Sprintf("ProfilerStep#%d", step+1), c.first+strings.Repeat(other, 5)+sampling)
		}
		var got []string
		for _, l := range measure(run.read(t)).Layers {
			if l.Step == "ProfilerStep#2" {
				got = append(got, fmt.Sprintf("%s ×%d", l.Kind, l.Count))
			}
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// TestInterleaved: kernels of the backward pass of one micro-batch between those of the forward pass of another one. An issue says
// why there are no layers; it says nothing where there are some, or where nothing repeats.
func TestInterleaved(t *testing.T) {
	const forward = "4 7 rms_norm_kernel\n10 7 gemm_qkv\n20 7 flash_fwd_kernel\n6 7 gemm_proj\n"
	for _, c := range []struct {
		name, text   string
		layers, told bool
	}{
		{"interleaved", embedding + strings.Repeat(forward+"9 7 layer_norm_grad_input_kernel\n11 7 gelu_backward_kernel\n30 7 gemm_up\n", 6) + sampling, false, true},
		{"forward only", embedding + strings.Repeat(forward+"4 7 rms_norm_kernel\n30 7 gemm_up\n", 6) + sampling, true, false},
		{"one layer", embedding + forward + sampling, false, false},
	} {
		var run capture
		for step := range 3 {
			run.step(fmt.Sprintf("ProfilerStep#%d", step+1), c.text)
		}
		s := measure(run.read(t))
		told := slices.ContainsFunc(s.Issues, func(is summary.Issue) bool { return is.Code == "layers-interleaved" })
		if told != c.told || len(s.Layers) > 0 != c.layers {
			t.Errorf("%s: issue %v, want %v; %d rows", c.name, told, c.told, len(s.Layers))
		}
	}
}
