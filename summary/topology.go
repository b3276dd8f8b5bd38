package summary

import "fmt"

// The kinds of parallelism of a group.
const (
	ParallelTensor   = "tensor"
	ParallelPipeline = "pipeline"
	ParallelData     = "data"
	ParallelExpert   = "expert"
	ParallelContext  = "context"
)

// A Topology says how the ranks of one job divide the work, and what that was decided
// from. Ranks are compared only with ranks that do the same work.
type Topology struct {
	Input int `json:"input"` // the first of the job
	Job   int `json:"job"`   // as in RankWait

	Groups []GroupKind `json:"groups,omitempty"`

	// Stages is the number of stages of the pipeline, or 0 if there is none or it is not
	// known. StagesFrom is "description", "name" or "sends".
	Stages     int    `json:"stages,omitempty"`
	StagesFrom string `json:"stages_from,omitempty"`
	// Messages is the number of messages from a stage to the next one in a step: the
	// micro-batches, times the parts of the model on each stage if these are interleaved.
	// It is absent if the steps are not known or differ.
	Messages *int64 `json:"messages,omitempty"`

	// PeersFrom says why ranks do the same work: "stages" of the pipeline, the "kernels"
	// that they run, or "all": they run the same kernels. It is absent if that is not
	// known: ranks send to each other, and are not known to be stages.
	PeersFrom string `json:"peers_from,omitempty"`

	// Nodes is the number of machines of the given ranks, or 0 if it is not known.
	// NodesFrom is "input" (one capture of one machine), "hosts" or "gpus" (the numbers of
	// the ranks' GPUs, and how many a machine has).
	Nodes     int    `json:"nodes,omitempty"`
	NodesFrom string `json:"nodes_from,omitempty"`
}

// A GroupKind has the groups of one kind of parallelism and size.
type GroupKind struct {
	Parallel string `json:"parallel"`
	Size     int    `json:"size"`  // ranks of each group
	Count    int    `json:"count"` // groups with a given rank
	From     string `json:"from"`  // "description" or "name" of the process groups, or "sends"
}

func (t *Topology) check() error {
	if t.Stages < 0 || t.Nodes < 0 || t.Messages != nil && *t.Messages < 0 {
		return fmt.Errorf("stages %d or nodes %d or messages is negative", t.Stages, t.Nodes)
	}
	return nil
}

// A ProcessGroup is what a trace says of a group of its job.
type ProcessGroup struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Size        int    `json:"size"`
}

// A Comparison has the sums of one GPU beside those of the GPUs that do the same work:
// the median of the others. Times are in ns.
type Comparison struct {
	With int `json:"with"` // other GPUs

	// SameNS is the total time of the compute kernels that this GPU launched as often as
	// the others, by name, and SameOthersNS that of the others. MoreNS and MoreOthersNS
	// have all other compute kernels.
	SameNS       int64 `json:"same_kernels_ns"`
	SameOthersNS int64 `json:"same_kernels_others_ns"`
	MoreNS       int64 `json:"other_kernels_ns"`
	MoreOthersNS int64 `json:"other_kernels_others_ns"`

	// Longer is the number of kernels of SameNS, and how many of them take at least as
	// much longer, relative to the others, as half of all together.
	Kernels int `json:"kernels"`
	Longer  int `json:"kernels_longer"`

	IdleNS       int64 `json:"idle_ns"`
	IdleOthersNS int64 `json:"idle_others_ns"`
	// IdleIn is what the CPU did during the idle time that this GPU has more of, by its
	// largest part; InNS and InOthersNS are that part.
	IdleState  string `json:"idle_state,omitempty"`
	IdleIn     string `json:"idle_in,omitempty"`
	InNS       int64  `json:"idle_in_ns,omitempty"`
	InOthersNS int64  `json:"idle_in_others_ns,omitempty"`

	// ExpertNS is the total time of grouped matrix products, which compute experts.
	ExpertNS       int64 `json:"expert_ns,omitempty"`
	ExpertOthersNS int64 `json:"expert_others_ns,omitempty"` // mean of the others
}

// LateSteps says in which steps a rank caused most of the waiting.
type LateSteps struct {
	Of        int   `json:"of"`         // steps
	Count     int   `json:"count"`      // steps in which it did
	First     int64 `json:"first"`      // number of the first such step
	Last      int64 `json:"last"`       // number of the last such step
	FromFirst int   `json:"from_first"` // steps from the first such step on
}
