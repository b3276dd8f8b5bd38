package pyprof

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/diag"
)

// TestCallgrind: the calls are drawn next to the costs.
//
//	main 10 ──2──► f 30 ──1──► g 500   g is inlined into f for 5 more
//	     └──1──► g
func TestCallgrind(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"names by number, positions relative and hexadecimal, files of inlined code, jumps", `
		# callgrind format
		version: 1
		creator: callgrind-3.19.0
		cmd: ./a.out --flag=1
		positions: instr line
		events: Ir Dr
		summary: 1245 4

		ob=(1) /bin/a.out
		fl=(1) a.c
		fn=(1) main
		0x400 3 6 1
		+4 +1 4
		cfn=(2) f
		calls=2 0x500 20
		* * 1035 2
		cob=(2) /lib/libg.so
		cfi=(2) g.c
		cfn=(3) g
		calls=1 0x600 1
		+8 5 200 1

		fn=(2)
		0x500 20 20 2
		jump=1 0x520 22
		0x504 21
		jcnd=1/3 0x530 23
		+4 *
		fi=(2)
		+4 7 5
		fe=(1)
		+4 24 10
		cob=(2)
		cfi=(2)
		cfn=(3)
		calls=1 0x600 1
		+4 25 1000

		ob=(2)
		fl=(2)
		fn=(3)
		0x600 1 1200 1
		totals: 1245 4
		`, []string{
			"function  count self total Dr Dr total",
			"main: ? 10 1245 1 4 file=a.c object=/bin/a.out",
			"g: 2 1200 1200 1 1 file=g.c object=/lib/libg.so",
			"f: 2 35 1035 2 2 file=a.c object=/bin/a.out",
			"edge  count total Dr total",
			"f: 2 1035 2 caller=main file=a.c object=/bin/a.out",
			"g: 1 1000 0 caller=f file=g.c object=/lib/libg.so",
			"g: 1 200 1 caller=main file=g.c object=/lib/libg.so",
		}},
		{"yappi: ticks are microseconds, places are in names", `
		version: 1
		creator: yappi
		events: Ticks

		fl=(1) /app/my app.py
		fl=(2) ~

		fn=(1) Server.verify /app/my app.py:10
		fn=(2) f g ~:0

		fl=(1)
		fn=(1)
		10 5
		cfl=(2)
		cfn=(2)
		calls=3 0
		0 70
		cfl=(9)
		cfn=(9)
		calls=1 0
		0 2

		fl=(2)
		fn=(2)
		0 7
		`, []string{
			"function  count self total",
			"/app/my app.py:10 Server.verify: ? 5000 77000",
			"{f g}: 3 7000 70000",
			"edge  count total",
			"{f g}: 3 70000 caller=/app/my app.py:10 Server.verify",
			"info callgrind-callee-unknown ×1 at in:19", "info calls-missing ×1 at in:1",
		}},
		{"recursion: directly is fine, in a circle totals are not known", `
		events: ns
		fn=main
		1 1
		cfn=f
		calls=1 1
		1 111
		cfn=a
		calls=1 1
		1 30
		fn=f
		1 10
		cfn=f
		calls=9 1
		1 100
		cfn=g
		calls=1 1
		1 101
		fn=g
		1 101
		fn=a
		1 20
		cfn=b
		calls=2 1
		1 10
		fn=b
		1 10
		cfn=a
		calls=1 1
		1 5
		`, []string{
			"function  count self total",
			"main: ? 1 142", "f: 10 10 111", "g: 1 101 101", "a: 2 20 ?", "b: 2 10 ?",
			"edge  count total",
			"f: 1 111 caller=main", "g: 1 101 caller=f", "f: 9 100 caller=f", "a: 1 30 caller=main", "b: 2 10 caller=a", "a: 1 5 caller=b",
			"info recursion-total-unknown ×2 at in:1",
		}},
		{"damage is skipped and counted", `
		events: Ir
		fn=f
		1 5
		1 5 5
		1 x
		what is this
		1 9223372036854775807
		fn=(7)
		1 1
		totals: 9
		`, []string{
			"function  count self total", "f: ? 5 5", "(7): ? 1 1",
			"suspect callgrind-name-unknown ×1 at in:8", "suspect callgrind-totals-differ ×1 at in:1", "data-loss callgrind-line-malformed ×4 at in:4",
		}},
		{"a function that is called and has no costs of its own", "events: Ir\nfn=f\n1 5\ncfn=g\ncalls=2 1\n1 7\n",
			[]string{"function  count self total", "f: ? 5 12", "g: 2 ? 7", "edge  count total", "g: 2 7 caller=f"}},
		{"several parts", "events: Ir\nfn=(1) f\n1 5\n\npart: 2\nevents: Ir\nfn=(1)\n1 6\n", []string{"function  count self total", "f: ? 11 11"}},
		{"parts that count other things", "events: Ir\nfn=(1) f\n1 5\nevents: Ir Dr\n",
			[]string{"function  count self total", "f: ? 5 5", "error in:4: a part that counts 2 events behind one that counts 1"}},
		{"no events", "version: 1\nevents:\nfn=f\n1 5\n", []string{"error in:2: 0 events, want 1 to 64"}},
		{"no costs", "version: 1\nevents: Ir\n", []string{"error in:1: no cost of any function; the profiler was started and stopped without work between, or the file is cut"}},
		{"Xdebug", "creator: xdebug 3.2.0 (PHP 8.1)\nevents: Time_(10ns) Memory_(bytes)\nfn=main\n1 3 64\n",
			[]string{"function  count self total Memory_(bytes) Memory_(bytes) total", "main: ? 30 30 64 64"}},
	} {
		if diff := cmp.Diff(tt.want, counts(ReadCallgrind, dedent(tt.in), Limits{})); diff != "" {
			t.Errorf("%s: want(-) got(+)\n%s", tt.name, diff)
		}
	}
}

// TestCallgrindDeep: a chain of calls of any length is walked without recursion.
func TestCallgrindDeep(t *testing.T) {
	const n = 30_000
	var b strings.Builder
	b.WriteString("events: Ir\n")
	for i := range n {
		fmt.Fprintf(&b, "fn=f%d\n1 1\ncfn=f%d\ncalls=1 1\n1 %d\n", i, i+1, n-i-1)
	}
	tables, err := ReadCallgrind(strings.NewReader(b.String()), "in", Limits{Rows: 2})
	if err != nil {
		t.Fatal(err)
	}
	functions := tables.List[0]
	if r := functions.Rows[0]; r.Name != "f0" || r.Cells[2].Value != n || functions.Sum(1).Value != n || functions.Left != n-1 {
		t.Errorf("first row is %+v, self times sum to %d, %d more", r, functions.Sum(1).Value, functions.Left)
	}
}

// TestTree: of a random tree of calls, which any profiler can write without a
// gap, every total is the sum of what is below, worked out the slow way.
func TestTree(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		n := 1 + rnd.IntN(30)
		parent, self := make([]int, n), make([]int64, n)
		for i := range n {
			self[i] = rnd.Int64N(100)
			if i > 0 {
				parent[i] = rnd.IntN(i)
			}
		}
		total := make([]int64, n)
		for i := range n {
			for at := i; ; at = parent[at] {
				total[at] += self[i]
				if at == 0 {
					break
				}
			}
		}
		var b strings.Builder
		b.WriteString("events: Ir\n")
		for i := range n {
			fmt.Fprintf(&b, "fn=f%d\n1 %d\n", i, self[i])
			for j := 1; j < n; j++ {
				if parent[j] == i {
					fmt.Fprintf(&b, "cfn=f%d\ncalls=1 1\n1 %d\n", j, total[j])
				}
			}
		}
		tables, err := ReadCallgrind(strings.NewReader(b.String()), "in", Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if len(tables.List[0].Rows) != n || len(tables.Issues) > 0 {
			t.Fatalf("%d rows, want %d; %+v", len(tables.List[0].Rows), n, tables.Issues)
		}
		for _, r := range tables.List[0].Rows {
			i := 0
			fmt.Sscanf(r.Name, "f%d", &i)
			if r.Cells[1].Value != self[i] || r.Cells[2].Value != total[i] {
				t.Errorf("%s has %d and %d, want %d and %d in\n%s", r.Name, r.Cells[1].Value, r.Cells[2].Value, self[i], total[i], b.String())
			}
		}
	}
}

// TestCircles compares with the obvious definition: a function is in a circle if
// another one that it reaches reaches it.
func TestCircles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		n := 1 + rnd.IntN(8)
		g := newGraph(defaultMemory)
		g.events = []event{{size: 1}}
		for i := range n {
			g.function(id{name: fmt.Sprint(i)})
		}
		reach := make([][]bool, n)
		for i := range n {
			reach[i] = make([]bool, n)
		}
		for range rnd.IntN(2 * n) {
			a, b := rnd.IntN(n), rnd.IntN(n)
			g.edge(int32(a), int32(b))
			reach[a][b] = true
		}
		for k := range n {
			for i := range n {
				for j := range n {
					reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
				}
			}
		}
		for i, got := range g.circles() {
			want := false
			for j := range n {
				want = want || i != j && reach[i][j] && reach[j][i]
			}
			if got != want {
				t.Fatalf("function %d: %v, want %v; calls %+v", i, got, want, g.edges)
			}
		}
	}
}

// TestGraphMemory: what functions and calls with many values take, with the tables
// that come of them, is what their budget says.
func TestGraphMemory(t *testing.T) {
	const budget = 32 << 20
	g := newGraph(defaultMemory)
	g.budget = budget
	for range maxEvents {
		g.events = append(g.events, event{unit: "count", size: 1})
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := 0; !g.full(); i++ {
		at := g.function(id{name: strconv.Itoa(i)})
		g.edge(at, at/2)
	}
	g.sumTotals()
	list := g.tables("x", Limits{}, new(diag.Ledger))
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > budget || used < budget/10 {
		t.Errorf("%d functions take %d bytes, want up to %d", len(g.functions), used, budget)
	}
	if len(list) != 2 || len(list[0].Rows) != len(g.functions)-1 || g.others < 0 || list[0].Left != 1 {
		t.Errorf("%d tables of %d functions", len(list), len(g.functions))
	}
}

// TestCallgrindCut: a file that ends within a record, or without what its writer
// ends it with, is said to be cut; a whole one is not.
func TestCallgrindCut(t *testing.T) {
	const valgrind = "creator: callgrind-3.19.0\nevents: Ir\nsummary: 30\nfn=(1) main\n1 10\ncfn=(2) f\ncalls=1 5\n2 20\nfn=(2)\n5 20\n"
	const yappi = "version: 1\ncreator: yappi\nevents: Ticks\n\nfl=(1) a.py\nfn=(1) main a.py:1\n1 10\ncfl=(1)\ncfn=(2) f a.py:5\ncalls=1 0\n0 20\n\nfl=(1)\nfn=(2)\n5 20"
	for name, tt := range map[string]struct {
		in   string
		want []string
	}{
		"whole":                     {valgrind + "totals: 30\n", nil},
		"without totals":            {valgrind, []string{"input-truncated"}},
		"without its last cost":     {strings.TrimSuffix(valgrind, "5 20\n"), []string{"callgrind-totals-differ", "input-truncated"}},
		"in a number":               {strings.TrimSuffix(valgrind, "0\n"), []string{"callgrind-totals-differ", "input-truncated"}},
		"behind a call":             {strings.TrimSuffix(valgrind, "2 20\nfn=(2)\n5 20\n"), []string{"callgrind-totals-differ", "input-truncated"}},
		"yappi, whole":              {yappi, nil},
		"yappi, without its cost":   {strings.TrimSuffix(yappi, " 20"), []string{"input-truncated"}},
		"yappi, behind a function":  {strings.TrimSuffix(yappi, "\n5 20"), []string{"input-truncated"}},
		"yappi, in a name":          {strings.TrimSuffix(yappi, "(2)\n5 20"), []string{"input-truncated"}},
		"yappi, behind a call":      {strings.TrimSuffix(yappi, "\n0 20\n\nfl=(1)\nfn=(2)\n5 20"), []string{"input-truncated"}},
		"another, without its line": {"events: ns\nfn=main\n1 10", []string{"input-truncated"}},
		"another, whole":            {"events: ns\nfn=main\n1 10\n", nil},
	} {
		tables, err := ReadCallgrind(strings.NewReader(tt.in), "in", Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, is := range tables.Issues {
			if is.Severity > diag.Info {
				got = append(got, is.Code)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || tables.Complete == slices.Contains(tt.want, "input-truncated") {
			t.Errorf("%s: complete %v, want(-) got(+)\n%s", name, tables.Complete, diff)
		}
	}
}
