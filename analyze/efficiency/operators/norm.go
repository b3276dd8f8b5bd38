package operators

import "strings"

// norms has normalizations. Statistics are saved per row or channel and not counted.
var norms = []Model{
	{
		space: "aten::", words: "batch_norm layer_norm group_norm instance_norm native_batch_norm native_layer_norm native_group_norm " +
			"miopen_batch_norm cudnn_batch_norm",
		Library: "PyTorch", Unit: Vector, Args: "x, parameters", FLOPs: "8∏x", Bytes: "all tensor arguments + ∏x·w",
		formula: simple{per: 8, result: []int{0}}.work,
	},
	{
		space: "aten::", words: "_fused_rms_norm", Library: "PyTorch", Unit: Vector,
		Args: "x, shape, weight", FLOPs: "4∏x", Bytes: "all tensor arguments + ∏x·w", formula: simple{per: 4, result: []int{0}}.work,
	},
	{
		space: "aten::", words: "rms_norm", Library: "PyTorch", Unit: Vector, own: true,
		Args: "x, shape, weight", FLOPs: "4∏x", Bytes: "all tensor arguments + ∏x·w", formula: simple{per: 4, result: []int{0}}.work,
	},
	{
		space: "aten::", words: "batch_norm_backward layer_norm_backward group_norm_backward native_batch_norm_backward native_layer_norm_backward " +
			"native_group_norm_backward miopen_batch_norm_backward cudnn_batch_norm_backward _fused_rms_norm_backward",
		Library: "PyTorch", Unit: Vector,
		Args: "g, x, …, γ, …, output mask (the last)", FLOPs: "12∏x", Bytes: "all tensor arguments + ∏x·w + |γ| for each parameter gradient",
		formula: normBackward,
	},
	{
		names: []string{"FusedLayerNormAffineFunction"}, Library: "Apex", Unit: Vector, own: true,
		Args: "x, γ, β", FLOPs: "8∏x", Bytes: "all tensor arguments + ∏x·w", formula: simple{per: 8, result: []int{0}}.work,
	},
	{
		names: []string{"FusedRMSNormAffineFunction"}, Library: "Apex", Unit: Vector, own: true,
		Args: "x, γ", FLOPs: "4∏x", Bytes: "all tensor arguments + ∏x·w", formula: simple{per: 4, result: []int{0}}.work,
	},
}

// normBackward counts the gradients that the output mask asks for, all if the operator has
// no mask or if its value is not recorded.
func normBackward(o *operands) Work {
	w := work(o.typeOf(0), o.count(o.mul(12, o.n(0))), Count{})
	gamma := 2
	switch op := o.base(); {
	case strings.Contains(op, "group"), strings.Contains(op, "rms"):
		gamma = 4
	case strings.Contains(op, "layer"):
		gamma = 5
	}
	input, parameters := true, int64(2)
	if strings.Contains(o.base(), "rms") {
		parameters = 1
	}
	w.BytesEstimated = !o.HasValues
	if o.HasValues && len(o.Args) > 0 {
		if mask := o.flags(len(o.Args) - 1); mask != nil {
			input, parameters = mask[0], 0
			for _, wanted := range mask[1:] {
				if wanted {
					parameters++
				}
			}
		}
	}
	bytes := o.add(o.size(o.all()...), o.mul(parameters, o.size(gamma)))
	if input {
		bytes = o.add(bytes, o.mul(o.n(0), o.width(0)))
	}
	w.Bytes = o.count(bytes)
	return w
}

// servingNorms has the normalizations of inference engines, which write into their
// arguments.
var servingNorms = []Model{
	{
		names: []string{"_C::rms_norm", "aiter::rmsnorm"}, Library: "vLLM, AITER", Unit: Vector,
		Args: "out, x, γ", FLOPs: "4∏x", Bytes: "all tensor arguments", formula: simple{per: 4, of: 1, typeOf: 1}.work,
	},
	{
		names: []string{"aiter::add_rmsnorm"}, Library: "AITER", Unit: Vector,
		Args: "out, x, residual, new residual, γ", FLOPs: "5∏x", Bytes: "all tensor arguments", formula: simple{per: 5, of: 1, typeOf: 1}.work,
	},
	{
		names: []string{"aiter::rms_norm", "aiter::rms_norm_cu", "aiter::rmsnorm2d_fwd_ck"}, Library: "AITER", Unit: Vector, own: true,
		Args: "x, γ or out, x, γ", FLOPs: "4∏x", Bytes: "all tensor arguments, ∏x·w for a new result", formula: rmsNorm,
	},
	{
		names: []string{"aiter::rmsnorm2d_fwd_with_add_ck", "aiter::rmsnorm2d_fwd_with_add"}, Library: "AITER", Unit: Vector, own: true,
		Args: "out, x, residual, new residual, γ", FLOPs: "5∏x", Bytes: "all tensor arguments", formula: simple{per: 5, of: 1, typeOf: 1}.work,
	},
	{
		names: []string{"_C::fused_add_rms_norm"}, Library: "vLLM", Unit: Vector,
		Args: "x, residual, γ", FLOPs: "5∏x", Bytes: "2(|x| + |residual|) + |γ|", formula: simple{per: 5, moved: []int{2}, twice: []int{0, 1}}.work,
	},
	{
		space: "sgl_kernel::", words: "rmsnorm gemma_rmsnorm", Library: "SGLang", Unit: Vector, own: true,
		Args: "out, x, γ", FLOPs: "4∏x", Bytes: "all tensor arguments", formula: simple{per: 4, of: 1, typeOf: 1}.work,
	},
	{
		space: "sgl_kernel::", words: "fused_add_rmsnorm gemma_fused_add_rmsnorm", Library: "SGLang", Unit: Vector, own: true,
		Args: "x, residual, γ", FLOPs: "5∏x", Bytes: "2(|x| + |residual|) + |γ|", formula: simple{per: 5, moved: []int{2}, twice: []int{0, 1}}.work,
	},
	{
		names: []string{"_C::rms_norm_static_fp8_quant"}, Library: "vLLM", Unit: Vector, own: true,
		Args: "out, x, γ, scale", FLOPs: "5∏x", Bytes: "all tensor arguments", formula: simple{per: 5, of: 1, typeOf: 1}.work,
	},
	{
		names: []string{"_C::fused_add_rms_norm_static_fp8_quant"}, Library: "vLLM", Unit: Vector, own: true,
		Args: "out, x, residual, γ, scale", FLOPs: "6∏x", Bytes: "all tensor arguments + |residual|",
		formula: simple{per: 6, of: 1, typeOf: 1, moved: []int{0, 1, 3, 4}, twice: []int{2}}.work,
	},
	{
		names: []string{"_C::rms_norm_dynamic_per_token_quant"}, Library: "vLLM", Unit: Vector, own: true,
		Args: "out, x, γ, scale, …, residual 6", FLOPs: "5∏x, 6∏x with a residual", Bytes: "all tensor arguments + |residual|", formula: normQuantized,
	},
}

// rmsNorm returns its result, or writes it into the first argument if γ is the third.
func rmsNorm(o *operands) Work {
	if o.has(2) {
		return simple{per: 4, of: 1, typeOf: 1}.work(o)
	}
	return simple{per: 4, result: []int{0}}.work(o)
}

func normQuantized(o *operands) Work {
	per := int64(5)
	if o.has(6) {
		per = 6
	}
	return simple{per: per, of: 1, typeOf: 1, moved: []int{0, 1, 2, 3, 5}, twice: []int{6}}.work(o)
}

// softmaxes has softmax and its backward pass.
var softmaxes = []Model{
	{
		space: "aten::", words: "_softmax _log_softmax", Library: "PyTorch", Unit: Vector, Values: true,
		Args: "x, dim, half_to_float 2", FLOPs: "5∏x", Bytes: "|x| + ∏x·w, w = 4 if half_to_float", formula: softmax,
	},
	{
		space: "aten::", words: "_softmax_backward_data _log_softmax_backward_data", Library: "PyTorch", Unit: Vector,
		Args: "g, y, dim, type of the input 3", FLOPs: "4∏g", Bytes: "|g| + |y| + ∏g·w, w of the input's type", formula: softmaxBackward,
	},
	{
		names: []string{"ScaledUpperTriangMaskedSoftmax"}, Library: "Megatron-LM", Unit: Vector, own: true,
		Args: "x[B,N,N]", FLOPs: "5BN(N+1)/2", Bytes: "BN(N+1)/2·w read, BN²·w written", formula: triangularSoftmax,
	},
}

func softmax(o *operands) Work {
	n, width := o.n(0), o.width(0)
	w := work(o.typeOf(0), o.count(o.mul(5, n)), Count{})
	if width == 2 && o.flag(2) { // only types of 16 bits can become float
		width = 4
	}
	w.Bytes = o.count(o.add(o.size(0), o.mul(n, width)))
	return w
}

// softmaxBackward returns a gradient of the input's type, which has 16 bits where softmax
// made it float.
func softmaxBackward(o *operands) Work {
	n, width := o.n(0), o.width(0)
	w := work(o.typeOf(0), o.count(o.mul(4, n)), Count{})
	if width == 4 && o.HasValues {
		width = o.scalarWidth(3, width)
	}
	w.BytesEstimated = width == 4 && !o.HasValues // it may have 16 bits
	w.Bytes = o.count(o.add(o.size(0, 1), o.mul(n, width)))
	return w
}

// triangularSoftmax reads no scores above the diagonal, and writes zeros there.
func triangularSoftmax(o *operands) Work {
	o.rank(0, 3)
	rows, n := o.dim(0, 0), o.dim(0, 1)
	o.equal(n, o.dim(0, 2))
	lower := o.mul(rows, o.rising(1, n))
	return work(o.typeOf(0), o.count(o.mul(5, lower)), o.count(o.mul(o.add(lower, o.n(0)), o.width(0))))
}
