package goodput_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/summary"
)

// written returns the log that a function writes.
func written(s style, write func(*job)) string {
	j := &job{truth: map[string]int{}, style: s}
	write(j)
	return j.String()
}

// ten writes records of steps of 10 s each.
func (j *job) ten(from, to int) {
	for step := from; step <= to; step++ {
		j.now += 10
		j.style.step(j, step, 10)
	}
}

// TestNoRestart: runs that do not continue each other are jobs of their own, without lost steps and waiting.
func TestNoRestart(t *testing.T) {
	fresh := func(start, steps, batch int, end string) string {
		return written(megatron, func(j *job) {
			j.now = start
			for step := 1; step <= steps; step++ {
				j.now += 10
				j.line(" iteration %8d/  1000 | consumed samples: %d | elapsed time per iteration (ms): 10000.0 | global batch size: %d | lm loss: 2.5E+00 |", step, step*batch, batch)
			}
			if end != "" {
				j.line("%s", end)
			}
		})
	}
	resumed := func(start, from int, folder string) string {
		return written(megatron, func(j *job) {
			j.now = start
			j.line("  successfully loaded checkpoint from %s [ t 1/8, p 1/1 ] at iteration %d", folder, from)
			j.ten(from+1, from+20)
		})
	}
	saved := written(megatron, func(j *job) {
		j.ten(1, 40)
		j.style.saved(j, 40, 0)
		j.ten(41, 50)
		j.line("%s", megatron.died)
	})
	for name, texts := range map[string][]string{
		"two runs after each other":              {fresh(0, 50, 64, ""), fresh(900, 50, 64, "")},
		"the second one after a failure":         {fresh(0, 50, 64, megatron.died), fresh(900, 50, 64, "")},
		"two runs at the same time":              {fresh(0, 50, 64, ""), fresh(100, 50, 64, "")},
		"a checkpoint of another folder":         {saved, resumed(900, 40, "/ckpt/other")},
		"a checkpoint of later steps":            {saved, resumed(900, 400, "/ckpt/run")},
		"other batches":                          {fresh(0, 50, 64, megatron.died), fresh(900, 50, 128, "")},
		"a run that goes on while the first did": {saved, resumed(100, 40, "/ckpt/run")},
		"the first one was finished":             {fresh(0, 50, 64, "[after training is done] datetime: x"), resumed(900, 40, "/ckpt/run")},
	} {
		sum := measured(t, texts)
		if n := len(sum.Attempts); n != 2 || sum.Attempts[0].Job == sum.Attempts[1].Job {
			t.Errorf("%s: %d attempts of jobs %d and %d", name, n, sum.Attempts[0].Job, sum.Attempts[n-1].Job)
		}
		for _, r := range sum.JobTimes {
			if r.Part == summary.PartLost || r.Part == summary.PartWaiting {
				t.Errorf("%s: %s of %d s", name, r.Part, r.NS/1e9)
			}
		}
	}
	if sum := measured(t, []string{saved, resumed(900, 40, "/ckpt/run")}); sum.Attempts[1].Job != 1 || seconds(sum, "1")[summary.PartLost] != 100 {
		t.Errorf("a restart: job %d, %v", sum.Attempts[1].Job, seconds(sum, "1"))
	}
	names := []string{"logs/train-attempt0.log", "logs/train-attempt1.log"}
	if sum := measured(t, []string{fresh(0, 50, 64, megatron.died), fresh(900, 50, 64, "")}, names...); seconds(sum, "1")[summary.PartLost] != 500 {
		t.Errorf("attempts by their names: %v", seconds(sum, "1"))
	}
}

// TestStalls: a pause of 900 s without a line is a stall, at a regular step or with a line about it it is none; a
// collective that hangs at the end is one.
func TestStalls(t *testing.T) {
	pause := func(every, seconds int, line string) string {
		return written(titan, func(j *job) {
			for step := 1; step <= 400; step++ {
				j.ten(step, step)
				if step%every == 0 && step < 400 {
					j.now += seconds
					if line != "" {
						j.line("- root - INFO - "+line, step)
					}
				}
			}
		})
	}
	hang := written(titan, func(j *job) {
		j.ten(1, 100)
		j.now += 600
		j.line("[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600029 milliseconds before timing out.")
	})
	cut := written(titan, func(j *job) { // the log of a job that still runs, or that was copied
		j.ten(1, 100)
		j.now += 5
		j.line("- root - INFO - something else")
	})
	for _, tc := range []struct {
		name, text string
		want       map[string]int
	}{
		{"once, at step 217", pause(217, 900, ""), map[string]int{"steps": 4000, "stall": 900}},
		{"at each hundredth step, without a line", pause(100, 900, ""), map[string]int{"steps": 4000, "between": 2700}},
		{"at each hundredth step, evaluations", pause(100, 900, "validate step: %d  loss: 2.0"), map[string]int{"steps": 4000, "evaluation": 2700}},
		{"pauses of 20 s", pause(217, 20, ""), map[string]int{"steps": 4000, "between": 20}},
		{"a collective that hangs", hang, map[string]int{"steps": 1000, "stall": 600}},
		{"the end of the log", cut, map[string]int{"steps": 1000, "after": 5}},
	} {
		if got := seconds(measured(t, []string{tc.text}), "1"); fmt.Sprint(got) != fmt.Sprint(tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// TestWithoutTimes: veRL prints no times. Steps take 30 s. The last 5 of the first start are done again;
// nothing is said about the length of the job.
func TestWithoutTimes(t *testing.T) {
	var b strings.Builder
	steps := func(from, to int) {
		for step := from; step <= to; step++ {
			fmt.Fprintf(&b, "step:%d - timing_s/gen:20.0 - timing_s/update_actor:10.0 - timing_s/step:30.0\n", step)
		}
	}
	steps(1, 25)
	b.WriteString("(TaskRunner pid=7) Setting global step to 20\n")
	steps(21, 40)
	sum := measured(t, []string{b.String()})
	if got := seconds(sum, "1"); fmt.Sprint(got) != fmt.Sprint(map[string]int{"steps": 1200, "lost": 150}) {
		t.Errorf("%v", got)
	}
	if a := sum.Attempts[0]; a.StartNS != nil || len(sum.Attempts) != 2 {
		t.Errorf("%+v", a)
	}
}

// TestRanks: two ranks write a log each; the attempt counts once, and the rank that failed is named.
func TestRanks(t *testing.T) {
	one := func(end string) string {
		return written(megatron, func(j *job) {
			j.ten(1, 60)
			if end != "" {
				j.line("%s", end)
			}
		})
	}
	sum := measured(t, []string{one(""), one("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB")})
	for i := range sum.Inputs { // as ingest sets them
		sum.Inputs[i].Rank, sum.Inputs[i].RankFrom = i, "name"
	}
	sum = joined(sum)
	if a := sum.Attempts[0]; seconds(sum, "1")["steps"] != 600 || !sum.Attempts[1].Same || a.Rank == nil || *a.Rank != 1 || a.Reason != "GPU out of memory" {
		t.Errorf("%v, %+v", seconds(sum, "1"), a)
	}
}

// TestOnlyTold: lines that quote an error, tell that it was handled, or are about another program end no attempt.
func TestOnlyTold(t *testing.T) {
	for line, want := range map[string]string{
		"[rank5]: warning: CUDA out of memory. Tried to allocate 2.00 GiB - caught, retrying with gc": "",
		`2026-01-02 03:04:05 | INFO | tip: raise the stack to avoid "Segmentation fault" in workers`:  "",
		"kernel: Out of memory: Killed process 4711 (chrome) total-vm:912kB":                          "",
		"kernel: Out of memory: Killed process 4711 (python3.11) total-vm:912kB":                      "host out of memory",
		"[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB":             "GPU out of memory",
		"Fatal Python error: Segmentation fault":                                                      "segmentation fault",
	} {
		sum := joined(measured(t, []string{written(megatron, func(j *job) {
			j.ten(1, 20)
			j.line("%s", line)
		})}))
		if got := sum.Attempts[0].Reason; got != want {
			t.Errorf("%s: ended by %q, want %q", line, got, want)
		}
	}
}

// TestClockWasSet: days between two steps of one start are no stall, and times of that log are unknown.
func TestClockWasSet(t *testing.T) {
	sum := joined(measured(t, []string{written(megatron, func(j *job) {
		j.ten(1, 20)
		j.now += 90 * 24 * 3600
		j.ten(21, 40)
	})}))
	if a := sum.Attempts[0]; a.StartNS != nil || a.Part("stall") != 0 || a.Part("steps") != 400e9 {
		t.Errorf("%+v", a)
	}
}

// TestHangOfALibrary: the watchdog of a library writes with a time of its own form. The time until it did is a stall, and
// the attempt ends then.
func TestHangOfALibrary(t *testing.T) {
	text := written(megatron, func(j *job) { j.ten(1, 30) })
	last := text[strings.LastIndex(text[:len(text)-1], "\n")+1:]
	day, clock, ok := strings.Cut(last[strings.IndexByte(last, '2'):], " ")
	if !ok {
		t.Fatal(last)
	}
	var h, m, s int
	if _, err := fmt.Sscanf(clock, "%d:%d:%d", &h, &m, &s); err != nil {
		t.Fatal(last, err)
	}
	at := h*3600 + m*60 + s + 600
	text += fmt.Sprintf("[rank3]:[E%s%s %02d:%02d:%02d.123456789 ProcessGroupNCCL.cpp:685] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4) ran for 600012 milliseconds before timing out.\n",
		day[5:7], day[8:10], at/3600, at/60%60, at%60)
	sum := joined(measured(t, []string{text}))
	if got := seconds(sum, "1"); got["stall"] != 600 || got["steps"] != 300 {
		t.Errorf("%v, want 300 s of steps and a stall of 600 s", got)
	}
}

// TestCopyOfALog: a copy of a log is no job of its own.
func TestCopyOfALog(t *testing.T) {
	text := written(megatron, func(j *job) { j.ten(1, 30) })
	sum := joined(measured(t, []string{text, text}))
	if got := seconds(sum, "1"); got["steps"] != 300 || len(seconds(sum, "2")) != 0 || !sum.Attempts[1].Same {
		t.Errorf("%v, %v", got, seconds(sum, "2"))
	}
}

// TestSaveInStep: the timer of older versions of Megatron-LM runs on while a checkpoint is saved, so the next record includes
// the save. It is 40 s of checkpoint, and neither a longer step nor a stall. A step that is longer without a line stays one.
func TestSaveInStep(t *testing.T) {
	text := func(line bool) string {
		return written(megatron, func(j *job) {
			j.ten(1, 40)
			if line {
				j.line("saving checkpoint at iteration      40 to /ckpt/run in torch format")
			}
			j.now += 40
			if line {
				j.style.saved(j, 40, 0)
			}
			j.now += 10
			j.style.step(j, 41, 50)
			j.ten(42, 60)
		})
	}
	if got := seconds(measured(t, []string{text(true)}), "1"); fmt.Sprint(got) != fmt.Sprint(map[string]int{"steps": 600, "checkpoint": 40}) {
		t.Errorf("with a save: %v", got)
	}
	if got := seconds(measured(t, []string{text(false)}), "1"); fmt.Sprint(got) != fmt.Sprint(map[string]int{"steps": 640}) {
		t.Errorf("with a longer step: %v", got)
	}
}

// TestShortStepsByACoarseClock: steps of 0.25 s have times in whole seconds. All of the time is in steps; if each takes 1 s
// from one to the next, three quarters of it are between them.
func TestShortStepsByACoarseClock(t *testing.T) {
	for each, want := range map[float64]map[string]int{0.25: {"steps": 100}, 1: {"steps": 100, "between": 299}} {
		sum := measured(t, []string{written(megatron, func(j *job) {
			for n := 1; n <= 400; n++ {
				j.now = int(float64(n) * each)
				j.line(" iteration %8d/  1000 | elapsed time per iteration (ms): 250.0 | global batch size: 64 | lm loss: 2.5E+00 |", n)
			}
		})})
		got := seconds(sum, "1")
		if abs(got["steps"]-want["steps"]) > 1 || abs(got["between"]-want["between"]) > 1 {
			t.Errorf("a step each %v s: %v, want %v", each, got, want)
		}
	}
}

func abs(n int) int { return max(n, -n) }
