package ranks

import (
	"slices"

	"assay/analyze/ranks/collective"
	"assay/summary"
)

// matchedBy says how the collectives of a group were matched.
type matchedBy uint8

const (
	byNothing matchedBy = iota // not matched
	byNumber                   // by recorded number
	byOrder                    // by launch order
	byEnd                      // by end time, because events are missing in the order
)

// An instance is one collective of a group, as all its members recorded it.
type instance struct {
	what     collective.What // kind, type and size on the first member
	members  int32
	cut      int32 // of the members, those whose inputs ended early
	differs  bool  // kind, type or size differ between members
	uneven   bool  // an all-to-all whose sizes differ between members
	shortest int64 // ns: the transfer, if it is complete
	total    int64 // ns: sum of the durations
	last     int32 // the member with the shortest duration
}

// match finds which runs of the members are the same collective.
func (g *group) match(members []Member) {
	for i := range g.lists {
		g.lists[i].of = make([]int32, len(g.lists[i].runs))
		if !g.lists[i].cut {
			g.whole++
		}
	}
	switch {
	case len(g.lists) < 2 && g.size != 1 || g.ambiguous():
		return
	case g.sends == noSends && g.numbered(members):
		g.matched = byNumber
	default:
		g.matched = g.inOrder(members)
	}
	g.join(members)
	g.leavers = g.leaveEarly(members)
	if (g.local || g.matched != byNumber) && !g.possible(members) {
		g.matched, g.instances, g.differ = byNothing, nil, 0
	}
}

// ambiguous reports whether the group may mix runs of different communicators, or of different
// pairs of ranks, because they share its name.
func (g *group) ambiguous() bool {
	switch g.sends {
	case sendsOfPair:
		return len(g.lists) > 2
	case sendsOfAll: // two ranks can only send to each other
		return len(g.lists) != 2 || g.size > 2
	}
	return g.size > 0 && len(g.lists) > g.size
}

// numbered matches runs with the same recorded number. It returns false if a run has no number. Of
// several kernels with the same number on a rank, the first match each other, and so on.
func (g *group) numbered(members []Member) bool {
	type key struct{ seq, nth uint32 }
	index := map[key]int32{}
	for i := range g.lists {
		l := &g.lists[i]
		runs, seen := members[l.member].Columns.Runs, map[uint32]uint32{}
		for at, n := range l.runs {
			seq := runs[n].Seq
			if seq == collective.NoSeq {
				return false
			}
			k := key{seq, seen[seq]}
			seen[seq]++
			id, ok := index[k]
			if !ok {
				id = int32(len(index))
				index[k] = id
			}
			l.of[at] = id
		}
	}
	return true
}

// same reports whether two ranks may have recorded the same collective. Sizes of an all-to-all may
// differ between ranks, and a property that is not recorded cannot contradict.
func same(a, b collective.What) bool {
	if a.Op != b.Op || a.Dtype != b.Dtype && a.Dtype != "" && b.Dtype != "" {
		return false
	}
	switch a.Op {
	case collective.AllToAll, collective.SendRecv, collective.Dispatch, collective.Combine:
		return true
	}
	differ := func(a, b int64) bool { return a >= 0 && b >= 0 && a != b }
	if a.Message > 0 && b.Message > 0 && a.Message != b.Message {
		return false
	}
	return !differ(a.In, b.In) && !differ(a.Out, b.Out)
}

// join builds the instances from the matched runs.
func (g *group) join(members []Member) {
	most := int32(-1)
	for _, l := range g.lists {
		most = max(most, slices.Max(append(l.of, -1)))
	}
	g.instances = make([]instance, most+1)
	for _, l := range g.lists {
		c := members[l.member].Columns
		for at, id := range l.of {
			if id < 0 {
				continue
			}
			run, in := &c.Runs[l.runs[at]], &g.instances[id]
			what, dur := c.Whats[run.What], max(0, run.End-run.Start)
			switch {
			case in.members == 0:
				in.what, in.shortest, in.last = what, dur, int32(l.member)
			case !same(in.what, what):
				in.differs = true
			case in.what.In != what.In || in.what.Out != what.Out || in.what.Message != what.Message:
				in.uneven = true
			}
			if dur < in.shortest {
				in.shortest, in.last = dur, int32(l.member)
			}
			in.members++
			if l.cut {
				in.cut++
			}
			in.total = summary.Plus(in.total, dur)
		}
	}
	for i := range g.instances {
		if g.instances[i].differs {
			g.differ++
		}
	}
}

// complete reports whether all given ranks of the group recorded the collective alike. Ranks whose
// inputs ended early may lack it if two others have it.
func (g *group) complete(in *instance) bool {
	if in.differs {
		return false
	}
	if int(in.members) == len(g.lists) {
		return true
	}
	return g.sends == noSends && g.whole > 1 && int(in.members-in.cut) == g.whole
}

// everyone reports whether all given ranks of the group recorded the collective alike, including
// those whose inputs ended early.
func (g *group) everyone(in *instance) bool { return g.complete(in) && int(in.members) == len(g.lists) }
