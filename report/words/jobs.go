package words

import "assay/summary"

// JobPart returns the name of a part of the time of a job.
func JobPart(id string) string {
	return wordOr(map[string]string{summary.PartSteps: "productive steps", summary.PartLost: "lost steps", summary.PartCompile: "compilation and warm-up",
		summary.PartCheckpoint: "checkpoints", summary.PartStall: "stalls", summary.PartWaiting: "waiting for a restart",
		summary.PartBetween: "between steps, no reason logged", summary.PartAfter: "after the last step"}, id, 30)
}

// RoleState returns the name of what a role does in a step.
func RoleState(id string) string {
	return wordOr(map[string]string{summary.RoleWorks: "works", summary.RoleWaits: "waits", summary.RoleSyncs: "weight sync",
		summary.RolePauses: "eval, checkpoint"}, id, 30)
}
