package nsys

import (
	"strings"

	"github.com/tidwall/gjson"

	"assay/trace"
)

// ncclDomain is the domain of NVTX in which NCCL marks its calls.
const ncclDomain = "NCCL"

// nccl adds a collective from the payload of NCCL's range for it: the communicator, whose
// number is the same on all ranks, and the size of the message in bytes. The payload of the
// range in which a communicator is created has its number of ranks and the rank of the
// process. Older versions write no payload.
func (l *loader) nccl(pid int64, name, payload []byte, start, dur int64, track trace.TrackID) {
	if len(payload) == 0 {
		return
	}
	args := gjson.ParseBytes(payload)
	id := args.Get("NCCL communicator ID").Raw
	if id == "" || strings.Trim(id, "0123456789") != "" {
		return
	}
	const most = 1 << 16
	if n := args.Get(gjson.Escape("No. of ranks")); n.Type == gjson.Number && n.Num > 0 && n.Num < 1<<24 && len(l.commRanks) < most {
		l.commRanks[id] = n.Int()
		if rank := args.Get("Rank"); rank.Type == gjson.Number && rank.Num >= 0 && rank.Num < n.Num {
			l.joined.add(pid, n.Int(), rank.Int())
		}
	}
	size := args.Get(gjson.Escape("Message size [bytes]"))
	if size.Type != gjson.Number {
		return
	}
	ranks, ok := l.commRanks[id]
	if !ok {
		ranks = -1
	}
	l.out.Collective(trace.CollectiveCall{
		Start: start, Dur: dur, Track: track, Comms: l.out.Sym([]byte(id)), Seq: -1, Source: -1, Target: -1,
		Bytes: max(0, size.Int()),
		Args:  trace.Collective{Name: l.out.Sym(name), In: -1, Out: -1, GroupSize: ranks},
	})
}

// communicators derives the rank of the process from the largest communicators of an export.
type communicators struct {
	known   bool
	several bool  // more than one process has communicators
	unclear bool  // the largest communicators belong to several processes, or have several ranks
	pid     int64 // the process of the largest communicators
	size    int64 // of the largest
	rank    int64 // in it
}

// add records the rank of a process in a communicator.
func (c *communicators) add(pid, size, rank int64) {
	switch {
	case !c.known:
		*c = communicators{known: true, pid: pid, size: size, rank: rank}
	case pid != c.pid:
		c.several, c.unclear = true, true
	case size > c.size:
		c.size, c.rank, c.unclear = size, rank, c.several
	case size == c.size && rank != c.rank:
		c.unclear = true
	}
}

// commRank returns the rank of the only process of the export in its largest communicator,
// or nil. That is the rank in the job if the communicator has all its ranks.
func (l *loader) commRank() *int {
	c := l.joined
	if !c.known || c.unclear || len(l.process) > 1 {
		return nil
	}
	rank := int(c.rank)
	return &rank
}
