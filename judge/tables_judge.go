package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/summary"
	"assay/unit"
)

// A tableEvaluator applies the rules to tables of totals. Without a timeline they do not
// show idle time or overlap.
type tableEvaluator struct {
	*evaluator
	runs   []runTables
	hidden []runTables // runs without the kernels of their CUDA graphs
	pooled []runTables // runs that are judged

	kernels, copies, calls tableSet // of these
}

// totals returns the tables with the runs that they are of.
func (c *evaluator) totals() *tableEvaluator {
	if c.tables == nil {
		c.tables = &tableEvaluator{evaluator: c, runs: c.tableRuns()}
		c.tables.pool()
	}
	return c.tables
}

// read returns the reading of a rule.
func (t *tableEvaluator) read(rule func(*tableEvaluator) (Finding, bool)) []reading {
	out := found(rule(t))
	for i := range out {
		// The runs whose kernels are in the tables are judged without the others.
		out[i].partial = out[i].Rule == RuleGraphsHideKernels && len(t.hidden) < len(t.runs) && t.kernels.ns > 0
	}
	return out
}

// judgeTables judges tables of totals. The verdict never names a bottleneck, which
// needs a timeline; it names the largest finding. The findings in before come first.
func (c *evaluator) judgeTables(before []Finding) Result {
	verdict := Verdict{Bound: BoundUnknown, Sentence: c.totals().headline()}
	var judged, sums []Finding // in the order of precedence
	var stop *Finding
	for _, n := range c.measure(basedOn(basisTotals)) {
		switch {
		case n.partial:
			before = append(before, n.Finding)
		case n.abstains && stop == nil:
			stop = &n.Finding
		case n.abstains:
		case n.id == RuleSumsOnly:
			sums = append(sums, n.Finding)
		default:
			judged = append(judged, n.Finding)
		}
	}
	slices.SortStableFunc(judged, func(a, b Finding) int { return cmp.Compare(b.Level, a.Level) })
	if len(judged) > 0 && judged[0].Level > Info {
		verdict = decidedBy(BoundUnknown, judged[0]) // by precedence
	}
	sortFindings(judged, nil)
	if stop == nil {
		return Result{Verdict: verdict, Findings: slices.Concat(before, judged, sums)}
	}
	for i := range judged { // they stay for information
		judged[i].Level = Info
	}
	return Result{Verdict: decidedBy(BoundUnknown, *stop), Findings: slices.Concat(before, []Finding{*stop}, judged, sums)}
}

// sumsOnly reports that totals have no timeline.
func (t *tableEvaluator) sumsOnly() (Finding, bool) {
	f := Finding{Rule: RuleSumsOnly, Level: Info}
	f.Title = "Totals have no timeline, so idle time, overlap and the bottleneck are unknown"
	if n := len(t.pooled); n > 1 {
		f.Evidence = []string{fmt.Sprintf("the tables of %d runs are added up", n)}
	}
	if slices.ContainsFunc(t.Tables, func(s summary.Table) bool { return s.Tool == "nsys" }) {
		f.Next = []Step{advise("export-the-report")}
	} else {
		f.Next = []Step{advise("record-a-timeline")}
	}
	return f, true
}

// empty reports tables without any rows.
func (t *tableEvaluator) empty() (Finding, bool) {
	if slices.ContainsFunc(t.Tables, func(s summary.Table) bool { return len(s.Rows) > 0 || s.Left > 0 }) {
		return Finding{}, false
	}
	f := Finding{Rule: RuleTablesEmpty, Level: Warn}
	f.Title = fmt.Sprintf("No rows in %s; nothing was recorded", label.Plural(int64(len(t.Tables)), "table"))
	for _, s := range t.Tables[:min(3, len(t.Tables))] {
		if s.Missing != "" {
			f.Evidence = append(f.Evidence, s.Name+": "+s.Missing)
		}
	}
	f.Next = recordAdvice()
	return f, true
}

// unrecorded reports kernels that were launched and not recorded.
func (t *tableEvaluator) unrecorded() (Finding, bool) {
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
	f.Title = fmt.Sprintf("No kernels recorded for %s", label.Plural(launches.runs, "launch call"))
	f.Evidence = []string{"another profiler used CUPTI, or tracing was not permitted"}
	f.Next = append([]Step{advise("stop-other-profilers"), advise("permit-tracing")}, recordAdvice()...)
	return f, true
}

// hides reports whether the kernels of CUDA graphs are missing from the tables of a run:
// by default nsys traces a graph as one event, which its kernel tables leave out. The
// sign is that the CPU waits far longer than the kernels take.
func (t *tableEvaluator) hides(r runTables) bool {
	waits := r.calls.of("sync")
	if r.torch != nil || len(r.kernels.rows) == 0 && (!r.unrecorded || r.calls.of("launch").runs > 0) {
		return false // torch.profiler records kernels of graphs; or the table is missing, or lacks more than graphs
	}
	return r.calls.of("graph-launch").runs > 0 && waits.ns > 0 &&
		float64(r.kernels.ns)/float64(waits.ns) < t.rules[RuleGraphsHideKernels].MinShare
}

// pool adds up the runs. Runs without the kernels of their CUDA graphs count only if
// there are no others.
func (t *tableEvaluator) pool() {
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

// hiddenByGraphs reports the runs whose tables lack the kernels of CUDA graphs.
func (t *tableEvaluator) hiddenByGraphs() (Finding, bool) {
	if len(t.hidden) == 0 {
		return Finding{}, false
	}
	rule := t.rules[RuleGraphsHideKernels]
	var graphs, waits, kernels tableSet
	for _, r := range t.hidden {
		graphs, waits, kernels = graphs.plus(r.calls.of("graph-launch")), waits.plus(r.calls.of("sync")), kernels.plus(r.kernels)
	}
	f := Finding{Rule: rule.ID, Level: Warn, NumeratorNS: kernels.ns, DenominatorNS: waits.ns, Value: float64(kernels.ns) / float64(waits.ns)}
	f.Title = "Kernels inside CUDA graphs are missing from the tables"
	if len(t.hidden) < len(t.runs) {
		f.Title += fmt.Sprintf(" (%d of %d runs)", len(t.hidden), len(t.runs))
	}
	f.Evidence = []string{
		fmt.Sprintf("%s: %s", graphs.byName()[0].Name, label.Plural(graphs.runs, "call")),
		fmt.Sprintf("kernels: %s of the synchronization time (%s); limit %s", unit.Share(kernels.ns, waits.ns), fraction(kernels.ns, waits.ns), unit.Percent(rule.MinShare)),
	}
	f.Evidence = append(append(f.Evidence, rowEvidence(graphs, "graph launches", graphs.ns)...), rowEvidence(waits, "synchronization", waits.ns)...)
	f.Next = []Step{advise("print-graph-kernels"), advise("run-without-graphs")}
	return f, true
}

// tooFew judges whether there is enough work for shares.
func (t *tableEvaluator) tooFew() (Finding, bool) {
	rule := t.rules[RuleTooLittleWork]
	events := summary.Plus(t.kernels.runs, t.copies.runs)
	if len(t.kernels.rows)+len(t.copies.rows) == 0 || events == 0 || events >= rule.MinEvents {
		return Finding{}, false // other tables are judged by themselves
	}
	f := Finding{Rule: rule.ID, Level: Warn}
	f.Title = fmt.Sprintf("Too little GPU work: %s in the tables; limit %s",
		label.Plural(events, "GPU event"), label.Plural(rule.MinEvents, "event"))
	if f.Next = recordAdvice(); t.ofTorch() {
		f.Next = []Step{advise("record-whole-steps")}
	}
	return f, true
}

// headline returns the verdict if no limit is reached: the largest totals.
func (t *tableEvaluator) headline() string {
	if t.kernels.ns > 0 {
		text := "Total kernel time: " + unit.Duration(t.kernels.ns)
		if t.kernels.runs > 0 {
			text += " in " + launches(t.kernels.runs)
		}
		var parts []string
		work := t.kernels.categories()
		for _, category := range byWork(work)[:min(3, len(work))] {
			parts = append(parts, category+" "+unit.Share(work[category], t.kernels.ns))
		}
		return text + " (" + strings.Join(parts, ", ") + "); all findings are below their limits"
	}
	const below = "all findings are below their limits"
	sorted := slices.Clone(t.Tables)
	slices.SortStableFunc(sorted, func(a, b summary.Table) int { return cmp.Compare(sleeps(a), sleeps(b)) })
	for _, s := range sorted {
		at := slices.IndexFunc(s.Columns, func(c summary.TableColumn) bool { return c.Adds == summary.AddsSelf && c.Unit == "ns" })
		if sum, ok := s.Sum(at); ok && sum > 0 && len(s.Rows) > 0 {
			top := slices.MaxFunc(s.Rows, func(a, b summary.TableRow) int {
				return cmp.Compare(positive(a.Value(at)), positive(b.Value(at)))
			})
			n := positive(top.Value(at))
			return fmt.Sprintf("Largest row: %q, %s of the time in table %q (%s); %s", short(top.Name), unit.Share(n, sum), s.Name, fraction(n, sum), below)
		}
	}
	return upper(below)
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

// recordAdvice returns the steps that record the tables of nsys.
func recordAdvice() []Step {
	return []Step{advise("record-for-the-tables"), advise("start-nsys-first"), advise("call-the-capture-range")}
}
