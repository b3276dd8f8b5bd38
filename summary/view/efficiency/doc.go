// Package efficiency has the views of FLOPs, bytes and rooflines in a summary: the operators with the
// most recoverable time, sums over GPUs, utilization, and what is unknown.
//
// It takes the rows that analyze/efficiency measured ([summary.Efficiency]) and returns sorted lists
// in which rows of all GPUs are added up. Unknown numbers stay unknown: a sum with an unknown part is
// null or a lower bound, never a guess. Times are in nanoseconds, bandwidths in 10^9 bytes/s and rates
// in 10^12 FLOP/s.
//
// efficiency.go has operators and sums, names.go their names and shapes, and steps.go sums by step.
// utilization.go computes the range of MFU and HFU, and unknown.go the reasons of missing FLOPs, bytes
// and rooflines. transfers.go has copies and collectives, decode.go decode steps of servers, and
// graphs.go the replays of graphs. counted.go compares formulas with hardware counters, logged.go has
// the throughput that logs state, clocks.go the clocks that monitors recorded, and remarks.go groups
// of operators with a known improvement.
//
// The section report/section/efficiency, the pictures and compare/efficiency show these values.
package efficiency
