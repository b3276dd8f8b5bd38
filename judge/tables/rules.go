package tables

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// synchronization judges the share of synchronizing calls in the time of CUDA calls. Waiting for a
// busy GPU is normal: if the total GPU time covers the waiting, the finding is only information.
func (t *Evaluator) synchronization() (finding.Finding, bool) {
	waits := t.calls.ofKinds("sync")
	f, limit, ok := t.measuredOf(rule.WaitingCalls, waits.ns, t.calls.ns)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("Synchronization: %s of the time in CUDA calls (%s)",
		unit.Share(waits.ns, t.calls.ns), unit.DurationOf(waits.ns, t.calls.ns)) + rule.Over(limit)
	f.Evidence, f.Where = rowEvidence(waits, "synchronization", waits.ns), waits.places()
	f.Next = []finding.Step{finding.Advise("remove-synchronization"), finding.Advise("check-the-wait").For("waits=idle")}
	f.Evidence = append(f.Evidence, t.items()...)
	work := t.kernels.ns + t.copies.ns
	switch {
	case work >= waits.ns:
		f.Level = finding.Info
		f.Evidence = append(f.Evidence, "total GPU time is "+unit.Duration(work)+", so the CPU waited for a busy GPU")
		f.Next = []finding.Step{finding.Advise("optimize-gpu-operations").For("waits=busy")}
	case work > 0:
		f.Gain(waits.ns-work, t.calls.ns, "the time in CUDA calls")
		f.Evidence = append(f.Evidence, fmt.Sprintf("total GPU time is %s, %s of the waiting; during the rest the GPU was idle, or its work is not in the tables",
			unit.Duration(work), unit.Share(work, waits.ns)))
	}
	return f, true
}

// communication judges the share of communication in total kernel time.
func (t *Evaluator) communication() (finding.Finding, bool) {
	comm := t.kernels.class("comm")
	f, limit, ok := t.measuredOf(rule.CommWork, comm.ns, t.kernels.ns)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("Communication: %s of total kernel time (%s)", unit.Share(comm.ns, t.kernels.ns),
		unit.DurationOf(comm.ns, t.kernels.ns)) + rule.Over(limit)
	f.Evidence = append(rowEvidence(comm, "communication", comm.ns),
		"the tables do not show overlap with compute or waiting for other ranks")
	f.Where = comm.places()
	f.Gain(comm.ns, t.kernels.ns, "total kernel time")
	likeTrace := *t.Summary // a summary that has the rows of the tables as kernels, for advice on traces
	likeTrace.Kernels = nil
	for _, r := range comm.byName() {
		likeTrace.Kernels = append(likeTrace.Kernels, summary.Kernel{Name: r.Name, Class: r.Class, Category: r.Category,
			TotalNS: r.ns})
	}
	f.Next = append([]finding.Step{finding.Advise("compare-tables-of-ranks")}, advice.CommAdvice(&likeTrace)...)
	return f, true
}

// copying judges the share of copies and memsets in total GPU time.
func (t *Evaluator) copying() (finding.Finding, bool) {
	var work, copies tableSet // of runs with tables for both
	bytes := map[string]int64{}
	for _, r := range t.pooled {
		if len(r.copies.rows) > 0 && len(r.kernels.rows) > 0 {
			copies, work = copies.plus(r.copies), work.plus(r.copies).plus(r.kernels)
			for name, n := range r.bytes {
				bytes[name] += n
			}
		}
	}
	f, limit, ok := t.measuredOf(rule.CopyWork, copies.ns, work.ns)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("Copies and memsets: %s of total GPU time (%s)", unit.Share(copies.ns, work.ns),
		unit.DurationOf(copies.ns, work.ns)) + rule.Over(limit)
	// Advice on the copies of traces fits here too.
	var list []summary.Copy
	for _, r := range copies.byName() {
		row := summary.Copy{Name: r.Name, Class: r.Class, Count: r.runs, TotalNS: r.ns}
		if n, ok := bytes[r.Name]; ok {
			row.Bytes = &n
		}
		list = append(list, row)
	}
	kinds := advice.CopyKinds(list)
	f.Evidence = append(advice.CopyEvidence(kinds), "the tables do not show overlap with compute")
	f.Where = copies.places()
	f.Gain(copies.ns, work.ns, "total GPU time")
	f.Next = advice.CopyAdvice(kinds, 0)
	return f, true
}

// allocation judges the share of allocation in the time of CUDA calls.
func (t *Evaluator) allocation() (finding.Finding, bool) {
	calls := t.calls.ofKinds("alloc", "free")
	f, limit, ok := t.measuredOf(rule.AllocationCalls, calls.ns, t.calls.ns)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("cudaMalloc/cudaFree: %s of the time in CUDA calls (%s)", unit.Share(calls.ns, t.calls.ns),
		unit.DurationOf(calls.ns, t.calls.ns)) + rule.Over(limit)
	f.Evidence, f.Where = rowEvidence(calls, "allocation", calls.ns), calls.places()
	f.Gain(calls.ns, t.calls.ns, "the time in CUDA calls")
	f.Next = []finding.Step{finding.Advise("allocate-less"), finding.Advise("expandable-segments"),
		finding.Advise("leave-out-the-context")}
	return f, true
}

// shortKernels judges how many kernel launches are shorter than a launch call.
func (t *Evaluator) shortKernels() (finding.Finding, bool) {
	limits := t.Limits[rule.ShortKernels]
	var short tableSet
	for _, r := range t.kernels.rows {
		if r.runs > 0 && r.ns/r.runs < limits.Under {
			short.add(r)
		}
	}
	f, limit, ok := t.measuredOf(rule.ShortKernels, short.runs, t.kernels.runs)
	if !ok {
		return f, false
	}
	f.NumeratorNS, f.DenominatorNS = 0, 0 // the values are counts, not ns
	f.Title = fmt.Sprintf("Short kernels: %s of launches are under %s (mean; %s of %s)",
		unit.Share(short.runs, t.kernels.runs), unit.Duration(limits.Under), unit.Count(short.runs),
		unit.Count(t.kernels.runs)) + rule.Over(limit)
	f.Evidence, f.Where = rowEvidence(short, "the time of short kernels", short.ns), short.places()
	if launches := t.calls.ofKinds("launch"); launches.runs > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s CPU time, mean %s", label.Plural(launches.runs, "launch call"),
			unit.Duration(launches.ns), unit.Duration(launches.ns/launches.runs)))
	}
	f.Next = []finding.Step{finding.Advise("launch-less"), finding.Advise("launch-more-each")}
	return f, true
}

// largestKernel reports a kernel that takes most of the kernel time.
func (t *Evaluator) largestKernel() (finding.Finding, bool) {
	rows := t.kernels.byName()
	if len(rows) == 0 {
		return finding.Finding{}, false
	}
	top := rows[0]
	f, limit, ok := t.measuredOf(rule.DominantKernel, top.ns, t.kernels.ns)
	if !ok {
		return f, false
	}
	f.Title = advice.DominantTitle(top.Name, top.ns, t.kernels.ns) + rule.Over(limit)
	f.Evidence = []string{fmt.Sprintf("%q: class %s, category %s", top.Name, top.Class, top.Category) + top.runText()}
	f.Where = []finding.Place{top.place()}
	f.Gain(top.ns, t.kernels.ns, "total kernel time")
	f.Next = advice.KernelAdvice(summary.Kernel{Name: top.Name, Class: top.Class, Category: top.Category},
		finding.Advise("give-all-ranks"))
	return f, true
}

// measuredOf is [rule.Measured] for a rule id. It returns false if a value is not positive.
func (t *Evaluator) measuredOf(id string, num, den int64) (f finding.Finding, limit float64, ok bool) {
	if num <= 0 || den <= 0 {
		return finding.Finding{Rule: id}, 0, false
	}
	return rule.Measured(t.Limits[id], num, den)
}

// rowEvidence returns lines for the three largest rows of a set, as shares of ns.
func rowEvidence(s tableSet, what string, ns int64) (out []string) {
	for i, r := range s.byName() {
		if i == 3 || r.ns == 0 {
			break
		}
		out = append(out, fmt.Sprintf("%q: %s of %s (%s)", r.Name, unit.Share(r.ns, ns), what,
			unit.Duration(r.ns))+r.runText())
	}
	return out
}

// runText returns the number of calls, mean and maximum of a row, if its table has them.
func (r tableRow) runText() string {
	text := ""
	if r.runs == 1 {
		return "; 1 call"
	}
	if r.runs > 1 {
		text = fmt.Sprintf("; %s, mean %s", label.Plural(r.runs, "call"), unit.Duration(r.ns/r.runs))
		if r.longest > 0 {
			text += fmt.Sprintf(", max %s", unit.Duration(r.longest))
		}
	}
	return text
}
