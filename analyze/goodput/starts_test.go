package goodput_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/summary"
)

const (
	launched = "using world size: 8, data-parallel size: 8, context-parallel size: 1"
	loadedAt = "  successfully loaded checkpoint from /ckpt/run [ t 1/8, p 1/1 ] at iteration 60"
)

// fails writes a start that fails after 90 s, 30 s after its last line.
func (j *job) fails(line string) {
	j.line("INFO worker starts")
	j.line(launched)
	j.now += 60
	j.line("INFO building model")
	j.now += 30
	fmt.Fprintf(j, "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n%s\n", line)
	j.line("ERROR exit")
	j.now += 100
}

// TestFailedStarts: three starts fail before their first step. Their 270 s are start-up, each has its error, and they count as
// failures, in one log and in one for each start.
func TestFailedStarts(t *testing.T) {
	errors := []string{"[rank3]: ModuleNotFoundError: No module named 'x'",
		"[rank0]: torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 7/8 clients joined.",
		"[rank2]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 2 has a total capacity of 80.00 GiB"}
	j := &job{truth: map[string]int{}, style: megatron}
	var texts []string
	cut := func() {
		texts = append(texts, j.String())
		j.Reset()
	}
	j.line("INFO worker starts")
	j.line(launched)
	j.now += 40
	j.ten(1, 100)
	j.line("%s", megatron.died)
	j.now += 100
	cut()
	for _, e := range errors {
		j.fails(e)
		cut()
	}
	j.line("INFO worker starts")
	j.line(launched)
	j.now += 40
	j.line(loadedAt)
	j.ten(61, 160)
	j.line("[after training is done] datetime: x")
	cut()
	var names []string
	for k := range texts {
		names = append(names, fmt.Sprintf("logs/attempt%d.log", k))
	}
	want := map[string]int{"steps": 1600, "lost": 400, "start-up": 40 + 270 + 40, "waiting": 400}
	for _, list := range [][]string{{strings.Join(texts, "")}, texts} {
		sum := measured(t, list, names...)
		if got := seconds(sum, "1"); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d logs: %v, want %v", len(list), got, want)
		}
		var ends []string
		for i := range sum.Attempts {
			a := &sum.Attempts[i]
			if a.Job != 1 || (a.Steps == 0) != (i > 0 && i < 4) {
				t.Errorf("%d logs: attempt %d of job %d has %d steps", len(list), i, a.Job, a.Steps)
			}
			if a.Steps == 0 && a.End == summary.EndFailed {
				ends = append(ends, a.Reason)
			}
		}
		if got := strings.Join(ends, ", "); got != "ModuleNotFoundError, rendezvous timeout, GPU out of memory" {
			t.Errorf("%d logs: ended by %s", len(list), got)
		}
	}
}

// TestStartsOnce: an error of a library that the program handles, and several kinds of lines about one start, begin no other
// attempt; a start that has not failed yet is none.
func TestStartsOnce(t *testing.T) {
	text := written(megatron, func(j *job) {
		j.line(launched)
		j.now += 20
		j.WriteString("ImportError: no module named apex\n")
		j.line("- root - INFO - Starting job: x")
		j.now += 20
		j.ten(1, 50)
	})
	if sum := measured(t, []string{text}); len(sum.Attempts) != 1 || seconds(sum, "1")["start-up"] != 40 {
		t.Errorf("%d attempts, %v", len(sum.Attempts), seconds(sum, "1"))
	}
	text += written(megatron, func(j *job) {
		j.now = 600
		j.line("%s", megatron.died)
		j.now += 100
		j.line(launched)
	})
	if sum := measured(t, []string{text}); len(sum.Attempts) != 1 {
		t.Errorf("%d attempts with one that starts", len(sum.Attempts))
	}
}

// TestOtherTraining: a training from the first step on after one that failed is its restart only if what both say of it is
// the same; if nothing tells, this is reported.
func TestOtherTraining(t *testing.T) {
	training := func(start int, style style, head, loss, end string) string {
		return written(style, func(j *job) {
			j.now = start
			j.line(launched)
			if head != "" {
				j.line("%s", head)
			}
			for n := 1; n <= 50; n++ {
				j.now += 10
				j.line("- root - INFO - step: %d  loss:  %s  memory: 20.10GiB(25.40%%)  tps: 12,345  mfu: 40.10%%", n, loss)
			}
			j.line("%s", end)
		})
	}
	const pile, alpaca = "args: --data-path /data/pile --save /ckpt/pre", "args: --data-path /data/alpaca --save /ckpt/pre"
	for _, tc := range []struct {
		name, head, head2, loss, loss2, apart string
	}{
		{"the same command and loss", pile, pile, "10.5", "10.5", ""},
		{"the same loss", "", "", "10.5", "10.4", ""},
		{"other data", pile, alpaca, "10.5", "10.4", "another data: /data/alpaca instead of /data/pile"},
		{"another folder", pile, "args: --data-path /data/pile --save /ckpt/ft", "10.5", "10.4", "another output folder: /ckpt/ft instead of /ckpt/pre"},
		{"a lower loss", "", "", "10.5", "1.9", "its loss begins at 1.9 instead of 10.5"},
		{"nothing known", "", "", "nan", "nan", "nothing in the log says whether it trains the same model on the same data"},
	} {
		sum := measured(t, []string{training(0, titan, tc.head, tc.loss, titan.died) + training(900, titan, tc.head2, tc.loss2, titan.done)})
		a := sum.Attempts
		if len(a) != 2 || (a[0].Job == a[1].Job) != (tc.apart == "") || a[1].Apart != tc.apart {
			t.Errorf("%s: %d attempts, %+v", tc.name, len(a), a[len(a)-1])
		}
		if lost := seconds(sum, "1")["lost"]; (lost > 0) != (tc.apart == "") {
			t.Errorf("%s: %d s lost", tc.name, lost)
		}
	}
}
