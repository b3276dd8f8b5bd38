package classify

import (
	"slices"
	"strings"
)

// ShortName returns a name for tables and pictures. It keeps what tells
// kernels apart and drops what does not: namespaces, the call arguments, the
// launch shape of PyTorch's element-wise kernels and reductions, and the
// templates that only wrap another one.
//
//	void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(...)
//	vectorized_elementwise_kernel<CUDAFunctor_add<float>>
//
// Different kernels can have the same short name; [Shorten] keeps them apart.
func ShortName(kernel string) string { return shortName(kernel, false) }

// shortName is ShortName, with the launch shape if that is wanted.
func shortName(kernel string, launch bool) string {
	s := trimKernel(kernel)
	if short := shortMangled(s); short != "" {
		return short
	}
	if !strings.ContainsAny(s, "<(:") {
		return orName(s, kernel)
	}
	e, ok := parseExpr(s)
	if !ok {
		return kernel
	}
	return orName(renderKernel(dropReturnType(e), launch), kernel)
}

func orName(short, name string) string {
	if short == "" {
		return name
	}
	return short
}

// An expr is part of a demangled name: text and bracketed groups in turn.
type expr []part

// A part is a piece of text, or a group in the brackets that open starts.
type part struct {
	text string
	open byte   // '<', '(', '{' or '['; 0 for text
	args []expr // of a group, split at its commas
}

// maxNesting is how deep brackets may nest. The deepest real names have about
// twenty levels; input that is not a name must not exhaust the stack.
const maxNesting = 100

// parseExpr parses a whole name. It reports false if brackets do not balance.
func parseExpr(s string) (expr, bool) {
	p := exprParser{s: s}
	e, ok := p.expr(0)
	return e, ok && p.i == len(s)
}

type exprParser struct {
	s string
	i int
}

// expr parses up to a comma or a closing bracket that ends it, or, at the
// outermost level, to the end.
func (p *exprParser) expr(depth int) (expr, bool) {
	var e expr
	start := p.i
	flush := func() {
		if p.i > start {
			e = append(e, part{text: p.s[start:p.i]})
		}
	}
	for p.i < len(p.s) {
		if n := operatorLen(p.s, p.i, nil, true); n > 0 {
			p.i += n
			continue
		}
		switch c := p.s[p.i]; c {
		case '<', '(', '{', '[':
			flush()
			g, ok := p.group(depth + 1)
			if !ok {
				return nil, false
			}
			e = append(e, g)
			start = p.i
			continue
		case '>', ')', '}', ']':
			if c == '>' && p.i > 0 && p.s[p.i-1] == '-' {
				break
			}
			flush()
			return e, depth > 0
		case ',':
			if depth > 0 {
				flush()
				return e, true
			}
		}
		p.i++
	}
	flush()
	return e, depth == 0
}

// closing returns the bracket that ends what open starts.
func closing(open byte) byte {
	const pairs = "<>(){}[]"
	return pairs[strings.IndexByte(pairs, open)+1]
}

// group parses a bracketed group.
func (p *exprParser) group(depth int) (part, bool) {
	g := part{open: p.s[p.i]}
	if depth > maxNesting {
		return g, false
	}
	for {
		p.i++ // the opening bracket or a comma
		for p.i < len(p.s) && p.s[p.i] == ' ' {
			p.i++
		}
		arg, ok := p.expr(depth)
		if !ok || p.i >= len(p.s) {
			return g, false
		}
		if len(arg) > 0 {
			g.args = append(g.args, arg)
		}
		if p.s[p.i] != ',' {
			ok = p.s[p.i] == closing(g.open)
			p.i++
			return g, ok
		}
	}
}

// dropReturnType removes "std::enable_if<...>::type " and the like.
func dropReturnType(e expr) expr {
	for i, p := range e {
		if p.open != 0 {
			continue
		}
		if _, rest, found := strings.Cut(p.text, "::type "); found {
			return append(expr{{text: rest}}, e[i+1:]...)
		}
	}
	return e
}

// torchLaunch are PyTorch's kernels whose leading numbers are the launch
// shape, not what they compute.
var torchLaunch = []string{
	"vectorized_elementwise_kernel", "elementwise_kernel", "unrolled_elementwise_kernel",
	"elementwise_kernel_manual_unroll", "unrolled_elementwise_kernel_for_multi_outputs",
	"index_elementwise_kernel", "_scatter_gather_elementwise_kernel", "reduce_kernel",
}

// wrappers are templates that only hold the functor that does the work.
var wrappers = []string{
	"gpu_kernel_impl", "gpu_kernel_impl_nocast", "gpu_index_kernel", "func_wrapper_t", "ReduceOp",
	"gpu_index_kernel_impl", "legacy_gpu_kernel_impl_nocast",
}

// shells are kernels that only run their template argument.
var shells = []string{"Kernel", "Kernel2", "device_kernel"}

// noise are template arguments that follow from the others.
var noise = []string{
	"Array", "array", "TrivialOffsetCalculator", "OffsetCalculator", "TensorListMetadata",
	"LoadWithCast", "LoadWithoutCast", "StoreWithCast", "StoreWithoutCast",
}

// renderKernel renders a kernel's name: the last name of the path, with its
// template arguments.
func renderKernel(e expr, launch bool) string {
	comps := path(e)
	last := lastNamed(comps)
	if last < 0 {
		return ""
	}
	name := strings.TrimSpace(comps[last].name)
	args := comps[last].templateArgs()
	if !launch && slices.Contains(torchLaunch, name) {
		for len(args) > 0 && isNumber(renderExpr(args[0])) {
			args = args[1:]
		}
	}
	if slices.Contains(shells, name) && len(args) > 0 {
		return renderExpr(args[0])
	}
	// A bare "kernel" says nothing without the namespace it is in.
	if prev := last - 1; prev >= 0 && (strings.EqualFold(name, "kernel") || name == "globalKernel" || strings.HasPrefix(name, "operator")) {
		name = comps[prev].name + "::" + name
	}
	return name + renderArgs(args)
}

// renderExpr renders a template argument.
func renderExpr(e expr) string {
	comps := path(e)
	last := lastNamed(comps)
	if last < 0 || strings.HasPrefix(comps[last].name, "decltype") {
		return strings.TrimSpace(plain(e))
	}
	lambda := last + 1
	for lambda < len(comps) && !comps[lambda].isLambda() {
		lambda++
	}
	c := comps[last]
	args := c.templateArgs()
	if slices.Contains(wrappers, strings.TrimPrefix(strings.TrimSpace(c.name), "void ")) {
		for _, a := range args {
			if inner := renderExpr(a); !isPrimitive(inner) && !isNumber(inner) {
				return inner
			}
		}
	}
	out := strings.TrimPrefix(strings.TrimSpace(c.name), "void ") + renderArgs(args)
	// Policies are named after the template they belong to.
	if last > 0 && len(comps[last-1].templateArgs()) > 0 {
		out = comps[last-1].name + renderArgs(comps[last-1].templateArgs()) + "::" + out
	}
	if len(args) == 0 && lambda < len(comps) {
		out += "{" + comps[len(comps)-1].lambdaArgs() + "}"
	}
	return out
}

func renderArgs(args []expr) string {
	var list []string
	for _, a := range args {
		if s := renderExpr(a); s != "" && !slices.Contains(noise, headOf(s)) {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "<" + strings.Join(list, ", ") + ">"
}

// headOf returns the name before the template arguments of a rendered type.
func headOf(s string) string {
	head, _, _ := strings.Cut(s, "<")
	return head
}

var primitives = []string{
	"float", "double", "int", "long", "bool", "char", "unsigned int", "unsigned long", "unsigned char",
	"short", "void", "half", "__half", "Half", "BFloat16", "__nv_bfloat16", "__hip_bfloat16", "long long",
}

func isPrimitive(s string) bool { return slices.Contains(primitives, s) }

// isNumber reports whether s is a number or a truth value, as "128", "-2",
// "2ul" or "true".
func isNumber(s string) bool {
	if s == "true" || s == "false" {
		return true
	}
	s = strings.TrimRight(strings.TrimPrefix(s, "-"), "ul")
	return s != "" && strings.Trim(s, "0123456789") == ""
}
