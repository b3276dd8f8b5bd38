package summary

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHalveStrips: times of bins add up, queue lengths are means, and a bin of no true
// length stays.
func TestHalveStrips(t *testing.T) {
	s := &Summary{
		Devices:  []Device{{Strip: &Strip{BinNS: 10, NS: map[string][]int64{"compute": {10, 4, 3}, "comm": {0, 1, 2}}}}, {}, {Strip: &Strip{BinNS: math.MaxInt64, NS: map[string][]int64{"comm": {1}}}}},
		Launches: []Launches{{QueueStrip: []int64{1000, 501, 300}}, {}},
	}
	s.HalveStrips()
	want := &Summary{
		Devices:  []Device{{Strip: &Strip{BinNS: 20, NS: map[string][]int64{"compute": {14, 3}, "comm": {1, 2}}}}, {}, {Strip: &Strip{BinNS: math.MaxInt64, NS: map[string][]int64{"comm": {1}}}}},
		Launches: []Launches{{QueueStrip: []int64{750, 150}}, {}},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}
