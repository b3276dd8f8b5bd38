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
)

// readCorpus reads a real output. It skips the test if there is no corpus.
func readCorpus(t *testing.T, file string) *profile.Tables {
	t.Helper()
	text, err := os.ReadFile(test.Corpus(t, "nsight", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return read(t, filepath.Base(file), string(text))
}

// TestRealOutputs reads whole outputs of nsys stats 2024.6.2. The sums of the
// second and third column are those that awk computes for the same files; sizes
// have their sum in the first.
func TestRealOutputs(t *testing.T) {
	for file, want := range map[string]string{
		"nsys_stats": `osrt_sum 54 859667129488 35541
cuda_api_sum 18 10794695126 9493
cuda_gpu_kern_sum 23 3389068613 7328
cuda_gpu_mem_time_sum 1 4460346194 294
cuda_gpu_mem_size_sum 1 13627435000 294
15 without rows, 20 names cut
`,
		"nsys_stats_clean": `osrt_sum 13 42124473764 296
cuda_api_sum 3 7715535535 18322
cuda_gpu_kern_sum 23 8414493836 18320
17 without rows, 20 names cut
`,
		"nsys_stats_compile_ro": `osrt_sum 13 29732764747 204
cuda_api_sum 5 7807283701 62
cuda_gpu_kern_sum 2 78270 30
17 without rows, 2 names cut
`,
	} {
		tables := readCorpus(t, "zx3xyy_assignment2-systems/"+file+".txt")
		var got strings.Builder
		missing := 0
		for _, table := range tables.List {
			if table.Run == "" || !strings.HasPrefix(table.Run, "result_2_7B") {
				t.Errorf("%s: table %s is of run %q", file, table.Name, table.Run)
			}
			if table.Missing != "" {
				missing++
				continue
			}
			total, _ := table.Column("total")
			count, _ := table.Column("count")
			fmt.Fprintln(&got, table.Name, len(table.Rows), table.Sum(total).Value, table.Sum(count).Value)
		}
		cut := int64(0)
		for _, is := range tables.Issues {
			if is.Code == "names-cut" {
				cut = is.Count
			} else {
				t.Errorf("%s: issue %+v", file, is)
			}
		}
		fmt.Fprintf(&got, "%d without rows, %d names cut\n", missing, cut)
		if diff := gocmp.Diff(want, got.String()); diff != "" {
			t.Errorf("%s: want(-) got(+)\n%s", file, diff)
		}
	}
}

// TestRealRanges reads a trace of ranges, for which Python's csv module gives
// these totals, self times, counts, minima and maxima.
func TestRealRanges(t *testing.T) {
	tables := readCorpus(t, "hpcgroup_pipit/nbody-nvtx_nvtx_pushpop_trace.csv")
	want := `nvtx_pushpop_trace range run=nbody-nvtx
total nanoseconds * | self nanoseconds + | count count + | min nanoseconds | max nanoseconds
  "main" 1005098329 607267096 1 1005098329 1005098329
  "cudaMallocManaged" 204843509 204843509 2 7213 204836296
  "cudaMemPrefechAsync" 842028 842028 4 67147 464135
  "read_values_from_file" 44544 44544 2 3106 41438
  "computeNBody11" 6413602 24917 10 635919 674962
  "bodyForce" 117219 117219 20 4509 26160
  "cudaGetLastError" 13292 13292 20 501 1162
  "cudaDeviceSynchronize" 189760728 189760728 40 13134 18355401
  "integratePositions" 101490 101490 20 4589 7083
  "computeNBody15" 183633748 29704 10 18348147 18382031
  "write_values_to_file" 2053802 2053802 2 504671 1549131
`
	if diff := gocmp.Diff(want, show(tables)); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
}
