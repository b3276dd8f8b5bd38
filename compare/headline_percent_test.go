package compare_test

import (
	"math"
	"testing"

	"assay/compare"
)

// TestSignedPercent: a change is a share, a factor if it is large, and nothing if neither says anything.
func TestSignedPercent(t *testing.T) {
	for change, want := range map[float64]string{0.25: "+25.0%", -0.3: "-30.0%", -1: "-100.0%", 8.9: "+890.0%", 9: "×10", 224: "×225", -1.5: "–", math.Inf(1): "–", math.Inf(-1): "–", 0: "0.0%"} {
		if got := compare.SignedPercent(change); got != want {
			t.Errorf("%g is %q, want %q", change, got, want)
		}
	}
	if got := compare.SignedPercent(math.NaN()); got != "–" {
		t.Errorf("no number is %q", got)
	}
}
