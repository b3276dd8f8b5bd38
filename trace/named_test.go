package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/trace"
)

// lane names a process and a thread.
func lane(pid, tid int, process, thread string) string {
	return fmt.Sprintf(`{"ph":"M","pid":%[1]d,"name":"process_name","args":{"name":%[3]q}},{"ph":"M","pid":%[1]d,"tid":%[2]d,"name":"thread_name","args":{"name":%[4]q}}`,
		pid, tid, process, thread)
}

func slice(pid, tid int, name string, ts, dur, correlation int) string {
	args := ""
	if correlation > 0 {
		args = fmt.Sprintf(`,"args":{"correlation_id":"%d"}`, correlation)
	}
	return fmt.Sprintf(`{"ph":"X","pid":%d,"tid":%d,"name":%q,"ts":%d,"dur":%d%s}`, pid, tid, name, ts, dur, args)
}

// work describes the GPU work of a trace, and how many calls and host spans it has.
func work(t *testing.T, events ...string) (string, *trace.Trace) {
	t.Helper()
	tr, err := trace.Read(strings.NewReader(`{"traceEvents":[`+strings.Join(events, ",")+`,{}]}`), "x.json", trace.Select{Kinds: trace.Every})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for a := range tr.Activities.All() {
		at := tr.Tracks[a.Track]
		out = append(out, fmt.Sprintf("%v %s on %d/%d for %d by %d", a.Kind, tr.Name(a.Name), at.Device, at.Stream, a.Dur, a.Correlation))
	}
	return strings.Join(out, "; "), tr
}

// TestDevicesByName: the lanes of XLA are work of devices, the launches that are named after their kernels are
// calls, and lanes that repeat them are marked.
func TestDevicesByName(t *testing.T) {
	gpu, host := "/device:GPU:1", "/host:CPU"
	got, tr := work(t, // names come last
		slice(9, 1, "fusion", 10, 5, 7), slice(2, 13, "fusion", 20, 30, 7), slice(2, 14, "MemcpyH2D", 60, 4, 0), slice(2, 14, "Memset", 70, 2, 0),
		slice(2, 99, "fusion", 20, 30, 0), slice(9, 1, "python", 0, 100, 0), slice(9, 1, "cuStreamSynchronize", 51, 9, 8),
		lane(2, 13, gpu, "Stream #13(Compute)"), lane(2, 14, gpu, "Stream #14(MemcpyH2D)"), lane(2, 99, gpu, "XLA Ops"), lane(9, 1, host, "main"))
	if want := "kernel fusion on 1/13 for 30000 by 7; gpu_memcpy MemcpyH2D on 1/14 for 4000 by 0; gpu_memset Memset on 1/14 for 2000 by 0"; got != want {
		t.Errorf("work is\n%s, want\n%s", got, want)
	}
	var calls []string
	for c := range tr.Calls.All() {
		calls = append(calls, fmt.Sprintf("%s for %d by %d", tr.Name(c.Name), c.Dur, c.Correlation))
	}
	if got, want := strings.Join(calls, "; "), "launch for 5000 by 7; cuStreamSynchronize for 9000 by 8"; got != want {
		t.Errorf("calls are %s, want %s", got, want)
	}
	var left []string
	for s := range tr.Spans.All() {
		left = append(left, fmt.Sprint(tr.Name(s.Name), " ", tr.Tracks[s.Track].Repeats))
	}
	if got, want := strings.Join(left, "; "), "fusion true; python false"; got != want {
		t.Errorf("spans are %s, want %s", got, want)
	}
	if tr.Meta.Tool != trace.ToolXLA {
		t.Errorf("the tool is %q", tr.Meta.Tool)
	}

	// A trace that is to be cut keeps its rows as they are in the file.
	indexed, err := trace.Read(strings.NewReader(`{"traceEvents":[`+slice(2, 13, "fusion", 20, 30, 7)+","+lane(2, 13, gpu, "Stream #13(Compute)")+`]}`),
		"x.json", trace.Select{Kinds: trace.Every, Index: true})
	if err != nil || indexed.Spans.Len() != 1 || indexed.Activities.Len() != 0 {
		t.Errorf("with an index: %v, %d spans, %d operations", err, indexed.Spans.Len(), indexed.Activities.Len())
	}

	// TensorFlow 1 writes kernels for each stream and for all: those of each stream count, else those for all.
	op := "/job:w/task:0/device:GPU:0 Compute"
	all, memcpy, seven := "/device:GPU:0/stream:all Compute", "/device:GPU:0/memcpy Compute", "/device:GPU:0/stream:7 Compute"
	both := []string{slice(6, 0, "MatMul", 1, 8, 0), slice(4, 0, "edge_3", 20, 2, 0), slice(2, 0, "dense", 0, 30, 0),
		lane(6, 0, all, ""), lane(4, 0, memcpy, ""), lane(2, 0, op, "")}
	if got, _ := work(t, both...); got != "kernel MatMul on 0/0 for 8000 by 0; gpu_memcpy edge_3 on 0/-1 for 2000 by 0" {
		t.Error(got)
	}
	if got, _ := work(t, append(both, slice(7, 0, "MatMul", 1, 8, 0), lane(7, 0, seven, ""))...); got != "kernel MatMul on 0/7 for 8000 by 0" {
		t.Error(got)
	}

	// Near misses: a lane of operators alone, and threads of another program.
	for _, process := range []string{gpu, "my device", "device:GPU:x"} {
		if got, tr := work(t, slice(2, 5, "op", 1, 2, 3), lane(2, 5, process, "Ops")); got != "" || tr.Spans.Len() != 1 || tr.Calls.Len() > 0 {
			t.Errorf("%s: work is %s, %d spans", process, got, tr.Spans.Len())
		}
	}
}

// TestPluginOfNCCL: a collective of NCCL's plugin is a kernel from the begin of its first channel to the end of its
// last, and its rank is that of the trace.
func TestPluginOfNCCL(t *testing.T) {
	mark := func(ph, cat, name string, id, ts int, args string) string {
		return fmt.Sprintf(`{"ph":%q,"cat":%q,"name":%q,"id":%d,"pid":5,"tid":1,"ts":%d,"args":{%s}}`, ph, cat, name, id, ts, args)
	}
	got, tr := work(t,
		mark("b", "COLL", "AllGather", 0, 10, `"SeqNum":0,"Rank":3`),
		mark("b", "GPU", "KernelCh", 0, 14, `"Channel":0`), mark("e", "GPU", "KernelCh", 0, 24, ""),
		mark("b", "GPU", "KernelCh", 1, 12, `"Channel":1`), mark("e", "GPU", "KernelCh", 1, 22, ""),
		mark("e", "COLL", "AllGather", 0, 11, ""),
		mark("b", "COLL", "AllReduce", 1, 30, `"SeqNum":1,"Rank":3`), mark("e", "COLL", "AllReduce", 1, 31, ""))
	if want := "kernel AllGather on 0/0 for 12000 by 0"; got != want {
		t.Errorf("work is %s, want %s", got, want)
	}
	if tr.Meta.Rank == nil || *tr.Meta.Rank != 3 || tr.Meta.Tool != trace.ToolNCCL {
		t.Errorf("rank %v of %q", tr.Meta.Rank, tr.Meta.Tool)
	}
	if got, tr := work(t, mark("b", "x", "KernelCh", 0, 1, ""), mark("e", "x", "KernelCh", 0, 2, "")); got != "" || tr.Meta.Tool != "" {
		t.Errorf("work without a collective is %s of %q", got, tr.Meta.Tool)
	}
}

// TestStepsByNumber: StepTraceAnnotation of JAX and TensorFlow has the number of the step as an argument, and one name for
// all. In a trace without work of XLA the name stays, and so does that of a span with a category.
func TestStepsByNumber(t *testing.T) {
	step := func(n, more string) string {
		return `{"ph":"X","pid":9,"tid":1,"name":"train","ts":5,"dur":50` + more + `,"args":{"step_num":` + n + `,"_r":"1"}}`
	}
	names := func(events ...string) string {
		_, tr := work(t, append(events, lane(9, 1, "/host:CPU", "main"))...)
		var out []string
		for s := range tr.Spans.All() {
			out = append(out, fmt.Sprint(s.Kind, " ", tr.Name(s.Name), " ", s.External))
		}
		return strings.Join(out, "; ")
	}
	gpu := []string{slice(2, 13, "fusion", 20, 30, 7), lane(2, 13, "/device:GPU:0", "Stream #13(Compute)")}
	if got, want := names(append(gpu, step(`"0"`, ""), step("12", ""))...), "user_annotation step 0 0; user_annotation step 12 0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := names(step(`"3"`, "")); !strings.Contains(got, "train") {
		t.Error(got)
	}
	if got := names(append(gpu, step("4", `,"cat":"mine"`))...); !strings.Contains(got, "train") {
		t.Error(got)
	}
}
