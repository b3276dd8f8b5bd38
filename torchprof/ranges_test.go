package torchprof

import (
	"fmt"
	"strings"
	"testing"

	"assay/internal/profile"
)

// A cudaRow is a row of a table with times of the CPU and the GPU in microseconds.
type cudaRow struct {
	name     string
	cpu, gpu float64
	calls    int
}

// table prints rows as the profiler does, with the given total of the GPU.
func table(device string, total float64, rows ...cudaRow) string {
	rule := strings.Repeat("-", 55) + strings.Repeat("  ------------", 5) + "\n"
	var b strings.Builder
	b.WriteString(rule + fmt.Sprintf("%55s", "Name"))
	for _, column := range []string{"Self CPU", "CPU total", "Self " + device, device + " total", "# of Calls"} {
		fmt.Fprintf(&b, "  %12s", column)
	}
	b.WriteString("\n" + rule)
	var cpu float64
	for _, r := range rows {
		fmt.Fprintf(&b, "%55s  %10.3fus  %10.3fus  %10.3fus  %10.3fus  %12d\n", r.name, r.cpu, r.cpu, r.gpu, r.gpu, r.calls)
		cpu += r.cpu
	}
	fmt.Fprintf(&b, "%sSelf CPU time total: %.3fus\nSelf %s time total: %.3fus\n", rule, cpu, device, total)
	return b.String()
}

// kernelTime returns the kernel time of a printed table in ns, with the rows that were not printed,
// and the codes of its issues.
func kernelTime(t *testing.T, text string) (ns int64, codes string) {
	t.Helper()
	got := read(t, text)
	for _, table := range got.List {
		if table.Of != profile.OfDeviceOp {
			continue
		}
		for _, r := range table.Rows {
			ns += r.Cells[0].Value
		}
		if len(table.Totals) > 0 && table.Totals[0].Known {
			ns = max(ns, table.Totals[0].Value)
		}
	}
	for _, is := range got.Issues {
		codes += is.Code + " "
	}
	return ns, strings.TrimSpace(codes)
}

// TestRanges: ranges whose row of the CPU was cut off do not count as kernels, and kernels with
// unusual names do.
func TestRanges(t *testing.T) {
	conv := []cudaRow{{"aten::miopen_convolution", 300, 4000, 20}, {"miopenSp3AsmConv_v21_1_2", 0, 4000, 20}}
	fused := cudaRow{"Cijk_Ailk_Bljk_HHS_BH_MT128x128x32", 0, 2500, 40}
	reduce := cudaRow{"void reduce_kernel<512, 1>(float*)", 0, 700, 9}
	for _, tc := range []struct {
		name   string
		device string
		total  float64
		rows   []cudaRow
		ns     int64
		codes  string
	}{
		{"ranges by their names", "CUDA", 7200, append(conv, fused, reduce,
			cudaRow{"gloo:broadcast", 0, 700, 9}, cudaRow{"Optimizer.zero_grad#SGD.zero_grad", 0, 900, 3},
			cudaRow{"DistributedDataParallel.forward", 0, 5000, 3}, cudaRow{"FSDP::post_backward", 0, 1200, 3},
			cudaRow{"Torch-Compiled Region: 0/0", 0, 3000, 3}, cudaRow{"## Call CompiledFxGraph f3 ##", 0, 2100, 3}), 7_200_000, ""},
		{"a range that only the total shows", "CUDA", 7200, append(conv, fused, reduce, cudaRow{"encode", 0, 3300, 2}), 7_200_000, ""},
		{"two such ranges", "CUDA", 7200, append(conv, fused, reduce, cudaRow{"encode", 0, 3300, 2}, cudaRow{"decode", 0, 1100, 2}), 7_200_000, ""},
		{"a total that contains the ranges", "CUDA", 7900, append(conv, fused, reduce, cudaRow{"mpi:allreduce", 0, 700, 9}), 7_200_000, ""},
		{"a total that contains calls", "XPU", 14400, append(conv, fused, reduce, cudaRow{"zeCommandListAppendLaunchKernel", 90, 7200, 69}), 7_200_000, ""},

		{"a call without time of the CPU", "CUDA", 14400, append(conv, fused, reduce, cudaRow{"cuLaunchKernelEx", 0, 7200, 69}), 7_200_000, ""},
		{"a kernel with the prefix of calls", "CUDA", 7200, append(conv, fused, cudaRow{"void cuApplyLayerNorm<float>(int)", 0, 700, 1}), 7_200_000, ""},
		{"kernels with unusual names", "CUDA", 7200, append(conv, fused, cudaRow{"my.kernel.kd", 0, 700, 1}), 7_200_000, ""},
		{"a kernel with a cut name", "CUDA", 7200, append(conv, fused, cudaRow{"void at::native...", 0, 700, 1}), 7_200_000, "names-cut"},
		{"rows that were not printed", "CUDA", 9000, append(conv, fused, reduce), 9_000_000, "rows-not-printed"},
		{"two rows of which either may be the range", "CUDA", 7200, append(conv, fused, cudaRow{"encode", 0, 700, 2}, cudaRow{"decode", 0, 700, 2}), 7_900_000, "total-mismatch"},
		{"kernels alone exceed the total", "CUDA", 4500, append(conv, reduce), 4_700_000, "total-mismatch"},
	} {
		if ns, codes := kernelTime(t, table(tc.device, tc.total, tc.rows...)); ns != tc.ns || codes != tc.codes {
			t.Errorf("%s: %d ns of kernels, issues %q; want %d, %q", tc.name, ns, codes, tc.ns, tc.codes)
		}
	}
}
