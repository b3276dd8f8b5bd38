// Package efficiency measures the FLOPs and bytes of operators relative to the peaks of the GPU.
// Package operators has the formulas, package hardware the peaks. The walk of package attribute
// reports which operators are open at each launch.
//
// The outermost operator with a formula owns all work below it, so that a convolution owns the layout
// kernels that it launches. Wrappers, whose callees have formulas, own only what they launch
// themselves. If no operator has a formula, the innermost one owns the work, and FLOPs and bytes are
// null, with the reason.
//
// Start with efficiency.go (Owners), tally.go (sums) and rows.go (the tables). captures.go, nodes.go
// and replays.go, and package graphjoin over several inputs, find the operators of CUDA graph replays; decode.go rates decode steps.
package efficiency
