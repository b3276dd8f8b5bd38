package logs_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/summary"
)

// phaseOf returns the row of a phase.
func phaseOf(t *testing.T, s *summary.Summary, path string) summary.Phase {
	t.Helper()
	for _, p := range s.Phases {
		if p.Path == path {
			return p
		}
	}
	t.Fatalf("no phase %s in %+v", path, s.Phases)
	return summary.Phase{}
}

// TestPhasesInSteps: a phase is compared with the steps that have both a time and a phase.
// The truth is added up from what each step states.
func TestPhasesInSteps(t *testing.T) {
	var text strings.Builder
	var stepNS, genNS, evalNS, steps int64
	for i := 1; i <= 30; i++ {
		gen, test := int64(3+i%4), int64(0)
		line := fmt.Sprintf("step:%d", i)
		if i%7 != 0 { // a step without phases
			line += fmt.Sprintf(" - timing_s/gen:%d.0", gen)
			if i%5 == 0 {
				test = 2
				line += " - timing_s/testing:2.0"
			}
		}
		if i%3 == 0 { // a step with its time
			line += " - timing_s/step:10.0"
		}
		if i%3 == 0 && i%7 != 0 {
			steps, stepNS, genNS, evalNS = steps+1, stepNS+10e9, genNS+gen*1e9, evalNS+test*1e9
		}
		text.WriteString(line + " - actor/lr:1e-06\n")
	}
	s := seriesOf(t, text.String())
	for path, want := range map[string]int64{"generation": genNS, "evaluation": evalNS} {
		in := phaseOf(t, s, path).InSteps
		if in == nil || in.Steps != steps || in.StepNS != stepNS || in.NS != want || in.OwnNS != want {
			t.Errorf("%s: %+v, want %d steps of %d ns with %d ns", path, in, steps, stepNS, want)
		}
	}
	if in := rowOf(t, s, "timing_s/gen", false).InSteps; in == nil || in.NS != genNS {
		t.Errorf("timer: %+v, want %d ns", in, genNS)
	}
	if p := phaseOf(t, s, "generation"); p.HostNS <= genNS || p.Count != 26 {
		t.Errorf("all generation: %+v", p)
	}
}

// TestPhasesInOwnSteps: a timer within another one is taken from its own time in the same steps, and
// phases of one program are not compared with steps of another.
func TestPhasesInOwnSteps(t *testing.T) {
	s := seriesOf(t, `x | skyrl_train.utils.tracking:log:1 - Step 1: 
{'timing/policy_train': '3.0',
 'timing/generate': '5.0',
 'timing/step': '10.0',
 'trainer/global_step': 1}
x | skyrl_train.utils.tracking:log:1 - Step 2: 
{'timing/policy_train': '3.0',
 'timing/generate': '5.0',
 'trainer/global_step': 2}
step:1 - timing_s/gen:4.0 - timing_s/update_actor:4.0
`)
	for _, r := range s.Series {
		if r.Name == "timing/generate" && (r.InSteps == nil || r.InSteps.Steps != 1 || r.InSteps.NS != 5e9 || r.InSteps.StepNS != 10e9) {
			t.Errorf("%+v", r.InSteps)
		}
		if r.Name == "timing_s/gen" && r.InSteps != nil && r.InSteps.NS > r.InSteps.StepNS {
			t.Errorf("%+v", r.InSteps)
		}
	}
}

// TestSetupIsNoPhase: timers of the setup, which are printed before the first step, take no part of the
// steps.
func TestSetupIsNoPhase(t *testing.T) {
	text := "time (ms) | load-the-data: 16588.2 | build-the-model: 343.1\n"
	for i := 1; i <= 6; i++ {
		text += fmt.Sprintf(" iteration %8d/     100 | consumed samples: %d | elapsed time per iteration (ms): 2000.0 | learning rate: 1.5E-04 | lm loss: 9.0E+00 |\n", i, i)
	}
	s := seriesOf(t, text)
	if len(s.Phases) == 0 {
		t.Fatal("no timers")
	}
	for _, p := range s.Phases {
		if p.InSteps == nil || p.InSteps.NS != 0 || p.HostNS == 0 {
			t.Errorf("%s: %+v of %d ns", p.Path, p.InSteps, p.HostNS)
		}
	}
}
