package rocm

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/jsonwalk"
	"assay/internal/test/rocmgen"
	"assay/trace"
)

// consistent checks what holds for every trace: no negative duration, no unknown track, and messages with text.
func consistent(t *testing.T, tr *trace.Trace) {
	t.Helper()
	for a := range tr.Activities.All() {
		if a.Dur < 0 || a.Start <= 0 || int(a.Track) >= len(tr.Tracks) || !tr.Tracks[a.Track].OnDevice {
			t.Errorf("work %+v", a)
		}
	}
	for c := range tr.Calls.All() {
		if c.Dur < 0 || c.Start <= 0 || int(c.Track) >= len(tr.Tracks) || tr.Tracks[c.Track].OnDevice {
			t.Errorf("call %+v", c)
		}
	}
	for _, is := range tr.Issues {
		if is.Count < 1 || is.Code == "" || is.Help == "" {
			t.Errorf("issue %+v", is)
		}
	}
}

// small are limits at which a large input shows as one.
func small() trace.Select {
	sel := trace.SelectAll()
	sel.Limits = trace.LimitsOf(64 << 20)
	return sel
}

// FuzzCSV: any table gives an error or a consistent trace.
func FuzzCSV(f *testing.F) {
	f.Add("\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n\"KERNEL_DISPATCH\",\"Agent 4\",\"2\",\"k<a, \"\"b\"\">(int)\",\"7\",\"100\",\"250\"\n\"KERNEL_DISPATCH\",\"Agent 4\",\"2\",\"cut")
	f.Add("\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\r\n\"HIP_RUNTIME_API_EXT\",\"hipLaunchKernel\",\"1\",\"2\",\"7\",\"90\",\"99\"\r\n")
	f.Add("Index,KernelName,gpu-id,queue-id,pid,tid,grd,wgr,lds,BeginNs,EndNs\n0,\"k\",2,0,33,33,256,256,0,5,9\n")
	f.Fuzz(func(t *testing.T, in string) {
		SniffCSV([]byte(in))
		tr, err := ReadCSV([]Part{{"in.csv", strings.NewReader(in)}}, "in.csv", small())
		if (tr == nil) == (err == nil) {
			t.Fatal(tr, err)
		}
		if tr != nil {
			consistent(t, tr)
		}
	})
}

// FuzzJSON: any JSON gives an error or a consistent trace.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"rocprofiler-sdk-tool":[{"metadata":{"pid":5,"node":{"hostname":"a"}},"agents":[{"id":{"handle":3},"type":2,"cu_count":4,"product_name":"x"}],
"strings":{"buffer_records":[{"kind":"NONE","operations":[]},{"kind":"HIP_RUNTIME_API","operations":["hipMalloc","hipLaunchKernel"]},{"kind":"MARKER_CORE_API","operations":["roctxMarkA"]},{"kind":"MEMORY_COPY","operations":["MEMORY_COPY_HOST_TO_DEVICE"]}],"marker_api":[{"key":9,"value":"step"}]},
"kernel_symbols":[{"kernel_id":1,"kernel_name":"k.kd"}],"buffer_records":{
"kernel_dispatch":[{"kind":4,"operation":1,"correlation_id":{"internal":7},"start_timestamp":20,"end_timestamp":29,"dispatch_info":{"agent_id":{"handle":3},"queue_id":{"handle":77},"kernel_id":1,"workgroup_size":{"x":64,"y":1,"z":1},"grid_size":{"x":640,"y":1,"z":1}}}],
"memory_copy":[{"kind":3,"operation":0,"correlation_id":{"internal":8},"start_timestamp":40,"end_timestamp":49,"bytes":4,"dst_agent_id":{"handle":3}}],
"hip_api":[{"kind":1,"operation":1,"thread_id":6,"correlation_id":{"internal":7},"start_timestamp":10,"end_timestamp":15}],
"marker_api":[{"kind":2,"operation":0,"thread_id":6,"correlation_id":{"internal":9},"start_timestamp":5,"end_timestamp":60}]}}]}`))
	f.Add([]byte(`{"rocprofiler-sdk-tool":[{"agents":[{"id":{"handle":18446744073709551615},"type":2}],"buffer_records":{"kernel_dispatch":[{"start_timestamp":"x"},{"start_timestamp":5,"end_timestamp":9,"dispatch_info":{"agent_id":{"handle":18446744073709551615}}}]}}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		SniffJSON(in)
		tr, _, err := ReadJSON(bytes.NewReader(in), "in.json", small())
		if (tr == nil) == (err == nil) {
			t.Fatal(tr, err)
		}
		if tr != nil {
			consistent(t, tr)
		}
	})
}

// FuzzChrome: any Chrome trace gives an error or a consistent trace.
func FuzzChrome(f *testing.F) {
	f.Add([]byte(`{"traceEvents":[{},{"args":{"name":"CPU HIP API"},"ph":"M","pid":2,"name":"process_name"},{"args":{"name":"GPU2"},"ph":"M","pid":8,"name":"process_name"},
{"ph":"X","name":"hipLaunchKernel","pid":"2","tid":"5","ts":"10","dur":"3","args":{"BeginNs":"10001","EndNs":"13007","pid":"1","tid":"5"}},
{"ph":"X","name":"k","pid":"8","tid":"1","ts":"12","dur":"5","args":{"BeginNs":"12001","EndNs":"17007","dev-id":"2","queue-id":"0","stream-id":"1"}},
{"ts":10,"ph":"s","cat":"DataFlow","id":0,"pid":2,"tid":5,"name":"dep"},{"ts":12,"ph":"t","cat":"DataFlow","id":0,"pid":8,"tid":1,"name":"dep"}]}`))
	f.Add([]byte(`[ {},{"name":"process_name","ph":"M","pid":"2","args":{"name":"GPU2"}},{"name":"thread_name","ph":"M","pid":"7","tid":"7","args":{"name":"Hip 7"}},{"pid":"2","tid":"0","name":"k","ts":"12","dur":"5","ph":"X","args":{"desc":"KernelExecution"}}]`))
	f.Fuzz(func(t *testing.T, in []byte) {
		SniffChrome(in)
		if tr, err := ReadChrome(bytes.NewReader(in), "in.json", small()); err == nil {
			consistent(t, tr)
		}
	})
}

// FuzzSQLite: any database gives a consistent trace, or is that of another program.
func FuzzSQLite(f *testing.F) {
	path := filepath.Join(f.TempDir(), "1_results.db")
	if err := rocmgen.WriteRocpd(path, rocmgen.Process{Trace: hipStories(f)["memory_hip"]}); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(0, byte(0), len(whole))
	f.Add(4200, byte(9), len(whole)-5000)
	f.Fuzz(func(t *testing.T, at int, value byte, size int) {
		b := bytes.Clone(whole[:min(max(0, size), len(whole))])
		if len(b) > 0 {
			b[max(0, at)%len(b)] = value
		}
		path := filepath.Join(t.TempDir(), "in.db")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		tr, _, format, err := ReadSQLite(path, path, small())
		if err == nil && format != "" {
			consistent(t, tr)
		}
	})
}

// TestCut: what a capture loses at its end is reported, and the rows before that stand.
func TestCut(t *testing.T) {
	story := hipStories(t)["memory_hip"]
	var text bytes.Buffer
	if err := rocmgen.WriteJSON(&text, story); err != nil {
		t.Fatal(err)
	}
	whole := text.Bytes()
	tr, _, err := ReadJSON(bytes.NewReader(whole[:bytes.Index(whole, []byte(`"kernel_dispatch"`))+2000]), "cut.json", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	if n := tr.Activities.Len(); tr.Complete || n == 0 || n >= story.Activities.Len() || len(tr.Issues) != 1 || tr.Issues[0].Code != "input-truncated" {
		t.Errorf("%d of %d operations, complete %t, %+v", n, story.Activities.Len(), tr.Complete, tr.Issues)
	}
	if _, _, err := ReadJSON(strings.NewReader(`{"rocprofiler-sdk-tool":[{"metadata":{"pid":1`), "cut.json", trace.SelectAll()); err == nil {
		t.Error("a JSON without any record is no error")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "1_results.db")
	if err := rocmgen.WriteRocpd(path, rocmgen.Process{Trace: story}); err != nil {
		t.Fatal(err)
	}
	db, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, db[:len(db)*3/4], 0o600); err != nil {
		t.Fatal(err)
	}
	if tr, _, _, err = ReadSQLite(path, path, trace.SelectAll()); err != nil || tr.Complete || len(tr.Issues) == 0 {
		t.Errorf("a cut database: %v, %+v", err, tr)
	}
	table := "Kind,Agent_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp\nKERNEL_DISPATCH,1,k,3,10,20\nKERNEL_DISPATCH,1,k,4,30,25\nKERNEL_DISPATCH,1,k,4,3"
	if tr, err = ReadCSV([]Part{{"k.csv", strings.NewReader(table)}}, "k.csv", trace.SelectAll()); err != nil || tr.Complete || tr.Activities.Len() != 1 || len(tr.Issues) != 3 {
		t.Errorf("a cut table: %v, %+v", err, tr)
	}
}

// TestLongValue: a value longer than any real one ends the reading instead of filling the memory.
func TestLongValue(t *testing.T) {
	endless := strings.NewReader(`{"rocprofiler-sdk-tool":[{"metadata":{"pid":1},"strings":"` + strings.Repeat("x", 80<<20))
	if _, _, err := ReadJSON(endless, "long.json", trace.SelectAll()); err == nil || !strings.Contains(err.Error(), jsonwalk.ErrLong.Error()) {
		t.Errorf("%v", err)
	}
}

// TestLanes: where no stream was recorded, each queue of the hardware is a lane of its own, and copies without a queue, too.
func TestLanes(t *testing.T) {
	c := newCapture("", trace.SelectAll())
	for _, tc := range []struct{ device, stream, queue, want int64 }{
		{0, 0, 0x7f00, 0}, {0, 0, 0x7f80, 1001}, {0, 3, 0x7f80, 3}, {1, 0, 0x7f80, 0}, {0, 0, -1, 1002}, {0, 0, 0x7f80, 1001}, {0, 0, 0x7f00, 0},
	} {
		if got := c.lane(tc.device, tc.stream, tc.queue); got != tc.want {
			t.Errorf("GPU %d, stream %d, queue %#x: lane %d, want %d", tc.device, tc.stream, tc.queue, got, tc.want)
		}
	}
}

// TestSniff: files of other programs are not taken.
func TestSniff(t *testing.T) {
	for _, head := range []string{
		"Kind,Agent,Kernel\n", "Name,Calls,TotalDurationNs,AverageNs,Percentage\n", "Step,Index,KernelName\n", "", "\"Domain\",\"Function\"\n",
	} {
		if format, _ := SniffCSV([]byte(head)); format != "" {
			t.Errorf("%q is taken for %s", head, format)
		}
	}
	for _, head := range []string{
		`{"traceEvents":[{"ph":"X","cat":"kernel","args":{}}]}`, `[{},{"name":"Hip 5"}]`[:3], `{"schemaVersion":1,"deviceProperties":[{}],"traceEvents":[]}`, `{}`,
	} {
		if format := SniffChrome([]byte(head)); format != "" || SniffJSON([]byte(head)) {
			t.Errorf("%q is taken for %s", head, format)
		}
	}
}
