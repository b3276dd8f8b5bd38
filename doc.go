// Package assay has no code of its own. The command is in cmd/assay.
//
// Data flows in one direction:
//
//	ingest                    opens, decompresses and recognizes an input
//	trace nsys torchprof logs read one format each, into a model
//	analyze                   measures a model
//	summary                   rows of what was measured
//	judge compare gate        findings and a verdict; what changed; limits for CI
//	report                    text, Markdown, JSON, HTML and pictures
//
// CONTRIBUTING.md lists all packages. The test in this folder enforces which
// packages may import each other.
package assay
