package logs

// A Group is what one process told of one group of ranks that communicate: a
// communicator of NCCL, or a process group of PyTorch. Hangs are found by comparing what
// the members of a group tell.
type Group struct {
	Source string // "NCCL log", "watchdog" or "flight recorder"
	Name   string // the same for all members: the commId of NCCL, the name of the process group
	Desc   string // "TENSOR_MODEL_PARALLEL_GROUP"; "" if unknown

	Rank    int   // of the process in the job; -1 if unknown
	Place   int   // of the process in the group; -1 if unknown
	Size    int   // members; 0 if unknown
	Members []int // their ranks in the job; nil if unknown

	Version    string           // of NCCL
	Nodes      int              // that the group spans; 0 if unknown
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
	Peer  int // of Send and Recv: the other place in the group; -1 for collectives
	Calls int64
}

// A PendingOp is a call that a process has enqueued and that is not complete.
type PendingOp struct {
	Op      string // "all_reduce", "send 0->3"
	Seq     int64  // of the group; of point-to-point calls a number of their own
	P2P     bool
	State   string // "scheduled", "started" or "timeout"
	Created int64  // Unix ns, or NoTime
	Ran     int64  // ns until the watchdog gave up; 0 if unknown
	Shape   string // of the input: "4096x5120 BFloat16"
}

// The most of each that one input has.
const (
	MaxGroups   = 4096
	MaxGroupOps = 2048
	MaxPending  = 256
)
