// Package assay has no code of its own. The command is in cmd/assay; its
// packages, in the order in which data flows through them, are
//
//	internal/ingest  opens, decompresses and sniffs
//	trace            the timeline model and the reader of Chrome trace JSON
//	profile          the aggregate model; pprof and folded stacks
//	pyprof           reads yappi, cProfile and callgrind
//	classify         names of kernels to classes and categories
//	phase            names of annotations to steps and phases
//	interval         sets of spans of time, and what they cut a window into
//	analyze          measures a trace
//	summary          what was measured
//	judge            what it means
//	report           text, Markdown, JSON and pictures
//
// with diag (what was wrong with an input, and where) and unit (how quantities
// are written) under all of them. The test in this folder executes the rules
// by which they may import each other.
package assay
