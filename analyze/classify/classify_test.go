package classify

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A row is a line of a table of classified names.
type row struct {
	name string
	want Match
}

func readTable(t testing.TB, file string) []row {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for i, line := range strings.Split(strings.TrimSpace(string(src)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			t.Fatalf("%s:%d: %d fields, want 4", file, i+1, len(f))
		}
		rows = append(rows, row{f[0], Match{Class(f[1]), f[2], f[3]}})
	}
	return rows
}

// TestKernel compares with names that a person classified; testdata/kernels.tsv
// has names from real traces, more.tsv names from libraries' sources.
func TestKernel(t *testing.T) {
	for _, file := range []string{"testdata/kernels.tsv", "testdata/more.tsv"} {
		seen := map[string]bool{}
		for _, r := range readTable(t, file) {
			if got := Default().Kernel(r.name); got != r.want {
				t.Errorf("%s: %.120s\n got %v\nwant %v", file, r.name, got, r.want)
			}
			if seen[r.name] {
				t.Errorf("%s: twice: %.120s", file, r.name)
			}
			seen[r.name] = true
		}
		if want := 120; len(seen) < want {
			t.Errorf("%s: %d names, want at least %d", file, len(seen), want)
		}
	}
}

// TestNoRuleIsDead: a rule that no name reaches is a mistake. Either its words
// never occur, or an earlier rule matches all of its names.
func TestNoRuleIsDead(t *testing.T) {
	used := map[string]bool{}
	for _, file := range []string{"testdata/kernels.tsv", "testdata/more.tsv"} {
		for _, r := range readTable(t, file) {
			used[Default().Kernel(r.name).Rule] = true
		}
	}
	for _, ru := range Default().rules {
		if !used[ru.id] {
			t.Errorf("rule %q matches no name of the tables", ru.id)
		}
	}
}

// TestCategories compares the categories of the built-in rules with the package
// comment, so that a typo does not silently create a new category.
func TestCategories(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, ru := range Default().rules {
		if !strings.Contains(string(doc), "//	"+ru.category+" ") {
			t.Errorf("rule %q: the package comment does not list category %q", ru.id, ru.category)
		}
	}
}

func TestClassIgnoresArguments(t *testing.T) {
	for _, tc := range []struct {
		name string
		want Class
	}{
		{"void foo<ncclThing>(allreduce*)", Compute},
		{"void foo<ncclThing, (nccl::Kind)3>::bar<all_gather>(int)", Compute},
		{"void vectorized_elementwise_kernel<4, c10d::reduce_scatter_functor<float>>(int)", Compute},
		{"cutlass::device_kernel<AllReduceEpilogue<float>>(AllReduceEpilogue<float>::Params)", Compute},
		{"std::enable_if<!(nccl), void>::type f<x>(int)", Compute},
		{"void (anonymous namespace)::ncclFoo<float>(int)", Comm},
		{"NCCLDEVKERNEL_x", Comm},
		{"", Compute},
		{"(ncclThing)", Comm}, // nothing but an argument: then it is the name
	} {
		if got := Default().Kernel(tc.name).Class; got != tc.want {
			t.Errorf("%q is %s, want %s", tc.name, got, tc.want)
		}
	}
}

func mustParse(t testing.TB, src string) *Rules {
	t.Helper()
	r, err := Parse([]byte(src), "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOverride(t *testing.T) {
	user := mustParse(t, `
rules:
- id: my-attention
  category: attention
  match: [my_secret_sauce]
- id: my-exchange
  class: comm
  category: halo-exchange
  match: ['^HALO_']
  ignore-case: true
- id: not-comm
  category: gemm
  match: [all_gather_free_gemm]
- id: full-thief
  category: mine
  on: full
  match: [ncclDevKernelArgsStorage, CUDAFunctor_add]
- id: generic-collectives
  class: comm
  category: all-gather
  on: full
  match: ['ncclDevKernel_Generic\(.*4096ul']
`)
	rules := Default().Override(user)
	for _, tc := range []struct {
		name, want string
	}{
		{"void my_secret_sauce(float*)", "compute attention my-attention"},
		{"halo_pack", "comm halo-exchange my-exchange"},
		{"all_gather_free_gemm<4>", "compute gemm not-comm"},
		// A rule on the whole name changes the category, never the class.
		{"ncclDevKernel_AllReduce_Sum_f32(ncclDevKernelArgsStorage<4096ul>)", "comm all-reduce comm-all-reduce"},
		{"vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>", "compute mine full-thief"},
		{"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "comm all-gather generic-collectives"},
		{"volta_sgemm_128x32_nt", "compute gemm gemm"},
	} {
		m := rules.Kernel(tc.name)
		if got := string(m.Class) + " " + m.Category + " " + m.Rule; got != tc.want {
			t.Errorf("%s\n got %s\nwant %s", tc.name, got, tc.want)
		}
	}
	// Override made new rules; its operands are unchanged.
	if got := Default().Kernel("halo_pack").Rule; got != Other {
		t.Errorf("the default rules know halo_pack as %q", got)
	}
	if got := user.Kernel("volta_sgemm_128x32_nt").Rule; got != Other {
		t.Errorf("the user's rules know volta_sgemm as %q", got)
	}
}

// compiled returns an expression compiled by package regexp, once.
func compiled(expr string) *regexp.Regexp {
	if re, ok := compiledExprs.Load(expr); ok {
		return re.(*regexp.Regexp)
	}
	re, _ := compiledExprs.LoadOrStore(expr, regexp.MustCompile(expr))
	return re.(*regexp.Regexp)
}

var compiledExprs sync.Map

// slowKernel is Kernel implemented with package regexp only.
func slowKernel(r *Rules, name string) Match {
	name = spelled(name)
	matches := func(ru *rule) bool {
		subject := BaseName(name)
		if ru.onFull {
			subject = name
		}
		for _, p := range ru.patterns {
			if compiled(p.expr).MatchString(subject) {
				return true
			}
		}
		return false
	}
	m := Match{Compute, Other, Other}
	for i := range r.rules {
		if ru := &r.rules[i]; !ru.onFull && matches(ru) {
			m.Class = ru.class
			break
		}
	}
	for i := range r.rules {
		if ru := &r.rules[i]; ru.class == m.Class && matches(ru) {
			m.Category, m.Rule = ru.category, ru.id
			break
		}
	}
	return m
}

func TestFinderChangesNothing(t *testing.T) {
	odd := mustParse(t, `
rules:
- {id: optional, category: a, match: ['^x?y?$']}
- {id: folded, category: b, match: ['kelvin|ſtraße'], ignore-case: true}
- {id: exact, category: c, match: ['GEMM', 'a.c']}
- {id: overlap, category: d, match: ['(he|she|his|hers)z']}
`)
	names := []string{"", "x", "xy", "KELVIN", "\u212aelvin", "STRASSE", "ſtraße", "gemm", "GEMM", "a\u00e9c", "abc", "ushersz", "hez", "uhisz", "\xff"}
	step := 4
	if testing.Short() {
		step = 20
	}
	for i, r := range append(readTable(t, "testdata/more.tsv"), readTable(t, "testdata/kernels.tsv")...) {
		if i%step == 0 {
			names = append(names, r.name)
		}
	}
	for _, rules := range []*Rules{odd, Default()} {
		for _, name := range names {
			if got, want := rules.Kernel(name), slowKernel(rules, name); got != want {
				t.Errorf("%.120q\n got %v\nwant %v", name, got, want)
			}
		}
	}
	// Without a required string an expression would have to be tried for every
	// name.
	for _, ru := range Default().rules {
		for _, p := range ru.patterns {
			if !slices.ContainsFunc(p.needs, func(set []string) bool { return shortest(set) >= 2 }) {
				t.Errorf("rule %q: %q has no part that every match contains", ru.id, p.expr)
			}
		}
	}
}

func FuzzKernel(f *testing.F) {
	f.Add("void at::native::reduce_kernel<512, 1, ReduceOp<float>>(int)")
	f.Add("a\u212a<(>")
	rules := Default()
	f.Fuzz(func(t *testing.T, name string) {
		m := rules.Kernel(name)
		if m.Category == "" || m.Rule == "" || m.Class != Compute && m.Class != Comm {
			t.Errorf("%q: %v", name, m)
		}
		if want := slowKernel(rules, name); m != want {
			t.Errorf("%q: %v, want %v", name, m, want)
		}
	})
}
