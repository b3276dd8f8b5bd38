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
		return []finding.Step{finding.Advise("speed-up-generation"), finding.Advise("shorten-the-tail")}
	case "weight-sync":
		return []finding.Step{finding.Advise("colocate-for-weight-sync"), finding.Advise("send-weights-in-buckets"),
			finding.Advise("find-pauses-in-weight-sync")}
	case "training":
		return []finding.Step{finding.Advise("find-what-limits-training")}
	case "data":
		return []finding.Step{finding.Advise("load-data-ahead"), finding.Advise("prepare-data-outside-the-step")}
	case "wait":
		return []finding.Step{finding.Advise("balance-the-sides")}
	case "sleep-wake":
		return []finding.Step{finding.Advise("find-what-sleep-does"), finding.Advise("keep-state-on-the-gpu")}
	case OutsidePhases:
		return []finding.Step{finding.Advise("find-what-runs-outside-phases")}
	}
	return []finding.Step{finding.Advise("find-what-runs-in-the-phase", "phase", name)}
}
