package nsys

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/internal/database"
	"assay/internal/diag"
	"assay/internal/test/nsysgen"
	"assay/trace"
)

// generated returns the bytes of a small database.
func generated(tb testing.TB) []byte {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "run.sqlite")
	if err := nsysgen.Write(path, nsysgen.Plan{Kernels: 400, Calls: true, Ranges: 5}); err != nil {
		tb.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// readBytes reads a database of these bytes, and checks that they stay.
func readBytes(tb testing.TB, b []byte) (*trace.Trace, error) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "run.sqlite")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		tb.Fatal(err)
	}
	start := time.Now()
	tr, err := ReadSQLite(path, "run.sqlite", trace.SelectAll())
	if took := time.Since(start); took > 20*time.Second {
		tb.Errorf("took %v", took)
	}
	after, readErr := os.ReadFile(path)
	if readErr != nil || !bytes.Equal(after, b) {
		tb.Errorf("the file has changed: %v", readErr)
	}
	if files, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(files) != 1 {
		tb.Errorf("files were left next to it: %v", files)
	}
	return tr, err
}

// TestDamaged: what is no database is refused in one line, and of one that
// breaks off stands what could be read, with an issue that says where.
func TestDamaged(t *testing.T) {
	whole := generated(t)
	zeroed := slices.Clone(whole)
	clear(zeroed[:100])
	copy(zeroed, database.Magic)
	for name, tc := range map[string]struct {
		in   []byte
		want string
	}{
		"a zeroed header": {zeroed, "run.sqlite: the file cannot be read as an SQLite database ("},
		"only the magic":  {[]byte(database.Magic), "run.sqlite: the file cannot be read as an SQLite database ("},
		"half a page":     {whole[:2048], "run.sqlite: "},
	} {
		tr, err := readBytes(t, tc.in)
		if tr != nil || err == nil || !strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want an error that begins with %q", name, err, tc.want)
		}
	}
	full, err := readBytes(t, whole)
	if err != nil || !full.Complete {
		t.Fatal(err)
	}
	cut := whole[:len(whole)/2/4096*4096]
	tr, err := readBytes(t, cut)
	if err != nil {
		t.Fatal(err)
	}
	damaged := slices.ContainsFunc(tr.Issues, func(is diag.Issue) bool { return is.Code == "export-damaged" && is.First.Path != "" })
	if tr.Complete || !damaged || tr.Activities.Len() >= full.Activities.Len() {
		t.Errorf("half a database: complete %v, %d kernels, issues %v", tr.Complete, tr.Activities.Len(), tr.Issues)
	}
}

// TestFlipped reads databases with wrong bits: the seeds of FuzzSQLite by the
// hundred.
func TestFlipped(t *testing.T) {
	whole := generated(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 150 {
		b := slices.Clone(whole)
		for range 1 + rng.IntN(8) {
			b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
		}
		if rng.IntN(4) == 0 {
			b = b[:rng.IntN(len(b))]
		}
		tr, err := readBytes(t, b)
		if err == nil {
			check(t, tr)
		}
	}
}

// check looks for what no trace may have.
func check(tb testing.TB, t *trace.Trace) {
	for a := range t.Activities.All() {
		if a.Dur < 0 || a.Start+a.Dur < a.Start || int(a.Name) >= t.Names() || int(a.Track) >= len(t.Tracks) {
			tb.Fatalf("%+v", a)
		}
	}
	for c := range t.Calls.All() {
		if c.Dur < 0 || c.Start+c.Dur < c.Start || int(c.Name) >= t.Names() {
			tb.Fatalf("%+v", c)
		}
	}
	for s := range t.Spans.All() {
		if s.Dur < 0 || s.Start+s.Dur < s.Start {
			tb.Fatalf("%+v", s)
		}
	}
}

func FuzzSQLite(f *testing.F) {
	whole := generated(f)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<20 {
			return
		}
		if tr, err := readBytes(t, b); err == nil {
			check(t, tr)
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"table":"StringIds","value":"gemm"}` + "\n" + `{"start":1,"end":2,"deviceId":0,"streamId":7,"correlationId":1,"globalPid":281475047440384,"demangledName":1,"table":"CUPTI_ACTIVITY_KIND_KERNEL"}`,
		`{"data":["a"],"files":[]}` + "\n" + `{"Type":48,"TraceProcessEvent":{"startNs":"100","endNs":"120","eventClass":0,"name":"0","globalTid":"5"}}`,
		`{"Type":59,"NvtxEvent":{"Type":59,"Timestamp":"90","EndTimestamp":"200","Text":"aten::mm, seq = 1, op_id = 2, sizes = [[1]]","GlobalTid":"5","NsTime":true}}`,
		`{"start":9223372036854775807,"end":-9223372036854775808,"eventType":59,"text":"x","table":"NVTX_EVENTS"}`,
		`{"isSchedIn":0,"start":1,"globalTid":1,"table":"SCHED_EVENTS"}` + "\n" + `{"isSchedIn":1,"start":5,"globalTid":1,"table":"SCHED_EVENTS"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if tr, err := ReadJSON(bytes.NewReader(b), "in.jsonl", trace.SelectAll(), nil); err == nil {
			check(t, tr)
		}
	})
}
