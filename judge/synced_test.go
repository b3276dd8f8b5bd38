package judge

import (
	"fmt"
	"strings"
	"testing"

	"assay/analyze"
	"assay/judge/rule"
	"assay/summary"
	"assay/trace"
)

// A looped is a loop of a host that launches one kernel in each turn: 8 µs of an operator, 4 µs
// of the launch, and a kernel that starts 2 µs later, or when the one before ends. It may then
// wait for the event after the kernel that was launched so many turns before.
type looped struct {
	kernel int64  // µs
	call   string // the wait; "" for none
	behind int    // turns; 0: for the kernel just launched
}

func (l looped) summary(t *testing.T) *summary.Summary {
	t.Helper()
	const turns = 400
	var events []string
	add := func(cat, name string, tid, ts, dur int64, args string) {
		events = append(events, fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":1,"tid":%d,"ts":%d,"dur":%d,"args":{%s}}`, cat, name, tid, ts, dur, args))
	}
	now, free := int64(1000), int64(0)
	var ends []int64
	for i := range turns {
		add("cpu_op", "aten::mm", 1, now, 13, "")
		add("cuda_runtime", "cudaLaunchKernel", 1, now+8, 4, fmt.Sprintf(`"correlation":%d`, 2*i+1))
		start := max(free, now+14)
		free = start + l.kernel
		add("kernel", "sm90_gemm", 7, start, l.kernel, fmt.Sprintf(`"correlation":%d,"device":0,"stream":7`, 2*i+1))
		ends = append(ends, free)
		now += 13
		if at := i - l.behind; l.call != "" && at >= 0 {
			until := max(now+2, ends[at]+4)
			add("cuda_runtime", l.call, 1, now, until-now, fmt.Sprintf(`"correlation":%d`, 2*i+2))
			now = until
		}
	}
	tr, err := trace.Read(strings.NewReader(`{"traceEvents":[`+strings.Join(events, ",")+`]}`), "loop.json", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Trace(tr, summary.Input{Path: "loop.json", Format: "kineto"}, analyze.DefaultOptions())
}

// TestWaitPerKernel: a host that waits for each kernel has a finding of its waits, whatever call waits. Without
// the wait, the same loop computes all the time. A wait for the event of the turn before leaves
// a kernel in the queue, and costs nothing; kernels of 4 µs without any wait are launch-bound.
func TestWaitPerKernel(t *testing.T) {
	for _, tt := range []struct {
		name string
		loop looped
		want string
		step string
	}{
		{"event", looped{30, "cudaEventSynchronize", 0}, rule.SyncCalls, "wait-less-often"},
		{"HIP event", looped{30, "hipEventSynchronize", 0}, rule.SyncCalls, "wait-less-often"},
		{"stream", looped{30, "cudaStreamSynchronize", 0}, rule.SyncCalls, "wait-for-no-step"},
		{"no wait", looped{30, "", 0}, rule.DominantKernel, ""},
		{"event of the turn before", looped{30, "cudaEventSynchronize", 1}, rule.DominantKernel, ""},
		{"tiny kernels", looped{4, "", 0}, rule.LaunchBound, ""},
	} {
		s := tt.loop.summary(t)
		r := Judge(s, rule.DefaultThresholds())
		if got := firstRule(r); got != tt.want {
			t.Errorf("%s: the first finding is of %s, want %s\n%s", tt.name, got, tt.want, told(r))
			continue
		}
		if tt.want != rule.SyncCalls {
			continue
		}
		// What the waits cost is the difference of the windows with and without them.
		without := looped{tt.loop.kernel, "", 0}.summary(t)
		cost := s.Devices[0].WindowNS - without.Devices[0].WindowNS
		f := r.Findings[0]
		if *f.GainNS < cost*9/10 || *f.GainNS > cost*11/10 || f.Cause != "400 waits for 400 GPU operations" || f.Next[0].ID != tt.step {
			t.Errorf("%s: savings %d ns, want about %d; cause %q, step %s", tt.name, *f.GainNS, cost, f.Cause, f.Next[0].ID)
		}
	}
}

// TestOnlyCaptured: launches within the capture of a graph run nothing, so no record of GPU
// work is missing. If one launch is outside, its record is.
func TestOnlyCaptured(t *testing.T) {
	for _, tt := range []struct {
		outside bool
		issue   string
		step    string
	}{{false, "graph-capture-only", "record-the-replay"}, {true, "gpu-events-missing", "stop-other-profilers"}} {
		events := []string{`{"ph":"X","cat":"cuda_runtime","name":"cudaStreamBeginCapture","pid":1,"tid":1,"ts":10,"dur":1}`}
		for i := range 5 {
			events = append(events, fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,"dur":3,"args":{"correlation":%d}}`, 20+10*i, i+1))
		}
		events = append(events, `{"ph":"X","cat":"cuda_runtime","name":"cudaStreamEndCapture","pid":1,"tid":1,"ts":80,"dur":1}`)
		if tt.outside {
			events = append(events, `{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":90,"dur":3,"args":{"correlation":9}}`)
		}
		tr, err := trace.Read(strings.NewReader(`{"traceEvents":[`+strings.Join(events, ",")+`]}`), "c.json", analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		s := analyze.Trace(tr, summary.Input{Path: "c.json", Format: "kineto"}, analyze.DefaultOptions())
		f := find(t, Judge(s, rule.DefaultThresholds()), rule.NoGPUTime)
		if len(s.Issues) != 1 || s.Issues[0].Code != tt.issue || f.Next[0].ID != tt.step {
			t.Errorf("launch outside: %v: issues %v, step %s; want %s, %s", tt.outside, s.Issues, f.Next[0].ID, tt.issue, tt.step)
		}
	}
}

// TestMostlyCaptured: a capture that records graphs of 100 launches beside a few kernels has too
// little GPU work. With a replay of a graph, or with more kernels, it is judged.
func TestMostlyCaptured(t *testing.T) {
	for _, tt := range []struct {
		kernels int
		replay  bool
		want    bool
	}{{9, false, true}, {9, true, false}, {40, false, false}} {
		var events []string
		now := 10
		launch := func(name string, ran bool) {
			events = append(events, fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":%q,"pid":1,"tid":1,"ts":%d,"dur":3,"args":{"correlation":%d}}`, name, now, now))
			if ran {
				events = append(events, fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":5,"args":{"correlation":%d,"device":0,"stream":7}}`, now+4, now))
			}
			now += 10
		}
		for range tt.kernels {
			launch("cudaLaunchKernel", true)
		}
		events = append(events, fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaStreamBeginCapture","pid":1,"tid":1,"ts":%d,"dur":1}`, now))
		now += 10
		for range 100 {
			launch("cudaLaunchKernel", false)
		}
		events = append(events, fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaStreamEndCapture","pid":1,"tid":1,"ts":%d,"dur":1}`, now))
		now += 10
		if tt.replay {
			launch("cudaGraphLaunch", true)
		}
		launch("cudaLaunchKernel", true)
		tr, err := trace.Read(strings.NewReader(`{"traceEvents":[`+strings.Join(events, ",")+`]}`), "c.json", analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		r := Judge(analyze.Trace(tr, summary.Input{Path: "c.json", Format: "kineto"}, analyze.DefaultOptions()), rule.DefaultThresholds())
		if got := firstRule(r) == rule.TooLittleWork && r.Findings[0].Next[0].ID == "record-the-replay"; got != tt.want {
			t.Errorf("%d kernels, replay %v: %s", tt.kernels, tt.replay, told(r))
		}
	}
}
