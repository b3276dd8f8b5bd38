package nsys

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/interval"
	"assay/internal/test"
	"assay/trace"
)

// exportsOf returns the exports of the corpus that match, or skips the test.
func exportsOf(tb testing.TB, pattern string) []string {
	tb.Helper()
	return test.Files(tb, filepath.Join(test.Corpus(tb, "nsight"), pattern))
}

// ask answers a query by the sqlite3 command line, one line a row.
func ask(t *testing.T, file, query string) []string {
	t.Helper()
	full, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sqlite3", "file:"+full+"?immutable=1&mode=ro", query).CombinedOutput()
	if err != nil {
		t.Fatalf("sqlite3: %v: %s", err, out)
	}
	text := strings.TrimSpace(string(out))
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// allWork is every table of device work that a file has, as one.
func allWork(t *testing.T, file string) string {
	var parts []string
	for _, name := range ask(t, file, `SELECT name FROM sqlite_master WHERE name IN ('CUPTI_ACTIVITY_KIND_KERNEL', 'CUPTI_ACTIVITY_KIND_MEMCPY', 'CUPTI_ACTIVITY_KIND_MEMSET')`) {
		parts = append(parts, `SELECT "start" AS b, "end" AS e, globalPid AS p, deviceId AS d FROM `+name)
	}
	return strings.Join(parts, " UNION ALL ")
}

// TestAgainstSQL takes the same sums with the sqlite3 command line: kernels and
// copies by name and size, calls by name, ranges, and the union of all work of
// each device by window functions.
func TestAgainstSQL(t *testing.T) {
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("no sqlite3")
	}
	for _, file := range exportsOf(t, "*/*.sqlite") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			tr, err := ReadSQLite(file, file, trace.SelectAll())
			if err != nil {
				t.Fatal(err)
			}
			compare := func(what string, got map[string][3]int64, query string) {
				t.Helper()
				want := ask(t, file, query)
				if len(want) != len(got) {
					t.Errorf("%s: %d names, sqlite3 has %d", what, len(got), len(want))
				}
				for _, line := range want {
					at := strings.LastIndex(line, "|#|")
					name, sums := line[:at], line[at+3:]
					g := got[name]
					if have := fmt.Sprintf("%d|%d|%d", g[0], g[1], g[2]); have != sums {
						t.Errorf("%s %q: %s, sqlite3 has %s", what, name, have, sums)
					}
				}
			}
			kernels, calls, sizes := make(map[string][3]int64), make(map[string][3]int64), make(map[string][3]int64)
			add := func(m map[string][3]int64, name string, dur, more int64) {
				s := m[name]
				m[name] = [3]int64{s[0] + 1, s[1] + dur, s[2] + more}
			}
			spans := make(map[string][]interval.Span)
			for a := range tr.Activities.All() {
				if a.Kind == trace.Kernel {
					add(kernels, tr.Name(a.Name), a.Dur, 0)
				} else {
					add(sizes, a.Kind.String(), a.Dur, tr.Detail(a.Detail).Bytes)
				}
				key := tr.Tracks[a.Track].PID
				spans[key] = append(spans[key], interval.Span{Start: a.Start, End: a.End()})
			}
			for c := range tr.Calls.All() {
				name := tr.Name(c.Name)
				if full, ok := tr.Meta.APINames[name]; ok {
					name = full
				}
				add(calls, name, c.Dur, 0)
			}
			compare("kernel", kernels, `SELECT replace(value, char(10), ' '), '#', count(*), sum("end" - "start"), 0 FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName GROUP BY 1`)
			compare("call", calls, `SELECT value, '#', count(*), sum("end" - "start"), 0 FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId WHERE eventClass IN (0, 1) GROUP BY 1`)
			for table, kind := range map[string]string{"CUPTI_ACTIVITY_KIND_MEMCPY": "gpu_memcpy", "CUPTI_ACTIVITY_KIND_MEMSET": "gpu_memset"} {
				if len(ask(t, file, `SELECT name FROM sqlite_master WHERE name = '`+table+`'`)) == 0 {
					if _, ok := sizes[kind]; ok {
						t.Errorf("%s without its table", kind)
					}
					continue
				}
				compare(kind, map[string][3]int64{kind: sizes[kind]}, `SELECT '`+kind+`', '#', count(*), coalesce(sum("end" - "start"), 0), coalesce(sum(bytes), 0) FROM `+table)
			}
			// Each process of these files works on one device.
			for _, line := range ask(t, file, `WITH w AS (`+allWork(t, file)+`),
				m AS (SELECT p, b, e, max(e) OVER (PARTITION BY p ORDER BY b, e ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM w)
				SELECT p >> 24 & 16777215, sum(max(0, e - max(b, coalesce(before, b)))) FROM m GROUP BY p`) {
				pid, want, _ := strings.Cut(line, "|")
				if got := interval.Of(spans[pid]...).Len(); fmt.Sprint(got) != want {
					t.Errorf("process %s: busy %d ns, sqlite3 has %s", pid, got, want)
				}
			}
			ranges := int64(tr.Ops.Len() + len(tr.Async))
			for s := range tr.Spans.All() {
				if s.Kind == trace.Annotation {
					ranges++
				}
			}
			if len(ask(t, file, `SELECT name FROM sqlite_master WHERE name = 'NVTX_EVENTS'`)) > 0 {
				if want := ask(t, file, `SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (59, 60, 70, 71)`); fmt.Sprint(ranges) != want[0] {
					t.Errorf("%d ranges, sqlite3 has %s", ranges, want[0])
				}
			} else if ranges > 0 {
				t.Errorf("%d ranges without their table", ranges)
			}
		})
	}
}
