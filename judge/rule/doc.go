// Package rule has the rules as data: limits, documentation, sentences and remedies, one entry for
// each rule in the YAML files of the folder rules. Packages for the subjects measure; this package
// says from which share on a value matters and what to do then.
//
//   - rules.go: entries, and the limits printed as a file
//   - thresholds.go: ids of rules, [Rule], and [ParseThresholds], which replaces limits
//   - measure.go: from a numerator and a denominator to a finding with its level
//   - wording.go: titles and evidence of the rules that have them in their entries
//   - facts.go: conditions of remedies and sentences, and the words that they may use
//   - remedies.go: which fixes apply to a run, and where they come from
//   - stacks.go: the software in a capture, by names that only it has (stacks.yaml)
//   - pages.go, symptoms.go: the documentation of a rule
//
// builtin.go has the entries as Go data, so that the program parses no YAML when it starts;
// TestBuiltInSource compares it with the files. docs/adding-a-rule.md describes the keys of an
// entry.
package rule
