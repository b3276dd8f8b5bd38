package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/compare/history"
)

// nightly writes traces of nights, each in a directory with its date: steps of three kernels whose times vary
// by 2% from night to night. From night at on, the kernel named slow takes longer by the factor.
func nightly(t *testing.T, r *rand.Rand, dir string, nights, at int, slow string, factor float64) []string {
	t.Helper()
	var names []string
	for night := range nights {
		date := time.Date(2026, 10, 20, 3, 0, 0, 0, time.UTC).AddDate(0, 0, night)
		var out bytes.Buffer
		fmt.Fprintf(&out, `{"baseTimeNanoseconds":%d,"deviceProperties":[{"id":0,"name":"NVIDIA H100 80GB HBM3"}],"traceEvents":[`, date.UnixNano())
		scale, now, link := 1+0.02*r.NormFloat64(), 0.0, 1
		for step := range 4 {
			var calls bytes.Buffer
			begin, gpu := now, now+20
			for range 6 {
				for _, k := range []struct {
					name string
					us   float64
				}{{"gemm_bf16_128x128", 900}, {"flash_bwd_kernel", 500}, {"vectorized_elementwise_kernel", 200}} {
					us := k.us * scale
					if k.name == slow && night >= at {
						us *= factor
					}
					fmt.Fprintf(&calls, `{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%.3f,"dur":3,"args":{"correlation":%d}},`+"\n", now+1, link)
					fmt.Fprintf(&calls, `{"ph":"X","cat":"kernel","name":"%s","pid":0,"tid":7,"ts":%.3f,"dur":%.3f,"args":{"device":0,"stream":7,"correlation":%d}},`+"\n", k.name, gpu, us, link)
					now, gpu, link = now+5, gpu+us+1, link+1
				}
			}
			fmt.Fprintf(&out, `{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":1,"tid":1,"ts":%.3f,"dur":%.3f},`+"\n", step, begin, gpu-begin)
			fmt.Fprintf(&calls, `{"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":1,"tid":1,"ts":%.3f,"dur":%.3f,"args":{"correlation":%d}},`+"\n", now+1, gpu-now-2, link)
			out.Write(calls.Bytes())
			now, link = gpu+1, link+1
		}
		out.WriteString(`{}]}`)
		name := date.Format("2006-01-02")
		if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name, "trace.json"), out.String(), 0o666)
		names = append(names, name)
	}
	return names
}

// TestHistoryFindsRunAndCause: in one of forty nights a kernel becomes slower. The history names the night, the
// kernel, and by how much; a check against it knows how much nights differ.
func TestHistoryFindsRunAndCause(t *testing.T) {
	for i, c := range []struct {
		kernel string
		factor float64
		step   float64 // by how much steps are longer then: the kernel has this part of them
	}{{"flash_bwd_kernel", 1.32, 0.10}, {"gemm_bf16_128x128", 1.0889, 0.05}, {"flash_bwd_kernel", 0.68, -0.10}} {
		r := rand.New(rand.NewPCG(21, uint64(i)))
		dir := filepath.Join(t.TempDir(), "nightly")
		at := 12 + r.IntN(16)
		names := nightly(t, r, dir, 40, at, c.kernel, c.factor)
		stdout, stderr, status := commanded("history", dir, "--format", "json")
		var h history.History
		if err := json.Unmarshal([]byte(stdout), &h); err != nil || status != 0 {
			t.Fatalf("exit status %d, %v: %s", status, err, stderr)
		}
		if h.OrderedBy != history.ByTime || len(h.Runs) != 40 || len(h.Changes) != 1 {
			t.Fatalf("%s: %d runs by %s: %s", c.kernel, len(h.Runs), h.OrderedBy, h.Headline)
		}
		x := h.Changes[0]
		if x.First > at+1 || x.Last < at-1 { // the range has it in 95 of 100
			t.Errorf("%s: between run %d and %d, want %d", c.kernel, x.First, x.Last, at)
		}
		for _, m := range x.Metrics {
			if m.Metric == "step.median" && (m.Change < c.step-0.025 || m.Change > c.step+0.025 || m.Worse != (c.step > 0)) {
				t.Errorf("%s: steps change by %.3f, worse: %v; want %.2f", c.kernel, m.Change, m.Worse, c.step)
			}
		}
		if x.Cause == nil || len(x.Cause.Rows) == 0 || x.Cause.Rows[0].Name != c.kernel || x.Cause.Rows[0].Of != "kernel" {
			t.Errorf("%s: cause %+v", c.kernel, x.Cause)
		}
		if c.step < 0.1 {
			continue
		}
		before, after := filepath.Join(dir, names[0]), filepath.Join(dir, names[39])
		if _, stderr, status := commanded("check", after, "--history", dir); status != 0 || !strings.Contains(stderr, "since the last change") {
			t.Errorf("a run after the change: exit status %d, %s", status, stderr)
		}
		if stdout, _, _ := commanded("history", before, after); !strings.Contains(stdout, "no metric that 8 of them have") {
			t.Errorf("two runs: %s", stdout)
		}
		old := filepath.Join(t.TempDir(), "old")
		nightly(t, r, old, 20, 20, "", 1)
		if stdout, _, status := commanded("check", after, "--history", old); status != 1 {
			t.Errorf("a run that is 10%% slower than twenty nights: exit status %d\n%s", status, stdout)
		}
	}
}
