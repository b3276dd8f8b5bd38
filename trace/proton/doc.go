// Package proton reads what Proton, the profiler of Triton, writes: trees of scopes with the time of their kernels
// (*.hatchet), and Chrome traces of kernels with the scopes that they ran in.
//
// Authors of kernels state FLOPs and bytes of scopes and kernels. These are kept as stated, and rates are given where
// all the time of a scope is covered by what its author stated.
//
// proton.go recognizes both forms. tree.go has the tree that both become, and its tables; hatchet.go and chrome.go
// read them.
package proton
