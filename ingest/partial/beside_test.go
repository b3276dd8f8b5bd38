package partial

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"assay/analyze"
	"assay/analyze/classify"
	"assay/analyze/clocks"
	"assay/analyze/phase"
	"assay/internal/test/captures"
	"assay/internal/test/loggen"
	"assay/summary"
)

// monitored is a run of three steps. Generation uses the GPUs little, training much.
func monitored() loggen.Monitored {
	m := loggen.Monitored{GPUs: 2, Uses: map[string]loggen.Use{"generate": {Util: 31, Watts: 250, MiB: 40_000}, "train_critic_and_policy": {Util: 97, Watts: 640, MiB: 70_000}, "sync_weights": {Util: 8, Watts: 120, MiB: 70_000}}}
	m.Steps = loggen.Repeat(3, func(int) loggen.Step {
		return loggen.Step{Phases: []loggen.Phase{{Name: "generate", Seconds: 20}, {Name: "train_critic_and_policy", Seconds: 12}, {Name: "sync_weights", Seconds: 2}}}
	}).Steps
	return m
}

// joinTexts measures texts as files of one run. set has the clocks that the user states.
func joinTexts(t *testing.T, texts map[string]string, order []string, set map[string]clocks.Setting) *summary.Summary {
	t.Helper()
	return Join(partsOf(t, texts, order, set))
}

func partsOf(t *testing.T, texts map[string]string, order []string, set map[string]clocks.Setting) (all []Part) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range order {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(texts[name]), 0o600); err != nil {
			t.Fatal(err)
		}
		in := captures.Load(t, path)
		p, err := Measure(in, Options{Options: analyze.Options{Rules: classify.Default(), Phases: phase.Default(), StripBins: analyze.StripBins}, Clock: set[name]})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// mean returns the mean of a metric of all GPUs during a phase, and the samples.
func mean(s *summary.Summary, name, metric string) (float64, int64, bool) {
	for _, r := range s.Monitored {
		if r.Name == name && r.Step == nil && r.Metric == metric && r.Place == "" {
			if r.Mean == nil {
				return 0, r.Samples, false
			}
			return *r.Mean, r.Samples, true
		}
	}
	return 0, 0, false
}

// TestBeside: the mean of a phase is the use that the phase was given, whatever the form of
// the monitor and its clock, and nothing is known where it must not be.
func TestBeside(t *testing.T) {
	offset := func(text string) map[string]clocks.Setting {
		s, err := clocks.ParseSetting(text)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]clocks.Setting{"dmon.txt": s}
	}
	for _, c := range []struct {
		name    string
		change  func(*loggen.Monitored)
		text    func(loggen.Monitored) string
		set     map[string]clocks.Setting
		sync    bool // weight sync, of two seconds, has enough samples
		nothing bool
		left    string // why the monitor is joined with nothing
	}{
		{name: "dmon", text: loggen.Monitored.Dmon},
		{name: "query each second", text: loggen.Monitored.Query},
		{name: "query each 100 ms", text: loggen.Monitored.Query, change: func(m *loggen.Monitored) { m.Every = 100 * time.Millisecond }, sync: true},
		{name: "a clock that is ahead, corrected", text: loggen.Monitored.Dmon, change: func(m *loggen.Monitored) { m.Ahead = 7 * time.Second }, set: offset("-7s")},
		{name: "another zone, told", text: loggen.Monitored.Dmon, change: func(m *loggen.Monitored) { m.Zone = 2 * time.Hour }, set: offset("-2h")},
		{name: "another zone, not told", text: loggen.Monitored.Dmon, change: func(m *loggen.Monitored) { m.Zone = 2 * time.Hour }, nothing: true, left: summary.NoOverlap},
		{name: "samples as far apart as phases are long", text: loggen.Monitored.Query, change: func(m *loggen.Monitored) { m.Every = 20 * time.Second }, nothing: true},
		{name: "no line at the end of a phase", text: loggen.Monitored.Dmon, change: func(m *loggen.Monitored) { m.Undone = true }, nothing: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := monitored()
			if c.change != nil {
				c.change(&m)
			}
			s := joinTexts(t, map[string]string{"train.log": m.Log(), "dmon.txt": c.text(m)}, []string{"train.log", "dmon.txt"}, c.set)
			if len(s.Clocks) != 2 || s.Clocks[1].LeftOut != c.left {
				t.Fatalf("clocks are %+v, want 2, and the monitor left out for %q", s.Clocks, c.left)
			}
			for name, use := range m.Uses {
				known := !c.nothing && (name != "sync_weights" || c.sync)
				for metric, want := range map[string]float64{"gpu.util": float64(use.Util) / 100, "gpu.power": float64(use.Watts), "memory.used": float64(use.MiB) * (1 << 20)} {
					got, n, ok := mean(s, "timing/"+name, metric)
					if ok != known {
						t.Errorf("%s %s: known is %v with %d samples, want %v", name, metric, ok, n, known)
					}
					if ok && math.Abs(got-want) > 1e-9*want {
						t.Errorf("%s %s is %v, want %v", name, metric, got, want)
					}
				}
			}
		})
	}
}

// TestBesideSteps: a step has the mean of its phases by the time of the samples that are certainly
// within it; the first step has none, because nothing tells when it began.
func TestBesideSteps(t *testing.T) {
	m := monitored()
	m.Every = 250 * time.Millisecond
	s := joinTexts(t, map[string]string{"train.log": m.Log(), "q.csv": m.Query()}, []string{"q.csv", "train.log"}, nil)
	got := map[int64]float64{}
	for _, r := range s.Monitored {
		if r.Step != nil && r.Metric == "gpu.util" {
			got[*r.Step] = *r.Mean
		}
	}
	// Phases begin at a sample, so each step has all of its samples.
	want := (0.31*20 + 0.97*12 + 0.08*2) / 34
	if len(got) != 2 || math.Abs(got[2]-want) > 1e-9 || math.Abs(got[3]-want) > 1e-9 {
		t.Errorf("use of steps is %v, want %v for steps 2 and 3", got, want)
	}
}
