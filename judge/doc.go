// Package judge turns a summary into findings and one verdict. It cannot see a trace, so every
// verdict can be reproduced from a saved summary alone.
//
// Findings are a tree of time. The four parts of the window (idle, exposed communication, exposed
// copies, compute) are its first roots and sum to the window. Below a part are its causes, each
// with the time that it explains; together they explain at most the time of the part. Where two
// causes explain the same time, it counts for the one with the higher precedence. Findings on
// memory, steps, phases, ranks, counters, totals and profiles have roots of their own, because
// their denominators differ.
//
// [Judge] chooses the subject that decides the verdict and adds what no single rule knows:
// software, confidence, verdicts on the stages of a server. The rest is in packages:
//
//   - timeline, ranks, tables, profile, counters, memory, logs, capture: the rules of one
//     subject each, listed by Rules() of the package
//   - rule: limits, sentences and remedies as data
//   - finding: the types that rules return
//   - tree: how findings are ordered below each other
//   - advice: evidence and fixes that several subjects share
//   - doctor: which questions a capture can answer
//
// Totals that other tools have printed are judged only if there is nothing else. They have no
// timeline, so the verdict names their largest entry and no bottleneck.
package judge
