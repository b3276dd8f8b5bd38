// Package timeline judges what ran when: the parts of the windows of all GPUs, their causes, steps
// and phases. The verdict follows from the parts.
//
// [Evaluator.Judge] takes a summary with a timeline and returns the verdict, the findings and their
// tree, and the states of steps. The methods of [Evaluator] are the rules and what they share;
// rows.go lists them, with the place of each in the tree. Functions measure for them.
//
//   - timeline.go, verdict.go: the four parts of the window and the verdict
//   - idle.go, gaps.go, causes.go, cpuwork.go, elsewhere.go: idle time by length, place and cause
//   - blocking.go, smallcopies.go: calls that block the CPU, and many small copies
//   - kernels.go, slowing.go: dominant and short kernels, kernels that move data, kernels that slow down
//   - steps.go, stalls.go, periodic.go: medians of steps, slow and periodic ones
//   - phases.go: phases of reinforcement learning
//   - warmup.go, steady.go: a long warm-up, which is left out
//   - unrecorded.go, withheld.go: work that is missing from the capture, and whether a
//     verdict is possible without it
//   - evidence.go, places.go: lines and places that several rules use
//
// Two choices run through all files. Shares are pooled over GPUs, so one verdict is about all of
// them. And a warm-up is left out only as far as its causes are known, because otherwise findings
// would explain time that is not judged.
package timeline
