package summary

import (
	"fmt"
	"slices"
)

// The kinds of parallelism of a group.
const (
	ParallelTensor   = "tensor"
	ParallelPipeline = "pipeline"
	ParallelData     = "data"
	ParallelExpert   = "expert"
	ParallelContext  = "context"
)

// A Topology is how the ranks of one job divide the work, with the evidence. Ranks are compared only with
// ranks that do the same work.
type Topology struct {
	Input int `json:"input"` // the first input of the job
	Job   int `json:"job"`   // as in RankWait

	Groups []GroupKind `json:"groups,omitempty"`

	// Stages is the number of stages of the pipeline, or 0 if there is none or it is not
	// known. StagesFrom is "description", "name" or "sends".
	Stages     int    `json:"stages,omitempty"`
	StagesFrom string `json:"stages_from,omitempty"`
	// Messages is the number of messages from one stage to the next in a step: the number of micro-batches,
	// times the number of model parts per stage if these are interleaved. It is absent if the steps are not
	// known or differ.
	Messages *int64 `json:"messages,omitempty"`

	// PeersFrom is the evidence that ranks do the same work: "stages" of the pipeline, the "kernels" that
	// they run, or "all" if all ranks run the same kernels. It is absent if that is unknown, that is, if
	// ranks send to each other but their stages are not known.
	PeersFrom string `json:"peers_from,omitempty"`

	// Nodes is the number of machines of the given ranks, or 0 if it is not known. NodesFrom is "input"
	// (one capture of one machine), "hosts" (names of machines) or "gpus" (the ranks' GPU numbers, and the
	// number of GPUs of a machine).
	Nodes     int    `json:"nodes,omitempty"`
	NodesFrom string `json:"nodes_from,omitempty"`
}

// A GroupKind counts the groups of one kind of parallelism and size.
type GroupKind struct {
	Parallel string `json:"parallel"`
	Size     int    `json:"size"`  // ranks of each group
	Count    int    `json:"count"` // number of groups that contain a given rank
	From     string `json:"from"`  // "description" or "name" of the process groups, or "sends"
}

func (t *Topology) check() error {
	if t.Stages < 0 || t.Nodes < 0 || t.Messages != nil && *t.Messages < 0 {
		return fmt.Errorf("stages %d or nodes %d or messages is negative", t.Stages, t.Nodes)
	}
	return nil
}

// A ProcessGroup is a process group as a trace describes it.
type ProcessGroup struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Size        int    `json:"size"`
}

// A Comparison has the sums of one GPU next to the median of the other GPUs that do the same work. Times
// are in ns.
type Comparison struct {
	With int `json:"with"` // number of other GPUs

	// SameNS is the total time of the compute kernels, by name, that this GPU launched as often as the
	// others, and SameOthersNS is the same for the others. MoreNS and MoreOthersNS are the total times of
	// all other compute kernels.
	SameNS       int64 `json:"same_kernels_ns"`
	SameOthersNS int64 `json:"same_kernels_others_ns"`
	MoreNS       int64 `json:"other_kernels_ns"`
	MoreOthersNS int64 `json:"other_kernels_others_ns"`

	// Kernels is the number of kernels in SameNS. Longer is how many of them are slower than on the others
	// by at least half the relative difference of all of them together.
	Kernels int `json:"kernels"`
	Longer  int `json:"kernels_longer"`

	IdleNS       int64 `json:"idle_ns"`
	IdleOthersNS int64 `json:"idle_others_ns"`
	// IdleState and IdleIn are what the CPU did during the largest part of the idle time by which this GPU
	// exceeds the others. InNS and InOthersNS are the length of that part.
	IdleState  string `json:"idle_state,omitempty"`
	IdleIn     string `json:"idle_in,omitempty"`
	InNS       int64  `json:"idle_in_ns,omitempty"`
	InOthersNS int64  `json:"idle_in_others_ns,omitempty"`

	// ExpertNS is the total time of grouped matrix products, which compute the experts.
	ExpertNS       int64 `json:"expert_ns,omitempty"`
	ExpertOthersNS int64 `json:"expert_others_ns,omitempty"` // mean of the others
}

// LateSteps has the steps in which a rank caused most of the waiting.
type LateSteps struct {
	Of        int   `json:"of"`         // number of steps
	Count     int   `json:"count"`      // steps in which the rank caused most of the waiting
	First     int64 `json:"first"`      // number of the first such step
	Last      int64 `json:"last"`       // number of the last such step
	FromFirst int   `json:"from_first"` // steps from the first such step on
}

// HasAllRanks reports whether the inputs are known to be all ranks of their job. A process that drives
// several GPUs may be the only one, so its trace must state the number of ranks if others are missing. The
// same holds for a capture whose GPUs are compared by their collectives.
func (s *Summary) HasAllRanks() bool {
	world, ranks := 0, map[int]bool{}
	for i := range s.Inputs {
		world, ranks[s.Inputs[i].Rank] = max(world, s.Inputs[i].WorldSize), true
	}
	if world > 0 {
		return len(ranks) >= world
	}
	if len(s.Inputs) != 1 {
		return false
	}
	return s.Compares() || slices.ContainsFunc(s.Devices, func(d Device) bool { return d.Process > 0 })
}

// Compares reports whether several GPUs were compared by their collectives, in whole groups. One capture can have
// the GPUs of several processes: that of Nsight Systems has all processes that the launcher started.
func (s *Summary) Compares() bool {
	return len(s.Ranks) > 1 && !slices.ContainsFunc(s.Collectives, func(c Collective) bool {
		return c.Partial || c.GroupSize > c.Ranks
	})
}
