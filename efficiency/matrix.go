package efficiency

// gemms has the products of matrices.
var gemms = []Model{
	{
		Names: []string{"aten::mm"}, Library: "PyTorch", Args: "a[M,K], b[K,N], out",
		FLOPs: "2MNK", Bytes: "|a| + |b| + MN·w", Source: "native_functions.yaml",
		formula: gemm{a: 0, b: 1, bias: none, out: 2}.work,
	},
	{
		Names: []string{"aten::addmm"}, Library: "PyTorch", Args: "bias, a[M,K], b[K,N]",
		FLOPs: "2MNK + MN", Bytes: "|bias| + |a| + |b| + MN·w", Source: "native_functions.yaml",
		formula: gemm{a: 1, b: 2, bias: 0, out: none}.work,
	},
	{
		Names: []string{"aten::bmm"}, Library: "PyTorch", Args: "a[B,M,K], b[B,K,N]",
		FLOPs: "2BMNK", Bytes: "|a| + |b| + BMN·w", Source: "native_functions.yaml",
		formula: gemm{a: 0, b: 1, bias: none, out: none, batched: true}.work,
	},
	{
		Names: []string{"aten::baddbmm"}, Library: "PyTorch", Args: "bias, a[B,M,K], b[B,K,N]",
		FLOPs: "B(2MNK + MN)", Bytes: "|bias| + |a| + |b| + BMN·w", Source: "native_functions.yaml",
		formula: gemm{a: 1, b: 2, bias: 0, out: none, batched: true}.work,
	},
}

// none is the position of an argument that an operator does not have.
const none = -1

// A gemm says which arguments of an operator are the matrices of a product.
type gemm struct {
	a, b, bias, out int
	batched         bool
}

func (g gemm) work(o *operands) Work {
	rank, batch := 2, int64(1)
	if g.batched {
		rank, batch = 3, o.dim(g.a, 0)
		o.equal(batch, o.dim(g.b, 0))
	}
	o.rank(g.a, rank)
	o.rank(g.b, rank)
	m, k, n := o.dim(g.a, -2), o.dim(g.a, -1), o.dim(g.b, -1)
	o.equal(k, o.dim(g.b, -2))
	flops, bytes, width := o.mul(2, batch, m, n, k), o.size(g.a, g.b), o.width(g.a)
	if g.bias != none && o.has(g.bias) {
		flops, bytes = o.add(flops, o.mul(batch, m, n)), o.add(bytes, o.size(g.bias))
	}
	if g.out != none && o.has(g.out) {
		width = o.width(g.out)
	}
	return work(Matrix, o.arg(g.a).Type, flops, o.add(bytes, o.mul(batch, m, n, width)))
}
