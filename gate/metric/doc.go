// Package metric has the metrics that gates are set on: the name of each, its unit, its selectors,
// and how it is measured from a summary.
//
// [Parse] reads the name of a metric with its selector, and [Metric.Measure] returns its value in a
// run. Package gate compares values with limits.
//
//   - metric.go: what a metric is, and the metrics of the timeline, steps, kernels and launches
//   - totals.go: the metrics of collectives, functions, counters and memory
//   - unit.go, selector.go: units, and the parts of a run that a gate selects
//   - measure_*.go: how they are measured, one file per subject
//   - measure_rows.go: metrics that follow from the descriptions of rows in package summary
//   - logged.go: metrics of logs, as lines of logged.txt
//   - rolled.go: what a rolled-up summary cannot measure
//   - explain.go: the documentation of a metric
//
// A metric that a run does not have is an error and not 0, so that a gate on a misspelt or missing
// value cannot pass.
package metric
