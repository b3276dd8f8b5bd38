package summary

import (
	"cmp"
	"fmt"

	"assay/internal/unit"
)

// The kinds of launches of [LaunchLoss].
const (
	LossKernel = "kernel"
	LossGraph  = "graph"
	LossCopy   = "copy"
	LossMemset = "memset"
)

// A LaunchLoss counts the calls of one kind whose GPU operations are missing from the capture. An input has
// a row only for kinds with missing operations. (Input, Kind) is its key.
type LaunchLoss struct {
	Input int    `json:"input"`
	Rank  int    `json:"rank"`
	Kind  string `json:"kind"` // "kernel", "graph", "copy" or "memset"
	// Calls counts the calls of this kind that launch GPU operations: those with recorded operations, and
	// Missing.
	Calls   int64 `json:"calls"`
	Missing int64 `json:"missing"`
	// AtEnd is the part of Missing that was called after the last call with recorded operations. If the
	// capture ended early, these operations ran after the device's window.
	AtEnd int64 `json:"at_end,omitempty"`
	// Overdue is the part of AtEnd whose operations must have run before the capture ended, because the
	// capture continues for longer than any of its operations took from launch to end.
	Overdue int64 `json:"overdue,omitempty"`
}

// Text returns the row as "12 of 444 kernel launches".
func (r LaunchLoss) Text() string {
	what := map[string]string{LossKernel: "kernel launches", LossGraph: "graph launches", LossCopy: "copies", LossMemset: "memsets"}[r.Kind]
	text := fmt.Sprintf("%s of %s %s", unit.Count(r.Missing), unit.Count(r.Calls), cmp.Or(what, r.Kind))
	if r.AtEnd > 0 {
		text += fmt.Sprintf(" (%s at the end of the capture)", unit.Count(r.AtEnd))
	}
	return text
}

// What returns the kind of the missing GPU operations in words.
func (r LaunchLoss) What() string {
	if r.Kind == LossGraph {
		return "kernels of graphs"
	}
	return map[string]string{LossKernel: "kernels", LossCopy: "copies", LossMemset: "memsets"}[r.Kind]
}

// FewCopies is the number of copies or memsets below which a loss is not reported, because libraries make a
// few calls that copy nothing.
const FewCopies = 10

// OfKernels reports whether r counts launches of kernels or graphs.
func (r LaunchLoss) OfKernels() bool { return r.Kind == LossKernel || r.Kind == LossGraph }

// InWindow returns Missing and Calls without the calls at the end of the capture, whose operations ran
// after the measured window.
func (r LaunchLoss) InWindow() (missing, calls int64) { return r.Missing - r.AtEnd, r.Calls - r.AtEnd }

// Lost returns Missing and Calls without the calls whose operations may have run after the end of the
// capture: the calls at the end that are not overdue.
func (r LaunchLoss) Lost() (missing, calls int64) {
	later := r.AtEnd - r.Overdue
	return r.Missing - later, r.Calls - later
}

// check returns an error if a part of r is larger than the whole.
func (r *LaunchLoss) check() error {
	if r.Overdue < 0 || r.AtEnd < r.Overdue {
		return fmt.Errorf(".overdue: got %d of %d at the end, want 0 or more and no more than those", r.Overdue, r.AtEnd)
	}
	if r.AtEnd < 0 || r.Missing < r.AtEnd || r.Calls < r.Missing {
		return fmt.Errorf("got %d at the end of %d missing of %d calls, want none larger than the next", r.AtEnd, r.Missing, r.Calls)
	}
	return nil
}
