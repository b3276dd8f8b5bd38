package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"assay/internal/stat"
	"assay/summary"
)

// A StepKind compares the steps of one kind, such as decode. Times are medians over steps and GPUs.
type StepKind struct {
	Kind      string `json:"kind"`
	BaseCount int64  `json:"base_count"` // steps; 0 if the side has none of this kind
	NewCount  int64  `json:"new_count"`
	// Sequences of the steps whose times are compared: the same number on both sides if enough steps have it, else the
	// medians of all steps; 0 if the markers do not state it.
	BaseSequences int64 `json:"base_sequences,omitempty"`
	NewSequences  int64 `json:"new_sequences,omitempty"`

	BaseNS  int64 `json:"base_ns,omitempty"`
	NewNS   int64 `json:"new_ns,omitempty"`
	DeltaNS int64 `json:"delta_ns,omitempty"` // NewNS - BaseNS, if the sides have as many sequences
}

// Alike reports whether both sides have steps of the kind, with as many sequences.
func (k *StepKind) Alike() bool {
	return k.BaseCount > 0 && k.NewCount > 0 && k.BaseSequences == k.NewSequences
}

// alikeSteps is the number of steps with as many sequences on both sides that are enough to compare only these.
const alikeSteps = 3

// stepKinds compares the steps of each kind. It returns nil if a side has no kinds: the steps of a trainer are all alike.
func (d *differ) stepKinds() (out []StepKind) {
	base, new := byKind(d.base.steps), byKind(d.new.steps)
	if len(base) == 0 || len(new) == 0 {
		return nil
	}
	var kinds []string
	for _, side := range []map[string][]summary.Step{base, new} {
		for kind := range side {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	for _, kind := range slices.Compact(kinds) {
		b, n := base[kind], new[kind]
		k := StepKind{Kind: kind, BaseCount: int64(len(b)), NewCount: int64(len(n))}
		if of := commonBatch(b, n); of > 0 {
			other := func(s summary.Step) bool { return s.Batch != of }
			b, n = slices.DeleteFunc(b, other), slices.DeleteFunc(n, other)
		}
		k.BaseNS, k.BaseSequences = medians(b)
		k.NewNS, k.NewSequences = medians(n)
		if k.Alike() {
			k.DeltaNS = k.NewNS - k.BaseNS
		}
		out = append(out, k)
	}
	slices.SortStableFunc(out, func(x, y StepKind) int {
		return cmp.Compare(max(y.BaseNS*y.BaseCount, y.NewNS*y.NewCount), max(x.BaseNS*x.BaseCount, x.NewNS*x.NewCount))
	})
	return out
}

// byKind returns the steps of each kind.
func byKind(steps []summary.Step) map[string][]summary.Step {
	out := map[string][]summary.Step{}
	for _, s := range steps {
		if s.Kind != "" {
			out[s.Kind] = append(out[s.Kind], s)
		}
	}
	return out
}

// commonBatch returns the number of sequences of most steps that both sides have, or 0 if few have it.
func commonBatch(base, new []summary.Step) (batch int64) {
	counts := map[int64][2]int{}
	for side, steps := range [][]summary.Step{base, new} {
		for _, s := range steps {
			n := counts[s.Batch]
			n[side]++
			counts[s.Batch] = n
		}
	}
	least := alikeSteps - 1
	for of, n := range counts {
		if c := min(n[0], n[1]); of > 0 && (c > least || c == least && batch > 0 && of < batch) {
			batch, least = of, c
		}
	}
	return batch
}

// medians returns the median time and number of sequences of steps.
func medians(steps []summary.Step) (ns, sequences int64) {
	var walls, batches []int64
	for _, s := range steps {
		walls, batches = append(walls, s.WallNS), append(batches, s.Batch)
	}
	if len(steps) == 0 {
		return 0, 0
	}
	return stat.Median(walls), stat.Median(batches)
}

// otherMix warns that the sides have other shares of the kinds of steps, if the mean step changes by this alone: a server runs more prefill
// steps if more requests arrive.
func (d *differ) otherMix() (Reason, bool) {
	c := d.c
	base, new := d.base.steps, d.new.steps
	if c.Per != PerStep || len(c.StepKinds) == 0 || len(base) == 0 || len(new) == 0 {
		return Reason{}, false
	}
	of := map[string]int64{}
	for _, s := range base {
		of[s.Kind] = summary.Plus(of[s.Kind], s.WallNS)
	}
	effect, worst, most := 0.0, StepKind{}, 0.0
	for _, k := range c.StepKinds {
		was, now := float64(k.BaseCount)/float64(len(base)), float64(k.NewCount)/float64(len(new))
		mean := float64(k.NewNS)
		if k.BaseCount > 0 {
			mean = float64(of[k.Kind]) / float64(k.BaseCount)
		}
		effect += (now - was) * mean
		if moved := max(now-was, was-now) * mean; moved > most {
			worst, most = k, moved
		}
	}
	delta := float64(size(c.Budget.DeltaNS))
	return Reason{"other-mix", Warn, fmt.Sprintf("%s steps are %d of %d in the base and %d of %d in the new run: this alone changes the mean step by %s, so compare the steps of each kind",
			worst.Kind, worst.BaseCount, len(base), worst.NewCount, len(new), Signed(int64(effect)))},
		math.Abs(effect) >= max(0.01*float64(c.Base.MeanNS), 0.3*delta)
}
