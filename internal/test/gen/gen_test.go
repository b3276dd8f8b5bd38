package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"assay/internal/test"
	"assay/internal/test/tracegen"
)

// TestRun writes the same trace with and without compression, and its truth.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	plain, packed, truth := filepath.Join(dir, "a.json"), filepath.Join(dir, "a.json.gz"), filepath.Join(dir, "truth.json")
	for _, args := range [][]string{
		{"trace", "-size", "1k", "-rank", "1", "-o", plain, "-truth", truth},
		{"trace", "-size", "1k", "-rank", "1", "-o", packed},
	} {
		if err := run(args); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(test.Unpacked(t, packed), test.Unpacked(t, plain)) {
		t.Error("compressed and plain trace differ")
	}
	var got tracegen.Truth
	if err := json.Unmarshal(test.Unpacked(t, truth), &got); err != nil {
		t.Fatal(err)
	}
	if got.Rank != 1 || len(got.Devices) != 1 || got.Devices[0].Cells.Sum() != got.Devices[0].WindowNS {
		t.Errorf("truth is %+v, want one device of rank 1 whose cells sum to its window", got)
	}
}

// TestExport writes a run as a trace and as an export, replacing existing
// files. The truth about both is the same, on clocks that differ by a constant.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	var truths [2]tracegen.Truth
	for i, name := range []string{"a.json", "a.sqlite"} {
		out, truth := filepath.Join(dir, name), filepath.Join(dir, "truth.json")
		if err := os.WriteFile(out, []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := run([]string{"trace", "-preset", "graphs", "-o", out, "-truth", truth}); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(test.Unpacked(t, truth), &truths[i]); err != nil {
			t.Fatal(err)
		}
	}
	if b := test.Unpacked(t, filepath.Join(dir, "a.sqlite")); !bytes.HasPrefix(b, []byte("SQLite format 3\x00")) {
		t.Errorf("it begins with %q", b[:min(len(b), 16)])
	}
	a, b := truths[0].Devices[0], truths[1].Devices[0]
	if a.WindowNS != b.WindowNS || a.StartNS == b.StartNS || truths[0].BaseNS+a.StartNS != truths[1].BaseNS+b.StartNS {
		t.Errorf("windows from %d for %d and from %d for %d", a.StartNS, a.WindowNS, b.StartNS, b.WindowNS)
	}
}

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	out, export := filepath.Join(dir, "a.json"), filepath.Join(dir, "a.sqlite")
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"trace", "-size", "3q"}, `size "3q" is not a number of bytes from 1 up`},
		{[]string{"trace", "-size", "99999999999g"}, `size "99999999999g" is not a number of bytes from 1 up`},
		{[]string{"trace", "x"}, `unexpected argument "x"`},
		{[]string{"trace", "-preset", "rocm", "-rank", "8", "-o", out}, `scenario "rocm": no rank 8 among 8`},
		{[]string{"trace", "-preset", "rocm", "-o", export}, `scenario "rocm": Nsight Systems records no hardware but NVIDIA's`},
		{[]string{"trace", "-preset", "graphs", "-rank", "3", "-o", export}, `scenario "graphs": no rank 3 among 1`},
	} {
		if err := run(tc.args); err == nil || err.Error() != tc.want {
			t.Errorf("%q: got error %v, want %s", tc.args, err, tc.want)
		}
	}
	for _, name := range []string{out, export} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s could not be generated and was left behind", name)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"7": 7, "2k": 2000, "30M": 30_000_000, "10g": 10_000_000_000} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%q is %d, %v, want %d", text, got, err, want)
		}
	}
}

// TestTroubles: each trouble has a folder with the trace of each rank and the
// expected finding.
func TestTroubles(t *testing.T) {
	dir := t.TempDir()
	if err := run([]string{"trace", "-troubles", dir}); err != nil {
		t.Fatal(err)
	}
	for _, tr := range tracegen.Troubles() {
		files, err := os.ReadDir(filepath.Join(dir, tr.Name))
		if err != nil || len(files) != len(tr.Ranks)+1 {
			t.Errorf("%s: %d files, %v", tr.Name, len(files), err)
			continue
		}
		if got := test.Unpacked(t, filepath.Join(dir, tr.Name, "rank0.json")); !bytes.Equal(got, tr.Ranks[0].JSON) {
			t.Errorf("%s: rank 0 is another trace", tr.Name)
		}
		about := test.Unpacked(t, filepath.Join(dir, tr.Name, "about.txt"))
		if tr.Rule != "" && !bytes.Contains(about, []byte("first finding: "+tr.Rule+"\n")) {
			t.Errorf("%s: about.txt says %q", tr.Name, about)
		}
	}
	if err := run([]string{"trace", "-troubles", filepath.Join(dir, "loader", "rank0.json")}); err == nil {
		t.Error("a file is taken for a folder")
	}
}
