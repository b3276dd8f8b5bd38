// Package inspection makes the documents of "assay inspect": the instances of a kernel, the calls of
// an operator, one gap, one layer of a model, or one moment of a trace.
//
// It takes the answer that analyze/inspect computed and returns a [doc.Doc]. inspection.go chooses the
// sections and has the texts they share; kernels.go, ops.go, gaps.go and moments.go have one kind of
// question each; issues.go lists what makes the answer incomplete.
//
// Times are printed with all their digits, because users copy them into --at.
package inspection
