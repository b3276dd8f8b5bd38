// Package memory has the sections on GPU memory: allocations that a trace recorded, snapshots of
// PyTorch's allocator, and memory timelines. These three inputs measure different things, so each has
// its own sections.
//
// live.go shows the peaks of a trace and the operators that allocated the memory at the peak.
// snapshot.go shows a snapshot: allocation sites, segments, the history of the allocator and failed
// allocations. screen.go has the short form of both for a terminal, and timelines.
//
// All sizes are bytes until they are printed. analyze/memory measures the rows, judge/memory has the
// findings.
package memory
