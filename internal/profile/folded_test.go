package profile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"assay/internal/diag"
)

var microseconds = Column{Name: "self_cpu_time_total", Unit: "microseconds"}

func folded(t testing.TB, p *Profile, column int) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.WriteFolded(&b, column); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWriteFolded(t *testing.T) {
	b := NewBuilder(gpuColumns...)
	for i, s := range [][]Frame{
		stack("step", "b;c", "gemm<float, 4>"),
		stack("step", "b:c", "gemm<float, 4>"), // the same after replacement
		stack("step", "a\nb\t\x00 c\u2028"),
		stack("step", ""),
		nil,
		stack("step 3", "step 12"), // not step, before and after
		{{"f", "a.py", 1}, {"g", "a.py", 2}},
		{{"f", "a.py", 3}, {"g", "a.py", 4}}, // the same but for the lines
		stack("never"),
		stack("\xff"),
	} {
		values := []int64{1, int64(i + 1)}
		if len(s) == 1 && s[0].Name == "never" {
			values[1] = 0
		}
		b.Add(s, nil, values...)
	}
	const want = `[unknown] 5
f;g 15
step 3;step_12 6
step;[unknown] 4
step;a b c 3
step;b:c;gemm<float, 4> 3
` + "\ufffd 10\n"
	if diff := cmp.Diff(want, folded(t, b.Profile(), 1)); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
	if got := folded(t, b.Profile(), 0); !strings.Contains(got, "never 1\n") {
		t.Errorf("the other column is\n%s", got)
	}
}

// TestWriteFoldedForLogs: no line is a command for the workflow whose log it is in,
// and none has marks that hide or turn text.
func TestWriteFoldedForLogs(t *testing.T) {
	b := NewBuilder(gpuColumns...)
	for _, name := range []string{"::error file=a::owned", "  ::stop-commands::x", ";;set-output name=a::b", "a##[error]owned", "\u202e::error::x", "a\u2066b\u200fc", "::at::native"} {
		b.Add(stack(name, "leaf"), nil, 1, 1)
	}
	for line := range strings.Lines(folded(t, b.Profile(), 1)) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			t.Errorf("%q is a command", line)
		}
		if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Errorf("%q has marks that do not print", line)
		}
	}
}

func TestWriteFoldedRefusals(t *testing.T) {
	p := &Profile{Columns: []Column{{Name: "diff"}, {Name: "all", Total: true}}, Samples: []Sample{{stack("a"), []int64{-1, 0}, nil}}}
	for column, want := range map[int]string{0: "negative", 1: `"all" holds totals`, 2: "no column 2", -1: "no column"} {
		if err := p.WriteFolded(&bytes.Buffer{}, column); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("column %d: %v, want %q", column, err, want)
		}
	}
	p.Samples[0].Values[0] = 1
	if err := p.WriteFolded(failing{}, 0); !errors.Is(err, errFull) {
		t.Errorf("%v, want the write error", err)
	}
	if err := (&Profile{Default: 3}).WriteFolded(&bytes.Buffer{}, 0); err == nil {
		t.Error("a profile that is wrong was written")
	}
}

// TestReadFolded has what torch.profiler's export_stacks writes, repeats and
// all, and what other programs do.
func TestReadFolded(t *testing.T) {
	in := "gen13.py(21):_<module>;torch/_ops.py(437):___call__ 161\r\n" +
		"gen13.py(21):_<module>;torch/_ops.py(437):___call__ 5\n" +
		"\n" +
		"main;void k<int, 4>(float) \t 7 \n" +
		"no value\nmain; 12.5\n 9\nmain -3\nmain 99999999999999999999\n" +
		strings.Repeat("deep;", 40000) + "leaf 2\n" +
		strings.Repeat("x", maxFoldedLine+100000) + " 8\n" +
		"last;one 1"
	p, err := ReadFolded(strings.NewReader(in), "f", microseconds, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range p.Samples {
		leaf := s.Stack[len(s.Stack)-1].Name
		got = append(got, fmt.Sprintf("%s/%d/%s %d", s.Stack[0].Name, len(s.Stack), leaf, s.Values[0]))
	}
	want := []string{"deep/40001/leaf 2", "gen13.py(21):_<module>/2/torch/_ops.py(437):___call__ 166", "last/2/one 1", "main/2/void k<int, 4>(float) 7"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
	if len(p.Issues) != 2 || p.Issues[0].Count != 6 || p.Issues[0].First != (diag.Pos{File: "f", Line: 5}) || p.Issues[1].Code != "last-line-open" || p.Columns[0] != microseconds {
		t.Errorf("columns %+v, issues %+v", p.Columns, p.Issues)
	}

	if p, err := ReadFolded(strings.NewReader(""), "f", microseconds, Limits{}); err != nil || len(p.Samples) != 0 {
		t.Errorf("an empty file, as export_stacks writes without stacks: %+v, %v", p, err)
	}
	_, err = ReadFolded(strings.NewReader("\nhello\n"), "f", microseconds, Limits{})
	if err == nil || !strings.HasPrefix(err.Error(), "f:2: no folded stack") {
		t.Errorf("no folded stacks: %v", err)
	}
	if _, err := ReadFolded(broken{}, "f", microseconds, Limits{}); !errors.Is(err, errFull) {
		t.Errorf("a read error: %v", err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errFull }

// TestFoldedBudget: what repeats is free, what is new is not.
func TestFoldedBudget(t *testing.T) {
	r := foldedReader{name: "f", b: NewBuilder(microseconds), budget: 1000}
	for range 100 {
		r.add("a;b 1")
	}
	if r.budget < 0 {
		t.Error("one stack a hundred times is over the budget")
	}
	in := strings.NewReader("a;b 1\na;b 1\na;c 2\na;d 4\na;e 8\n")
	r = foldedReader{name: "f", buf: bufio.NewReader(in), b: NewBuilder(microseconds), budget: 2000}
	p, err := r.read()
	if err != nil || p.Sum(0) != 16 || p.Cut || len(p.Samples) != 3 || p.Samples[0].Stack[0].Name != OtherStacks || p.Samples[0].Values[0] != 12 ||
		len(p.Issues) != 1 || p.Issues[0].Code != "table-rows-pooled" || p.Issues[0].Count != 2 || p.Issues[0].First.Line != 4 {
		t.Errorf("what is over the budget: %+v, %v", p, err)
	}
}

// TestFoldedCut: what was read before an error of the input stays.
func TestFoldedCut(t *testing.T) {
	p, err := ReadFolded(io.MultiReader(strings.NewReader("a;b 1\na;c 2\na;d"), broken{}), "f", microseconds, Limits{})
	if err != nil || p.Sum(0) != 3 || !p.Cut || p.Issues[0].Code != "input-truncated" || !strings.Contains(p.Issues[0].Help, "disk full") {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestFoldedRoundTrip: sums survive, and lines read as flamegraph.pl reads them
// give the same stacks. Its pattern is tried twice, as it does to find the two
// values of a comparison.
func TestFoldedRoundTrip(t *testing.T) {
	value := regexp.MustCompile(`^(.*?)\s+(\d+(?:\.\d*)?)$`)
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		p := random(rnd)
		text := folded(t, p, 1)
		var sum int64
		for line := range strings.Lines(text) {
			m := value.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if m == nil || value.MatchString(m[1]) {
				t.Fatalf("not one stack and one value: %q", line)
			}
			n, err := strconv.ParseInt(m[2], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += n
		}
		again, err := ReadFolded(strings.NewReader(text), "f", p.Columns[1], Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if sum != p.Sum(1) || again.Sum(0) != sum || len(again.Issues) > 0 {
			t.Fatalf("sum %d, as text %d, read again %d, %v", p.Sum(1), sum, again.Sum(0), again.Issues)
		}
		if diff := cmp.Diff(text, folded(t, again, 0)); diff != "" {
			t.Fatalf("once(-) twice(+)\n%s", diff)
		}
	}
}

// FuzzReadFolded: any input is an error or a profile whose text reads back as
// the same text with the same sum.
func FuzzReadFolded(f *testing.F) {
	f.Add("a;b 1\na;c 2\n")
	f.Add("a;;b  12 3\r\n; 1\n\xff;\x00 9223372036854775807\n")
	f.Fuzz(func(t *testing.T, in string) {
		p, err := ReadFolded(strings.NewReader(in), "f", microseconds, Limits{})
		if err != nil {
			return
		}
		text := folded(t, p, 0)
		again, err := ReadFolded(strings.NewReader(text), "f", microseconds, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := folded(t, again, 0); got != text || len(again.Issues) > 0 || again.Sum(0) != p.Sum(0) {
			t.Fatalf("%q became %q, then %q; issues %v", in, text, got, again.Issues)
		}
	})
}

func ExampleBuilder() {
	b := NewBuilder(Column{Name: "count", Unit: "count"}, Column{Name: "gpu", Unit: "nanoseconds"})
	step := Frame{Name: "forward", File: "train.py", Line: 12}
	b.Add([]Frame{step, {Name: "gemm"}}, nil, 1, 1500)
	b.Add([]Frame{step, {Name: "softmax"}}, nil, 1, 300)
	b.Add([]Frame{step, {Name: "gemm"}}, nil, 1, 1400)
	p := b.Profile()
	gpu, _ := p.Column("gpu")
	fmt.Println(p.Sum(gpu))
	p.WriteFolded(os.Stdout, gpu)
	// Output:
	// 3200
	// forward;gemm 2900
	// forward;softmax 300
}
