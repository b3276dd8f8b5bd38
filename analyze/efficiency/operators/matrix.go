package operators

// gemms has the products of matrices.
var gemms = []Model{
	{
		space: "aten::", words: "mm", Library: "PyTorch", Unit: Matrix,
		Args: "a[M,K], b[K,N], out or out_dtype", FLOPs: "2MNK", Bytes: "|a| + |b| + MN·w",
		formula: gemm{a: 0, b: 1, bias: none, out: 2}.work,
	},
	{
		space: "aten::", words: "addmm", Library: "PyTorch", Unit: Matrix, inPlace: true,
		Args: "bias, a[M,K], b[K,N], beta 3", FLOPs: "2MNK + MN", Bytes: "|bias| + |a| + |b| + MN·w; no bias if beta is 0",
		formula: gemm{a: 1, b: 2, bias: 0, out: none, beta: 3}.work,
	},
	{
		space: "aten::", words: "_addmm_activation", Library: "PyTorch", Unit: Matrix, own: true,
		Args: "bias, a[M,K], b[K,N], beta 3", FLOPs: "2MNK + MN", Bytes: "|bias| + |a| + |b| + MN·w; no bias if beta is 0",
		formula: gemm{a: 1, b: 2, bias: 0, out: none, beta: 3}.work,
	},
	{
		space: "aten::", words: "bmm", Library: "PyTorch", Unit: Matrix,
		Args: "a[B,M,K], b[B,K,N]", FLOPs: "2BMNK", Bytes: "|a| + |b| + BMN·w",
		formula: gemm{a: 0, b: 1, bias: none, out: none, batched: true}.work,
	},
	{
		space: "aten::", words: "baddbmm", Library: "PyTorch", Unit: Matrix, inPlace: true,
		Args: "bias, a[B,M,K], b[B,K,N], beta 3", FLOPs: "B(2MNK + MN)", Bytes: "|bias| + |a| + |b| + BMN·w; no bias if beta is 0",
		formula: gemm{a: 1, b: 2, bias: 0, out: none, beta: 3, batched: true}.work,
	},
	{
		space: "aten::", words: "linear", Library: "PyTorch", Unit: Matrix, own: true,
		Args: "x[…,K], weight[N,K], bias", FLOPs: "2∏x·N + ∏out with a bias", Bytes: "|x| + |weight| + |bias| + ∏out·w",
		formula: linear,
	},
	{
		space: "aten::", words: "mv", Library: "PyTorch", Unit: Matrix, own: true,
		Args: "a[M,K], x[K]", FLOPs: "2MK", Bytes: "|a| + |x| + M·w", formula: matrixVector{a: 0, bias: none}.work,
	},
	{
		space: "aten::", words: "addmv addmv_", Library: "PyTorch", Unit: Matrix, own: true,
		Args: "bias, a[M,K], x[K], beta 3", FLOPs: "2MK + M", Bytes: "|bias| + |a| + |x| + M·w; no bias if beta is 0",
		formula: matrixVector{a: 1, bias: 0}.work,
	},
	{
		space: "aten::", words: "_int_mm", Library: "PyTorch", Unit: Matrix, own: true,
		Args: "a[M,K], b[K,N]", FLOPs: "2MNK", Bytes: "|a| + |b| + 4MN",
		formula: gemm{a: 0, b: 1, bias: none, out: none, width: 4}.work,
	},
	{
		space: "aten::", words: "_scaled_mm", Library: "PyTorch", Unit: Matrix, Values: true,
		Args: "a[M,K], b[K,N], scales 2 and 3, bias 4, out_dtype 6", FLOPs: "2MNK + MN with a bias; 4-bit types: K doubled",
		Bytes:   "|a| + |b| + |bias| + MN·w; block scales",
		formula: gemm{a: 0, b: 1, bias: 4, out: none, outType: 6, scales: 2}.work,
	},
	{
		space: "_C::", words: "cutlass_scaled_mm", Library: "vLLM", Unit: Matrix, own: true,
		Args: "out, a[M,K], b[K,N], scales 3 and 4, bias 5", FLOPs: "2MNK + MN with a bias", Bytes: "|a| + |b| + |bias| + |out|; block scales",
		formula: gemm{a: 1, b: 2, bias: 5, out: 0, scales: 3}.work,
	},
	{
		names: []string{"_C::cutlass_scaled_fp4_mm", "sgl_kernel::cutlass_scaled_fp4_mm"}, Library: "vLLM, SGLang", Unit: Matrix, own: true,
		Args: "out, a[M,K/2], b[N,K/2], block scales 3 and 4", FLOPs: "2MNK", Bytes: "|a| + |b| + scales + |out|",
		formula: gemm{a: 1, b: 2, bias: none, out: 0, scales: 3, transposed: true, pack: 2, dtype: "c10::Float4_e2m1fn_x2"}.work,
	},
	{
		space: "sgl_kernel::", words: "fp8_scaled_mm int8_scaled_mm", Library: "SGLang", Unit: Matrix, Values: true, own: true,
		Args: "a[M,K], b[K,N], scales 2 and 3, out_dtype 4, bias 5", FLOPs: "2MNK + MN with a bias", Bytes: "|a| + |b| + |bias| + MN·w; block scales",
		formula: gemm{a: 0, b: 1, bias: 5, out: none, outType: 4, scales: 2}.work,
	},
	{
		space: "sgl_kernel::", words: "fp8_blockwise_scaled_mm", Library: "SGLang", Unit: Matrix, Values: true, own: true,
		Args: "a[M,K], b[K,N], scales 2 and 3, out_dtype 4", FLOPs: "2MNK", Bytes: "|a| + |b| + scales + MN·w",
		formula: gemm{a: 0, b: 1, bias: none, out: none, outType: 4, scales: 2}.work,
	},
	{
		names: []string{"sgl_kernel::dsv3_fused_a_gemm", "sgl_kernel::dsv3_router_gemm", "_C::dsv3_fused_a_gemm"}, Library: "vLLM, SGLang",
		Unit: Matrix, own: true, Args: "out[M,N], a[M,K], b[K,N] or [N,K]", FLOPs: "2MNK", Bytes: "|a| + |b| + |out|", formula: intoOut,
	},
	{
		names: []string{"aiter::gemm_a16w16"}, Library: "AITER", Unit: Matrix,
		Args: "a[M,K], b[N,K], bias 2", FLOPs: "2MNK + MN with a bias", Bytes: "|a| + |b| + |bias| + MN·w",
		formula: gemm{a: 0, b: 1, bias: 2, out: none, transposed: true}.work,
	},
	{
		names: []string{"vllm::rocm_unquantized_gemm", "vllm::rocm_unquantized_gemm_impl"}, Library: "vLLM", Unit: Matrix, own: true,
		Args: "x[…,K], weight[N,K], bias", FLOPs: "2∏x·N + ∏out with a bias", Bytes: "|x| + |weight| + |bias| + ∏out·w", formula: linear,
	},
	{
		names:   []string{"aiter::gemm_a8w8_blockscale", "aiter::gemm_a8w8_blockscale_bpreshuffle", "vllm::rocm_aiter_gemm_a8w8_blockscale", "vllm::rocm_aiter_triton_gemm_a8w8_blockscale"},
		Library: "AITER, vLLM", Unit: Matrix, Values: true, own: true,
		Args: "a[M,K], b[N,K], scales 2 and 3, out_dtype 4", FLOPs: "2MNK", Bytes: "|a| + |b| + scales + MN·w",
		formula: gemm{a: 0, b: 1, bias: none, out: none, outType: 4, scales: 2, transposed: true}.work,
	},
	{
		names: []string{"vllm::rocm_aiter_gemm_a8w8"}, Library: "vLLM", Unit: Matrix, Values: true, own: true,
		Args: "a[M,K], b[N,K], scales 2 and 3, bias 4, out_dtype 5", FLOPs: "2MNK + MN with a bias", Bytes: "|a| + |b| + |bias| + MN·w; block scales",
		formula: gemm{a: 0, b: 1, bias: 4, out: none, outType: 5, scales: 2, transposed: true}.work,
	},
	{
		names: []string{"sglang::deep_gemm_fp8_fp8_bf16_nt", "vllm::fp8_gemm_nt"}, Library: "DeepGEMM", Unit: Matrix, own: true,
		Args: "a[M,K], scales, b[N,K], scales, out[M,N]", FLOPs: "2MNK", Bytes: "|a| + |b| + scales + |out|", formula: deepGEMM,
	},
}

// none is the position of an argument that an operator does not have.
const none = -1

// A gemm says which arguments of an operator are the matrices of a product.
type gemm struct {
	a, b, bias int
	out        int // a tensor of the type of the result, or its type as a value
	outType    int // the type of the result as a value; 0: not an argument
	scales     int // of a, followed by those of b; 0: none. Counted if there is one for each block
	beta       int // the factor of the bias, which is not read if it is 0; 0: not an argument
	batched    bool
	transposed bool   // b is [N,K]
	pack       int64  // values in each element, if the type of the element does not say it
	width      int64  // bytes per element of the result, if it is fixed
	dtype      string // type of the operands, if the recorded type does not state it
}

func (g gemm) work(o *operands) Work {
	rank, batch := 2, int64(1)
	if g.batched {
		rank, batch = 3, o.dim(g.a, 0)
		o.equal(batch, o.dim(g.b, 0))
	}
	o.rank(g.a, rank)
	o.rank(g.b, rank)
	m, k, n, inner := o.dim(g.a, -2), o.dim(g.a, -1), o.dim(g.b, -1), o.dim(g.b, -2)
	if g.transposed {
		n, inner = inner, n
	}
	o.equal(k, inner)
	bias := g.bias != none && o.has(g.bias) && (g.beta == 0 || !o.isZero(g.beta))
	flops := o.mul(2, batch, m, n, k, g.valuesPer(o))
	if bias {
		flops = o.add(flops, o.mul(batch, m, n))
	}
	w := work(g.typeOf(o), o.count(flops), Count{})
	weights := o.size(g.b)
	bytes := o.add(o.size(g.a, g.b), o.mul(batch, m, n, g.outWidth(o)))
	if bias {
		bytes = o.add(bytes, o.size(g.bias))
	}
	if g.scales > 0 && o.has(g.scales) && o.has(g.scales+1) && (o.n(g.scales) > m || o.n(g.scales+1) > n) {
		bytes = o.add(bytes, o.size(g.scales, g.scales+1))
		weights = o.add(weights, o.size(g.scales+1))
	}
	w.Bytes = o.count(bytes)
	if !g.batched { // both operands of a batched product may be activations
		w.Weights = o.count(weights)
	}
	return w
}

func (g gemm) typeOf(o *operands) string {
	if g.dtype != "" {
		return g.dtype
	}
	return o.typeOf(g.a)
}

// valuesPer returns the number of values in an element of the operands.
func (g gemm) valuesPer(o *operands) int64 {
	return max(g.pack, dtypes[o.typeOf(g.a)].packed, 1)
}

// outWidth returns the bytes of an element of the result.
func (g gemm) outWidth(o *operands) int64 {
	switch {
	case g.width > 0:
		return g.width
	case g.outType > 0:
		return o.scalarWidth(g.outType, o.width(g.a))
	case g.out != none && o.has(g.out):
		return o.width(g.out)
	case g.out != none && g.out < len(o.Args) && o.Args[g.out].Value != "":
		return o.scalarWidth(g.out, o.width(g.a))
	}
	return o.width(g.a)
}

func linear(o *operands) Work {
	o.rank(1, 2)
	k, n := o.dim(1, 1), o.dim(1, 0)
	o.equal(k, o.dim(0, -1))
	d := o.arg(0).Dims
	rows := o.mul(d[:max(len(d)-1, 0)]...)
	flops := o.mul(2, rows, n, k)
	if o.has(2) {
		flops = o.add(flops, o.mul(rows, n))
	}
	return work(o.typeOf(0), o.count(flops), o.count(o.add(o.size(0, 1, 2), o.mul(rows, n, o.width(0))))).weighing(o, 1)
}

// A matrixVector is a product of the matrix at a and the vector after it.
type matrixVector struct{ a, bias int }

func (p matrixVector) work(o *operands) Work {
	o.rank(p.a, 2)
	o.rank(p.a+1, 1)
	m, k := o.dim(p.a, 0), o.dim(p.a, 1)
	o.equal(k, o.dim(p.a+1, 0))
	flops, bytes := o.mul(2, m, k), o.add(o.size(p.a, p.a+1), o.mul(m, o.width(p.a)))
	if p.bias != none && !o.isZero(3) {
		flops, bytes = o.add(flops, m), o.add(bytes, o.size(p.bias))
	}
	return work(o.typeOf(p.a), o.count(flops), o.count(bytes)).weighing(o, p.a)
}

// intoOut is a product whose result is the first argument. The second matrix may be
// transposed, which its dimensions tell by those of the others.
func intoOut(o *operands) Work {
	o.rank(0, 2)
	o.rank(1, 2)
	o.rank(2, 2)
	m, n, k := o.dim(0, 0), o.dim(0, 1), o.dim(1, 1)
	o.equal(m, o.dim(1, 0))
	if p, q := o.dim(2, 0), o.dim(2, 1); !(p == k && q == n || p == n && q == k) {
		o.fail(BadArguments)
	}
	return work(o.typeOf(1), o.count(o.mul(2, m, n, k)), o.count(o.size(0, 1, 2))).weighing(o, 2)
}

// deepGEMM is a product with a scale for each block, which stands after its matrix.
func deepGEMM(o *operands) Work {
	for _, i := range []int{0, 2, 4} {
		o.rank(i, 2)
	}
	m, k, n := o.dim(0, 0), o.dim(0, 1), o.dim(2, 0)
	o.equal(k, o.dim(2, 1))
	o.equal(m, o.dim(4, 0))
	o.equal(n, o.dim(4, 1))
	return work(o.typeOf(0), o.count(o.mul(2, m, n, k)), o.count(o.size(0, 1, 2, 3, 4))).weighing(o, 2, 3)
}
