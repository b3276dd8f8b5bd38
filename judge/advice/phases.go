package advice

import (
	"assay/judge/finding"
)

// OutsidePhases names the time outside all phases.
const OutsidePhases = "no phase"

// PhaseAdvice returns the fixes for a phase that hold for every framework. Remedies for the
// frameworks that were found are listed before them.
func PhaseAdvice(name string) []finding.Step {
	switch name {
	case "generation":
		return []finding.Step{finding.Advise("speed-up-generation").For("phase=generation"), finding.Advise("shorten-the-tail").For("phase=generation")}
	case "weight-sync":
		return []finding.Step{finding.Advise("colocate-for-weight-sync"), finding.Advise("send-weights-in-buckets"),
			finding.Advise("find-pauses-in-weight-sync").For("phase=weight-sync")}
	case "training":
		return []finding.Step{finding.Advise("find-what-limits-training").For("phase=training")}
	case "data":
		return []finding.Step{finding.Advise("load-data-ahead"), finding.Advise("prepare-data-outside-the-step").For("phase=data")}
	case "wait":
		return []finding.Step{finding.Advise("balance-the-sides")}
	case "sleep-wake":
		return []finding.Step{finding.Advise("find-what-sleep-does").For("phase=sleep-wake"), finding.Advise("keep-state-on-the-gpu").For("phase=sleep-wake")}
	case OutsidePhases:
		return []finding.Step{finding.Advise("find-what-runs-outside-phases").For("phase=none")}
	}
	return []finding.Step{finding.Advise("find-what-runs-in-the-phase", "phase", name).For("phase=other")}
}
