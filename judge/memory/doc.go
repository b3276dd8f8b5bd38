// Package memory judges GPU memory. Its denominators are bytes, so its findings do not add up with
// those of a timeline.
//
// It takes what a summary has of memory snapshots, of memory timelines, and of the allocator events
// of a trace. [Evaluator.Rules] returns the rules. [Evaluator.Judge] gives the verdict if the
// inputs have memory and no times of GPUs; otherwise memory adds findings to the verdict of another
// subject.
//
//   - memory.go: how full memory was, fragmentation, churn of the allocator, growth from step to step
//   - sites.go: failed allocations, and which allocation sites have the memory
//   - advice.go: fixes by the kind of memory
//
// Each rule reports the worst GPU only: ranks of one job usually have the same problem.
package memory
