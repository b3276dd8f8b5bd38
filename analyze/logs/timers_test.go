package logs

import (
	"fmt"
	"strings"
	"testing"

	"assay/analyze/phase"
	"assay/internal/diag"
	"assay/logs"
	"assay/logs/forms"
	"assay/summary"
)

// TestTimersThatCannotBe: a time that is negative or no number, or longer than its step, is counted as an
// issue, whatever the program, and a time as long as its step is none.
func TestTimersThatCannotBe(t *testing.T) {
	for name, tc := range map[string]struct {
		line             func(i int) string
		impossible, over int64
		overSeverity     diag.Severity
	}{
		"right": {func(i int) string {
			return fmt.Sprintf("step:%d - timing_s/gen:%d.5 - timing_s/update_actor:2.5 - timing_s/step:%d.0", i, i+1, i+4)
		}, 0, 0, 0},
		"all of a step": {func(i int) string { return fmt.Sprintf("step:%d - timing_s/gen:7.004 - timing_s/step:7.0", i) }, 0, 0, 0},
		"zero":          {func(i int) string { return fmt.Sprintf("step:%d - timing_s/gen:0.0 - timing_s/step:7.0", i) }, 0, 0, 0},
		"negative": {func(i int) string {
			return fmt.Sprintf("step:%d - timing_s/gen:-3.5 - timing_s/update_actor:2.5 - timing_s/step:7.0", i)
		}, 8, 0, 0},
		"once negative": {func(i int) string {
			return fmt.Sprintf("step:%d - timing_s/gen:%d.5 - timing_s/update_actor:1.5 - timing_s/step:9.0", i, i-2)
		}, 1, 0, 0},
		"no number": {func(i int) string {
			return fmt.Sprintf("step:%d - timing_s/gen:nan - timing_s/update_actor:2.5 - timing_s/step:7.0", i)
		}, 8, 0, 0},
		"infinite": {func(i int) string {
			return fmt.Sprintf("step:%d - timing_s/gen:inf - timing_s/update_actor:2.5 - timing_s/step:7.0", i)
		}, 8, 0, 0},
		"negative steps": {func(i int) string { return fmt.Sprintf("step:%d - timing_s/gen:3.5 - timing_s/step:-7.0", i) }, 8, 0, 0},
		"always longer": {func(i int) string {
			return fmt.Sprintf("step:%d - timing_s/update_actor:9.0 - timing_s/gen:3.0 - timing_s/step:7.0", i)
		}, 0, 8, diag.Suspect},
		"once longer": {func(i int) string { // an evaluation after a step
			return fmt.Sprintf("step:%d - timing_s/testing:%d.0 - timing_s/gen:3.0 - timing_s/step:7.0", i, 1+20*(i/8))
		}, 0, 1, diag.Info},
	} {
		var text strings.Builder
		for i := 1; i <= 8; i++ {
			fmt.Fprintln(&text, tc.line(i))
		}
		log, err := forms.Read(strings.NewReader(text.String()), "run.log", forms.Default(), logs.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var issues diag.Ledger
		Measure(log, summary.Input{Path: "run.log"}, phase.Default(), 100, &issues)
		got := map[string]diag.Issue{}
		for _, is := range issues.Issues() {
			got[is.Code] = is
		}
		if n := got["timer-impossible"].Count; n != tc.impossible {
			t.Errorf("%s: %d times that cannot be, want %d", name, n, tc.impossible)
		}
		if is := got["timer-exceeds-step"]; is.Count != tc.over || is.Count > 0 && is.Severity != tc.overSeverity {
			t.Errorf("%s: %d times longer than the step (%v), want %d (%v)", name, is.Count, is.Severity, tc.over, tc.overSeverity)
		}
	}
}

// TestStepTimesApart: if a part of the steps takes hundreds of times as long as the rest are in doubt; a long
// evaluation now and then is not.
func TestStepTimesApart(t *testing.T) {
	repeat := func(a, b float64, every int) (out []float64) {
		for i := range 20 {
			v := a + a*float64(i)/50
			if (i+1)%every == 0 {
				v = b
			}
			out = append(out, v)
		}
		return out
	}
	for name, tc := range map[string]struct {
		times []float64
		want  int64
	}{
		"unit changes":      {repeat(.8e9, 800e9, 2), 10},
		"a quarter":         {repeat(800e6, 1e6, 4), 15},
		"rare":              {repeat(1e9, 900e9, 10), 0}, // two checkpoints
		"slow half":         {repeat(1e9, 90e9, 2), 0},   // evaluations
		"few":               {[]float64{1, 1e6, 1, 1e6}, 0},
		"without durations": {repeat(0, 5e9, 2), 0},
	} {
		if got := apart(tc.times); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

// TestStepsLongerThanTheLog: 20 steps of 45 s, which the log wrote 50 s apart, are in seconds; the same numbers in
// milliseconds are not, whatever the first step took. Logs without clocks, or written at once, do not show it.
func TestStepsLongerThanTheLog(t *testing.T) {
	const second = 1_000_000_000
	series := func(factor float64, apart int64, timed bool) *logs.Series {
		s := &logs.Series{N: 20}
		for i := range int64(20) {
			v := 45.0
			if i == 0 {
				v = 4000 // start-up
			}
			s.Points.Value = append(s.Points.Value, v*factor*second)
			if timed {
				s.Points.Time = append(s.Points.Time, 1_780_000_000*second+i*apart)
			}
		}
		return s
	}
	for name, tc := range map[string]struct {
		s    *logs.Series
		want int64
	}{
		"seconds":                     {series(1, 50*second, true), 0},
		"milliseconds":                {series(1000, 50*second, true), 20},
		"minutes":                     {series(60, 50*second, true), 20},
		"asynchronous, ten at a time": {series(10, 50*second, true), 0},
		"without times":               {series(1000, 0, false), 0},
		"written in one go":           {series(1, second/1000, true), 0},
		"of several starts":           {func() *logs.Series { s := series(1000, 50*second, true); s.Points.Run = make([]int32, 20); return s }(), 0},
	} {
		if got := tooLong(tc.s); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}
