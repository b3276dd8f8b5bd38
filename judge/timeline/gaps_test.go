package timeline

import (
	"testing"

	"assay/summary"
)

// TestUnknownGaps: of a gap that is not the host's it is not known what the host did.
func TestUnknownGaps(t *testing.T) {
	unknown := longGaps{list: []placedGap{{Gap: summary.Gap{Owner: summary.OwnerDependency, Name: "save"}}}}
	if got := unknown.advice().ID; got != "find-what-runs-in-the-gaps" {
		t.Errorf("of a gap that is not the host's: %q", got)
	}
}
