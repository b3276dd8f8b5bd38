// Package ranks compares the ranks of one job: it matches their collectives, and
// divides the time in them into transfer and waiting.
//
// # Matching
//
// Two ranks record one collective if it has the same communicator and number
// ("Seq"), or, without numbers, the same place in the order of launches of its
// group. Groups correspond by communicator, by name and ranks, or, where names mean
// nothing outside of their process, by the order of their first use.
//
// # Transfer and waiting
//
// No rank leaves an all-reduce, reduce-scatter, all-gather, all-to-all or barrier
// before all have come. So the shortest duration among the ranks is the transfer, and
// the rest of each duration is waiting for the rank that came last, which is the one
// with the shortest. That needs no clocks. Other collectives and send/recv are counted
// only.
package ranks

import (
	"cmp"
	"slices"

	"assay/analyze/ranks/collective"
)

// A Member is one GPU of a job: its place in the summary, and its collectives.
type Member struct {
	Input, Rank int
	Device      int64
	Columns     *collective.Columns

	// Cut says that the input ended early. Collectives that are missing from such a member
	// are compared among the others.
	Cut bool
}

// A Job is several ranks whose collectives were matched.
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
	last           int64 // collectives to which it came last
	incomplete     int64 // collectives that not every rank of the group recorded
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

// Comparable returns the members that have collectives, by rank and device. It returns nil
// if they are fewer than two, or if two have the same rank and device: then they belong to
// different runs, or are parts of one.
func Comparable(members []Member) []Member {
	list := slices.DeleteFunc(slices.Clone(members), func(m Member) bool { return m.Columns == nil || len(m.Columns.Runs) == 0 })
	place := func(a, b Member) int { return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Device, b.Device)) }
	slices.SortFunc(list, func(a, b Member) int { return cmp.Or(place(a, b), cmp.Compare(a.Input, b.Input)) })
	if len(list) < 2 || len(slices.CompactFunc(slices.Clone(list), func(a, b Member) bool { return place(a, b) == 0 })) < len(list) {
		return nil
	}
	return list
}
