// Package check prints the results of gates: as text, Markdown, JSON, JUnit, lists for
// github-action-benchmark, and annotations and outputs of a GitHub workflow.
//
// It takes a [gate.Report] and the inputs of both sides ([Report]). check.go has the document for
// people, json.go the formats for programs, and explain.go the page about one metric.
//
// A result is never weakened by its format: an inconclusive gate counts as what the caller's function
// Inconclusive says in all of them.
package check
