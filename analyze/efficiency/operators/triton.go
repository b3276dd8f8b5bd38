package operators

import "strings"

// tritons has kernels that torch.compile generates. Their arguments are pointers and then
// the numbers of elements.
var tritons = []Model{
	{
		names: []string{"triton_poi_*", "triton_per_*", "triton_red_*"}, Library: "PyTorch Inductor", Unit: Vector, Values: true,
		Args: "pointers, then numbers of elements", FLOPs: "unknown",
		Bytes: "estimate: ∑ min(|pointer|, numel·w). A pointer that is read and written moves twice", formula: generated,
	},
	{
		names: []string{"CompiledFunction", "CompiledFunctionBackward"}, Library: "PyTorch", Unit: UnknownUnit, own: true,
		Args: "inputs of a region, not of a kernel", FLOPs: "unknown", Bytes: "unknown", never: CompiledRegion,
	},
}

func generated(o *operands) Work {
	numel, scalars := int64(1), 0
	if !o.HasValues {
		o.fail(NoConcrete)
	}
	for i := range o.Args {
		if o.Args[i].Type == "Scalar" && digits(o.Args[i].Value) {
			numel = o.mul(numel, o.whole(i))
			scalars++
		}
	}
	if scalars == 0 || o.over {
		o.fail(BadArguments)
	}
	var bytes int64
	for i := range o.Args {
		if o.has(i) {
			bytes = o.add(bytes, min(o.size(i), o.mul(numel, o.width(i))))
		}
	}
	w := work(o.typeOf(0), unknown(NoFormula), o.count(bytes))
	w.BytesEstimated = true
	return w
}

// digits reports whether a value is a whole number that is not negative.
func digits(value string) bool {
	return value != "" && strings.Trim(value, "0123456789") == ""
}
