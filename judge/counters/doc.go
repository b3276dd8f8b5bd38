// Package counters judges kernels by their hardware counters: which side of the GPU limits them,
// and how far from its peaks they are.
//
// It takes the rows of [summary.Summary.Counters], which Nsight Compute measures. Each row has a
// share of the compute peak and one of the memory peak; [Peaks] are the limits that turn these into
// a [Side]. A finding is about all kernels of one side, weighted by their time; if no row has a
// duration, each launch has the same weight.
//
// The verdict is the side with the largest estimated savings, not the one with the most time: a
// kernel near its peak cannot become faster, however long it runs.
//
//   - counters.go: sides, their findings and the verdict
//   - evidence.go: what a finding says about a kernel, and its fixes; occupancy, partial
//     waves, missing counters
package counters
