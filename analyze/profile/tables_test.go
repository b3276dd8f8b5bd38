package profile_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/analyze"
	"assay/internal/diag"
	"assay/internal/profile"
	"assay/summary"
)

func tableInput() *profile.Tables {
	ns := func(name string, adds profile.Adds) profile.Heading {
		return profile.Heading{Name: name, Unit: "nanoseconds", Adds: adds}
	}
	return &profile.Tables{Tool: "nsys", Records: 7, Complete: true,
		List: []*profile.Table{
			{Name: "osrt_sum", Of: profile.OfOSCall, Missing: "x.sqlite does not contain OS Runtime data."},
			{Name: "cuda_gpu_sum", Title: "CUDA GPU Summary", Of: profile.OfDeviceOp,
				Columns: []profile.Heading{ns("total", profile.Self), ns("mean", profile.Each)},
				Rows: []profile.Row{
					{Name: "[CUDA memset]", Cells: []profile.Cell{profile.Known(1), {}}},
					{Name: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)", Cells: []profile.Cell{profile.Known(5), profile.Known(2)}},
					{Name: "ampere_sgemm_128x64_tn", Cells: []profile.Cell{profile.Known(9), profile.Known(3)}},
					{Name: "[CUDA memcpy Host-to-Device]", Cells: []profile.Cell{profile.Known(2), {}}, Labels: []profile.Label{{Key: "category", Text: "MEMORY_OPER"}}},
				},
				Left: 2, Rest: []profile.Cell{profile.Known(4), {}}},
			{Name: "cuda_api_gpu_sum", Of: profile.OfRow, Run: "base", Columns: []profile.Heading{ns("total", profile.Self)},
				Rows: []profile.Row{
					{Name: "cudaLaunchKernel", Cells: []profile.Cell{profile.Known(3)}, Labels: []profile.Label{{Key: "category", Text: "CUDA_API"}}},
					{Name: "ampere_sgemm_128x64_tn", Cells: []profile.Cell{profile.Known(2)}, Labels: []profile.Label{{Key: "category", Text: "CUDA_KERNEL"}}},
				}},
			{Name: "nvtx_sum", Of: profile.OfRange, Columns: []profile.Heading{ns("total", profile.Total)},
				Rows: []profile.Row{{Name: "gemm", Cells: []profile.Cell{profile.Known(math.MaxInt64)}}, {Name: "b", Cells: []profile.Cell{profile.Known(1)}}}},
		},
		Issues: []diag.Issue{{Code: "names-cut", Count: 3, First: diag.Pos{File: "t.txt", Line: 9}, Help: "help"}},
	}
}

// TestTables: kernels and copies have their classes wherever they are, calls
// and ranges have none, whatever they are called.
func TestTables(t *testing.T) {
	s := analyze.Tables(tableInput(), summary.Input{Path: "t.txt", Format: "nsys-stats"}, analyze.DefaultOptions())
	var got []string
	for _, table := range s.Tables {
		for _, r := range table.Rows {
			name, _, _ := strings.Cut(r.Name, "(")
			got = append(got, strings.Join([]string{table.Name, r.Class, r.Category, name}, " "))
		}
	}
	want := []string{
		"cuda_gpu_sum compute gemm ampere_sgemm_128x64_tn",
		"cuda_gpu_sum comm all-reduce ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
		"cuda_gpu_sum copy  [CUDA memcpy Host-to-Device]",
		"cuda_gpu_sum memset  [CUDA memset]",
		"cuda_api_gpu_sum   cudaLaunchKernel",
		"cuda_api_gpu_sum compute gemm ampere_sgemm_128x64_tn",
		"nvtx_sum   gemm",
		"nvtx_sum   b",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
	gpu := s.Tables[1]
	if sum, _ := gpu.Sum(0); sum != 1+5+9+2+4 || gpu.Left != 2 || gpu.Rows[3].Values[1] != nil || gpu.Columns[0] != (summary.TableColumn{Name: "total", Unit: "ns", Adds: "self"}) {
		t.Errorf("the table of device work is %+v, its sum %d", gpu, sum)
	}
	if m := s.Tables[0].Missing; !strings.Contains(m, "OS Runtime") || s.Tables[0].Rows == nil {
		t.Errorf("a report without data is %+v", s.Tables[0])
	}
	if in := s.Inputs[0]; in.Events != 7 || !in.Complete {
		t.Errorf("the input is %+v", in)
	}
	calls := s.Tables[2]
	if calls.Run != "base" || calls.Rows[0].Kind != "launch" || calls.Rows[1].Kind != "" || calls.Rows[1].Class != "compute" {
		t.Errorf("calls and device work together are %+v", calls)
	}
	codes := []string{}
	for _, is := range s.Issues {
		codes = append(codes, is.Code+" "+is.First)
	}
	if diff := cmp.Diff([]string{"sum-overflow ", "names-cut t.txt:9"}, codes); diff != "" {
		t.Errorf("issues: want(-) got(+)\n%s", diff)
	}
}

// TestOfWords: the model and the summary call the kinds of rows the same.
func TestOfWords(t *testing.T) {
	for of, want := range map[string]string{
		profile.OfKernel: summary.OfKernel, profile.OfCopy: summary.OfCopy, profile.OfDeviceOp: summary.OfDeviceOp,
		profile.OfCall: summary.OfCall, profile.OfOSCall: summary.OfOSCall, profile.OfRange: summary.OfRange,
		profile.OfOp: summary.OfOp, profile.OfFunction: summary.OfFunction, profile.OfEdge: summary.OfEdge, profile.OfThread: summary.OfThread,
		profile.ClockWall: summary.ClockWall, profile.ClockCPU: summary.ClockCPU, profile.OfRow: summary.OfRow,
	} {
		if of != want {
			t.Errorf("profile has %q, summary %q", of, want)
		}
	}
}
