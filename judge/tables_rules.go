package judge

import (
	"fmt"

	"assay/internal/label"
	"assay/summary"
	"assay/unit"
)

// synchronization judges the share of synchronizing calls. Waiting for a busy GPU is
// normal, so it counts only as far as it exceeds the total GPU time, if that is known.
func (t *tableEvaluator) synchronization() (Finding, bool) {
	waits := t.calls.of("sync")
	f, limit, ok := t.measuredOf(RuleWaitingCalls, waits.ns, t.calls.ns)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("Synchronization: %s of the time in CUDA calls (%s)",
		unit.Share(waits.ns, t.calls.ns), fraction(waits.ns, t.calls.ns)) + over(limit)
	f.Evidence, f.Where = rowEvidence(waits, "synchronization", waits.ns), waits.places()
	f.Next = []Step{advise("remove-synchronization"), advise("check-the-wait")}
	f.Evidence = append(f.Evidence, t.items()...)
	work := summary.Plus(t.kernels.ns, t.copies.ns)
	switch {
	case work >= waits.ns:
		f.Level = Info
		f.Evidence = append(f.Evidence, "total GPU time is "+unit.Duration(work)+", so the CPU waited for a busy GPU")
		f.Next = []Step{advise("optimize-gpu-operations")}
	case work > 0:
		f.gain(waits.ns-work, t.calls.ns, "the time in CUDA calls")
		f.Evidence = append(f.Evidence, fmt.Sprintf("total GPU time is %s, %s of the waiting; during the rest the GPU was idle, or its work is not in the tables",
			unit.Duration(work), unit.Share(work, waits.ns)))
	}
	return f, true
}

// communication judges the share of communication in total kernel time.
func (t *tableEvaluator) communication() (Finding, bool) {
	comm := t.kernels.class("comm")
	f, limit, ok := t.measuredOf(RuleCommWork, comm.ns, t.kernels.ns)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("Communication: %s of total kernel time (%s)", unit.Share(comm.ns, t.kernels.ns), fraction(comm.ns, t.kernels.ns)) + over(limit)
	f.Evidence = append(rowEvidence(comm, "communication", comm.ns), "the tables do not show overlap with compute or waiting for other ranks")
	f.Where = comm.places()
	f.gain(comm.ns, t.kernels.ns, "total kernel time")
	f.Next = append([]Step{advise("compare-tables-of-ranks")}, commAdvice()...)
	return f, true
}

// copying judges the share of copies and memsets in total GPU time.
func (t *tableEvaluator) copying() (Finding, bool) {
	var work, copies tableSet // of the runs that have both
	bytes := map[string]int64{}
	for _, r := range t.pooled {
		if len(r.copies.rows) > 0 && len(r.kernels.rows) > 0 {
			copies, work = copies.plus(r.copies), work.plus(r.copies).plus(r.kernels)
			for name, n := range r.bytes {
				bytes[name] = summary.Plus(bytes[name], n)
			}
		}
	}
	f, limit, ok := t.measuredOf(RuleCopyWork, copies.ns, work.ns)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("Copies and memsets: %s of total GPU time (%s)", unit.Share(copies.ns, work.ns), fraction(copies.ns, work.ns)) + over(limit)
	// They are judged like those of a trace.
	as := evaluator{Summary: &summary.Summary{}}
	for _, r := range copies.byName() {
		row := summary.Copy{Name: r.Name, Class: r.Class, Count: r.runs, TotalNS: r.ns}
		if n, ok := bytes[r.Name]; ok {
			row.Bytes = &n
		}
		as.Copies = append(as.Copies, row)
	}
	kinds := as.copyKinds()
	f.Evidence = append(copyEvidence(kinds), "the tables do not show overlap with compute")
	f.Where = copies.places()
	f.gain(copies.ns, work.ns, "total GPU time")
	f.Next = copyAdvice(kinds)
	return f, true
}

// allocation judges the share of allocation in the time of CUDA calls.
func (t *tableEvaluator) allocation() (Finding, bool) {
	calls := t.calls.of("alloc", "free")
	f, limit, ok := t.measuredOf(RuleAllocationCalls, calls.ns, t.calls.ns)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("cudaMalloc/cudaFree: %s of the time in CUDA calls (%s)", unit.Share(calls.ns, t.calls.ns), fraction(calls.ns, t.calls.ns)) + over(limit)
	f.Evidence, f.Where = rowEvidence(calls, "allocation", calls.ns), calls.places()
	f.gain(calls.ns, t.calls.ns, "the time in CUDA calls")
	f.Next = []Step{advise("allocate-less"), advise("expandable-segments"), advise("leave-out-the-context")}
	return f, true
}

// shortKernels judges how many kernels are shorter than a launch call.
func (t *tableEvaluator) shortKernels() (Finding, bool) {
	rule := t.rules[RuleShortKernels]
	var short tableSet
	for _, r := range t.kernels.rows {
		if r.runs > 0 && r.ns/r.runs < rule.Under {
			short.add(r)
		}
	}
	f, limit, ok := t.measuredOf(RuleShortKernels, short.runs, t.kernels.runs)
	if !ok {
		return f, false
	}
	f.NumeratorNS, f.DenominatorNS = 0, 0 // they are counts
	f.Title = fmt.Sprintf("Short kernels: %s of launches are under %s (mean; %s of %s)",
		unit.Share(short.runs, t.kernels.runs), unit.Duration(rule.Under), unit.Count(short.runs), unit.Count(t.kernels.runs)) + over(limit)
	f.Evidence, f.Where = rowEvidence(short, "the time of short kernels", short.ns), short.places()
	if launches := t.calls.of("launch"); launches.runs > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s CPU time, mean %s", label.Plural(launches.runs, "launch call"),
			unit.Duration(launches.ns), unit.Duration(launches.ns/launches.runs)))
	}
	f.Next = []Step{advise("launch-less"), advise("launch-more-each")}
	return f, true
}

// largestKernel judges whether the kernels of one name take most of the kernel time.
func (t *tableEvaluator) largestKernel() (Finding, bool) {
	rows := t.kernels.byName()
	if len(rows) == 0 {
		return Finding{}, false
	}
	top := rows[0]
	f, limit, ok := t.measuredOf(RuleDominantKernel, top.ns, t.kernels.ns)
	if !ok {
		return f, false
	}
	f.Title = dominantTitle(top.Name, top.ns, t.kernels.ns) + over(limit)
	f.Evidence = []string{fmt.Sprintf("%q: class %s, category %s", top.Name, top.Class, top.Category) + top.runText()}
	f.Where = []Place{top.place()}
	f.gain(top.ns, t.kernels.ns, "total kernel time")
	f.Next = kernelAdvice(summary.Kernel{Name: top.Name, Class: top.Class, Category: top.Category}, peers{}.advice())
	return f, true
}

// measuredOf is [measured] for a rule id. It returns false if a value is not positive.
func (t *tableEvaluator) measuredOf(id string, num, den int64) (f Finding, limit float64, ok bool) {
	if num <= 0 || den <= 0 {
		return Finding{Rule: id}, 0, false
	}
	return measured(t.rules[id], num, den)
}

// rowEvidence names the three largest rows of a set.
func rowEvidence(s tableSet, what string, ns int64) (out []string) {
	for i, r := range s.byName() {
		if i == 3 || r.ns == 0 {
			break
		}
		out = append(out, fmt.Sprintf("%q: %s of %s (%s)", r.Name, unit.Share(r.ns, ns), what, unit.Duration(r.ns))+r.runText())
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
