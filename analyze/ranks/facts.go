package ranks

import "assay/summary"

// Facts are sums over one group for the topology of the job. They do not depend on the topology, so
// they can be computed on the machine that has the collectives of the group.
type Facts struct {
	Lists []ListFacts // of the members, in the order of the group
	Late  []LateRun   // the last arrivals at collectives for which the others waited

	Instances int64 // number of matched collectives, or of sends and receives
	Largest   int64 // number of complete ones of the size with the most bytes
	Sends     bool  // the first list sends to the other
	Leavers   []int // lists that leave collectives before others have come
}

// ListFacts are sums over the complete instances of one member.
type ListFacts struct {
	Passed, PassWait int64 // number of sends and receives, and their waiting in ns
	Wait, Caused     int64 // ns waited, and caused to others, in synchronizing collectives
	Split            int64 // bytes received or returned in all-to-alls of uneven sizes
}

// A LateRun is the last arrival at a collective: its list, its start on the member's clock, and
// the waiting of the others, in ns.
type LateRun struct {
	List        int
	Start, Wait int64
}

// facts returns the facts of the group. A group that was solved elsewhere brings its own.
func (g *group) facts(members []Member) Facts {
	if g.solved != nil {
		return g.solved.Facts
	}
	f := Facts{Lists: make([]ListFacts, len(g.lists)), Instances: int64(len(g.instances)), Leavers: g.leavers}
	if g.matched == byNothing {
		return f
	}
	if len(g.instances) > 0 {
		f.Largest, f.Sends = g.largest(), g.instances[0].what.Sends
	}
	for i, l := range g.lists {
		to, runs := &f.Lists[i], members[l.member].Columns.Runs
		for at, id := range l.of {
			if id < 0 || !g.complete(&g.instances[id]) {
				continue
			}
			in, run := &g.instances[id], &runs[l.runs[at]]
			own := max(0, run.End-run.Start) - in.shortest
			if g.sends != noSends {
				to.PassWait = summary.Plus(to.PassWait, own)
				to.Passed++
			}
			if !in.what.Op.Synchronizes() {
				continue
			}
			to.Wait = summary.Plus(to.Wait, own)
			if int(in.last) == l.member {
				to.Caused = summary.Plus(to.Caused, in.waiting())
				if late(in) {
					f.Late = append(f.Late, LateRun{i, run.Start, in.waiting()})
				}
			}
		}
	}
	for _, in := range g.splitsOf(members) {
		for i := range g.lists {
			f.Lists[i].Split = summary.Plus(f.Lists[i].Split, in.bytes[i])
		}
	}
	return f
}
