package judge

import "slices"

// outsidePhases is the name of the time that is in no phase.
const outsidePhases = "no phase"

// phaseAdvice returns what to do about a phase, whatever the framework. The remedies
// for the frameworks that are found come before it.
func phaseAdvice(name string) []Step {
	switch name {
	case "generation":
		return []Step{advise("speed-up-generation"), advise("shorten-the-tail")}
	case "weight-sync":
		return []Step{advise("colocate-for-weight-sync"), advise("send-weights-in-buckets"), advise("find-pauses-in-weight-sync")}
	case "training":
		return []Step{advise("find-what-limits-training")}
	case "data":
		return []Step{advise("load-data-ahead"), advise("prepare-data-outside-the-step")}
	case "wait":
		return []Step{advise("balance-the-sides")}
	case "sleep-wake":
		return []Step{advise("find-what-sleep-does"), advise("keep-state-on-the-gpu")}
	case outsidePhases:
		return []Step{advise("find-what-runs-outside-phases")}
	}
	return []Step{advise("find-what-runs-in-the-phase", "phase", name)}
}

// isOfPhases reports whether a rule is about phases of reinforcement learning.
func isOfPhases(rule string) bool {
	return rule == RuleWeightSyncTime || rule == RuleDataShare || rule == RuleRLUtilization ||
		slices.ContainsFunc(shareRules(), func(r struct{ rule, phase, what string }) bool { return r.rule == rule })
}
