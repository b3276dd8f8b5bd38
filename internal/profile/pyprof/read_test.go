package pyprof

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/profile"
)

// profiles is the folder of what testdata/profilers/make_profiles.py has made.
var profiles = filepath.Join("..", "..", "..", "testdata", "profilers")

type readFunc func(io.Reader, string, Limits) (*profile.Tables, error)

// readerOf finds the one reader that claims a file.
func readerOf(t testing.TB, name string, text []byte) readFunc {
	t.Helper()
	head := text[:min(4096, len(text))]
	var found readFunc
	for _, r := range []struct {
		sniff func([]byte) bool
		read  readFunc
	}{{SniffYappi, ReadYappi}, {SniffPstats, ReadPstats}, {SniffProf, ReadProf}, {SniffCallgrind, ReadCallgrind}} {
		if r.sniff(head) {
			if found != nil {
				t.Errorf("%s: two readers claim it", name)
			}
			found = r.read
		}
	}
	if found == nil {
		t.Fatalf("%s: no reader claims it", name)
	}
	return found
}

func readFile(t testing.TB, name string) *profile.Tables {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(profiles, name))
	if err != nil {
		t.Fatal(err)
	}
	tables, err := readerOf(t, name, text)(strings.NewReader(string(text)), name, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables.List {
		if err := table.Check(); err != nil {
			t.Error(err)
		}
	}
	if !tables.Complete {
		t.Errorf("%s: not read to its end", name)
	}
	return tables
}

// A wanted is a function as Python's own pstats reads it.
type wanted struct {
	File             string
	Line             int64
	Name             string
	Calls, Primitive int64
	Self, Total      float64
	Callers          map[string]float64
}

func (w wanted) key() string { return function(w.File, w.Line, w.Name) }

func wantedOf(t *testing.T, name string) map[string]wanted {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(profiles, name+".want.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []wanted
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	out := make(map[string]wanted)
	for _, w := range list {
		out[w.key()] = w
	}
	if len(out) != len(list) || len(out) < 100 {
		t.Fatalf("%s: %d names of %d functions", name, len(out), len(list))
	}
	return out
}

// cell returns a value of a row, or -1.
func cell(t *profile.Table, row profile.Row, column string) int64 {
	if i, ok := t.Column(column); ok && row.Cells[i].Known {
		return row.Cells[i].Value
	}
	return -1
}

// near reports whether a value is that many seconds, give or take some
// nanoseconds.
func near(ns int64, seconds float64, tolerance int64) bool {
	return math.Abs(float64(ns)-seconds*1e9) <= float64(tolerance)
}

// TestAgainstPython: every form of one profile has what Python itself reads from
// the binary one: exactly in binary, to the microsecond that yappi prints or to
// which its callgrind files are cut, to the millisecond that pstats prints.
func TestAgainstPython(t *testing.T) {
	const us, ms = 1000, 1000_000
	for _, tt := range []struct {
		file, want string
		tolerance  int64
		calls      bool // all numbers of calls are known
	}{
		{"yappi_cpu.pstat", "yappi_cpu.pstat", 1, true}, {"yappi_wall.pstat", "yappi_wall.pstat", 1, true}, {"cprofile.prof", "cprofile.prof", 1, true},
		{"yappi_cpu.txt", "yappi_cpu.pstat", us, true}, {"yappi_wall.txt", "yappi_wall.pstat", us, true},
		{"pstats.txt", "cprofile.prof", ms, true},
		{"yappi_cpu.callgrind", "yappi_cpu.pstat", us, false}, {"yappi_wall.callgrind", "yappi_wall.pstat", us, false},
	} {
		want := wantedOf(t, tt.want)
		table := readFile(t, tt.file).List[0]
		if len(table.Rows) != len(want) || table.Of != profile.OfFunction {
			t.Errorf("%s: %d rows of %s, want %d", tt.file, len(table.Rows), table.Of, len(want))
		}
		totals := 0
		for _, row := range table.Rows {
			w, ok := want[row.Name]
			self, total, count := cell(table, row, "self"), cell(table, row, "total"), cell(table, row, "count")
			if !ok || !near(self, w.Self, tt.tolerance) {
				t.Errorf("%s: %s has %d ns itself, want %+v", tt.file, row.Name, self, w)
				continue
			}
			if tt.calls && (count != w.Calls || cell(table, row, "primitive") != w.Primitive) {
				t.Errorf("%s: %s was called %d times, want %d/%d", tt.file, row.Name, count, w.Calls, w.Primitive)
			}
			// Calls that took nothing, in whole units, leave no trace in a callgrind file.
			const seen = 20 * us
			if count >= 0 && count != w.Calls && (tt.calls || count > w.Calls || w.Total*1e9/float64(w.Calls) > seen) {
				t.Errorf("%s: %s was called %d times, want %d or not known", tt.file, row.Name, count, w.Calls)
			}
			// A callgrind file has totals of calls only, and some of them are missing.
			if near(total, w.Total, tt.tolerance*int64(1+len(want)/50)) {
				totals++
			} else if tt.calls || float64(total) > w.Total*1e9 {
				t.Errorf("%s: %s has %d ns in all, want %g s", tt.file, row.Name, total, w.Total)
			}
		}
		if least := len(want) * 2 / 3; totals < least {
			t.Errorf("%s: %d totals of %d are right, want at least %d", tt.file, totals, len(want), least)
		}
	}
}

// TestCallsAgainstPython: the calls in cProfile's file are those that Python
// reads from it.
func TestCallsAgainstPython(t *testing.T) {
	want := map[string]float64{}
	for callee, w := range wantedOf(t, "cprofile.prof") {
		for caller, seconds := range w.Callers {
			p := strings.SplitN(caller, "|", 3)
			line := int64(0)
			fmt.Sscan(p[1], &line)
			want[function(p[0], line, p[2])+" -> "+callee] = seconds
		}
	}
	tables := readFile(t, "cprofile.prof")
	calls := tables.List[1]
	if calls.Of != profile.OfEdge || len(calls.Rows) != len(want) || len(want) < 100 {
		t.Fatalf("%d calls in a table of %s, want %d", len(calls.Rows), calls.Of, len(want))
	}
	for _, row := range calls.Rows {
		key := row.Labels[0].Text + " -> " + row.Name
		if seconds, ok := want[key]; !ok || row.Labels[0].Key != "caller" || !near(cell(calls, row, "total"), seconds, 1) {
			t.Errorf("%s is %+v, want %g s", key, row, seconds)
		}
	}
}

// TestServerLog: what NeMo Gym keeps of a log are the same rows.
func TestServerLog(t *testing.T) {
	for _, clock := range []string{"cpu", "wall"} {
		all, some := readFile(t, "yappi_"+clock+".txt").List[0], readFile(t, "yappi_"+clock+"_server.log").List[0]
		if all.Clock != clock || some.Clock != clock {
			t.Errorf("clocks are %q and %q, want %q", all.Clock, some.Clock, clock)
		}
		for _, row := range some.Rows {
			same := slices.ContainsFunc(all.Rows, func(r profile.Row) bool { return r.Name == row.Name && slices.Equal(r.Cells, row.Cells) })
			if !same || !strings.HasPrefix(row.Name, "/app/judge.py:") {
				t.Errorf("%+v is not in the whole table", row)
			}
		}
		if len(some.Rows) != 9 {
			t.Errorf("%d rows of the server, want 9", len(some.Rows))
		}
	}
}

// TestNarrow: yappi's own widths cut names and numbers of calls, not times.
func TestNarrow(t *testing.T) {
	wide, narrow := readFile(t, "yappi_cpu.txt").List[0], readFile(t, "yappi_cpu_narrow.txt")
	if len(narrow.List[0].Rows) != len(wide.Rows) {
		t.Fatalf("%d rows, want %d", len(narrow.List[0].Rows), len(wide.Rows))
	}
	cut := 0
	for i, row := range narrow.List[0].Rows {
		whole := wide.Rows[i]
		if tail, ok := strings.CutPrefix(row.Name, ".."); ok {
			cut++
			if !strings.HasSuffix(whole.Name, tail) {
				t.Errorf("%q is not the end of %q", row.Name, whole.Name)
			}
		} else if row.Name != whole.Name {
			t.Errorf("%q, want %q", row.Name, whole.Name)
		}
		if count := cell(narrow.List[0], row, "count"); count >= 0 && count != cell(wide, whole, "count") {
			t.Errorf("%s was called %d times", row.Name, count)
		}
		for _, column := range []string{"self", "total", "mean"} {
			if cell(narrow.List[0], row, column) != cell(wide, whole, column) {
				t.Errorf("%s of %s differs", column, row.Name)
			}
		}
	}
	for _, is := range narrow.Issues {
		switch {
		case is.Code == "names-cut" && is.Count == int64(cut) && cut > 100:
		case is.Code == "counts-cut" && is.Count == 1: // 520/40 of the recursion
		default:
			t.Errorf("issue %+v, %d names are cut", is, cut)
		}
	}
}

// TestThreads: the threads of one run by one clock.
func TestThreads(t *testing.T) {
	table := readFile(t, "yappi_wall_threads.txt").List[0]
	if table.Of != profile.OfThread || len(table.Rows) != 2 || table.Rows[0].Name != "_MainThread" || table.Rows[0].Labels[0] != (profile.Label{Key: "id", Text: "0"}) {
		t.Errorf("threads are %+v", table)
	}
	if i, ok := table.Column("total"); !ok || table.Columns[i].Adds != profile.Self {
		t.Error("times of threads do not add up")
	}
}

// TestTop: what pstats was told to leave out is the rest, and it all adds up to
// the line above the table.
func TestTop(t *testing.T) {
	table := readFile(t, "pstats_top.txt").List[0]
	whole := wantedOf(t, "cprofile.prof")
	var calls int64
	for _, w := range whole {
		calls += w.Calls
	}
	count, _ := table.Column("count")
	if sum := table.Sum(count); len(table.Rows) != 7 || table.Left != int64(len(whole)-7) || sum.Value != calls {
		t.Errorf("%d rows and %d more with %d calls, want 7, %d, %d", len(table.Rows), table.Left, sum.Value, len(whole)-7, calls)
	}
}
