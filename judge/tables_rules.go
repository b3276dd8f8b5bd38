package judge

import (
	"fmt"

	"assay/summary"
	"assay/unit"
)

// synchronization asks how much of the time in calls the host waited. To wait for
// a device that works is normal, so it counts only as far as there was less work
// than waiting, where that is known.
func (t *tableCourt) synchronization() (Finding, bool) {
	waits := t.calls.of("sync")
	f, limit, ok := t.measuredOf(RuleWaitingCalls, waits.ns, t.calls.ns)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("synchronization is %s of the time in CUDA calls (%s), %s",
		unit.Share(waits.ns, t.calls.ns), fraction(waits.ns, t.calls.ns), reaches(f, limit))
	f.Evidence, f.Where = rowEvidence(waits, "synchronization", waits.ns), waits.places()
	f.Next = []Step{advise("remove-synchronization"), advise("check-the-wait")}
	f.Evidence = append(f.Evidence, t.items()...)
	work := summary.Plus(t.kernels.ns, t.copies.ns)
	switch {
	case work >= waits.ns:
		f.Level = Info
		f.Title += "; kernels and copies sum to " + unit.Duration(work) + ", so the host waited for a GPU that was at work"
		f.Next = []Step{advise("optimize-gpu-operations")}
	case work > 0:
		f.gain(waits.ns-work, t.calls.ns, "the time in CUDA calls")
		f.Evidence = append(f.Evidence, fmt.Sprintf("kernels and copies sum to %s, %s of the waiting: the GPU was idle for the rest, or did what the tables have not",
			unit.Duration(work), unit.Share(work, waits.ns)))
	}
	return f, true
}

// communication asks how much of the work of kernels is communication.
func (t *tableCourt) communication() (Finding, bool) {
	comm := t.kernels.class("comm")
	f, limit, ok := t.measuredOf(RuleCommWork, comm.ns, t.kernels.ns)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("communication is %s of all kernel work (%s, sums of durations), %s",
		unit.Share(comm.ns, t.kernels.ns), fraction(comm.ns, t.kernels.ns), reaches(f, limit))
	f.Evidence = append(rowEvidence(comm, "communication", comm.ns), "how much of it ran under compute, and how much was waiting for other ranks, no table says")
	f.Where = comm.places()
	f.gain(comm.ns, t.kernels.ns, "kernel work")
	f.Next = append([]Step{advise("compare-tables-of-ranks")}, commAdvice()...)
	return f, true
}

// copying holds copies and memsets against all work of the device.
func (t *tableCourt) copying() (Finding, bool) {
	var work, copies tableSet // of the runs that tell both
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
	f.Title = fmt.Sprintf("copies and memsets are %s of the device's work (%s, sums of durations), %s",
		unit.Share(copies.ns, work.ns), fraction(copies.ns, work.ns), reaches(f, limit))
	// They are judged like those of a trace.
	as := court{Summary: &summary.Summary{}}
	for _, r := range copies.byName() {
		row := summary.Copy{Name: r.Name, Class: r.Class, Count: r.runs, TotalNS: r.ns}
		if n, ok := bytes[r.Name]; ok {
			row.Bytes = &n
		}
		as.Copies = append(as.Copies, row)
	}
	kinds := as.copyKinds()
	f.Evidence = append(copyEvidence(kinds), "how much of it ran under compute no table says")
	f.Where = copies.places()
	f.gain(copies.ns, work.ns, "the device's work")
	f.Next = copyAdvice(kinds)
	return f, true
}

// allocation asks how much of the time in calls the allocator has.
func (t *tableCourt) allocation() (Finding, bool) {
	calls := t.calls.of("alloc", "free")
	f, limit, ok := t.measuredOf(RuleAllocationCalls, calls.ns, t.calls.ns)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("allocation is %s of the time in CUDA calls (%s), %s",
		unit.Share(calls.ns, t.calls.ns), fraction(calls.ns, t.calls.ns), reaches(f, limit))
	f.Evidence, f.Where = rowEvidence(calls, "allocation", calls.ns), calls.places()
	f.gain(calls.ns, t.calls.ns, "the time in CUDA calls")
	f.Next = []Step{advise("allocate-less"), advise("expandable-segments"), advise("leave-out-the-context")}
	return f, true
}

// shortKernels asks how many kernels run no longer than a launch takes the host.
func (t *tableCourt) shortKernels() (Finding, bool) {
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
	f.Title = fmt.Sprintf("%s of all kernel runs are of kernels under %s on average (%s of %s), %s",
		unit.Share(short.runs, t.kernels.runs), unit.Duration(rule.Under), unit.Count(short.runs), plural(t.kernels.runs, "run"), reaches(f, limit))
	f.Evidence, f.Where = rowEvidence(short, "work of short kernels", short.ns), short.places()
	if launches := t.calls.of("launch"); launches.runs > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s take the host %s, %s on average", plural(launches.runs, "launch call"),
			unit.Duration(launches.ns), unit.Duration(launches.ns/launches.runs)))
	}
	f.Next = []Step{advise("launch-less"), advise("launch-more-each")}
	return f, true
}

// largestKernel asks whether the kernels of one name are most of the work.
func (t *tableCourt) largestKernel() (Finding, bool) {
	rows := t.kernels.byName()
	if len(rows) == 0 {
		return Finding{}, false
	}
	top := rows[0]
	f, limit, ok := t.measuredOf(RuleDominantKernel, top.ns, t.kernels.ns)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("kernel %q is %s of all kernel work (%s, sums of durations), %s",
		short(top.Name), unit.Share(top.ns, t.kernels.ns), fraction(top.ns, t.kernels.ns), reaches(f, limit))
	f.Evidence = []string{fmt.Sprintf("%q, class %s, category %s", top.Name, top.Class, top.Category) + top.runText()}
	f.Where = []Place{top.place()}
	f.gain(top.ns, t.kernels.ns, "kernel work")
	f.Next = kernelAdvice(summary.Kernel{Name: top.Name, Class: top.Class, Category: top.Category}, peers{})
	return f, true
}

// measuredOf holds num/den to the limits of a rule. Nothing is a share of
// nothing.
func (t *tableCourt) measuredOf(id string, num, den int64) (f Finding, limit float64, ok bool) {
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
		out = append(out, fmt.Sprintf("%q is %s of %s (%s)", r.Name, unit.Share(r.ns, ns), what, unit.Duration(r.ns))+r.runText())
	}
	return out
}

// runText says how often and how long a row ran, as far as its table tells.
func (r tableRow) runText() string {
	text := ""
	if r.runs == 1 {
		return ": 1 run"
	}
	if r.runs > 1 {
		text = fmt.Sprintf(": %s, %s on average", plural(r.runs, "run"), unit.Duration(r.ns/r.runs))
		if r.longest > 0 {
			text += fmt.Sprintf(", %s at most", unit.Duration(r.longest))
		}
	}
	return text
}
