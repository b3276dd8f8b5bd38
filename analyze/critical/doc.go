// Package critical finds what decided when a step of a program ended.
//
// The critical path of a step goes back from its end along the binding edges of a graph. Its pieces
// partition the time of the step, so the classes of a [Path] sum to its window. A replay computes the
// starts of all nodes anew under a [Rule], which says what durations and delays are.
//
// path.go walks back, replay.go computes starts anew, verdict.go says how far an answer can be
// trusted, and why.go what one start waited for.
package critical
