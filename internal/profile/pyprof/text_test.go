package pyprof

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/profile"
)

// said is everything that reading a text came to: a line for each table, row and
// issue, or the error.
func counts(read readFunc, text string, limits Limits) []string {
	tables, err := read(strings.NewReader(text), "in", limits)
	var out []string
	if tables != nil {
		for _, t := range tables.List {
			out = append(out, saidTable(t)...)
		}
		for _, is := range tables.Issues {
			out = append(out, fmt.Sprintf("%s %s ×%d at %s", is.Severity, is.Code, is.Count, is.First))
		}
	}
	if err != nil {
		out = append(out, "error "+err.Error())
	}
	return out
}

func saidTable(t *profile.Table) []string {
	var names []string
	for _, h := range t.Columns {
		names = append(names, h.Name)
	}
	out := []string{strings.TrimSpace(fmt.Sprint(t.Of, " ", t.Clock, " ", strings.Join(names, " ")))}
	cells := func(cells []profile.Cell) string {
		var parts []string
		for _, c := range cells {
			if parts = append(parts, fmt.Sprint(c.Value)); !c.Known {
				parts[len(parts)-1] = "?"
			}
		}
		return strings.Join(parts, " ")
	}
	for _, r := range t.Rows {
		line := r.Name + ": " + cells(r.Cells)
		for _, l := range r.Labels {
			line += " " + l.Key + "=" + l.Text
		}
		out = append(out, line)
	}
	if t.Rest != nil {
		out = append(out, fmt.Sprintf("%d more: %s", t.Left, cells(t.Rest)))
	}
	return out
}

// dedent drops the indentation that test cases have.
func dedent(s string) string {
	lines := strings.Split(strings.Trim(s, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "\t\t")
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestYappi(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"spaces in names, recursion, times of all widths", `

		Clock type: WALL
		Ordered by: totaltime, desc

		name                      ncall  tsub      ttot      tavg      
		/my dir/app.py:1 A.b c    1      0.000001  123456.7  12345678  
		app.py:2 f                9/3    17.98387  17.98387  0.000000  
		app.py:3 g                40000  0.017250  0.017250  0.000000  
		app.py:4 h                52..   0.000020  0.000020  0.000000  `,
			[]string{"function wall count primitive self total mean", "/my dir/app.py:1 A.b c: 1 1 1000 123456700000000 12345678000000000",
				"app.py:2 f: 9 3 17983870000 17983870000 1998207777",
				"app.py:3 g: 40000 40000 17250000 17250000 431", "app.py:4 h: ? ? 20000 20000 ?", "data-loss counts-cut ×1 at in:8"}},
		{"no head, older header, fewer columns", `
		name   #n   ttot
		f      3    0.5`,
			[]string{"function  count primitive total", "f: 3 3 500000000"}},
		{"two tables, the second without a clock of its own", `
		Clock type: CPU
		name  ncall  tsub
		f     1      2.0
		name           id     tid              ttot      scnt        
		my thread      7      139789555385024  0.000005  3         `,
			[]string{"function cpu count primitive self", "f: 1 1 2000000000", "thread cpu total switches", "my thread: 5000 3 id=7 tid=139789555385024"}},
		{"header only", "\nClock type: CPU\nOrdered by: totaltime, desc\n\nname   ncall  tsub  ttot  tavg\n",
			[]string{"function cpu count primitive self total mean", "data-loss profile-rows-missing ×1 at in:4"}},
		{"damage is skipped and counted", `
		name  ncall  tsub      ttot
		f     1      0.000001  0.000001
		g     many   0.000001  0.000001
		h     1      0,000001  0.000001
		1.0   2.0
		i     1      -0.00001  0.000002
		j     17..   0.000001  0.000001
		k     1      99999999999999  0.000001
		..y.py:1 l  1  0.0  0.1`,
			[]string{"function  count primitive self total", "f: 1 1 1000 1000", "i: 1 1 ? 2000", "j: ? ? 1000 1000", "..y.py:1 l: 1 1 0 100000000",
				"data-loss counts-cut ×1 at in:7", "data-loss negative-time ×1 at in:6", "data-loss row-malformed ×4 at in:3", "info names-cut ×1 at in:9"}},
		{"nothing", "hello\n", []string{"error in:1: no table of yappi; give what print_all writes"}},
	} {
		if diff := cmp.Diff(tt.want, counts(ReadYappi, dedent(tt.in), Limits{})); diff != "" {
			t.Errorf("%s: want(-) got(+)\n%s", tt.name, diff)
		}
	}
}

func TestPstats(t *testing.T) {
	const head = "         30 function calls (28 primitive calls) in 4.500 seconds\n\n   Ordered by: cumulative time\n"
	const columns = "\n   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n"
	const f = "     10/8    1.250    0.125    4.500    0.563 /my dir/app.py:7(f)\n"
	const g = "       20    3.250    0.163    3.250    0.163 {built-in method time.sleep}\n"
	const rounded = "info times-rounded ×1 at in:5"
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"whole, behind a program's output", "epoch 1\n" + head + columns + f + g + "\n\n",
			[]string{"function  count primitive self total", "/my dir/app.py:7 f: 10 8 1250000000 4500000000", "{built-in method time.sleep}: 20 20 3250000000 3250000000",
				"info times-rounded ×1 at in:6"}},
		{"restricted twice", head + "   List reduced from 9 to 5 due to restriction <5>\n   List reduced from 5 to 1 due to restriction <'app'>\n" + columns + f,
			[]string{"function  count primitive self total", "/my dir/app.py:7 f: 10 8 1250000000 4500000000", "8 more: 20 20 3250000000 ?", "info times-rounded ×1 at in:7"}},
		{"rows cut off", head + columns + f,
			[]string{"function  count primitive self total", "/my dir/app.py:7 f: 10 8 1250000000 4500000000", "0 more: 20 20 3250000000 ?", "data-loss table-cut ×1 at in:5", rounded}},
		{"a function that was never called, and damage", strings.Replace(head, "30", "0", 1) + columns +
			"        0    0.000             0.000          app.py:1(f)\n        x    0.000    0.000    0.000    0.000 app.py:2(g)\n        1    0.000 app.py:3(h)\n",
			[]string{"function  count primitive self total", "app.py:1 f: 0 0 0 0", "data-loss row-malformed ×2 at in:7", rounded}},
		{"two tables, Python 2", strings.Replace(head, "seconds", "CPU seconds", 1) + columns + f + g + "\n" + head + columns + f + g,
			[]string{"function cpu count primitive self total", "/my dir/app.py:7 f: 10 8 1250000000 4500000000", "{built-in method time.sleep}: 20 20 3250000000 3250000000",
				"function  count primitive self total", "/my dir/app.py:7 f: 10 8 1250000000 4500000000", "{built-in method time.sleep}: 20 20 3250000000 3250000000", rounded}},
		{"callers beside functions", head + columns + f + g + "\n\nFunction     was called by...\n    ncalls  tottime  cumtime\nf <- 1 0.1 0.1 g\n",
			[]string{"function  count primitive self total", "/my dir/app.py:7 f: 10 8 1250000000 4500000000", "{built-in method time.sleep}: 20 20 3250000000 3250000000",
				"info callers-left-out ×1 at in:10", rounded}},
		{"callers alone", "Function     was called by...\nf <- 1 0.1 0.1 g\n",
			[]string{"error in:1: only tables of callers or callees, which have no totals; print the functions too (print_stats), or give the file of cProfile itself"}},
		{"nothing", "hello\n", []string{"error in:1: no table of pstats; give what print_stats prints"}},
	} {
		if diff := cmp.Diff(tt.want, counts(ReadPstats, tt.in, Limits{})); diff != "" {
			t.Errorf("%s: want(-) got(+)\n%s", tt.name, diff)
		}
	}
}

// TestLimits: rows over the limit are added up.
func TestLimits(t *testing.T) {
	in := "name ncall tsub ttot tavg\na 1 0.1 0.4 0.1\nb 2 0.2 0.5 0.1\nc 3 0.3 0.6 0.1\n"
	want := []string{"function  count primitive self total mean", "a: 1 1 100000000 400000000 100000000", "2 more: 5 5 500000000 1100000000 ?",
		"data-loss table-rows-pooled ×2 at in:3"}
	if diff := cmp.Diff(want, counts(ReadYappi, in, Limits{Rows: 1})); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
	long := "name ncall tsub\n" + strings.Repeat("x", 2<<20) + " 1 0.1\ny 1 0.2\n"
	want = []string{"function  count primitive self", "y: 1 1 200000000", "data-loss line-too-long ×1 at in:2", "data-loss row-malformed ×1 at in:2"}
	if diff := cmp.Diff(want, counts(ReadYappi, long, Limits{})); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
	many := strings.Repeat("name ncall tsub\nf 1 0.1\n", maxTables+3)
	if got := counts(ReadYappi, many, Limits{}); got[len(got)-1] != fmt.Sprintf("data-loss too-many-tables ×3 at in:%d", 2*maxTables+3) {
		t.Errorf("got %s", got[len(got)-1])
	}
}

// TestBroken: what was read before an error of the input stays.
func TestBroken(t *testing.T) {
	failed := errors.New("the disk is gone")
	for name, in := range map[string]struct {
		read readFunc
		text string
	}{
		"yappi":     {ReadYappi, "name ncall tsub\nf 1 0.1\n"},
		"pstats":    {ReadPstats, "ncalls tottime percall cumtime percall filename:lineno(function)\n 1 0.1 0.1 0.1 0.1 a.py:1(f)\n"},
		"callgrind": {ReadCallgrind, "events: Ir\nfn=f\n1 5\n"},
	} {
		tables, err := in.read(io.MultiReader(strings.NewReader(in.text), iotest.ErrReader(failed)), "in", Limits{})
		if !errors.Is(err, failed) || tables == nil || tables.Complete || len(tables.List) != 1 || len(tables.List[0].Rows) != 1 {
			t.Errorf("%s: %+v, %v", name, tables, err)
		}
		if tables, err := in.read(iotest.ErrReader(failed), "in", Limits{}); tables != nil || !errors.Is(err, failed) {
			t.Errorf("%s: %+v, %v", name, tables, err)
		}
	}
}

// TestSniff: what is not theirs is not claimed.
func TestSniff(t *testing.T) {
	for _, text := range []string{
		"", "\n\n", "name,ncall,tsub\n", "the name ncall tsub ttot\n", "name id\n", "Clock type: WALL\n", "hello\nname ncall tsub ttot tavg\n",
		`{"traceEvents": []}`, "{'name': 1}", "{(", "{)", "\xfb", "\xfb)\x02", "version: 1\n", "events:\n", "Time(%) Total Time (ns) Name\n", "a;b;c 12\n",
		"events: none of us went\n and more text\n"[8:], "creator: me\nhello: you\n",
	} {
		for name, sniff := range map[string]func([]byte) bool{"yappi": SniffYappi, "pstats": SniffPstats, "prof": SniffProf, "callgrind": SniffCallgrind} {
			if sniff([]byte(text)) {
				t.Errorf("%q is taken for %s", text, name)
			}
		}
	}
	for text, sniff := range map[string]func([]byte) bool{
		"\ufeffname ncall tsub ttot tavg\r\n": SniffYappi, "name id tid ttot scnt": SniffYappi,
		"1 function call in 0.001 seconds\n": SniffPstats, "{0": SniffProf, "\xfb\x30": SniffProf, "{(\x03\x00\x00\x00": SniffProf,
		"# callgrind format\n": SniffCallgrind, "version: 1\ncmd: " + strings.Repeat("x", 4000): SniffCallgrind, "events: Cycles\n": SniffCallgrind,
	} {
		if !sniff([]byte(text)) {
			t.Errorf("%.40q is not recognised", text)
		}
	}
	if !HasRows([]byte("name ncall tsub\nf 1 2\n")) || HasRows([]byte("\nClock type: CPU\n\nname ncall tsub\n\n")) || HasRows([]byte("hello\n")) {
		t.Error("rows are seen where there are none, or not seen")
	}
}
