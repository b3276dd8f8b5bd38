package forms

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"

	"assay/logs"
)

// TestWandbSummary: the last values of a run, which were read from the file by eye.
func TestWandbSummary(t *testing.T) {
	text, err := os.ReadFile("testdata/wandb-summary.json")
	if err != nil {
		t.Fatal(err)
	}
	if !SniffWandbSummary(text) || SniffMetricsJSONL(text) || SniffWandbSummary([]byte(`{"step": 1}`)) {
		t.Error("not recognized")
	}
	log, err := ReadWandbSummary(bytes.NewReader(text), "wandb-summary.json", logs.Limits{})
	if err != nil || !log.Complete {
		t.Fatal(log, err)
	}
	for name, want := range map[string]float64{"run.time": 5400.5e9, "train.loss": 0.5, "step.phase": 10.5e9, "step.time": 20.5e9,
		"throughput.tokens_per_gpu": 321.4, "memory.peak": 24.5 * (1 << 30), "train.learning_rate": 1e-6} {
		if got := valuesOf(log, name); len(got) != 1 || math.Abs(got[0]-want) > 1e-9*want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	for _, s := range log.Series {
		if s.Metric.Name == "eval.loss" && (s.N != 0 || s.NaN != 1) {
			t.Errorf("%+v", s)
		}
		if s.N == 1 && s.Points.Step[0] != 100 || strings.Contains(s.As, "_wandb") || s.As == "runtime" || s.As == "note" {
			t.Errorf("%+v", s)
		}
	}
	log, err = ReadWandbSummary(bytes.NewReader(text[:80]), "cut", logs.Limits{})
	if err == nil || log.Complete {
		t.Errorf("%+v, %v", log, err)
	}
}

// TestMetricsJSONL: each line of a logger is a step.
func TestMetricsJSONL(t *testing.T) {
	text, err := os.ReadFile("testdata/metrics.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if !SniffMetricsJSONL(text) || SniffWandbSummary(text) {
		t.Error("not recognized")
	}
	for _, other := range []string{
		`{"id": 1, "prompt": "x"}` + "\n" + `{"id": 2, "prompt": "y"}`,
		`{"ph": "X", "ts": 1, "step": 3, "dur": 4}` + "\n" + `{"ph": "X", "ts": 2, "step": 3, "dur": 4}`,
		`{"step": 1, "text": "only a step"}` + "\n" + `{"step": 2}`,
		`{"step": 1, "loss": 2}`,
	} {
		if SniffMetricsJSONL([]byte(other)) {
			t.Errorf("taken for metrics: %s", other)
		}
	}
	log, err := ReadMetricsJSONL(bytes.NewReader(text), "metrics.jsonl", logs.Limits{})
	if err != nil || log.Lines != 3 || log.Records != 3 {
		t.Fatal(log, err)
	}
	if got := valuesOf(log, "train.loss"); len(got) != 3 || got[2] != 2 {
		t.Errorf("%v", got)
	}
	if got := valuesOf(log, "step.time"); len(got) != 3 || got[0] != 2.25e9 {
		t.Errorf("%v", got)
	}
	if got := valuesOf(log, "tokens"); len(got) != 2 || got[1] != 1010 {
		t.Errorf("%v", got)
	}
	if s := log.Series[0]; s.Points.Step[2] != 3 {
		t.Errorf("%+v", s)
	}
}

func FuzzObjects(f *testing.F) {
	for _, name := range []string{"testdata/wandb-summary.json", "testdata/metrics.jsonl"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		SniffWandbSummary(text)
		SniffMetricsJSONL(text)
		log, _ := ReadMetricsJSONL(bytes.NewReader(text), "fuzz", logs.Limits{})
		for _, s := range log.Series {
			if s.N > 0 && !(s.Min <= s.Max) {
				t.Errorf("%+v", s)
			}
		}
	})
}
