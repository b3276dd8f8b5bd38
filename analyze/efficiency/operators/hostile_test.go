package operators

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestNoWrap checks that sizes that no GPU has make an unknown result, and never another
// number: for each model and position of a huge dimension, the result is unknown or
// not negative.
func TestNoWrap(t *testing.T) {
	huge := []int64{1e17, 1e12, 1 << 40, 3, 0}
	r := rand.New(rand.NewPCG(9, 10))
	seen := 0
	byName, _ := indexed()
	for name, m := range byName {
		for range 50 {
			var args []any
			for range 1 + r.IntN(12) {
				switch r.IntN(4) {
				case 0:
					args = append(args, []any{"", true, false, 3, "[1, 1]", "[True, True, True]", 999999999999999999}[r.IntN(7)])
				default:
					var dims []int64
					for range r.IntN(5) {
						dims = append(dims, huge[r.IntN(len(huge))])
					}
					args = append(args, bf16(dims...))
				}
			}
			c := callOf(name, args...)
			c.Kernel = "OpaqueType<2u> Functor<float>"
			w, _ := m.Work(&c)
			for _, n := range []Count{w.FLOPs, w.Model, w.Bytes} {
				if n.N < 0 || n.Why != Known && n.N != 0 {
					t.Fatalf("%s %+v: %+v", name, c.Args, w)
				}
				if n.Why == Known {
					seen++
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no result")
	}
}

// TestMul compares products and sums with those of big numbers.
func TestMul(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 10000 {
		var o, p operands
		var xs []int64
		product, sum := big.NewInt(1), big.NewInt(0)
		for range 1 + r.IntN(5) {
			x := r.Int64N(math.MaxInt64) >> r.IntN(63)
			xs = append(xs, x)
			product.Mul(product, big.NewInt(x))
			sum.Add(sum, big.NewInt(x))
		}
		if got := o.mul(xs...); o.over == product.IsInt64() || !o.over && got != product.Int64() {
			t.Fatalf("product of %v: %d, %t", xs, got, o.over)
		}
		if got := p.add(xs...); p.over == sum.IsInt64() || !p.over && got != sum.Int64() {
			t.Fatalf("sum of %v: %d, %t", xs, got, p.over)
		}
	}
}

// TestBytesCoverOperands checks that what is known of bytes is at least what the operands
// of matrix products and elementwise operators take, if nothing is expanded, and that an
// expanded operand takes less.
func TestBytesCoverOperands(t *testing.T) {
	a, b := f32(64, 32), f32(32, 16)
	if w := do(t, "aten::mm", a, b); w.Bytes.N < 4*(64*32+32*16+64*16) {
		t.Errorf("%+v", w)
	}
	row := tensor{dtype: "float", dims: []int64{64, 32}, strides: []int64{0, 1}}
	whole, expanded := do(t, "aten::add", a, a, 1), do(t, "aten::add", a, row, 1)
	if whole.FLOPs != expanded.FLOPs || whole.Bytes.N-expanded.Bytes.N != 4*63*32 {
		t.Errorf("whole %+v, expanded %+v", whole, expanded)
	}
}

// TestUnknown checks the reasons of what is not known.
func TestUnknown(t *testing.T) {
	for _, x := range []struct {
		call  Call
		flops Count
		bytes Reason
		ok    bool
	}{
		{ParseCall("aten::mm", "", "", "", ""), unknown(NoShapes), NoShapes, false},
		{ParseCall("aten::mm", "[[2", "", "", ""), unknown(BadArguments), BadArguments, false},
		{ParseCall("aten::mm", "[[2,3],[4,5]]", `["float","float"]`, "", ""), unknown(BadArguments), BadArguments, false},
		{ParseCall("aten::mm", "[[2,3],[3,5]]", `["",""]`, "", ""), Count{N: 60}, NoTypes, false},
		{ParseCall("aten::mm", "[[2,3],[3,5]]", `["float","no such type"]`, "", ""), Count{N: 60}, BadArguments, false},
		{ParseCall("aten::mm", "[[2,3],[3,5]]", `["float"]`, "", ""), Count{N: 60}, NoTypes, false},
		{ParseCall("aten::mm", "[[2,3]]", `["float"]`, "", ""), unknown(BadArguments), BadArguments, false},
		{ParseCall("aten::mm", "[[-2,3],[3,5]]", `["float","float"]`, "", ""), unknown(BadArguments), BadArguments, false},
		{ParseCall("aten::sum", "[[2,3],[],[],[]]", `["float","","Scalar",""]`, "", ""), Count{N: 6}, NoConcrete, false},
		{ParseCall("aten::sum", "[[],[2,3],[],[]]", `["","float","","Scalar"]`, "", ""), unknown(BadArguments), BadArguments, false},
		{ParseCall("aten::convolution", "[[2,3,4,4],[5,3,1,1],[],[],[],[],[],[],[]]", `["float","float","","","","","","",""]`, "", ""), unknown(NoConcrete), NoConcrete, false},
		{ParseCall("aten::_softmax", "[[2,3],[],[]]", `["c10::Half","Scalar","Scalar"]`, "", ""), Count{N: 30}, NoConcrete, false},
		{ParseCall("aten::add", "[[2,3],[4],[]]", `["float","float","Scalar"]`, "", ""), unknown(BadArguments), BadArguments, false},
		{ParseCall("triton_poi_fused_add_0", "[[8],[8]]", `["float","float"]`, "", `["",""]`), unknown(NoFormula), BadArguments, false},
		{ParseCall("CompiledFunction", "[[8]]", `["float"]`, "", ""), unknown(CompiledRegion), CompiledRegion, false},
		{ParseCall("vllm::moe_forward", "[[8,8]]", `["float"]`, "", ""), unknown(Routing), Routing, false},
		{ParseCall("aten::mm", "[[100000000000000000,3],[3,100000000000000000]]", `["float","float"]`, "", ""), unknown(TooLarge), TooLarge, true},
	} {
		w, ok := Lookup(x.call.Op).Work(&x.call)
		if w.FLOPs != x.flops || w.Bytes.Why != x.bytes || ok != x.ok {
			t.Errorf("%s: %+v, %t", x.call.Op, w, ok)
		}
	}
	if m := Lookup("aten::no_such_operator"); m != nil {
		t.Errorf("%+v", m)
	}
}

// TestTable checks that no operator has two models, and that each row is complete.
func TestTable(t *testing.T) {
	names := map[string]bool{}
	for _, s := range subjects {
		for i := range s.models {
			m := &s.models[i]
			if m.Library == "" || m.Args == "" || m.FLOPs == "" || m.Bytes == "" || (m.formula == nil) == (m.never == Known) {
				t.Errorf("%v: something is missing", m.Names())
			}
			for _, name := range m.Names() {
				if names[name] {
					t.Errorf("%s has two models", name)
				}
				names[name] = true
				if Lookup(name) != m && name[len(name)-1] != '*' {
					t.Errorf("%s: another model is found", name)
				}
			}
		}
	}
}
