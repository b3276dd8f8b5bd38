// Package gate evaluates limits on the metrics of a run: absolute ones, and relative ones against a
// baseline.
//
// [Parse] reads gates from a file, [Runs] groups inputs into runs of a program, and [Check]
// evaluates the gates. Like package judge it reads summaries, not traces. Judge explains a run;
// gate returns one result per gate. Package report prints the results.
//
//   - gate.go, parse.go: gates and their files; gates.yaml has the default ones
//   - run.go: which inputs are one run
//   - check.go, stat.go: results, and the comparison of values with limits
//   - capture.go: whether captures are good enough for a result
//
// Package metric measures; package baseline keeps accepted baselines.
//
// # Noise
//
// Values that repeat exactly from run to run (kernel counts, launches, graphs) are compared with
// the limit directly. Times are not: whole runs of one program differ, and the steps within one run
// do not show by how much. With [MinRuns] runs on each side, a gate on times fails if the medians
// differ by more than its limit and a rank test finds a difference. With fewer runs, it fails if
// they differ by more than its limit and by more than single runs do, which is 20 % if the gate
// file does not say otherwise, or less if a baseline of ten runs or more shows less. A value over a limit that may be noise is inconclusive.
package gate
