// Package capture judges what was recorded, before anybody trusts shares of it: whether there is
// GPU time, whether there is enough of it, whether its clocks are plausible, and how many device
// records are missing.
//
// [Rules] returns the rules for a [tree.Context]. Most of them withhold the verdict instead of
// naming a bottleneck, because a share of an incomplete window would mislead.
//
//   - capture.go: issues of the readers, captures without GPU time or with too little of it, clocks
//   - loss.go: launches whose device work is missing ([LossOf]); package timeline and package
//     doctor use it too
//   - workers.go: timelines without GPUs that have one thread for each worker of a job
package capture
