// Package ranks judges how the ranks of a job wait for each other: for late ranks, and because of
// how the work is divided, which means stages of a pipeline, experts, and the links that
// collectives use.
//
// It takes matched collectives and the waits of ranks from a summary. All findings explain parts of
// the exposed communication. Causes in the division of the work have precedence over late ranks: a
// rank with more tokens is late, but its host is not the problem.
//
//   - ranks.go: the list of rules, and how sums over GPUs are printed
//   - late.go: late ranks, and ranks that are late in turn
//   - sums.go: the same without matched collectives, from sums of communication time
//   - pipeline.go, experts.go: how the work is divided
//   - collectives.go, links.go, transfer.go: transfers that are slower than their link or than other groups
//
// Only ranks that do the same work are compared; package advice decides which do.
package ranks
