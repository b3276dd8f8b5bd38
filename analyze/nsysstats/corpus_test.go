package nsysstats

import (
	"fmt"
	"math"
	"math/big"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/test"
	"assay/nsys"
	"assay/trace"
)

// An export is a real export of Nsight Systems.
type export struct {
	file  string
	trace *trace.Trace
}

// eachExport runs a test on every export of the corpus.
func eachExport(t *testing.T, check func(*testing.T, export)) {
	files := test.Files(t, filepath.Join(test.Corpus(t, "nsight"), "*", "*.sqlite"))
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("no sqlite3")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			tr, err := nsys.ReadSQLite(file, file, Needs(Names()))
			if err != nil {
				t.Fatal(err)
			}
			full, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			check(t, export{full, tr})
		})
	}
}

// ask runs a query with the sqlite3 command line tool and returns one line per
// row.
func (e export) ask(t *testing.T, query string) []string {
	t.Helper()
	out, err := exec.Command("sqlite3", "file:"+e.file+"?immutable=1&mode=ro", query).CombinedOutput()
	if err != nil {
		t.Fatalf("sqlite3: %v: %s", err, out)
	}
	text := strings.TrimSpace(string(out))
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func (e export) has(t *testing.T, table string) bool {
	return len(e.ask(t, `SELECT name FROM sqlite_master WHERE name = '`+table+`'`)) > 0
}

// spreads is the query with which a report on times is compared: SELECT label,
// d becomes rows like those of the report, except for the rounding: see
// tenthsOf.
const spreads = `WITH s AS (%s),
	g AS (SELECT label, count(*) AS n, sum(d) AS t, avg(d) AS a, min(d) AS lo, max(d) AS hi FROM s GROUP BY label),
	o AS (SELECT label, d, row_number() OVER (PARTITION BY label ORDER BY d) AS r, count(*) OVER (PARTITION BY label) AS n FROM s),
	m AS (SELECT label, avg(d) AS med FROM o WHERE r IN ((n + 1) / 2, (n + 2) / 2) GROUP BY label),
	q AS (SELECT s.label AS label, sum((d - a) * (d - a)) AS squares FROM s JOIN g USING (label) GROUP BY 1)
	SELECT printf('%%!.17g', t * 100.0 / (SELECT sum(t) FROM g)), t, n, printf('%%!.17g', a), printf('%%!.17g', med), lo, hi,
		printf('%%!.17g', CASE WHEN n > 1 THEN sqrt(squares / (n - 1)) ELSE 0 END), label
	FROM g JOIN m USING (label) JOIN q USING (label) ORDER BY t DESC, label`

// rounded rounds cells of rows to one decimal, from their exact binary value
// with a half up, like the tables printed by nsys stats 2024.6. SQLite 3.40
// itself rounds 841.15, which is less than that in binary, to 841.2.
func rounded(t *testing.T, rows []string, columns ...int) (out []string) {
	t.Helper()
	for _, row := range rows {
		cells := strings.Split(row, "|")
		for _, i := range columns {
			x, err := strconv.ParseFloat(cells[i], 64)
			if err != nil {
				t.Fatalf("%s: %v", row, err)
			}
			n := new(big.Rat).SetFloat64(x)
			n.Add(n.Mul(n, big.NewRat(10, 1)), big.NewRat(1, 2))
			floor := new(big.Int).Div(n.Num(), n.Denom()).String()
			if len(floor) == 1 {
				floor = "0" + floor
			}
			cells[i] = floor[:len(floor)-1] + "." + floor[len(floor)-1:]
		}
		out = append(out, strings.Join(cells, "|"))
	}
	return out
}

// TestAgainstSQL compares the reports on times with the results of SQLite, to
// the last digit.
func TestAgainstSQL(t *testing.T) {
	const nvtx = `SELECT CASE WHEN eventType IN (59, 70) THEN 'PushPop' ELSE 'StartEnd' END || '|' || coalesce(domain, '') || ':' ||
		coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) AS label, "end" - start AS d
		FROM NVTX_EVENTS LEFT JOIN (SELECT domainId AS number, globalTid >> 24 AS process, coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) AS domain
			FROM NVTX_EVENTS WHERE eventType = 75) ON number = domainId AND process = globalTid >> 24 WHERE eventType IN (59, 60, 70, 71)`
	for _, q := range []struct{ report, table, query string }{
		{"cuda_gpu_kern_sum", "CUPTI_ACTIVITY_KIND_KERNEL", `SELECT value AS label, "end" - start AS d FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName`},
		{"cuda_api_sum", "CUPTI_ACTIVITY_KIND_RUNTIME", `SELECT CASE WHEN value GLOB '*_v[0-9][0-9][0-9][0-9]' THEN substr(value, 1, length(value) - 6) ELSE value END AS label,
			"end" - start AS d FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId WHERE eventClass IN (0, 1)`},
		{"osrt_sum", "OSRT_API", `SELECT value AS label, "end" - start AS d FROM OSRT_API JOIN StringIds ON id = nameId WHERE eventClass = 27`},
		{"nvtx_sum", "NVTX_EVENTS", nvtx},
	} {
		t.Run(q.report, func(t *testing.T) {
			eachExport(t, func(t *testing.T, e export) {
				got, _ := rowsOf(t, e.trace, q.report)
				if !e.has(t, q.table) {
					if len(got) > 0 {
						t.Errorf("%d rows without %s", len(got), q.table)
					}
					return
				}
				want := rounded(t, e.ask(t, fmt.Sprintf(spreads, q.query)), 0, 3, 4, 7)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%d rows, want %d: sqlite3(-) got(+)\n%.2000s", len(got), len(want), diff)
				}
			})
		})
	}
}

// TestCopiesAgainstSQL compares the reports on copies, for exports that are new
// enough to have the labels.
func TestCopiesAgainstSQL(t *testing.T) {
	eachExport(t, func(t *testing.T, e export) {
		if !e.has(t, "ENUM_CUDA_MEMCPY_OPER") {
			t.Skip("the export has no labels")
		}
		var parts []string
		if e.has(t, "CUPTI_ACTIVITY_KIND_MEMCPY") {
			parts = append(parts, `SELECT '[CUDA memcpy ' || label || ']' AS label, "end" - start AS ns, bytes FROM CUPTI_ACTIVITY_KIND_MEMCPY JOIN ENUM_CUDA_MEMCPY_OPER ON id = copyKind`)
		}
		if e.has(t, "CUPTI_ACTIVITY_KIND_MEMSET") {
			parts = append(parts, `SELECT '[CUDA memset]', "end" - start, bytes FROM CUPTI_ACTIVITY_KIND_MEMSET`)
		}
		all := strings.Join(parts, " UNION ALL ")
		got, _ := rowsOf(t, e.trace, "cuda_gpu_mem_time_sum")
		check(t, "times", got, rounded(t, e.ask(t, fmt.Sprintf(spreads, `SELECT label, ns AS d FROM (`+all+`)`)), 0, 3, 4, 7)...)
		got, _ = rowsOf(t, e.trace, "cuda_gpu_mem_size_sum")
		sizes := e.ask(t, `SELECT printf('%.3f', sum(bytes) / 1e6), count(*), printf('%.3f', avg(bytes) / 1e6), printf('%.3f', min(bytes) / 1e6), printf('%.3f', max(bytes) / 1e6), label
			FROM (`+all+`) GROUP BY label ORDER BY sum(bytes) DESC, label`)
		for i, line := range got {
			cells := strings.Split(line, "|")
			got[i] = strings.Join(slices.Delete(slices.Delete(cells, 6, 7), 3, 4), "|") // without median and deviation
		}
		check(t, "sizes", got, sizes...)
	})
}

// A launched is one call of an export with a GPU operation that it launched.
type launched struct{ tid, callStart, callEnd, start, end int64 }

func (e export) launched(t *testing.T) (out []launched) {
	var parts []string
	for _, name := range []string{"KERNEL", "MEMCPY", "MEMSET"} {
		if e.has(t, "CUPTI_ACTIVITY_KIND_"+name) {
			parts = append(parts, `SELECT start AS s, "end" AS e, correlationId AS c, globalPid >> 24 AS p FROM CUPTI_ACTIVITY_KIND_`+name)
		}
	}
	if len(parts) == 0 || !e.has(t, "CUPTI_ACTIVITY_KIND_RUNTIME") {
		return nil
	}
	for _, line := range e.ask(t, `SELECT globalTid, start, "end", s, e FROM (`+strings.Join(parts, " UNION ALL ")+`)
		JOIN CUPTI_ACTIVITY_KIND_RUNTIME ON correlationId = c AND globalTid >> 24 = p AND eventClass IN (0, 1)`) {
		var l launched
		if _, err := fmt.Sscanf(line, "%d|%d|%d|%d|%d", &l.tid, &l.callStart, &l.callEnd, &l.start, &l.end); err != nil {
			t.Fatal(line, err)
		}
		out = append(out, l)
	}
	return out
}

// TestProjectionAgainstSQL examines every pair of a range and a launch, and
// every pair of ranges: a range is nested in all ranges that enclose it.
func TestProjectionAgainstSQL(t *testing.T) {
	type span struct {
		tid, start, end int64
		text            string
	}
	eachExport(t, func(t *testing.T, e export) {
		if !e.has(t, "NVTX_EVENTS") {
			t.Skip("no ranges")
		}
		var spans []span
		for _, line := range e.ask(t, `SELECT globalTid, start, "end", coalesce(domainId, 0) > 0, coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) FROM NVTX_EVENTS WHERE eventType = 59`) {
			cells := strings.SplitN(line, "|", 5)
			s := span{text: ":" + cells[4]}
			if cells[3] == "1" {
				s.text = e.ask(t, `SELECT coalesce(text, '') FROM NVTX_EVENTS WHERE eventType = 75`)[0] + s.text
			}
			fmt.Sscan(strings.Join(cells[:3], " "), &s.tid, &s.start, &s.end)
			spans = append(spans, s)
		}
		work := e.launched(t)
		type sums struct{ proj, total, count, ops, levels int64 }
		want := make(map[string]sums)
		for _, s := range spans {
			from, to, n := int64(math.MaxInt64), int64(math.MinInt64), int64(0)
			for _, l := range work {
				if l.tid == s.tid && l.callStart >= s.start && l.callEnd <= s.end {
					from, to, n = min(from, l.start), max(to, l.end), n+1
				}
			}
			if n == 0 {
				continue
			}
			level := int64(-1) // it encloses itself
			for _, o := range spans {
				if o.tid == s.tid && o.start <= s.start && o.end >= s.end {
					level++
				}
			}
			w := want[s.text]
			want[s.text] = sums{w.proj + to - from, w.total + s.end - s.start, w.count + 1, w.ops + n, w.levels + level}
		}
		told := make(map[string]string)
		for text, w := range want {
			told[text] = fmt.Sprint(w.proj, w.total, w.count, w.ops, " ", tenths(float64(w.levels)/float64(w.count)))
		}
		got := make(map[string]string)
		rows, _ := rowsOf(t, e.trace, "nvtx_gpu_proj_sum")
		for _, line := range rows {
			c := strings.Split(line, "|")
			got[c[0]] = strings.Join([]string{c[2], c[3], c[4], c[10], c[12]}, " ")
		}
		if diff := cmp.Diff(told, got); diff != "" {
			t.Errorf("%d texts, want %d: brute force(-) got(+)\n%.3000s", len(got), len(told), diff)
		}
	})
}

// TestExecutionAgainstSQL compares the report on launch and execution with a join
// by process and correlation.
func TestExecutionAgainstSQL(t *testing.T) {
	eachExport(t, func(t *testing.T, e export) {
		got, _ := rowsOf(t, e.trace, "cuda_kern_exec_sum")
		if !e.has(t, "CUPTI_ACTIVITY_KIND_KERNEL") || !e.has(t, "CUPTI_ACTIVITY_KIND_RUNTIME") {
			check(t, "rows", got)
			return
		}
		for i, line := range got {
			c := strings.Split(line, "|")
			got[i] = strings.Join([]string{c[0], c[1], c[3], c[4], c[5], c[7], c[8], c[10], c[12], c[17], c[18], c[20], c[26]}, "|")
		}
		want := e.ask(t, `WITH x AS (SELECT globalTid >> 24 & 16777215 AS pid, globalTid & 16777215 AS tid, deviceId AS dev, r.nameId AS api, demangledName AS kern,
				max(r."end", k."end") - r.start AS T, r."end" - r.start AS A, k.start - r."end" AS Q, k."end" - k.start AS K
			FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId AND r.globalTid >> 24 = k.globalPid >> 24 AND r.eventClass IN (0, 1))
			SELECT pid, tid, count(*), sum(Q > 0), printf('%!.17g', avg(T)), min(T), max(T), printf('%!.17g', avg(A)), min(A),
				coalesce(min(CASE WHEN Q > 0 THEN Q END), ''), coalesce(max(CASE WHEN Q > 0 THEN Q END), ''),
				printf('%!.17g', avg(K)), (SELECT value FROM StringIds WHERE id = kern)
			FROM x GROUP BY pid, tid, dev, api, kern ORDER BY sum(T) DESC, 13`)
		check(t, "rows", got, rounded(t, want, 4, 7, 11)...)
	})
}
