package profile

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/test"
)

// TestSniffPprof: what profilers write is recognised by any of its beginnings
// that has the kinds of samples, and nothing else is.
func TestSniffPprof(t *testing.T) {
	var goes bytes.Buffer
	if err := pprof.Lookup("heap").WriteTo(&goes, 0); err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, packed := range map[string][]byte{"Go's": goes.Bytes(), "ours": written(t, random(rnd)), "gpu": written(t, &Profile{Columns: gpuColumns})} {
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{len(plain), len(plain) * 3 / 4, 40} {
			if !SniffPprof(plain[:min(n, len(plain))]) {
				t.Errorf("%s: the first %d bytes of %d are not recognised: %q", name, n, len(plain), plain[:min(40, len(plain))])
			}
		}
	}
	for name, text := range map[string]string{
		"empty": "", "text": "hello\n", "blank lines": "\n\n\n\nhello", "JSON": "\n{\"traceEvents\": []}", "folded": "a;b 12\n", "a line of 8": "\n\x08abcdefgh",
		"xplane": field(1, "\x08\x01\x12\x03gpu") + field(1, "x"), "samples first": field(2, "\x08\x01") + field(1, "\x08\x01\x10\x02"),
		"a large field number": field(1, "\x08\x01") + "\xfa\x01\x01x", "a field 0": "\x02\x01a", "empty kinds": field(1, ""), "gzip": "\x1f\x8b\x08\x00",
	} {
		if SniffPprof([]byte(text)) {
			t.Errorf("%s is taken for a profile", name)
		}
	}
}

func TestSniffFolded(t *testing.T) {
	long := strings.Repeat("torch/nn/modules/module.py(1501):__call_impl;", 200)
	for text, want := range map[string]bool{
		"main;f;g 12\nmain 3\n": true, "a;b 1": true, "\ufeffa;b 1\r\n\r\nc;d 2\r\n": true, "java;lang.Object wait [x] 7\n": true, long: true, long + "x 12\n": true,
		"": false, "a b 12\n": false, "main 1\nf 2\na;b 3\n": false, "a;b\n": false, "a;b 1.5\n": false, "a;b -1\n": false, "for (i = 0; i < 10\n": false,
		"x;y;z\n1;2;3\n": false, "a;b 1\nhello world\n": false, " a;b 1\n": false, "{a;b 1\n": false, "a;\x00b 1\n": false, strings.Repeat("x", 5000): false,
		strings.Repeat("var a=1;", 800): false, "step one; step two 12": false, "a;b 9223372036854775808": false, "a;b 9223372036854775808\n": false, "a;b 99999999999999999999\n": false,
	} {
		if got := SniffFolded([]byte(text[:min(4096, len(text))])); got != want {
			t.Errorf("%.60q: %v, want %v", text, got, want)
		}
	}
	text, err := os.ReadFile(test.Corpus(t, "formats", "torch_stacks", "export_stacks_1.13_self_cpu_time_total.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !SniffFolded(text[:4096]) {
		t.Error("the stacks of PyTorch are not recognised")
	}
	if c, known := FoldedColumn(text[:4096]); !known || c.Unit != "microseconds" {
		t.Errorf("their values are %+v, %v", c, known)
	}
}

// TestTidy: times are nanoseconds and sizes bytes, and other values stay.
func TestTidy(t *testing.T) {
	p := &Profile{
		Columns: []Column{{Name: "a", Unit: "microseconds"}, {Name: "b", Unit: "seconds"}, {Name: "c", Unit: "kilobytes"}, {Name: "d", Unit: "count"}, {Name: "e", Unit: "joules"}},
		Samples: []Sample{{Values: []int64{3, 2, 4, 5, 6}}, {Values: []int64{-1, math.MaxInt64, math.MinInt64, math.MaxInt64, 0}}},
	}
	p.Tidy()
	want := []Sample{{Values: []int64{3000, 2_000_000_000, 4096, 5, 6}}, {Values: []int64{-1000, math.MaxInt64, math.MinInt64, math.MaxInt64, 0}}}
	if diff := cmp.Diff(want, p.Samples); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
	units := []string{}
	for _, c := range p.Columns {
		units = append(units, c.Unit)
	}
	if got := strings.Join(units, " "); got != "nanoseconds nanoseconds bytes count joules" {
		t.Errorf("units are %s", got)
	}
}

// TestRows: a table is a profile of stacks of one frame, and every row and value
// is there again when it has gone through pprof.
func TestRows(t *testing.T) {
	table := &Table{Of: OfFunction, Columns: []Heading{{Name: "count", Unit: "count", Adds: Self}, {Name: "total", Unit: "nanoseconds", Adds: Total},
		{Name: "self", Unit: "nanoseconds", Adds: Self}, {Name: "mean", Unit: "nanoseconds"}},
		Rows: []Row{
			{Name: "/my dir/app.py:118 Server.verify", Cells: []Cell{Known(3), Known(90), Known(10), Known(30)}, Labels: []Label{{Key: "file", Text: "x"}}},
			{Name: "{built-in method sum}", Cells: []Cell{{}, Known(7), Known(7), {}}},
			{Name: "unknown", Cells: []Cell{Known(1), Known(7), {}, {}}},
		},
		Left: 4, Rest: []Cell{Known(9), {}, Known(5), {}}}
	p, missing, unknown := table.Profile()
	want := &Profile{Columns: []Column{{Name: "count", Unit: "count"}, {Name: "self", Unit: "nanoseconds"}}, Default: 1, Samples: []Sample{
		{Stack: []Frame{{"/my dir/app.py:118 Server.verify", "/my dir/app.py", 118}}, Values: []int64{3, 10}, Labels: []Label{{Key: "file", Text: "x"}}},
		{Stack: []Frame{{Name: "{built-in method sum}"}}, Values: []int64{0, 7}},
		{Stack: []Frame{{Name: "(4 rows left out)"}}, Values: []int64{9, 5}},
	}}
	if diff := cmp.Diff(want, p); diff != "" || missing != 1 || unknown != 1 {
		t.Errorf("%d missing, %d unknown; want(-) got(+)\n%s", missing, unknown, diff)
	}
	again, err := ReadPprof(bytes.NewReader(written(t, p)), "f", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, again); diff != "" {
		t.Errorf("through pprof: want(-) got(+)\n%s", diff)
	}
	if p, _, _ := (&Table{Columns: []Heading{{Name: "mean"}}}).Profile(); p != nil {
		t.Errorf("a table in which nothing adds up is %+v", p)
	}
}

// FuzzSniff: any prefix is answered, and what is taken for a profile.proto is
// read or refused in words.
func FuzzSniff(f *testing.F) {
	f.Add([]byte("a;b 1\n"))
	f.Add([]byte(field(1, "\x08\x01\x10\x02")))
	f.Fuzz(func(t *testing.T, in []byte) {
		if SniffFolded(in) {
			if _, err := ReadFolded(bytes.NewReader(in), "f", Column{}, Limits{}); err != nil && len(in) < 4096 {
				t.Errorf("%q is taken for folded stacks: %v", in, err)
			}
		}
		SniffPprof(in)
		FoldedColumn(in)
	})
}
