package nsysstats

import (
	"bytes"
	"path/filepath"
	"strconv"
	"testing"

	"assay/analyze"
	"assay/internal/test"
	"assay/summary"
	"assay/trace"
)

// generated returns the generated traces, by name.
func generated(t *testing.T) map[string][]byte {
	t.Helper()
	files := test.Files(t, filepath.Join("..", "..", "testdata", "gen", "*.json.gz"))
	out := make(map[string][]byte)
	for _, file := range files {
		out[filepath.Base(file)] = test.Unpacked(t, file)
	}
	return out
}

// TestTotals: kernels, copies and calls sum to the totals of the summary,
// although less of the trace was read.
func TestTotals(t *testing.T) {
	for name, b := range generated(t) {
		whole, err := trace.Read(bytes.NewReader(b), name, analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		tr, err := trace.Read(bytes.NewReader(b), name, Needs(Names()))
		if err != nil {
			t.Fatal(err)
		}
		s := analyze.Trace(whole, summary.Input{}, analyze.DefaultOptions())
		type sums struct{ count, ns int64 }
		want := make(map[string]sums)
		for _, r := range s.Kernels {
			w := want["cuda_gpu_kern_sum"]
			want["cuda_gpu_kern_sum"] = sums{w.count + r.Count, w.ns + r.TotalNS}
		}
		for _, r := range s.Copies {
			w := want["cuda_gpu_mem_time_sum"]
			want["cuda_gpu_mem_time_sum"] = sums{w.count + r.Count, w.ns + r.TotalNS}
		}
		for _, r := range s.Calls {
			w := want["cuda_api_sum"]
			want["cuda_api_sum"] = sums{w.count + r.Count, w.ns + r.TotalNS}
		}
		for _, table := range Tables(tr, []string{"cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_api_sum"}, 1<<20) {
			var got sums
			share := 0.0
			for _, row := range table.Rows {
				percent, _ := strconv.ParseFloat(row[0], 64)
				ns, _ := strconv.ParseInt(row[1], 10, 64)
				count, _ := strconv.ParseInt(row[2], 10, 64)
				share, got = share+percent, sums{got.count + count, got.ns + ns}
			}
			if got != want[table.Name] {
				t.Errorf("%s: %s: %+v, the summary has %+v", name, table.Name, got, want[table.Name])
			}
			if rounding := 0.05 * float64(len(table.Rows)); got.ns > 0 && (share < 100-rounding || share > 100+rounding) {
				t.Errorf("%s: %s: shares sum to %v", name, table.Name, share)
			}
		}
	}
}
