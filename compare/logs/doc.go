// Package logs compares what two runs logged and reported: the metrics of trainers, servers and
// monitors, and the results of benchmarks.
//
// A metric is compared with the one that the same program logged under the same name at the same
// place. Its values are the medians over the steps after warm-up. A result of a benchmark is
// compared with the one of the same workload.
//
//   - metrics.go: [Metrics], metrics of logs and monitors
//   - places.go: ranks, replicas and the labels that name them
//   - benchmarks.go: [Benchmarks], results of benchmarks
//
// A change is called better or worse only if the intervals of both sides do not overlap; everything
// else is unclear, because logged values vary from step to step.
package logs
