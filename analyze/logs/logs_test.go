package logs_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/analyze"
	"assay/internal/test"

	"assay/analyze/phase"
	"assay/logs"
	"assay/logs/forms"
	"assay/summary"
)

// seriesOf measures a log.
func seriesOf(t *testing.T, text string) *summary.Summary {
	t.Helper()
	log, err := forms.Read(strings.NewReader(text), "test.log", forms.Default(), logs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	s := analyze.Series(log, summary.Input{Path: "test.log"}, analyze.Options{Phases: phase.Default()})
	var b strings.Builder
	if err := summary.Write(&b, s, "", struct{}{}); err != nil {
		t.Fatal(err)
	}
	if _, err := summary.Read(strings.NewReader(b.String()), "test.json"); err != nil {
		t.Fatalf("the summary cannot be read again: %v", err)
	}
	return s
}

// rowOf returns the row of a metric, or of a producer's name.
func rowOf(t *testing.T, s *summary.Summary, name string, pooled bool) summary.Series {
	t.Helper()
	for _, r := range s.Series {
		if (r.Metric == name || r.Name == name) && r.Pooled > 0 == pooled {
			return r
		}
	}
	t.Fatalf("no row of %s", name)
	return summary.Series{}
}

// TestSeriesOfVeRL: without a time of the step it is the sum of its phases, and phases of
// one name are added up.
func TestSeriesOfVeRL(t *testing.T) {
	s := seriesOf(t, "step:1 - timing/gen:10.0 - timing/ref:2.0 - timing/values:3.0\nstep:2 - timing/gen:20.0 - timing/ref:2.0 - timing/values:3.0 - timing/testing:7.0\n")
	if len(s.Steps) != 2 || s.Steps[0].WallNS != 15e9 || s.Steps[1].WallNS != 32e9 || s.Steps[1].Number != 2 || s.Steps[0].Source != summary.SourceLog || s.Steps[0].Device != summary.NoDevice {
		t.Errorf("%+v", s.Steps)
	}
	if r := rowOf(t, s, "step.time", false); r.Derived == "" || *r.Median != 23.5e9 || r.N != 2 {
		t.Errorf("%+v", r)
	}
	got := map[string][2]int64{}
	for _, p := range s.Phases {
		got[p.Path] = [2]int64{p.Count, p.HostNS}
	}
	want := map[string][2]int64{"generation": {2, 30e9}, "log-probs": {4, 10e9}, "evaluation": {1, 7e9}}
	if len(got) != len(want) || got["generation"] != want["generation"] || got["log-probs"] != want["log-probs"] || got["evaluation"] != want["evaluation"] {
		t.Errorf("%v, want %v", got, want)
	}
	if r := rowOf(t, s, "timing/gen", false); r.Labels["phase"] != "generation" {
		t.Errorf("%+v", r)
	}
}

// TestSeriesNested: a timer within one of the same phase is part of it, and the time of
// the outer one without that of others is its own.
func TestSeriesNested(t *testing.T) {
	// Trap: nested phases.
	s := seriesOf(t, "x | skyrl_train.utils.tracking:log:1 - Step 7: \n{'timing/policy_train': '3.0',\n 'timing/train_critic_and_policy': '4.0',\n 'timing/step': '9.0',\n 'trainer/global_step': 7}\n")
	if len(s.Phases) != 1 || s.Phases[0].Path != "training" || s.Phases[0].HostNS != 4e9 || s.Phases[0].Count != 1 {
		t.Errorf("%+v", s.Phases)
	}
	if r := rowOf(t, s, "timing/policy_train", false); r.Inside != "timing/train_critic_and_policy" {
		t.Errorf("%+v", r)
	}
	if len(s.Steps) != 1 || s.Steps[0].WallNS != 9e9 {
		t.Errorf("%+v", s.Steps)
	}
}

// TestSeriesFirst: the first step, which has the start-up, is separate.
func TestSeriesFirst(t *testing.T) {
	// Trap: first iterations.
	text := ""
	for i, ms := range []string{"444692.3", "92627.0", "92600.0", "92653.0"} {
		text += " iteration        " + string(rune('1'+i)) + "/    1000 | elapsed time per iteration (ms): " + ms + " | lm loss: 1.0 |\n"
	}
	r := rowOf(t, seriesOf(t, text), "step.time", false)
	if *r.First != 444692.3e6 || math.Abs(*r.After-92626.66667e6) > 1e4 || *r.Median != 92640e6 || *r.MAD != 26.5e6 || *r.Min != 92600e6 {
		t.Errorf("first %v, mean after %v, median %v, mad %v", *r.First, *r.After, *r.Median, *r.MAD)
	}
}

// TestSeriesTogether: rates of several ranks add up, and the worst time counts; percentiles
// and shares are not combined.
func TestSeriesTogether(t *testing.T) {
	line := "[2026-01-04 05:01:1%s DP%s TP0] Decode batch, #running-req: %s, token usage: 0.%s, gen throughput (token/s): %s0.0, #queue-req: 0\n"
	text := ""
	for _, v := range [][5]string{{"0", "0", "3", "5", "10"}, {"1", "1", "4", "7", "20"}, {"2", "0", "3", "5", "12"}, {"3", "1", "4", "7", "24"}} {
		l := line
		for _, x := range v {
			l = strings.Replace(l, "%s", x, 1)
		}
		text += l
	}
	s := seriesOf(t, text)
	if r := rowOf(t, s, "throughput.output_tokens", true); r.Pooled != 2 || r.N != 4 || *r.Together != 110+220 || *r.Median != 160 || r.Labels["phase"] != "decode" || r.Labels["dp"] != "" {
		t.Errorf("%+v, together %v", r, *r.Together)
	}
	if r := rowOf(t, s, "kv_cache.usage", true); r.Together != nil || *r.Max != 0.7 {
		t.Errorf("%+v", r)
	}
	r := rowOf(t, s, "requests.running", false)
	if r.Labels["dp"] != "0" || *r.FirstNS != 0 || *r.LastNS != 2e9 || r.Strip.By != "time" || len(r.Strip.X) != 2 {
		t.Errorf("%+v", r)
	}
	if s.Inputs[0].SpanNS != 0 || s.Inputs[0].BaseTimeNS != nil || s.Inputs[0].Events != 4 {
		t.Errorf("%+v", s.Inputs[0])
	}
}

// TestSeriesMissing: a metric whose values are all infinite has no statistics, and no zero.
func TestSeriesMissing(t *testing.T) {
	// Trap: missing is not zero.
	s := seriesOf(t, "[rank7]:[titan] step: 20  loss: 11.7  grad_norm:  inf  memory: 24.00GiB(77.00%)  tps: 4,454  tflops: 10.71  mfu: 3.43%\n")
	r := rowOf(t, s, "train.grad_norm", false)
	if r.N != 0 || r.Infinite != 1 || r.Median != nil || r.Max != nil || r.Strip != nil {
		t.Errorf("%+v", r)
	}
}

// TestSeriesStrip: pictures have a bounded number of points, with the extremes of each.
func TestSeriesStrip(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		v := "5.0"
		if i == 500 {
			v = "99.0"
		}
		b.WriteString("step:" + fmt.Sprintf("%03d", i) + " - timing_s/step:" + v + "\n")
	}
	st := rowOf(t, seriesOf(t, b.String()), "step.time", false).Strip
	if len(st.X) != summary.MaxStrip || st.By != "step" || st.X[0] != 0 || st.X[127] != 992 {
		t.Errorf("%d points by %s, the last of step %d", len(st.X), st.By, st.X[len(st.X)-1])
	}
	highest := 0.0
	for i, v := range st.High {
		highest = max(highest, v)
		if st.Low[i] != 5e9 || st.Values[i] != 5e9 {
			t.Errorf("group %d: %v to %v, median %v", i, st.Low[i], v, st.Values[i])
		}
	}
	if highest != 99e9 {
		t.Errorf("the highest is %v", highest)
	}
}

// TestSeriesReal: the totals of phases of a real log are those that another program has.
func TestSeriesReal(t *testing.T) {
	files := test.Files(t, filepath.Join(test.Corpus(t, "series"), "verl", "*", "Qwen*.log"))
	if len(files) != 1 {
		t.Fatalf("%d files", len(files))
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	s := seriesOf(t, string(text))
	var total int64
	for _, st := range s.Steps {
		total += st.WallNS
	}
	if len(s.Steps) != 435 || math.Abs(float64(total)-31288.271e9) > 1e7 {
		t.Errorf("%d steps, %d ns", len(s.Steps), total)
	}
	for _, p := range s.Phases {
		if p.Path == "generation" && math.Abs(float64(p.HostNS)-7780.356e9) > 1e7 {
			t.Errorf("%+v", p)
		}
	}
}
