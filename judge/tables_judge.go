package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/summary"
	"assay/unit"
)

// A tableCourt is the tables under judgment, without any timeline: nothing in them
// says when a device was idle or what ran at the same time.
type tableCourt struct {
	*court
	runs   []runTables
	hidden []runTables // those whose kernels graphs hide
	pooled []runTables // those that are judged

	kernels, copies, calls tableSet // of these
}

// judgeTables judges tables of sums. The verdict never names what bounds the
// run, which needs a timeline; it says what stands out. Found has the findings that
// come first in any case.
func (c *court) judgeTables(found []Finding) Result {
	t := tableCourt{court: c, runs: c.tableRuns()}
	t.pool()
	var judged []Finding // in the order of precedence
	for _, rule := range []func() (Finding, bool){
		t.hostWork, t.synchronization, t.communication, t.copying, t.copyOperators, t.allocation, t.shortKernels, t.largestKernel,
		t.largestAllocator,
	} {
		if f, ok := rule(); ok {
			judged = append(judged, f)
		}
	}
	slices.SortStableFunc(judged, func(a, b Finding) int { return cmp.Compare(b.Level, a.Level) })
	decisive := slices.Clone(judged[:min(1, len(judged))]) // by precedence
	sortFindings(judged, nil)
	sums := t.sumsOnly()
	abstain := []func() (Finding, bool){t.empty, t.unrecorded, t.withoutDevice, t.hiddenByGraphs, t.tooFew}
	for _, rule := range abstain {
		f, ok := rule()
		if ok && f.Rule == RuleGraphsHideKernels && len(t.hidden) < len(t.runs) && t.kernels.ns > 0 {
			found = append(found, f) // the other runs are judged without these
			continue
		}
		if ok {
			// The shares stay, for who wants them, but nothing follows from them.
			for i := range judged {
				judged[i].Level = Info
			}
			return Result{Verdict: decidedBy("unknown", f), Findings: append(append(append(found, f), judged...), sums)}
		}
	}
	verdict := Verdict{Bound: "unknown", Sentence: t.headline()}
	if len(decisive) > 0 && decisive[0].Level > Info {
		verdict = decidedBy("unknown", decisive[0])
	}
	return Result{Verdict: verdict, Findings: append(append(found, judged...), sums)}
}

// sumsOnly says what the tables cannot.
func (t *tableCourt) sumsOnly() Finding {
	f := Finding{Rule: RuleSumsOnly, Level: Info}
	f.Title = "sums tell no idle time, no overlap and no order: what bounds the run needs a timeline"
	if n := len(t.pooled); n > 1 {
		f.Evidence = []string{fmt.Sprintf("the tables of %d runs are judged together", n)}
	}
	if slices.ContainsFunc(t.Tables, func(s summary.Table) bool { return s.Tool == "nsys" }) {
		f.Next = []Step{advise("export-the-report")}
	} else {
		f.Next = []Step{advise("record-a-timeline")}
	}
	return f
}

// empty asks whether the tool had anything to print at all.
func (t *tableCourt) empty() (Finding, bool) {
	if slices.ContainsFunc(t.Tables, func(s summary.Table) bool { return len(s.Rows) > 0 || s.Left > 0 }) {
		return Finding{}, false
	}
	f := Finding{Rule: RuleTablesEmpty, Level: Warn}
	f.Title = fmt.Sprintf("no table of %s has rows: what they tell of was not recorded", unit.Count(int64(len(t.Tables))))
	for _, s := range t.Tables[:min(3, len(t.Tables))] {
		if s.Missing != "" {
			f.Evidence = append(f.Evidence, s.Name+": "+s.Missing)
		}
	}
	f.Next = recordAdvice()
	return f, true
}

// unrecorded asks for kernels that were launched and not recorded.
func (t *tableCourt) unrecorded() (Finding, bool) {
	var launches tableSet
	for _, r := range t.runs {
		if r.unrecorded {
			launches = launches.plus(r.calls.of("launch"))
		}
	}
	if launches.runs == 0 || len(t.kernels.rows) > 0 {
		return Finding{}, false
	}
	f := Finding{Rule: RuleKernelsUnrecorded, Level: Warn}
	f.Title = fmt.Sprintf("kernels were launched (%s) and none was recorded: another profiler held the GPU, or the permission to trace it was missing", plural(launches.runs, "call"))
	f.Next = append([]Step{advise("stop-other-profilers"), advise("permit-tracing")}, recordAdvice()...)
	return f, true
}

// hides asks whether graphs ran what the kernels of a run have not: nsys records a
// graph as a whole unless it is told otherwise, and its tables of kernels have none
// of it. A host that waits for far more than there is waits for that.
func (t *tableCourt) hides(r runTables) bool {
	waits := r.calls.of("sync")
	if r.torch != nil || len(r.kernels.rows) == 0 && (!r.unrecorded || r.calls.of("launch").runs > 0) {
		return false // torch.profiler records kernels of graphs; or the table was not asked for, or lacks more than graphs
	}
	return r.calls.of("graph-launch").runs > 0 && waits.ns > 0 &&
		float64(r.kernels.ns)/float64(waits.ns) < t.rules[RuleGraphsHideKernels].MinShare
}

// pool adds up the runs, without those whose kernels graphs hide if there are
// others.
func (t *tableCourt) pool() {
	for _, r := range t.runs {
		if t.hides(r) {
			t.hidden = append(t.hidden, r)
		} else {
			t.pooled = append(t.pooled, r)
		}
	}
	if len(t.pooled) == 0 {
		t.pooled = t.hidden
	}
	for _, r := range t.pooled {
		t.kernels, t.copies, t.calls = t.kernels.plus(r.kernels), t.copies.plus(r.copies), t.calls.plus(r.calls)
	}
}

// hiddenByGraphs reports the runs whose kernels graphs hide.
func (t *tableCourt) hiddenByGraphs() (Finding, bool) {
	if len(t.hidden) == 0 {
		return Finding{}, false
	}
	rule := t.rules[RuleGraphsHideKernels]
	var graphs, waits, kernels tableSet
	for _, r := range t.hidden {
		graphs, waits, kernels = graphs.plus(r.calls.of("graph-launch")), waits.plus(r.calls.of("sync")), kernels.plus(r.kernels)
	}
	f := Finding{Rule: rule.ID, Level: Warn, NumeratorNS: kernels.ns, DenominatorNS: waits.ns, Value: float64(kernels.ns) / float64(waits.ns)}
	f.Title = fmt.Sprintf("CUDA graphs hide kernels: %s was called %s, but all kernels in the tables are %s of the time in which the host waited (%s), under the limit of %s",
		graphs.byName()[0].Name, times(graphs.runs), unit.Share(kernels.ns, waits.ns), fraction(kernels.ns, waits.ns), unit.Percent(rule.MinShare))
	if len(t.hidden) < len(t.runs) {
		f.Title += fmt.Sprintf(", in %d of %d runs", len(t.hidden), len(t.runs))
	}
	f.Evidence = append(rowEvidence(graphs, "graph launches", graphs.ns), rowEvidence(waits, "synchronization", waits.ns)...)
	f.Next = []Step{advise("print-graph-kernels"), advise("run-without-graphs")}
	return f, true
}

// tooFew asks whether there is enough work for shares to mean anything.
func (t *tableCourt) tooFew() (Finding, bool) {
	rule := t.rules[RuleTooLittleWork]
	events := summary.Plus(t.kernels.runs, t.copies.runs)
	if len(t.kernels.rows)+len(t.copies.rows) == 0 || events == 0 || events >= rule.MinEvents {
		return Finding{}, false // other tables are judged by themselves
	}
	f := Finding{Rule: rule.ID, Level: Warn}
	f.Title = fmt.Sprintf("too little GPU work to judge: %s in the tables, under the limit of %s",
		plural(events, "GPU event"), plural(rule.MinEvents, "event"))
	if f.Next = recordAdvice(); t.ofTorch() {
		f.Next = []Step{advise("record-whole-steps")}
	}
	return f, true
}

// headline is the verdict where no limit is reached: what the work was.
func (t *tableCourt) headline() string {
	if t.kernels.ns > 0 {
		text := "kernels sum to " + unit.Duration(t.kernels.ns)
		if t.kernels.runs > 0 {
			text += " in " + plural(t.kernels.runs, "run")
		}
		var parts []string
		work := t.kernels.categories()
		for _, category := range byWork(work)[:min(3, len(work))] {
			parts = append(parts, category+" "+unit.Share(work[category], t.kernels.ns))
		}
		return text + ": " + strings.Join(parts, ", ") + "; nothing in the tables is over its warn limit"
	}
	const over = "nothing in the tables is over its warn limit"
	sorted := slices.Clone(t.Tables)
	slices.SortStableFunc(sorted, func(a, b summary.Table) int { return cmp.Compare(sleeps(a), sleeps(b)) })
	for _, s := range sorted {
		at := slices.IndexFunc(s.Columns, func(c summary.TableColumn) bool { return c.Adds == summary.AddsSelf && c.Unit == "ns" })
		if sum, ok := s.Sum(at); ok && sum > 0 && len(s.Rows) > 0 {
			top := slices.MaxFunc(s.Rows, func(a, b summary.TableRow) int {
				return cmp.Compare(positive(a.Value(at)), positive(b.Value(at)))
			})
			n := positive(top.Value(at))
			return fmt.Sprintf("%q has %s of the time in table %q (%s); %s", short(top.Name), unit.Share(n, sum), s.Name, fraction(n, sum), over)
		}
	}
	return over
}

// sleeps is 1 for calls of the operating system, in which threads mostly sleep.
func sleeps(t summary.Table) int {
	if t.Of == summary.OfOSCall {
		return 1
	}
	return 0
}

// categories returns the work of each category of kernels.
func (s tableSet) categories() map[string]int64 {
	work := map[string]int64{}
	for _, r := range s.rows {
		work[r.Category] = summary.Plus(work[r.Category], r.ns)
	}
	return work
}

// recordAdvice says how to record what nsys can print.
func recordAdvice() []Step {
	return []Step{advise("record-for-the-tables"), advise("start-nsys-first"), advise("call-the-capture-range")}
}

// times prints how often: "once", "10 times".
func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return unit.Count(n) + " times"
}
