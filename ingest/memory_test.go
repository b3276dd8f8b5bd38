package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"assay/trace"
)

// TestMemory: snapshots and timelines go to their readers, whatever their names,
// and the rank is that of the name where one has it.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join("..", "testdata", "memory")
	for name, tt := range map[string]struct {
		from, format string
		rank         int
	}{
		"1757059120.5340526-TP-3-memory-DECODE.pickle": {"bare.pickle.gz", "torch-memory-snapshot", 3},
		"memory_snapshot_rank7_late.pickle":            {"ring_buffer.pickle.gz", "torch-memory-snapshot", 7},
		"dump":                                         {"leak_oom.pickle.gz", "torch-memory-snapshot", 0},
		"rank2.raw.json.gz":                            {"timeline.raw.json", "torch-memory-timeline", 2},
		"memory.json":                                  {"timeline.json", "torch-memory-timeline", 0},
	} {
		b, err := os.ReadFile(filepath.Join(data, tt.from))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		in, err := Load(f, trace.SelectAll())
		f.Close()
		if err != nil || in.Format != tt.format || in.Rank != tt.rank || (in.Memory != nil) == (in.Timeline != nil) || in.SHA256 == "" {
			t.Errorf("%s: %v %+v", name, err, in)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "weights.pickle"), []byte("\x80\x02}q\x00X\x01\x00\x00\x00aK\x01s."), 0o644); err != nil {
		t.Fatal(err)
	}
	got := Paths([]string{dir})
	if len(got.Files) != 5 || got.Others != 1 || slices.Contains(got.Files, filepath.Join(dir, "weights.pickle")) {
		t.Errorf("%+v", got)
	}
}
