package whatif_test

import (
	"encoding/json"
	"strings"
	"testing"

	"assay/analyze/whatif"
	"assay/trace"
)

// process returns the events of a process that prepares a batch, launches a product of 50 µs and an all-reduce, which
// ends at 200 µs, and waits for it until 204 µs.
func process(pid, device int, prepared float64, reduces int) (out []any) {
	event := func(cat, name string, tid int, ts, dur float64, args map[string]any) {
		out = append(out, map[string]any{"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args})
	}
	event("user_annotation", "prepare", 1, 0, prepared, nil)
	for i := range 1 + reduces {
		at := prepared + 5*float64(i)
		id := 100*pid + i
		event("cuda_runtime", "cudaLaunchKernel", 1, at, 4, map[string]any{"correlation": id})
		name, start, dur := "sgemm_kernel", at+6, 50.0
		if i > 0 {
			name, start = "ncclDevKernel_AllReduce_Sum_f16_RING_LL", at+8
			dur = (200 - start) / float64(1+reduces-i)
		}
		event("kernel", name, 7+min(i, 1), start, dur, map[string]any{"device": device, "stream": 7 + min(i, 1), "correlation": id})
	}
	event("cuda_runtime", "cudaDeviceSynchronize", 1, prepared+30, 174-prepared, map[string]any{"correlation": 100*pid + 50})
	return out
}

func captureOf(t *testing.T, parts ...[]any) *trace.Trace {
	t.Helper()
	var all []any
	for _, p := range parts {
		all = append(all, p...)
	}
	text, err := json.Marshal(map[string]any{"traceEvents": all})
	if err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Read(strings.NewReader(string(text)), "job", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Processes of a job are its ranks, in the order of their GPUs. That of GPU 0 prepares for 80 µs longer, which the path of
// the other has too.
func TestProcessesAreRanks(t *testing.T) {
	tr := captureOf(t, process(71, 1, 20, 1), process(64, 0, 100, 1))
	a, err := whatif.Of([]whatif.Input{{Trace: tr, Path: "job.sqlite"}}, whatif.Question{})
	if err != nil || a.Matched != 1 || len(a.CriticalPaths) != 2 {
		t.Fatalf("%v %+v", err, a)
	}
	for i, p := range a.CriticalPaths {
		of := 0 // ranks that are listed: none of a path that stays on its own
		if i == 1 {
			of = 2
		}
		if p.Rank != i || len(p.Ranks) != of || of > 0 && p.Ranks[0].Name != "0" || p.Classes.Python != 100_000 {
			t.Errorf("%+v", p)
		}
	}
	for name, tr := range map[string]*trace.Trace{
		"another job":         captureOf(t, process(71, 1, 20, 1), process(64, 0, 100, 2)),
		"no communication":    captureOf(t, process(71, 1, 20, 0), process(64, 0, 100, 0)),
		"one process":         captureOf(t, process(71, 1, 20, 1)),
		"work without calls":  captureOf(t, process(71, 1, 20, 1), process(64, 0, 100, 1)[2:3], process(64, 0, 100, 1)[4:5]),
		"as Kineto writes it": captureOf(t, process(64, 0, 100, 1), process(1, 1, 20, 1)[2:3]),
	} {
		if got := whatif.Processes(whatif.Input{Trace: tr}, whatif.Question{}); len(got) != 1 || got[0].Trace != tr {
			t.Errorf("%s: %d ranks", name, len(got))
		}
	}
}
