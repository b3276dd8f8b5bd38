package memory_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"assay/internal/test"
	"assay/torchprof/memory"
)

// TestUpToSnapshot: entries behind the note of a snapshot count if the segments show what they did. The sizes at the
// peak and at the end are worked out by hand.
func TestUpToSnapshot(t *testing.T) {
	entry := func(a memory.Action, address, size int64) memory.Entry {
		return memory.Entry{Action: a, Address: address, Size: size, Time: 1000}
	}
	history := []memory.Entry{entry(memory.SegmentAlloc, 1<<20, 4096), entry(memory.Alloc, 1<<20, 512), entry(memory.Taken, 0, 0),
		entry(memory.FreeCompleted, 1<<20, 512), entry(memory.Alloc, 1<<20+1024, 1024), entry(memory.Alloc, 1<<20+2048, 2048)}
	block := func(offset, size int64) memory.Block {
		return memory.Block{Address: 1<<20 + offset, Size: size, Requested: size, State: memory.Allocated}
	}
	for name, tt := range map[string]struct {
		blocks      []memory.Block
		peak, later int64
	}{
		"segments of the note":    {[]memory.Block{block(0, 512), {Address: 1<<20 + 512, Size: 3584}}, 512, 3},
		"segments of the end":     {[]memory.Block{{Address: 1 << 20, Size: 1024}, block(1024, 1024), block(2048, 2048)}, 3072, 0},
		"no segments":             {nil, 512, 3},
		"segments of another run": {[]memory.Block{{Address: 1 << 20, Size: 3840}, block(3840, 256)}, 512 + 256, 3},
	} {
		d := memory.Device{Entries: history, Blocks: tt.blocks,
			Segments: []memory.Segment{{Address: 1 << 20, Size: 4096, Count: len(tt.blocks)}}}
		s := measure(&memory.Snapshot{Labels: []string{""}, Complete: true, Devices: []memory.Device{d}})
		if got := s.Snapshots[0].Peak.Live; got != tt.peak {
			t.Errorf("%s: peak %d, want %d", name, got, tt.peak)
		}
		if got := countOf(s, "memory-entries-later"); got != tt.later {
			t.Errorf("%s: %d later entries, want %d", name, got, tt.later)
		}
	}
}

// TestTwoSnapshotsOfAProcess compares the peak with the allocator's own: the program logged torch.cuda.max_memory_allocated
// for each batch, and the first snapshot was taken after the batches of 8. The snapshot has the sizes that were asked
// for; the allocator counts them in multiples of 512 bytes.
func TestTwoSnapshotsOfAProcess(t *testing.T) {
	var truth struct {
		Peaks map[string]int64 `json:"peaks"`
	}
	data, err := os.ReadFile("../../testdata/h200/out_of_memory/truth.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &truth); err != nil {
		t.Fatal(err)
	}
	read := func(name string) *memory.Snapshot {
		m, err := memory.ReadSnapshot(bytes.NewReader(test.Unpacked(t, "../../testdata/h200/out_of_memory/"+name)), name, memory.SnapshotLimits{})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	fits := measure(read("snapshot_fits.pickle.gz"))
	if got, want := fits.Snapshots[0].Peak.Live, truth.Peaks["8"]; got > want || got < want-512*1000 {
		t.Errorf("peak %d, the allocator says %d", got, want)
	}
	failed := measure(read("snapshot_oom.pickle.gz"))
	row := failed.Snapshots[0]
	if row.Peak.Live > row.Peak.HighestReserved || row.Peak.Live <= truth.Peaks["16"] || row.Failed != 1 || row.History.RetryFrees != 78 || row.History.OlderBlocks != 0 {
		t.Errorf("peak %+v, failed %d, history %+v", row.Peak, row.Failed, row.History)
	}
	for _, s := range failed.Issues {
		t.Errorf("issue %s", s.Code)
	}
}
