package operators

import (
	"math/rand/v2"
	"testing"
)

// inside checks that an exact number is between the ends of another count, which has them.
func inside(t *testing.T, what string, limits, exact Count) {
	t.Helper()
	least, most, ok := limits.Ends()
	if !ok || exact.Why != Known || least > exact.N || exact.N > most || least < 0 {
		t.Errorf("%s: %+v is not within %+v", what, exact, limits)
	}
}

// TestExpertLimits: the bytes of a mixture of experts are those of one token for each set of
// experts that may be hit, and the ends are reached: all tokens choose the same experts, or
// each has its own.
func TestExpertLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 500 {
		tokens, experts, hidden, inner := 1+r.Int64N(9), 1+r.Int64N(16), 1+r.Int64N(8), 1+r.Int64N(8)
		chosen := 1 + r.Int64N(experts)
		w := do(t, "vllm::inplace_fused_experts", bf16(tokens, hidden), bf16(experts, 2*inner, hidden), bf16(experts, hidden, inner), f32(tokens, chosen), of("int", tokens, chosen))
		hit := map[int64]bool{}
		for range tokens {
			for _, e := range r.Perm(int(experts))[:chosen] {
				hit[int64(e)] = true
			}
		}
		bytes := func(experts int64) int64 { return 2 * (2*tokens*hidden + experts*3*hidden*inner) }
		inside(t, "experts", w.Bytes, Count{N: bytes(int64(len(hit)))})
		least, most, _ := w.Bytes.Ends()
		if least != bytes(chosen) || most != bytes(min(experts, tokens*chosen)) || (w.Bytes.Why == Known) != (tokens == 1 || chosen == experts) {
			t.Errorf("%d tokens, %d of %d experts: %+v", tokens, chosen, experts, w.Bytes)
		}
	}
}

// TestGroupLimits: a grouped product moves at least what one product with one of its matrices
// does, and at most what a product for each group does.
func TestGroupLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 200 {
		groups, k, n := 1+r.Int64N(6), 1+r.Int64N(9), 1+r.Int64N(9)
		rows, exact := int64(0), int64(0)
		for g := range groups {
			m := r.Int64N(5)
			if g == 0 {
				m++
			}
			if rows += m; m > 0 {
				exact += do(t, "aten::mm", bf16(m, k), bf16(k, n)).Bytes.N
			}
		}
		w := do(t, "aten::_grouped_mm", bf16(rows, k), bf16(groups, k, n), of("int", groups))
		inside(t, "groups", w.Bytes, Count{N: exact})
		if w.FLOPs != do(t, "aten::mm", bf16(rows, k), bf16(k, n)).FLOPs {
			t.Errorf("%d groups: %+v", groups, w)
		}
	}
}

// TestScatterLimits: rows that are added at different places are read and written, those at
// one place at least once read.
func TestScatterLimits(t *testing.T) {
	w := do(t, "aten::index_add_", f32(50, 4), 0, of("long", 6), f32(6, 4), 1)
	if least, most, ok := w.Bytes.Ends(); !ok || w.Bytes.Why != Routing || least != 48+96 || most != 48+96+2*96 {
		t.Errorf("%+v", w.Bytes)
	}
	if _, _, ok := do(t, "aten::index_add", f32(50, 4), 0, of("long", 6), f32(6, 4), 1).Bytes.Ends(); ok {
		t.Error("a copy of the table has limits")
	}
}

// TestLengthLimits: the FLOPs of several sequences are the sum of those of each alone, which is
// within the limits, forward and backward. Sequences of one length have the least.
func TestLengthLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	const h, d = 2, 8
	forward := func(causal bool, starts, longest int, rows int64, window int) Count {
		q := bf16(rows, h, d)
		return do(t, "flash_attn::_flash_attn_varlen_forward", q, q, q, of("int", int64(starts)), of("int", int64(starts)), longest, longest, "0.", "1.", causal, window, -1, "0.", "", false).FLOPs
	}
	backward := func(causal bool, starts, longest int, rows int64) Count {
		q := bf16(rows, h, d)
		return do(t, "flash_attn::_flash_attn_varlen_backward", q, q, q, q, q, f32(rows), q, q, q, of("int", int64(starts)), of("int", int64(starts)), longest, longest, "0.", "1.", causal, -1, -1, "0.", "", false).FLOPs
	}
	for range 500 {
		n, causal := 1+r.IntN(6), r.IntN(2) == 0
		total, longest := int64(0), int64(0)
		var f, b int64
		for range n {
			l := 1 + r.Int64N(20)
			total, longest = total+l, max(longest, l)
			f += forward(causal, 2, int(l), l, -1).N
			b += backward(causal, 2, int(l), l).N
		}
		inside(t, "forward", forward(causal, n+1, int(longest), total, -1), Count{N: f})
		inside(t, "backward", backward(causal, n+1, int(longest), total), Count{N: b})
		equal := forward(causal, n+1, int(longest), int64(n)*longest, -1)
		least, most, ok := equal.Ends()
		if want := int64(n) * forward(causal, 2, int(longest), longest, -1).N; !ok || least != want || most != want {
			t.Errorf("%d sequences of %d: %+v, want %d", n, longest, equal, want)
		}
	}
	if _, _, ok := forward(true, 4, 9, 20, 3).Ends(); ok {
		t.Error("a window has limits")
	}
	if _, _, ok := forward(true, 3, 9, 20, -1).Ends(); ok {
		t.Error("two sequences of at most 9 are no 20 rows")
	}
}
