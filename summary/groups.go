package summary

import (
	"cmp"
	"fmt"
)

// A Group is what one process reported about one group of ranks that communicate: a communicator of NCCL or
// a process group of PyTorch. Rows of the same group from several processes show hangs: see package
// view/hang.
type Group struct {
	Input  int    `json:"input"`
	Source string `json:"source"` // "NCCL log", "watchdog" or "flight recorder"
	Group  string `json:"group"`  // the same for all members: the commId of NCCL, the name of the process group; "" if unknown
	Desc   string `json:"desc,omitempty"`

	Rank    *int  `json:"rank,omitempty"`  // the process's rank in the job; absent if unknown
	Place   *int  `json:"place,omitempty"` // the process's rank in the group
	Size    int   `json:"size,omitempty"`  // number of members; 0 if unknown
	Members []int `json:"members,omitempty"`

	Version    string           `json:"version,omitempty"` // of NCCL
	Nodes      int              `json:"nodes,omitempty"`
	Channels   int              `json:"channels,omitempty"`
	Transports map[string]int64 `json:"transports,omitempty"` // connections by transport

	// The sequence numbers of the last collectives that the process enqueued, and that it
	// knows to be complete; absent if unknown.
	LastEnqueued  *int64 `json:"last_enqueued,omitempty"`
	LastCompleted *int64 `json:"last_completed,omitempty"`

	Calls   []GroupCall   `json:"calls,omitempty"`   // by kind
	Pending []PendingCall `json:"pending,omitempty"` // calls that are not complete
	Dropped int64         `json:"dropped,omitempty"` // pending calls that were left out
}

// A GroupCall counts calls of one kind.
type GroupCall struct {
	Op    string `json:"op"`
	Count int64  `json:"count"` // elements
	Dtype string `json:"dtype"`
	Peer  *int   `json:"peer,omitempty"` // for Send and Recv: the other rank in the group
	Calls int64  `json:"calls"`
}

// A PendingCall is a call that was enqueued and is not complete.
type PendingCall struct {
	Op        string `json:"op"`
	Seq       int64  `json:"seq"`
	P2P       bool   `json:"p2p,omitempty"`
	State     string `json:"state"`                // "scheduled", "started" or "timeout"
	CreatedNS *int64 `json:"created_ns,omitempty"` // Unix time; absent if unknown
	RanNS     int64  `json:"ran_ns,omitempty"`     // until the watchdog gave up
	Shape     string `json:"shape,omitempty"`
}

// order sorts groups of one input.
func (g *Group) order(other *Group) int {
	at := func(p *int) int {
		if p == nil {
			return -1
		}
		return *p
	}
	return cmp.Or(cmp.Compare(g.Source, other.Source), cmp.Compare(g.Group, other.Group), cmp.Compare(g.Desc, other.Desc), cmp.Compare(at(g.Rank), at(other.Rank)), cmp.Compare(at(g.Place), at(other.Place)))
}

// check returns the first violated constraint of a row.
func (g *Group) check() error {
	if g.Size < 0 || g.Nodes < 0 || g.Channels < 0 || g.Dropped < 0 {
		return fmt.Errorf(".size: a number is negative")
	}
	return nil
}
