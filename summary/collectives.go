package summary

import (
	"cmp"
	"fmt"
)

// OpSendRecv is the operation of point-to-point transfers, such as those between the
// stages of a pipeline.
const OpSendRecv = "send/recv"

// A Collective has the collectives of one group, operation, type and size, compared over the ranks that
// were given.
//
// An instance counts if every given rank of the group recorded it, with the same kind, type and size. Some
// operations, such as all-reduce, let no rank leave before all ranks have arrived. For these the shortest
// duration among the ranks is the transfer time, and the rest of each duration is waiting. For all other
// operations TransferNS and WaitNS are null.
type Collective struct {
	Input int    `json:"input"` // the first of the inputs that recorded them
	Job   int    `json:"job"`   // as in RankWait
	Op    string `json:"op"`    // "all-reduce"
	// Group is the name of the process group as recorded, and GroupRanks its ranks, as
	// "[0, 1]"; both are absent if they were not recorded.
	Group      string `json:"group,omitempty"`
	GroupRanks string `json:"group_ranks,omitempty"`
	GroupSize  int    `json:"group_size,omitempty"` // ranks of the group; 0 if not recorded
	// Parallel is the kind of parallelism of the group, such as [ParallelTensor]; absent if it is not
	// known.
	Parallel string `json:"parallel,omitempty"`
	Nodes    int    `json:"nodes,omitempty"` // machines of the given ranks of the group; 0 if not known
	Ranks    int    `json:"ranks"`           // number of the group's ranks that were given
	// Partial says that ranks of the group were not given. One of them may have arrived last, so the
	// waiting is a lower bound.
	Partial bool   `json:"partial,omitempty"`
	Dtype   string `json:"dtype,omitempty"`
	Bytes   *int64 `json:"bytes"` // of one instance, as nccl-tests counts them; null if not recorded
	// MatchedBy is how instances were matched: "number" (the profiler recorded one), "order" (of launches),
	// "end" (kernels that ended at the same time). It is absent if they were not matched.
	MatchedBy string `json:"matched_by,omitempty"`

	Count      int64  `json:"count"`       // instances that all given ranks recorded
	Incomplete int64  `json:"incomplete"`  // instances that some rank did not record
	TransferNS *int64 `json:"transfer_ns"` // sum over the instances
	WaitNS     *int64 `json:"wait_ns"`     // sum over the instances and ranks
	// The bandwidths are defined as in nccl-tests, in 1e9 bytes per second: algbw is Count times Bytes over
	// TransferNS, and busbw is algbw times the factor of the operation.
	AlgBWGBps *float64 `json:"algbw_gbps"`
	BusBWGBps *float64 `json:"busbw_gbps"`

	Splits *Splits `json:"splits,omitempty"` // only for all-to-alls whose ranks have different sizes
}

// Splits are the sizes of all-to-alls whose ranks send or receive different amounts, as with the tokens of
// experts. Each instance counts on the side, sending or receiving, where the ranks differ more.
type Splits struct {
	Count     int64 `json:"count"`      // instances
	MaxBytes  int64 `json:"max_bytes"`  // sum over the instances of the largest rank's bytes
	MeanBytes int64 `json:"mean_bytes"` // sum over the instances of the mean over the ranks
	// WaitNS is the part of the waiting in instances that send back, to which the rank with
	// the most to send came last.
	WaitNS int64 `json:"wait_ns"`
}

func (c *Collective) check() error {
	switch {
	case c.Count < 0 || c.Incomplete < 0 || c.Ranks < 1:
		return fmt.Errorf("count %d, incomplete %d, ranks %d: want 0 or more, and at least 1 rank", c.Count, c.Incomplete, c.Ranks)
	case c.TransferNS != nil && *c.TransferNS < 0 || c.WaitNS != nil && *c.WaitNS < 0:
		return fmt.Errorf("transfer_ns or wait_ns is negative")
	}
	return nil
}

func (c *Collective) order(o *Collective) int {
	size := func(n *int64) int64 {
		if n == nil {
			return -1
		}
		return *n
	}
	return cmp.Or(cmp.Compare(size(o.TransferNS), size(c.TransferNS)), cmp.Compare(c.Op, o.Op), cmp.Compare(c.Group, o.Group), cmp.Compare(c.GroupRanks, o.GroupRanks),
		cmp.Compare(c.Dtype, o.Dtype), cmp.Compare(size(o.Bytes), size(c.Bytes)), cmp.Compare(c.Count, o.Count), cmp.Compare(c.Incomplete, o.Incomplete))
}

// A RankWait has the sums of one GPU over the matched collectives that no rank leaves before all have
// arrived.
type RankWait struct {
	Input  int   `json:"input"`
	Rank   int   `json:"rank"`
	Device int64 `json:"device"`
	// Job is the first input of the job. The rows of one job were compared with each other, so they have no
	// meaning without all of its inputs.
	Job int `json:"job"`

	Collectives int64 `json:"collectives"` // matched collectives of every kind
	Incomplete  int64 `json:"incomplete"`  // collectives that other ranks did not record
	TransferNS  int64 `json:"transfer_ns"`
	WaitNS      int64 `json:"wait_ns"`
	// CausedNS is the waiting of the other ranks, added up, in the collectives at which this rank arrived
	// last. The sum over all ranks equals the sum of WaitNS.
	CausedNS int64 `json:"caused_ns"`
	Last     int64 `json:"last"` // collectives at which it arrived last, by a relevant margin

	// RootNS is the waiting of other ranks that began with this rank: CausedNS (or PeerCausedNS), without what it
	// caused because it had waited for others itself, and with what those caused who had waited for it. It is
	// absent if that is the same for all ranks.
	RootNS *int64 `json:"root_caused_ns,omitempty"`
	// Stage is the stage of the pipeline, from 0. It is absent if the job has no pipeline.
	Stage *int `json:"stage,omitempty"`
	// Peers is the lowest rank that does the same work as this one. It is absent if that is not known.
	Peers *int `json:"peers,omitempty"`
	// PeerWaitNS and PeerCausedNS are the parts of WaitNS and CausedNS in collectives whose ranks all do
	// the same work. They are absent if all ranks of the job do the same work.
	PeerWaitNS   *int64 `json:"peer_wait_ns,omitempty"`
	PeerCausedNS *int64 `json:"peer_caused_ns,omitempty"`
	// StageWaitNS is the waiting in matched sends and receives, and in collectives that span several
	// stages. StageMessages counts these sends and receives. Both are absent if the ranks are not stages of
	// a pipeline.
	StageWaitNS   *int64 `json:"stage_wait_ns,omitempty"`
	StageMessages int64  `json:"stage_messages,omitempty"`
	// StageWaits has the part of StageWaitNS in sends and receives by the other stage, which was later. It is
	// absent if the ranks are not stages of a pipeline.
	StageWaits []StageWait `json:"stage_waits,omitempty"`
	// SplitBytes is the number of bytes that the rank received or sent in all-to-alls of different sizes.
	SplitBytes int64 `json:"split_bytes,omitempty"`

	Others *Comparison `json:"others,omitempty"`     // absent if no other rank does the same work
	Late   *LateSteps  `json:"late_steps,omitempty"` // absent if there is none

	// OffsetNS is how far the clock of this input is ahead of the first rank's, measured by the ends of
	// matched collectives. ResidualNS is the median distance of these ends from OffsetNS. Both are null if
	// the two ranks share no matched collective. The sums of this row do not use them.
	OffsetNS   *int64 `json:"offset_ns"`
	ResidualNS *int64 `json:"residual_ns"`

	// [Summary.RollUp] fills the following fields: the window of the GPU and its breakdown, its steps, the
	// phases with the most time, and the total kernel time of each category.
	WindowNS   *int64           `json:"window_ns,omitempty"`
	Budget     *Budget          `json:"budget,omitempty"`
	Steps      *RankSteps       `json:"steps,omitempty"`
	Phases     []RankPhase      `json:"phases,omitempty"`
	CategoryNS map[string]int64 `json:"category_ns,omitempty"`
}

// A StageWait is the waiting of a GPU for another stage of its pipeline.
type StageWait struct {
	Stage    int   `json:"stage"`    // the other one
	Messages int64 `json:"messages"` // matched sends and receives between the two
	NS       int64 `json:"ns"`       // from the arrival at the message to that of the other stage
}

func (r *RankWait) check() error {
	if r.TransferNS < 0 || r.WaitNS < 0 || r.CausedNS < 0 || r.Collectives < 0 || r.Incomplete < 0 || r.Last < 0 || r.RootNS != nil && *r.RootNS < 0 {
		return fmt.Errorf("rank %d: a sum or count is negative", r.Rank)
	}
	return nil
}
