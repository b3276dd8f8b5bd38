// Package words has the display names of the ids in summaries, verdicts and comparisons. Text,
// Markdown and pictures look them up here, so that one cause has one name everywhere. JSON keeps the
// ids, which are stable.
//
// words.go has causes, phases, verdicts, results of gates and formats; efficiency.go bounds, sources
// of peaks and reasons of unknown FLOPs; runs.go and choice.go how inputs were grouped and GPUs
// chosen; topology.go how ranks divide the work.
//
// An id of a later version of the schema has no name here. It is printed as it is, in a limited width,
// so that old versions of assay can print new summaries.
package words
