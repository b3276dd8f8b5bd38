package judge

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/analyze"
	"assay/analyze/ranks"
	"assay/analyze/ranks/collective"
	"assay/internal/test"
	"assay/internal/test/blind"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/trace"
)

// TestBlind judges programs that were simulated with their cause and without it. A cause
// that costs 15% of the window must be the first finding, and what to do about it the
// first advice. A cause that costs less than 5% must not be reported as a problem. With
// -v it prints every verdict.
func TestBlind(t *testing.T) {
	var asked, bounds, rules, steps, quiet, calm int
	for _, st := range blind.Stories() {
		run := blind.Simulate(st)
		s := measured(t, st.Name, run.Files)
		sameParts(t, st.Name, s, run.Parts)
		r := Judge(s, rule.DefaultThresholds())
		first := r.Findings[0]
		t.Logf("%-22s %5.1f%% %s-bound, %s: %s", st.Name, 100*run.Share(), r.Verdict.Bound, first.Rule, firstStep(first))
		switch share := run.Share(); {
		case share >= 0.15:
			asked++
			bounds += count(t, slices.Contains(st.Bound, string(r.Verdict.Bound)), st, r, "the verdict is %s, want %v", r.Verdict.Bound, st.Bound)
			rules += count(t, named(st, r), st, r, "the first finding is %s, want %v", first.Rule, st.Rules)
			at := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return slices.Contains(st.Rules, f.Rule) })
			if at >= 0 {
				steps += count(t, slices.Contains(st.Steps, firstStep(r.Findings[at])), st, r, "the first advice is %s, want %v", firstStep(r.Findings[at]), st.Steps)
			}
		case share < 0.05:
			quiet++
			i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool {
				return f.Level > finding.Info && slices.Contains(st.Quiet(), f.Rule)
			})
			calm += count(t, i < 0, st, r, "%.1f%% of the window is named as a problem", 100*share)
		}
	}
	t.Logf("%d causes that must be named: verdict %d, first finding %d, first advice %d; %d that must not, %d were not", asked, bounds, rules, steps, quiet, calm)
	if asked < 60 || quiet < 25 {
		t.Errorf("%d and %d stories; the test tests little", asked, quiet)
	}
}

// named reports whether a result names the cause of a story: by its first finding, or, if
// the shares leave it out, by a finding that says so.
func named(st blind.Story, r Result) bool {
	if !st.LeftOut {
		return slices.Contains(st.Rules, r.Findings[0].Rule)
	}
	return slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Level > finding.Info && slices.Contains(st.Rules, f.Rule) })
}

func count(t *testing.T, ok bool, st blind.Story, r Result, format string, args ...any) int {
	t.Helper()
	if !ok {
		t.Errorf("%s: %s\n%s", st.Name, fmt.Sprintf(format, args...), told(r))
		return 0
	}
	return 1
}

func firstStep(f finding.Finding) string {
	if len(f.Next) == 0 {
		return ""
	}
	return f.Next[0].ID
}

// TestBlindWithout takes the cause away: what is found then is not the cause, and findings
// on the other parts of the window stay what they are.
func TestBlindWithout(t *testing.T) {
	tested := 0
	for i, st := range blind.Stories() {
		if i%test.Every(4) != 0 {
			continue
		}
		run := blind.Simulate(st)
		if run.Share() < 0.15 || st.Stays {
			continue
		}
		tested++
		with := Judge(measured(t, st.Name, run.Files), rule.DefaultThresholds())
		without := Judge(measured(t, st.Name, blind.Clean(st)), rule.DefaultThresholds())
		for _, f := range without.Findings {
			if f.Level > finding.Info && slices.Contains(st.Rules, f.Rule) {
				t.Errorf("%s: %s without its cause\n%s", st.Name, f.Rule, told(without))
			}
		}
		of := partsOfRules(with.Tree)
		own := of[with.Findings[0].Rule]
		for _, f := range with.Findings[1:] {
			other := len(of[f.Rule]) > 0 && !slices.ContainsFunc(of[f.Rule], func(p string) bool { return slices.Contains(own, p) })
			if other && !slices.Contains(st.Also, f.Rule) && f.Level > finding.Info && findingOf(without.Findings, f.Rule) == nil {
				t.Errorf("%s: %s goes with the cause\n%s\nand\n%s", st.Name, f.Rule, told(with), told(without))
			}
		}
	}
	if tested < 55/test.Every(4) {
		t.Errorf("%d stories; the test tests little", tested)
	}
}

// measured reads the traces of all ranks and adds them up.
func measured(t *testing.T, name string, files [][]byte) *summary.Summary {
	t.Helper()
	var all []*summary.Summary
	var members []ranks.Member
	for rank, text := range files {
		tr, err := trace.Read(bytes.NewReader(text), name, analyze.Needs())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		opt := analyze.DefaultOptions()
		opt.Collectives = func(device int64, c *collective.Columns) {
			members = append(members, ranks.Member{Input: rank, Rank: rank, Device: device, Columns: c})
		}
		all = append(all, analyze.Trace(tr, summary.Input{Path: fmt.Sprintf("%s/rank%d.json", name, rank), Format: "kineto", Rank: rank}, opt))
	}
	s := summary.Merge(all...)
	if job := ranks.Match(members); job != nil {
		job.AddTo(s)
	}
	return s
}

// sameParts compares the parts of the window with those of the simulator.
func sameParts(t *testing.T, name string, s *summary.Summary, want blind.Parts) {
	t.Helper()
	var got blind.Parts
	for _, d := range s.Devices {
		got.Window += d.Activity.Window()
		got.Compute += d.Activity.Compute()
		got.Comm += d.Activity.ExposedComm()
		got.Copies += d.Activity.ExposedCopy()
		got.Idle += d.Activity.Idle()
	}
	if got != want {
		t.Errorf("%s: parts are %+v, the simulator has %+v", name, got, want)
	}
}

// TestBlindParts: the first finding is of the part that decides, and the parts of the tree
// are those of the simulator unless the shares leave something out.
func TestBlindParts(t *testing.T) {
	tested := 0
	for i, st := range blind.Stories() {
		if i%test.Every(4) != 0 {
			continue
		}
		run := blind.Simulate(st)
		r := Judge(measured(t, st.Name, run.Files), rule.DefaultThresholds())
		if withoutWarmUp(r) {
			continue
		}
		tested++
		want := map[string]int64{tree.PartIdle: run.Parts.Idle, tree.PartComm: run.Parts.Comm, tree.PartCopies: run.Parts.Copies, tree.PartCompute: run.Parts.Compute}
		for _, n := range r.Tree {
			if ns, ok := want[n.Part]; ok && n.OfNS > 0 && n.NS != ns {
				t.Errorf("%s: %s has %d ns, the simulator %d", st.Name, n.Part, n.NS, ns)
			}
		}
		if strings.TrimSpace(r.Findings[0].Title) == "" {
			t.Errorf("%s: no title", st.Name)
		}
	}
	if tested < 110/test.Every(4) {
		t.Errorf("%d stories; the test tests little", tested)
	}
}
