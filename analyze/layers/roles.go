package layers

import (
	"strings"

	"assay/analyze/classify"
	"assay/analyze/gpu"
	"assay/trace"
)

// A role is what a kernel does in a layer.
type role uint8

const (
	plain    role = iota // element-wise and others that do not tell
	skipped              // fills and helpers, which come and go: no part of the order of kernels
	stop                 // sampling, losses, optimizers, embeddings: never inside of a layer
	norm                 // a norm, or a kernel of one
	attends              // the core of attention
	scans                // the core of a state-space model or of linear attention
	experts              // routing and products of experts
	product              // a matrix product
	convolve             // a convolution
	activate             // an activation function
	adds                 // an addition, maybe that of the residual stream
	softmax              // of attention, if nothing else is
	moves                // communication
)

// A nature is what the name of a kernel says.
type nature struct {
	role role
	back bool // of the backward pass
	word word

	caches  bool // works with a cache of keys and values
	looksUp bool // takes rows of a table, as embeddings do
}

// A word is a part that a kernel may have in a norm that PyTorch computes with several kernels.
type word uint8

const (
	noWord word = iota
	rsqrtWord
	powWord
	meanWord
	mulWord
	copyWord
	addWord
	maxWord
	expWord
)

// byCategory has the roles of the categories of package classify.
var byCategory = map[string]role{
	"normalization": norm, "attention": attends, "linear-attention": scans, "moe": experts, "gemm": product,
	"convolution": convolve, "softmax": softmax, "fill": skipped, "runtime": skipped, "copy": skipped,
	"whole-graph": stop, "loss": stop, "optimizer": stop,
}

// natureOf returns what a name says, given its category.
func natureOf(name string, m classify.Match) nature {
	if m.Class == classify.Comm {
		return nature{role: moves}
	}
	n := nature{role: byCategory[m.Category], back: isBackward(name)}
	n.caches = m.Category == "kv-cache" || m.Category == "attention" && containsAny(strings.ToLower(name), "paged", "decode", "kvcache")
	switch m.Category {
	case "triton-fused":
		if containsAny(name, "rsqrt", "_norm", "layernorm", "rmsnorm") {
			n.role = norm
		} else if containsAny(name, "silu", "gelu", "swiglu", "erf", "sigmoid", "relu") {
			n.role = activate
		} else if strings.Contains(name, "embedding") {
			n.role = stop
		}
	case "sampling":
		// torch.topk chooses experts too, so only what nothing but sampling needs ends a model.
		if containsAny(strings.ToLower(name), "sampl", "argm", "reject", "multinomial", "speculative", "verify") {
			n.role = stop
		}
	case "index":
		if containsAny(name, "mbedding", "indexSelect", "vectorized_gather") {
			n.role, n.looksUp = stop, true
		}
	case "elementwise", "quantization":
		n.word = wordOf(name)
		switch {
		case containsAny(strings.ToLower(name), "silu", "gelu", "sigmoid", "tanh_kernel", "act_and_mul", "swiglu", "geglu", "activation", "relu"):
			n.role = activate
		case containsAny(name, "CUDAFunctor_add", "AddFunctor", "add_kernel"):
			n.role = adds
		}
	case "reduction":
		if strings.Contains(name, "MeanOps") {
			n.word = meanWord
		} else if strings.Contains(name, "MaxOps") {
			n.word = maxWord
		}
	case "layout":
		n.word = copyWord
	}
	return n
}

// isBackward reports whether a name says that its kernel is of the backward pass.
func isBackward(name string) bool {
	return strings.Contains(name, "wd") && containsAny(name, "_bwd", "Bwd", "bwd_") ||
		strings.Contains(name, "rad") && containsAny(name, "_grad", "Grad", "dgrad", "wgrad") || containsAny(name, "ackward", "bprop")
}

func wordOf(name string) word {
	switch {
	case strings.Contains(name, "rsqrt"):
		return rsqrtWord
	case strings.Contains(name, "pow_tensor"):
		return powWord
	case strings.Contains(name, "exp_kernel"):
		return expWord
	case strings.Contains(name, "MulFunctor"):
		return mulWord
	case containsAny(name, "CUDAFunctor_add", "CUDAFunctorOnSelf_add", "AddFunctor"):
		return addWord
	}
	return noWord
}

func containsAny(s string, of ...string) bool {
	for _, o := range of {
		if strings.Contains(s, o) {
			return true
		}
	}
	return false
}

// natures returns the nature of the kernels of a trace, by their names.
func natures(t *trace.Trace, classes []classify.Match) func(trace.Sym) nature {
	known := make([]nature, t.Names())
	done := make([]bool, t.Names())
	return func(s trace.Sym) nature {
		if !done[s] {
			done[s], known[s] = true, natureOf(t.Name(s), classes[s])
		}
		return known[s]
	}
}

// tellPasses corrects what names say of the pass. A compiler names a kernel of the forward pass after the backward operators
// whose inputs it prepares; and the backward pass of attention may have a name that does not tell.
func (m *Measured) tellPasses(d *gpu.Device, list []kernel) {
	backward, forward := make(map[int32]bool), make(map[int32]bool) // tokens of cores: all, and those of forward passes
	for i := range list {
		k := &list[i]
		core := k.role == attends || k.role == scans
		if !k.back && !core {
			continue
		}
		pass := m.Pass(int(d.Work[k.work].Number))
		if k.back && pass == "forward" {
			k.back = false
		}
		if core && pass == "forward" {
			forward[k.token] = true
		} else if core && pass == "backward" {
			backward[k.token] = true
		}
	}
	for i := range list { // a forward pass that is computed again has the kernels of a forward pass
		k := &list[i]
		k.back = k.back || len(forward) > 0 && backward[k.token] && !forward[k.token]
	}
}

// joinNorms gives the role norm to the kernels of norms that PyTorch computes one operator at a time: from the cast or the square
// before the mean to the multiplication by the weight behind the reciprocal root.
func joinNorms(list []kernel) {
	for i := range list {
		if list[i].word != rsqrtWord {
			continue
		}
		at := i - 1
		if at >= 0 && list[at].word == addWord {
			at-- // the epsilon
		}
		if at < 0 || list[at].word != meanWord {
			continue
		}
		if at > 0 && list[at-1].word == powWord {
			at--
			if at > 0 && list[at-1].word == copyWord {
				at--
			}
		}
		to := i + 1
		for ; to < len(list) && to <= i+3 && (list[to].word == mulWord || list[to].word == copyWord); to++ {
		}
		for k := at; k < to; k++ {
			list[k].role = norm
		}
	}
}

// joinSoftmax gives the role softmax to the exponentials behind a maximum: a softmax that a program computes itself.
func joinSoftmax(list []kernel) {
	const near = 3
	for i := range list {
		for at := i - 1; list[i].word == expWord && at >= max(0, i-near); at-- {
			if list[at].word == maxWord {
				list[i].role = softmax
			}
		}
	}
}
