package nsys

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/trace"
)

// global returns a global thread id as exports have it.
func global(machine, pid, tid int64) int64 { return machine<<48 | pid<<24 | tid }

// told reads an export of these rows.
func told(t *testing.T, rows ...string) *trace.Trace {
	t.Helper()
	tr, err := ReadJSON(strings.NewReader(strings.Join(rows, "\n")), "in.jsonl", trace.SelectAll(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func issueOf(t *trace.Trace, code string) (count int64) {
	for _, is := range t.Issues {
		if is.Code == code {
			count += is.Count
		}
	}
	return count
}

func stringRow(id int64, text string) string {
	return fmt.Sprintf(`{"id":%d,"table":"StringIds","value":%q}`, id, text)
}

func kernelRow(process, device, correlation, start, end int64) string {
	return fmt.Sprintf(`{"start":%d,"end":%d,"deviceId":%d,"streamId":7,"correlationId":%d,"globalPid":%d,"demangledName":1,"table":"CUPTI_ACTIVITY_KIND_KERNEL"}`,
		start, end, device, correlation, process)
}

func callRow(thread, name, correlation, start, end int64) string {
	return fmt.Sprintf(`{"start":%d,"end":%d,"eventClass":0,"globalTid":%d,"correlationId":%d,"nameId":%d,"table":"CUPTI_ACTIVITY_KIND_RUNTIME"}`,
		start, end, thread, correlation, name)
}

// TestProcesses: two processes use the same correlation and the same number of
// a device. Neither is shared, and where the export says which GPU each means,
// that counts.
func TestProcesses(t *testing.T) {
	a, b := global(1, 10, 0), global(1, 11, 0)
	rows := []string{
		stringRow(1, "gemm"), stringRow(2, "cudaLaunchKernel_v7000"),
		kernelRow(a, 0, 5, 100, 110), kernelRow(b, 0, 5, 100, 120),
		callRow(a|10, 2, 5, 90, 95), callRow(b|11, 2, 5, 80, 85),
	}
	gpu := func(process, cuda, id int64) string {
		return fmt.Sprintf(`{"gpuId":%d,"cudaId":%d,"pid":%d,"table":"TARGET_INFO_CUDA_DEVICE"}`, id, cuda, process)
	}
	for _, tc := range []struct {
		name    string
		more    []string
		devices []int64 // of process 10 and 11
		assumed int64
	}{
		{"nothing is known", nil, []int64{0, 1}, 1},
		{"a GPU each", []string{gpu(10, 0, 2), gpu(11, 0, 3)}, []int64{2, 3}, 0},
		{"one GPU for both", []string{gpu(10, 0, 2), gpu(11, 0, 2)}, []int64{2, 2}, 0},
	} {
		tr := told(t, append(slices.Clone(tc.more), rows...)...)
		calls := make(map[trace.ID]string)
		for c := range tr.Calls.All() {
			if name := tr.Name(c.Name); name != "cudaLaunchKernel" || tr.Meta.APINames[name] != "cudaLaunchKernel_v7000" {
				t.Errorf("%s: call %q, in full %q", tc.name, name, tr.Meta.APINames[name])
			}
			calls[c.Correlation] = tr.Tracks[c.Track].PID
		}
		if len(calls) != 2 {
			t.Errorf("%s: correlations %v, want two", tc.name, calls)
		}
		i := 0
		for k := range tr.Activities.All() {
			track := tr.Tracks[k.Track]
			if calls[k.Correlation] != track.PID || track.Device != tc.devices[i] {
				t.Errorf("%s: kernel of process %s on device %d, called by process %s; want device %d", tc.name, track.PID, track.Device, calls[k.Correlation], tc.devices[i])
			}
			i++
		}
		if n := issueOf(tr, "device-assumed"); n != tc.assumed {
			t.Errorf("%s: device-assumed %d times, want %d", tc.name, n, tc.assumed)
		}
	}
	// The same process number on a second machine is another process.
	tr := told(t, stringRow(1, "gemm"), kernelRow(global(1, 10, 0), 0, 5, 1, 2), kernelRow(global(2, 10, 0), 0, 5, 1, 2))
	if tr.Tracks[tr.Activities.At(0).Track].PID == tr.Tracks[tr.Activities.At(1).Track].PID {
		t.Error("processes of two machines are one")
	}
}

func rangeRow(kind, start, end int64, thread int64, more string) string {
	ends := fmt.Sprintf(`"end":%d,`, end)
	if end < 0 {
		ends = ""
	}
	return fmt.Sprintf(`{"start":%d,%s"eventType":%d,"globalTid":%d%s,"table":"NVTX_EVENTS"}`, start, ends, kind, thread, more)
}

// TestNVTX: ranges of every kind, and what PyTorch writes as ranges.
func TestNVTX(t *testing.T) {
	me := global(1, 10, 12)
	tr := told(t, stringRow(1, "gemm"), stringRow(4, "registered"), stringRow(5, "NCCL"),
		kernelRow(global(1, 10, 0), 0, 5, 100, 900),
		rangeRow(75, -7, -7, me, `,"domainId":3,"textId":5`),
		rangeRow(59, 10, 50, me, `,"text":"step 1","domainId":0`),
		rangeRow(59, 11, 20, me, `,"textId":4`),
		rangeRow(59, 12, 20, me, `,"text":"ncclAllReduce","domainId":3`),
		rangeRow(60, 13, 30, me, `,"text":"overlapping"`),
		rangeRow(59, 14, -1, me, `,"text":"open"`),
		rangeRow(34, 15, -1, me, `,"text":"a mark"`),
		rangeRow(59, 16, 19, me, `,"text":"aten::mm, seq = 5, op_id = 7, sizes = [[1, 2], [2, 3]]"`),
		rangeRow(59, 17, 18, me, `,"text":"autograd::engine::evaluate_function: AddmmBackward0, op_id = 9"`),
		rangeRow(59, 18, 19, me, `,"text":"AddmmBackward0, seq = 5, op_id = 10"`),
		rangeRow(59, 21, 22, me, `,"text":"epoch 3, batch 4"`),
		rangeRow(39, 0, -1, me, `,"text":"main thread"`),
	)
	got := contents(tr)
	for _, want := range []string{
		"span 10 40 user_annotation step 1 nvtx 10/12", "span 11 9 user_annotation registered nvtx 10/12",
		"span 12 8 user_annotation ncclAllReduce nvtx:NCCL 10/12", "async 13 17 user_annotation overlapping nvtx 10/12",
		"span 14 886 user_annotation open nvtx 10/12", "span 21 1 user_annotation epoch 3, batch 4 nvtx",
		"op 16 3 aten::mm 7 6 10/12", "op 17 1 autograd::engine::evaluate_function: AddmmBackward0 9 0", "op 18 1 AddmmBackward0 10 6",
		"issue range-not-closed 1",
	} {
		if !slices.ContainsFunc(got, func(row string) bool { return strings.HasPrefix(row, want) }) {
			t.Errorf("no row %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
	if tr.Spans.Len() != 5 || tr.Ops.Len() != 3 || len(tr.Async) != 1 {
		t.Errorf("%d spans, %d operators, %d that overlap; want 5, 3 and 1", tr.Spans.Len(), tr.Ops.Len(), len(tr.Async))
	}
	op := tr.Ops.At(0)
	if dims := tr.Name(tr.Shape(op.Shape).Dims); dims != "[[1, 2], [2, 3]]" {
		t.Errorf("shape %q", dims)
	}
	if name := tr.Tracks[op.Track].Thread; name != "main thread" {
		t.Errorf("thread %q", name)
	}
}

// TestSched: a thread is off its core from the row that says so to its next.
func TestSched(t *testing.T) {
	sched := func(start, in int64, tid int64) string {
		return fmt.Sprintf(`{"start":%d,"isSchedIn":%d,"globalTid":%d,"cpu":1,"table":"SCHED_EVENTS"}`, start, in, global(1, 10, tid))
	}
	tr := told(t, sched(5, 1, 12), sched(10, 0, 12), sched(15, 0, 13), sched(30, 1, 12), sched(40, 0, 12), sched(16, 1, 13))
	var got []string
	for s := range tr.Spans.All() {
		got = append(got, fmt.Sprint(tr.Tracks[s.Track].TID, " ", s.Start, "+", s.Dur, " ", s.Kind))
	}
	if want := []string{"12 10+20 sched", "13 15+1 sched"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestGraphs: the making of graphs and nodes is on the thread that made them,
// and work of a node has the number of its graph.
func TestGraphs(t *testing.T) {
	made := func(table string, start int64) string {
		return fmt.Sprintf(`{"start":%d,"end":%d,"eventClass":77,"globalTid":%d,"nameId":2,"graphNodeId":1,"table":%q}`, start, start+5, global(1, 10, 12), table)
	}
	node := strings.Replace(kernelRow(global(1, 10, 0), 0, 6, 200, 210), `"table"`, fmt.Sprintf(`"graphNodeId":%d,"table"`, 4<<32|9), 1)
	tr := told(t, stringRow(1, "gemm"), stringRow(2, "cudaGraphAddKernelNode_v10000"), stringRow(3, "cudaGraphLaunch_v10000"),
		made("CUDA_GRAPH_EVENTS", 10), made("CUDA_GRAPH_NODE_EVENTS", 20), callRow(global(1, 10, 12), 3, 6, 190, 195), node)
	got := strings.Join(contents(tr), "\n")
	for _, want := range []string{"span 10 5 other cudaGraphAddKernelNode_v10000 cuda_graph 10/12", "span 20 5 other cudaGraphAddKernelNode_v10000 cuda_graph 10/12"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if id := tr.Detail(tr.Activities.At(0).Detail).GraphID; id != 4 {
		t.Errorf("graph %d, want 4", id)
	}
	if n := issueOf(tr, "graphs-recorded-whole"); n != 0 {
		t.Error("graphs-recorded-whole, though a node is there")
	}
}

// TestPreflight checks that each question that a capture cannot answer has an issue,
// and that a complete capture has none.
func TestPreflight(t *testing.T) {
	process, thread := global(1, 10, 0), global(1, 10, 10)
	gemm, launch, graph := stringRow(1, "gemm"), stringRow(2, "cudaLaunchKernel_v7000"), stringRow(3, "cudaGraphLaunch_v10000")
	work, call := kernelRow(process, 0, 5, 100, 110), callRow(thread, 2, 5, 90, 95)
	step := rangeRow(59, 80, 120, thread, `,"text":"step"`)
	overhead := func(start, end int64) string {
		return fmt.Sprintf(`{"start":%d,"end":%d,"globalTid":%d,"nameId":1,"table":"PROFILER_OVERHEAD"}`, start, end, thread)
	}
	whole := fmt.Sprintf(`{"start":100,"end":200,"deviceId":0,"streamId":7,"correlationId":6,"globalPid":%d,"graphId":4,"table":"CUPTI_ACTIVITY_KIND_GRAPH_TRACE"}`, process)
	for _, tc := range []struct {
		name string
		rows []string
		want string // code×count, in order
	}{
		{"a good one", []string{gemm, launch, work, call, step}, ""},
		{"no ranges", []string{gemm, launch, work, call}, "no-nvtx×1"},
		{"calls without work", []string{launch, call, step}, "no-device-work×1"},
		{"nothing of CUDA", []string{step}, "no-cuda×1"},
		{"graphs as one event", []string{gemm, graph, whole, callRow(thread, 3, 6, 90, 95), step}, "graphs-recorded-whole×1"},
		{"graphs that left no trace", []string{gemm, launch, graph, work, call, callRow(thread, 3, 6, 120, 125), step}, "graphs-recorded-whole×1"},
		{"the profiler at work before", []string{gemm, launch, work, call, step, overhead(10, 100)}, ""},
		{"the profiler at work meanwhile", []string{gemm, launch, work, call, step, overhead(10, 104)}, "profiler-overhead×1"},
		{"a name that is missing", []string{launch, work, call, step}, "string-missing×1"},
		{"a clock that went back", []string{gemm, launch, work, call, step, kernelRow(process, 0, 6, 300, 200)}, "event-negative-duration×1"},
	} {
		var got []string
		for _, is := range told(t, tc.rows...).Issues {
			got = append(got, fmt.Sprintf("%s×%d", is.Code, is.Count))
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %v, want %q", tc.name, got, tc.want)
		}
	}
}

// TestSecrets: what looks like a secret is counted, and printed nowhere.
func TestSecrets(t *testing.T) {
	const secret = "hf_abcdefghijklmnop"
	environment := `PATH=/bin\nHF_TOKEN=` + secret + `\nWANDB_API_KEY=` + secret + `\nEMPTY_TOKEN=\nDB_PASSWORD=REDACTED\nTOKENIZERS_PARALLELISM=false`
	tr := told(t, `{"table":"TARGET_INFO_SYSTEM_ENV","name":"DeviceEnvironment","value":"`+environment+`"}`,
		`{"table":"META_DATA_CAPTURE","name":"PROCESS_0:ENVIRONMENT_VARIABLE_0","value":"AWS_SECRET_ACCESS_KEY=`+secret+`"}`,
		stringRow(1, "gemm"), kernelRow(global(1, 10, 0), 0, 5, 1, 2))
	if n := issueOf(tr, "secrets-in-capture"); n != 3 {
		t.Errorf("secrets-in-capture %d times, want 3", n)
	}
	if text := fmt.Sprint(contents(tr), tr.Issues, tr.Meta); strings.Contains(text, secret) {
		t.Errorf("a secret in %s", text)
	}
}
