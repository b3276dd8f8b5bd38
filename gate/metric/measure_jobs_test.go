package metric

import (
	"testing"

	"assay/summary"
)

// TestJobMetrics: a job of 100 s in two attempts, of which 60 s are steps that count and 10 s lie between the attempts;
// the first attempt failed. Another job has no times.
func TestJobMetrics(t *testing.T) {
	const s = 1000 * ms
	at := func(v int64) *int64 { return &v }
	sum := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "a.log"}},
		Attempts: []summary.Attempt{{Job: 1, StartNS: at(0), EndNS: at(50 * s), End: summary.EndFailed},
			{Job: 1, Number: 1, StartNS: at(60 * s), EndNS: at(100 * s)}, {Job: 2, Number: 2}},
		JobTimes: []summary.JobTime{{Job: "1", Attempt: 1, Part: summary.PartSteps, NS: 30 * s}, {Job: "1", Attempt: 1, Part: summary.PartLost, NS: 20 * s},
			{Job: "1", Attempt: 1, Part: summary.PartWaiting, NS: 10 * s}, {Job: "1", Attempt: 2, Part: summary.PartSteps, NS: 30 * s},
			{Job: "1", Attempt: 2, Part: summary.PartStartUp, NS: 10 * s}}}
	for gate, want := range map[string]string{
		"job.goodput": "60.0% (60 s of 100 s)", "job.failures": "1", "job.between_failures": "90 s", "job.goodput{job=3}": "no such job; there is 1, 2",
		"job.goodput{job=2}": "the records of steps have no times, so the length of the job is unknown", "jobs.total{use=lost}": "20 s",
		"jobs.share{use=waiting}": "10.0% (10 s of 100 s)",
	} {
		if got := measureText(t, sum, gate); got != want {
			t.Errorf("%s is %s, want %s", gate, got, want)
		}
	}
	sum.Attempts[0].End = summary.EndFinished // without a failure, the time between two is longer than the job ran
	if got, want := measureText(t, sum, "job.between_failures"), "over 90 s, no failure"; got != want {
		t.Errorf("without failures: %s, want %s", got, want)
	}
}

// TestRoleShares: the denominator of a share is the time of its role, however many roles there are.
func TestRoleShares(t *testing.T) {
	const s = 1000 * ms
	sum := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "a.log"}}}
	for role, works := range map[string]int64{summary.RoleRollout: 70, summary.RoleTrainer: 25, summary.RoleReward: 5} {
		sum.RoleTimes = append(sum.RoleTimes, summary.RoleTime{Role: role, State: summary.RoleWorks, NS: works * s},
			summary.RoleTime{Role: role, State: summary.RoleWaits, NS: (100 - works) * s})
	}
	for gate, want := range map[string]string{
		"roles.share{role=rollout, state=wait}": "30.0% (30 s of 100 s)", "roles.share{role=reward, state=work}": "5.00% (5 s of 100 s)",
	} {
		if got := measureText(t, sum, gate); got != want {
			t.Errorf("%s is %s, want %s", gate, got, want)
		}
	}
}
