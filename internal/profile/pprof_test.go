package profile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	google "github.com/google/pprof/profile"

	"assay/internal/diag"
	"assay/internal/test"
)

func written(t testing.TB, p *Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.WritePprof(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPprofRoundTrip: what is written is read back the same, and is valid to
// pprof's own reader, with the same sums.
func TestPprofRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		want := random(rnd)
		file := written(t, want)
		got, err := ReadPprof(bytes.NewReader(file), "f", Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("want(-) got(+)\n%s", diff)
		}
		in, err := google.Parse(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		sums := make([]int64, len(in.SampleType))
		for _, s := range in.Sample {
			for i, v := range s.Value {
				sums[i] += v
			}
		}
		for i := range sums {
			if sums[i] != want.Sum(i) {
				t.Fatalf("column %d sums to %d in the file, want %d", i, sums[i], want.Sum(i))
			}
		}
	}
}

// TestPprofTables has what viewers rely on: a location for each frame, a
// function for each name and file, innermost first, no mangled names.
func TestPprofTables(t *testing.T) {
	b := NewBuilder(gpuColumns...)
	b.Add([]Frame{{"main", "a.py", 1}, {"f", "a.py", 7}, {"void k<int>()", "", 0}}, []Label{{Key: "stream", Text: "7"}, {Key: "size", Number: 4, Unit: "bytes"}}, 1, 10)
	b.Add([]Frame{{"main", "a.py", 2}, {"f", "b.py", 7}}, nil, 1, 20)
	p := b.Profile()
	p.Default, p.Source = 0, "run.json"
	in, err := google.Parse(bytes.NewReader(written(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	if n, m := len(in.Location), len(in.Function); n != 5 || m != 4 {
		t.Errorf("%d locations, %d functions; want 5 and 4", n, m)
	}
	for _, f := range in.Function {
		if f.SystemName != "" {
			t.Errorf("%s has the system name %q", f.Name, f.SystemName)
		}
	}
	var stacks []string
	for _, s := range in.Sample {
		line := fmt.Sprint(s.Value, s.Label, s.NumLabel, s.NumUnit)
		for _, l := range s.Location {
			if len(l.Line) != 1 || l.Mapping != in.Mapping[0] {
				t.Errorf("location %+v", l)
			}
			line += fmt.Sprintf(" %s@%s:%d", l.Line[0].Function.Name, l.Line[0].Function.Filename, l.Line[0].Line)
		}
		stacks = append(stacks, line)
	}
	want := []string{
		"[1 10] map[stream:[7]] map[size:[4]] map[size:[bytes]] void k<int>()@:0 f@a.py:7 main@a.py:1",
		"[1 20] map[] map[] map[] f@b.py:7 main@a.py:2",
	}
	if diff := cmp.Diff(want, stacks); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
	if m := in.Mapping[0]; in.DefaultSampleType != "count" || m.File != "run.json" || !m.HasFunctions || !m.HasFilenames || !m.HasLineNumbers {
		t.Errorf("default %q, mapping %+v", in.DefaultSampleType, m)
	}
}

func TestPprofRefusals(t *testing.T) {
	total := &Profile{Columns: []Column{{Name: "CUDA total", Unit: "nanoseconds", Total: true}}}
	if err := total.WritePprof(io.Discard); err == nil || !strings.Contains(err.Error(), "CUDA total") {
		t.Errorf("a column of totals: %v", err)
	}
	if err := (&Profile{Default: 1}).WritePprof(io.Discard); err == nil {
		t.Error("a profile that is wrong was written")
	}
	bad := &Profile{Columns: gpuColumns, Source: "\xff", Samples: []Sample{{Stack: stack("\xffk"), Values: []int64{1, 2}, Labels: []Label{{Key: "a", Text: "\xff"}}}}}
	got, err := ReadPprof(bytes.NewReader(written(t, bad)), "f", Limits{})
	if err != nil || got.Samples[0].Stack[0].Name != "\ufffdk" || got.Source != "\ufffd" || got.Samples[0].Labels[0].Text != "\ufffd" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := total.WritePprof(&failing{}); err == nil {
		t.Error("a write error was lost")
	}
	if err := bad.WritePprof(&failing{}); !errors.Is(err, errFull) {
		t.Errorf("%v, want the write error", err)
	}
}

var errFull = errors.New("disk full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

// TestReadInlined has a location of two functions, two without any, a label
// that is empty, and the last column as the default.
func TestReadInlined(t *testing.T) {
	m := &google.Mapping{ID: 1, File: "/bin/server"}
	inner, outer := &google.Function{ID: 1, Name: "inner", Filename: "x.c"}, &google.Function{ID: 2, Name: "outer", Filename: "y.c"}
	both := &google.Location{ID: 1, Mapping: m, Line: []google.Line{{Function: inner, Line: 3}, {Function: outer, Line: 4}}}
	none, odd := &google.Location{ID: 2, Mapping: m, Address: 0x4012ab}, &google.Location{ID: 7}
	in := &google.Profile{
		SampleType: []*google.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		Sample: []*google.Sample{{
			Location: []*google.Location{both, none, odd}, Value: []int64{1, -5},
			Label: map[string][]string{"b": {"x", ""}, "a": {"z", "y"}}, NumLabel: map[string][]int64{"n": {1, 2}}, NumUnit: map[string][]string{"n": {"", "bytes"}},
		}},
		Mapping: []*google.Mapping{m}, Location: []*google.Location{both, none, odd}, Function: []*google.Function{inner, outer},
		TimeNanos: 5, DurationNanos: 6, Comments: []string{"hello"},
	}
	var plain bytes.Buffer
	if err := in.WriteUncompressed(&plain); err != nil {
		t.Fatal(err)
	}
	got, err := ReadPprof(&plain, "f", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Profile{
		Columns: []Column{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}, Default: 1,
		Samples: []Sample{{
			Stack:  []Frame{{"0x0", "", 0}, {"0x4012ab", "/bin/server", 0}, {"outer", "y.c", 4}, {"inner", "x.c", 3}},
			Values: []int64{1, -5},
			Labels: []Label{{Key: "a", Text: "y"}, {Key: "a", Text: "z"}, {Key: "b", Text: "x"}, {Key: "n", Number: 1}, {Key: "n", Number: 2, Unit: "bytes"}},
		}},
		Source: "/bin/server", Time: 5, Duration: 6, Comments: []string{"hello"},
	}, got); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
}

// TestReadGo reads what Go's own profiler writes.
func TestReadGo(t *testing.T) {
	var b bytes.Buffer
	if err := pprof.Lookup("heap").WriteTo(&b, 0); err != nil {
		t.Fatal(err)
	}
	in, err := google.Parse(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	p, err := ReadPprof(&b, "heap", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Samples) == 0 || len(p.Samples) != len(in.Sample) || p.Columns[p.Default].Name != "inuse_space" {
		t.Fatalf("%d samples of %d, default %+v", len(p.Samples), len(in.Sample), p.Columns[p.Default])
	}
	for i, s := range in.Sample {
		leaf := s.Location[0].Line[0]
		f := p.Samples[i].Stack[len(p.Samples[i].Stack)-1]
		if !cmp.Equal(p.Samples[i].Values, s.Value) || f.Name != leaf.Function.Name || f.Line != leaf.Line {
			t.Errorf("sample %d is %+v", i, p.Samples[i])
		}
	}
}

// field encodes a field of bytes.
func field(number byte, body string) string {
	return string([]byte{number<<3 | 2, byte(len(body))}) + body
}

// TestReadPprofHostile: each is an error that names the input, and the place
// where that is known.
func TestReadPprofHostile(t *testing.T) {
	packed := func(s string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		io.WriteString(z, s)
		z.Close()
		return b.String()
	}
	many := strings.Repeat(field(2, ""), 9<<20)
	for name, tt := range map[string]struct {
		in, want string
		offset   int64 // of a diag.Error, or -1
	}{
		"empty":           {"", "f: is empty", -1},
		"empty inside":    {packed(""), "f: is empty", -1},
		"cut gzip":        {packed(many)[:1000], "f: the file is cut or damaged (unexpected EOF): copy it again", -1},
		"only magic":      {"\x1f\x8b", "f: ", -1},
		"text":            {"hello", "unknown wire type 4", 3},
		"short":           {field(6, "") + "\x0a\x05abc", "f@4: cannot be read as a pprof profile: a field of 5 bytes has only 3", 4},
		"wire type":       {field(6, "") + "\x07", "unknown wire type 7", 3},
		"no end":          {"\x48\xff\xff", "a number that does not end", 1},
		"inside":          {field(2, "\x0a\x05abc"), "a field of 5 bytes has only 3", 4},
		"bomb of samples": {packed(many), "over 1024 MiB of memory, the limit", 2 * (1<<30/128 + 1)},
		"no strings":      {field(1, "\x08\x01"), "malformed", -1},
		"no values":       {field(6, "") + field(1, "") + field(2, ""), "mismatch", -1},
		"nil location":    {field(6, "") + field(1, "") + field(2, "\x08\x01\x10\x01"), "nil location", -1},
	} {
		p, err := ReadPprof(strings.NewReader(tt.in), "f", Limits{})
		if err == nil {
			t.Errorf("%s: read as %+v", name, p)
			continue
		}
		at := int64(-1)
		if de := (*diag.Error)(nil); errors.As(err, &de) {
			at = de.Pos.Offset
		}
		if !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "f") || at != tt.offset {
			t.Errorf("%s: %q at %d; want %q at %d", name, err, at, tt.want, tt.offset)
		}
	}
}

// TestWireBudget: what is inside a sample counts too.
func TestWireBudget(t *testing.T) {
	data := []byte(field(2, field(1, strings.Repeat("\x01", 100))+field(3, "")+"\x10\x01"))
	need := int64(recordBytes + (len(data) - 2) + 3*nestedBytes + 100*numberBytes)
	for _, budget := range []int64{need, need - 1} {
		w := wire{data: data, budget: budget}
		if err := w.check(); (err == nil) != (budget == need) {
			t.Errorf("a budget of %d of %d: %v", budget, need, err)
		}
	}
}

func TestReadPackedLimit(t *testing.T) {
	for _, n := range []int{1 << 20, 1<<20 + 1} {
		got, err := readPacked(strings.NewReader(strings.Repeat("x", n)), 1<<20)
		if whole := n == 1<<20; (err == nil) != whole || whole && len(got) != n {
			t.Errorf("%d bytes: %d read, %v", n, len(got), err)
		}
	}
}

// TestStackBudget: samples that share one deep location are small in a file and
// large in memory.
func TestStackBudget(t *testing.T) {
	deep := &google.Location{ID: 1, Line: slices.Repeat([]google.Line{{Function: &google.Function{ID: 1}}}, 1000)}
	in := &google.Profile{Location: []*google.Location{deep}, SampleType: []*google.ValueType{{}}}
	for range 10 {
		in.Sample = append(in.Sample, &google.Sample{Location: []*google.Location{deep}, Value: []int64{1}})
	}
	if p := fromPprof(in, 400000, "f"); len(p.Samples) != 10 || len(p.Issues) > 0 {
		t.Errorf("just within the budget: %d samples, %v", len(p.Samples), p.Issues)
	}
	p := fromPprof(in, 399999, "f")
	if last := p.Samples[len(p.Samples)-1]; len(p.Samples) != 10 || p.Sum(0) != 10 || last.Stack[0].Name != OtherStacks || len(p.Issues) != 1 || p.Issues[0].Code != "table-rows-pooled" || p.Issues[0].Count != 1 {
		t.Errorf("over the budget: %d samples, sum %d, %v", len(p.Samples), p.Sum(0), p.Issues)
	}
}

// TestGoTool lets pprof itself print a profile: names are whole, kernels that
// differ in template arguments stay separate, sums are right.
func TestGoTool(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil || !test.Long() {
		t.Skip("compiles pprof: make long")
	}
	b := NewBuilder(gpuColumns...)
	b.Add(stack("step", "void at::native::(anonymous namespace)::Cat<float, 4>(int)"), []Label{{Key: "stream", Text: "stream 7"}}, 2, 1500)
	b.Add(stack("step", "void at::native::(anonymous namespace)::Cat<half, 4>(int)"), nil, 3, 400)
	b.Add(stack("step", "Memcpy HtoD (Pageable -> Device)"), nil, 1, 100)
	p := b.Profile()
	p.Default, p.Source = 1, "run.json.gz"
	file := filepath.Join(t.TempDir(), "p.pb.gz")
	if err := os.WriteFile(file, written(t, p), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		cmd := exec.Command(goTool, append([]string{"tool", "pprof"}, append(args, file)...)...)
		var talk strings.Builder
		cmd.Stderr = &talk
		out, err := cmd.Output()
		if err != nil {
			t.Skipf("go tool pprof does not run here: %v %s", err, talk.String())
		}
		if talk.Len() > 0 {
			t.Errorf("pprof says: %s", talk.String())
		}
		return regexp.MustCompile(` +`).ReplaceAllString(string(out), " ")
	}
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{"-top"}, []string{"File: run.json.gz", "Type: gpu", "2000ns total", "1500ns 75.00% 75.00% 1500ns 75.00% void at::native::(anonymous namespace)::Cat<float, 4>(int)\n", "100ns 5.00% 100% 100ns 5.00% Memcpy HtoD (Pageable -> Device)\n", "0 0% 100% 2000ns 100% step\n"}},
		{[]string{"-top", "-sample_index=count"}, []string{"Type: count", "6 total", "3 50.00% 50.00% 3 50.00% void at::native::(anonymous namespace)::Cat<half, 4>(int)\n"}},
		{[]string{"-top", "-tagfocus=stream=stream 7"}, []string{"1.50us, 75.00% of 2us total"}},
	} {
		out := run(tt.args...)
		for _, want := range tt.want {
			if !strings.Contains(out, want) {
				t.Errorf("pprof %s has no %q:\n%s", tt.args, want, out)
			}
		}
	}
}

// FuzzReadPprof: any input is an error or a profile that is consistent, and
// that is the same when it is written and read again.
func FuzzReadPprof(f *testing.F) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 5 {
		file := written(f, random(rnd))
		f.Add(file)
		z, err := gzip.NewReader(bytes.NewReader(file))
		if err != nil {
			f.Fatal(err)
		}
		plain, err := io.ReadAll(z)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(plain)
	}
	f.Add([]byte(field(6, "") + field(1, "") + field(2, "\x08\x01\x10\x01")))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 64<<10 {
			return
		}
		p, err := ReadPprof(bytes.NewReader(in), "f", Limits{})
		if err != nil {
			return
		}
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		again, err := ReadPprof(bytes.NewReader(written(t, p)), "f", Limits{})
		if err != nil {
			t.Fatal(err)
		}
		third, err := ReadPprof(bytes.NewReader(written(t, again)), "f", Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(again, third); diff != "" {
			t.Fatalf("once(-) twice(+)\n%s", diff)
		}
		for i := range p.Columns {
			if p.Sum(i) != again.Sum(i) {
				t.Fatalf("column %d sums to %d, then to %d", i, p.Sum(i), again.Sum(i))
			}
		}
	})
}
