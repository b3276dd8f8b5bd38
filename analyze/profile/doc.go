// Package profile measures inputs without a timeline: stacks of functions, as a table and as a tree
// for pictures, and the tables that other tools printed.
//
// profile.go adds up stacks by function ([Measure]), edges.go by caller and callee, and flame.go makes
// the tree of a flame graph, in which functions too small to be drawn are pooled. tables.go converts
// printed tables ([MeasureTables]), classifies their kernels and checks their sums.
//
// Such inputs have totals only: no idle time and no overlap can be computed, and the tables of one run
// are never added up. The reader is internal/profile; the findings are in judge/profile and
// judge/tables.
package profile
