package timeline

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assay/analyze"
	"assay/ingest"
	"assay/internal/test"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

const ms = 1_000_000 // ns

// TestAgainstNsysRules takes what the rules of nsys analyze list, by their
// definitions, with the sqlite3 command line from real exports, and compares it
// with what the rules here see of the summary.
func TestAgainstNsysRules(t *testing.T) {
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("no sqlite3")
	}
	files := test.Files(t, filepath.Join(test.Corpus(t, "nsight"), "*", "*.sqlite"))
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			x := export{t, path, map[string]bool{}}
			for _, name := range strings.Fields(x.ask("SELECT name FROM sqlite_master WHERE type = 'table'")) {
				x.tables[name] = true
			}
			s := x.measure()
			c := New(tree.NewContext(s, rule.DefaultThresholds()), 0)
			x.copies("pageable and asynchronous", pageableCopies(c), "CUPTI_ACTIVITY_KIND_MEMCPY",
				"(srcKind = 0 OR dstKind = 0) AND call LIKE 'cudaMemcpy%Async%'")
			x.copies("synchronous", synchronousCopies(c), "CUPTI_ACTIVITY_KIND_MEMCPY",
				"call LIKE 'cudaMemcpy%' AND call NOT LIKE '%Async%' AND copyKind != 8 AND (copyKind != 1 OR bytes > 65536)")
			x.copies("synchronous memsets", synchronousMemsets(c), "CUPTI_ACTIVITY_KIND_MEMSET",
				"memKind IN (1, 4) AND call LIKE 'cudaMemset%' AND call NOT LIKE '%async%'")
			x.calls(s)
			x.held(s)
			x.gaps(s)
			x.chunks(s)
		})
	}
}

// An export is a file that SQL queries read.
type export struct {
	*testing.T
	path   string
	tables map[string]bool
}

func (x export) ask(query string) string {
	x.Helper()
	full, err := filepath.Abs(x.path)
	if err != nil {
		x.Fatal(err)
	}
	out, err := exec.Command("sqlite3", "file:"+full+"?immutable=1&mode=ro", query).CombinedOutput()
	if err != nil {
		x.Fatalf("sqlite3: %v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

func (x export) measure() *summary.Summary {
	f, err := ingest.Open(x.path, nil)
	if err != nil {
		x.Fatal(err)
	}
	defer f.Close()
	in, err := ingest.Load(f, analyze.Needs())
	if err != nil {
		x.Fatal(err)
	}
	return analyze.Trace(in.Trace, summary.Input{Path: x.path}, analyze.DefaultOptions())
}

func (x export) compare(what, query string, got ...int64) {
	x.Helper()
	if want, have := x.ask(query), strings.Trim(strings.ReplaceAll(fmt.Sprint(got), " ", "|"), "[]"); have != want {
		x.Errorf("%s: got %s, sqlite3 has %s", what, have, want)
	}
}

// with is what the queries begin with: all device work, the window of each
// device, all calls, and the threads that launch work on a device. A device is
// a process and its number for it.
func (x export) with() string {
	var parts []string
	for _, kind := range []string{"KERNEL", "MEMCPY", "MEMSET"} {
		if name := "CUPTI_ACTIVITY_KIND_" + kind; x.tables[name] {
			parts = append(parts, `SELECT start AS b, "end" AS e, globalPid AS pid, deviceId AS d, correlationId AS corr FROM `+name)
		}
	}
	return `WITH work AS (` + strings.Join(parts, " UNION ALL ") + `),
		dev AS (SELECT pid, d, min(b) AS b, max(e) AS e FROM work GROUP BY pid, d),
		api AS (SELECT start AS b, "end" AS e, value AS call, correlationId AS corr, globalTid AS tid, (globalTid >> 24) << 24 AS pid
			FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId WHERE eventClass IN (0, 1)),
		launching AS (SELECT DISTINCT work.pid, d, tid FROM work JOIN api ON api.corr = work.corr AND api.pid = work.pid) `
}

// copies compares how many copies a rule is about, their time on the device and
// the host time of their calls within the device's window.
func (x export) copies(what string, h blocking, table, where string) {
	x.Helper()
	runs := int64(0)
	for _, r := range h.rows {
		runs += r.runs
	}
	query := "SELECT 0, 0, 0"
	if x.tables[table] {
		query = x.with() + `SELECT count(*), coalesce(sum(k."end" - k.start), 0), coalesce(sum(max(0, min(api.e, dev.e) - max(api.b, dev.b))), 0)
			FROM ` + table + ` AS k JOIN api ON api.corr = k.correlationId AND api.pid = k.globalPid JOIN dev ON dev.pid = k.globalPid AND dev.d = k.deviceId WHERE ` + where
	}
	x.compare(what, query, runs, h.device, h.host)
}

// calls compares number, sum and longest of the calls that synchronize.
func (x export) calls(s *summary.Summary) {
	x.Helper()
	var count, total, longest int64
	for _, r := range s.Calls {
		if r.Name == "cudaDeviceSynchronize" || r.Name == "cudaStreamSynchronize" {
			count, total, longest = count+r.Count, total+r.TotalNS, max(longest, r.MaxNS)
		}
	}
	x.compare("calls that synchronize", x.with()+`SELECT count(*), coalesce(sum(e - b), 0), coalesce(max(e - b), 0) FROM api
		WHERE call LIKE 'cudaDeviceSynchronize%' OR call LIKE 'cudaStreamSynchronize%'`, count, total, longest)
}

// held compares for how long threads that launch a device's work stood still in
// such calls, at the same time counted once.
func (x export) held(s *summary.Summary) {
	x.Helper()
	calls, host := int64(0), int64(0)
	for _, r := range s.Syncs {
		calls, host = calls+r.Calls, host+r.HostNS
	}
	x.compare("host held", x.with()+`, held AS (SELECT dev.pid, dev.d, max(api.b, dev.b) AS b, min(api.e, dev.e) AS e FROM api
			JOIN launching USING (pid, tid) JOIN dev USING (pid, d)
			WHERE (call LIKE 'cudaDeviceSynchronize%' OR call LIKE 'cudaStreamSynchronize%') AND api.b < dev.e AND api.e > dev.b),
		m AS (SELECT b, e, max(e) OVER (PARTITION BY pid, d ORDER BY b, e ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM held)
		SELECT count(*), coalesce(sum(max(0, e - max(b, coalesce(before, b)))), 0) FROM m`, calls, host)
}

// gaps compares number and sum of the gaps of 10 ms and longer: starts and ends
// of all work are sorted apart, and where the next start is later than an end,
// nothing ran between. None of these files has a gap of 500 ms.
func (x export) gaps(s *summary.Summary) {
	x.Helper()
	const least = 10 * ms
	count, total := int64(0), int64(0)
	for _, d := range s.Devices {
		for _, b := range d.Gaps.Buckets {
			if b.FromNS >= least {
				count, total = count+b.Count, total+b.TotalNS
			}
		}
	}
	x.compare("gaps", x.with()+`, starts AS (SELECT pid, d, b, row_number() OVER (PARTITION BY pid, d ORDER BY b) AS i FROM work),
		ends AS (SELECT pid, d, e, row_number() OVER (PARTITION BY pid, d ORDER BY e) AS i FROM work)
		SELECT count(*), coalesce(sum(b - e), 0) FROM ends JOIN starts ON starts.pid = ends.pid AND starts.d = ends.d AND starts.i = ends.i + 1 WHERE b - e >= `+fmt.Sprint(least), count, total)
	if gaps := New(tree.NewContext(s, rule.DefaultThresholds()), 0).longGaps(500 * ms); gaps.count > 0 {
		x.Errorf("long gaps: %+v", gaps)
	}
}

// chunks compares how long anything ran in each of 30 chunks of each device's
// window, by the position of the chunk.
func (x export) chunks(s *summary.Summary) {
	x.Helper()
	var lines []string
	for i := range summary.UtilizationChunks {
		sum := int64(0)
		for _, d := range s.Devices {
			if i < len(d.Utilization.BusyNS) {
				sum += d.Utilization.BusyNS[i]
			}
		}
		lines = append(lines, fmt.Sprintf("%d|%d", i, sum))
	}
	// Work that began before other work had ended is cut to what is its own.
	want := x.ask(x.with() + `, m AS (SELECT pid, d, b, e, max(e) OVER (PARTITION BY pid, d ORDER BY b, e ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM work),
		own AS (SELECT pid, d, max(b, coalesce(before, b)) AS b, e FROM m WHERE e > coalesce(before, b)),
		n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 29),
		chunk AS (SELECT pid, d, i, b + i * ((e - b + 29) / 30) AS b, min(e, b + (i + 1) * ((e - b + 29) / 30)) AS e FROM dev, n)
		SELECT i, coalesce(sum(max(0, min(own.e, chunk.e) - max(own.b, chunk.b))), 0) FROM chunk
		LEFT JOIN own ON own.pid = chunk.pid AND own.d = chunk.d AND own.b < chunk.e AND own.e > chunk.b GROUP BY i ORDER BY i`)
	if got := strings.Join(lines, "\n"); got != want {
		x.Errorf("chunks: got\n%s\nsqlite3 has\n%s", got, want)
	}
}
