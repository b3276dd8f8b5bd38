package goodput_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"assay/analyze/goodput"
	"assay/internal/test"
	"assay/logs"
	"assay/logs/forms"
	"assay/summary"
)

// A job writes the log of a job whose truth it keeps: by part, in seconds.
type job struct {
	strings.Builder
	now   int // seconds since the epoch of the log
	truth map[string]int
	lost  map[int]int // seconds of each step of the current attempt
	style style
}

// A style is how a program writes its lines.
type style struct {
	step             func(j *job, step, took int)
	saved, evaluated func(j *job, step, took int)
	loaded           func(j *job, step int)
	died, done       string
}

func (j *job) line(format string, args ...any) {
	at := time.Unix(1_767_312_000+int64(j.now), 0).UTC().Format("2006-01-02 15:04:05")
	fmt.Fprintf(j, "[%s] "+format+"\n", append([]any{at}, args...)...)
}

func (j *job) spend(part string, seconds int) {
	j.now += seconds
	j.truth[part] += seconds
}

var megatron = style{
	step: func(j *job, step, took int) {
		j.line(" iteration %8d/  100000 | consumed samples: %d | elapsed time per iteration (ms): %d.0 | global batch size: 64 | lm loss: 2.5E+00 |", step, step*64, took*1000)
	},
	saved: func(j *job, step, _ int) {
		j.line("  successfully saved checkpoint from iteration %7d to /ckpt/run [ t 1/8, p 1/1 ]", step)
	},
	evaluated: func(j *job, step, _ int) {
		j.line(" validation loss at iteration %d | lm loss value: 2.0E+00 | lm loss PPL: 7.4E+00 |", step)
	},
	loaded: func(j *job, step int) {
		j.line("  successfully loaded checkpoint from /ckpt/run [ t 1/8, p 1/1 ] at iteration %d", step)
	},
	died: "[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 5 has a total capacity of 80.00 GiB",
	done: "[after training is done] datetime: %s",
}

var titan = style{
	step: func(j *job, step, _ int) {
		j.line("- root - INFO - step: %d  loss:  2.5000  memory: 20.10GiB(25.40%%)  tps: 12,345  mfu: 40.10%%", step)
	},
	saved: func(j *job, _, took int) {
		j.line("- root - INFO - Finished saving the checkpoint in %d.00 seconds.", took)
	},
	evaluated: func(j *job, step, _ int) { j.line("- root - INFO - validate step: %d  loss:  2.1", step) },
	loaded:    func(j *job, step int) { j.line("- root - INFO - Loading the checkpoint from /ckpt/run/step-%d.", step) },
	died:      "[rank2]: RuntimeError: CUDA error: an illegal memory access was encountered",
	done:      "- root - INFO - Training completed",
}

// attempt writes one start of the program: from a step to another, a checkpoint every so many steps. It returns the
// last step with a checkpoint.
func (j *job) attempt(r *rand.Rand, from, to, every, one int, fails bool) (saved int) {
	j.line("INFO worker starts")
	up := 30 + r.IntN(60)
	j.spend(summary.PartStartUp, up)
	saved = from
	if from > 0 {
		j.style.loaded(j, from)
	}
	j.line("- root - INFO - Training starts at step %d", from+1)
	j.lost = map[int]int{}
	for step := from + 1; step <= to; step++ {
		if step == from+1 { // the first step compiles
			extra := one * (3 + r.IntN(5))
			j.spend(summary.PartCompile, extra)
			j.spend(summary.PartSteps, one)
			j.style.step(j, step, one+extra)
		} else {
			j.spend(summary.PartSteps, one)
			j.style.step(j, step, one)
		}
		j.lost[step] = one
		if step%every == 0 {
			took := 15 + r.IntN(10)
			j.spend(summary.PartCheckpoint, took)
			j.style.saved(j, step, took)
			saved = step
		}
		if step%(2*every) == 0 {
			j.spend(summary.PartEvaluation, 40)
			j.style.evaluated(j, step, 40)
		}
	}
	switch {
	case fails:
		j.spend(summary.PartLost, 2) // in the step under way
		j.line("%s", j.style.died)
		for step, took := range j.lost {
			if step > saved {
				j.truth[summary.PartSteps] -= took
				j.truth[summary.PartLost] += took
			}
		}
	default:
		j.spend(summary.PartAfter, 4)
		j.line(j.style.done, time.Unix(1_767_312_000+int64(j.now), 0).UTC().Format("2006-01-02 15:04:05"))
	}
	return saved
}

// made writes a job with restarts; each attempt is one of the texts.
func made(r *rand.Rand, s style, restarts int) (texts []string, truth map[string]int) {
	j := &job{truth: map[string]int{}, style: s}
	every, one := 20+r.IntN(10), 4+r.IntN(6)
	from := 0
	for k := 0; k <= restarts; k++ {
		to := from + every + 5 + r.IntN(3*every)
		if to%every == 0 {
			to++
		}
		saved := j.attempt(r, from, to, every, one, k < restarts)
		texts = append(texts, j.String())
		j.Reset()
		from = saved
		if k < restarts {
			j.spend(summary.PartWaiting, 100+r.IntN(500))
		}
	}
	return texts, j.truth
}

// measured returns the summary of one input for each text.
func measured(t *testing.T, texts []string, names ...string) *summary.Summary {
	t.Helper()
	s := &summary.Summary{}
	for i, text := range texts {
		log, err := forms.Read(strings.NewReader(text), "x.log", forms.Default(), logs.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		in := summary.Input{Path: fmt.Sprintf("logs/run-%d.log", i)}
		if len(names) > i {
			in.Path = names[i]
		}
		s.Inputs = append(s.Inputs, in)
		for _, a := range goodput.Measure(log, func(string) string { return "" }) {
			a.Input = i
			s.Attempts = append(s.Attempts, a)
		}
	}
	goodput.Join(s)
	return s
}

// seconds returns the time of a job by part.
func seconds(s *summary.Summary, job string) map[string]int {
	out := map[string]int{}
	for _, r := range s.JobTimes {
		if r.Job == job && r.NS > 0 {
			out[r.Part] += int(r.NS / 1e9)
		}
	}
	return out
}

// TestRestarts: jobs with no to six restarts, in one log and in one for each attempt, of two programs: one logs the time
// of steps and no time of checkpoints, the other the opposite. All parts are as they were made.
func TestRestarts(t *testing.T) {
	r := rand.New(rand.NewPCG(test.Seed(t), 1))
	for _, s := range []style{megatron, titan} {
		for restarts := range 7 {
			texts, truth := made(r, s, restarts)
			for _, list := range [][]string{{strings.Join(texts, "")}, texts} {
				sum := measured(t, list)
				if got := seconds(sum, "1"); fmt.Sprint(got) != fmt.Sprint(truth) {
					t.Errorf("%d restarts, %d logs: got %v, want %v", restarts, len(list), got, truth)
				}
				for i := range sum.Attempts {
					a := &sum.Attempts[i]
					fails := i < restarts
					if a.Job != 1 || (a.End == summary.EndFailed) != fails || fails && (a.Rank == nil || a.Reason == "") || !fails && a.End != summary.EndFinished {
						t.Errorf("%d restarts: attempt %d of job %d ends as %s, %s", restarts, i, a.Job, a.End, a.Reason)
					}
				}
			}
		}
	}
}

// joined finds the jobs of a summary again.
func joined(s *summary.Summary) *summary.Summary {
	goodput.Join(s)
	return s
}

// TestManyStarts: a log whose step numbers go back thousands of times is not that of a program and its restarts. One with
// hundreds of restarts is, and each keeps the steps that the next one does not do again.
func TestManyStarts(t *testing.T) {
	log := func(step func(i int) int, n int) string {
		var j job
		for i := range n {
			j.now += 10
			megatron.step(&j, step(i), 10)
		}
		return j.String()
	}
	shuffled := measured(t, []string{log(func(i int) int { return i * 7919 % 1009 }, 20_000)}, "shuffled.log")
	if len(shuffled.Attempts) != 0 {
		t.Errorf("%d attempts of steps in no order", len(shuffled.Attempts))
	}
	// Each start does 10 steps and the next one begins 5 before its end: 300 starts keep 5 steps each, the last one 10.
	restarts := measured(t, []string{log(func(i int) int { return i/10*5 + i%10 + 1 }, 3000)}, "restarts.log")
	lost, kept := int64(0), int64(0)
	for _, r := range restarts.JobTimes {
		switch r.Part {
		case summary.PartLost:
			lost += r.Steps
		case summary.PartSteps:
			kept += r.Steps
		}
	}
	if len(restarts.Attempts) != 300 || kept != 299*5+10 || lost != 299*5 {
		t.Errorf("%d attempts, %d steps kept, %d lost", len(restarts.Attempts), kept, lost)
	}
}
