// Package operators computes the work of an operator: floating-point operations and bytes, by formulas
// over the arguments that a profiler recorded.
//
// [ParseCall] reads dimensions and types, [Lookup] finds the formula by the name of the operator, and
// the formula returns FLOPs and bytes, or the reason why they are unknown. Nothing is guessed: a wrong
// number would change MFU silently, and an unknown one is reported with its share of the GPU time.
// FLOPs count a multiply-add as two; bytes count each operand and result once, as if caches were
// perfect.
//
// model.go has the list of formulas and the units that an operator runs on. args.go, operands.go and
// dtype.go read arguments and types, reason.go the reasons. The other files have the formulas of one
// family each: matrix*.go, attention.go, conv.go, moe.go, norm.go, reduce.go, pointwise.go, moves.go,
// lists.go, serving.go, recommend.go, triton.go. grid.go estimates bytes by the grid of a kernel if
// arguments are missing.
//
// To add an operator, add its formula to the file of its family and a line to the list, with a test
// that counts a small case by hand.
package operators
