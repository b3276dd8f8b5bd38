// Package profile judges profiles of functions, by the self and total time of each function and by
// which function calls which.
//
// It takes the tables of functions in a summary, from yappi, cProfile, pprof or other profilers.
// [Evaluator.Rules] returns the rules. [Evaluator.Judge] gives the verdict if the inputs have only
// such profiles.
//
//   - functions.go: one profile with an index of its functions and calls; which functions are
//     libraries, which ones wait
//   - profile.go: the hot function, its callees, and call overhead
//   - waiting.go: waiting in one profile, and comparisons of two profiles
//   - advice.go: fixes
//
// The hot function is not simply the first row: main has the largest total of every profile. Calls
// are followed to the innermost function with nearly the same time, and the program's own code is
// preferred to libraries, because only it can be changed.
package profile
