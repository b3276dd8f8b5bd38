// Package counters has the sections on hardware counters of kernels: how close each kernel comes to
// the peaks of the GPU, what limits it, and the advice of the profiler that collected the counters.
//
// It takes [summary.Counter] rows and the limiting side of each kernel from the verdict
// (judge/counters). Percentages refer to the peaks of the device.
//
// A profiler of counters runs kernels alone, so its times are not added to those of a timeline.
package counters
