// Package tree builds the tree of findings from the readings of rules.
//
// Each rule is a [Row]: where its findings belong in the tree, and a function that measures them
// and sees no other finding. [Context.Assemble] builds the tree of the window, lowers the levels of
// causes with a small share of it, and decides which nodes are findings: a cause with at least half
// of a part replaces the finding of the part, and the evidence of the others is added to it. The
// order of the rules has no influence.
//
// Figures are pooled over GPUs: the time of all GPUs over the windows of all GPUs, so a GPU with a
// long window weighs more. Titles show the mean per GPU; evidence names the worst GPU.
//
//   - context.go: [Context], which the rules of all subjects share, and the names of its denominators
//   - rows.go: [Row], parts of the window and other bases
//   - tree.go: where readings are placed, how times are clipped and levels capped
//   - measured.go: from what a rule measured to its sentences
//   - findings.go, largest.go: the list of findings, their order and levels
//
// The conditions by which one finding replaces or includes another are in the rows and not in the
// rules, so that a rule can be added without reading the others.
package tree
