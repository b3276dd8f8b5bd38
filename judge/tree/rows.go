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

// The parts of the window in the tree, and the bases of findings that are about something else.
// Comments give the denominators.
const (
	PartIdle    = "idle"
	PartComm    = "exposed-communication"
	PartCopies  = "exposed-copies"
	PartCompute = "compute"

	BasisCapture  = "capture"  // the whole capture
	BasisRanks    = "ranks"    // compute time of one rank
	BasisSlices   = "slices"   // CPU slices of one thread
	BasisSteps    = "steps"    // time or number of all steps
	BasisPhases   = "phases"   // time of steps, or of windows if no steps are marked
	BasisMemory   = "memory"   // bytes
	BasisCounters = "counters" // time of kernels with counters
	BasisTotals   = "totals"   // total times without a timeline
	BasisProfile  = "profile"  // a profile of functions
	BasisCompiled = "compiled" // what torch.compile did
	BasisLogs     = "logs"     // times and values of trainers and servers
)

// A Row is a rule: where its findings belong in the tree, and the function that measures them. That
// function sees the summary and the limits, but no other finding.
type Row struct {
	ID   string
	Part string // the root of its findings

	// Under has the rules that its findings can explain: causes and findings first, then parts of
	// the window. A finding that explains none of them has a root of its own.
	Under []string

	// Precedence orders the causes of one parent. Time that two of them explain counts for the one
	// with the lower number.
	Precedence int

	Root     bool   // its finding is a part of the window
	Good     bool   // the part is not a loss, so its causes are findings of their own
	Replaces bool   // its finding replaces that of its part if it explains at least half of it
	Always   bool   // it replaces even if the part is within its limits
	Alone    bool   // it is a finding if its part is within its limits
	Last     bool   // its evidence follows that of its parent, however much it explains
	Lower    bool   // it is placed only below findings of at least its level
	Whole    bool   // it is measured for the whole windows only, including a warm-up
	OfIdle   bool   // it follows from causes of idle time, which may be known without the warm-up
	Not      string // the rule whose findings do not include its evidence
	Worth    worth  // which share of the window its levels need

	Abstains bool // its finding withholds the verdict

	Measure  func() []Reading
	Conclude func(finding.Verdict) []Reading // set instead of Measure for rules about the verdict
}

// A worth says which share of the window a cause needs for a level.
type worth int

// The values of [Row.Worth].
const (
	worthOfPart worth = iota // the limits of its part
	WorthOfRule              // its own limits, which are shares of the window
	WorthOfLoss              // MinShare of its rule for a warning, and the critical limit of its part
)

// Compute time has no limit of its own, so its causes need these shares of the window.
const (
	computeWarn     = 0.10
	computeCritical = 0.50
)

// caps returns the least shares of the window at which a cause below a part may be a warning and
// critical.
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

// BasedOn selects the rules of one basis.
func BasedOn(part string) func(Row) bool { return func(r Row) bool { return r.Part == part } }

// Single adapts the function of a rule with at most one finding, which explains no other one.
func Single(f func() (finding.Finding, bool)) func() []Reading {
	return func() []Reading { return Found(f()) }
}

// Found returns a finding as a list of readings, which is empty if ok is false.
func Found(f finding.Finding, ok bool) []Reading {
	if !ok {
		return nil
	}
	return []Reading{{Finding: f, Reached: true}}
}
