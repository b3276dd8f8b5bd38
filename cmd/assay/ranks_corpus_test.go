package main

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/test"
)

// ofRanks returns a folder of real runs of several ranks, or skips the test.
func ofRanks(t *testing.T, name string) string {
	t.Helper()
	return test.Corpus(t, "ranks", name)
}

// TestRanksOfExport: two processes in one export of Nsight Systems, whose NCCL wrote
// communicators and sizes. The sums were computed from its tables by another program, and
// the bandwidths by that of nccl-tests' definitions.
func TestRanksOfExport(t *testing.T) {
	s := summaryOf(t, outputOf(t, "summary", "--format", "json", ofRanks(t, "cs336_ddp_2x3090_nsys")))
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
	if s := summaryOf(t, outputOf(t, "summary", "--format", "json", dir)); len(s.Ranks) != 0 || len(s.Collectives) != 0 {
		t.Errorf("%d rows of ranks and %d of collectives, want none", len(s.Ranks), len(s.Collectives))
	}
	text := strings.Join(strings.Fields(string(outputOf(t, "summary", dir))), " ")
	for _, want := range []string{"No GPU events", "ranks 0, 1, 13.7 KiB, 593 events, no GPU events"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// TestStragglersOfByteDance: the timelines of two labelled runs have one process for each
// data-parallel rank and one thread for each stage. The means were computed from the files
// by another program: in one run the first stage of data-parallel rank 0 is slow, in the
// other the last stage of both.
func TestStragglersOfByteDance(t *testing.T) {
	type worker struct{ dp, pp int }
	for _, tt := range []struct {
		name  string
		count int64 // of each worker
		slow  map[worker]float64
		rest  float64 // ms at most
	}{
		{"AR", 1408, map[worker]float64{{0, 0}: 869.2}, 398.2},
		{"ST", 128, map[worker]float64{{0, 3}: 202.8, {1, 3}: 204.3}, 144.1},
	} {
		s := summaryOf(t, outputOf(t, "summary", "--format", "json", filepath.Join(ofRanks(t, "bytedance_"+tt.name), "timeline-"+tt.name+".json.gz")))
		found := map[worker]float64{}
		for _, span := range s.Spans {
			var w worker
			if span.Name != "backward-compute" {
				continue
			}
			if _, err := fmt.Sscanf(span.Process+" "+span.Thread, "DP rank [%d] PP rank %d, TP rank 0, compute", &w.dp, &w.pp); err != nil || span.Count != tt.count {
				t.Errorf("%s: %+v, want %d slices of a worker", tt.name, span, tt.count)
			}
			found[w] = float64(span.TotalNS) / float64(span.Count) / 1e6
		}
		if want := map[string]int{"AR": 16, "ST": 8}[tt.name]; len(found) != want {
			t.Errorf("%s: %d workers, want %d", tt.name, len(found), want)
		}
		for w, ms := range found {
			if want, slow := tt.slow[w]; slow && math.Abs(ms-want) > 0.1 || !slow && ms > tt.rest {
				t.Errorf("%s: %+v takes %.1f ms, want %.1f, or at most %.1f", tt.name, w, ms, want, tt.rest)
			}
		}
	}
}

// TestSlowWorkersOfByteDance: the finding names the worker that the labels of the runs name.
func TestSlowWorkersOfByteDance(t *testing.T) {
	for name, want := range map[string]string{"AR": "Verdict: slow worker Slow worker DP rank [0], PP rank 0, TP rank 0, compute:", "ST": "PP rank 3, TP rank 0, compute (35) and 1 other:"} {
		text := string(outputOf(t, "summary", filepath.Join(ofRanks(t, "bytedance_"+name), "timeline-"+name+".json.gz")))
		if text = strings.Join(strings.Fields(text), " "); !strings.Contains(text, want) {
			t.Errorf("%s: no %q in %s", name, want, text)
		}
	}
}

// TestArrivalsOfHorovod: each of 59 negotiations has one mark of each of 8 ranks.
func TestArrivalsOfHorovod(t *testing.T) {
	s := summaryOf(t, outputOf(t, "summary", "--format", "json", ofRanks(t, "horovod_timeline_8gpu")))
	marks := map[string]int64{}
	for _, span := range s.Spans {
		marks[span.Name] += span.Count
	}
	for rank := range 8 {
		if n := marks[fmt.Sprint(rank)]; n != 59 {
			t.Errorf("%d marks of rank %d, want 59", n, rank)
		}
	}
}

// TestFilesOfOtherTools: what other tools made of several ranks is refused by its name.
func TestFilesOfOtherTools(t *testing.T) {
	for _, tt := range []struct{ dir, file, want string }{
		{"commcanary_4rank_merged", "source.trace.json", "a merge of several ranks by CommCanary"},
		{"tracelens_llama70b_fsdp8_goldens", "nccl_summary_implicit_sync.csv", "a table of a TraceLens report"},
		{"tracelens_llama70b_fsdp8_goldens", "nccl_summary_long.csv", "a table of a TraceLens report"},
	} {
		var stdout, stderr bytes.Buffer
		status := run(env{strings.NewReader(""), &stdout, &stderr}, []string{"summary", filepath.Join(ofRanks(t, tt.dir), tt.file)})
		if status != exitTrouble || !strings.Contains(stderr.String(), tt.want) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: exit status %d: %s", tt.file, status, stderr.String())
		}
	}
}
