package classify

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBaseName(t *testing.T) {
	for _, tc := range []struct{ name, want string }{
		{"volta_sgemm_128x32_nt", "volta_sgemm_128x32_nt"},
		{"void f<int>(float*)", "f"},
		{"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2>(float*)", "at::native::CatArrayBatchedCopy"},
		{"(anonymous namespace)::f(int)", "f"},
		{"void <unnamed>::softmax_warp_forward<float, (int)6>(T2 *)", "softmax_warp_forward"},
		{"void a<b<c, d>, (e)3>::f<g>(h<i>)", "a::f"},
		{"std::enable_if<!(false), void>::type internal::gemvx::kernel<int>(int)", "std::enable_if::type internal::gemvx::kernel"},
		{"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_Generic"},
		{"__amd_rocclr_copyBuffer.kd", "__amd_rocclr_copyBuffer"},
		{"f(int) [clone .kd]", "f"},
		{"f<g()::{lambda(int)#1}::operator()(int) const::{lambda(int)#2}>(h)", "f"},
		{"g()::{lambda(int)#1}::operator()(int) const", "g::{lambda#1}::operator()"},
		{"A::operator()<int>(B)", "A::operator()"},
		{"bool operator< <int>(A<int>, A<int>)", "bool operator<"},
		{"A& A::operator<<(B)", "A& A::operator<<"},
		{"A::operator->()", "A::operator->"},
		{"f<&A::operator<, B>(C)", "f"},
		{"f<(a > b)>(c)", "f"},
		{"f<(a < b)>::g(c)", "f::g"},
		{"f<decltype(a->b)>(c)", "f"},
		{"my_operator<int>(x)", "my_operator"},
		{"_ZN5aiter3fooIDF16bEEvPT_", "_ZN5aiter3fooIDF16bEEvPT_"},
		{"loop_add_fusion.3", "loop_add_fusion.3"},
		{"a::(x)::(y)::(z)::b", "a::b"},
		// Brackets that do not balance.
		{"f<int", "f"},
		{"f>int", "f>int"},
		{"f)(", "f)"},
		{"f<(>)g", "f"},
		{"(f)", "(f)"},
		{"", ""},
		{"void ", "void"},
	} {
		if got := BaseName(tc.name); got != tc.want {
			t.Errorf("BaseName(%q)\n got %q\nwant %q", tc.name, got, tc.want)
		}
	}
}

func FuzzBaseName(f *testing.F) {
	for _, s := range []string{"void f<int>(x)", "operator<", "a::operator()(b)<", "my<x>operator<y", "::void ::", " [clone x]", "((((", "a->b>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		base := BaseName(name)
		if again := BaseName(base); again != base {
			t.Errorf("BaseName(%q) is %q, whose own is %q", name, base, again)
		}
		if len(base) > len(name) || base == "" && name != "" {
			t.Errorf("BaseName(%q) is %q", name, base)
		}
	})
}

func TestShortName(t *testing.T) {
	const add = "at::native::CUDAFunctor_add<float>"
	for _, tc := range []struct{ name, want string }{
		{"volta_sgemm_128x32_nt", "volta_sgemm_128x32_nt"},
		{"void at::native::vectorized_elementwise_kernel<4, " + add + ", at::detail::Array<char*, 3> >(int, " + add + ", at::detail::Array<char*, 3>)",
			"vectorized_elementwise_kernel<CUDAFunctor_add<float>>"},
		{"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<" + add + " >(at::TensorIteratorBase&, " + add + " const&)::{lambda(int)#1}>(int, x)",
			"elementwise_kernel<CUDAFunctor_add<float>>"},
		{"void at::native::elementwise_kernel<(int)128, (int)2, void at::native::gpu_kernel_impl_nocast<" + add + ">(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int, T3)",
			"elementwise_kernel<CUDAFunctor_add<float>>"},
		{"void at::native::unrolled_elementwise_kernel<at::native::(anonymous namespace)::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda()#8}::operator()() const::{lambda(long)#1}, at::detail::Array<char*, 2>, TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCast<1> >(int)",
			"unrolled_elementwise_kernel<direct_copy_kernel_cuda{long}>"},
		{"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4> >(x)",
			"reduce_kernel<sum_functor<float, float, float>>"},
		{"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(cutlass_80_simt_sgemm_128x32_8x5_nn_align1::Params)",
			"cutlass_80_simt_sgemm_128x32_8x5_nn_align1"},
		{"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2, 128, 1>(float*)",
			"CatArrayBatchedCopy<float, unsigned int, 2, 128, 1>"},
		{"void cub::DeviceRadixSortExclusiveSumKernel<cub::DeviceRadixSortPolicy<long, int, int>::Policy800, int>(int*)",
			"DeviceRadixSortExclusiveSumKernel<DeviceRadixSortPolicy<long, int, int>::Policy800, int>"},
		{"void f<(cudnnKernelDataType_t)2, (vllm::Fp8KVCacheDataType)0>(int)", "f<2, 0>"},
		{"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, true>(int)", "gemvx::kernel<int, true>"},
		{"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_Generic"},
		{"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1ELb0ELb1ELi1EEEvPT0_PT_PfS4_S4_S4_diiiiiiib",
			"add_rmsnorm_quant_kernel<bf16, bf16, 256, 16, 1, 0, 1, 1>"},
		{"_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvPS3_PS4_i",
			"act_and_mul_kernel<__hip_bfloat16, silu>"},
		{"_Z5saxpyPdS_S_di", "saxpy"},
		{"f<int", "f<int"}, // not a name: as it is
		{strings.Repeat("f<", 5000), strings.Repeat("f<", 5000)},
		{"", ""},
	} {
		if got := ShortName(tc.name); got != tc.want {
			t.Errorf("ShortName(%.80q)\n got %.200q\nwant %.200q", tc.name, got, tc.want)
		}
	}
}

func FuzzShortName(f *testing.F) {
	f.Add("void f<a::b<(c)1>, {lambda(int)#1}>(x)")
	f.Add("_ZN1aI3bE99999999999999E")
	f.Fuzz(func(t *testing.T, name string) {
		if short := ShortName(name); short == "" && name != "" {
			t.Errorf("ShortName(%q) is empty", name)
		}
	})
}

func TestShorten(t *testing.T) {
	long := func(middle string) string {
		return "prefix_" + strings.Repeat("a", 30) + middle + strings.Repeat("b", 30)
	}
	for _, tc := range []struct {
		width       int
		names, want []string
	}{
		{40, []string{"void f<int>(x)", "g", "void f<int>(x)"}, []string{"f<int>", "g", "f<int>"}},
		{20, []string{"abcdefghijklmnopqrstuvwxyz"}, []string{"abcdefghijkl…tuvwxyz"}},
		// They differ in the middle, which the plain cut would remove.
		{20, []string{long("X"), long("Y")}, []string{"prefix…aaXbbbbbbbbb…", "prefix…aaYbbbbbbbbb…"}},
		// Overloads differ in nothing that is shown.
		{20, []string{"f(int)", "f(long)", "f(char)"}, []string{"f", "f#2", "f#3"}},
		{20, []string{"f(int)", "f#2", "f(long)"}, []string{"f", "f#2", "f#3"}},
		// The launch shape comes back where it is all that differs.
		{60, []string{"void vectorized_elementwise_kernel<4, A<x> >(int)", "void vectorized_elementwise_kernel<2, A<x> >(int)"},
			[]string{"vectorized_elementwise_kernel<4, A<x>>", "vectorized_elementwise_kernel<2, A<x>>"}},
		{0, []string{"abcdefghijklmnop"}, []string{"abcde…nop"}},
		{9, nil, []string{}},
	} {
		if got := Shorten(tc.names, tc.width); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", tc.want) {
			t.Errorf("Shorten(%q, %d)\n got %q\nwant %q", tc.names, tc.width, got, tc.want)
		}
	}
}

// checkShorten tests what Shorten promises about any names.
func checkShorten(t *testing.T, names []string, width int) {
	t.Helper()
	out := Shorten(names, width)
	from := map[string]string{}
	for i, short := range out {
		if n := utf8.RuneCountInString(short); n > max(width, MinWidth) {
			t.Errorf("%q has %d runes, more than %d", short, n, width)
		}
		if name, ok := from[short]; ok && name != names[i] {
			t.Errorf("%q is both %q and %q", short, name, names[i])
		}
		from[short] = names[i]
	}
	seen := map[string]string{}
	for i, name := range names {
		if short, ok := seen[name]; ok && short != out[i] {
			t.Errorf("%q is both %q and %q", name, short, out[i])
		}
		seen[name] = out[i]
	}
}

func TestShortenKeepsNamesApart(t *testing.T) {
	names := []string{}
	for _, r := range readTable(t, "testdata/kernels.tsv") {
		names = append(names, r.name)
	}
	for _, width := range []int{MinWidth, 20, 40, 80, 400} {
		checkShorten(t, names, width)
	}
	many := []string{}
	for i := range 2000 {
		many = append(many, fmt.Sprintf("f(%d)", i))
	}
	checkShorten(t, many, MinWidth)
}

func FuzzShorten(f *testing.F) {
	f.Add("f(a)\nf(b)\nf#2\nf", 10)
	f.Add("aaaaaaaaaaaaaa\naaaaaaa\xffaaaaaaaa\naaaaaaa\xfeaaaaaaaa", 9)
	f.Fuzz(func(t *testing.T, lines string, width int) {
		checkShorten(t, strings.Split(lines, "\n"), width%100)
	})
}

func TestParseErrors(t *testing.T) {
	const good = "rules:\n- id: a\n  category: gemm\n  match: [x]\n"
	for _, tc := range []struct{ name, src, want string }{
		{"empty", "", `r.yaml:1: no rules: want a list called rules`},
		{"only a comment", "# nothing\n", `r.yaml:1: no rules`},
		{"not a mapping", "- a\n", `r.yaml:1: want a mapping`},
		{"other field", "\nrule:\n- id: a\n", `r.yaml:2: unknown field "rule", want rules`},
		{"no list", "rules: 3\n", `r.yaml:1: rules: want a list`},
		{"empty list", "rules: []\n", `r.yaml:1: no rules: the list rules is empty`},
		{"rule is text", good + "- text\n", `r.yaml:5: want a rule`},
		{"unknown field", good + "- id: b\n  category: x\n  matches: [y]\n", `r.yaml:7: unknown field "matches"`},
		{"wrong type", good + "- id: b\n  category: x\n  match: y\n", `r.yaml:7: `},
		{"broken YAML", good + "- id: [b\n", `r.yaml:5: `},
		{"id with capitals", "rules:\n- id: A\n  category: x\n  match: [y]\n", `r.yaml:2: rule id "A": want lower-case words`},
		{"no id", good + "- category: x\n  match: [y]\n", `r.yaml:5: rule id "": want`},
		{"id twice", good + "- id: a\n  category: x\n  match: [y]\n", `r.yaml:5: rule id "a" is taken by the rule of line 2`},
		{"unknown class", good + "- id: b\n  class: network\n  category: x\n  match: [y]\n", `r.yaml:6: rule "b": unknown class "network", want "compute" or "comm"`},
		{"class of an event", good + "- id: b\n  class: copy\n  category: x\n  match: [y]\n", `r.yaml:6: rule "b": class "copy" is for events`},
		{"category with spaces", good + "- id: b\n  category: my thing\n  match: [y]\n", `r.yaml:6: rule "b": category "my thing": want`},
		{"no category", good + "- id: b\n  match: [y]\n", `r.yaml:5: rule "b": category "": want`},
		{"unknown subject", good + "- id: b\n  category: x\n  match: [y]\n  on: args\n", `r.yaml:8: rule "b": unknown subject "args"`},
		{"no match", good + "- id: b\n  category: x\n", `r.yaml:5: rule "b" matches nothing`},
		{"bad expression", good + "- id: b\n  category: x\n  match:\n  - ok\n  - 'a(b'\n", "r.yaml:9: rule \"b\": error parsing regexp: missing closing ): `a(b`"},
		{"empty expression", good + "- id: b\n  category: x\n  match: ['']\n", `r.yaml:7: rule "b": an empty expression would match every kernel`},
		{"second document without content", good + "---", `r.yaml:5: a rule file is one YAML document`},
		{"second document", good + "---\nrules: []\n", `r.yaml:5: a rule file is one YAML document`},
	} {
		_, err := Parse(strings.NewReader(tc.src), "r.yaml")
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the message has several lines: %q", tc.name, err)
		}
	}
}

// What a file says about ignore-case and about YAML's two ways to write lists.
func TestParse(t *testing.T) {
	r := mustParse(t, "rules:\n- {id: a, category: x, match: [foo], ignore-case: true}\n- id: b\n  category: y\n  match:\n  - bar\n  - '^baz$'\n  note: n\n")
	for name, want := range map[string]string{"a_FOO": "a", "bar": "b", "BAR": Other, "baz<int>(x)": "b", "bazz": Other} {
		if got := r.Kernel(name).Rule; got != want {
			t.Errorf("%q matches %q, want %q", name, got, want)
		}
	}
}

// The message says "rules.yaml:7: ", so that an editor can jump there.
var positioned = regexp.MustCompile(`^fuzz:[1-9][0-9]*: [^\n]+$`)

func FuzzParse(f *testing.F) {
	f.Add("rules:\n- id: a\n  category: gemm\n  match: [x]\n")
	f.Add("rules: [{id: a, category: b, match: ['(']}]")
	f.Add("rules:\n- *a\n")
	f.Fuzz(func(t *testing.T, src string) {
		r, err := Parse(strings.NewReader(src), "fuzz")
		if err != nil && !positioned.MatchString(err.Error()) {
			t.Errorf("message without a position: %q", err)
		}
		if err == nil && r.Kernel("x").Rule == "" {
			t.Error("rules that give no answer")
		}
	})
}
