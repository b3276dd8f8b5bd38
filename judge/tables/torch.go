package tables

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// A torchRun has values of a printed table of torch.profiler in addition to its kernels, copies and
// calls. Host and device are ns summed over all threads and streams. If the profiler did not print
// all rows, they are the totals that it printed.
type torchRun struct {
	ops    *summary.Table
	input  int
	line   int
	host   int64 // ns of self CPU time
	device int64 // ns; 0 if no row has GPU time
}

// addTorch adds values of the tables that were made from one printed table. Calls are rows among
// the operators, and the rows of the device may be incomplete.
func (run *runTables) addTorch(tables []*summary.Table) {
	r := &torchRun{input: tables[0].Input, line: tables[0].Line}
	run.torch = r
	for _, t := range tables {
		switch t.Of {
		case summary.OfOp:
			r.ops = t
			r.host = wholeOf(t, "self_cpu")
			r.device = max(r.device, wholeOf(t, "self_device"))
		case summary.OfDeviceOp:
			r.device = wholeOf(t, "total")
			if rest := r.device - (run.kernels.ns + run.copies.ns); rest > 0 && len(run.kernels.rows) > 0 {
				run.kernels.ns += rest
			}
		}
	}
	if r.ops == nil {
		return
	}
	self, count := r.ops.Column("self_cpu"), r.ops.Column("count")
	for _, row := range r.ops.Rows {
		if row.Kind != "" {
			run.calls.add(tableRow{TableRow: row, ns: positive(row.Value(self)), runs: positive(row.Value(count))})
		}
	}
}

// wholeOf returns the sum of a column, including omitted rows, or 0.
func wholeOf(t *summary.Table, column string) int64 {
	n, ok := t.Whole(t.Column(column))
	return positive(n, ok)
}

// withoutRepeats drops tables that torch.profiler printed again in another order. Equal totals of
// host and device cannot be a coincidence.
func withoutRepeats(runs []runTables) []runTables {
	seen := map[torchRun]bool{}
	return slices.DeleteFunc(runs, func(r runTables) bool {
		if r.torch == nil || r.torch.host == 0 {
			return false
		}
		key := torchRun{input: r.torch.input, host: r.torch.host, device: r.torch.device}
		again := seen[key]
		seen[key] = true
		return again
	})
}

// allTorch reports whether all tables come from torch.profiler.
func (t *Evaluator) allTorch() bool {
	return len(t.runs) > 0 && !slices.ContainsFunc(t.runs, func(r runTables) bool { return r.torch == nil })
}

// withoutDevice reports tables of torch.profiler without GPU time.
func (t *Evaluator) withoutDevice() (finding.Finding, bool) {
	if !t.allTorch() || slices.ContainsFunc(t.runs, func(r runTables) bool { return r.torch.device > 0 }) {
		return finding.Finding{}, false
	}
	f := finding.Finding{Rule: rule.WithoutDevice, Level: finding.Warn}
	f.Title = "No GPU time in the tables"
	total := t.deviceTotal()
	if total > 0 {
		f.Title = fmt.Sprintf("No self GPU time in the tables; totals reach %s, so the kernel rows are missing",
			unit.Duration(total))
	}
	largest := slices.MaxFunc(t.runs, func(a, b runTables) int { return cmp.Compare(a.torch.host, b.torch.host) }).torch
	if largest.ops != nil {
		host := tableSet{}
		self, count := largest.ops.Column("self_cpu"), largest.ops.Column("count")
		for _, row := range largest.ops.Rows {
			host.add(tableRow{TableRow: row, ns: positive(row.Value(self)), runs: positive(row.Value(count))})
		}
		f.Evidence = rowEvidence(host, "CPU time", largest.host)
	}
	if total > 0 {
		f.Next = []finding.Step{finding.Advise("print-the-gpu-rows").For("gpu-total")}
		return f, true
	}
	f.Next = []finding.Step{finding.Advise("record-the-gpu-for-tables"), finding.Advise("read-cpu-operators")}
	return f, true
}

// deviceTotal returns the largest total GPU time of an operator, in ns.
func (t *Evaluator) deviceTotal() (most int64) {
	for _, r := range t.runs {
		if r.torch.ops == nil {
			continue
		}
		total := r.torch.ops.Column("device_total")
		for i := range r.torch.ops.Rows {
			most = max(most, positive(r.torch.ops.Rows[i].Value(total)))
		}
	}
	return most
}

// hostWork compares CPU time with GPU time, in the runs that have both.
func (t *Evaluator) hostWork() (finding.Finding, bool) {
	var host, waits, device int64
	var launches tableSet
	for _, r := range t.runs {
		if r.torch != nil && r.torch.device > 0 {
			waited := min(r.torch.host, r.calls.ofKinds("sync").ns)
			host, waits, device = host+r.torch.host-waited, waits+waited,
				device+r.torch.device
			launches = launches.plus(r.calls.ofKinds("launch", "graph-launch"))
		}
	}
	f, limit, ok := t.measuredOf(rule.HostWork, host, host+device)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("CPU time: %s of CPU and GPU time (%s of %s)",
		unit.Share(host, f.DenominatorNS), unit.Duration(host), unit.Duration(f.DenominatorNS)) + rule.Over(limit)
	f.Evidence = []string{fmt.Sprintf("self CPU time of all threads, less %s in synchronizing calls; with one thread the GPU was idle for at least %s",
		unit.Duration(waits), unit.Duration(max(0, host-device)))}
	f.Gain(host, f.DenominatorNS, "CPU and GPU time")
	f.Evidence = append(f.Evidence, t.hostRows(host)...)
	if launches.runs > 0 && launches.ns > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s CPU time, mean %s", label.Plural(launches.runs, "launch call"),
			unit.Duration(launches.ns), unit.Duration(launches.ns/launches.runs)))
	}
	f.Next = []finding.Step{finding.Advise("launch-less"), finding.Advise("launch-more-each"),
		finding.Advise("load-data-sooner")}
	return f, true
}

// hostRows returns lines for the rows with most CPU time; host is the ns of all of them.
func (t *Evaluator) hostRows(host int64) []string {
	var rows tableSet
	for _, r := range t.runs {
		if r.torch == nil || r.torch.ops == nil || r.torch.device == 0 {
			continue
		}
		self, count := r.torch.ops.Column("self_cpu"), r.torch.ops.Column("count")
		for _, row := range r.torch.ops.Rows {
			if row.Kind != "sync" {
				rows.add(tableRow{TableRow: row, ns: positive(row.Value(self)), runs: positive(row.Value(count))})
			}
		}
	}
	return rowEvidence(rows, "CPU time", host)
}

// items counts the values that the CPU read from a GPU one by one.
func (t *Evaluator) items() []string {
	var runs int64
	for _, r := range t.runs {
		if r.torch == nil || r.torch.ops == nil {
			continue
		}
		for _, row := range r.torch.ops.Rows {
			if row.Name == "aten::_local_scalar_dense" {
				runs += positive(row.Value(r.torch.ops.Column("count")))
			}
		}
	}
	if runs == 0 {
		return nil
	}
	return []string{fmt.Sprintf("aten::_local_scalar_dense: %s, each waits for the GPU; .item(), .tolist() and conditions on tensors call it", label.Plural(runs, "call"))}
}

// copyOperators judges how much GPU time aten::copy_ launched: .to(), .contiguous() and .clone()
// end in it.
func (t *Evaluator) copyOperators() (finding.Finding, bool) {
	var copies, callers tableSet
	var device int64
	for _, r := range t.runs {
		if r.torch == nil || r.torch.ops == nil || r.torch.device == 0 {
			continue
		}
		device += r.torch.device
		self, total, count := r.torch.ops.Column("self_device"), r.torch.ops.Column("device_total"),
			r.torch.ops.Column("count")
		for _, row := range r.torch.ops.Rows {
			switch runs := positive(row.Value(count)); row.Name {
			case "aten::copy_":
				copies.add(tableRow{TableRow: row, ns: positive(row.Value(self)), runs: runs})
			case "aten::to", "aten::_to_copy", "aten::contiguous", "aten::clone":
				callers.add(tableRow{TableRow: row, ns: positive(row.Value(total)), runs: runs})
			}
		}
	}
	f, limit, ok := t.measuredOf(rule.CopyOperators, copies.ns, device)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("aten::copy_: %s of total GPU time (%s)", unit.Share(copies.ns, device),
		unit.DurationOf(copies.ns, device)) + rule.Over(limit)
	f.Where = copies.places()
	f.Gain(copies.ns, device, "total GPU time")
	f.Evidence = append(rowEvidence(copies, "total GPU time", device),
		rowEvidence(callers, "total GPU time, callees included", device)...)
	f.Next = []finding.Step{finding.Advise("convert-less"), finding.Advise("group-by-stack")}
	return f, true
}

// largestAllocator names the operator with the largest net allocation, for information.
func (t *Evaluator) largestAllocator() (finding.Finding, bool) {
	for _, m := range []struct{ column, of string }{{"self_device_bytes", "GPU"}, {"self_cpu_bytes", "CPU"}} {
		var rows tableSet
		for _, r := range t.runs {
			if r.torch == nil || r.torch.ops == nil {
				continue
			}
			at, count := r.torch.ops.Column(m.column), r.torch.ops.Column("count")
			for _, row := range r.torch.ops.Rows {
				if n := positive(row.Value(at)); n > 0 && !strings.HasPrefix(row.Name, "ProfilerStep") {
					rows.add(tableRow{TableRow: row, ns: n, runs: positive(row.Value(count))})
				}
			}
		}
		if rows.ns == 0 || rows.ns == math.MaxInt64 {
			continue
		}
		top := rows.byName()
		f, _, ok := t.measuredOf(rule.LargestAllocator, top[0].ns, rows.ns)
		if !ok {
			continue
		}
		f.NumeratorNS, f.DenominatorNS = 0, 0 // the values are bytes
		f.Title = fmt.Sprintf("Largest allocator (%s memory): %q, %s of %s",
			m.of, finding.Short(top[0].Name), unit.Bytes(top[0].ns), unit.Bytes(rows.ns))
		for _, r := range top[:min(3, len(top))] {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%q: %s in %s", finding.Short(r.Name), unit.Bytes(r.ns),
				label.Plural(r.runs, "call")))
		}
		f.Next = []finding.Step{finding.Advise("record-memory-peaks")}
		return f, true
	}
	return finding.Finding{}, false
}
