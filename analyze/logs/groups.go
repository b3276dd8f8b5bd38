package logs

import (
	"assay/logs"
	"assay/summary"
)

// groupRow returns the row of a process group. A dump that does not state the rank of its process
// gets the rank of its file.
func groupRow(g *logs.Group, in summary.Input) summary.Group {
	r := summary.Group{Source: g.Source, Group: g.Name, Desc: g.Desc, Rank: known(g.Rank), Place: known(g.Place),
		Size: g.Size, Members: g.Members,
		Version: g.Version, Nodes: g.Nodes, Channels: g.Channels, Transports: g.Transports, LastEnqueued: knownNumber(g.LastEnqueued), LastCompleted: knownNumber(g.LastCompleted), Dropped: g.Dropped}
	if r.Rank == nil && g.Source == "flight recorder" && in.RankFrom != "assumed" {
		r.Rank = known(in.Rank)
	}
	for _, op := range g.Ops {
		r.Calls = append(r.Calls, summary.GroupCall{Op: op.Op, Count: op.Count, Dtype: op.Dtype, Peer: known(op.Peer),
			Calls: op.Calls})
	}
	for _, p := range g.Pending {
		call := summary.PendingCall{Op: p.Op, Seq: p.Seq, P2P: p.P2P, State: p.State, RanNS: p.Ran, Shape: p.Shape}
		if p.Created != logs.NoTime {
			call.CreatedNS = &p.Created
		}
		r.Pending = append(r.Pending, call)
	}
	return r
}

// known returns nil for -1.
func known(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}

func knownNumber(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}
