package timeline

import (
	"strings"
	"testing"

	"assay/summary/view/layers"
)

// TestOddOnce: what is seen in one run only has the words "in this step".
func TestOddOnce(t *testing.T) {
	k := layers.Kind{Steps: 1, Runs: 1, Odd: []layers.Odd{{Index: 7, Runs: 1, Times: 1.5, Part: "attention"}}}
	if got := oddText([]layers.Kind{k}); !strings.Contains(got, "Layer 7 takes 1.5 times the median in this step (attention)") {
		t.Error(got)
	}
	if k.Steps = 3; strings.Contains(oddText([]layers.Kind{k}), "in this step") {
		t.Error("said of three steps")
	}
}
