package operators

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// pairsOf counts the pairs of an attention one by one.
func pairsOf(nq, nk int64, causal, bottomRight bool, left, right int64) int64 {
	n, offset := int64(0), int64(0)
	if bottomRight {
		offset = nk - nq
	}
	if causal {
		right = 0
	}
	for i := range nq {
		for j := range nk {
			if (right < 0 || j <= i+offset+right) && (left < 0 || j >= i+offset-left) {
				n++
			}
		}
	}
	return n
}

// TestPairs compares the pairs of attentions with masks and windows with a count.
func TestPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		nq, nk := 1+r.Int64N(20), 1+r.Int64N(20)
		causal, left, right := r.IntN(2) == 0, r.Int64N(12)-1, r.Int64N(12)-1
		b, h, hk, d := 1+r.Int64N(3), 2*(1+r.Int64N(3)), int64(2), 1+r.Int64N(9)
		name := fmt.Sprintf("%d queries, %d keys, causal %t, window %d %d", nq, nk, causal, left, right)

		w := do(t, "flash_attn::_flash_attn_forward", bf16(b, nq, h, d), bf16(b, nk, hk, d), bf16(b, nk, hk, d), "0.", "1.", causal, int(left), int(right), "0.", "", false)
		want := 2 * b * h * pairsOf(nq, nk, causal, true, left, right) * 2 * d
		if w.FLOPs != (Count{N: want}) {
			t.Errorf("%s: %v FLOPs, want %d", name, w.FLOPs, want)
		}
		// Heads of keys do not change FLOPs, only bytes.
		if bytes := 2 * (2*b*nq*h*d + 2*b*nk*hk*d); w.Bytes.N != bytes {
			t.Errorf("%s: %v bytes, want %d", name, w.Bytes, bytes)
		}
		sdpa := do(t, "aten::_scaled_dot_product_flash_attention", bf16(b, h, nq, d), bf16(b, h, nk, d), bf16(b, h, nk, d), "0.", causal, false, "")
		if want := 2 * b * h * pairsOf(nq, nk, causal, false, -1, -1) * 2 * d; sdpa.FLOPs.N != want {
			t.Errorf("%s: %v FLOPs of PyTorch, want %d", name, sdpa.FLOPs, want)
		}
		full := do(t, "aten::_scaled_dot_product_flash_attention", bf16(b, h, nq, d), bf16(b, h, nk, d), bf16(b, h, nk, d), "0.", false, false, "")
		if full.FLOPs.N != 4*b*h*nq*nk*d || sdpa.FLOPs.N > full.FLOPs.N || sdpa.Bytes != full.Bytes {
			t.Errorf("%s: causal %+v, full %+v", name, sdpa, full)
		}
	}
}

// TestCausalSquare checks the closed form of a square, up to large sizes.
func TestCausalSquare(t *testing.T) {
	for _, n := range []int64{1, 2, 559, 4096, 1 << 20} {
		q := bf16(1, 1, n, 1)
		w := do(t, "aten::_scaled_dot_product_efficient_attention", q, q, q, "", true, "0.", true, "")
		if w.FLOPs != (Count{N: 4 * (n * (n + 1) / 2)}) {
			t.Errorf("%d: %v", n, w.FLOPs)
		}
	}
}

// TestAttentionIsGemm checks that an attention without a mask has the FLOPs of its two
// products. Its backward pass has those of five, and MFU counts four.
func TestAttentionIsGemm(t *testing.T) {
	b, h, nq, nk, d, dv := int64(2), int64(3), int64(5), int64(7), int64(11), int64(13)
	q, k, v, out := bf16(b, h, nq, d), bf16(b, h, nk, d), bf16(b, h, nk, dv), bf16(b, h, nq, dv)
	lse := f32(b, h, nq)
	scores := do(t, "aten::bmm", bf16(b*h, nq, d), bf16(b*h, d, nk)).FLOPs.N
	values := do(t, "aten::bmm", bf16(b*h, nq, nk), bf16(b*h, nk, dv)).FLOPs.N
	bias := bf16(b, h, nq, nk)
	for _, x := range []struct {
		op         string
		args, back []any
		bias       int64
	}{
		{
			"aten::_scaled_dot_product_flash_attention", []any{q, k, v, "0.", false, false, ""},
			[]any{out, q, k, v, out, lse, "", "", 5, 7, "0.", false, "", "", ""}, 0,
		},
		{
			"aten::_scaled_dot_product_efficient_attention", []any{q, k, v, bias, true, "0.", false, ""},
			[]any{out, q, k, v, bias, out, lse, "", "", "0.", "[True, True, True, False]", false, ""}, 2 * b * h * nq * nk,
		},
		{
			"aten::_scaled_dot_product_cudnn_attention", []any{q, k, v, bias, true, "0.", false, false, ""},
			[]any{out, q, k, v, out, lse, "", "", bias, "", "", 5, 7, "0.", false, ""}, 2 * b * h * nq * nk,
		},
		{
			"aten::_scaled_dot_product_fused_attention_overrideable", []any{q, k, v, bias, "0.", false, false, ""},
			[]any{out, q, k, v, bias, "[True, True, True, False]", out, lse, "", "", 5, 7, "0.", false, "", "", ""}, 2 * b * h * nq * nk,
		},
	} {
		w := do(t, x.op, x.args...)
		inputs := 2 * b * h * (nq*d + nk*d + nk*dv)
		if bytes := inputs + x.bias + 2*b*h*nq*dv; w.FLOPs.N != scores+values || w.Model != w.FLOPs || w.Bytes.N != bytes {
			t.Errorf("%s: %+v, want %d and %d", x.op, w, scores+values, bytes)
		}
		g := do(t, x.op+"_backward", x.back...)
		bytes := 2*inputs + x.bias + 2*2*b*h*nq*dv
		if g.FLOPs.N != 3*scores+2*values || g.Model.N != 2*(scores+values) || g.Bytes.N != bytes {
			t.Errorf("%s backward: %+v, want %d, %d and %d", x.op, g, 3*scores+2*values, 2*(scores+values), bytes)
		}
	}
}

// TestVariableLengths checks that one sequence has the work of a batch of one, and that
// of several only the bytes are known.
func TestVariableLengths(t *testing.T) {
	q, k := bf16(6, 4, 8), bf16(9, 2, 8)
	args := func(starts int64) []any {
		return []any{q, k, k, of("int", starts), of("int", starts), 6, 9, "0.", "1.", true, -1, -1, "0.", "", false}
	}
	one := do(t, "flash_attn::_flash_attn_varlen_forward", args(2)...)
	batch := do(t, "flash_attn::_flash_attn_forward", bf16(1, 6, 4, 8), bf16(1, 9, 2, 8), bf16(1, 9, 2, 8), "0.", "1.", true, -1, -1, "0.", "", false)
	if one != batch {
		t.Errorf("one sequence %+v, a batch of one %+v", one, batch)
	}
	several := do(t, "flash_attn::_flash_attn_varlen_forward", args(4)...)
	if several.FLOPs.Why != LengthsOnGPU || several.Bytes != batch.Bytes {
		t.Errorf("several sequences: %+v", several)
	}
}

// TestPagedAttention checks that nothing is claimed where keys are in pages.
func TestPagedAttention(t *testing.T) {
	c := callOf("vllm::unified_attention_with_output", bf16(32, 64, 64), bf16(32, 8, 64), bf16(32, 8, 64), bf16(32, 64, 64), "", "", "")
	if w, ok := Lookup(c.Op).Work(&c); ok || w.FLOPs.Why != LengthsOnGPU || w.Bytes.Why != LengthsOnGPU || w.Unit != Matrix {
		t.Errorf("%+v, %t", w, ok)
	}
	args := []any{bf16(1, 6, 4, 8), bf16(20, 16, 2, 8), bf16(20, 16, 2, 8)}
	for len(args) < 24 {
		args = append(args, "")
	}
	args[11], args[14] = of("int", 1), of("int", 1, 8)
	args = append(args, true, -1, -1)
	if w := do(t, "flash_attn_3::fwd", args...); w.FLOPs.Why != LengthsOnGPU || w.Bytes.Why != LengthsOnGPU {
		t.Errorf("FlashAttention 3 with pages: %+v", w)
	}
}
