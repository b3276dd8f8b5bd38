package analyze_test

import (
	"strings"
	"testing"
)

// TestQueuedBefore adds up the work that ran before the first launched work of its stream: by time, and
// only of streams that run launched work later.
func TestQueuedBefore(t *testing.T) {
	launched := []string{calledAt("hipLaunchKernel", 51, 9000, 5), calledAt("hipLaunchKernel", 52, 9010, 5), calledAt("hipLaunchKernel", 53, 9020, 5)}
	for _, tc := range []struct {
		name   string
		events []string
		n, ns  int64
		other  int64 // ns with names that no launched work has
	}{
		{"two long ones before", []string{ranAt(5, 1, 1000, 4000, ""), ranAt(5, 2, 5000, 4500, ""), ranAt(5, 51, 9600, 10, "")}, 2, 8_500_000, 0},
		{"one of them of another name", []string{strings.Replace(ranAt(5, 1, 1000, 4000, ""), `"name":"k"`, `"name":"fill"`, 1), ranAt(5, 2, 5000, 4500, ""), ranAt(5, 51, 9600, 10, "")}, 2, 8_500_000, 4_000_000},
		{"one stream of two", []string{ranAt(5, 1, 1000, 4000, ""), ranAt(5, 51, 9600, 10, ""), ranAt(6, 52, 9600, 10, ""), ranAt(6, 3, 9700, 70, "")}, 1, 4_000_000, 0},
		{"lost between launched work", []string{ranAt(5, 51, 9600, 10, ""), ranAt(5, 3, 9700, 70, ""), ranAt(5, 52, 9800, 10, "")}, 0, 0, 0},
		{"a stream of another process", []string{ranAt(5, 51, 9600, 10, ""), ranAt(6, 1, 1000, 4000, "")}, 0, 0, 0},
		{"nothing is launched", []string{ranAt(5, 1, 1000, 4000, "")}, 0, 0, 0},
	} {
		l := measured(t, list(append(tc.events, launched...)...)).Launches[0]
		if l.Before != tc.n || l.BeforeNS != tc.ns || l.OtherNS != tc.other {
			t.Errorf("%s: %d operations of %d ns, %d of other names; want %d, %d, %d", tc.name, l.Before, l.BeforeNS, l.OtherNS, tc.n, tc.ns, tc.other)
		}
	}
}
