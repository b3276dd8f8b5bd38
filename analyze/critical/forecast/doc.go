// Package forecast finds what a change of a program would give. A change is to durations and delays, and
// all starts are computed anew: a critical path does not tell it, because a second chain may be nearly as long.
//
// changes.go says what a change does to nodes and edges, best.go which changes pay most for a step,
// profiler.go what the profiler itself takes, and trust.go how far a forecast can be trusted.
package forecast
