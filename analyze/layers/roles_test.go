package layers

import (
	"testing"

	"assay/analyze/classify"
	"assay/analyze/gpu"
)

// TestBackwardNames: names of kernels of the backward pass, and others like them.
func TestBackwardNames(t *testing.T) {
	for name, want := range map[string]bool{
		"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x64": true,
		"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64": false,
		"flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel":                                 true,
		"flash_fwd_splitkv_combine_kernel":                                             false,
		"sm90_xmma_wgrad_implicit_gemm_indexed":                                        true,
	} {
		if got := natureOf(name, classify.Default().Kernel(name)).back; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestPassOfOperators: the pass of the operator decides where the name of a kernel says another one, or does not say it.
// Attention that runs in the forward pass too is computed again in the backward pass.
func TestPassOfOperators(t *testing.T) {
	type one struct {
		token int32
		role  role
		named bool // after the backward pass
		pass  string
		back  bool // wanted
	}
	for _, list := range [][]one{
		{{1, norm, true, "forward", false}, {2, attends, false, "forward", false}, {3, attends, false, "backward", true}, {4, norm, true, "backward", true}},
		{{2, attends, false, "forward", false}, {2, attends, false, "backward", false}, {3, attends, false, "backward", true}},
		{{3, attends, false, "backward", false}, {4, norm, true, "backward", true}}, // without a forward pass nothing tells
		{{1, norm, true, "other", true}, {2, attends, false, "other", false}},
	} {
		d, kernels, pass := &gpu.Device{}, []kernel(nil), []string(nil)
		for i, k := range list {
			d.Work = append(d.Work, gpu.Work{Number: int32(i)})
			kernels = append(kernels, kernel{token: k.token, work: int32(i), nature: nature{role: k.role, back: k.named}})
			pass = append(pass, k.pass)
		}
		m := Measured{Pass: func(n int) string { return pass[n] }}
		m.tellPasses(d, kernels)
		for i, k := range list {
			if kernels[i].back != k.back {
				t.Errorf("%v: kernel %d: %v, want %v", list, i, kernels[i].back, k.back)
			}
		}
	}
}

// TestJoined: layers by modules take the place of those by kernels with the same core, though their first kernels differ; a module
// with several cores ran several times.
func TestJoined(t *testing.T) {
	at := func(from, core, to int) layer { return layer{from: from, to: to, core: corePlace(core)} }
	for _, c := range []struct {
		name                   string
		modules, kernels, want []layer
	}{
		{"a kernel earlier", []layer{at(10, 15, 20), at(20, 25, 30)}, []layer{at(9, 15, 19), at(19, 25, 29)}, []layer{at(10, 15, 20), at(20, 25, 30)}},
		{"a kernel later", []layer{at(10, 15, 20), at(20, 25, 30)}, []layer{at(11, 15, 21), at(21, 25, 31)}, []layer{at(10, 15, 20), at(20, 25, 30)}},
		{"two in one module", []layer{at(10, 15, 30)}, []layer{at(10, 15, 20), at(20, 25, 30)}, []layer{at(10, 15, 20), at(20, 25, 30)}},
		{"others before and behind", []layer{at(10, 15, 20)}, []layer{at(0, 5, 10), at(10, 15, 19), at(19, 25, 30)}, []layer{at(0, 5, 10), at(10, 15, 20), at(20, 25, 30)}},
		{"no modules", nil, []layer{at(0, 5, 10)}, []layer{at(0, 5, 10)}},
	} {
		got := joined(c.modules, c.kernels)
		same := len(got) == len(c.want)
		for i := range got {
			same = same && got[i].from == c.want[i].from && got[i].to == c.want[i].to
		}
		if !same {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func corePlace(at int) core { return core{from: at, to: at + 1} }
