package metric

import (
	"testing"

	"assay/summary"
)

// TestStepsOfKind: a gate on one kind of steps leaves out the others, and says which there are.
func TestStepsOfKind(t *testing.T) {
	s := &summary.Summary{Steps: []summary.Step{
		{Kind: "prefill", Number: 1, StartNS: 0, WallNS: 70e6}, {Kind: "decode", Number: 2, StartNS: 80e6, WallNS: 9e6},
		{Kind: "decode", Number: 3, StartNS: 90e6, WallNS: 11e6}, {Kind: "verify", Number: 4, StartNS: 110e6, WallNS: 12e6},
	}}
	for text, want := range map[string]string{
		"step.median{kind=decode}": "10 ms", "step.max{kind=decode}": "11 ms", "step.count{kind=prefill}": "1",
		"step.max{kind=decode, steps=2}": "9 ms", "step.max": "70 ms",
		"step.max{kind=draft}": "no step of kind draft; there is decode, prefill, verify",
	} {
		if got := measureText(t, s, text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
