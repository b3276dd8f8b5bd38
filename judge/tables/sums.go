package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// An Evaluator applies the rules to tables of totals. Without a timeline these show neither idle
// time nor overlap.
type Evaluator struct {
	*tree.Context
	read bool // the tables were sorted into runs; load does it at first use

	runs   []runTables
	hidden []runTables // runs whose tables lack the kernels of CUDA graphs
	pooled []runTables // runs that are judged

	kernels, copies, calls tableSet // added up over pooled
}

// New returns an evaluator for a context.
func New(c *tree.Context) *Evaluator { return &Evaluator{Context: c} }

// load sorts the tables by run at the first call.
func (t *Evaluator) load() {
	if !t.read {
		t.read, t.runs = true, t.tableRuns()
		t.pool()
	}
}

// abstaining is the number of rules that withhold the verdict.
const abstaining = 6

// Rules returns the rules on tables of totals: first those that withhold the verdict, then the
// others, each group in the order of precedence.
func (t *Evaluator) Rules() (out []tree.Row) {
	type entry struct {
		id      string
		measure func() (finding.Finding, bool)
	}
	for i, r := range []entry{
		{rule.TablesEmpty, t.empty}, {rule.TotalDoubted, t.doubted}, {rule.KernelsUnrecorded, t.unrecorded}, {rule.WithoutDevice, t.withoutDevice},
		{rule.GraphsHideKernels, t.hiddenByGraphs}, {rule.TooLittleWork, t.tooFew},
		{rule.HostWork, t.hostWork}, {rule.WaitingCalls, t.synchronization}, {rule.CommWork, t.communication},
		{rule.CopyWork, t.copying}, {rule.CopyOperators, t.copyOperators}, {rule.AllocationCalls, t.allocation},
		{rule.ShortKernels, t.shortKernels}, {rule.DominantKernel, t.largestKernel},
		{rule.LargestAllocator, t.largestAllocator}, {rule.SumsOnly, t.sumsOnly},
	} {
		out = append(out, tree.Row{ID: r.id, Part: tree.BasisTotals, Precedence: i, Abstains: i < abstaining,
			Measure: func() []tree.Reading { return t.reading(r.measure) }})
	}
	return out
}

// reading returns the reading of a rule.
func (t *Evaluator) reading(measure func() (finding.Finding, bool)) []tree.Reading {
	t.load()
	out := tree.Found(measure())
	for i := range out {
		// The rule only excludes some of the runs; the others can still be judged.
		out[i].Partial = out[i].Rule == rule.GraphsHideKernels && len(t.hidden) < len(t.runs) && t.kernels.ns > 0
	}
	return out
}

// Judge judges tables of totals. A bottleneck needs a timeline, so the verdict names the largest
// finding instead. The findings in before come first.
func (t *Evaluator) Judge(before []finding.Finding) finding.Result {
	t.load()
	verdict := finding.Verdict{Bound: finding.BoundUnknown, Sentence: t.headline()}
	var judged, sums []finding.Finding // in the order of precedence
	var stop *finding.Finding
	for _, n := range t.Measure(tree.BasedOn(tree.BasisTotals)) {
		switch {
		case n.Partial:
			before = append(before, n.Finding)
		case n.Abstains && stop == nil:
			stop = &n.Finding
		case n.Abstains:
		case n.ID == rule.SumsOnly:
			sums = append(sums, n.Finding)
		default:
			judged = append(judged, n.Finding)
		}
	}
	slices.SortStableFunc(judged, func(a, b finding.Finding) int { return cmp.Compare(b.Level, a.Level) })
	if len(judged) > 0 && judged[0].Level > finding.Info {
		// The most severe one, by precedence if there are several.
		verdict = finding.DecidedBy(finding.BoundUnknown, judged[0])
	}
	finding.SortFindings(judged, nil)
	if stop == nil {
		return finding.Result{Verdict: verdict, Findings: slices.Concat(before, judged, sums)}
	}
	for i := range judged { // without a verdict they are only information
		judged[i].Level = finding.Info
	}
	return finding.Result{Verdict: finding.DecidedBy(finding.BoundUnknown, *stop),
		Findings: slices.Concat(before, []finding.Finding{*stop}, judged, sums)}
}

// sumsOnly reports that totals have no timeline.
func (t *Evaluator) sumsOnly() (finding.Finding, bool) {
	f := finding.Finding{Rule: rule.SumsOnly, Level: finding.Info}
	f.Title = "Totals have no timeline, so idle time, overlap and the bottleneck are unknown"
	if n := len(t.pooled); n > 1 {
		f.Evidence = []string{fmt.Sprintf("the tables of %d runs are added up", n)}
	}
	f.Next = []finding.Step{finding.Advise("export-the-report")}
	return f, true
}

// empty reports tables without any rows.
func (t *Evaluator) empty() (finding.Finding, bool) {
	if slices.ContainsFunc(t.Tables, func(s summary.Table) bool { return len(s.Rows) > 0 || s.Left > 0 }) {
		return finding.Finding{}, false
	}
	f := finding.Finding{Rule: rule.TablesEmpty, Level: finding.Warn}
	f.Title = fmt.Sprintf("No rows in %s; nothing was recorded", label.Plural(int64(len(t.Tables)), "table"))
	for _, s := range t.Tables[:min(3, len(t.Tables))] {
		if s.Missing != "" {
			f.Evidence = append(f.Evidence, s.Name+": "+s.Missing)
		}
	}
	f.Next = recordAdvice()
	return f, true
}

// doubted reports printed tables whose kernels take more time than the total below them. Some of
// these rows are ranges, so every share would be wrong.
func (t *Evaluator) doubted() (finding.Finding, bool) {
	f := finding.Finding{Rule: rule.TotalDoubted, Level: finding.Warn, Next: []finding.Step{finding.Advise("print-all-rows")}}
	for i := range t.Tables {
		if s := &t.Tables[i]; s.Doubted() {
			at := s.Rank()
			sum, _ := s.Sum(at)
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s: the rows add up to %s, the printed total is %s",
				s.Name, unit.Duration(sum), unit.Duration(*s.Totals[at])))
		}
	}
	n := len(f.Evidence)
	f.Title = fmt.Sprintf("Kernel time is unknown: the kernels in %s add up to more than the printed total", label.Plural(int64(n), "table"))
	f.Evidence = f.Evidence[:min(n, 3)]
	return f, n > 0
}

// unrecorded reports kernels that were launched and not recorded.
func (t *Evaluator) unrecorded() (finding.Finding, bool) {
	var launches tableSet
	for _, r := range t.runs {
		if r.unrecorded {
			launches = launches.plus(r.calls.ofKinds("launch"))
		}
	}
	if launches.runs == 0 || len(t.kernels.rows) > 0 {
		return finding.Finding{}, false
	}
	f := finding.Finding{Rule: rule.KernelsUnrecorded, Level: finding.Warn}
	f.Title = fmt.Sprintf("No kernels recorded for %s", label.Plural(launches.runs, "launch call"))
	f.Evidence = []string{"another profiler used CUPTI, or tracing was not permitted"}
	f.Next = append([]finding.Step{finding.Advise("stop-other-profilers"), finding.Advise("permit-tracing")},
		recordAdvice()...)
	return f, true
}

// lacksGraphKernels reports whether the kernels of CUDA graphs are missing from the tables of a
// run. By default nsys traces a graph as one event, which its kernel tables leave out; the CPU then
// waits far longer than the kernels take.
func (t *Evaluator) lacksGraphKernels(r runTables) bool {
	waits := r.calls.ofKinds("sync")
	if r.torch != nil || len(r.kernels.rows) == 0 && (!r.unrecorded || r.calls.ofKinds("launch").runs > 0) {
		return false // torch.profiler records kernels of graphs; otherwise the table is missing, or lacks more than graphs
	}
	return r.calls.ofKinds("graph-launch").runs > 0 && waits.ns > 0 &&
		float64(r.kernels.ns)/float64(waits.ns) < t.Limits[rule.GraphsHideKernels].MinShare
}

// pool adds up the runs. Runs without the kernels of their CUDA graphs count only if there are no
// others.
func (t *Evaluator) pool() {
	for _, r := range t.runs {
		if t.lacksGraphKernels(r) {
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
func (t *Evaluator) hiddenByGraphs() (finding.Finding, bool) {
	if len(t.hidden) == 0 {
		return finding.Finding{}, false
	}
	limits := t.Limits[rule.GraphsHideKernels]
	var graphs, waits, kernels tableSet
	for _, r := range t.hidden {
		graphs, waits, kernels = graphs.plus(r.calls.ofKinds("graph-launch")), waits.plus(r.calls.ofKinds("sync")),
			kernels.plus(r.kernels)
	}
	f := finding.Finding{Rule: limits.ID, Level: finding.Warn, NumeratorNS: kernels.ns, DenominatorNS: waits.ns,
		Value: float64(kernels.ns) / float64(waits.ns)}
	f.Title = "Kernels inside CUDA graphs are missing from the tables"
	if len(t.hidden) < len(t.runs) {
		f.Title += fmt.Sprintf(" (%d of %d runs)", len(t.hidden), len(t.runs))
	}
	f.Evidence = []string{
		fmt.Sprintf("%s: %s", graphs.byName()[0].Name, label.Plural(graphs.runs, "call")),
		fmt.Sprintf("kernels: %s of the synchronization time (%s); limit %s", unit.Share(kernels.ns, waits.ns),
			unit.DurationOf(kernels.ns, waits.ns), unit.Percent(limits.MinShare)),
	}
	f.Evidence = append(append(f.Evidence, rowEvidence(graphs, "graph launches", graphs.ns)...),
		rowEvidence(waits, "synchronization", waits.ns)...)
	f.Next = []finding.Step{finding.Advise("print-graph-kernels"), finding.Advise("run-without-graphs")}
	return f, true
}

// tooFew judges whether there is enough GPU work for meaningful shares.
func (t *Evaluator) tooFew() (finding.Finding, bool) {
	limits := t.Limits[rule.TooLittleWork]
	events := t.kernels.runs + t.copies.runs
	if len(t.kernels.rows)+len(t.copies.rows) == 0 || events == 0 || events >= limits.MinEvents {
		return finding.Finding{}, false // tables without GPU work are judged by other rules
	}
	f := finding.Finding{Rule: limits.ID, Level: finding.Warn}
	f.Title = fmt.Sprintf("Too little GPU work: %s in the tables; limit %s",
		label.Plural(events, "GPU event"), label.Plural(limits.MinEvents, "event"))
	switch f.Next = recordAdvice(); {
	case t.allTorch():
		f.Next = []finding.Step{finding.Advise("record-whole-steps")}
	case slices.ContainsFunc(t.Tables, func(s summary.Table) bool { return s.Tool == "proton" || s.Tool == "rocprof" }):
		f.Next = []finding.Step{finding.Advise("record-a-timeline")} // by a tool for any GPU
	}
	return f, true
}

// headline returns the verdict if no limit is reached: the largest totals.
func (t *Evaluator) headline() string {
	if t.kernels.ns > 0 {
		text := "Total kernel time: " + unit.Duration(t.kernels.ns)
		if t.kernels.runs > 0 {
			text += " in " + finding.Launches(t.kernels.runs)
		}
		var parts []string
		work := t.kernels.categories()
		for _, category := range finding.ByWork(work)[:min(3, len(work))] {
			parts = append(parts, category+" "+unit.Share(work[category], t.kernels.ns))
		}
		return text + " (" + strings.Join(parts, ", ") + "); all findings are below their limits"
	}
	for _, text := range []string{t.iteration(), t.steps(), t.collectives()} {
		if text != "" {
			return text
		}
	}
	if at := slices.IndexFunc(t.Tables, func(s summary.Table) bool { return s.Tool == "execution-trace" }); at >= 0 {
		n, _ := t.Tables[at].Sum(t.Tables[at].Column("count"))
		return "The execution trace has " + label.Plural(n, "operator") + " and no times; give the trace of the same run too"
	}
	const below = "all findings are below their limits"
	sorted := slices.Clone(t.Tables)
	slices.SortStableFunc(sorted, func(a, b summary.Table) int { return cmp.Compare(sleeps(a), sleeps(b)) })
	for _, s := range sorted {
		at := slices.IndexFunc(s.Columns, func(c summary.TableColumn) bool {
			return c.Adds == summary.AddsSelf &&
				c.Unit == "ns"
		})
		if sum, ok := s.Sum(at); ok && sum > 0 && len(s.Rows) > 0 {
			top := slices.MaxFunc(s.Rows, func(a, b summary.TableRow) int {
				return cmp.Compare(positive(a.Value(at)), positive(b.Value(at)))
			})
			n := positive(top.Value(at))
			return fmt.Sprintf("Largest row: %q, %s of the time in table %q (%s); %s", finding.Short(top.Name),
				unit.Share(n, sum), s.Name, unit.DurationOf(n, sum), below)
		}
	}
	return finding.Upper(below)
}

// iteration says how long an iteration took, and its parts, as DeepSpeed's flops profiler measured it.
func (t *Evaluator) iteration() string {
	at := slices.IndexFunc(t.Tables, func(s summary.Table) bool { return s.Tool == "deepspeed" && s.Name == "deepspeed_flops" })
	if at < 0 {
		return ""
	}
	s := t.Tables[at]
	total, rate := s.Column("total"), s.Column("FLOP rate")
	whole, text := int64(0), ""
	var parts []string
	for _, r := range s.Rows { // the iteration has the most time
		n, ok := r.Value(total)
		switch {
		case ok && r.Name == "iteration":
			whole, text = n, "An iteration took "+unit.Duration(n)
			if per, ok := r.Value(rate); ok {
				text += " at " + unit.FLOPRate(float64(per)*1e9)
			}
		case ok && whole > 0 && n <= whole:
			parts = append(parts, r.Name+" "+unit.Share(n, whole))
		}
	}
	if len(parts) == 0 {
		return text
	}
	return text + ": " + strings.Join(parts, ", ") + " (with the flops profiler)"
}

// named returns the table of a name, or false.
func (t *Evaluator) named(name string) (summary.Table, bool) {
	at := slices.IndexFunc(t.Tables, func(s summary.Table) bool { return s.Name == name })
	if at < 0 {
		return summary.Table{}, false
	}
	return t.Tables[at], true
}

// steps says what the steps of NPUs are made of, by the profiler of Ascend.
func (t *Evaluator) steps() string {
	s, ok := t.named("ascend_steps")
	whole, _ := s.Sum(s.Column("total"))
	if !ok || whole <= 0 {
		return ""
	}
	var shares []string
	for _, part := range [][2]string{{"compute", "compute"}, {"exposed comm", "exposed communication"}, {"idle", "idle"}} {
		ns, _ := s.Sum(s.Column(part[0]))
		shares = append(shares, part[1]+" "+unit.Share(ns, whole))
	}
	return fmt.Sprintf("Steps of NPUs, by their profiler: %s of %s (sum of %s); give the timelines for causes",
		strings.Join(shares, ", "), unit.Duration(whole), label.Plural(int64(len(s.Rows)), "row"))
}

// collectives says how long collectives took, and for what part they waited, by the profiler of Ascend.
func (t *Evaluator) collectives() string {
	s, ok := t.named("ascend_collectives")
	whole, _ := s.Sum(s.Column("total"))
	if !ok || whole <= 0 {
		return ""
	}
	wait, _ := s.Sum(s.Column("wait"))
	count, _ := s.Sum(s.Column("count"))
	return fmt.Sprintf("Collectives: %s in %s, %s of it waiting for other ranks; give the timelines of all ranks for causes",
		unit.Duration(whole), label.Plural(count, "call"), unit.Share(wait, whole))
}

// sleeps is 1 for tables of system calls, which are less interesting because threads mostly sleep
// in them.
func sleeps(t summary.Table) int {
	if t.Of == summary.OfOSCall {
		return 1
	}
	return 0
}

// categories returns the ns of each category of kernels.
func (s tableSet) categories() map[string]int64 {
	work := map[string]int64{}
	for _, r := range s.rows {
		work[r.Category] += r.ns
	}
	return work
}

// recordAdvice returns the steps that record the tables of nsys.
func recordAdvice() []finding.Step {
	return []finding.Step{finding.Advise("record-for-the-tables"), finding.Advise("start-nsys-first"),
		finding.Advise("call-the-capture-range")}
}
