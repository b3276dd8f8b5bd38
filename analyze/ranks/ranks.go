package ranks

import (
	"cmp"
	"slices"

	"assay/analyze/ranks/collective"
)

// A Member is one GPU of a job with its collectives. Input, Rank and Device are as in the summary.
type Member struct {
	Input, Rank int
	Device      int64
	Columns     *collective.Columns

	// Cut says that the input ended early. A collective that such a member lacks is compared
	// among the other members.
	Cut bool
}

// A Job has the matched collectives of several ranks.
type Job struct {
	members []Member // by rank and device
	groups  []*group
	waits   []waits // by member
	clocks  []clock // by member
}

// waits are sums over the matched collectives of one member that synchronize.
type waits struct {
	transfer, wait int64 // ns
	caused         int64 // ns that the others waited because this member came last
	matched        int64
	last           int64 // number of collectives at which it arrived last
	incomplete     int64 // number of collectives that not every rank of the group recorded
}

// Match compares the members of one job. It returns nil if they cannot be compared: see
// [Comparable].
func Match(members []Member) *Job {
	list := Comparable(members)
	if list == nil {
		return nil
	}
	j := &Job{members: list, waits: make([]waits, len(list))}
	j.groups = groupsOf(list)
	for _, g := range j.groups {
		g.match(list)
		g.sum(list, j.waits)
	}
	j.align()
	return j
}

// Comparable returns the members that have collectives, by rank and device. It returns nil if there
// are fewer than two, or if two have the same rank and device: these are different runs, or parts
// of one.
func Comparable(members []Member) []Member {
	list := slices.DeleteFunc(slices.Clone(members),
		func(m Member) bool { return m.Columns == nil || len(m.Columns.Runs) == 0 })
	place := func(a, b Member) int { return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Device, b.Device)) }
	slices.SortFunc(list, func(a, b Member) int { return cmp.Or(place(a, b), cmp.Compare(a.Input, b.Input)) })
	if len(list) < 2 || len(slices.CompactFunc(slices.Clone(list),
		func(a, b Member) bool { return place(a, b) == 0 })) < len(list) {
		return nil
	}
	return list
}
