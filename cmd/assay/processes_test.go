package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/test/nsysgen"
	"assay/trace"
)

// twoProcesses writes an export of two processes, 64 with GPU 0 and 71 with GPU 1. Each prepares a batch, for 100 and 20 µs, launches a
// product of 50 µs, an all-reduce, which ends at 190 µs, and Adam, from 191 to 200 µs, for which it waits until 204 µs. Process 71 has a number
// of all-reduces, and process 64 one: if that differs, they are no ranks of a job.
func twoProcesses(t *testing.T, reduces int) string {
	t.Helper()
	var events []any
	for device, pid := range []int{64, 71} {
		add := func(cat, name string, tid int, ts, dur float64, args map[string]any) {
			events = append(events, map[string]any{"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args})
		}
		prepared := 100.0 - 80*float64(device)
		add("user_annotation", "prepare", pid, 0, prepared, nil)
		add("cuda_runtime", "cudaLaunchKernel", pid, prepared, 4, map[string]any{"correlation": 100*pid + 1})
		add("kernel", "sgemm_kernel", 7, prepared+6, 50, map[string]any{"device": device, "stream": 7, "correlation": 100*pid + 1})
		for i := range max(1, reduces*device) {
			at := prepared + 5 + 5*float64(i)
			add("cuda_runtime", "cudaLaunchKernel", pid, at, 4, map[string]any{"correlation": 100*pid + 2 + i})
			add("kernel", "ncclDevKernel_AllReduce_Sum_f16_RING_LL", 8, at+6, 184-at, map[string]any{"device": device, "stream": 8 + i, "correlation": 100*pid + 2 + i})
		}
		add("cuda_runtime", "cudaLaunchKernel", pid, prepared+15, 4, map[string]any{"correlation": 100*pid + 9})
		add("kernel", "adam_kernel", 8, 191, 9, map[string]any{"device": device, "stream": 8, "correlation": 100*pid + 9})
		add("cuda_runtime", "cudaDeviceSynchronize", pid, prepared+30, 174-prepared, map[string]any{"correlation": 100*pid + 50})
	}
	text, err := json.Marshal(map[string]any{"traceEvents": events})
	if err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Read(bytes.NewReader(text), "job", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "job.sqlite")
	if err := nsysgen.WriteTrace(path, tr, nsysgen.NumberedSyncs); err != nil {
		t.Fatal(err)
	}
	const second = "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = globalPid + (71 - 64) * 16777216 WHERE deviceId = 1"
	if _, err := nsysgen.Change(path, second); err != nil { // it is written as if one process had all GPUs
		t.Fatal(err)
	}
	return path
}

// Adam on GPU 1 waits for the all-reduce, and that for the one of GPU 0, which process 64 launches after it has prepared for 100 µs.
func TestProcessesOfAnExport(t *testing.T) {
	job, others := twoProcesses(t, 1), twoProcesses(t, 2)
	for _, c := range []struct {
		args        string
		has, hasNot []string
		status      int
	}{
		{"inspect JOB --kernel adam --why --rank 1", []string{"GPU 1 stream 8", "rank 0 thread 64"}, []string{"of 2 launches", "give all ranks"}, exitOK},
		{"inspect JOB --kernel adam --why --rank 0", []string{"GPU 0 stream 8", "thread 64  prepare"}, []string{"of 2 launches", "thread 71"}, exitOK},
		{"inspect JOB --kernel adam --why", []string{"of 2 launches"}, nil, exitOK},
		{"inspect JOB --at 150us --why --rank 0", []string{"started at 0.111 ms", "thread 64"}, nil, exitOK},
		{"inspect JOB --kernel adam --why --rank 2", []string{"no input has a rank"}, nil, exitTrouble},
		{"whatif JOB --rank 1", []string{"By rank: 54.4% rank 0, 45.6% rank 1"}, []string{"give all ranks"}, exitOK},
		{"whatif JOB --rank 2", []string{"no input has a rank"}, nil, exitTrouble},
		{"convert JOB --to chrome --critical", []string{"critical path of rank 0", "critical path of rank 1"}, nil, exitOK},
		{"convert JOB --to chrome --critical --rank 1", []string{"critical path of rank 1", `"where":"CPU thread 64"`}, []string{"critical path of rank 0"}, exitOK},
		{"convert JOB --to chrome --critical --rank 3", []string{"no input has a rank"}, nil, exitTrouble},
		{"inspect OTHERS --kernel adam --why", []string{"give all ranks"}, []string{"prepare  1"}, exitOK},
		{"inspect OTHERS --kernel adam --why --rank 1", []string{"no input has a rank"}, nil, exitTrouble},
		{"convert OTHERS --to chrome --critical", []string{"critical path of rank 0"}, []string{"critical path of rank 1"}, exitOK},
	} {
		var stdout, stderr bytes.Buffer
		args := strings.Fields(strings.NewReplacer("JOB", job, "OTHERS", others).Replace(c.args))
		status := run(env{nil, &stdout, &stderr}, args)
		text := stdout.String() + stderr.String()
		fail := status != c.status
		for _, s := range c.has {
			fail = fail || !strings.Contains(text, s)
		}
		for _, s := range c.hasNot {
			fail = fail || strings.Contains(text, s)
		}
		if fail {
			t.Errorf("%s: status %d\n%s", c.args, status, text)
		}
	}
}
