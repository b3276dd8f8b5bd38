// Package tables judges totals that other tools have printed: those of nsys stats and of
// torch.profiler. They have no timeline, so the verdict names the largest finding and no
// bottleneck.
//
// [Evaluator.Judge] is used if a summary has no timeline and no profile. Tables are first sorted by
// run, and of each run one table is used for kernels, one for copies and one for calls, because
// several tables list the same work. Runs are then added up.
//
//   - tables.go: from tables to runs
//   - torch.go: what tables of torch.profiler have in addition: CPU time of operators, and allocations
//   - sums.go: the verdict, and rules that withhold it
//   - rules.go: the other rules
//
// Times of calls and of kernels overlap in ways that totals do not show, so each rule has a
// denominator of its own and findings do not form a tree.
package tables
