package operators

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/test"
)

// sizesOf returns the dimensions of arguments as emit_nvtx writes them: the tensors of a
// list one after the other, an empty list as one argument without dimensions.
func sizesOf(t *testing.T, dims string) string {
	t.Helper()
	var args []json.RawMessage
	if err := json.Unmarshal([]byte(dims), &args); err != nil {
		t.Fatal(err)
	}
	var out []json.RawMessage
	for _, a := range args {
		var list []json.RawMessage
		if json.Unmarshal(a, &list) == nil && len(list) > 0 && strings.HasPrefix(strings.TrimSpace(string(list[0])), "[") {
			out = append(out, list...)
			continue
		}
		if string(a) == `""` {
			a = json.RawMessage("[]")
		}
		out = append(out, a)
	}
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWithoutTypes: without types and values FLOPs are those of the same call with them, or
// unknown, and bytes are unknown, for all calls of the goldens of the corpus.
func TestWithoutTypes(t *testing.T) {
	same, unknown, products := 0, 0, 0
	root := test.Corpus(t, "kineto", "tracelens")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "unified_perf_summary.csv" {
			for _, r := range goldenRows(t, path) {
				m := Lookup(r.call.Op)
				if m == nil {
					continue
				}
				with, _ := m.Work(&r.call)
				c := ParseCall(r.call.Op, sizesOf(t, r.dims), "", "", "")
				c.Kernel = r.call.Kernel
				w, _ := m.Work(&c)
				if w.Bytes.Why == Known {
					t.Errorf("%s %s: %d bytes without types", c.Op, r.dims, w.Bytes.N)
				}
				if w.FLOPs.Why != Known {
					unknown++
					continue
				}
				same++
				if with.FLOPs != w.FLOPs || with.Model != w.Model {
					t.Errorf("%s %s: %+v without types, %+v with them", c.Op, r.dims, w, with)
				}
				if m.Unit == Matrix {
					products++
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("FLOPs of %d calls are known, of these %d products, and %d unknown", same, products, unknown)
	if same < 50 || products < 5 {
		t.Errorf("FLOPs of %d calls are known, of these %d products, and %d unknown", same, products, unknown)
	}
}

// TestWithoutTypesByHand: a product has 2MNK and a bias MN. A type of four bits has twice
// the values, so where a kernel may have it FLOPs are unknown.
func TestWithoutTypesByHand(t *testing.T) {
	for _, x := range []struct {
		op, sizes string
		flops     Count
		bytes     Reason
		fits      bool
	}{
		{"aten::mm", "[[2, 3], [3, 5]]", Count{N: 60}, NoTypes, true},
		{"aten::addmm", "[[5], [2, 3], [3, 5], [], []]", Count{N: 70}, NoTypes, true},
		{"aten::linear", "[[7, 2, 3], [5, 3], [5]]", Count{N: 490}, NoTypes, true},
		{"aten::add", "[[4, 1], [3], []]", Count{N: 12}, NoTypes, true},
		{"aten::sum", "[[4, 6]]", Count{N: 24}, NoTypes, true},
		{"aten::mm", "[[2, 3], [4, 5]]", Count{Why: BadArguments}, BadArguments, false},
		{"aten::_grouped_mm", "[[12, 8], [3, 8, 4], [3]]", Count{N: 768}, Routing, true},
		{"aten::_scaled_grouped_mm", "[[12, 8], [3, 8, 4], [12], [3]]", Count{Why: NoTypes}, NoTypes, false},
		{"aten::_scaled_mm", "[[16, 32], [32, 8], [], []]", Count{Why: NoConcrete}, NoConcrete, false},
		{"aten::convolution", "[[2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], [], [], []]", Count{Why: NoConcrete}, NoConcrete, false},
		{"aten::mul", "[[], []]", Count{Why: BadArguments}, BadArguments, false},
	} {
		c := ParseCall(x.op, x.sizes, "", "", "")
		w, fits := Lookup(x.op).Work(&c)
		if w.FLOPs != x.flops || w.Bytes.Why != x.bytes || fits != x.fits || w.Type != "" {
			t.Errorf("%s %s: %+v, fits %v; want %+v", x.op, x.sizes, w, fits, x)
		}
	}
}
