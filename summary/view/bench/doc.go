// Package bench has the views of benchmark results in a summary: their settings, single numbers, and
// sweeps over the load.
//
// It takes [summary.Benchmark] rows. bench.go maps the settings of different producers to common names
// and finds sweeps: results of one workload that differ in one setting of the load. knee.go finds the
// operating point of a sweep with the best ratio of throughput to latency, and the scaling efficiency
// over GPUs.
//
// The tables of report/section/logs and the pictures of report/pictures/logs show sweeps.
package bench
