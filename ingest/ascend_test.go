package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"assay/trace"
)

// TestAscendFolder: a folder of Ascend's profiler is one capture in several forms. The timeline is read, with the rank
// in the name of another file; without the timeline the table is.
func TestAscendFolder(t *testing.T) {
	const timeline = `[{"name":"process_name","ph":"M","pid":800,"tid":0,"args":{"name":"Ascend Hardware"}},{"ph":"X","name":"Cast1","pid":800,"tid":3,"ts":"5.000","dur":2}]`
	const table = "Name,Type,Accelerator Core,Start Time(us),Duration(us)\nCast1,Cast,AI_VECTOR_CORE,5,2\n"
	run, dir := t.TempDir(), ""
	write := func(name, text string) {
		path := filepath.Join(run, dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for rank := range 2 {
		dir = fmt.Sprintf("node_%d_ascend_pt", 4710+rank)
		write(fmt.Sprintf("profiler_info_%d.json", 6+rank), "{}")
		write("profiler_metadata.json", `{"a":1}`)
		write("ASCEND_PROFILER_OUTPUT/trace_view.json", timeline)
		write("ASCEND_PROFILER_OUTPUT/kernel_details.csv", table)
		write("ASCEND_PROFILER_OUTPUT/communication.json", `{"step1":{"collective":{}}}`)
		write("PROF_0/mindstudio_profiler_output/msprof_20260102.json", timeline)
		write("PROF_0/mindstudio_profiler_output/op_summary_20260102.csv", "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\nCast1,Cast,AI_VECTOR_CORE,5,2\n")
	}
	files := func() []string {
		c := Paths([]string{run})
		if len(c.Failed) > 0 {
			t.Fatal(c.Failed)
		}
		for i := range c.Files {
			c.Files[i] = strings.TrimPrefix(c.Files[i], run+string(filepath.Separator))
		}
		return c.Files
	}
	want := []string{"node_4710_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json", "node_4711_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"}
	if got := files(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	load := func(path string) *Input {
		f, err := Open(filepath.Join(run, path), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		in, err := Load(f, trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	if in := load(want[1]); in.Rank != 7 || in.RankFrom != "trace" || in.Format != "ascend-trace" || in.Trace.Activities.Len() != 1 {
		t.Errorf("%+v", in)
	}
	os.Remove(filepath.Join(run, want[0]))
	got := files()
	if !slices.Contains(got, "node_4710_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv") || len(got) != 3 {
		t.Errorf("without a timeline: %q", got)
	}
	dir = "node_4710_ascend_pt"
	db := filepath.Join(run, dir, "ASCEND_PROFILER_OUTPUT", "ascend_pytorch_profiler_6.db")
	conn, err := sqlite.OpenConn(db)
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlitex.ExecuteScript(conn, `CREATE TABLE STRING_IDS (id, value); INSERT INTO STRING_IDS VALUES (1, 'Cast1');
		CREATE TABLE COMPUTE_TASK_INFO (globalTaskId, name); INSERT INTO COMPUTE_TASK_INFO VALUES (9, 1);
		CREATE TABLE TASK (startNs, endNs, globalTaskId, streamId); INSERT INTO TASK VALUES (5000, 7000, 9, 3)`, nil); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	write("ASCEND_PROFILER_OUTPUT/step_trace_time.csv", "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble\n,90,0,0,0,2,92,0\n")
	if in := load("node_4710_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_6.db"); in.Rank != 6 || in.Format != "ascend-sqlite" || in.Trace.Activities.Len() != 1 {
		t.Errorf("%+v", in)
	}
	if in := load("node_4710_ascend_pt/ASCEND_PROFILER_OUTPUT/step_trace_time.csv"); in.Format != "ascend-steps" || len(in.Tables.List) != 1 {
		t.Errorf("%+v", in)
	}
	if got := files(); slices.ContainsFunc(got, func(f string) bool {
		return strings.HasSuffix(f, "kernel_details.csv") || strings.HasSuffix(f, "time.csv")
	}) ||
		!slices.ContainsFunc(got, func(f string) bool { return strings.HasSuffix(f, "_6.db") }) {
		t.Errorf("with a database: %q", got)
	}
	if in := load("node_4710_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv"); in.Rank != 6 || in.Format != "ascend-csv" || in.Trace.Activities.Len() != 1 {
		t.Errorf("%+v", in)
	}
}

// TestAscendAnalysis: analysis.db is read where nothing says more, and belongs to a timeline or communication.json in its
// folder.
func TestAscendAnalysis(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "analysis.db")
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite, sqlite.OpenCreate)
	if err != nil {
		t.Fatal(err)
	}
	err = sqlitex.ExecuteScript(conn, `PRAGMA journal_mode = OFF; CREATE TABLE CommAnalyzerTime(hccl_op_name, elapse_time, transit_time, wait_time, step);
		INSERT INTO CommAnalyzerTime VALUES('hcom_allReduce__303_0_1', 2.5, 1, 1, 'step1');`, nil)
	if closed := conn.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	f, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := Load(f, trace.SelectAll())
	if err != nil || in.Format != "ascend-collectives" || in.Trace != nil || len(in.Tables.List) != 1 || in.Tables.List[0].Rows[0].Cells[0].Value != 2_500_000 {
		t.Fatalf("%+v, %v", in, err)
	}
	if got := Paths([]string{dir}); !slices.Equal(got.Files, []string{path}) {
		t.Errorf("alone: %+v", got)
	}
	for _, name := range []string{"communication.json", "trace_view.json"} {
		other := filepath.Join(dir, name)
		if err := os.WriteFile(other, []byte(`{"step1":{"collective":{"hcom_a":{"Communication Time Info":{"Elapse Time(ms)":1}}}}}`), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := Paths([]string{dir}); slices.Contains(got.Files, path) || len(got.Files) == 0 {
			t.Errorf("with %s: %+v", name, got)
		}
		os.Remove(other)
	}
}
