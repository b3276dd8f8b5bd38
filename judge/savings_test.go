package judge

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// meanOf finds the number of GPUs in a title.
var meanOf = regexp.MustCompile(`mean of (\d+) GPUs`)

// savingsFit returns how the savings of a finding contradict its title and numbers, or "": a title with a
// mean has savings that are a mean over the same GPUs, and no finding saves more of a time than the share
// of it that the finding names.
func savingsFit(f finding.Finding) string {
	if f.GainNS == nil {
		return ""
	}
	if m := meanOf.FindStringSubmatch(f.Title); m != nil && m[1] != fmt.Sprint(f.GainGPUs) {
		return fmt.Sprintf("the title is a mean of %s GPUs, the savings of %d", m[1], f.GainGPUs)
	}
	if f.GainGPUs > 1 && strings.HasPrefix(f.GainOf, "the window of") {
		return "savings in the window of one GPU are shown as a mean"
	}
	if f.DenominatorNS == f.GainOfNS && *f.GainNS > f.NumeratorNS {
		return fmt.Sprintf("saves %d ns of %d, the finding has %d", *f.GainNS, f.GainOfNS, f.NumeratorNS)
	}
	return ""
}

// TestSavingsFitTitles: of labelled runs and of all captures of the corpus.
func TestSavingsFitTitles(t *testing.T) {
	seen := 0
	check := func(name string, r Result) {
		for _, f := range r.Findings {
			if seen++; savingsFit(f) != "" {
				t.Errorf("%s: %s %q: %s", name, f.Rule, f.Title, savingsFit(f))
			}
		}
	}
	for _, run := range labelledRuns() {
		th, err := rule.ParseThresholds([]byte(run.limits), "limits.yaml")
		if err != nil {
			t.Fatal(err)
		}
		check(run.name, Judge(run.in(t), th))
	}
	if seen < 100 {
		t.Errorf("%d findings, want 100 at least", seen)
	}
	t.Run("corpus", func(t *testing.T) {
		for _, dir := range []string{"kineto", "ranks"} {
			err := filepath.WalkDir(test.Corpus(t, dir), func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() && strings.HasSuffix(path, ".json.gz") {
					if s := anyCapture(t, path); s != nil {
						check(path, Judge(s, rule.DefaultThresholds()))
					}
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestSavingsOfTrainers: without steps, a phase is a share of the windows, and saves a part of them. A rule
// without savings has no denominator of any.
func TestSavingsOfTrainers(t *testing.T) {
	// Each GPU works for 10 ms of 200: 150 ms of generation, 50 ms of weight sync.
	s := &summary.Summary{Inputs: []summary.Input{{Path: "a", Complete: true}}}
	for i := range int64(3) {
		of := func(window, busy int64) (a summary.Activity) {
			a[0], a[summary.ClassCompute] = (window-busy)*ms, busy*ms
			return a
		}
		s.Devices = append(s.Devices, summary.Device{Device: i, WindowNS: 200 * ms, Activity: of(200, 10), Events: 500})
		for _, p := range []summary.Phase{{Path: "generation", Activity: of(150, 8)}, {Path: "weight-sync", Activity: of(50, 2)}} {
			p.Device, p.Total, p.Count = i, p.Activity, 3
			s.Phases = append(s.Phases, p)
		}
	}
	r := Judge(s, rule.DefaultThresholds())
	sync, generation := findingOf(r.Findings, rule.WeightSyncShare), findingOf(r.Findings, rule.GenerationShare)
	if sync == nil || generation == nil {
		t.Fatalf("%s", told(r))
	}
	if sync.GainNS == nil || sync.GainGPUs != 3 || *sync.GainNS/3 != 50*ms || sync.GainOf != "the GPU time of 3 GPUs" {
		t.Errorf("%q saves %v of %q on %d GPUs, want 50 ms on each of 3", sync.Title, sync.GainNS, sync.GainOf, sync.GainGPUs)
	}
	if generation.GainNS != nil || generation.GainGPUs != 0 || generation.GainOf != "" {
		t.Errorf("%q saves %v of %q", generation.Title, generation.GainNS, generation.GainOf)
	}
}

// TestEvidenceBySavings: a cause of a third of the idle time or more follows the largest cause, before gaps
// and steps; a smaller one comes last.
func TestEvidenceBySavings(t *testing.T) {
	for lost, want := range map[int64]int{250: 1, 110: -1} { // ms of 600; index in the evidence, -1 for the last lines
		s := one(600, 0, 0)
		s.Idle = []summary.Idle{{Owner: summary.OwnerLaunch, Count: 9, NS: 320 * ms}, {Owner: summary.OwnerDependency, Count: 9, NS: 280 * ms}}
		s.Syncs = []summary.Sync{{Calls: 50, HostNS: 300 * ms, LostNS: lost * ms, Longest: "cudaStreamSynchronize", MaxNS: 9 * ms}}
		f := findingOf(Judge(s, rule.DefaultThresholds()).Findings, rule.GPUIdle)
		if f == nil {
			t.Fatal("no idle time")
		}
		at := -1
		for i, line := range f.Evidence {
			if strings.HasPrefix(line, "GPU idle after synchronizing calls") {
				at = i
			}
		}
		if want < 0 && at < 2 || want >= 0 && at != want {
			t.Errorf("%d ms lost: line %d of %q", lost, at, f.Evidence)
		}
	}
}
