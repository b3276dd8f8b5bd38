package ranks

import (
	"reflect"
	"testing"

	"assay/internal/test/rankgen"
	"assay/summary"
)

// scenario returns the comparison of the ranks of a generated run.
func scenario(t *testing.T, name string) *summary.Summary {
	t.Helper()
	for _, s := range rankgen.Scenarios() {
		if s.Name == name {
			j, given := s.Job()
			return rowsOf(t, j.Files(given))
		}
	}
	t.Fatalf("no scenario %q", name)
	return nil
}

// TestTopology compares what is found of the topology with what the runs are made of.
func TestTopology(t *testing.T) {
	kind := func(parallel string, size, count int, from string) summary.GroupKind {
		return summary.GroupKind{Parallel: parallel, Size: size, Count: count, From: from}
	}
	n := func(n int64) *int64 { return &n }
	for name, want := range map[string]summary.Topology{
		"even":              {PeersFrom: "all"},
		"tp_dp":             {Groups: []summary.GroupKind{kind("tensor", 2, 4, "description"), kind("data", 4, 2, "description")}, PeersFrom: "all"},
		"tp_dp_2022":        {PeersFrom: "all"}, // groups are pointers
		"pp_dp":             {Groups: []summary.GroupKind{kind("pipeline", 4, 2, "description"), kind("data", 2, 4, "description")}, Stages: 4, StagesFrom: "description", Messages: n(6), PeersFrom: "stages"},
		"pp_even":           {Groups: []summary.GroupKind{kind("pipeline", 4, 1, "description")}, Stages: 4, StagesFrom: "description", Messages: n(12), PeersFrom: "stages"},
		"pp_undescribed":    {Stages: 4, StagesFrom: "sends", Messages: n(12), PeersFrom: "stages"},
		"pp_dp_undescribed": {Stages: 4, StagesFrom: "sends", Messages: n(6), PeersFrom: "stages"},
		"ring":              {}, // neither stages nor ranks that do the same work
		"experts":           {Groups: []summary.GroupKind{kind("expert", 4, 1, "description")}, PeersFrom: "all"},
		"two_nodes":         {PeersFrom: "all"}, // reducing in two levels is no tensor parallelism
		"slow_link":         {PeersFrom: "all", Nodes: 1, NodesFrom: "hosts"},
		"slow_node":         {Groups: []summary.GroupKind{kind("tensor", 2, 3, "description")}, PeersFrom: "all", Nodes: 3, NodesFrom: "hosts"},
	} {
		s := scenario(t, name)
		if len(s.Topologies) != 1 || !reflect.DeepEqual(s.Topologies[0], want) {
			t.Errorf("%s:\n%+v, want\n%+v", name, s.Topologies, want)
		}
	}
	// The trainer and the server of one run have a topology each.
	if s := scenario(t, "trainer_rollout"); len(s.Topologies) != 2 || s.Topologies[1].Job != 4 || len(s.Topologies[0].Groups) != 1 {
		t.Errorf("trainer_rollout: %+v", s.Topologies)
	}
}

// TestNodes: the machines of ranks follow from host names or from the numbers of their GPUs,
// and a process that sees one GPU tells nothing.
func TestNodes(t *testing.T) {
	job := &Job{}
	for r := range 4 {
		job.members = append(job.members, Member{Input: r, Rank: r, Device: int64(r % 2)})
	}
	for _, tt := range []struct {
		name  string
		input func(r int) summary.Input
		nodes int
		from  string
	}{
		{"hosts", func(r int) summary.Input { return summary.Input{Host: string(rune('a' + r/2)), GPUs: 8} }, 2, "hosts"},
		{"GPUs", func(int) summary.Input { return summary.Input{GPUs: 2} }, 2, "gpus"},
		{"other numbers", func(int) summary.Input { return summary.Input{GPUs: 4} }, 0, ""},
		{"one GPU", func(int) summary.Input { return summary.Input{GPUs: 1} }, 0, ""},
		{"a host is missing", func(r int) summary.Input { return summary.Input{Host: "a"[:min(1, r)], GPUs: 1} }, 0, ""},
	} {
		s := &summary.Summary{}
		for r := range 4 {
			s.Inputs = append(s.Inputs, tt.input(r))
		}
		top := &topology{}
		job.findNodes(top, s)
		if top.row.Nodes != tt.nodes || top.row.NodesFrom != tt.from {
			t.Errorf("%s: %d from %q, want %d from %q", tt.name, top.row.Nodes, top.row.NodesFrom, tt.nodes, tt.from)
		}
	}
}

// TestParallelOf reads the descriptions that PyTorch, Megatron, vLLM and SGLang give.
func TestParallelOf(t *testing.T) {
	for text, want := range map[string]string{
		"mesh_tp": "tensor", "mesh_dp_shard": "data", "mesh_dp_replicate": "data", "mesh_pp": "pipeline", "mesh_ep": "expert", "mesh_cp": "context",
		"TENSOR_MODEL_PARALLEL_GROUP": "tensor", "DATA_PARALLEL_GROUP_WITH_CP": "data", "PIPELINE_MODEL_PARALLEL_GROUP": "pipeline",
		"EXPERT_MODEL_PARALLEL_GROUP": "expert", "EXPERT_DATA_PARALLEL_GROUP": "data", "CONTEXT_PARALLEL_GROUP": "context", "tp:0": "tensor",
		"MODEL_PARALLEL_GROUP": "", "TENSOR_AND_DATA_PARALLEL_GROUP": "", "EMBEDDING_GROUP": "", "default_pg": "", "undefined": "", "0": "", "split": "",
		"step": "", "tpu": "", "TENSOR_AND_EXPERT_PARALLEL_GROUP": "",
	} {
		if got := ParallelOf(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestLateSteps: a rank is late in all steps, from one on, or in a single one.
func TestLateSteps(t *testing.T) {
	for name, want := range map[string]*summary.LateSteps{
		"slow_gpu":       {Of: 6, Count: 6, First: 3, Last: 8, FromFirst: 6},
		"slow_gpu_later": {Of: 10, Count: 6, First: 7, Last: 12, FromFirst: 6},
		"slow_gpu_once":  {Of: 8, Count: 1, First: 5, Last: 5, FromFirst: 6},
		"slow_network":   nil,
	} {
		s := scenario(t, name)
		for _, r := range s.Ranks {
			if r.Rank == 5 && !reflect.DeepEqual(r.Late, want) || r.Rank != 5 && r.Late != nil {
				t.Errorf("%s: rank %d: %+v, want %+v", name, r.Rank, r.Late, want)
			}
		}
	}
	for _, r := range scenario(t, "late_in_turn").Ranks {
		if r.Late == nil || r.Late.Of != 12 || r.Late.Count != 3 || r.Late.First != int64(3+r.Rank) {
			t.Errorf("late_in_turn: rank %d: %+v", r.Rank, r.Late)
		}
	}
}

// TestComparison: the same kernels that take longer, more kernels, and idle time with what
// the CPU did, are different sums. The generator's constants are repeated here.
func TestComparison(t *testing.T) {
	const kernel, loading = 400_137, 3_000_017
	for _, tt := range []struct {
		name string
		rank int
		want summary.Comparison
	}{
		{"slow_gpu", 5, summary.Comparison{With: 7, Kernels: 1, Longer: 1, SameNS: 72 * (kernel * 5 / 4), SameOthersNS: 72 * kernel}},
		{"slow_gpu", 4, summary.Comparison{With: 7, Kernels: 1, SameNS: 72 * kernel, SameOthersNS: 72 * kernel}},
		{"more_work", 3, summary.Comparison{With: 7, MoreNS: 108 * kernel, MoreOthersNS: 72 * kernel}},
		{"slow_host", 2, summary.Comparison{With: 7, Kernels: 1, SameNS: 72 * kernel, SameOthersNS: 72 * kernel, IdleState: summary.StateData,
			IdleIn: "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"}},
	} {
		for _, r := range scenario(t, tt.name).Ranks {
			if r.Rank != tt.rank {
				continue
			}
			got := *r.Others
			idle, in := got.IdleNS-got.IdleOthersNS, got.InNS-got.InOthersNS
			got.IdleNS, got.IdleOthersNS, got.InNS, got.InOthersNS = 0, 0, 0, 0
			if got != tt.want {
				t.Errorf("%s: rank %d: %+v, want %+v", tt.name, r.Rank, got, tt.want)
			}
			// The first load is before the window of the GPU.
			if late := tt.name == "slow_host"; late && (idle < 5*loading || in < 5*loading || in > idle) || !late && idle != 0 {
				t.Errorf("%s: rank %d is idle for %d ns more, %d of them in %q", tt.name, r.Rank, idle, in, got.IdleIn)
			}
		}
	}
}
