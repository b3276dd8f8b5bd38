package snapgen

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"assay/internal/test"
)

var update = flag.Bool("update", false, "write testdata/memory")

func pickled(t *testing.T, opt Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Play(opt).Pickle(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPresets: the files of testdata/memory equal the files generated now.
func TestPresets(t *testing.T) {
	for name, opt := range Presets() {
		path := filepath.Join("..", "..", "..", "testdata", "memory", name+".pickle.gz")
		test.Fixture(t, path, pickled(t, opt), *update)
	}
}

// TestTruth computes the truth of a small run by hand: an allocation of 5 MiB
// that is freed, and one of 11 MiB whose free waits.
func TestTruth(t *testing.T) {
	r := Play(Options{Bare: true})
	*r = Run{opt: Options{}, rnd: r.rnd, lifeOf: map[int64]int{}, index: map[string]int{}, next: 1 << 40, recorded: true}
	at := r.stack("a.py", 1, "f", torchFrame("x.py", "g"))
	a := r.malloc(5*mib-100, at) // entries 0 (segment of 20 MiB), 1
	r.malloc(1000, at)           // entries 2 (segment of 2 MiB), 3: 1024 of it
	b := r.malloc(11*mib, at)    // entry 4: fits after a
	r.free(a, at, false)         // entries 5 and 6
	r.free(b, at, true)          // entry 7: it waits
	got := r.Truth()
	want := Truth{
		Entries: 8, Reserved: 22 * mib, Allocated: 1024, Waiting: 11 * mib, Split: 2*mib - 1024 + 9*mib, LargestFree: 5 * mib, Requested: 1000,
		HighestReserved: 22 * mib, Allocs: 3, Frees: 1, SegmentAllocs: 2, SegmentAllocBytes: 22 * mib,
		Peak: 16*mib - 100 + 1000, PeakEntry: 4, PeakOwners: map[string]int64{"a.py:1 f": 16*mib - 100 + 1000},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// script reads a snapshot with Python's own pickle module, and computes in the
// simplest way what was allocated at its end and its peak.
const script = `
import json, pickle, sys
d = pickle.load(sys.stdin.buffer)
blocks = [b for s in d["segments"] for b in s["blocks"]]
entries = d["device_traces"][0]
live = {b["address"]: b["requested_size"] for b in blocks if b["state"] != "inactive"}
peak = total = sum(live.values())
for e in reversed(entries):
    if e["action"] == "alloc":
        total -= e["size"]
    elif e["action"] == "free_completed":
        total += e["size"]
    peak = max(peak, total)
print(json.dumps({
    "Reserved": sum(s["total_size"] for s in d["segments"]), "Entries": len(entries), "Peak": peak, "OlderBytes": total,
    "Allocated": sum(b["size"] for b in blocks if b["state"] == "active_allocated"),
    "Frames": sum(len(b["frames"]) for b in blocks) + sum(len(e["frames"]) for e in entries),
}))
`

// TestPython: Python reads the pickles, and walking backward from the end finds
// the peak that was computed by walking forward.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no Python")
	}
	for name, opt := range Presets() {
		cmd := exec.Command(python, "-c", script)
		cmd.Stdin = bytes.NewReader(pickled(t, opt))
		out, err := cmd.Output()
		if opt.Bare && err == nil {
			continue // it has no peak
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got struct{ Reserved, Entries, Peak, OlderBytes, Allocated, Frames int64 }
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		want := Play(opt).Truth()
		if have := fmt.Sprint(want.Reserved, want.Entries, want.Peak, want.OlderBytes, want.Allocated); have != fmt.Sprint(got.Reserved, got.Entries, got.Peak, got.OlderBytes, got.Allocated) || got.Frames == 0 {
			t.Errorf("%s: Python finds %+v, the truth is %+v", name, got, want)
		}
	}
}
