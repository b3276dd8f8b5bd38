package summary

import (
	"cmp"
	"fmt"
	"slices"

	"assay/unit"
)

// The kinds of launches of [LaunchLoss].
const (
	LossKernel = "kernel"
	LossGraph  = "graph"
	LossCopy   = "copy"
	LossMemset = "memset"
)

// A LaunchLoss counts the calls of one kind whose device work is missing from the
// capture. An input has a row only for a kind of which work is missing. (Input,
// Kind) is its key.
type LaunchLoss struct {
	Input int    `json:"input"`
	Rank  int    `json:"rank"`
	Kind  string `json:"kind"` // "kernel", "graph", "copy" or "memset"
	// Calls counts the calls of this kind that launch device work: those with
	// recorded work and Missing.
	Calls   int64 `json:"calls"`
	Missing int64 `json:"missing"`
	// AtEnd is the part of Missing that was called after the last call whose work
	// was recorded: their work ran after the device's window, if the capture ended
	// before it did.
	AtEnd int64 `json:"at_end,omitempty"`
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

// sortLosses sorts the rows by their key.
func (s *Summary) sortLosses() {
	slices.SortStableFunc(s.LaunchLosses, func(a, b LaunchLoss) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Kind, b.Kind))
	})
}

// checkLosses returns an error for the first row that counts wrongly or whose input
// does not exist.
func (s *Summary) checkLosses() error {
	for i, r := range s.LaunchLosses {
		if r.AtEnd < 0 || r.Missing < r.AtEnd || r.Calls < r.Missing {
			return fmt.Errorf("launch_losses[%d]: got %d at the end of %d missing of %d calls, want none larger than the next", i, r.AtEnd, r.Missing, r.Calls)
		}
	}
	for i, d := range s.Devices {
		if d.UncertainNS < 0 || d.UncertainNS > d.WindowNS {
			return fmt.Errorf("devices[%d].uncertain_ns: got %d, want 0 or more and at most window_ns, %d", i, d.UncertainNS, d.WindowNS)
		}
	}
	return checkInputs(s, "launch_losses", s.LaunchLosses, func(r LaunchLoss) int { return r.Input })
}
