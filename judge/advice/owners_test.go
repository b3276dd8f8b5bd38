package advice

import (
	"testing"

	"assay/summary"
)

// TestLongPieces: a pause of milliseconds in a function is no launch that is
// slow.
func TestLongPieces(t *testing.T) {
	for mean, want := range map[int64]string{LongGap: "move-off-the-launching-thread", LongGap - 1: "launch-less"} {
		o := OwnerShare{owner: summary.OwnerHost, state: summary.StateOp, name: "aten::mm", ns: 3 * mean, count: 3}
		if got := o.advice()[0].ID; got != want {
			t.Errorf("pieces of %d ns: %s, want %s", mean, got, want)
		}
	}
}
