package operators

// The arguments of all attentions begin with q, k and v; those of a backward pass have
// the gradient of the result before them.
const (
	attentionFLOPs  = "2BH·P·(Dqk + Dv)"
	attentionBytes  = "|q| + |k| + |v| + |bias| + ∏q/Dqk·Dv·w"
	backwardFLOPs   = "2BH·P·(3Dqk + 2Dv); for MFU 2BH·P·(2Dqk + 2Dv)"
	backwardBytes   = "|q| + |k| + |v| + |bias| + |dO| + |O| + (∏q + ∏k + ∏v)·w"
	variableLengths = "; lengths in tensors: exact for one sequence, else P between T²/n and T·longest, causal (that + T)/2, if queries and keys have as many rows and the same longest sequence"
)

// attentions has the attentions that PyTorch records.
var attentions = []Model{
	{
		space: "aten::", words: "_scaled_dot_product_flash_attention", Library: "PyTorch", Unit: Matrix, Values: true,
		Args: "q[B,H,N,D], k, v, causal 4", FLOPs: attentionFLOPs, Bytes: attentionBytes,
		formula: attention{causal: 4}.forward,
	},
	{
		space: "aten::", words: "_scaled_dot_product_flash_attention_backward", Library: "PyTorch", Unit: Matrix, Values: true,
		Args: "dO, q, k, v, O, …, causal 11", FLOPs: backwardFLOPs, Bytes: backwardBytes,
		formula: attention{q: 1, causal: 11, out: 4}.backward,
	},
	{
		space: "aten::", words: "_scaled_dot_product_efficient_attention", Library: "PyTorch", Unit: Matrix, Values: true,
		Args: "q[B,H,N,D], k, v, bias 3, causal 6", FLOPs: attentionFLOPs, Bytes: attentionBytes,
		formula: attention{causal: 6, bias: 3}.forward,
	},
	{
		space: "aten::", words: "_scaled_dot_product_efficient_attention_backward", Library: "PyTorch", Unit: Matrix, Values: true,
		Args: "dO, q, k, v, bias 4, O 5, …, causal 11", FLOPs: backwardFLOPs, Bytes: backwardBytes,
		formula: attention{q: 1, causal: 11, bias: 4, out: 5}.backward,
	},
	{
		space: "aten::", words: "_scaled_dot_product_cudnn_attention", Library: "PyTorch", Unit: Matrix, Values: true,
		Args: "q[B,H,N,D], k, v, bias 3, causal 6", FLOPs: attentionFLOPs, Bytes: attentionBytes,
		formula: attention{causal: 6, bias: 3}.forward,
	},
	{
		space: "aten::", words: "_scaled_dot_product_cudnn_attention_backward", Library: "PyTorch", Unit: Matrix, Values: true,
		Args: "dO, q, k, v, O, …, bias 8, …, causal 14", FLOPs: backwardFLOPs, Bytes: backwardBytes,
		formula: attention{q: 1, causal: 14, bias: 8, out: 4}.backward,
	},
	{
		space: "aten::", words: "_scaled_dot_product_fused_attention_overrideable", Library: "PyTorch", Unit: Matrix, Values: true, own: true,
		Args: "q[B,H,N,D], k, v, bias 3, causal 5", FLOPs: attentionFLOPs, Bytes: attentionBytes,
		formula: attention{causal: 5, bias: 3}.forward,
	},
	{
		space: "aten::", words: "_scaled_dot_product_fused_attention_overrideable_backward", Library: "PyTorch", Unit: Matrix, Values: true, own: true,
		Args: "dO, q, k, v, bias 4, mask, O 6, …, causal 13", FLOPs: backwardFLOPs, Bytes: backwardBytes,
		formula: attention{q: 1, causal: 13, bias: 4, out: 6}.backward,
	},
	{
		space: "aten::", words: "_flash_attention_forward", Library: "PyTorch", Unit: Matrix, Values: true, own: true,
		Args: "q[B,N,H,D], k, v, cu_seq 3, …, causal 8, …, window 11 and 12", FLOPs: attentionFLOPs + variableLengths, Bytes: attentionBytes,
		formula: attention{causal: 8, lengths: 3, longest: 5, window: 11, tokens: true, bottomRight: true}.forward,
	},
	{
		space: "aten::", words: "_flash_attention_backward", Library: "PyTorch", Unit: Matrix, Values: true, own: true,
		Args: "dO, q, k, v, O, lse, cu_seq 6, …, causal 11, …, window 15 and 16", FLOPs: backwardFLOPs + variableLengths, Bytes: backwardBytes,
		formula: attention{q: 1, causal: 11, lengths: 6, longest: 8, window: 15, out: 4, tokens: true, bottomRight: true}.backward,
	},
	{
		space: "aten::", words: "_efficient_attention_forward", Library: "PyTorch", Unit: Matrix, Values: true, own: true,
		Args: "q[B,N,H,D], k, v, bias 3, cu_seqlens 4, …, mask type 9", FLOPs: attentionFLOPs + variableLengths, Bytes: attentionBytes,
		formula: attention{maskType: 9, bias: 3, lengths: 4, longest: 6, tokens: true}.forward,
	},
	{
		space: "aten::", words: "_efficient_attention_backward", Library: "PyTorch", Unit: Matrix, Values: true, own: true,
		Args: "dO, q, k, v, bias 4, O 5, cu_seqlens 6, …, mask type 14", FLOPs: backwardFLOPs + variableLengths, Bytes: backwardBytes,
		formula: attention{q: 1, maskType: 14, bias: 4, out: 5, lengths: 6, longest: 8, tokens: true}.backward,
	},
}

// otherAttentions has the attentions of other libraries. Their causal mask ends at the
// last query and the last key, as in FlashAttention since 2.1.
var otherAttentions = []Model{
	{
		names: []string{"flash_attn::_flash_attn_forward", "aiter::_flash_attn_forward", "aiter::mha_fwd"}, Library: "FlashAttention 2, AITER",
		Unit: Matrix, Values: true, own: true,
		Args: "q[B,N,H,D], k, v, …, causal 5, window 6 and 7", FLOPs: attentionFLOPs, Bytes: attentionBytes,
		formula: attention{causal: 5, window: 6, tokens: true, bottomRight: true}.forward,
	},
	{
		names: []string{"flash_attn::_flash_attn_backward", "aiter::_flash_attn_backward"}, Library: "FlashAttention 2, AITER",
		Unit: Matrix, Values: true, own: true,
		Args: "dO, q, k, v, O, …, causal 11, window 12 and 13", FLOPs: backwardFLOPs, Bytes: backwardBytes,
		formula: attention{q: 1, causal: 11, window: 12, out: 4, tokens: true, bottomRight: true}.backward,
	},
	{
		names: []string{"aiter::mha_bwd"}, Library: "AITER", Unit: Matrix, Values: true, own: true,
		Args: "dO, q, k, v, O, …, causal 8, window 9 and 10", FLOPs: backwardFLOPs, Bytes: backwardBytes,
		formula: attention{q: 1, causal: 8, window: 9, out: 4, tokens: true, bottomRight: true}.backward,
	},
	{
		names: []string{"flash_attn::_flash_attn_varlen_forward"}, Library: "FlashAttention 2", Unit: Matrix, Values: true, own: true,
		Args: "q[T,H,D], k, v, cu_seqlens 3, …, causal 9, window 10 and 11", FLOPs: attentionFLOPs + variableLengths, Bytes: attentionBytes,
		formula: attention{causal: 9, window: 10, lengths: 3, longest: 5, tokens: true, bottomRight: true}.forward,
	},
	{
		names: []string{"flash_attn::_flash_attn_varlen_backward"}, Library: "FlashAttention 2", Unit: Matrix, Values: true, own: true,
		Args: "dO, q, k, v, O, …, cu_seqlens 9, …, causal 15, window 16 and 17", FLOPs: backwardFLOPs + variableLengths, Bytes: backwardBytes,
		formula: attention{q: 1, causal: 15, window: 16, lengths: 9, longest: 11, out: 4, tokens: true, bottomRight: true}.backward,
	},
	{
		names: []string{"aiter::mha_varlen_fwd"}, Library: "AITER", Unit: Matrix, Values: true, own: true,
		Args: "q[T,H,D], k, v, cu_seqlens 3, …", FLOPs: "unknown", Bytes: attentionBytes,
		formula: attention{lengths: 3, tokens: true, onGPU: true}.forward,
	},
	{
		names: []string{"flash_attn_3::fwd"}, Library: "FlashAttention 3", Unit: Matrix, Values: true, own: true,
		Args:  "q[B,N,H,D], k, v, new k 3, …, cu_seqlens 7, …, used lengths 10 and 11, …, page table 14, …, causal 24, window 25 and 26",
		FLOPs: attentionFLOPs + variableLengths + "; pages and used lengths: unknown", Bytes: attentionBytes,
		formula: attention{causal: 24, window: 25, lengths: 7, longest: 12, stored: []int{3, 10, 11, 14}, tokens: true, bottomRight: true}.forward,
	},
	{
		names: []string{"FlashAttnFunc", "FlashAttnVarlenFunc"}, Library: "FlashAttention 2, AITER", Unit: Matrix, own: true,
		Args: "q, k, v", FLOPs: "unknown: causal is not recorded", Bytes: attentionBytes,
		formula: attention{lengths: 3, tokens: true, noFlag: true}.forward,
	},
	{
		names: []string{
			"vllm::unified_attention", "vllm::unified_attention_with_output", "vllm::unified_mla_attention", "vllm::unified_mla_attention_with_output",
			"_C::paged_attention_v1", "_C::paged_attention_v2", "_rocm_C::paged_attention", "_vllm_fa2_C::varlen_fwd", "_vllm_fa2_C::fwd_kvcache",
			"_vllm_fa3_C::fwd", "sgl_kernel::fwd", "sgl_kernel::cutlass_mla_decode", "sglang::unified_attention_with_output", "aiter::mla_decode_fwd",
			"aiter::pa_fwd_asm", "aiter::paged_attention_v1", "aiter::mha_batch_prefill",
		},
		Library: "vLLM, SGLang, AITER", Unit: Matrix, own: true,
		Args: "lengths of keys are in tensors", FLOPs: "unknown", Bytes: "unknown",
		formula: attends, cache: attended{}.read,
	},
	{
		names:   []string{"sglang_profiler::attention_paged_attention_ragged*"},
		Library: "SGLang", Unit: Matrix, own: true,
		Args: "lengths of keys are in tensors; k cache 3, v cache 4", FLOPs: "unknown", Bytes: "unknown",
		formula: attends, cache: attended{k: 3, v: 4}.read,
	},
}

// attends is the work of an attention over cached keys, whose number is on the GPU.
func attends(o *operands) Work {
	o.fail(LengthsOnGPU)
	w := unknownWork(UnknownUnit, LengthsOnGPU)
	w.Weights = Count{}
	return w
}

// An attended says which arguments of an attention are the caches of keys and values, in
// pages of [tokens, heads, width]. Both are 0 if it does not have them.
type attended struct{ k, v int }

// read returns the bytes of a token, which are not known without the caches: those of the new
// keys may have another type.
func (a attended) read(o *operands) (CacheUse, int64) {
	if a.k == 0 {
		o.fail(NoShapes)
		return ReadsCache, 0
	}
	perToken := int64(0)
	for _, i := range []int{a.k, a.v} {
		o.rank(i, 4)
		perToken = o.add(perToken, o.mul(o.dim(i, 2), o.dim(i, 3), o.width(i)))
	}
	return ReadsCache, perToken
}

// An attention says where an operator has its arguments. Position 0 means that it has
// none, since q or a gradient is first.
type attention struct {
	q           int   // k and v follow
	causal      int   // whether there is a causal mask
	maskType    int   // the same as a number: 0 none, 1 from the top left, 2 to the bottom right
	window      int   // keys to the left of the diagonal, followed by those to the right; -1: all
	bias        int   // added to the scores
	out         int   // the result, in a backward pass
	lengths     int   // where sequences begin, for the queries; if it has dimensions there are no batches
	longest     int   // the longest sequence of queries as a value, followed by that of keys
	stored      []int // pages or lengths on the GPU: if one of these has dimensions, it is unknown which keys are read
	tokens      bool  // [B,N,H,D] and not [B,H,N,D]
	bottomRight bool  // where the causal mask ends
	noFlag      bool  // whether there is a mask is not recorded
	onGPU       bool  // lengths are always on the GPU
}

// A shape is what the work of an attention depends on.
type shape struct {
	rows      int64 // sequences times heads of queries
	nq, nk    int64
	dqk, dv   int64
	outs      int64 // elements of the result
	sequences int64 // 0: their lengths are unknown
}

func (t attention) shape(o *operands) shape {
	q, k, v := t.q, t.q+1, t.q+2
	rank, heads, length := 4, 1, 2
	if t.tokens {
		heads, length = 2, 1
	}
	packed := t.lengths > 0 && o.has(t.lengths)
	if packed && len(o.arg(q).Dims) == 3 {
		rank, heads, length = 3, 1, 0
	}
	o.rank(q, rank)
	o.rank(v, len(o.arg(k).Dims))
	s := shape{
		rows: o.dim(q, heads), nq: o.dim(q, length), nk: o.dim(k, length),
		dqk: o.dim(q, -1), dv: o.dim(v, -1), sequences: 1,
	}
	o.equal(s.dqk, o.dim(k, -1))
	for _, i := range t.stored {
		if o.has(i) {
			s.sequences = 0
		}
	}
	if s.sequences == 1 {
		o.rank(k, rank)
	}
	if rank == 4 {
		s.rows = o.mul(s.rows, o.dim(q, 0))
	}
	if packed && rank == 4 && o.dim(q, 0) != 1 || packed && o.dim(t.lengths, 0) != 2 || t.onGPU {
		s.sequences = 0
	}
	s.outs = o.mul(s.rows, s.nq, s.dv)
	return s
}

// pairs returns the number of query-key pairs of one head, or why it is not known.
func (t attention) pairs(o *operands, s shape) (int64, Reason) {
	switch {
	case s.sequences == 0:
		return 0, LengthsOnGPU
	case t.noFlag:
		return 0, NoConcrete
	}
	left, right, bottomRight := int64(-1), int64(-1), t.bottomRight
	if t.window > 0 {
		left, right = t.side(o, t.window), t.side(o, t.window+1)
	}
	switch {
	case t.maskType > 0:
		kind := o.whole(t.maskType)
		bottomRight = kind == 2
		if kind > 0 {
			right = 0
		}
	case o.flag(t.causal):
		right = 0
	}
	offset := int64(0)
	if bottomRight {
		offset = s.nk - s.nq
	}
	if o.why != Known {
		return 0, o.why
	}
	all := o.mul(s.nq, s.nk)
	if right >= 0 {
		all = o.within(s.nq, s.nk, offset+right)
	}
	if left >= 0 {
		all -= o.within(s.nq, s.nk, offset-left-1)
	}
	return max(all, 0), Known
}

// limits returns the least and the most query-key pairs of one head of several sequences
// whose lengths are not recorded. Sequences of one length have the fewest, those of the
// longest the most. Keys have the lengths of queries: as many rows, and the same longest
// sequence. It returns zeros if something else limits the pairs, or nothing.
func (t attention) limits(o *operands, s shape) (least, most int64) {
	n := o.arg(t.lengths).Dims
	if t.longest == 0 || t.noFlag || t.onGPU || len(n) != 1 || n[0] < 2 || s.nq != s.nk || len(o.arg(t.q).Dims) == 4 && o.dim(t.q, 0) != 1 {
		return 0, 0
	}
	for _, i := range t.stored {
		if o.has(i) {
			return 0, 0
		}
	}
	if t.window > 0 && (t.side(o, t.window) >= 0 || t.side(o, t.window+1) > 0) {
		return 0, 0
	}
	longest := o.whole(t.longest)
	if longest != o.whole(t.longest+1) || longest < 1 || longest > s.nq || longest < (s.nq+n[0]-2)/(n[0]-1) {
		return 0, 0
	}
	causal := t.maskType > 0 && o.whole(t.maskType) > 0 || t.maskType == 0 && o.flag(t.causal)
	square := o.mul(s.nq, s.nq)
	least, most = square/(n[0]-1), o.mul(s.nq, longest)
	if causal {
		least, most = o.add(least, s.nq)/2, o.add(most, s.nq)/2
	}
	return least, most
}

// side returns one side of a window, -1 if it is not limited. Newer captures record it,
// older ones have no such argument.
func (t attention) side(o *operands, i int) int64 {
	if i >= len(o.Args) || o.value(i) == "" {
		return -1
	}
	n := o.whole(i)
	if n > largest {
		return o.fail(BadArguments)
	}
	return max(n, -1)
}

// within returns the number of pairs whose key is at most shift behind the query: the sum
// of min(nk, i + shift + 1) over the queries i for which it is positive.
func (o *operands) within(nq, nk, shift int64) int64 {
	if max(nq, nk) > largest {
		return o.fail(BadArguments)
	}
	first := max(0, -shift)        // first query with any key
	full := max(first, nk-shift-1) // first query with all keys
	first, full = min(first, nq), min(full, nq)
	return o.add(o.rising(first+shift+1, full-first), o.mul(nk, nq-full))
}

// rising returns the sum of n numbers that begin with first and rise by 1.
func (o *operands) rising(first, n int64) int64 {
	if n <= 0 {
		return 0
	}
	twice := o.add(first, first+n-1)
	if n%2 == 0 {
		return o.mul(twice, n/2)
	}
	return o.mul(twice/2, n)
}

func (t attention) forward(o *operands) Work {
	s := t.shape(o)
	p, why := t.pairs(o, s)
	flops := func(pairs int64) int64 { return o.mul(2, s.rows, pairs, o.add(s.dqk, s.dv)) }
	w := work(o.typeOf(t.q), o.count(flops(p)), Count{})
	w.Weights = Count{}
	width := o.width(t.q)
	if width == 1 { // an 8-bit attention returns a type of 16 bits
		width = 2
	}
	w.Bytes = o.count(o.add(o.size(t.q, t.q+1, t.q+2), t.biasSize(o), o.mul(s.outs, width)))
	return t.unsure(o, w, s, why, flops)
}

func (t attention) backward(o *operands) Work {
	s := t.shape(o)
	p, why := t.pairs(o, s)
	q, k, v := t.q, t.q+1, t.q+2
	flops := func(pairs int64) int64 { return o.mul(2, s.rows, pairs, o.add(o.mul(3, s.dqk), o.mul(2, s.dv))) }
	w := work(o.typeOf(q), o.count(flops(p)), Count{})
	w.Weights = Count{}
	w.Model = o.count(o.mul(2, s.rows, p, o.add(o.mul(2, s.dqk), o.mul(2, s.dv))))
	written := o.mul(o.add(o.n(q), o.n(k), o.n(v)), o.width(q))
	w.Bytes = o.count(o.add(o.size(q, k, v, 0, t.out), t.biasSize(o), written))
	return t.unsure(o, w, s, why, flops)
}

func (t attention) biasSize(o *operands) int64 {
	if t.bias == 0 {
		return 0
	}
	return o.size(t.bias)
}

// unsure replaces the FLOPs if the pairs are not known, and the bytes if it is not known
// which keys are read.
func (t attention) unsure(o *operands, w Work, s shape, why Reason, flops func(pairs int64) int64) Work {
	if why != Known {
		w.FLOPs, w.Model = unknown(why), unknown(why)
	}
	if why == LengthsOnGPU && o.why == Known {
		probe := operands{Call: o.Call} // what it cannot read is no reason against the bytes
		if least, most := t.limits(&probe, s); most > 0 && probe.why == Known && !probe.over {
			w.FLOPs.Min, w.FLOPs.Max = flops(least), flops(most)
		}
	}
	if s.sequences == 0 && len(t.stored) > 0 {
		w.Bytes = unknown(LengthsOnGPU)
	}
	return w
}
