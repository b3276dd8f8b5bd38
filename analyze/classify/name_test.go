package classify

import (
	"regexp"
	"strings"
	"testing"
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

func TestParseErrors(t *testing.T) {
	const good = "rules:\n- id: a\n  category: gemm\n  match: [x]\n"
	for _, tc := range []struct{ name, src, want string }{
		{"empty", "", `r.yaml:1: no rules: want a list called rules`},
		{"only a comment", "# nothing\n", `r.yaml:1: no rules`},
		{"not a mapping", "- a\n", `r.yaml:1: want a mapping`},
		{"other field", "\nrule:\n- id: a\n", `r.yaml:2: unknown field "rule", want the list rules`},
		{"no list", "rules: 3\n", `r.yaml:1: rules: want a list`},
		{"empty list", "rules: []\n", `r.yaml:1: rules: want a list of at least one rule`},
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
		{"second document", good + "---\nrules: []\n", `r.yaml:6: second YAML document, want one`},
	} {
		_, err := Parse([]byte(tc.src), "r.yaml")
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the message has several lines: %q", tc.name, err)
		}
	}
}

// TestParse checks ignore-case and both YAML forms of lists.
func TestParse(t *testing.T) {
	r := mustParse(t, "rules:\n- {id: a, category: x, match: [foo], ignore-case: true}\n- id: b\n  category: y\n  match:\n  - bar\n  - '^baz$'\n  note: n\n")
	for name, want := range map[string]string{"a_FOO": "a", "bar": "b", "BAR": Other, "baz<int>(x)": "b", "bazz": Other} {
		if got := r.Kernel(name).Rule; got != want {
			t.Errorf("%q matches %q, want %q", name, got, want)
		}
	}
}

// positioned is the format of a message, which starts like "rules.yaml:7: ", so
// that an editor can jump to the line.
var positioned = regexp.MustCompile(`^fuzz:[1-9][0-9]*: [^\n]+$`)

func FuzzParse(f *testing.F) {
	f.Add("rules:\n- id: a\n  category: gemm\n  match: [x]\n")
	f.Add("rules: [{id: a, category: b, match: ['(']}]")
	f.Add("rules:\n- *a\n")
	f.Fuzz(func(t *testing.T, src string) {
		r, err := Parse([]byte(src), "fuzz")
		if err != nil && !positioned.MatchString(err.Error()) {
			t.Errorf("message without a position: %q", err)
		}
		if err == nil && r.Kernel("x").Rule == "" {
			t.Error("rules that give no answer")
		}
	})
}
