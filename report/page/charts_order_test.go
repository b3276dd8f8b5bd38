package page

import (
	"slices"
	"testing"

	"assay/summary"
)

// TestChartsInOrder: the time of steps is first, then phases by their time; speculation follows the throughput.
func TestChartsInOrder(t *testing.T) {
	s := &summary.Summary{Inputs: []summary.Input{{Path: "a.log"}}}
	add := func(name, metric, role string, each float64) {
		least, most, sum := each, each+1, 2*each+1
		s.Series = append(s.Series, summary.Series{Metric: metric, Name: name, Role: role, Producer: "x", N: 2, Min: &least, Max: &most, Sum: &sum,
			Strip: &summary.SeriesStrip{By: "step", X: []int64{1, 2}, Values: []float64{least, most}}})
	}
	add("accept", "spec.accept_length", "throughput", 2)
	add("adv", "step.phase", "time", 3)
	add("gen", "step.phase", "time", 60)
	add("step", "step.time", "time", 70)
	add("tokens", "throughput.output_tokens", "throughput", 1)
	add("update", "step.phase", "time", 7)
	var got []string
	for _, c := range charts(s) {
		got = append(got, c.Title)
	}
	want := []string{"step (step.time)", "gen (step.phase)", "update (step.phase)", "adv (step.phase)", "tokens (throughput.output_tokens)", "accept (spec.accept_length)"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
