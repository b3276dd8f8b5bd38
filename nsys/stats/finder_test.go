package stats

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"assay/internal/profile"
	"assay/internal/test"
	"assay/internal/textscan"
)

// found returns the tables that a Finder finds in a text.
func found(t *testing.T, text string) *profile.Tables {
	t.Helper()
	f := NewFinder("in", Limits{})
	if _, err := textscan.Scan(strings.NewReader(text), f); err != nil {
		t.Fatal(err)
	}
	return f.Tables()
}

// withoutLines returns the tables without the lines of their rows.
func withoutLines(tables *profile.Tables) []*profile.Table {
	for _, table := range tables.List {
		for i := range table.Rows {
			table.Rows[i].Line = 0
		}
	}
	return tables.List
}

// noise returns lines of a program that nsys ran.
func noise(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "[rank%d] step %d: loss 2.3 (%d%%), ERROR: no -- error, Time %d\n", i%8, i, i%100, i)
	}
	return b.String()
}

// TestFinder: within a log a Finder finds the same tables as Read in the output
// alone.
func TestFinder(t *testing.T) {
	const kernels = " Time (%)  Total Time (ns)  Instances  Avg (ns)   Name\n --------  ---------------  ---------  --------  ------\n     75.0              300          3     100.0  a\n     25.0              100          1     100.0  b\n\n"
	texts := map[string]string{
		"one table":        kernels,
		"with its title":   "Processing [a.sqlite] with [/opt/reports/cuda_gpu_kern_sum.py]...\n\n ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n\n" + kernels,
		"skipped":          "Processing [a.sqlite] with [/opt/reports/nvtx_sum.py]...\nSKIPPED: a.sqlite does not contain NVTX data.\n\n",
		"CSV":              "Time (%),Total Time (ns),Instances,Name\n75.0,300,3,a\n25.0,100,1,\"b, c\"\n\n",
		"version of 2020":  "Time(%)  Total Time (ns)  Instances  Average  Minimum  Maximum  Name\n-------  ---------------  ---------  -------  -------  -------  ----\n  100.0  300  3  100.0  100  100  a\n\n",
		"two behind other": kernels + " ** CUDA API Summary (cuda_api_sum):\n\n" + strings.ReplaceAll(strings.ReplaceAll(kernels, "Instances", "Num Calls"), "  a\n", "  cudaFree\n"),
	}
	var files []string
	if dir, ok := test.FindCorpus(t, "nsight", "zx3xyy_assignment2-systems"); ok {
		files = test.Files(t, filepath.Join(dir, "nsys_stats*.txt"))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(file)] = string(text) + "\n"
	}
	for name, text := range texts {
		want, err := Read(strings.NewReader(text), "in", Limits{})
		if err != nil {
			t.Fatal(name, err)
		}
		withoutLines(want)
		for where, log := range map[string]string{"alone": text, "behind a log": noise(5000) + text, "before a log": text + noise(5000)} {
			got := found(t, log)
			if diff := gocmp.Diff(want.List, withoutLines(got)); diff != "" {
				t.Errorf("%s, %s: want(-) got(+)\n%s", name, where, diff)
			}
			for _, is := range got.Issues {
				if is.Code == "nsys-error" || is.Code == "row-malformed" {
					t.Errorf("%s, %s: %+v", name, where, is)
				}
			}
		}
	}
	if got := found(t, noise(5000)); len(got.List) > 0 || len(got.Issues) > 0 {
		t.Errorf("a log without tables: %+v", got)
	}
}

// TestFinderAnyLines: a Finder takes lines in any order. It gets each line once, so it cannot read ahead, for example
// from "[" to the end of an array; and what follows such a line is still found.
func TestFinderAnyLines(t *testing.T) {
	lines := []string{
		"[", "[{\"loss\": 1.0},", "]", "a text", "", " Time (%)  Total Time (ns)  Instances  Name",
		" --------  ---------------  ---------  ----", "     75.0              300          3  a",
		" ** CUDA API Summary (cuda_api_sum):", "Processing [a.sqlite] with [/x/cuda_gpu_kern_sum.py]...",
		"SKIPPED: a.sqlite does not contain NVTX data.", "Time (%),Total Time (ns),Instances,Name", "75.0,300,3,\"a",
		"+----------+------+", "| Time (%) | Name |",
	}
	for i := range len(lines) * len(lines) * len(lines) {
		var text strings.Builder
		for n := i; n > 0 || text.Len() == 0; n /= len(lines) {
			text.WriteString(lines[n%len(lines)] + "\n")
		}
		found(t, text.String()+lines[6]+"\n")
	}
	for _, before := range []string{"[\n", "[{\"loss\": 1.0}\n", "[\n  1,\n]\n"} {
		tables := found(t, before+strings.Join(lines[5:8], "\n")+"\n")
		if len(tables.List) != 1 || len(tables.List[0].Rows) != 1 || tables.List[0].Rows[0].Name != "a" {
			t.Errorf("behind %q: %+v", before, tables)
		}
	}
}
