package judge

import "slices"

// anyAdvice says what to do about a phase, whatever the framework. What the guides of
// a framework say stands in remedies.yaml, and comes first where it is found.
var anyAdvice = map[string][]string{
	"generation":  {"find what bounds generation, by its row in the table of phases: idle time asks for larger batches and CUDA graphs, a long tail for a limit on lengths or for asynchronous rollouts"},
	"weight-sync": {"place training and inference on the same devices, so that weights go by CUDA IPC; between nodes, send them in large buckets by NCCL", "tell pauses from transfers: idle time in the phase is waiting of the engine, not bandwidth"},
	"training":    {"find what bounds training, by its row in the table of phases"},
	"data":        {"prepare the next batch while the device works: DataLoader with num_workers, prefetch_factor and pin_memory=True", "move tokenization and padding out of the step"},
	"wait":        {"the side that does not wait is the slow one: give it more devices, or allow more steps of staleness"},
	"sleep-wake":  {"see in the trace whether memory is freed and mapped again, or weights are copied; keep on the device what fits beside the training"},
}

// phaseAdvice returns what to do about a phase.
func phaseAdvice(name string) []string {
	if advice := anyAdvice[name]; len(advice) > 0 {
		return slices.Clone(advice)
	}
	return []string{"see in the trace what the host does in " + name}
}

// isOfPhases reports whether a rule is about phases, of which frameworks know more
// than anyone.
func isOfPhases(rule string) bool {
	return rule == RuleWeightSyncTime || rule == RuleDataShare || rule == RuleRLUtilization ||
		slices.ContainsFunc(shareRules(), func(r struct{ rule, phase, what string }) bool { return r.rule == rule })
}
