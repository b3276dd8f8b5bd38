package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"assay/judge"
	"assay/judge/rule"
	"assay/summary"
	"assay/window"
)

// A windowing holds the flags that narrow a capture to a part of its time.
type windowing struct {
	step, phase, from, to string
	steady                bool
	skip                  int
}

func (w *windowing) register(flags *pflag.FlagSet) {
	flags.StringVar(&w.step, "step", "", "measure `STEPS` only: a number as in 3, or a range as in 3-5")
	flags.BoolVar(&w.steady, "steady", false, "measure from the first to the last steady step: without warm-up and partial steps")
	flags.IntVar(&w.skip, "ignore-first", 0, "leave out the first `N` steps of each input, in which programs compile; for logs of trainers too")
	flags.StringVar(&w.phase, "phase", "", "measure the longest run of the phase `NAME` only, of the steps that are measured")
	flags.StringVar(&w.from, "from", "", "measure from `TIME` on: since the start of the capture (1.2s), the ts of an event (ts:4904305.219) or a date")
	flags.StringVar(&w.to, "to", "", "measure up to `TIME`")
}

// request returns what the flags ask for, or nil if that is all of each capture.
func (w *windowing) request() (*window.Request, error) {
	r := &window.Request{Phase: w.phase, Steady: w.steady, Skip: w.skip}
	if w.skip < 0 {
		return nil, fmt.Errorf("--ignore-first is %d, want a number of steps", w.skip)
	}
	var err error
	if w.step != "" {
		r.Steps = true
		if r.First, r.Last, err = window.ParseSteps(w.step); err != nil {
			return nil, fmt.Errorf("--step: %w", err)
		}
	}
	for _, t := range []struct {
		flag, text string
		to         *window.Time
	}{{"--from", w.from, &r.From}, {"--to", w.to, &r.To}} {
		if t.text == "" {
			continue
		}
		if *t.to, err = window.ParseTime(t.text); err != nil {
			return nil, fmt.Errorf("%s: %w", t.flag, err)
		}
	}
	if r.All() {
		return nil, nil
	}
	return r, nil
}

// steady reports of each step of a summary whether it is neither warm-up nor partial.
func steady(s *summary.Summary) []bool {
	return judge.Judge(s, rule.DefaultThresholds()).SteadySteps()
}
