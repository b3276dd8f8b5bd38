// Package summary has the measurements of assay as plain data. It is the only interface between the
// packages that measure (analyze) and those that judge, compare, gate or report, so none of these
// depends on a trace format.
//
// A [Summary] is a list of tables. It is the JSON output, the baseline of a CI gate and the per-rank
// result that is sent between machines. It is plain data, never contains an event, and can be merged
// with others ([Merge]).
//
// Units: fields ending in NS are int64 nanoseconds, fields ending in Bytes are bytes. A total over
// durations ("total", work) and the length of a union ("busy", wall) are different fields. Values that
// were not measured are absent from the JSON, never 0. Sums stop at the limits of int64 ([Plus]), so
// that a damaged file cannot make them wrap around.
//
// Each file has the rows of one subject: summary.go inputs, devices, streams, kernels and copies;
// activity.go the overlap of kinds of GPU work; attribution.go operators, modules, lines and calls;
// idle.go and waiting.go idle time and waits; phases.go steps and phases; collectives.go, topology.go
// and ranks.go jobs of several ranks; memory.go and snapshot.go GPU memory; series.go and wallclock.go
// logs and monitors; efficiency*.go FLOPs, bytes and rooflines; table.go, flame.go and counters.go
// results of other tools; detail.go zoomable timelines.
//
// The other files treat all rows alike. members.go is the table of row types and member.go its methods;
// merge.go joins and sorts, own.go copies, read.go and write.go are the JSON, and rollup.go with
// unrolled.go replaces the rows of many ranks by sums. A new type of row therefore needs a struct, a
// field and one entry in members.go.
//
// Package row describes rows by the tags of their fields. Package view has the sums and rankings that
// several readers of a summary share.
package summary
