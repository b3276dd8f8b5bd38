package compare

import (
	"slices"
	"testing"

	"assay/summary"
)

// stepsOf returns a summary with steps, each with its kind, sequences and length in µs.
func stepsOf(list ...summary.Step) *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "a", Complete: true, Events: 1}}}
	at := int64(0)
	for i, st := range list {
		st.Number, st.StartNS, st.Marker = int64(i), at, "vLLM"
		st.WallNS *= 1000
		st.Activity[summary.ClassCompute] = st.WallNS
		at += st.WallNS
		s.Steps = append(s.Steps, st)
	}
	d := summary.Device{Name: "GPU", WindowNS: at}
	d.Activity[summary.ClassCompute] = at
	s.Devices = []summary.Device{d}
	return s
}

func step(kind string, sequences, us int64) summary.Step {
	return summary.Step{Kind: kind, Batch: sequences, WallNS: us}
}

func kindsOf(t *testing.T, base, new *summary.Summary) map[string]StepKind {
	t.Helper()
	c, err := Summaries(base, new, Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]StepKind{}
	for _, k := range c.StepKinds {
		out[k.Kind] = k
	}
	return out
}

// TestStepKinds: more prefill steps make the mean of all steps longer, though each kind is faster; decode steps are compared at the number
// of sequences that both sides have.
func TestStepKinds(t *testing.T) {
	base := stepsOf(step("prefill", 0, 900), step("decode", 16, 100), step("decode", 16, 104), step("decode", 16, 102), step("decode", 16, 103), step("decode", 8, 60))
	new := stepsOf(step("prefill", 0, 800), step("prefill", 0, 820), step("prefill", 0, 810), step("decode", 16, 90), step("decode", 16, 91), step("decode", 16, 95), step("decode", 24, 200))
	got := kindsOf(t, base, new)
	if want := (StepKind{Kind: "decode", BaseCount: 5, NewCount: 4, BaseSequences: 16, NewSequences: 16, BaseNS: 102_500, NewNS: 91_000, DeltaNS: -11_500}); got["decode"] != want {
		t.Errorf("got %+v, want %+v", got["decode"], want)
	}
	if want := (StepKind{Kind: "prefill", BaseCount: 1, NewCount: 3, BaseNS: 900_000, NewNS: 810_000, DeltaNS: -90_000}); got["prefill"] != want {
		t.Errorf("got %+v, want %+v", got["prefill"], want)
	}
}

// TestOtherBatches: steps with other numbers of sequences have no difference, and kinds that a side lacks none either.
func TestOtherBatches(t *testing.T) {
	got := kindsOf(t, stepsOf(step("decode", 32, 100), step("decode", 32, 100), step("decode", 32, 100)),
		stepsOf(step("decode", 48, 120), step("decode", 48, 120), step("decode", 48, 120), step("mixed", 4, 300)))
	if k := got["decode"]; k.Alike() || k.DeltaNS != 0 || k.BaseSequences != 32 || k.NewSequences != 48 || k.NewNS != 120_000 {
		t.Errorf("decode: %+v", k)
	}
	if k := got["mixed"]; k.Alike() || k.DeltaNS != 0 || k.BaseCount != 0 || k.NewCount != 1 {
		t.Errorf("mixed: %+v", k)
	}
	if got := kindsOf(t, stepsOf(step("", 0, 100)), stepsOf(step("", 0, 120))); len(got) != 0 {
		t.Errorf("a trainer: %+v", got)
	}
}

// TestOtherMix: of 10 decode and 0 to 5 prefill steps, the mean changes by the mix alone; with as many of each it does not.
func TestOtherMix(t *testing.T) {
	many := func(prefill int, us int64) *summary.Summary {
		list := []summary.Step{step("prefill", 0, 10*us)}
		for range 10 {
			list = append(list, step("decode", 16, us))
		}
		for range prefill {
			list = append(list, step("prefill", 0, 10*us))
		}
		return stepsOf(list...)
	}
	has := func(base, new *summary.Summary, code string) bool {
		c, err := Summaries(base, new, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(c.Reasons, func(r Reason) bool { return r.Code == code })
	}
	if !has(many(0, 100), many(5, 95), "other-mix") || has(many(0, 100), many(5, 95), "few-steps-differ") {
		t.Error("six prefill steps instead of one: the mix is not the reason")
	}
	if has(many(2, 100), many(2, 150), "other-mix") {
		t.Error("the same mix is a reason")
	}
}
