// Package doctor says which questions a capture can answer, which it cannot, and how to record a
// capture that can. It reads a summary and no trace.
//
// [Examine] returns an [Answer] for each question. The questions, and for each profiler or server
// the text on how to record the answer, are data: questions.yaml. builtin.go is generated from it,
// so that the program need not parse YAML when it starts.
//
//   - doctor.go: questions, answers, and which recording instructions fit the inputs
//   - work.go: questions about GPU work: kernels, idle time, operators, memory, phases
//   - capture.go: questions about the capture: ranks, clocks, completeness, secrets
//
// Limits come from package rule, so that doctor and verdict agree on what is too little.
package doctor
