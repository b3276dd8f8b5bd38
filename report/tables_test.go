package report

import (
	"slices"
	"strings"
	"testing"

	"assay/internal/test/marktest"
	"assay/internal/test/samplerun"
	"assay/judge"
	"assay/summary"
)

// TestTables compares the sections with the comment of samplerun.Tables.
func TestTables(t *testing.T) {
	md := markdownOf(t, samplerun.Tables())
	wantRows(t, md, "CUDA GPU Kernel Summary",
		"kernel|%|total (ms)|count|mean (ms)|class|category",
		"`ampere_sgemm_128x64_tn`|60.0%|600.00|100|6.000|compute|gemm",
		"`ncclDevKernel_AllReduce`|30.0%|300.00|10|30.000|comm|all-reduce",
		"`fill_kernel`|6.0%|60.00|600|0.100|compute|fill")
	wantText(t, md,
		"\n2 more kernels (4.0% of kernel time)\n", `% of 1 s kernel time, the sum of the column "total".`,
		"| gemm       | compute | 60.0% |     600.00 |      100 |       1 |", "Omitted rows are in no category.",
		"\nTable cuda_gpu_kern_sum of nsys.\n", "](table-kernels.png)")
	wantRows(t, md, "CUDA API Summary",
		"call|%|total (ms)|count|mean (µs)|kind",
		"`cudaDeviceSynchronize`|80.0%|400.00|1|400,000.00|sync",
		"`cudaLaunchKernel`|20.0%|100.00|700|142.86|launch",
		"`cudaMalloc`|||7||alloc")
	// Shares are of self times: totals of nested ranges add up to nothing.
	wantRows(t, md, "Ranges",
		"range|%|total (ms)|count|mean (ms)|self (ms)",
		"`step`|75.0%|900.00|1|900.00|600.00",
		"`backward`|25.0%|200.00|1|200.00|200.00",
		"`forward`||100.00|1|100.00|")
	wantRows(t, md, "Operators",
		"operator|total (ms)|count|mean (ms)",
		"`aten::linear`|700.00|3|233.33",
		"`aten::addmm`|650.00|3|216.67")
	wantText(t, md, "totals must not be added up.", "- **openacc_sum** base.sqlite does not contain OpenACC event data.", "- **syscall_sum** no rows")
	if strings.Contains(render(t, Build(samplerun.Tables(), judge.Result{}).Markdown), "no GPU events") {
		t.Error("the report of tables speaks of GPU events")
	}
	// What devices did comes first, and of one kind what took longest; sleep
	// of threads comes last.
	last := -1
	for _, title := range []string{"CUDA GPU Kernel Summary", "Device work", "Copies and memsets", "Operators", "Functions", "CUDA API Summary", "Ranges", "Rows", "OS Runtime Summary", "Tables without rows"} {
		at := strings.Index(md, "\n## "+title+"\n")
		if at <= last {
			t.Errorf("%q is at %d, the section before it at %d", title, at, last)
		}
		last = at
	}
}

// TestTablesText: the screen has the largest tables with times, and names the
// others.
func TestTablesText(t *testing.T) {
	s := samplerun.Tables()
	wantText(t, text(t, Build(s, judged(s)), 80),
		"Verdict: totals only, no timeline\n",
		"Capture: base_stats.txt, nsys stats, 4.22 KiB, 10 tables, 20 rows, complete\n",
		"CUDA GPU Kernel Summary: % of 1 s kernel time\n",
		"  60.0%  600.0 ms    100  6.000 ms  gemm        ampere_sgemm_128x64_tn\n",
		"  2 more kernels, 4.0%\n", "7 more tables: ")
}

// TestTableInputs: where several inputs have tables, each has the name of its input,
// and a trace among the inputs keeps its own sections.
func TestTableInputs(t *testing.T) {
	one, two := samplerun.Tables(), samplerun.Tables()
	two.Inputs[0].Path = "runs/other_stats.txt"
	md := markdownOf(t, summary.Merge(one, two))
	wantText(t, md, "\nTable cuda_gpu_kern_sum of nsys, from base_stats.txt.\n", "\nTable cuda_gpu_kern_sum of nsys, from other_stats.txt.\n")
	if n := strings.Count(md, "(table-kernels.png)"); n != 1 {
		t.Errorf("the picture of kernels is there %d times", n)
	}
	md = markdownOf(t, summary.Merge(samplerun.OneKernel(5*ms), samplerun.Tables()))
	wantText(t, md, "\n## GPU time breakdown\n", "\n## Kernels\n", "\n## CUDA GPU Kernel Summary\n", "(top-kernels.png)", "(table-kernels.png)")
}

// TestStrangeTables: no name and no number of tables breaks a report.
func TestStrangeTables(t *testing.T) {
	s := samplerun.StrangeTables()
	d := Build(s, judge.Result{})
	marktest.Check(t, "strange tables", render(t, d.Markdown))
	for _, line := range strings.Split(text(t, d, 80), "\n") {
		if strings.ContainsFunc(line, marktest.Obeyed) {
			t.Errorf("unclean line %q", line)
		}
	}
}

// TestTableNames: many tables of one name take little room, and two of one input
// have the numbers of their lines.
func TestTableNames(t *testing.T) {
	s := samplerun.Tables()
	ops := slices.IndexFunc(s.Tables, func(t summary.Table) bool { return t.Of == summary.OfOp })
	if ops < 0 {
		t.Fatal("no table of operators")
	}
	two := &summary.Summary{Schema: s.Schema, Inputs: s.Inputs}
	for i := range 6 {
		table := s.Tables[ops]
		table.Number, table.Line = i, 10*(i+1)
		two.Tables = append(two.Tables, table)
	}
	wantText(t, text(t, Build(two, judged(two)), 80), "Operators: table ops of nsys, line 10\n", "line 20\n", "3 more tables: ops ×3\n")
	if one := text(t, Build(s, judged(s)), 80); strings.Contains(one, "Summary: share of 1 s kernel time; table") {
		t.Errorf("a title that stands once needs no line:\n%s", one)
	}
}

// TestCountOfStacks: the callers in stacks are not said to be called no time.
func TestCountOfStacks(t *testing.T) {
	columns := []summary.TableColumn{{Name: "count", Unit: "count", Adds: summary.AddsSelf}, {Name: "self", Unit: "ns", Adds: summary.AddsSelf}, {Name: "total", Unit: "ns", Adds: summary.AddsTotal}}
	row := func(name string, count, self, total int64) summary.TableRow {
		return summary.TableRow{Name: name, Values: []*int64{&count, &self, &total}}
	}
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "gpu.pb.gz", Format: "pprof", Complete: true}}}
	s.Tables = []summary.Table{{Tool: "pprof", Name: "gpu", Of: summary.OfFunction, Columns: columns,
		Rows: []summary.TableRow{row("backward", 0, 0, 3_000_000), row("gemm", 12, 3_000_000, 3_000_000), row("unused", 0, 0, 0)}}}
	wantRows(t, markdownOf(t, s), "Functions",
		"function|%|count|self (ms)|total (ms)",
		"`backward`|0.0%||0.000|3.000", "`gemm`|100.0%|12|3.000|3.000", "`unused`|0.0%|0|0.000|0.000")
	wantText(t, text(t, Build(s, judged(s)), 80), "    0.0%      0 ns  3.000 ms         backward\n", "  100.0%  3.000 ms  3.000 ms     12  gemm\n")
}
