package timeline

import (
	"cmp"
	"maps"
	"slices"

	"assay/internal/stat"
	"assay/summary"
)

// A StepBatch has the steps of a kind with one number of sequences, of those that count.
type StepBatch struct {
	Sequences  int64   `json:"sequences"`
	Steps      int64   `json:"steps"`
	MedianNS   int64   `json:"median_ns"`
	TokensPerS float64 `json:"tokens_per_s,omitempty"` // see [StepGroup.TokensPerS]
}

// measureBatches sets what depends on the numbers of sequences and tokens in the markers of steps, and the time
// between steps.
func (g *stepGroup) measureBatches(steps []summary.Step) {
	byBatch := map[int64][]int{}
	for _, i := range g.steps {
		if n := steps[i].Batch; n > 0 {
			byBatch[n] = append(byBatch[n], i)
		}
	}
	if len(byBatch) == 0 {
		return
	}
	for n, list := range byBatch {
		g.Batches = append(g.Batches, StepBatch{Sequences: n, Steps: int64(len(list)), TokensPerS: tokensPerS(steps, list),
			MedianNS: stat.MedianBy(list, func(i int) int64 { return steps[i].WallNS })})
	}
	slices.SortFunc(g.Batches, func(a, b StepBatch) int { return cmp.Compare(a.Sequences, b.Sequences) })
	known := slices.Concat(slices.Collect(maps.Values(byBatch))...)
	slices.Sort(known)
	g.Sequences = stat.MedianBy(known, func(i int) int64 { return steps[i].Batch })
	if len(known) == len(g.steps) {
		g.TokensPerS = tokensPerS(steps, known)
	}
	g.BetweenNS = between(steps, g.steps)
}

// decodeKind is the kind of steps in which each sequence gets its next token.
const decodeKind = "decode"

// tokensOf returns the tokens that a step computes, or 0 if they are not known. A sequence that decodes
// gets one token. If a decode step computes more, it checks tokens and may reject some of them, and if it
// is one of a draft model or checks its tokens, the marker does not tell how many the sequences get.
func tokensOf(st *summary.Step) int64 {
	switch st.Kind {
	case decodeKind:
		if st.Tokens > 0 && st.Tokens != st.Batch {
			return 0
		}
		return st.Batch
	case "prefill", "mixed":
		return st.Tokens
	}
	return 0
}

// tokensPerS returns the tokens of steps over their time, or 0 if those of one of them are not known.
func tokensPerS(steps []summary.Step, list []int) float64 {
	tokens, ns := 0.0, 0.0
	for _, i := range list {
		n := tokensOf(&steps[i])
		if n == 0 {
			return 0
		}
		tokens, ns = tokens+float64(n), ns+float64(steps[i].WallNS)
	}
	if ns == 0 {
		return 0
	}
	return tokens / (ns / 1e9)
}

// between returns the median time from the end of a step to the start of the next one of its GPU, if that is of
// the same kind, or nil if there are none. steps[list] are ordered by GPU and time.
func between(steps []summary.Step, list []int) *int64 {
	var gaps []int64
	for n := 1; n < len(list); n++ {
		a, b := &steps[list[n-1]], &steps[list[n]]
		if list[n] != list[n-1]+1 || a.Input != b.Input || a.Rank != b.Rank || a.Device != b.Device {
			continue // another step is between them
		}
		gaps = append(gaps, max(0, b.StartNS-a.StartNS-a.WallNS))
	}
	if len(gaps) == 0 {
		return nil
	}
	median := stat.Median(gaps)
	return &median
}
