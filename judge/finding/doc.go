// Package finding has the types that the judge returns: findings with their places and steps, the
// nodes of their tree, bottlenecks and verdicts.
//
// It measures nothing and has no limits, so that every stage after judge can import it without
// seeing a rule. Package rule has the limits and the texts of the steps; package tree builds the
// nodes.
//
//   - finding.go: [Finding], [Verdict], [Result]
//   - bound.go: [Bound], the bottlenecks and their display words
//   - node.go: [Node], a finding in the tree
//   - place.go, step.go, level.go: where to look, what to do, how urgent it is
//   - order.go, largest.go: sorting, and the choice of the worst
//
// A step is an id with arguments and not a text: the report words it, and tests compare ids.
package finding
