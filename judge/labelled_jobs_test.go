package judge

import (
	"fmt"
	"strings"
	"time"

	"assay/judge/rule"
	"assay/summary"
)

// A jobLog is the log of a trainer that is restarted. Its clock is in seconds.
type jobLog struct {
	strings.Builder
	now int
}

func (l *jobLog) say(wait int, format string, args ...any) {
	l.now += wait
	at := time.Unix(1_767_312_000+int64(l.now), 0).UTC().Format("2006-01-02 15:04:05,000")
	fmt.Fprintf(l, "[rank0]:[titan] %s - root - INFO - "+format+"\n", append([]any{at}, args...)...)
}

// start is a start of the program that takes so long and goes on after a checkpoint.
func (l *jobLog) start(seconds, after int) {
	l.say(0, "Starting job: Llama 3 8B training")
	if after > 0 {
		l.say(0, "Loading the checkpoint from outputs/checkpoint/step-%d.", after)
	}
	l.say(seconds, "Training starts at step %d", after+1)
}

// steps are steps of 10 s each; then runs after each.
func (l *jobLog) steps(from, to int, then func(step int)) {
	for n := from; n <= to; n++ {
		l.say(10, "step: %d  loss:  2.5000  memory: 20.10GiB(25.40%%)  tps: 12,345  mfu: 40.10%%", n)
		if then != nil {
			then(n)
		}
	}
}

func (l *jobLog) dies(wait int) {
	l.now += wait
	l.WriteString("[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 5 has a total capacity of 80.00 GiB\n")
}

// jobOf returns a log that is made by a function.
func jobOf(make func(*jobLog)) string {
	var l jobLog
	make(&l)
	return l.String()
}

// labelledJobs are logs of jobs that lose time.
func labelledJobs() []labelled {
	const lost = rule.JobTimeLost
	of := func(name, label, near string, num, den int64, make func(*jobLog)) labelled {
		return labelled{name: name, label: label, near: near, num: num * 1000 * ms, den: den * 1000 * ms, in: given(jobOf(make))}
	}
	every := func(l *jobLog, n, seconds int, format string) func(int) {
		return func(step int) {
			if step%n == 0 {
				l.say(seconds, format, step)
			}
		}
	}
	return []labelled{
		of("a job that waits 2,000 s for its restart", lost, "", 2060, 5060, func(l *jobLog) {
			l.start(30, 0)
			l.steps(1, 150, nil)
			l.dies(0)
			l.now += 2000
			l.start(30, 150)
			l.steps(151, 300, nil)
			l.say(0, "Training completed")
		}),
		of("a job that loses 100 of 300 steps", lost, "", 1160, 3160, func(l *jobLog) {
			l.start(30, 0)
			l.steps(1, 200, nil)
			l.dies(0)
			l.now += 100
			l.start(30, 100)
			l.steps(101, 200, nil)
			l.say(0, "Training completed")
		}),
		of("a job of which a third is checkpoints", lost, "", 1830, 5430, func(l *jobLog) {
			l.start(30, 0)
			l.steps(1, 360, every(l, 10, 50, "Finished saving the checkpoint in 50.00 seconds. %.0d"))
			l.say(0, "Training completed")
		}),
		of("a job of which a third is evaluation", lost, "", 1830, 5430, func(l *jobLog) {
			l.start(30, 0)
			l.steps(1, 360, every(l, 10, 50, "validate step: %d  loss:  2.1"))
			l.say(0, "Training completed")
		}),
		of("a job that stalls once for 1,500 s", lost, "", 1530, 5130, func(l *jobLog) {
			l.start(30, 0)
			l.steps(1, 360, func(step int) {
				if step == 137 {
					l.now += 1500
				}
			})
			l.say(0, "Training completed")
		}),
		of("a job that starts for 1,500 s", lost, "", 1500, 5100, func(l *jobLog) {
			l.start(1500, 0)
			l.steps(1, 360, nil)
			l.say(0, "Training completed")
		}),
		of("a job whose time after each tenth step has no line", lost, "", 1780, 5380, func(l *jobLog) {
			l.start(30, 0)
			l.steps(1, 360, func(step int) {
				if step%10 == 0 && step < 360 {
					l.now += 50
				}
			})
			l.say(0, "Training completed")
		}),
		of("two restarts that lose little", "", lost, 0, 0, func(l *jobLog) {
			l.start(30, 0)
			l.steps(1, 400, nil)
			l.dies(0)
			l.now += 60
			l.start(30, 398)
			l.steps(399, 800, nil)
			l.say(0, "Training completed")
		}),
		of("a short run that starts for half of its time", "", lost, 0, 0, func(l *jobLog) {
			l.start(300, 0)
			l.steps(1, 30, nil)
			l.say(0, "Training completed")
		}),
	}
}

// withJobLoss gives the run a job with a given largest loss.
func withJobLoss(part string) func(*summary.Summary) {
	return func(s *summary.Summary) {
		if len(s.Inputs) == 0 {
			s.Inputs = []summary.Input{{Path: "run"}}
		}
		start, end := int64(0), 9000*int64(1e9)
		s.Attempts = []summary.Attempt{{Job: 1, StartNS: &start, EndNS: &end, Parts: []summary.AttemptPart{{Part: part, NS: end}}}}
		s.JobTimes = []summary.JobTime{{Job: "1", Attempt: 1, Part: part, NS: end}, {Job: "1", Attempt: 1, Part: summary.PartSteps, NS: 1e9, Steps: 1}}
	}
}

// jobToggle gives a job this largest loss, or another one.
func jobToggle(value, part string) toggle {
	return toggle{word: "job-loss", value: value, on: withJobLoss(part), off: withJobLoss(summary.PartAfter)}
}
