package summary

import (
	"sync"

	"assay/summary/row"
)

// A RoleTime is the time that one role of a job of reinforcement learning spent in one state, over the steps of its
// trainer. The states of a role add up to the time of these steps.
type RoleTime struct {
	Input int    `json:"input" row:"input"` // the log of the trainer
	Role  string `json:"role" row:"role"`   // a constant below
	State string `json:"state" row:"state"` // a constant below
	From  string `json:"from,omitempty"`    // what shows it: a constant below; absent if the timers of the trainer do
	NS    int64  `json:"total_ns" row:"total,sum,main"`
	// Inputs is the number of inputs that show it, and Covered that of the steps for which they do.
	Inputs  int64 `json:"inputs,omitempty"`
	Covered int64 `json:"covered,omitempty"`
	// InUseNS is the time for which the GPUs of the role were in use, the mean of them. It is part of no sum, and in
	// the row of work only.
	InUseNS *int64 `json:"in_use_ns,omitempty"`
}

// Values of [RoleTime.From].
const (
	FromServers  = "servers"  // logs of servers: a server works while it has requests
	FromTraces   = "traces"   // a role works while its GPUs do
	FromMonitors = "monitors" // the same, by samples of the use of the GPUs
)

// Roles of a step of reinforcement learning.
const (
	RoleRollout = "rollout"
	RoleTrainer = "trainer" // log-probs, advantages and training
	RoleReward  = "reward"
	// RoleScores is that of servers of a reference model, a teacher or embeddings. It has no time of its own.
	RoleScores = "scoring"
)

// States of a role.
const (
	RoleWorks  = "work"
	RoleWaits  = "wait"  // for another role
	RoleSyncs  = "sync"  // the weights are moved, or the engine sleeps and wakes up
	RolePauses = "pause" // evaluation and checkpoints
	RoleOther  = "other" // in no timer
)

// RoleTimes describes these rows.
var RoleTimes = sync.OnceValue(func() *row.Kind {
	return row.Describe[RoleTime]("roles", "role", "the time of roles", row.OnHost(), row.Within("role"),
		row.Meant("role", "role of a job of reinforcement learning: rollout, trainer or reward", "rollout"),
		row.Meant("state", "what a role does in a step: work, wait, sync, pause or other", "wait"))
})

// A RoleStep is what a trainer's steps have in common over the roles. Input is its key.
type RoleStep struct {
	Input  int   `json:"input"`
	Steps  int64 `json:"steps"`
	StepNS int64 `json:"step_ns"` // time of all these steps
	// OverlapNS is the time for which rollout and trainer worked at the same time at least.
	OverlapNS int64 `json:"overlap_ns"`
	// PerfectNS is the time of the steps if the roles worked at the same time: that of the role that works longest,
	// with weight sync, pauses and other time. Shared is set if the roles use the same GPUs, in turn: then it is
	// not possible on these GPUs. Apart is set if the settings of the trainer say that each has its own.
	PerfectNS int64  `json:"perfect_ns"`
	Shared    bool   `json:"shared,omitempty"`
	Apart     bool   `json:"apart,omitempty"`
	Critical  string `json:"critical"` // the role that works longest
	Servers   []int  `json:"servers,omitempty"`
	// Slowest is the input of the rollout that works longest, if the others work much less: MeanNS is the mean over all.
	Slowest *int  `json:"slowest,omitempty"`
	MeanNS  int64 `json:"mean_ns,omitempty"`

	// LeftOut are inputs of roles that could not be used. If the time of the roles is not known without them, Critical
	// is "", and there are no rows of roles.
	LeftOut []RoleLeftOut `json:"left_out,omitempty"`
}

// A RoleLeftOut is an input of a role that could not be used.
type RoleLeftOut struct {
	Input int    `json:"input"`
	Why   string `json:"why"` // a constant below, or one of [Clock.LeftOut]
}

// Values of [RoleLeftOut.Why].
const (
	TrainerWithoutTimes = "trainer-without-times" // the steps of the trainer have no times
	NoRole              = "no-role"               // neither its name nor its content tells the role
	TooCoarse           = "too-coarse"            // a step has too few samples
	ServesOthers        = "serves-others"         // it works for longer than the trainer waits for the role
	NoUse               = "no-use"                // it has no use of GPUs
	OtherRole           = "other-role"            // it serves a reference model, a teacher or embeddings
)

// A RoleTail is how the slowest sequences of batches of rollouts end, in the log of a server. Input is its key.
type RoleTail struct {
	Input     int   `json:"input"`
	Batches   int64 `json:"batches"`
	Sequences int64 `json:"sequences"` // median of a batch
	TotalNS   int64 `json:"total_ns"`  // time of the batches
	TailNS    int64 `json:"tail_ns"`   // in which at most 5% of the sequences of a batch were left
}
