// Package compare compares two runs: which times changed, by how much, and in which part, category,
// operator and kernel. It uses summaries only, so every comparison can be repeated from two saved
// ones.
//
// [Summaries] and [Runs] return a [Comparison]. Its first sentence is the headline, and its reasons
// say why the runs may not be comparable.
//
// Sums are exact to the nanosecond. A [Part] is a list of rows whose deltas sum to its own, and the
// delta of a row is the sum of its count effect and its duration effect. When a time is divided by
// the number of steps, the remaining fraction of a nanosecond of a row is carried to the next row,
// so that sums stay exact: a row differs by less than 1 ns from its exact value.
//
//   - compare.go: the types, and the two entry points
//   - side.go, run.go, rolled.go: the data of one side, added up over its runs
//   - rows.go, tables.go, shapes.go: the rows of a comparison
//   - match.go, canonical.go: which kernels of both sides are the same
//   - reasons.go, host.go: whether the runs can be compared; logs and steps on the host
//   - estimate.go: statistics of repeated runs
//   - headline.go and headline_*.go: the first sentence
//
// Packages phases, ranks, logs and efficiency compare these subjects. Package summary/view decides
// which runs are comparable at all, for gates as well.
package compare
