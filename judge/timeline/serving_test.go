package timeline

import (
	"math"
	"testing"

	"assay/summary"
)

const serveMS = 1_000_000

// group returns the group of some steps of one kind, each of which counts.
func group(steps []summary.Step) *stepGroup {
	g := new(stepGroup)
	for i := range steps {
		g.steps = append(g.steps, i)
	}
	g.measureBatches(steps)
	return g
}

// TestBatches: 3 decode steps of 16 sequences in 8 ms and 2 of 64 in 13 ms, 2 ms apart, make (48 + 128) tokens in
// 50 ms. A step of another kind between two of them is not time between steps.
func TestBatches(t *testing.T) {
	steps := []summary.Step{
		{Kind: "decode", Batch: 16, StartNS: 0, WallNS: 8 * serveMS}, {Kind: "decode", Batch: 16, StartNS: 10 * serveMS, WallNS: 8 * serveMS},
		{Kind: "decode", Batch: 64, Tokens: 64, StartNS: 20 * serveMS, WallNS: 13 * serveMS}, {Kind: "decode", Batch: 64, StartNS: 35 * serveMS, WallNS: 13 * serveMS},
		{Kind: "decode", Batch: 16, StartNS: 50 * serveMS, WallNS: 8 * serveMS},
	}
	g := group(steps)
	if g.Sequences != 16 || math.Abs(g.TokensPerS-176/0.050) > 1e-6 || g.BetweenNS == nil || *g.BetweenNS != 2*serveMS {
		t.Errorf("%d sequences, %v tokens/s, %v between steps, want 16, 3520, 2 ms", g.Sequences, g.TokensPerS, g.BetweenNS)
	}
	if len(g.Batches) != 2 || g.Batches[0].Steps != 3 || g.Batches[0].TokensPerS != 2000 || g.Batches[1].MedianNS != 13*serveMS {
		t.Errorf("batches %+v", g.Batches)
	}
	g = &stepGroup{steps: []int{0, 2, 4}} // 1 and 3 are of another kind
	if g.measureBatches(steps); g.BetweenNS != nil {
		t.Errorf("%d ns between steps that are not neighbors", *g.BetweenNS)
	}
}

// TestTokensNotKnown: nothing tells how many tokens the sequences get from steps that check tokens of a draft, and how
// many a prefill without lengths computes; one step without a batch leaves the rate open.
func TestTokensNotKnown(t *testing.T) {
	for name, steps := range map[string][]summary.Step{
		"speculative decode": {{Kind: "decode", Batch: 8, Tokens: 32, WallNS: serveMS}},
		"verify":             {{Kind: "verify", Batch: 8, Tokens: 32, WallNS: serveMS}},
		"draft":              {{Kind: "draft", Batch: 8, WallNS: serveMS}},
		"prefill":            {{Kind: "prefill", Batch: 2, WallNS: serveMS}},
		"one without batch":  {{Kind: "decode", Batch: 8, WallNS: serveMS}, {Kind: "decode", StartNS: 2 * serveMS, WallNS: serveMS}},
	} {
		if g := group(steps); g.TokensPerS != 0 || g.Sequences == 0 {
			t.Errorf("%s: %v tokens/s of %d sequences, want 0 of some", name, g.TokensPerS, g.Sequences)
		}
	}
	if g := group([]summary.Step{{Kind: "prefill", Batch: 2, Tokens: 3000, WallNS: 60 * serveMS}}); g.TokensPerS != 50_000 {
		t.Errorf("prefill: %v tokens/s, want 50000", g.TokensPerS)
	}
	if g := group([]summary.Step{{WallNS: serveMS}}); g.Batches != nil || g.Sequences != 0 {
		t.Errorf("a step of training has %+v", g.Batches)
	}
}
