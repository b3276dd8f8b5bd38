package forecast_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/analyze/critical/graph"
)

// ofRank makes one rank of a job: 40 steps of 500 µs, each with a kernel and a collective that ends at 400 µs, to
// which the ranks come last in turns. stretched multiplies all times, and part the length of the collectives.
func ofRank(t *testing.T, rank int, collective string, stretched, part float64) *graph.Graph {
	var p tape
	for i := range 40 {
		at, id := 500*float64(i), 2*i+1
		p.add("user_annotation", fmt.Sprintf("ProfilerStep#%d", i), 1, at*stretched, 499*stretched, object{})
		p.launch((at+5)*stretched, 4, id)
		p.launch((at+15)*stretched, 4, id+1)
		begin := at + 150 + 240*float64((rank+i)%2)
		end := begin + part*(at+400-begin)
		p.work("gelu", 5, (at+20)*stretched, 100*stretched, id)
		p.work(collective, 6, begin*stretched, (end-begin)*stretched, id+1)
	}
	return p.rank(t, rank)
}

// TestMisfit: ranks are joined only if they were in the same collectives at the same time.
func TestMisfit(t *testing.T) {
	const reduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"
	for name, test := range map[string]struct {
		ranks []*graph.Graph
		apart bool
	}{
		"one run":            {[]*graph.Graph{ofRank(t, 0, reduce, 1, 1), ofRank(t, 1, reduce, 1, 1), ofRank(t, 2, reduce, 1, 1)}, false},
		"a slower run":       {[]*graph.Graph{ofRank(t, 0, reduce, 1, 1), ofRank(t, 1, reduce, 1.3, 1)}, true},
		"leaves too early":   {[]*graph.Graph{ofRank(t, 4, "rccl_AllGather", 1, .1), ofRank(t, 7, "rccl_AllGather", 1, 1), ofRank(t, 3, "rccl_AllGather", 1, 1)}, true},
		"clocks drift":       {[]*graph.Graph{ofRank(t, 0, reduce, 1, 1), ofRank(t, 1, reduce, 1.00003, 1)}, false},
		"a broadcast's root": {[]*graph.Graph{ofRank(t, 0, "ncclDevKernel_Broadcast_RING_LL", 1, .1), ofRank(t, 7, "ncclDevKernel_Broadcast_RING_LL", 1, 1)}, false},
		"ends differ a bit":  {[]*graph.Graph{ofRank(t, 0, reduce, 1, 1), ofRank(t, 1, reduce, 1, .9)}, false},
	} {
		g, why := joined(test.ranks)
		if (why != "") != test.apart || (g == nil) != test.apart || test.apart && !strings.Contains(why, "several runs") {
			t.Errorf("%s: %q", name, why)
		}
	}
}
