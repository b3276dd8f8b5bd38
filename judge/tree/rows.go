package tree

import (
	"assay/judge/finding"
	"assay/judge/rule"
)

// IfReached returns r if it reached a limit.
func (r Reading) IfReached() []Reading {
	if !r.Reached {
		return nil
	}
	return []Reading{r}
}

// The parts of the window, as the tree names them, and the bases of the findings that are
// not about it.
const (
	PartIdle    = "idle"
	PartComm    = "exposed-communication"
	PartCopies  = "exposed-copies"
	PartCompute = "compute"

	BasisCapture  = "capture"  // what was recorded
	BasisRanks    = "ranks"    // the compute time of one rank
	BasisSlices   = "slices"   // the host slices of one thread
	BasisSteps    = "steps"    // the time or the number of all steps
	BasisPhases   = "phases"   // steps, or the windows where no steps are marked
	BasisMemory   = "memory"   // bytes
	BasisCounters = "counters" // the time of the kernels with counters
	BasisTotals   = "totals"   // total times without a timeline
	BasisProfile  = "profile"  // a profile of functions
	BasisLogs     = "logs"     // what trainers and servers logged
)

// A Row is a rule: where its findings hang in the tree, and the function that measures
// them. A function sees the summary and the limits, and no other finding.
type Row struct {
	ID   string
	Part string // the root of its findings

	// under has the rules that its findings explain: causes and findings first, then
	// parts of the window. Findings of the other rules have a root of their own.
	Under []string

	// precedence orders the causes of one parent. A time that two of them explain counts
	// for the one with the lower number.
	Precedence int

	Root     bool   // its finding is a part of the window
	Good     bool   // that part is not a loss, so its causes are findings of their own
	Replaces bool   // its finding replaces the one of its part if it explains at least half of it
	Always   bool   // it does so even if the part is within its limits
	Alone    bool   // it is a finding if its part is within its limits
	Last     bool   // its evidence follows that of its parent, however much it explains
	Lower    bool   // it hangs only below findings that have at least its level
	Whole    bool   // it is known of the whole windows only
	OfIdle   bool   // it follows from the causes of idle time, which may be known without the warm-up
	Not      string // the rule whose findings do not include it
	Worth    worth  // the share of the window that its levels need

	Abstains bool // its finding withholds the verdict

	Measure  func() []Reading
	Conclude func(finding.Verdict) []Reading // of rules about the verdict, instead of measure
}

// A worth says which share of the window a cause needs for a level.
type worth int

// The worths.
const (
	worthOfPart worth = iota // the limits of its part
	WorthOfRule              // its own limits, which are shares of the window
	WorthOfLoss              // min_share of its rule for a warning, and the critical limit of its part
)

// Compute time has no limit of its own. A cause of it needs these shares of the window.
const (
	computeWarn     = 0.10
	computeCritical = 0.50
)

// caps returns the least shares of the window for a warning and for a critical level of a
// cause below a part.
func (r Row) caps(own, part rule.Rule) (warn, critical float64) {
	switch {
	case r.Worth == WorthOfRule:
		return own.Warn, own.Critical
	case r.Worth == WorthOfLoss:
		return own.MinShare, part.Critical
	case part.ID == rule.ComputeBound:
		return computeWarn, computeCritical
	}
	return part.Warn, part.Critical
}

// ofTimeline reports whether a rule is about what ran when.
func (r Row) ofTimeline() bool {
	switch r.Part {
	case PartIdle, PartComm, PartCopies, PartCompute, BasisRanks, BasisSteps, BasisPhases:
		return true
	}
	return false
}

// BasedOn accepts the rules of one basis.
func BasedOn(part string) func(Row) bool { return func(r Row) bool { return r.Part == part } }

// Single returns the measure function of a rule with at most one finding, which explains no
// other one.
func Single(f func() (finding.Finding, bool)) func() []Reading {
	return func() []Reading { return Found(f()) }
}

// Found returns a finding as a reading.
func Found(f finding.Finding, ok bool) []Reading {
	if !ok {
		return nil
	}
	return []Reading{{Finding: f, Reached: true}}
}
