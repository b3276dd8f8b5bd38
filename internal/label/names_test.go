package label_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"assay/internal/label"
	"assay/internal/test/samplerun"
)

func TestTidyKernel(t *testing.T) {
	for name, want := range map[string]string{
		"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<c10::BFloat16>, std::array<char*, 1ul> >(int, at::native::FillFunctor<c10::BFloat16>, std::array<char*, 1ul>)": "vectorized_elementwise_kernel<4, FillFunctor<BFloat16>, array<char*, 1ul>>",
		"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)":                                                                                                              "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
		"void (anonymous namespace)::softmax_warp_forward<float, 10, true>(float*, int)":                                                                                                          "softmax_warp_forward<float, 10, true>",
		"at::native::(anonymous namespace)::f(int) const":                                                                                                                                         "f",
		"ampere_sgemm_128x64_nn":           "ampere_sgemm_128x64_nn",
		"Memcpy HtoD (Pageable -> Device)": "Memcpy HtoD (Pageable -> Device)",
		"f(g(int), h())":                   "f",
		"unbalanced)":                      "unbalanced)",
		"void ":                            "void",
		"ns::":                             "ns::",
		"矩阵::乘法":                           "乘法",
	} {
		if got := label.TidyKernel(name); got != want && strings.TrimSpace(got) != want {
			t.Errorf("%q is tidied to %q, want %q", name, got, want)
		}
	}
}

func TestLabels(t *testing.T) {
	for _, tc := range []struct {
		name  string
		width int
		in    []string
		want  []string
	}{
		{"short names stay", 20, []string{"gemm", "softmax"}, []string{"gemm", "softmax"}},
		{"equal names have equal labels", 20, []string{"a", "b", "a"}, []string{"a", "b", "a"}},
		{"a generated name keeps its ends", 20, []string{"ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn"}, []string{"ampere_bf16_…64x3_nn"}},
		{"template arguments go from their end", 20, []string{"reduce<float, half, int, long>"}, []string{"reduce<float, half,…"}},
		{"namespaces stay where they tell names apart", 30, []string{"a::kernel(int)", "b::kernel(int)"}, []string{"a::kernel(int)", "b::kernel(int)"}},
		{"the difference shows", 24, []string{"kernel<a_long_common_beginning, 1>", "kernel<a_long_common_beginning, 2>"},
			[]string{"kernel<a_long_common_…1>", "kernel<a_long_common_…2>"}},
		{"no name is called so", 20, []string{"", " ", "a"}, []string{"(no name) #1", "(no name) #2", "a"}},
		{"the last resort is a number", 12, []string{"a\x01", "a\x02"}, []string{"a\ufffd #1", "a\ufffd #2"}},
	} {
		got := label.Short(label.Kernel, tc.in, tc.width)
		if strings.Join(got, "\n") != strings.Join(tc.want, "\n") {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestLabelsOfMany labels names that differ in one place among many.
func TestLabelsOfMany(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var names []string
		base := []rune(strings.Repeat("ab<核>(::x) ", 1+rnd.IntN(20)))
		for range 1 + rnd.IntN(30) {
			name := append([]rune(nil), base...)
			name[rnd.IntN(len(name))] = rune('a' + rnd.IntN(26))
			names = append(names, string(name))
		}
		checkLabels(t, names, 8+rnd.IntN(60))
	}
}

// checkLabels holds the labels to the promises of their doc comment.
func checkLabels(t *testing.T, names []string, columns int) {
	t.Helper()
	for _, list := range [][]string{label.Short(label.Kernel, names, columns), label.Short(label.Plain, names, columns)} {
		if len(list) != len(names) {
			t.Fatalf("%d labels for %d names", len(list), len(names))
		}
		for i, l := range list {
			if w := label.Width(l); w > max(columns, label.MinLabel) {
				t.Fatalf("%q is %d columns wide, over %d", l, w, max(columns, label.MinLabel))
			}
			if !utf8.ValidString(l) || strings.ContainsFunc(l, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
				t.Fatalf("%q is not clean", l)
			}
			for j := range i {
				if (names[i] == names[j]) != (l == list[j]) {
					t.Fatalf("%q and %q are labelled %q and %q", names[i], names[j], l, list[j])
				}
			}
		}
	}
}

// FuzzLabels checks that labels fit, are clean and are unique for all names.
func FuzzLabels(f *testing.F) {
	for i, name := range samplerun.HostileNames() {
		f.Add(name, samplerun.HostileNames()[(i+1)%len(samplerun.HostileNames())], 20)
	}
	f.Fuzz(func(t *testing.T, a, b string, columns int) {
		if columns < 0 || columns > 1000 {
			return
		}
		checkLabels(t, []string{a, b, "void " + a, "ns::" + a, a + "(int)", a + b, b + a}, columns)
	})
}

func TestPlural(t *testing.T) {
	for _, x := range []struct {
		n          int64
		noun, want string
	}{
		{1, "launch", "1 launch"}, {2, "launch", "2 launches"}, {0, "gap", "0 gaps"}, {1200, "gap", "1,200 gaps"},
		{3, "copy", "3 copies"}, {3, "delay", "3 delays"}, {2, "flush", "2 flushes"}, {2, "process", "2 processes"}, {2, "box", "2 boxes"},
		{2, "waltz", "2 waltzes"}, {2, "cache miss", "2 cache misses"}, {2, "more phase", "2 more phases"}, {2, "GPU", "2 GPUs"}, {2, "y", "2 ys"},
	} {
		if got := label.Plural(x.n, x.noun); got != x.want {
			t.Errorf("label.Plural(%d, %q) = %q, want %q", x.n, x.noun, got, x.want)
		}
	}
}

// TestWidth: the width of texts is that of package uniseg, also where a character that fills
// one column precedes or follows one that changes its neighbours.
func TestWidth(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 4))
	parts := []string{"a", " ", "~", "…", "█", "▓", "░", "·", "─", "→", "µ", "×", "≥", "≤", "–", "±", "é", "日", "\u0301", "\u200d", "\ufe0f", "\ufe0e", "\n", "\x7f", "\t", "\xff", "👍", "\u1100"}
	for range 50_000 {
		s := ""
		most := len(parts)
		if rnd.IntN(2) == 0 {
			most = 16
		}
		for range rnd.IntN(6) {
			s += parts[rnd.IntN(most)]
		}
		if got, want := label.Width(s), uniseg.StringWidth(s); got != want {
			t.Fatalf("%q: %d, want %d", s, got, want)
		}
	}
}
