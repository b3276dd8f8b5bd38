// Package counters measures hardware counters by kernel and device: it takes the launches that a
// profiler such as Nsight Compute recorded ([ncu.Capture]) and returns [summary.Counter] rows.
//
// counters.go groups launches by kernel and converts metrics to the units of the summary, group.go
// computes the weighted means of a group, and shapes.go the counts by grid and block.
//
// Means are weighted by duration, because short launches should not hide long ones. Values that cannot
// be true, such as a share of 10,000%, are dropped and counted as an issue. The findings are in
// judge/counters.
package counters
