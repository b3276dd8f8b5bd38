package operators

import (
	"encoding/csv"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/internal/test"
)

// TestGoldens compares the work of one call with what TraceLens says, for every row of
// its reports. Each number is equal, or different for a reason of the list, whose
// condition says by how much.
func TestGoldens(t *testing.T) {
	root := test.Corpus(t, "kineto", "tracelens")
	used, equal, rows := map[string]int{}, 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "unified_perf_summary.csv" {
			return err
		}
		for _, r := range goldenRows(t, path) {
			rows++
			for _, side := range r.sides() {
				if side.ours.Why == Known && math.Abs(float64(side.ours.N)-side.theirs) <= 1e-9*side.theirs {
					equal++
					continue
				}
				i := slices.IndexFunc(reasons, func(b because) bool { return b.fits(&r, &side) })
				if i < 0 {
					t.Errorf("%s: %s of %s %s %s: %v, TraceLens %v", filepath.Base(filepath.Dir(path)), side.name, r.call.Op, r.dims, r.types, side.ours, side.theirs)
					continue
				}
				used[reasons[i].why]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range reasons {
		if used[b.why] == 0 {
			t.Errorf("no row needs the reason %q", b.why)
		}
		t.Logf("%4d %s", used[b.why], b.why)
	}
	t.Logf("%d rows, %d numbers are equal", rows, equal)
	if rows < 300 || equal < 300 {
		t.Errorf("%d rows, %d numbers are equal", rows, equal)
	}
}

// A side is one number of a row.
type side struct {
	name   string
	ours   Count
	theirs float64
}

// less returns by how much their number is over ours.
func (s *side) less() float64 { return s.theirs - float64(s.ours.N) }

// A because is a reason why a number differs: which side of which operators, and what
// then holds.
type because struct {
	why   string
	side  string
	ops   string
	holds func(r *goldenRow, s *side) bool
}

func (b *because) fits(r *goldenRow, s *side) bool {
	if b.side != s.name {
		return false
	}
	for _, op := range strings.Fields(b.ops) {
		if prefix, ok := strings.CutSuffix(op, "*"); op == r.call.Op || ok && strings.HasPrefix(r.call.Op, prefix) {
			return b.holds(r, s)
		}
	}
	return false
}

// reasons has the differences. The first that fits counts.
var reasons = []because{
	{"a copy has no arithmetic", "FLOPs", "aten::copy_", func(r *goldenRow, s *side) bool {
		return s.ours == Count{} && s.theirs == float64(r.n(0))
	}},
	{"causal attention is half of the square, without half of the diagonal", "FLOPs", "aten::_scaled_dot_product_flash_attention", func(r *goldenRow, s *side) bool {
		n := float64(r.call.Args[0].Dims[2])
		return math.Abs(float64(s.ours.N)/s.theirs-(n+1)/n) < 1e-9
	}},
	{"a reduction writes one element", "bytes", "aten::sum aten::mean aten::max aten::amax aten::any aten::all aten::argmax", func(r *goldenRow, s *side) bool {
		return s.less() < 0 && s.ours.N <= 2*r.size(0)+9
	}},
	{"the bias of a convolution is not seen", "FLOPs", "aten::convolution", func(r *goldenRow, s *side) bool {
		weight := r.call.Args[1].Dims
		per := 1.0
		for _, d := range weight[1:] {
			per *= float64(d)
		}
		return r.n(2) > 1 && math.Abs(float64(s.ours.N)/s.theirs-1-1/(2*per)) < 1e-9
	}},
	{"the bias of a convolution is not seen", "bytes", "aten::convolution", func(r *goldenRow, s *side) bool {
		return r.n(2) > 1 && -s.less() == float64(r.size(2))
	}},
	{"a gradient that nobody asked for is counted", "FLOPs", "aten::convolution_backward", func(r *goldenRow, s *side) bool {
		return strings.Contains(r.call.Args[10].Value, "False, True") && math.Abs(float64(s.ours.N)/s.theirs-0.5) < 0.01
	}},
	{"the bias of a convolution is not seen", "FLOPs", "aten::convolution_backward", func(r *goldenRow, s *side) bool {
		return strings.HasSuffix(r.call.Args[10].Value, "True]") && s.less() < 0
	}},
	{"a convolution's backward pass reads its gradient twice", "bytes", "aten::convolution_backward", func(r *goldenRow, s *side) bool {
		return s.less() > 0 && s.less() <= float64(r.size(0)+r.size(1)+2*r.size(2))
	}},
	{"an expanded dimension counts in full", "bytes", "aten::*", func(r *goldenRow, s *side) bool {
		return r.expanded() && s.less() > 0
	}},
	{"parameters and statistics of a normalization", "bytes", "aten::layer_norm aten::batch_norm aten::group_norm aten::instance_norm aten::_fused_rms_norm", func(r *goldenRow, s *side) bool {
		return math.Abs(s.less()) <= 6*4*float64(r.parameters())+1
	}},
	{"the backward pass of a batch norm of MIOpen is one of evaluation", "bytes", "aten::miopen_batch_norm_backward", func(r *goldenRow, s *side) bool {
		return math.Abs(float64(s.ours.N)/s.theirs-1.5) < 0.01
	}},
	{"statistics of a normalization's backward pass", "bytes", "aten::native_layer_norm_backward aten::native_batch_norm_backward aten::native_group_norm_backward aten::_fused_rms_norm_backward",
		func(r *goldenRow, s *side) bool { return math.Abs(s.less()) <= 6*4*float64(r.parameters())+1 }},
	{"nominal FLOPs of a normalization", "FLOPs",
		"aten::layer_norm aten::batch_norm aten::group_norm aten::instance_norm aten::_fused_rms_norm aten::native_* aten::miopen_batch_norm_backward aten::_fused_rms_norm_backward",
		func(r *goldenRow, s *side) bool { q := float64(s.ours.N) / s.theirs; return q > 0.99 && q < 3.01 }},
	{"nominal FLOPs of an RMS norm: two more for each row", "FLOPs", "aiter::rmsnorm aiter::add_rmsnorm aiter::rms_norm aiter::rmsnorm2d_fwd_with_add_ck", func(r *goldenRow, s *side) bool {
		x := r.call.Args[0].Dims
		return math.Abs(s.less()-2*float64(r.n(0)/x[len(x)-1])) < 1
	}},
	{"nominal FLOPs of SiLU: 5, not 2", "FLOPs", "sgl_kernel::silu_and_mul", func(r *goldenRow, s *side) bool {
		return math.Abs(s.less()-3*float64(r.n(0))) < 1
	}},
	{"a copy from or to the host counts both sides", "bytes", "aten::copy_", func(r *goldenRow, s *side) bool {
		return IsHostCopy(r.call.Kernel) && s.less() == float64(r.size(1))
	}},
	{"a number without dimensions has a width", "bytes", "aten::*", func(r *goldenRow, s *side) bool {
		return s.less() > 0 && s.less() <= float64(r.numbers())
	}},
	{"the running sum of integers is int64", "bytes", "aten::cumsum", func(r *goldenRow, s *side) bool {
		return r.call.Args[0].Type == "int" && -s.less() == float64(4*r.n(0))
	}},
	{"arithmetic of a generated kernel is guessed from its name", "FLOPs", "triton_*", func(r *goldenRow, s *side) bool {
		return s.ours.Why == NoFormula
	}},
	{"a generated kernel writes its first pointer again, and some types have no width", "bytes", "triton_*", func(r *goldenRow, s *side) bool {
		return s.less() == float64(r.size(0)) || s.less() == float64(r.size(1)) || r.call.Args[0].Type == "float" && -s.less() == float64(r.size(0))
	}},
	{"positions of rotary embeddings and slots of a cache are read", "bytes", "sgl_kernel::rotary_embedding sglang::store_cache", func(r *goldenRow, s *side) bool {
		return s.less() < 0 && -s.less() <= 0.02*s.theirs
	}},
	{"lengths of keys are in tensors", "FLOPs", "vllm::unified_attention_with_output sglang_profiler::*", func(r *goldenRow, s *side) bool { return s.ours.Why != Known }},
	{"lengths of keys are in tensors", "bytes", "vllm::unified_attention_with_output sglang_profiler::*", func(r *goldenRow, s *side) bool { return s.ours.Why != Known }},
	{"no operator of a trace has this name", "FLOPs", "pseudo_op::*", func(r *goldenRow, s *side) bool { return s.ours.Why != Known }},
	{"no operator of a trace has this name", "bytes", "pseudo_op::*", func(r *goldenRow, s *side) bool { return s.ours.Why != Known }},
}

// A goldenRow is a row of a report of TraceLens.
type goldenRow struct {
	call        Call
	dims, types string
	flops, mib  string
}

// sides returns the numbers that the row has.
func (r *goldenRow) sides() []side {
	w := unknownWork(UnknownUnit, NoFormula)
	if m := Lookup(r.call.Op); m != nil {
		w, _ = m.Work(&r.call)
	}
	var out []side
	if f, err := strconv.ParseFloat(r.flops, 64); err == nil {
		out = append(out, side{"FLOPs", w.FLOPs, f * 1e9})
	}
	if f, err := strconv.ParseFloat(r.mib, 64); err == nil {
		out = append(out, side{"bytes", w.Bytes, f * (1 << 20)})
	}
	return out
}

// n returns the elements of an argument, size its bytes in full.
func (r *goldenRow) n(i int) int64 {
	n := int64(1)
	for _, d := range r.call.Args[i].Dims {
		n *= d
	}
	return n
}

func (r *goldenRow) size(i int) int64 { return r.n(i) * dtypes[r.call.Args[i].Type].width }

// expanded reports whether an argument has a dimension that is stored once.
func (r *goldenRow) expanded() bool {
	for _, a := range r.call.Args {
		for k, s := range a.Strides {
			if s == 0 && a.Dims[k] > 1 {
				return true
			}
		}
	}
	return false
}

// numbers returns the bytes of the arguments that are tensors without dimensions.
func (r *goldenRow) numbers() int64 {
	var sum int64
	for _, a := range r.call.Args {
		if len(a.Dims) == 0 {
			sum += dtypes[a.Type].width
		}
	}
	return sum
}

// parameters returns the number of elements of a parameter of a normalization: of the
// normalized dimensions, or one for each channel, or the statistics of each row.
func (r *goldenRow) parameters() int64 {
	most := r.call.Args[0].Dims[1]
	for i, a := range r.call.Args {
		if i > 0 && len(a.Dims) > 0 && r.n(i) < r.n(0) {
			most = max(most, r.n(i))
		}
		if a.Type == "ScalarList" && strings.Trim(a.Value, "[]0123456789, ") == "" {
			n := int64(1)
			for _, f := range split(a.Value) {
				d, _ := strconv.ParseInt(f, 10, 64)
				n *= d
			}
			most = max(most, n)
		}
	}
	return most
}

func goldenRows(t *testing.T, path string) []goldenRow {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range records[0] {
		column[name] = i
	}
	var rows []goldenRow
	for _, record := range records[1:] {
		get := func(name string) string { return record[column[name]] }
		if !strings.HasPrefix(get("Input Dims"), "(") {
			continue
		}
		r := goldenRow{dims: fromPython(get("Input Dims")), types: fromPython(get("Input type")), flops: get("GFLOPS"), mib: get("Data Moved (MB)")}
		r.call = ParseCall(get("name"), r.dims, r.types, fromPython(get("Input Strides")), fromPython(get("Concrete Inputs")))
		if r.call.Why != Known {
			t.Errorf("%s: %s %q: %v", path, r.call.Op, r.dims, r.call.Why)
		}
		if _, kernel, ok := strings.Cut(get("kernel_details_summary"), "'name': "); ok {
			r.call.Kernel = kernel[1:max(strings.Index(kernel, "', '"), 1)]
		}
		rows = append(rows, r)
	}
	return rows
}

// fromPython returns a Python tuple as JSON.
func fromPython(text string) string {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == quote:
			quote = 0
			b.WriteByte('"')
		case quote != 0 && c == '"':
			b.WriteString(`\"`)
		case quote != 0:
			b.WriteByte(c)
		case c == '\'' || c == '"':
			quote = c
			b.WriteByte('"')
		case c == '(':
			b.WriteByte('[')
		case c == ')':
			b.WriteByte(']')
		case c == ',' && strings.HasPrefix(text[i+1:], ")"): // a tuple of one
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
