// Package phase recognizes the names that programs give to their steps and phases: the markers of
// PyTorch, vLLM and SGLang, the timers of trainers, and common names of NVTX ranges. It takes a name
// and returns the kind of step or phase that it marks, if any ([Rules.Match]).
//
// The ordered rules are data, in phases.yaml; a user's file of the same format can be tried first
// ([Rules.Override]). parse.go reads rules, phase.go matches names, and builtin.go has the built-in
// file. first.go computes the beginnings that a name must have to match a rule, because most names of
// a trace match none and regular expressions are slow.
//
// Package analyze/steps measures the GPU work of the phases.
package phase
