package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ofRanks returns a folder of real runs of several ranks, or skips the test.
func ofRanks(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("ASSAY_CORPUS")
	if root == "" {
		root = "../../../shared/corpus"
	}
	dir := filepath.Join(root, "ranks", name)
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no corpus")
	}
	return dir
}

// TestRanksOfExport: two processes in one export of Nsight Systems, whose NCCL wrote
// communicators and sizes. The sums were computed from its tables by another program, and
// the bandwidths by that of nccl-tests' definitions.
func TestRanksOfExport(t *testing.T) {
	s := summaryOf(t, output(t, "summary", "--format", "json", ofRanks(t, "cs336_ddp_2x3090_nsys")))
	if len(s.Ranks) != 2 {
		t.Fatalf("%d rows of ranks, want 2", len(s.Ranks))
	}
	// GPU 0 of the machine is device 1 of the processes, and rank 1 of the communicator.
	for i, wait := range []int64{2_150_099, 33_109_393} {
		r := s.Ranks[i]
		if r.Collectives != 230 || r.Incomplete != 0 || r.TransferNS != 27_909_126 || r.WaitNS != wait {
			t.Errorf("%+v, want 230 collectives, 27909126 ns of transfer and %d of waiting", r, wait)
		}
	}
	if offset := *s.Ranks[1].OffsetNS; offset != -786 || *s.Ranks[1].ResidualNS != 3910 {
		t.Errorf("the clock is %d ns ahead with a residual of %d, want -786 and 3910", offset, *s.Ranks[1].ResidualNS)
	}
	type row struct {
		op    string
		bytes int64
	}
	counts := map[row]int64{
		{"all-reduce", 4718592}: 36, {"all-reduce", 1179648}: 48, {"all-reduce", 15360000}: 2, {"all-reduce", 1536}: 25, {"all-reduce", 24}: 5, {"all-reduce", 4}: 3,
		{"broadcast", 4718592}: 36, {"broadcast", 1179648}: 48, {"broadcast", 15360000}: 2, {"broadcast", 1536}: 25,
	}
	// By the shortest duration; the other program's is the median of last end - last start.
	busbw := map[int64]float64{4718592: 9.54, 1179648: 8.77, 15360000: 8.91}
	for _, c := range s.Collectives {
		if c.Bytes == nil {
			t.Errorf("%+v: no size", c)
			continue
		}
		key := row{c.Op, *c.Bytes}
		if c.Count != counts[key] || c.GroupSize != 2 || c.Incomplete != 0 {
			t.Errorf("%+v: %d instances, want %d", key, c.Count, counts[key])
		}
		if want := busbw[*c.Bytes]; want > 0 && c.Op == "all-reduce" && (c.BusBWGBps == nil || math.Abs(*c.BusBWGBps-want) > want/15) {
			t.Errorf("%+v: bus bandwidth %v, want about %v", key, c.BusBWGBps, want)
		}
		delete(counts, key)
	}
	if len(counts) > 0 {
		t.Errorf("missing: %v", counts)
	}
}

// TestRanksWithoutGPU: ranks whose profiler recorded no GPU work have no rows, and the
// report says so.
func TestRanksWithoutGPU(t *testing.T) {
	dir := ofRanks(t, "rocm_2rank_no_gpu_events")
	if s := summaryOf(t, output(t, "summary", "--format", "json", dir)); len(s.Ranks) != 0 || len(s.Collectives) != 0 {
		t.Errorf("%d rows of ranks and %d of collectives, want none", len(s.Ranks), len(s.Collectives))
	}
	text := strings.Join(strings.Fields(string(output(t, "summary", dir))), " ")
	for _, want := range []string{"No GPU events", "ranks 0, 1, 13.7 KiB, 593 events, no GPU events"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}
