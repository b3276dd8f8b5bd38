package summary

import (
	"fmt"
	"math"
	"sync"

	"assay/summary/row"
)

// An Attempt is one start of a program that logs its steps, with where its time went. (Input, Number) is its key.
type Attempt struct {
	Input    int    `json:"input"`
	Number   int    `json:"number"` // of the start in its input, from 0
	Producer string `json:"producer"`

	// StartNS and EndNS are the times of its first and last line, by the clock of the input: Unix time as if the
	// zone was UTC. Both are absent if its steps have no times.
	StartNS *int64 `json:"start_ns,omitempty"`
	EndNS   *int64 `json:"end_ns,omitempty"`
	Dated   bool   `json:"dated,omitempty"` // these times have a year

	FirstStep int64  `json:"first_step"`        // number of the first step that it logged
	LastStep  int64  `json:"last_step"`         // number of the last one
	Steps     int64  `json:"steps"`             // steps that it did, those between records included; 0 if it failed before its first one
	Resumed   *int64 `json:"resumed,omitempty"` // step of the checkpoint from which it went on
	Saved     *int64 `json:"saved,omitempty"`   // step of the last checkpoint that it wrote
	Folder    string `json:"folder,omitempty"`  // of its checkpoints
	// Setup has what it trains, as far as its log says so: "data", "model", "output folder", "number of steps".
	Setup map[string]string `json:"setup,omitempty"`
	// FirstLoss is the loss of its first record.
	FirstLoss *float64 `json:"first_loss,omitempty"`
	// MedianNS is the usual time of one step.
	MedianNS int64 `json:"median_ns"`

	Parts []AttemptPart `json:"parts"` // if there are times, they add up to its length

	// End is what ended it: "finished", "stopped", "failed", or absent if the log does not say so.
	End    string `json:"end,omitempty"`
	Reason string `json:"reason,omitempty"` // class of the error or of the stop: "GPU out of memory"
	Rank   *int   `json:"rank,omitempty"`   // that failed first, if the log says so
	Node   string `json:"node,omitempty"`   // of that rank
	Line   int64  `json:"line,omitempty"`   // of the input, with the reason
	Error  string `json:"error,omitempty"`  // this line

	TokensPerStep  *float64 `json:"tokens_per_step,omitempty"`  // as the log states it
	SamplesPerStep *float64 `json:"samples_per_step,omitempty"` // as the log states it

	// Power is the mean power of its GPUs while it ran; absent without samples of monitors of this time.
	Power *AttemptPower `json:"power,omitempty"`

	// Done has the time in productive steps up to some of its steps; the last ones are all there.
	Done []DoneAt `json:"done,omitempty"`

	// Job is the number of its job, from 1: attempts of one job continue each other. Same is set if another input
	// has the same attempt, as seen by another rank: its time then counts there.
	Job  int  `json:"job,omitempty"`
	Same bool `json:"same,omitempty"`
	// Apart says why it is not counted as a restart of an attempt before it, if it could be one.
	Apart string `json:"apart,omitempty"`
}

// An AttemptPower is the power of the GPUs of an attempt.
type AttemptPower struct {
	Watts float64 `json:"watts"` // mean of one GPU
	GPUs  int64   `json:"gpus"`  // that monitors recorded
	NS    int64   `json:"ns"`    // of the attempt, for which samples of a GPU stand
}

// A DoneAt is the time in productive steps until a step was done.
type DoneAt struct {
	Step int64 `json:"step"`
	NS   int64 `json:"ns"`
}

// An AttemptPart is the time of one kind.
type AttemptPart struct {
	Part string `json:"part"` // a constant below
	NS   int64  `json:"ns"`
}

// Parts of the time of a job.
const (
	PartSteps      = "steps"      // steps that were not done again later
	PartLost       = "lost"       // steps that were done again after a restart, and the one that was under way
	PartStartUp    = "start-up"   // until the first step, with loading of a checkpoint
	PartCompile    = "compile"    // compilation and warm-up: logged, or by which first steps are longer
	PartEvaluation = "evaluation" // between steps or in them, as far as logged
	PartCheckpoint = "checkpoint" // time in which steps waited for checkpoints
	PartStall      = "stall"      // no step was done for long, and no line says why
	PartWaiting    = "waiting"    // between the end of an attempt and the start of the next
	PartBetween    = "between"    // between steps: nothing is logged about it
	PartAfter      = "after"      // after the last step
)

// JobParts are the parts in the order of reports.
var JobParts = []string{PartSteps, PartLost, PartStartUp, PartCompile, PartEvaluation, PartCheckpoint, PartStall, PartWaiting, PartBetween, PartAfter}

// Ends of attempts.
const (
	EndFinished = "finished"
	EndStopped  = "stopped"
	EndFailed   = "failed"
)

// A JobTime is the time of one kind in one attempt of a job, steps that were lost to a restart and the time
// until the next attempt included. Of one job they add up to its length, if its attempts have times.
type JobTime struct {
	Job     string `json:"job" row:"job,name"`
	Part    string `json:"part" row:"use"`
	Attempt int    `json:"attempt" row:"attempt"`
	Input   int    `json:"input" row:"input"`
	NS      int64  `json:"total_ns" row:"total,sum,main"`
	Steps   int64  `json:"steps,omitempty" row:"steps,sum"`
}

// JobTimes describes these rows.
var JobTimes = sync.OnceValue(func() *row.Kind {
	return row.Describe[JobTime]("jobs", "use", "the time of jobs", row.OnHost(),
		row.Meant("job", "number of a job, from 1", "1"),
		row.Meant("use", "what the time of a job went to: steps, lost, start-up, compile, evaluation, checkpoint, stall, waiting, between, after", "steps"),
		row.Meant("attempt", "number of a start of the job, from 1", "2"))
})

// A Price is what the GPUs of a job cost.
type Price struct {
	GPUHour float64 `json:"gpu_hour"`       // of one GPU for one hour, in any currency
	GPUs    int64   `json:"gpus,omitempty"` // of the job; absent if not stated
}

// check returns the first violated constraint of a row.
func (a *Attempt) check() error {
	if (a.StartNS == nil) != (a.EndNS == nil) || a.StartNS != nil && *a.StartNS > *a.EndNS {
		return fmt.Errorf(".start_ns: not both of start and end, in this order")
	}
	sum := int64(0)
	for _, p := range a.Parts {
		if p.NS < 0 || p.NS > math.MaxInt64-sum {
			return fmt.Errorf(".parts: %d ns of %s", p.NS, p.Part)
		}
		sum += p.NS
	}
	if a.StartNS != nil && sum != *a.EndNS-*a.StartNS {
		return fmt.Errorf(".parts: add up to %d ns, want %d", sum, *a.EndNS-*a.StartNS)
	}
	return nil
}

// Part returns the time of one kind.
func (a *Attempt) Part(name string) (ns int64) {
	for _, p := range a.Parts {
		if p.Part == name {
			ns += p.NS
		}
	}
	return ns
}
