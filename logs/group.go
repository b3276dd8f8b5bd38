package logs

import "assay/internal/diag"

// A Group is the view that one process has of one group of ranks that communicate: a
// communicator of NCCL, or a process group of PyTorch. Hangs are found by comparing the
// Groups of its members.
type Group struct {
	Source string // "NCCL log", "watchdog" or "flight recorder"
	Name   string // equal for all members: the commId of NCCL, or the name of the process group
	Desc   string // "TENSOR_MODEL_PARALLEL_GROUP"; "" if unknown

	Rank    int   // of the process in the job; -1 if unknown
	Place   int   // rank of the process in the group; -1 if unknown
	Size    int   // number of members; 0 if unknown
	Members []int // their ranks in the job; nil if unknown

	Version    string           // of NCCL
	Nodes      int              // number of machines in the group; 0 if unknown
	Channels   int              // of its collectives; 0 if unknown
	Transports map[string]int64 // connections by transport: "P2P/CUMEM", "NET/IB/GDRDMA"

	// The sequence numbers of the last collectives that the process enqueued and that it
	// knows to be complete; -1 if unknown.
	LastEnqueued, LastCompleted int64

	Ops     []GroupOp   // calls by kind
	Pending []PendingOp // calls that are not complete, by sequence number
	Dropped int64       // pending calls over the limit
}

// A GroupOp counts calls of one kind in a group.
type GroupOp struct {
	Op    string // "AllReduce", "Send"
	Count int64  // elements
	Dtype string
	Peer  int // of Send and Recv: the Place of the other process; -1 for collectives
	Calls int64
}

// A PendingOp is a call that a process has enqueued and that is not complete.
type PendingOp struct {
	Op      string // "all_reduce", "send 0->3"
	Seq     int64  // sequence number in the group; point-to-point calls have numbers of their own
	P2P     bool
	State   string // "scheduled", "started" or "timeout"
	Created int64  // Unix ns, or NoTime
	Ran     int64  // ns until the watchdog gave up; 0 if unknown
	Shape   string // of the input: "4096x5120 BFloat16"
}

// The maximum numbers for one input.
const (
	MaxGroups   = 4096
	MaxGroupOps = 2048
	MaxPending  = 256
)

// Group adds a group. Groups over the limit are an issue.
func (b *Builder) Group(g Group, at diag.Pos) {
	if len(b.log.Groups) >= MaxGroups {
		b.issues.Add(diag.Issue{Code: "groups-left-out", Severity: diag.DataLoss, First: at})
		return
	}
	g.Name, g.Desc = cut(g.Name), cut(g.Desc)
	b.log.Groups = append(b.log.Groups, g)
}
