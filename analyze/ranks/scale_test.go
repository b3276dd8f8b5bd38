package ranks

import (
	"os"
	"runtime"
	"testing"
	"time"

	"assay/analyze/ranks/collective"
)

// TestScaleOfGroup prints what the largest group of a run needs, if ASSAY_SCALE is set: one
// worker of a cluster has all collectives of a group.
func TestScaleOfGroup(t *testing.T) {
	if os.Getenv("ASSAY_SCALE") == "" {
		t.Skip("ASSAY_SCALE is not set")
	}
	const ranks, n = 1000, 3200
	var list []Given
	for r := range ranks {
		c := &collective.Columns{Groups: []collective.Group{{ID: 1, Size: ranks}}, Whats: []collective.What{{Op: collective.AllReduce, Dtype: "Float", In: 1 << 20, Out: 1 << 20, Peer: -1}}}
		for i := range n {
			at := int64(i) * 1_000_000
			c.Runs = append(c.Runs, collective.Run{Start: at + int64((r*7+i)%1000), End: at + 200_000, Seq: uint32(i)})
		}
		list = append(list, Given{r, Member{Input: r, Rank: r}, Share{Key: "id 1", Columns: c}})
	}
	outline := OutlineOf(list)
	plan := NewPlan(ranks, []Outline{outline})
	begin := time.Now()
	found := Solve(list, plan)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if len(found.Clocks) != ranks-1 || found.Rows[0].Count != n {
		t.Errorf("%d clocks, %+v", len(found.Clocks), found.Rows)
	}
	t.Logf("%d ranks of %d collectives: %v, heap of %d MB, %d MB from the system", ranks, n, time.Since(begin), m.HeapAlloc>>20, m.Sys>>20)
}
