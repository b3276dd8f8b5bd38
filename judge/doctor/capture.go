package doctor

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/summary"
)

// worldSize returns the largest number of ranks that an input states, or 0.
func (e *examination) worldSize() (n int) {
	for _, in := range e.Inputs {
		n = max(n, in.WorldSize)
	}
	return n
}

// cutRanks names the ranks whose inputs ended early: "rank 3", "2 ranks". It returns "" if no input
// ended early.
func (e *examination) cutRanks() string {
	cut := map[int]bool{}
	for _, d := range e.Devices {
		if d.Input < len(e.Inputs) && !e.Inputs[d.Input].Complete {
			cut[d.Rank] = true
		}
	}
	switch len(cut) {
	case 0:
		return ""
	case 1:
		for rank := range cut {
			return fmt.Sprintf("rank %d", rank)
		}
	}
	return label.Plural(int64(len(cut)), "rank")
}

// partOfGroup returns how many ranks of a group the inputs have: "2 of 128 ranks". Of several
// incomplete groups it is the least complete one; if all are complete, it is "".
func (e *examination) partOfGroup() (of string) {
	least := 1.0
	for _, c := range e.Collectives {
		if part := float64(c.Ranks) / float64(max(1, c.GroupSize)); c.Partial && c.GroupSize > c.Ranks && part < least {
			least, of = part, fmt.Sprintf("%d of %d ranks", c.Ranks, c.GroupSize)
		}
	}
	return of
}

func (e *examination) ranks() (can, why string) {
	input, repeated := map[int]int{}, false
	for _, d := range e.Devices {
		in, ok := input[d.Rank]
		repeated = repeated || ok && in != d.Input
		input[d.Rank] = d.Input
	}
	comm := slices.ContainsFunc(e.Kernels, func(k summary.Kernel) bool { return k.Class == "comm" })
	switch {
	case len(input) == 0:
		return No, "No GPU event has a time."
	case repeated:
		return Partly, "Several inputs have the same rank."
	case len(input) > 1:
		have := "The inputs have " + label.Plural(int64(len(input)), "rank")
		if size := e.worldSize(); size > len(input) {
			return Partly, fmt.Sprintf("The inputs have %d of %d ranks. A rank that is not here may be the straggler.",
				len(input), size)
		}
		if cut := e.cutRanks(); len(cut) > 0 {
			return Partly, fmt.Sprintf("%s, and the end of %s is missing. What ran after it is compared among the others.",
				have, cut)
		}
		if of := e.partOfGroup(); of != "" {
			return Partly, fmt.Sprintf("%s, but only %s of a group. A rank that is not here may be the straggler.", have, of)
		}
		return Yes, have + "."
	case !comm && !e.communicatesOnCPU() && e.worldSize() <= 1:
		return Yes, "The capture has no communication kernels."
	case e.HasAllRanks() && e.Compares():
		return Yes, "The collectives of " + label.Plural(int64(len(e.Ranks)), "GPU") + " were compared."
	case e.HasAllRanks():
		return Yes, "The inputs are all ranks of the job."
	}
	if size := e.worldSize(); size > 1 {
		return No, fmt.Sprintf("The inputs have 1 of %d ranks.", size)
	}
	return No, "Only one rank of the job was recorded."
}

// communicatesOnCPU reports whether the CPU runs collectives, as Gloo and MPI do: they have no kernels.
func (e *examination) communicatesOnCPU() bool {
	return slices.ContainsFunc(e.Idle, func(r summary.Idle) bool { return r.State == summary.StateCollective })
}

// whole judges whether the window covers at least half of the capture.
func (e *examination) whole() (can, why string) {
	window, span := int64(0), int64(0)
	for i := range e.Inputs {
		from, to, any := int64(0), int64(0), false
		for _, d := range e.Devices {
			if d.Input != i {
				continue
			}
			if !any {
				from, to, any = d.StartNS, d.StartNS, true
			}
			from, to = min(from, d.StartNS), max(to, summary.Plus(d.StartNS, d.WindowNS))
		}
		if any && e.Inputs[i].SpanNS > 0 {
			window, span = summary.Plus(window, summary.Plus(to, -max(from, -math.MaxInt64))),
				summary.Plus(span, e.Inputs[i].SpanNS)
		}
	}
	if window <= 0 || span <= 0 {
		return No, "No GPU event has a time."
	}
	why = fmt.Sprintf("The GPU window is %s of the capture (%s).", unit.Share(window, span), unit.DurationOf(window, span))
	if window < span/2 {
		return Partly, why
	}
	return Yes, why
}

// issueCodes returns the codes of the issues that wanted accepts.
func (e *examination) issueCodes(wanted func(summary.Issue) bool) string {
	var codes []string
	for _, is := range e.Issues {
		if wanted(is) {
			codes = append(codes, is.Code)
		}
	}
	return strings.Join(codes, ", ")
}

// clockIssues are the issues that wrong clocks cause.
var clockIssues = []string{summary.ClocksDiffer, "work-before-launch", "value-implausible", summary.ClocksImplausible, "step-implausible",
	"steps-overlap", "stream-overlap"}

func (e *examination) clocks() (can, why string) {
	if codes := e.issueCodes(func(is summary.Issue) bool { return slices.Contains(clockIssues, is.Code) }); codes != "" {
		return Partly, "The capture has issues with its timestamps: " + codes + "."
	}
	return Yes, "No timestamp is implausible."
}

func (e *examination) complete() (can, why string) {
	codes := e.issueCodes(func(is summary.Issue) bool {
		return is.Severity == "data-loss" || is.Code == summary.LaunchesWithoutKernels
	})
	incomplete := int64(0)
	for _, in := range e.Inputs {
		if !in.Complete {
			incomplete++
		}
	}
	switch {
	case incomplete > 0 && len(e.Inputs) == 1:
		return Partly, "The input is incomplete."
	case incomplete > 0:
		return Partly, fmt.Sprintf("%d of the %d inputs are incomplete.", incomplete, len(e.Inputs))
	case codes != "":
		return Partly, "Data is missing: " + codes + "."
	case e.Issue(summary.LogCut) != nil:
		return Partly, "A log ends within a line: it was cut there, or copied while the program wrote it."
	}
	return Yes, "All inputs were read to their ends, and nothing is missing."
}

// secretIssues are the issues of inputs with secrets.
var secretIssues = []string{"secrets-in-capture", "secrets-masked"}

func (e *examination) sharing() (can, why string) {
	most := int64(0)
	for _, is := range e.Issues {
		if slices.Contains(secretIssues, is.Code) {
			most = max(most, is.Count)
		}
	}
	if most > 0 {
		return No, "The capture has " + label.Plural(most, "value") + " that may be secrets."
	}
	if is := e.Issue("secrets-not-searched"); is != nil {
		return Partly, "Not all of it was searched for secrets. " + is.Help
	}
	return Yes, "Nothing in it looks like a secret. User names and paths may remain."
}
