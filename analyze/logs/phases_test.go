package logs_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestTimersInParallel: timers within another one that ran in parallel share its time, and take no more
// than it does. In each step of 40 s, generation takes 20 s and has calls that add up to 60 s.
func TestTimersInParallel(t *testing.T) {
	var text strings.Builder
	for i := 1; i <= 6; i++ {
		fmt.Fprintf(&text, "step:%d - timing_s/agent_loop/tool:15.0 - timing_s/agent_loop/model:45.0 - timing_s/gen:20.0 - timing_s/update_actor:16.0 - timing_s/step:40.0\n", i)
	}
	s := seriesOf(t, text.String())
	for path, want := range map[string][2]int64{"generation": {6 * 20e9, 0}, "generation/agent_loop.tool": {6 * 5e9, 6 * 5e9}, "generation/agent_loop.model": {6 * 15e9, 6 * 15e9}, "training": {6 * 16e9, 6 * 16e9}} {
		if in := phaseOf(t, s, path).InSteps; in.NS != want[0] || in.OwnNS != want[1] || in.StepNS != 6*40e9 {
			t.Errorf("%s: %+v, want %d and %d of its own", path, in, want[0], want[1])
		}
	}
}

// TestTimerAroundOthers: of timers that together are longer than the step, one whose name says nothing and that is
// as long as the excess has others in it. Here everything_else has 12 s of training and 6 s of log-probs, and 2 s
// more.
func TestTimerAroundOthers(t *testing.T) {
	var text strings.Builder
	for i := 1; i <= 5; i++ {
		fmt.Fprintf(&text, "step:%d - timing_s/gen:10.0 - timing_s/everything_else:20.0 - timing_s/update_actor:12.0 - timing_s/old_log_prob:6.0 - timing_s/step:30.0\n", i)
	}
	s := seriesOf(t, text.String())
	if in := phaseOf(t, s, "everything_else").InSteps; in.OwnNS != 5*2e9 {
		t.Errorf("%+v, want 2 s of each step", in)
	}
	var sum int64
	for _, p := range s.Phases {
		sum += p.InSteps.OwnNS
	}
	if sum != 5*30e9 {
		t.Errorf("all phases: %d", sum)
	}
}

// TestRunsOutsideSteps: a run that is longer than its step was not within it, and others of the same timer were.
func TestRunsOutsideSteps(t *testing.T) {
	var text strings.Builder
	for i, eval := range []float64{2, 50, 3, 50} {
		fmt.Fprintf(&text, "step:%d - timing_s/gen:6.0 - timing_s/testing:%.1f - timing_s/step:10.0\n", i+1, eval)
	}
	p := phaseOf(t, seriesOf(t, text.String()), "evaluation")
	if p.OutsideNS != 100e9 || p.InSteps.NS != 5e9 || p.HostNS != 105e9 {
		t.Errorf("%+v %+v, want 100 s outside and 5 s inside", p, p.InSteps)
	}
}

// TestIntervals: records of a program with a logging interval stand for several steps; a record that is missing, and
// a first one after fewer steps, do not make them more.
func TestIntervals(t *testing.T) {
	line := func(n int, seconds float64) string {
		return fmt.Sprintf(" iteration %8d/    9999 | consumed samples: %d | elapsed time per iteration (ms): %.1f | lm loss: 9.0E+00 |\n", n, n, 1e3*seconds)
	}
	for _, tc := range []struct {
		numbers []int
		want    []int64
	}{
		{[]int{1, 2, 3, 4}, []int64{1, 1, 1, 1}},
		{[]int{20, 40, 60, 80}, []int64{20, 20, 20, 20}},
		{[]int{1, 20, 40, 60, 80}, []int64{1, 19, 20, 20, 20}},
		{[]int{1, 2, 3, 5, 6}, []int64{1, 1, 1, 1, 1}},
		{[]int{1010, 1020, 1040, 1050, 1060}, []int64{10, 10, 10, 10, 10}},
		{[]int{10, 20, 30, 25, 35, 45, 55}, []int64{10, 10, 10, 10, 10, 10, 10}},
	} {
		text := ""
		for _, n := range tc.numbers {
			text += line(n, 5)
		}
		s := seriesOf(t, text)
		for i, st := range s.Steps {
			if st.Covers() != tc.want[i] || st.WallNS != 5e9 {
				t.Errorf("%v: record %d has %d steps of %d ns, want %d", tc.numbers, st.Number, st.Covers(), st.WallNS, tc.want[i])
			}
		}
	}
}

// TestNumbersOfSamples: records of a step each, a second apart, whose numbers are samples: 32 in each step.
func TestNumbersOfSamples(t *testing.T) {
	for per, want := range map[int]int64{1: 1, 32: 32} {
		text := ""
		for i := 1; i <= 9; i++ {
			text += fmt.Sprintf(" [2026-04-02 10:%02d:%02d] iteration %8d/    9999 | consumed samples: 1 | elapsed time per iteration (ms): 1000.0 | lm loss: 9.0E+00 |\n", i*per/60, i*per%60, 32*i)
		}
		for _, st := range seriesOf(t, text).Steps {
			if st.Covers() != want {
				t.Errorf("%d s apart: %s has %d steps, want %d", per, st.Name, st.Covers(), want)
			}
		}
	}
}

// TestSharesWithoutWarmUp: the first step compiles for 90 s; the others are all alike.
func TestSharesWithoutWarmUp(t *testing.T) {
	text := "step:1 - timing_s/gen:95.0 - timing_s/update_actor:4.0 - timing_s/step:100.0\n"
	for i := 2; i <= 9; i++ {
		text += fmt.Sprintf("step:%d - timing_s/gen:5.0 - timing_s/update_actor:4.0 - timing_s/step:10.0\n", i)
	}
	p := phaseOf(t, seriesOf(t, text), "generation")
	if p.InSteps.Steps != 8 || p.InSteps.NS != 8*5e9 || p.InSteps.StepNS != 8*10e9 || p.HostNS != 135e9 {
		t.Errorf("%+v %+v, want half of 8 steps of 10 s", p, p.InSteps)
	}
}
