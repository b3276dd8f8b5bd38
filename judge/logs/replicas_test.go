package logs

import (
	"testing"

	"assay/summary"
)

// TestWithoutAggregate: lines without a name are the sum of a server if at least two replicas have one.
func TestWithoutAggregate(t *testing.T) {
	of := func(producer string, names ...string) (out []*replica) {
		for _, n := range names {
			out = append(out, &replica{name: n, rows: map[string]*summary.Series{rowKey("requests.running", ""): {Producer: producer, N: 1}}})
		}
		return out
	}
	for _, tt := range []struct {
		list []*replica
		want int
	}{
		{of("p", "", "engine=0", "engine=1"), 2},
		{of("p", ""), 1},
		{of("p", "engine=0", "engine=1"), 2},
		{of("p", "", "phase=b"), 2},
		{append(of("p", ""), of("q", "dp=0", "dp=1")...), 3},
	} {
		if got := len(withoutAggregate(tt.list)); got != tt.want {
			t.Errorf("%d of %d replicas remain, want %d", got, len(tt.list), tt.want)
		}
	}
}
