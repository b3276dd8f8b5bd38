package nsys

import (
	"strings"

	"github.com/tidwall/gjson"

	"assay/trace"
)

// ncclDomain is the domain of NVTX in which NCCL marks its calls.
const ncclDomain = "NCCL"

// nccl adds what NCCL writes about a collective into the payload of its range: the
// communicator, whose number is the same on all ranks, and the size of the message. The
// range of a communicator's start has its number of ranks. Older versions write no
// payload.
func (l *loader) nccl(name, payload []byte, start, dur int64, track trace.TrackID) {
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
		Start: start, Dur: dur, Track: track, Comms: l.out.Sym([]byte(id)), Seq: -1, Source: -1, Target: -1, Bytes: max(0, size.Int()),
		Args: trace.Collective{Name: l.out.Sym(name), In: -1, Out: -1, GroupSize: ranks},
	})
}
