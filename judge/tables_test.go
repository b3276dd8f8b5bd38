package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

const us = 1_000 // ns

// tableOf makes the rows of a table: a name, its class, category or kind, then ns
// and how often, or -1 where the tool has no value.
func tableOf(of, name string, rows ...sumRow) summary.Table {
	t := summary.Table{Tool: "nsys", Name: name, Of: of, Columns: []summary.TableColumn{
		{Name: "count", Unit: "count", Adds: summary.AddsSelf}, {Name: "total", Unit: "ns", Adds: summary.AddsSelf}, {Name: "max", Unit: "ns", Adds: summary.AddsEach},
	}}
	for _, r := range rows {
		row := summary.TableRow{Name: r.name, Values: []*int64{nil, nil, nil}}
		switch of {
		case summary.OfCall:
			row.Kind = r.class
		default:
			row.Class, row.Category, _ = strings.Cut(r.class, " ")
		}
		if r.runs >= 0 {
			row.Values[0] = &r.runs
		}
		if r.ns >= 0 {
			row.Values[1] = &r.ns
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

type sumRow struct {
	name, class string
	ns, runs    int64
}

func tablesOf(tables ...summary.Table) *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "stats.txt", Format: "nsys-stats"}}}
	for i, t := range tables {
		for len(s.Inputs) <= t.Input {
			s.Inputs = append(s.Inputs, summary.Input{Path: fmt.Sprintf("stats%d.txt", len(s.Inputs)), Format: "nsys-stats"})
		}
		t.Number = i
		s.Tables = append(s.Tables, t)
	}
	return s
}

// kernelsWith are kernels of 1000 ms in all, and the given one has its part
// and two of gemm share the rest.
func kernelsWith(r sumRow) summary.Table {
	return tableOf(summary.OfKernel, "cuda_gpu_kern_sum",
		sumRow{"gemm_a", "compute gemm", (1000*ms - r.ns) / 2, 10}, sumRow{"gemm_b", "compute gemm", (1000*ms - r.ns) / 2, 10}, r)
}

// callsWith are calls of 1000 ms in all, the given one has its part and
// launches have the rest.
func callsWith(r sumRow) summary.Table {
	return tableOf(summary.OfCall, "cuda_api_sum", r, sumRow{"cudaLaunchKernel", "launch", 1000*ms - r.ns, 20})
}

// TestTableRules meets every limit exactly and misses it by one part in a
// thousand.
func TestTableRules(t *testing.T) {
	for _, tc := range []struct {
		rule string
		at   func(permille int64) *summary.Summary
		warn int64 // permille
		crit int64
	}{
		{rule.WaitingCalls, func(n int64) *summary.Summary {
			return tablesOf(callsWith(sumRow{"cudaStreamSynchronize", "sync", n * ms, 5}))
		}, 500, 800},
		{rule.CommWork, func(n int64) *summary.Summary {
			return tablesOf(kernelsWith(sumRow{"ncclDevKernel_AllReduce", "comm all-reduce", n * ms, 4}))
		}, 200, 400},
		{rule.CopyWork, func(n int64) *summary.Summary {
			return tablesOf(tableOf(summary.OfCopy, "cuda_gpu_mem_time_sum", sumRow{"[CUDA memcpy Host-to-Device]", "copy", n * ms, 7}),
				tableOf(summary.OfKernel, "cuda_gpu_kern_sum", sumRow{"a", "compute gemm", (1000 - n) * ms / 2, 9}, sumRow{"b", "compute gemm", (1000 - n) * ms / 2, 9}))
		}, 150, 500},
		{rule.AllocationCalls, func(n int64) *summary.Summary {
			return tablesOf(callsWith(sumRow{"cudaFree", "free", n * ms, 5}))
		}, 100, 250},
		{rule.ShortKernels, func(n int64) *summary.Summary {
			return tablesOf(tableOf(summary.OfKernel, "cuda_gpu_kern_sum",
				sumRow{"short", "compute fill", n*10*us - 1, n}, sumRow{"a", "compute gemm", 500 * ms, (1000 - n) / 2}, sumRow{"b", "compute gemm", 500 * ms, (1001 - n) / 2}))
		}, 500, 800},
		{rule.DominantKernel, func(n int64) *summary.Summary {
			return tablesOf(kernelsWith(sumRow{"hot_kernel", "compute other", n * ms, 5}))
		}, 500, 600},
	} {
		for n, want := range map[int64]finding.Level{tc.warn - 1: -1, tc.warn: finding.Warn, tc.crit - 1: finding.Warn, tc.crit: finding.Critical} {
			r := Judge(tc.at(n), rule.DefaultThresholds())
			got := finding.Level(-1)
			for _, f := range r.Findings {
				if f.Rule == tc.rule {
					if got = f.Level; len(f.Next) == 0 || len(f.Evidence) == 0 || math.Abs(f.Value-float64(n)/1000) > 1e-9 {
						t.Errorf("%s at %d: %+v", tc.rule, n, f)
					}
				}
			}
			if got != want {
				t.Errorf("%s at %d of 1000: level %d, want %d", tc.rule, n, got, want)
			}
			if r.Verdict.Bound != "unknown" {
				t.Errorf("%s at %d: a table without a timeline is bound by %s", tc.rule, n, r.Verdict.Bound)
			}
			if decided := r.Verdict.Rule == tc.rule; decided != (want > finding.Info) {
				t.Errorf("%s at %d: decided by %q: %s", tc.rule, n, r.Verdict.Rule, r.Verdict.Sentence)
			}
			find(t, r, rule.SumsOnly)
		}
	}
}

// TestSyncOfBusyGPU: to wait for a device that works all the while is normal.
func TestSyncOfBusyGPU(t *testing.T) {
	calls := callsWith(sumRow{"cudaDeviceSynchronize", "sync", 900 * ms, 5})
	busy := Judge(tablesOf(calls, kernelsWith(sumRow{"c", "compute gemm", 300 * ms, 5})), rule.DefaultThresholds())
	f := find(t, busy, rule.WaitingCalls)
	if f.Level != finding.Info || !slices.Contains(f.Evidence, "total GPU time is 1 s, so the CPU waited for a busy GPU") {
		t.Errorf("got %s: %s", f.Level, f.Title)
	}
	idle := Judge(tablesOf(calls, tableOf(summary.OfKernel, "cuda_gpu_kern_sum", sumRow{"a", "compute gemm", 45 * ms, 5}, sumRow{"b", "compute gemm", 45 * ms, 5})), rule.DefaultThresholds())
	f = find(t, idle, rule.WaitingCalls)
	wantEvidence(t, f, `"cudaDeviceSynchronize": 100.0% of synchronization (900 ms); 5 calls, mean 180 ms`,
		"total GPU time is 90 ms, 10.0% of the waiting; during the rest the GPU was idle, or its work is not in the tables")
	if f.Level != finding.Critical || idle.Verdict.Rule != rule.WaitingCalls {
		t.Errorf("got %s, decided by %s", f.Level, idle.Verdict.Rule)
	}
}

// TestGraphsHideKernels: the kernels of graphs are not in the table, so nothing
// follows from the shares of those that are.
func TestGraphsHideKernels(t *testing.T) {
	run := func(kernels int64, calls ...sumRow) *summary.Summary {
		return tablesOf(tableOf(summary.OfCall, "cuda_api_sum", calls...),
			tableOf(summary.OfKernel, "cuda_gpu_kern_sum", sumRow{"multi_tensor_apply_kernel", "compute optimizer", kernels, 30}))
	}
	graph, wait := sumRow{"cudaGraphLaunch_v10000", "graph-launch", ms, 10}, sumRow{"cudaDeviceSynchronize", "sync", 1000 * ms, 1}
	r := Judge(run(100*ms-1, graph, wait), rule.DefaultThresholds())
	f := find(t, r, rule.GraphsHideKernels)
	if want := "kernels: 10.0% of the synchronization time (100 ms of 1 s); limit 10%"; f.Evidence[0] != "cudaGraphLaunch_v10000: 10 calls" || f.Evidence[1] != want {
		t.Errorf("got  %q\nwant %s", f.Evidence, want)
	}
	if r.Verdict.Rule != rule.GraphsHideKernels || !strings.Contains(rule.Text(f.Next[0]), "--cuda-graph-trace=node") {
		t.Errorf("verdict %+v, next %q", r.Verdict, texts(f.Next))
	}
	for _, f := range r.Findings {
		if f.Level > finding.Info && f.Rule != rule.GraphsHideKernels {
			t.Errorf("%s has level %s beside kernels that are hidden", f.Rule, f.Level)
		}
	}
	for name, s := range map[string]*summary.Summary{
		"kernels enough": run(100*ms, graph, wait), "no graph": run(ms, sumRow{"cudaLaunchKernel", "launch", ms, 10}, wait),
		"no wait": run(ms, graph), "no calls": tablesOf(kernelsWith(sumRow{"c", "compute gemm", ms, 5})),
	} {
		for _, f := range Judge(s, rule.DefaultThresholds()).Findings {
			if f.Rule == rule.GraphsHideKernels {
				t.Errorf("%s: %s", name, f.Title)
			}
		}
	}
}

// TestGraphsInOneOfTwoRuns: the run whose kernels are in its table is judged by
// itself, and the other is reported.
func TestGraphsInOneOfTwoRuns(t *testing.T) {
	graphs := tableOf(summary.OfCall, "cuda_api_sum", sumRow{"cudaGraphLaunch", "graph-launch", ms, 10}, sumRow{"cudaDeviceSynchronize", "sync", 1000 * ms, 1})
	hidden := tableOf(summary.OfKernel, "cuda_gpu_kern_sum", sumRow{"few", "compute fill", ms, 30})
	graphs.Input, hidden.Input = 1, 1
	r := Judge(tablesOf(graphs, hidden, kernelsWith(sumRow{"hot", "compute other", 700 * ms, 5})), rule.DefaultThresholds())
	f := find(t, r, rule.GraphsHideKernels)
	if !strings.HasSuffix(f.Title, "missing from the tables (1 of 2 runs)") || r.Findings[0].Rule != rule.GraphsHideKernels {
		t.Errorf("findings %+v", r.Findings)
	}
	hot := find(t, r, rule.DominantKernel)
	if r.Verdict.Rule != rule.DominantKernel || hot.NumeratorNS != 700*ms || hot.DenominatorNS != 1000*ms || hot.Level != finding.Critical {
		t.Errorf("verdict %+v, finding %+v", r.Verdict, hot)
	}
}

// TestTablesThatSayNothing: what must be abstained from, and what to record.
func TestTablesThatSayNothing(t *testing.T) {
	skipped := func(of, name string) summary.Table {
		return summary.Table{Tool: "nsys", Name: name, Of: of, Missing: "x.sqlite does not contain such data."}
	}
	for name, tc := range map[string]struct {
		s    *summary.Summary
		rule string
		text string
	}{
		"all skipped": {tablesOf(skipped(summary.OfKernel, "cuda_gpu_kern_sum"), skipped(summary.OfCall, "cuda_api_sum")), rule.TablesEmpty, "No rows in 2 tables"},
		"launches without kernels": {tablesOf(skipped(summary.OfKernel, "cuda_gpu_kern_sum"), callsWith(sumRow{"cudaMalloc", "alloc", 900 * ms, 5})),
			rule.KernelsUnrecorded, "No kernels recorded for 20 launch calls"},
		"graphs without kernels": {tablesOf(skipped(summary.OfKernel, "cuda_gpu_kern_sum"), tableOf(summary.OfCall, "cuda_api_sum",
			sumRow{"cudaGraphLaunch", "graph-launch", ms, 10}, sumRow{"cudaDeviceSynchronize", "sync", 9 * ms, 1})),
			rule.GraphsHideKernels, "Kernels inside CUDA graphs are missing from the tables"},
		"two kernels": {tablesOf(tableOf(summary.OfKernel, "cuda_gpu_kern_sum", sumRow{"a", "compute gemm", 900 * ms, 5}, sumRow{"b", "comm all-reduce", ms, 4})),
			rule.TooLittleWork, "Too little GPU work: 9 GPU events in the tables; limit 10 events"},
	} {
		r := Judge(tc.s, rule.DefaultThresholds())
		f := find(t, r, tc.rule)
		if r.Verdict.Rule != tc.rule || !strings.Contains(f.Title, tc.text) || len(f.Next) == 0 {
			t.Errorf("%s: verdict %+v, finding %+v", name, r.Verdict, f)
		}
		for _, f := range r.Findings {
			if f.Level == finding.Critical {
				t.Errorf("%s: %s is critical", name, f.Rule)
			}
		}
	}
	// A report of kernels that was not asked for is none that nsys had nothing for.
	graphs := tableOf(summary.OfCall, "cuda_api_sum", sumRow{"cudaGraphLaunch", "graph-launch", ms, 10}, sumRow{"cudaLaunchKernel", "launch", ms, 10}, sumRow{"cudaDeviceSynchronize", "sync", 9 * ms, 1})
	for _, f := range Judge(tablesOf(graphs), rule.DefaultThresholds()).Findings {
		if f.Rule == rule.KernelsUnrecorded || f.Rule == rule.GraphsHideKernels {
			t.Errorf("without a table of kernels: %s", f.Title)
		}
	}
}

// TestTableHeadline: where nothing stands out, the verdict says what there was.
func TestTableHeadline(t *testing.T) {
	ranges := tableOf(summary.OfRange, "nvtx_pushpop_trace", sumRow{"step", "", 300 * ms, 1}, sumRow{"forward", "", 100 * ms, 1})
	ranges.Columns[1].Adds, ranges.Columns[2].Adds = summary.AddsTotal, summary.AddsSelf // the last one is self time
	for i, self := range []int64{20 * ms, 60 * ms} {
		ranges.Rows[i].Values[2] = &self
	}
	for want, s := range map[string]*summary.Summary{
		"Total kernel time: 1 s in 25 launches (gemm 70.0%, norm 30.0%); all findings are below their limits":                           tablesOf(kernelsWith(sumRow{"c", "compute norm", 300 * ms, 5})),
		`Largest row: "forward", 75.0% of the time in table "nvtx_pushpop_trace" (60 ms of 80 ms); all findings are below their limits`: tablesOf(ranges),
		`Largest row: "aten::mm", 60.0% of the time in table "ops" (600 ms of 1 s); all findings are below their limits`:                tablesOf(tableOf(summary.OfOSCall, "osrt_sum", sumRow{"poll", "", 999 * ms, 1}), tableOf(summary.OfOp, "ops", sumRow{"aten::mm", "", 600 * ms, 9}, sumRow{"aten::add", "", 400 * ms, 9})),
		"All findings are below their limits": tablesOf(summary.Table{Name: "t", Columns: []summary.TableColumn{{Name: "calls", Unit: "count", Adds: summary.AddsSelf}}, Rows: []summary.TableRow{{Name: "f", Values: []*int64{nil}}}}),
	} {
		if got := Judge(s, rule.DefaultThresholds()).Verdict; got.Sentence != want || got.Bound != "unknown" || got.Rule != "" {
			t.Errorf("got  %+v\nwant %s", got, want)
		}
	}
}

// TestCutNames: rows whose names the tool has cut alike may be of several
// kernels, so no one of them is most of the work.
func TestCutNames(t *testing.T) {
	rows := func(name string) *summary.Summary {
		return tablesOf(tableOf(summary.OfKernel, "cuda_gpu_kern_sum", sumRow{name, "compute gemm", 49 * ms, 9}, sumRow{name, "compute gemm", 49 * ms, 9}, sumRow{"b", "compute gemm", 2 * ms, 9}))
	}
	if f := find(t, Judge(rows("whole"), rule.DefaultThresholds()), rule.DominantKernel); f.NumeratorNS != 98*ms {
		t.Errorf("rows of one name are %d ns", f.NumeratorNS)
	}
	for _, f := range Judge(rows("void at::native::elementwise_kernel<(int)128, at::n…"), rule.DefaultThresholds()).Findings {
		if f.Rule == rule.DominantKernel {
			t.Errorf("names that are cut alike: %s", f.Title)
		}
	}
}

// TestCopyRate: sizes of the same run make a rate.
func TestCopyRate(t *testing.T) {
	size := int64(3 * 1000 * 1000 * 1000)
	sizes := summary.Table{Tool: "nsys", Name: "cuda_gpu_mem_size_sum", Of: summary.OfCopy, Columns: []summary.TableColumn{{Name: "total", Unit: "bytes", Adds: summary.AddsSelf}},
		Rows: []summary.TableRow{{Name: "[CUDA memcpy Host-to-Device]", Class: "copy", Values: []*int64{&size}}}}
	s := tablesOf(sizes, tableOf(summary.OfCopy, "cuda_gpu_mem_time_sum", sumRow{"[CUDA memcpy Host-to-Device]", "copy", 1000 * ms, 7}), kernelsWith(sumRow{"c", "compute gemm", ms, 3}))
	f := find(t, Judge(s, rule.DefaultThresholds()), rule.CopyWork)
	wantEvidence(t, f, "copies from CPU to GPU: 100.0% of copy and memset time (1 s of 1 s, 7 operations, 2.79 GiB at 3 GB/s)",
		"the tables do not show overlap with compute")
}

// TestTablesBesideTrace: where there is a timeline it decides, and tables have
// no part in it.
func TestTablesBesideTrace(t *testing.T) {
	s := one(600, 0, 0)
	s.Tables = tablesOf(kernelsWith(sumRow{"hot", "compute other", 999 * ms, 5})).Tables
	alone := one(600, 0, 0)
	if got, want := asJSON(t, Judge(s, rule.DefaultThresholds())), asJSON(t, Judge(alone, rule.DefaultThresholds())); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestStrangeTables: no table of numbers within the bounds breaks a promise: shares are between
// nothing and all, and the verdict never names what bounds the run.
func TestStrangeTables(t *testing.T) {
	values := []int64{-1, -1 << 56, 1 << 56, 0, -5, 7, 1<<56 - 1}
	kinds := []string{"sync", "launch", "graph-launch", "alloc", "free", "copy", "other", ""}
	for seed := range uint64(2000) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		s := &summary.Summary{Inputs: []summary.Input{{Path: "a"}}}
		for range rnd.IntN(4) {
			table := summary.Table{Input: rnd.IntN(3) - 1, Name: "t", Run: []string{"", "r"}[rnd.IntN(2)],
				Of: []string{summary.OfKernel, summary.OfCall, summary.OfCopy, summary.OfDeviceOp, "x"}[rnd.IntN(5)], Missing: []string{"", "no"}[rnd.IntN(2)]}
			for _, name := range []string{"total", "count", "max"}[:rnd.IntN(4)] {
				table.Columns = append(table.Columns, summary.TableColumn{Name: name, Unit: []string{"ns", "bytes"}[rnd.IntN(2)], Adds: summary.AddsSelf})
			}
			for range rnd.IntN(5) {
				r := summary.TableRow{Name: []string{"a", "b…", ""}[rnd.IntN(3)], Class: []string{"compute", "comm", "copy", "memset", ""}[rnd.IntN(5)], Kind: kinds[rnd.IntN(len(kinds))]}
				for range table.Columns {
					v := values[rnd.IntN(len(values))]
					r.Values = append(r.Values, []*int64{&v, nil}[rnd.IntN(2)])
				}
				table.Rows = append(table.Rows, r)
			}
			s.Tables = append(s.Tables, table)
		}
		if err := summary.NewBounds().Take(s); err != nil {
			t.Fatal(err)
		}
		r := Judge(s, rule.DefaultThresholds())
		if len(s.Tables) > 0 && (r.Verdict.Bound != "unknown" || r.Verdict.Sentence == "") {
			t.Errorf("seed %d: verdict %+v", seed, r.Verdict)
		}
		for _, f := range r.Findings {
			if f.Value < 0 || f.Value > 1 || math.IsNaN(f.Value) {
				t.Errorf("seed %d: %+v", seed, f)
			}
		}
	}
}
