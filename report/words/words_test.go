package words

import (
	"slices"
	"testing"

	"assay/judge"
	"assay/summary"
)

// TestWords: every owner of idle time has a display word of its own, an id of a later
// version is shown as it is, and a cause names what is known.
func TestWords(t *testing.T) {
	var seen []string
	for _, owner := range summary.Owners() {
		w := Owner(owner)
		if w == owner || slices.Contains(seen, w) {
			t.Errorf("the owner %q is shown as %q", owner, w)
		}
		seen = append(seen, w)
	}
	for _, tc := range []struct{ got, want string }{
		{Owner("new-owner\x1b"), "new-owner\uFFFD"},
		{Cause(summary.OwnerHost, summary.StateData, "next"), "host wait: data loading in next"},
		{Cause(summary.OwnerHost, summary.StateData, ""), "host wait: data loading"},
		{Cause("", "", "next"), "next"},
		{Phase(""), "outside phases"},
		{Phase("training/weight-sync"), "· weight sync"},
		{Verdict("host"), "host-bound"},
		{Verdict("mixed"), "no dominant bottleneck"},
		{LimitedBy(""), ""},
		{Level(judge.Warn), "warning"},
		{Side(judge.Side{Side: judge.SideMemory, Near: true}), "memory, near peak"},
		{Side(judge.Side{Side: judge.SideUnknown}), "–"},
		{Format("kineto"), "Kineto"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}
