package profile_test

import (
	"testing"

	"assay/analyze"
	profilerows "assay/analyze/profile"
	"assay/internal/profile"
	"assay/summary"
)

// TestCallsAmongOperators: calls of a runtime have their kind, operators and
// ranges that are called alike have none.
func TestCallsAmongOperators(t *testing.T) {
	for name, want := range map[string]string{
		"cudaLaunchKernel": "launch", "hipLaunchKernel": "launch", "cuLaunchKernelEx": "launch", "cudaStreamSynchronize": "sync", "cudaMalloc": "alloc",
		"cudaFree": "free", "cudaEventQuery": "other", "aten::copy_": "", "cudnn_step": "", "cutlass": "", "hipster": "", "cuda": "", "cudaFree::x": "", "Synchronize": "",
	} {
		row := summary.TableRow{Name: name}
		if profilerows.ClassifyRow(&row, profile.OfOp, analyze.DefaultOptions().Rules); row.Kind != want {
			t.Errorf("%s is a call of kind %q, want %q", name, row.Kind, want)
		}
	}
}

// TestTableOrigin: a table keeps its tool, its line and what the tool said that
// it adds up to.
func TestTableOrigin(t *testing.T) {
	in := &profile.Tables{Tool: "nsys", List: []*profile.Table{
		{Name: "a", Of: profile.OfOp, Tool: "torch", Line: 7, Columns: []profile.Heading{{Name: "total", Unit: "nanoseconds", Adds: profile.Self}},
			Rows: []profile.Row{{Name: "x", Cells: []profile.Cell{profile.Known(3)}}}, Totals: []profile.Cell{profile.Known(5)}},
		{Name: "b", Of: profile.OfKernel},
	}}
	s := analyze.Tables(in, summary.Input{}, analyze.DefaultOptions())
	if a, b := s.Tables[0], s.Tables[1]; a.Tool != "torch" || a.Line != 7 || *a.Totals[0] != 5 || b.Tool != "nsys" || b.Totals != nil {
		t.Errorf("got %+v and %+v", a, b)
	}
}

// TestWhole: what a tool said counts where it is more than the rows.
func TestWhole(t *testing.T) {
	value := func(n int64) *int64 { return &n }
	for _, tc := range []struct {
		row, said *int64
		want      int64
		known     bool
	}{{value(3), value(5), 5, true}, {value(3), value(2), 3, true}, {value(3), nil, 3, true}, {nil, value(5), 5, true}, {nil, nil, 0, false}} {
		table := summary.Table{Rows: []summary.TableRow{{Values: []*int64{tc.row}}}, Totals: []*int64{tc.said}}
		if got, known := table.Whole(0); got != tc.want || known != tc.known {
			t.Errorf("%+v: %d, %v", tc, got, known)
		}
	}
}

// TestDeviceRows: copies are told from kernels by their names.
func TestDeviceRows(t *testing.T) {
	for name, want := range map[string]string{
		"Memcpy HtoD (Pageable -> Device)": "copy", "Memset (Device)": "memset", "CopyHostToDevice": "copy", "[CUDA memset]": "memset",
		"ncclDevKernel_AllReduce_Sum_bf16_RING_LL": "comm", "void at::native::elementwise_kernel<128, 2, at::nati...": "compute",
	} {
		row := summary.TableRow{Name: name}
		if profilerows.ClassifyRow(&row, profile.OfDeviceOp, analyze.DefaultOptions().Rules); row.Class != want {
			t.Errorf("%s is %q, want %q", name, row.Class, want)
		}
	}
}
