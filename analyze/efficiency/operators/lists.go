package operators

import (
	"strings"

	"assay/internal/lazyregexp"
)

// lists has operators over lists of tensors: optimizers and their parts. Captures have no
// types of lists; the name of the kernel has it.
var lists = []Model{
	{
		space: "aten::", words: "_fused_adam* _fused_sgd* _fused_adagrad*", Library: "PyTorch", Unit: Vector, kernel: true,
		Args: "parameters, gradients, states, and the type in the kernel's name", FLOPs: "unknown",
		Bytes: "lists read, all but the gradients written: Adam 7P·w, SGD 3P·w, with momentum 5P·w", formula: optimizer,
	},
	{
		space: "aten::", words: "_foreach_*", Library: "PyTorch", Unit: Vector, kernel: true,
		Args: "lists, and the type in the kernel's name", FLOPs: "unknown", Bytes: "∑ lists + first list written; norm: none written; zero: not read", formula: foreach,
	},
	{
		space: "aten::", words: "_foreach_copy*", Library: "PyTorch", Unit: None, kernel: true,
		Args: "lists, and both types in the kernel's name", FLOPs: "0", Bytes: "∑ first list · (w + w of the second)", formula: foreachCopy,
	},
}

// functorType matches the type of the elements in the name of a kernel over lists.
var functorType = lazyregexp.New(`(?:Functor|Op)\w*<(float|double|c10::BFloat16|c10::Half)`)

// elements returns the number of elements of each list, and the type of all.
func elements(o *operands) (sums []int64, dtype string) {
	for i := range o.Args {
		if o.Args[i].Type == "TensorList" {
			sums = append(sums, o.listed(i))
		}
	}
	m := functorType().FindStringSubmatch(o.Kernel)
	if m == nil || len(sums) == 0 {
		o.fail(TypeOfList)
		return sums, ""
	}
	return sums, m[1]
}

// listWork returns the work of an operator that moves n elements. Long lists are recorded
// as empty, so that none is no result.
func listWork(o *operands, dtype string, n int64) Work {
	w := work(dtype, unknown(NoFormula), unknown(TypeOfList))
	if n > 0 && o.why == Known {
		w.Bytes = o.count(o.mul(n, dtypes[dtype].width))
	}
	return w
}

// optimizer counts parameters, gradients and up to three states. The sixth list, of step
// numbers, is tiny.
func optimizer(o *operands) Work {
	sums, dtype := elements(o)
	if len(sums) < 2 {
		o.fail(TypeOfList)
		return listWork(o, dtype, 0)
	}
	n := o.add(sums[:min(len(sums), 5)]...)
	return listWork(o, dtype, o.add(n, n-sums[1]))
}

func foreach(o *operands) Work {
	sums, dtype := elements(o)
	if len(sums) == 0 {
		return listWork(o, dtype, 0)
	}
	n, op := o.add(sums...), o.base()
	switch {
	case strings.Contains(op, "norm"):
	case strings.Contains(op, "zero"):
	default:
		n = o.add(n, sums[0])
	}
	return listWork(o, dtype, n)
}

// copiedTypes matches both types in the name of the kernel that copies lists.
var copiedTypes = lazyregexp.New(`multi_tensor_apply_kernel<.*native::Copy<([\w: ]+), ([\w: ]+)>`)

func foreachCopy(o *operands) Work {
	var bytes int64
	if m := copiedTypes().FindStringSubmatch(o.Kernel); m != nil && len(o.Args) > 1 {
		n := o.listed(0)
		o.equal(n, o.listed(1))
		bytes = o.mul(n, dtypes[m[1]].width+dtypes[m[2]].width)
		if dtypes[m[1]].width == 0 || dtypes[m[2]].width == 0 {
			bytes = 0
		}
	}
	if bytes == 0 {
		o.fail(TypeOfList)
	}
	return work("", noFLOPs, o.count(bytes))
}
