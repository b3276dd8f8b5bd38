package ranks

import "testing"

// TestCauseOfAll: every late rank is in the cause, up to three; the evidence has the others.
func TestCauseOfAll(t *testing.T) {
	for _, tc := range []struct {
		causes, unknown []string
		want            string
	}{
		{[]string{"rank 5: slow"}, nil, "rank 5: slow"},
		{[]string{"rank 5: slow", "rank 2: idle"}, nil, "rank 5: slow; rank 2: idle"},
		{[]string{"rank 2: idle"}, []string{"rank 7: cause not known"}, "rank 2: idle; rank 7: cause not known"},
		{[]string{"a", "b", "c", "d"}, []string{"e"}, "a; b; c; 2 more ranks in the evidence"},
		{nil, []string{"rank 7: cause not known"}, ""},
	} {
		if got := causeOfAll(tc.causes, tc.unknown); got != tc.want {
			t.Errorf("%q and %q: %q, want %q", tc.causes, tc.unknown, got, tc.want)
		}
	}
}
