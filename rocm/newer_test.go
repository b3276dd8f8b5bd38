package rocm

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"assay/internal/profile"
	"assay/trace"
)

// lines returns the rows of the only table, by the names of its columns.
func lines(t *testing.T, tables *profile.Tables) (out []map[string]int64) {
	t.Helper()
	if tables == nil || len(tables.List) != 1 || len(tables.Issues) > 0 {
		t.Fatalf("%+v", tables)
	}
	for _, r := range tables.List[0].Rows {
		row := map[string]int64{r.Name: 0}
		for i, c := range r.Cells {
			if c.Known {
				row[tables.List[0].Columns[i].Name] = c.Value
			}
		}
		out = append(out, row)
	}
	return out
}

// schema4 is a capture of two kernels of 200 and 300 ns on queue 2, the first launched by a call of 90 ns, and a copy of
// 64 bytes. Each time has a number, and each row the number of a track.
const schema4 = `
CREATE TABLE rocpd_string_a (id, string);
INSERT INTO rocpd_string_a VALUES (1,'HIP_RUNTIME_API_EXT'),(2,'hipLaunchKernel'),(3,'MEMORY_COPY_HOST_TO_DEVICE');
CREATE TABLE rocpd_info_process_a (id, pid);
INSERT INTO rocpd_info_process_a VALUES (1, 100);
CREATE TABLE rocpd_info_thread_a (id, tid);
INSERT INTO rocpd_info_thread_a VALUES (1, 101);
CREATE TABLE rocpd_info_agent_a (id, type, type_index, product_name);
INSERT INTO rocpd_info_agent_a VALUES (1,'CPU',0,'EPYC'),(2,'GPU',1,'AMD Instinct MI325X');
CREATE TABLE rocpd_info_kernel_symbol_a (id, display_name);
INSERT INTO rocpd_info_kernel_symbol_a VALUES (7,'gemm(float*)'),(8,'norm(float*)');
CREATE TABLE rocpd_track_a (id, nid, pid, tid, agent_id, queue_id, stream_id);
INSERT INTO rocpd_track_a VALUES (1,1,1,1,NULL,NULL,NULL),(2,1,1,NULL,2,2,3);
CREATE TABLE rocpd_timestamp_a (id, value, track_id);
INSERT INTO rocpd_timestamp_a VALUES (1,9000,2),(2,9300,2),(3,5000,2),(4,5200,2),(5,4800,1),(6,4890,1),(7,7000,2),(8,7010,2);
CREATE TABLE rocpd_event_a (id, stack_id, category_id);
INSERT INTO rocpd_event_a VALUES (1,40,NULL),(2,41,NULL),(3,40,1),(4,42,NULL);
CREATE TABLE rocpd_kernel_dispatch_a (id, track_id, kernel_id, dispatch_id, start_id, end_id, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, event_id);
INSERT INTO rocpd_kernel_dispatch_a VALUES (1,2,8,2,1,2,64,1,1,256,1,1,2),(2,2,7,1,3,4,64,1,1,512,1,1,1);
CREATE TABLE rocpd_memory_copy_a (id, track_id, start_id, end_id, name_id, dst_agent_id, src_agent_id, size, event_id);
INSERT INTO rocpd_memory_copy_a VALUES (1,2,7,8,3,2,1,64,4);
CREATE TABLE rocpd_region_a (id, track_id, name_id, start_id, end_id, event_id);
INSERT INTO rocpd_region_a VALUES (1,1,2,5,6,3);
CREATE TABLE rocpd_info_pmc_a (id, name, symbol);
INSERT INTO rocpd_info_pmc_a VALUES (1,'SQ_WAVES','SQ_WAVES'),(2,NULL,'FETCH_SIZE');
CREATE TABLE rocpd_pmc_event_a (id, event_id, pmc_id, value);
INSERT INTO rocpd_pmc_event_a VALUES (1,1,1,8.0),(2,1,1,4.0),(3,1,2,3.0),(4,2,1,5.0),(5,99,1,1000.0);
`

// TestSchema4: the newest databases give times and places by number. Counters are those of the kernels, and the parts of a
// GPU add up.
func TestSchema4(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1_results.db")
	conn, err := sqlite.OpenConn(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlitex.ExecuteScript(conn, schema4, nil); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	got, counters, format, err := ReadSQLite(path, path, trace.SelectAll())
	if err != nil || format != FormatRocpd || !got.Complete || len(got.Issues) > 0 {
		t.Fatalf("%v, %s, %+v", err, format, got.Issues)
	}
	type work struct {
		Name                       string
		Start, Dur, Device, Stream int64
		Call                       string
		Blocks, Bytes              int64
	}
	calls := map[trace.ID]string{}
	for c := range got.Calls.All() {
		calls[c.Correlation] = got.Name(c.Name)
		if c.Start != 4800 || c.Dur != 90 || got.Tracks[c.Track].TID != "101" || got.Tracks[c.Track].PID != "100" {
			t.Errorf("%+v on %+v", c, got.Tracks[c.Track])
		}
	}
	var list []work
	for a := range got.Activities.All() {
		on, d := got.Tracks[a.Track], got.Detail(a.Detail)
		list = append(list, work{got.Name(a.Name), a.Start, a.Dur, on.Device, on.Stream, calls[a.Correlation], d.Grid[0], d.Bytes})
	}
	want := []work{{"norm(float*)", 9000, 300, 1, 3, "", 4, -1}, {"gemm(float*)", 5000, 200, 1, 3, "hipLaunchKernel", 8, -1}, {"Memcpy HtoD", 7000, 10, 1, 3, "", 0, 64}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	rows := []map[string]int64{
		{"norm(float*)": 0, "total": 300, "count": 1, "mean": 300, "SQ_WAVES": 5},
		{"gemm(float*)": 0, "total": 200, "count": 1, "mean": 200, "SQ_WAVES": 12, "read from memory": 3072, "read rate": 15},
	}
	if diff := cmp.Diff(rows, lines(t, counters)); diff != "" {
		t.Error(diff)
	}
}

// TestCountersInJSON: counters are in records of callbacks. Without them there is no table.
func TestCountersInJSON(t *testing.T) {
	launch := func(id, kernel, from, to string, records string) string {
		return `{"thread_id":1,"dispatch_data":{"start_timestamp":` + from + `,"end_timestamp":` + to + `,"dispatch_info":{"dispatch_id":` + id + `,"kernel_id":` + kernel + `}},"records":[` + records + `]}`
	}
	text := `{"rocprofiler-sdk-tool":[{"metadata":{"pid":9},"counters":[{"id":{"handle":101},"name":"SQ_WAVES"},{"id":{"handle":102},"name":"WRITE_SIZE"}],
		"kernel_symbols":[{"kernel_id":3,"formatted_kernel_name":"scan(int*)"}],"callback_records":{"spm":[1],"counter_collection":[` +
		launch("1", "3", "1000", "1500", `{"counter_id":{"handle":101},"value":6},{"counter_id":{"handle":101},"value":2},{"counter_id":{"handle":102},"value":1.5}`) + `,` +
		launch("2", "3", "2000", "2500", `{"counter_id":{"handle":101},"value":4},{"counter_id":{"handle":102},"value":0.5}`) + `]},"buffer_records":{"kernel_dispatch":[]}}]}`
	got, counters, err := ReadJSON(strings.NewReader(text), "9_results.json", trace.SelectAll())
	if err != nil || got.Activities.Len() != 0 {
		t.Fatal(err)
	}
	want := []map[string]int64{{"scan(int*)": 0, "total": 1000, "count": 2, "mean": 500, "SQ_WAVES": 12, "written to memory": 2048, "write rate": 2}}
	if diff := cmp.Diff(want, lines(t, counters)); diff != "" {
		t.Error(diff)
	}
	if _, counters, err = ReadJSON(strings.NewReader(`{"rocprofiler-sdk-tool":[{"callback_records":{"counter_collection":[]}}]}`), "x", trace.SelectAll()); err != nil || counters != nil {
		t.Errorf("%v, %v", counters, err)
	}
}
