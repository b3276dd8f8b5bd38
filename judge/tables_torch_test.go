package judge

import (
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// A line is a row of a table of torch.profiler, in milliseconds. Of a row of the
// host kind is that of a call, or ""; of one of the device it is the class.
type line struct {
	name, kind string
	ms, runs   int64
}

// printedTable returns a summary with one printed table: rows of the host with their
// own time on the CPU, and rows of the device.
func printedTable(host, device []line) *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "train.log", Format: "torch-tables"}}}
	add := func(of, name, column string, rows []line) {
		if rows == nil {
			return
		}
		t := summary.Table{Number: len(s.Tables), Line: 7, Tool: "torch", Name: name, Of: of,
			Columns: []summary.TableColumn{{Name: column, Unit: "ns", Adds: summary.AddsSelf}, {Name: "count", Unit: "count", Adds: summary.AddsSelf}}}
		for _, r := range rows {
			ns, runs := r.ms*ms, r.runs
			row := summary.TableRow{Name: r.name, Values: []*int64{&ns, &runs}}
			if row.Kind = r.kind; of != summary.OfOp {
				row.Kind, row.Class = "", r.kind
			}
			t.Rows = append(t.Rows, row)
		}
		s.Tables = append(s.Tables, t)
	}
	add(summary.OfOp, "key_averages", "self_cpu", host)
	add(summary.OfDeviceOp, "key_averages.cuda", "total", device)
	s.Sort()
	return s
}

// even is work of a device in which nothing stands out.
func even() []line {
	return []line{{"gemm", "compute", 40, 100}, {"softmax", "compute", 40, 100}, {"add", "compute", 20, 100}}
}

func (l line) plus(more ...line) []line { return append([]line{l}, more...) }

// TestTorch holds each rule to a table that is at a limit, or just under it.
func TestTorch(t *testing.T) {
	mm := func(ms int64) line { return line{"aten::mm", "", ms, 300} }
	for _, tc := range []struct {
		name         string
		host, device []line
		rules        string
		sentence     string
	}{
		{"nothing stands out", mm(100).plus(), even(), "sums-only info", "Total kernel time: 100 ms in 300 launches ("},
		{"the host at its critical limit", mm(300).plus(), even(), "host-work critical, sums-only info",
			"CPU time: 75.0% of CPU and GPU time (300 ms of 400 ms); limit 75%"},
		{"the host just warns", mm(299).plus(), even(), "host-work warn, sums-only info",
			"CPU time: 74.9% of CPU and GPU time (299 ms of 399 ms); limit 60%"},
		{"waiting is no work", mm(100).plus(line{"cudaDeviceSynchronize", "sync", 200, 1}), even(), "waiting-calls critical, sums-only info",
			"Synchronization: 100.0% of the time in CUDA calls (200 ms of 200 ms); limit 80%"},
		{"waiting for a device at work", mm(10).plus(line{"cudaDeviceSynchronize", "sync", 90, 1}), even(), "waiting-calls info, sums-only info", "Total kernel time: 100 ms in 300 launches ("},
		{"communication", mm(10).plus(), []line{{"gemm", "compute", 30, 100}, {"softmax", "compute", 30, 100}, {"ncclDevKernel_AllReduce", "comm", 40, 9}},
			"communication-work critical, sums-only info", "Communication: 40.0% of total kernel time (40 ms of 100 ms); limit 40%"},
		{"copies", mm(10).plus(), append(even(), line{"Memcpy HtoD (Pageable -> Device)", "copy", 20, 9}), "copy-work warn, sums-only info",
			"Copies and memsets: 16.7% of total GPU time (20 ms of 120 ms); limit 15%"},
		{"short kernels", mm(1).plus(), []line{{"gemm", "compute", 4, 100}, {"softmax", "compute", 4, 1000}, {"add", "compute", 3, 900}},
			"short-kernels critical, sums-only info", "Short kernels: 95.0% of launches are under 10 µs (mean; 1,900 of 2,000); limit 80%"},
		{"the driver's allocator", mm(10).plus(line{"cudaLaunchKernel", "launch", 75, 300}, line{"cudaMalloc", "alloc", 15, 3}, line{"cudaFree", "free", 10, 3}), even(),
			"allocation-calls critical, sums-only info", "cudaMalloc/cudaFree: 25.0% of the time in CUDA calls (25 ms of 100 ms); limit 25%"},
		{"one kernel", mm(10).plus(), []line{{"gemm", "compute", 60, 100}, {"softmax", "compute", 40, 100}}, "dominant-kernel critical, sums-only info",
			`Dominant kernel: 60.0% of total kernel time (60 ms of 100 ms), "gemm"; limit 60%`},
		{"no device", mm(99).plus(line{"cudaDeviceSynchronize", "sync", 1, 1}), nil, "device-time-missing warn, waiting-calls info, sums-only info",
			"No GPU time in the tables"},
		{"no host", nil, even(), "sums-only info", "Total kernel time: 100 ms in 300 launches ("},
		{"too few", mm(1).plus(), []line{{"gemm", "compute", 4, 9}}, "too-little-gpu-work warn, dominant-kernel info, sums-only info",
			"Too little GPU work: 9 GPU events in the tables; limit 10 events"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := Judge(printedTable(tc.host, tc.device), rule.DefaultThresholds())
			var rules []string
			for _, f := range r.Findings {
				rules = append(rules, f.Rule+" "+f.Level.String())
				if len(f.Next) == 0 || strings.Contains(strings.Join(texts(f.Next), " "), "nsys stats") {
					t.Errorf("%s says to do %q", f.Rule, texts(f.Next))
				}
			}
			if got := strings.Join(rules, ", "); got != tc.rules || r.Verdict.Bound != "unknown" || !strings.HasPrefix(r.Verdict.Sentence, tc.sentence) {
				t.Errorf("%s: %s\nfindings: %s\nwant %s\nfindings: %s", r.Verdict.Bound, r.Verdict.Sentence, got, tc.sentence, tc.rules)
			}
		})
	}
}

func torchFinding(r Result, id string) (finding.Finding, bool) {
	i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == id })
	if i < 0 {
		return finding.Finding{}, false
	}
	return r.Findings[i], true
}

// TestTorchOutermost: a table of the outermost rows has the device's work in
// totals only, which is not to say that no device worked.
func TestTorchOutermost(t *testing.T) {
	s := printedTable([]line{{"aten::linear", "", 90, 300}, {"step", "", 10, 2}}, nil)
	table := &s.Tables[0]
	table.Columns = append(table.Columns, summary.TableColumn{Name: "device_total", Unit: "ns", Adds: summary.AddsTotal})
	for i, total := range []int64{42 * ms, 404 * ms} {
		table.Rows[i].Values = append(table.Rows[i].Values, &total)
	}
	f, ok := torchFinding(Judge(s, rule.DefaultThresholds()), rule.WithoutDevice)
	if !ok || !strings.Contains(f.Title, "totals reach 404 ms") || !strings.Contains(rule.Text(f.Next[0]), "row_limit=-1") {
		t.Errorf("%v %+v", ok, f)
	}
}

// TestTorchItems: values that are read one by one are counted in addition to the waits.
func TestTorchItems(t *testing.T) {
	r := Judge(printedTable([]line{{"aten::_local_scalar_dense", "", 1, 40}, {"cudaStreamSynchronize", "sync", 200, 40}}, even()), rule.DefaultThresholds())
	f, ok := torchFinding(r, rule.WaitingCalls)
	if !ok || !strings.Contains(strings.Join(f.Evidence, "\n"), "aten::_local_scalar_dense: 40 calls, each waits for the GPU") {
		t.Errorf("got %+v", r)
	}
}

// TestTorchCopyOperators: what aten::copy_ launched is compared with all work of
// the device, whether kernels were printed or not.
func TestTorchCopyOperators(t *testing.T) {
	for name, device := range map[string][]line{"with kernels": even(), "without": nil} {
		s := printedTable([]line{{"aten::mm", "", 75, 300}, {"aten::copy_", "", 25, 300}}, device)
		ops := &s.Tables[0]
		ops.Columns[0].Name = "self_device"
		r := Judge(s, rule.DefaultThresholds())
		f, ok := torchFinding(r, rule.CopyOperators)
		if want := "aten::copy_: 25.0% of total GPU time (25 ms of 100 ms); limit 25%"; !ok || f.Title != want || f.Level != finding.Critical {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}

// TestTorchTotals: shares are of the total that the profiler printed, because it may
// not have printed all rows.
func TestTorchTotals(t *testing.T) {
	s := printedTable([]line{{"aten::mm", "", 10, 10}}, []line{{"gemm", "compute", 30, 90}, {"ncclDevKernel_AllReduce", "comm", 30, 4}})
	host, device := int64(290*ms), int64(120*ms)
	s.Tables[0].Totals, s.Tables[1].Totals = []*int64{&host, nil}, []*int64{&device, nil}
	r := Judge(s, rule.DefaultThresholds())
	comm, _ := torchFinding(r, rule.CommWork)
	work, _ := torchFinding(r, rule.HostWork)
	if comm.NumeratorNS != 30*ms || comm.DenominatorNS != 120*ms || work.NumeratorNS != 290*ms || work.DenominatorNS != 410*ms {
		t.Errorf("got %+v", r.Findings)
	}
}

// TestTorchRepeats: a table that was printed twice counts once, those of two
// ranks both.
func TestTorchRepeats(t *testing.T) {
	two := func(second int64) Result {
		s := printedTable([]line{{"aten::mm", "", 300, 10}}, even())
		for _, more := range printedTable([]line{{"aten::mm", "", second, 10}}, even()).Tables {
			more.Line, more.Number = 70, more.Number+2
			s.Tables = append(s.Tables, more)
		}
		return Judge(s, rule.DefaultThresholds())
	}
	once, _ := torchFinding(two(300), rule.HostWork)
	both, _ := torchFinding(two(301), rule.HostWork)
	if once.NumeratorNS != 300*ms || once.DenominatorNS != 400*ms || both.NumeratorNS != 601*ms || both.DenominatorNS != 801*ms {
		t.Errorf("one table twice: %+v, two tables: %+v", once, both)
	}
}

// TestTorchAllocator: the largest allocator is named by what it allocated more
// than it gave back.
func TestTorchAllocator(t *testing.T) {
	s := printedTable([]line{{"aten::mm", "", 1, 10}, {"aten::empty", "", 1, 30}, {"[memory]", "", 1, 30}}, even())
	host := &s.Tables[0]
	host.Columns = append(host.Columns, summary.TableColumn{Name: "self_device_bytes", Unit: "bytes", Adds: summary.AddsSelf})
	for i := range host.Rows {
		n := map[string]int64{"aten::mm": 1 << 30, "aten::empty": 3 << 30, "[memory]": -9 << 30}[host.Rows[i].Name]
		host.Rows[i].Values = append(host.Rows[i].Values, &n)
	}
	f, ok := torchFinding(Judge(s, rule.DefaultThresholds()), rule.LargestAllocator)
	if want := `Largest allocator (GPU memory): "aten::empty", 3 GiB of 4 GiB`; !ok || f.Title != want || f.Level != finding.Info || f.Value != 0.75 {
		t.Errorf("got %+v", f)
	}
}
