package judge

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// A labelled is a run whose trouble is known from how it was made. The rule of the
// label must be its first finding. Of a near miss it looks as if that were another
// rule, and is not: the label is what must be first instead.
type labelled struct {
	name  string
	label string // "" where nothing may be found
	near  string // the rule that is nearly met; "" of what is no near miss

	after  string // the rule that is always reported before that of the label, because both have one subject; "" for most
	limits string // a file of limits, where the built-in ones never let the rule be first
	num    int64  // what the finding must measure, known in advance; compared where den is not 0
	den    int64
	in     func(t *testing.T) *summary.Summary
}

// labelledRuns are all of them, by what they are made of. Each is made and measured once:
// tests only read it.
var labelledRuns = sync.OnceValue(func() []labelled {
	all := slices.Concat(
		labelledTraces(),
		labelledRanks(),
		labelledNeighbors(),
		labelledWorkers(),
		labelledTables(),
		labelledProfiles(),
		labelledCounters(),
		labelledMemory(),
		labelledPrograms(),
		labelledJobs(),
		labelledBlocks(),
		labelledCopyKernels(),
		labelledWarps(),
		labelledLateComm(),
		labelledRoundTrips(),
		labelledCompiled(),
		labelledGPUs(),
		labelledProfiler(),
		labelledCPUCollectives(),
		labelledSynchronous(),
		labelledQueued(),
		labelledDark(),
		labelledCauses(),
		labelledLogs(),
		labelledMonitored(),
		labelledBenchmarks(),
		labelledSettings(),
		machineRuns(),
	)
	for i, in := range all {
		var made *summary.Summary
		all[i].in = func(t *testing.T) *summary.Summary {
			if made == nil {
				made = in.in(t)
			}
			return made
		}
	}
	return all
})

// firstRule returns the rule of the first finding. A remark that single records were
// lost says nothing about the run, and comes before every other.
func firstRule(r Result) string {
	for _, f := range r.Findings {
		if f.Rule != rule.CaptureQuality || f.Level > finding.Info {
			return f.Rule
		}
	}
	return ""
}

// TestLabelled is the confusion matrix of all rules: what should come first, and
// what does. In two runs or more, each rule must be the first finding,
// and one or more that it must not be taken for. With -v it prints the matrix.
func TestLabelled(t *testing.T) {
	taken := map[string]map[string]int{} // by label and first finding
	missed := map[string]int{}           // near misses that were not taken for the rule
	for _, run := range labelledRuns() {
		th, err := rule.ParseThresholds([]byte(run.limits), "limits.yaml")
		if err != nil {
			t.Fatalf("%s: %v", run.name, err)
		}
		r := Judge(run.in(t), th)
		checkSteps(t, run.name, r)
		for _, f := range r.Findings {
			if f.Rule != rule.RecordsMissing { // it names the kind of calls and the end of the capture
				checkTitle(t, f.Title)
			}
		}
		got := firstRule(r)
		if run.after != "" && got == run.after {
			got = firstRule(Result{Findings: r.Findings[1:]})
		}
		if taken[run.label] == nil {
			taken[run.label] = map[string]int{}
		}
		taken[run.label][got]++
		if run.near != "" && got != run.near {
			missed[run.near]++
		}
		if got != run.label {
			t.Errorf("%s: the first finding is of %q, want %q\n%s", run.name, got, run.label, told(r))
			continue
		}
		if run.den == 0 {
			continue
		}
		if f := find(t, r, run.label); f.NumeratorNS+f.NumeratorBytes != run.num || f.DenominatorNS+f.DenominatorBytes != run.den {
			t.Errorf("%s: %s measures %d of %d, want %d of %d", run.name, run.label,
				f.NumeratorNS+f.NumeratorBytes, f.DenominatorNS+f.DenominatorBytes, run.num, run.den)
		}
	}
	table := func(string, ...any) {}
	if testing.Verbose() {
		table = t.Logf
	}
	table("%-24s %5s %5s %6s  %s", "rule", "runs", "first", "missed", "taken for")
	for _, limits := range append(rule.Rules(), rule.Rule{}) {
		row := taken[limits.ID]
		runs, others := 0, []string(nil)
		for got, n := range row {
			if runs += n; got != limits.ID {
				others = append(others, fmt.Sprintf("%s %d", got, n))
			}
		}
		slices.Sort(others)
		table("%-24s %5d %5d %6d  %s", limits.ID, runs, row[limits.ID], missed[limits.ID], strings.Join(others, ", "))
		if limits.ID != "" && (runs < 2 || missed[limits.ID] < 1) {
			t.Errorf("rule %s has %d labelled runs and %d near misses that are not taken for it, want 2 and 1 at least", limits.ID, runs, missed[limits.ID])
		}
	}
}

// told returns the findings as lines.
func told(r Result) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "    %s %s: %s\n", f.Level, f.Rule, f.Title)
	}
	return b.String()
}

// checkTitle reports a title that names a level and a title over 100 characters: 90, and
// the times of one step or the name of what the window leaves out. Names in quotes can have any length.
func checkTitle(t *testing.T, title string) {
	t.Helper()
	parts := strings.Split(title, `"`)
	n := 0
	for i := 0; i < len(parts); i += 2 {
		n += utf8.RuneCountInString(parts[i])
	}
	if n > 100 || strings.Contains(title, "warn limit") || strings.Contains(title, "critical limit") {
		t.Errorf("title of %d characters: %s", n, title)
	}
}
