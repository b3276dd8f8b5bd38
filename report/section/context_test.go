package section

import (
	"testing"

	"assay/summary"
)

// TestBelow: paths in a text lose the directory of all inputs, other words do
// not.
func TestBelow(t *testing.T) {
	ctx := &Context{Summary: &summary.Summary{Inputs: []summary.Input{{Path: "a/x.json"}, {Path: "a/y.json"}}}}
	for in, want := range map[string]string{
		"a/x.json@7":                            "x.json@7",
		`as a/x.json has, "a/y.json", data/a/z`: `as x.json has, "y.json", data/a/z`,
		"nothing to cut":                        "nothing to cut",
	} {
		if got := ctx.Below(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
