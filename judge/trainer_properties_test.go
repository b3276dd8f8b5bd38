package judge

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/analyze"
	"assay/analyze/phase"
	"assay/internal/test"
	"assay/internal/test/loggen"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/logs"
	"assay/logs/forms"
	"assay/summary"
)

// A trainerRun is a run whose truth is known: the share of the steady step of each kind of phase.
type trainerRun struct {
	starts [][]loggen.Step // by start of the program
	shares map[string]float64
	async  bool
}

// kindsOfRun are the timers of veRL of each kind that generated runs have.
var kindsOfRun = map[string][]string{"generation": {"gen"}, "training": {"update_actor", "update_critic"}, "log-probs": {"old_log_prob", "ref"}, "weight-sync": {"update_weights"}, "data": {"dataloader"}, "evaluation": {"testing"}}

// randomShares returns a share of the step for each kind of phase, and one for the rest.
func randomShares(r *rand.Rand) map[string]float64 {
	shares, sum := map[string]float64{}, 0.0
	for _, kind := range []struct {
		name string
		most float64
	}{{"generation", 6}, {"training", 5}, {"log-probs", 2}, {"weight-sync", 1}, {"data", 0.5}, {"evaluation", 1}, {"", 1}} {
		shares[kind.name] = kind.most * r.Float64()
		sum += shares[kind.name]
	}
	for kind := range shares {
		shares[kind] /= sum
	}
	return shares
}

// randomTrainerRun returns a run of steps that are alike but for 1% of noise, and of a first step of each start that
// compiles. The number of steps of each start is a multiple of every.
func randomTrainerRun(r *rand.Rand, every int) trainerRun {
	t := trainerRun{async: r.IntN(3) == 0}
	for t.shares == nil || !t.clear() {
		t.shares = randomShares(r)
	}
	kinds := slices.Sorted(maps.Keys(t.shares))
	step := 20 + 200*r.Float64()
	slow, nested := []float64{1, 1, 3, 8}[r.IntN(4)], r.IntN(2) == 0
	number := 0
	for range 1 + r.IntN(2) {
		var steps []loggen.Step
		for i := range every * (max(4, 12/every) + r.IntN(4)) {
			number++
			s := loggen.Step{Number: number, Seconds: step}
			for _, kind := range kinds {
				names := kindsOfRun[kind]
				for _, name := range names {
					s.Phases = append(s.Phases, loggen.Phase{Name: name, Seconds: t.shares[kind] * step / float64(len(names)) * (0.99 + 0.02*r.Float64())})
				}
			}
			if i == 0 { // the time of the first generation
				at := slices.IndexFunc(s.Phases, func(p loggen.Phase) bool { return p.Name == "gen" })
				s.Phases[at].Seconds += (slow - 1) * step
				s.Seconds *= slow
			}
			if nested { // calls in parallel
				s.Phases = append(s.Phases, loggen.Phase{Name: "agent_loop/model", Seconds: 0.9 * step * t.shares["generation"]}, loggen.Phase{Name: "agent_loop/tool", Seconds: 0.8 * step * t.shares["generation"]},
					loggen.Phase{Name: "agent_loop/turn/max", Seconds: step}, loggen.Phase{Name: "agent_loop/num_calls/mean", Seconds: 4711})
			}
			if t.async {
				s.Extra = []string{"fully_async/trainer/idle_ratio:" + fmt.Sprint(t.shares["generation"])}
			}
			steps = append(steps, s)
		}
		t.starts = append(t.starts, steps)
		number -= every * (9/every + 1) * (1 + r.IntN(2))
	}
	return t
}

// log returns the log with an interval, without the first steps of each start.
func (t trainerRun) log(every, without int) string {
	var all loggen.Trainer
	for _, steps := range t.starts {
		all.Steps = append(all.Steps, loggen.Trainer{Steps: steps[without:]}.Means(every).Steps...)
	}
	return all.VeRL()
}

// clear reports whether no share of a run is so near to a limit that the noise decides.
func (t trainerRun) clear() bool {
	limits := []float64{0.02, 0.05, 0.055, 0.1, 0.15, 0.165, 0.25, 0.3, 0.33, 0.4, 0.5, 0.6, 0.66, 0.75}
	for _, share := range t.shares {
		if slices.ContainsFunc(limits, func(limit float64) bool { return math.Abs(share-limit) < 0.012 }) {
			return false
		}
	}
	// Which of two phases decides must not hang on the noise either.
	sizes := slices.Sorted(func(yield func(float64) bool) {
		for _, s := range t.shares {
			if !yield(s) {
				return
			}
		}
	})
	for i := range sizes[1:] {
		if sizes[i+1]-sizes[i] < 0.004 {
			return false
		}
	}
	return true
}

// nearJobTime reports whether so much of a job is lost that the first step decides whether that is the verdict.
func nearJobTime(list []finding.Finding) bool {
	judged, _ := rule.DefaultThresholds().Rule(rule.JobTimeLost)
	return slices.ContainsFunc(list, func(f finding.Finding) bool {
		return (f.Rule == rule.JobTimeLost || f.Rule == rule.Restarts) && math.Abs(f.Value-judged.Critical) < 0.012
	})
}

// TestTrainerProperties: phases and the rest are the step; no share is over 100%; a logging interval does not change
// the verdict; and without its first step a run has the same verdict.
func TestTrainerProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	n := 30
	if test.Long() {
		n = 500
	}
	for done := range n {
		every := []int{2, 5, 10, 25, 100}[r.IntN(5)]
		run := randomTrainerRun(r, every)
		at := fmt.Sprintf("run %d, interval %d, async %t, %v", done, every, run.async, run.shares)
		single := given(run.log(1, 0))(t)
		checkShares(t, at, single)
		one := Judge(single, rule.DefaultThresholds())
		checkTexts(t, at, one)
		for kind, share := range run.shares {
			if kind == "generation" && run.async {
				kind = "wait"
			}
			if got := shareOf(single, kind); kind != "" && math.Abs(got-share) > 0.011*share+1e-9 {
				t.Errorf("%s: %s is %v", at, kind, got)
			}
		}
		means := given(run.log(every, 0))(t)
		checkShares(t, at, means)
		if nearJobTime(one.Findings) {
			continue
		}
		for name, other := range map[string]finding.Verdict{"interval": Judge(means, rule.DefaultThresholds()).Verdict, "no first step": Judge(given(run.log(1, 1))(t), rule.DefaultThresholds()).Verdict} {
			if other.Bound != one.Verdict.Bound || other.Rule != one.Verdict.Rule {
				t.Errorf("%s, %s: %s by %q (%s), want %s by %q (%s)", at, name, other.Bound, other.Rule, other.Sentence, one.Verdict.Bound, one.Verdict.Rule, one.Verdict.Sentence)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// shareOf returns the share of the own times of a kind of phases of the steps.
func shareOf(s *summary.Summary, kind string) (share float64) {
	for _, p := range s.Phases {
		if strings.Split(p.Path, "/")[0] == kind {
			share += float64(p.InSteps.OwnNS) / float64(p.InSteps.StepNS)
		}
	}
	return share
}

// checkShares checks that no phase is longer than its steps, and that phases of trainers that do not overlap sum to
// them at most.
func checkShares(t *testing.T, name string, s *summary.Summary) {
	t.Helper()
	type program struct {
		input    int
		producer string
	}
	sums, steps := map[program]int64{}, map[program]int64{}
	for _, p := range s.Phases {
		in := p.InSteps
		if p.Source != summary.SourceLog || in == nil {
			continue
		}
		if in.NS > in.StepNS || in.OwnNS > in.NS || in.OwnNS < 0 {
			t.Errorf("%s: %s: %+v", name, p.Path, in)
		}
		k := program{p.Input, p.Producer}
		sums[k], steps[k] = sums[k]+in.OwnNS, in.StepNS
	}
	for k, sum := range sums {
		if float64(sum) > 1.02*float64(steps[k]) {
			t.Errorf("%s: the phases of %s are %d ns of %d", name, k.producer, sum, steps[k])
		}
	}
	for _, r := range s.Series {
		if in := r.InSteps; in != nil && in.NS > in.StepNS {
			t.Errorf("%s: %s: %+v", name, r.Name, in)
		}
	}
}

// overAll is a share over 100% in a text, except of what may grow without limit.
var overAll = regexp.MustCompile(`\b([1-9]\d\d\.[1-9]|1\d\d\d+\.\d|10[1-9]\.\d|[2-9]\d\d\.\d)%`)

// checkTexts checks that no text of a verdict or a finding has a share over 100%. A step time may rise by more.
func checkTexts(t *testing.T, name string, r Result) {
	t.Helper()
	texts := []string{r.Verdict.Sentence}
	for _, f := range r.Findings {
		if f.Rule != rule.SlowerOverTime {
			texts = append(append(texts, f.Title), f.Evidence...)
		}
		if f.DenominatorNS > 0 && f.NumeratorNS > f.DenominatorNS && f.Rule != rule.WeightSyncTime && f.Rule != rule.SlowFirstToken && f.Rule != rule.SlowNextToken {
			t.Errorf("%s: %s: %d of %d", name, f.Title, f.NumeratorNS, f.DenominatorNS)
		}
	}
	for _, text := range texts {
		if m := overAll.FindString(text); m != "" {
			t.Errorf("%s: %s in %q", name, m, text)
		}
	}
}

// TestTrainersOfCorpus checks the same of all real logs.
func TestTrainersOfCorpus(t *testing.T) {
	dir := filepath.Join(test.Corpus(t), "series")
	trainers := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".log", ".txt", ".out"}, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || len(text) > 8<<20 {
			return err
		}
		log, err := forms.Read(bytes.NewReader(text), path, forms.Default(), logs.Limits{})
		if err != nil {
			return err
		}
		s := analyze.Series(log, summary.Input{Path: path}, analyze.Options{Phases: phase.Default()})
		checkShares(t, path, s)
		checkTexts(t, path, Judge(s, rule.DefaultThresholds()))
		if len(s.Steps) > 0 {
			trainers++
		}
		return nil
	})
	if err != nil || trainers < 10 {
		t.Errorf("%d logs of trainers: %v", trainers, err)
	}
}
