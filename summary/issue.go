package summary

import (
	"cmp"
	"slices"

	"assay/internal/diag"
)

// An Issue is one kind of problem with the inputs and its number of
// occurrences.
type Issue struct {
	Code     string `json:"code"`     // stable, kebab-case
	Severity string `json:"severity"` // "info", "data-loss", "suspect"
	Count    int64  `json:"count"`
	First    string `json:"first,omitempty"` // position of the first occurrence
	Help     string `json:"help"`            // the effect on the numbers, and the fix
}

// IssueOf returns the row of an issue that a reader or a measurement has found. Without a help text of its own it
// gets that of its code.
func IssueOf(is diag.Issue) Issue {
	help := cmp.Or(is.Help, diag.HelpOf(is.Code))
	out := Issue{Code: is.Code, Severity: is.Severity.String(), Count: is.Count, Help: help}
	if is.First != (diag.Pos{}) {
		out.First = is.First.String()
	}
	return out
}

// Issue returns the first issue of one of the codes, or nil.
func (s *Summary) Issue(codes ...string) *Issue {
	i := slices.IndexFunc(s.Issues, func(is Issue) bool { return slices.Contains(codes, is.Code) })
	if i < 0 {
		return nil
	}
	return &s.Issues[i]
}

// CapturesMixed is the code of the issue that a file has the calls of several captures under one process.
const CapturesMixed = "captures-mixed"

// StepsTooLong is the code of the issue that the steps of a log together take many times as long as the log: their
// times are in another unit.
const StepsTooLong = "step-times-exceed-log"

// RanksIncomparable is the code of the issue that traces of ranks cannot be compared: they are of several runs,
// steps or units of time.
const RanksIncomparable = "ranks-incomparable"

// LaunchesWithoutKernels is the code of the issue that launches have no device work in
// the capture.
const LaunchesWithoutKernels = "launches-without-kernels"

// LogCut is the code of the issue that a log ends within a line.
const LogCut = "log-cut"

// ClocksDiffer is the code of the issue that the clocks of host and device differ by a constant.
const ClocksDiffer = "clocks-differ"

// OperatorsWithoutCalls is the code of the issue that operators that launch work elsewhere made no call.
const OperatorsWithoutCalls = "operators-without-calls"

// ClocksImplausible is the code of the issue that timestamps of GPUs cannot be true.
const ClocksImplausible = "window-implausible"

// Damages reports whether the issue says that rows of device work are missing from an
// export, or may be. Their number is unknown.
func (is Issue) Damages() bool {
	return is.Code == "device-table-damaged" || is.Code == RowsUnusable || is.Code == "export-cut" || is.Code == EventsIncomplete
}

// RowsUnusable is the code of the issue that so many rows of GPU work have no usable time or GPU that no verdict is given.
const RowsUnusable = "gpu-rows-unusable"

// EventsIncomplete is the code of the issue that an export lacks so many CUDA events
// that much of the GPU work may be missing.
const EventsIncomplete = "cuda-events-incomplete"

// mergeIssues adds up the issues of each code, in the order of their first
// appearance.
func mergeIssues(list []Issue) []Issue {
	out := list[:0]
	index := map[string]int{}
	for _, is := range list {
		i, ok := index[is.Code]
		if !ok {
			index[is.Code] = len(out)
			out = append(out, is)
			continue
		}
		have := &out[i]
		have.Count = Plus(have.Count, is.Count)
		have.First = cmp.Or(have.First, is.First)
		have.Help = cmp.Or(have.Help, is.Help)
		if weight(is.Severity) > weight(have.Severity) {
			have.Severity = is.Severity
		}
	}
	return out
}

// weight orders severities. An unknown severity, from a later version of the
// schema, has the lowest weight.
func weight(severity string) int {
	return slices.Index([]string{"info", "data-loss", "suspect"}, severity)
}
