package words

import (
	"testing"

	"assay/summary"
)

func TestTopology(t *testing.T) {
	kinds := []summary.GroupKind{{Parallel: summary.ParallelTensor, Size: 2, Count: 4, From: "description"}, {Parallel: summary.ParallelData, Size: 4, Count: 2, From: "description"}}
	for _, tt := range []struct {
		in   summary.Topology
		want string
	}{
		{summary.Topology{PeersFrom: "all"}, ""},
		{summary.Topology{PeersFrom: "all", Groups: kinds}, "parallelism: tensor 2, data 4 (from descriptions of process groups)"},
		{summary.Topology{PeersFrom: "stages", Stages: 4, StagesFrom: "sends"}, "4 pipeline stages (by who sends to whom)"},
		{summary.Topology{PeersFrom: "kernels"}, "ranks are compared with those that run the same kernels"},
		{summary.Topology{}, "ranks send to each other and are not known to be stages, so they are not compared"},
	} {
		if got := Topology(tt.in); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.in, got, tt.want)
		}
	}
}
