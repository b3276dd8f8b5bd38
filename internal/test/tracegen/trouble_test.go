package tracegen

import (
	"bytes"
	"strings"
	"testing"
)

// TestTroubles: each has a unique name and a Near different from its Rule, has
// a part that is at most its whole, and is reproducible.
func TestTroubles(t *testing.T) {
	again := Troubles()
	seen := map[string]bool{}
	for i, tr := range Troubles() {
		if seen[tr.Name] {
			t.Errorf("%s: there are two", tr.Name)
		}
		seen[tr.Name] = true
		if tr.Rule == tr.Near {
			t.Errorf("%s: it is what it is nearly: %s", tr.Name, tr.Rule)
		}
		if len(tr.Ranks) == 0 || (tr.NS == 0) != (tr.OfNS == 0) || tr.NS < 0 {
			t.Errorf("%s: %d ranks, %d of %d ns", tr.Name, len(tr.Ranks), tr.NS, tr.OfNS)
		}
		for rank, story := range tr.Ranks {
			if !strings.HasPrefix(story.Name, tr.Name) {
				t.Errorf("%s: its story calls itself %q", tr.Name, story.Name)
			}
			if !bytes.Equal(story.JSON, again[i].Ranks[rank].JSON) {
				t.Errorf("%s: rank %d has different bytes when told again", tr.Name, rank)
			}
		}
	}
}
