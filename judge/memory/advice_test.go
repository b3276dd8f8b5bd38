package memory

import (
	"testing"

	"assay/summary"
)

// TestKindAdvice: every kind of memory has advice of its own.
func TestKindAdvice(t *testing.T) {
	seen := map[string]string{}
	for _, kind := range []string{
		summary.KindParameters, summary.KindOptimizer, summary.KindActivations, summary.KindRecomputed, summary.KindBackward,
		summary.KindKVCache, summary.KindComm, summary.KindData, summary.KindOther, summary.KindUnknown,
	} {
		advice := kindAdvice(kind)
		if len(advice) == 0 || seen[advice[0].ID] != "" {
			t.Errorf("%s: %q, as %s", kind, advice, seen[advice[0].ID])
		}
		seen[advice[0].ID] = kind
	}
}
