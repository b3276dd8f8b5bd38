package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// twoSteps is a capture with two steps of wall-clock times. In the first, the kernel of stream 8 waits for that of stream 3:
// 10 µs of the host, a call of 4, a delay of 2, 100 of embed, a gap of 2, 50 of topk: 168 µs. The second is 40 µs of an operator
// after it, from the end of the first on.
func twoSteps(t *testing.T) (path string) {
	t.Helper()
	var events []string
	add := func(cat, name string, pid, tid int, ts, dur int64, args string) {
		const base = 1_700_000_000_123_456_789 // ns; not exact as a float64 of µs
		at := base + ts*1000
		events = append(events, fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":%d,"tid":%d,"ts":%d.%03d,"dur":%d,"args":{%s}}`,
			cat, name, pid, tid, at/1000, at%1000, dur, args))
	}
	add("user_annotation", "ProfilerStep#4", 3, 3, 0, 40, "")
	add("cuda_runtime", "cudaLaunchKernel", 3, 3, 10, 4, `"correlation":1`)
	add("cuda_runtime", "cudaEventRecord", 3, 3, 15, 1, `"correlation":50`)
	add("cuda_runtime", "cudaStreamWaitEvent", 3, 3, 17, 1, `"correlation":51`)
	add("cuda_sync", "Stream Wait Event", 0, 8, 17, 0, `"device":0,"stream":8,"correlation":51,"wait_on_stream":3,"wait_on_cuda_event_record_corr_id":50`)
	add("cuda_runtime", "cudaLaunchKernel", 3, 3, 20, 4, `"correlation":2`)
	add("kernel", "embed", 0, 3, 16, 100, `"device":0,"stream":3,"correlation":1`)
	add("kernel", "topk", 0, 8, 118, 50, `"device":0,"stream":8,"correlation":2`)
	add("user_annotation", "ProfilerStep#5", 3, 3, 40, 168, "")
	add("cpu_op", "save --token=hf_abcdefghijklmnopqrstuvwxyz012345 /home/alice/out", 3, 3, 41, 167, "")
	path = filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(path, []byte(`{"schemaVersion":1,"traceEvents":[`+strings.Join(events, ",\n")+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// overlayOf converts, and returns the slices of each lane.
func overlayOf(t *testing.T, args ...string) (lanes map[int][]slice, text string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if got := run(env{nil, &stdout, &stderr}, append([]string{"convert", "--to", "chrome", "--critical"}, args...)); got != exitOK {
		t.Fatalf("status %d: %s", got, stderr.String())
	}
	var file struct {
		Events []slice `json:"traceEvents"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	lanes = map[int][]slice{}
	for _, e := range file.Events {
		if e.Phase == "X" {
			lanes[e.TID] = append(lanes[e.TID], e)
		}
	}
	return lanes, stdout.String()
}

// ns reads µs without rounding.
func ns(t *testing.T, text json.RawMessage) int64 {
	t.Helper()
	whole, part, _ := strings.Cut(string(text), ".")
	n, err := strconv.ParseInt(whole+(part + "000")[:3], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCriticalOverlay: the slices are the pieces that were worked out, one after the other, on the clock of the capture,
// and sum to their step exactly.
func TestCriticalOverlay(t *testing.T) {
	path := twoSteps(t)
	lanes, text := overlayOf(t, path)
	steps, pieces := lanes[1], lanes[2]
	want := []struct {
		name, class string
		us          int64
	}{{"ProfilerStep#4", "python", 10}, {"(runtime)", "runtime", 4}, {"(launch delay)", "launch_delay", 2}, {"embed", "compute", 100},
		{"(kernel gap)", "kernel_gap", 2}, {"topk", "compute", 50}, {"save", "host_op", 40}}
	if len(steps) != 2 || len(pieces) != len(want) {
		t.Fatalf("%d steps, %d pieces: %s", len(steps), len(pieces), text)
	}
	at := int64(1_700_000_000_123_456_789)
	for i, p := range pieces {
		if ns(t, p.Start) != at || ns(t, p.Length) != 1000*want[i].us || !strings.HasPrefix(p.Name, want[i].name) || p.Args["class"] != want[i].class {
			t.Errorf("piece %d is %s, %s at %s for %s, want %v at %d", i, p.Name, p.Args["class"], p.Start, p.Length, want[i], at)
		}
		at += 1000 * want[i].us
	}
	if ns(t, steps[0].Length) != 168_000 || ns(t, steps[1].Length) != 40_000 || steps[0].Args["verdict"] == "abstain" {
		t.Errorf("steps: %+v", steps)
	}
	if e := pieces[4]; e.Args["waited for"] != "event" || e.Args["before"] != "topk" || e.Args["next to bind"] != "launch" || e.Args["slack of the next (µs)"] != 92.0 {
		t.Errorf("the wait of topk: %v", e.Args)
	}
	if strings.Contains(text, "hf_abc") || !strings.Contains(text, "alice") {
		t.Error("secrets are masked, names of users only on demand")
	}
	if _, text := overlayOf(t, path, "--redact"); strings.Contains(text, "alice") {
		t.Error("names of users are masked on demand")
	}
	lanes, _ = overlayOf(t, path, "--step", "5")
	if len(lanes[1]) != 1 || len(lanes[2]) != 1 || lanes[1][0].Name != "ProfilerStep#5" {
		t.Errorf("one step: %+v", lanes)
	}
}

// TestCriticalOverlaySums compares with what whatif says of a run with more steps.
func TestCriticalOverlaySums(t *testing.T) {
	for _, name := range []string{"comm_bound", "host_bound", "rocm"} {
		path := "../../testdata/gen/" + name + ".json.gz"
		var stdout, stderr bytes.Buffer
		if got := run(env{nil, &stdout, &stderr}, []string{"whatif", path, "--host", "2x", "--format", "json"}); got != exitOK {
			t.Fatal(stderr.String())
		}
		var answer struct {
			Paths []struct {
				Step   string
				Start  int64 `json:"start_ns"`
				Window int64 `json:"window_ns"`
			} `json:"critical_paths"`
		}
		if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil || len(answer.Paths) == 0 {
			t.Fatal(err, stdout.String())
		}
		lanes, _ := overlayOf(t, path)
		k := 0
		for _, p := range answer.Paths {
			end := p.Start
			for ; k < len(lanes[2]) && end < p.Start+p.Window; k++ {
				if s := lanes[2][k]; ns(t, s.Start) != end {
					t.Fatalf("%s: a slice starts at %s, want %d", name, s.Start, end)
				} else {
					end += ns(t, s.Length)
				}
			}
			if end != p.Start+p.Window {
				t.Errorf("%s: the slices of %s end at %d, want %d", name, p.Step, end, p.Start+p.Window)
			}
		}
		if k != len(lanes[2]) {
			t.Errorf("%s: %d slices are in no step", name, len(lanes[2])-k)
		}
	}
}
