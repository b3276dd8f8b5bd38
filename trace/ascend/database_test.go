package ascend_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/test/tracegen"
	"assay/trace"
	"assay/trace/ascend"
)

func readRows(t testing.TB, rows []dbRow) (*trace.Trace, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ascend_pytorch_profiler_0.db")
	if err := writeRows(path, rows); err != nil {
		t.Fatal(err)
	}
	tr, ok, err := ascend.ReadDatabase(path, "a.db", trace.SelectAll())
	if !ok {
		t.Fatal("not recognized")
	}
	return tr, err
}

// TestDatabasePrograms: generated programs say the same in databases as in Kineto.
func TestDatabasePrograms(t *testing.T) {
	n := 0
	for _, p := range tracegen.Stories() {
		want, err := trace.Read(bytes.NewReader(p.Make().JSON), p.Name, trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		if !plain(want) || want.Python.Len() > 0 {
			continue
		}
		if n++; n > 12 {
			break
		}
		got, err := readRows(t, rowsOf(want, shift))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(said(want, shift), said(got, 0)); diff != "" {
			t.Errorf("%s: %.2000s", p.Name, diff)
		}
	}
	if n < 5 {
		t.Errorf("%d programs", n)
	}
}

// small has one step of 1 ms: a product launched by an operator on another thread, a copy, an all-reduce with its steps on
// two planes, and tasks that only control streams.
func small() []dbRow {
	type text = dbText
	rows := []dbRow{}
	add := func(table string, values ...any) {
		rows = append(rows, dbRow{Table: table, Values: values})
	}
	const app, queue = 4242<<32 | 7, 4242<<32 | 8
	add("NPU_INFO", 3, "Ascend910B4")
	add("HOST_INFO", "1", "node-17")
	add("RANK_DEVICE_MAP", 11, 3)
	add("STEP_TIME", 5, 1_000_000, 2_000_000)
	add("PYTORCH_API", 1_000_100, 1_000_300, app, 1, text("aten::matmul"), 1)
	add("PYTORCH_API", 1_000_200, 1_000_250, app, 2, text("Enqueue@aclnnMatmul"), 2)
	add("PYTORCH_API", 1_000_400, 1_000_900, queue, 3, text("Dequeue@aclnnMatmul"), 2)
	add("CONNECTION_IDS", 1, 77)
	add("CANN_API", 1_000_500, 1_000_800, 1, queue, 77, text("aclnnMatmul"))
	add("CANN_API", 1_000_950, 1_000_980, 1, queue, 1<<32-1, text("aclrtGetDevice"))
	add("COMPUTE_TASK_INFO", text("aclnnMatmul_MatMulV3Common_MatMulV3"), 900, 24, text("AI_CORE"), text("MatMulV3"), nil)
	add("TASK", 1_001_000, 1_004_000, 3, 77, 900, 1, text("KERNEL_AICORE"), 0, 2, 1, 0)
	add("TASK", 1_000_990, 1_000_995, 3, 1<<32-1, 901, 1, text("EVENT_WAIT"), 0, 2, 2, 0)
	add("MEMCPY_INFO", 902, 4096, 1)
	add("TASK", 1_004_100, 1_004_600, 3, 78, 902, 1, text("MEMCPY_ASYNC"), 0, 2, 3, 0)
	for i := range 2 {
		add("COMMUNICATION_TASK_INFO", text("Memcpy"), 910+i, text("SDMA"), i, text("group_a"), 60)
		add("TASK", 1_005_000+i, 1_005_500, 3, 79, 910+i, 1, text("MEMCPY_ASYNC"), 0, 20+i, 4, 0)
	}
	add("COMMUNICATION_OP", text("hcom_allReduce__501_0_1"), 1_005_000, 1_006_000, 79, text("group_a"), 60, nil)
	return rows
}

func TestDatabase(t *testing.T) {
	got, err := readRows(t, small())
	if err != nil {
		t.Fatal(err)
	}
	type work struct {
		Name, Collective, Group string
		Start, Dur, Bytes       int64
		Device, Stream          int64
		Op                      string
	}
	ops := map[trace.ID]string{}
	for o := range got.Ops.All() {
		ops[o.External] = got.Name(o.Name)
	}
	var list []work
	for a := range got.Activities.All() {
		d, on := got.Detail(a.Detail), got.Tracks[a.Track]
		w := work{Name: got.Name(a.Name), Start: a.Start, Dur: a.Dur, Bytes: d.Bytes, Device: on.Device, Stream: on.Stream}
		if d.Collective.Name != 0 {
			w.Collective, w.Group = got.Name(d.Collective.Name), got.Name(d.Collective.Group)
		}
		if a.External != 0 {
			w.Op = ops[a.External]
		}
		list = append(list, w)
	}
	want := []work{
		{Name: "aclnnMatmul_MatMulV3Common_MatMulV3", Start: 1_001_000, Dur: 3000, Bytes: -1, Device: 3, Stream: 2, Op: "aten::matmul"},
		{Name: "MEMCPY_ASYNC", Start: 1_004_100, Dur: 500, Bytes: 4096, Device: 3, Stream: 2},
		{Name: "hcom_allReduce", Collective: "allreduce", Group: "group_a", Start: 1_005_000, Dur: 1000, Bytes: -1, Device: 3, Stream: 100_000},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	if got.Meta.Rank == nil || *got.Meta.Rank != 11 || got.Meta.Host != "node-17" || got.Meta.Devices[3] != "Ascend 910B4" || !got.Complete {
		t.Errorf("%+v", got.Meta)
	}
	var steps []string
	for s := range got.Spans.All() {
		steps = append(steps, got.Name(s.Name))
	}
	if len(steps) != 1 || steps[0] != "ProfilerStep#5" || got.Ops.Len() != 2 || got.Calls.Len() != 2 {
		t.Errorf("%q, %d operators, %d calls", steps, got.Ops.Len(), got.Calls.Len())
	}
}

// TestOtherDatabases: a database of another program is not Ascend's, one without tasks is refused, and rows without usable
// times are left out.
func TestOtherDatabases(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	if err := writeRows(path, []dbRow{{Table: "STEP_TIME", Values: []any{1, 2, 3}}}); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := ascend.ReadDatabase(path, path, trace.SelectAll()); ok || err != nil {
		t.Error("recognized")
	}
	if _, err := readRows(t, []dbRow{{Table: "STRING_IDS", Values: []any{1, "a"}}, {Table: "CANN_API", Values: []any{"x", 3, 1, 1, 1, 1}}}); err == nil || !errors.Is(err, ascend.ErrNoWork) {
		t.Errorf("%v", err)
	}
	rows := append(small(), dbRow{Table: "TASK", Values: []any{2_000_000, 1_000_000, 3, 1, 900, 1, 1, 0, 2, 9, 0}})
	got, err := readRows(t, rows)
	if err != nil || got.Complete || got.Activities.Len() != 3 {
		t.Errorf("%v, complete %t, %d tasks", err, got.Complete, got.Activities.Len())
	}
}

func FuzzDatabase(f *testing.F) {
	path := filepath.Join(f.TempDir(), "a.db")
	if err := writeRows(path, small()); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole, 0, byte(0))
	f.Add(whole, 4000, byte(9))
	f.Fuzz(func(t *testing.T, b []byte, at int, by byte) {
		b = bytes.Clone(b)
		if at >= 0 && at < len(b) {
			b[at] ^= by
		}
		path := filepath.Join(t.TempDir(), "a.db")
		if len(b) > 1<<20 || !strings.HasPrefix(string(b), "SQLite") || os.WriteFile(path, b, 0o600) != nil {
			return
		}
		got, ok, err := ascend.ReadDatabase(path, path, trace.SelectAll())
		if ok && (got == nil) == (err == nil) {
			t.Error("neither a trace nor an error")
		}
	})
}
