// Package ranks compares the ranks of one job: it matches their collectives, and divides the time in
// them into transfer and waiting.
//
// Start with ranks.go (Match, Job). groups.go collects the runs of each communicator; match.go and
// order.go match them; sums.go sums the waiting and aligns the clocks; rows.go adds the results to the
// summary. topology.go and work.go find which ranks do the same work, divided.go and facts.go the sums
// that depend on it. bygroup.go does all that on several machines. inputs.go checks the inputs.
//
// # Matching
//
// Runs on two ranks are the same collective if they have the same communicator and number ("Seq") or,
// without numbers, the same position in the launch order of the group. Groups are matched by
// communicator, by name and ranks, or, if names are valid only in one process, by the order of first
// use.
//
// # Transfer and waiting
//
// No rank leaves an all-reduce, reduce-scatter, all-gather, all-to-all or barrier before all have
// arrived. So the shortest duration among the ranks is the transfer, and the rest of each duration is
// waiting for the rank that arrived last, which is the rank with the shortest duration. This needs no
// synchronized clocks. Other collectives and send/recv are only counted.
package ranks
