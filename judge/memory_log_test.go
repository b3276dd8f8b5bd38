package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// TestMemoryRunsOutInALog: a log beside a healthy snapshot tells that memory ran out. What the message says of the
// limit and of the rest decides the title and the first remedy.
func TestMemoryRunsOutInALog(t *testing.T) {
	const head = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 MiB. GPU 2 has a total capacity of 80.00 GiB of which "
	for name, tt := range map[string]struct{ message, title, first string }{
		"a limit": {head + "60.50 GiB is free. Including non-PyTorch memory, this process has 16.25 GiB memory in use. 16.00 GiB allowed; " +
			"Of the allocated memory 15.75 GiB is allocated by PyTorch, and 128.00 MiB is reserved by PyTorch but unallocated.",
			"Out of memory on GPU 2: tried to allocate 96 MiB with 60.5 GiB free of 80 GiB: the process hit its memory limit (16 GiB)", "raise-the-limit"},
		"fragments": {head + "60.00 MiB is free. Of the allocated memory 40.25 GiB is allocated by PyTorch, and 20.00 GiB is reserved by PyTorch but unallocated.",
			"Out of memory on GPU 2: tried to allocate 96 MiB, 60 MiB free of 80 GiB", "expandable-segments"},
		"full": {head + "60.00 MiB is free. Of the allocated memory 78.25 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.",
			"Out of memory on GPU 2: tried to allocate 96 MiB, 60 MiB free of 80 GiB", "smaller-micro-batches"},
	} {
		s := given("step: 1 loss: 2.5\n" + tt.message + "\n")(t)
		healthy := healthyMemory()
		healthy.Input = len(s.Inputs)
		s.Inputs = append(s.Inputs, ofSnapshots(healthy).Inputs[0])
		s.Snapshots = append(s.Snapshots, healthy)
		r := Judge(s, rule.DefaultThresholds())
		find(t, r, rule.MemoryExhausted)
		if r.Verdict.Bound != finding.BoundOutOfMemory {
			t.Errorf("%s: verdict %s\n%s", name, r.Verdict.Bound, told(r))
		}
		for _, f := range r.Findings {
			if f.Rule == rule.MemoryExhausted && (!strings.HasPrefix(f.Title, tt.title) || f.Next[0].ID != tt.first) {
				t.Errorf("%s: %q, first %s", name, f.Title, f.Next[0].ID)
			}
		}
	}
}

// TestMemoryOfOthers: what an error message says of other processes decides the first remedy, alone and and with the
// snapshot of the same failure. A driver's share of the GPU, and a small process, are no reason.
func TestMemoryOfOthers(t *testing.T) {
	message := func(free, process, own string) string {
		return "step: 1 loss: 2.5\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 47.50 GiB of which " + free + " is free. " +
			process + "Including non-PyTorch memory, this process has " + own + " memory in use. Of the allocated memory 11.00 GiB is allocated by PyTorch, and 128.00 MiB is reserved by PyTorch but unallocated.\n"
	}
	const head = "Out of memory%s: tried to allocate 3 GiB, "
	for name, tt := range map[string]struct{ message, title, first string }{
		"another process":      {message("1.00 GiB", "Process 77 has 34.00 GiB memory in use. ", "12.00 GiB"), "1 GiB free of 47.5 GiB; other processes: 34.5 GiB", "free-what-others-hold"},
		"two other processes":  {message("1.00 GiB", "Process 77 has 20.00 GiB memory in use. Process 8 has 14.00 GiB memory in use. ", "12.00 GiB"), "1 GiB free of 47.5 GiB; other processes: 34.5 GiB", "free-what-others-hold"},
		"a process not listed": {message("1.00 GiB", "", "12.00 GiB"), "1 GiB free of 47.5 GiB; other processes: 34.5 GiB", "free-what-others-hold"},
		"the driver":           {message("1.00 GiB", "", "45.00 GiB"), "1 GiB free of 47.5 GiB", "smaller-micro-batches"},
		"a small process":      {message("1.00 GiB", "Process 9 has 1.10 GiB memory in use. ", "45.00 GiB"), "1 GiB free of 47.5 GiB", "smaller-micro-batches"},
	} {
		s := given(tt.message)(t)
		for _, f := range Judge(s, rule.DefaultThresholds()).Findings {
			if want := fmt.Sprintf(head, " on GPU 0") + tt.title; f.Rule == rule.MemoryExhausted && (f.Title != want || f.Next[0].ID != tt.first) {
				t.Errorf("%s, alone: %q, first %s, want %q", name, f.Title, f.Next[0].ID, want)
			}
		}
		m := healthyMemory()
		m.Input, m.Failed, m.Capacity = len(s.Inputs), 1, bytesOf(12*testGiB)
		m.OutOfMemory = []summary.OutOfMemory{{Wanted: 3 * testGiB, Free: bytesOf(testGiB), Reserved: bytesOf(11 * testGiB), Live: bytesOf(11 * testGiB)}}
		s.Inputs = append(s.Inputs, ofSnapshots(m).Inputs[0])
		s.Snapshots = append(s.Snapshots, m)
		r := Judge(s, rule.DefaultThresholds())
		if want := fmt.Sprintf(head, "") + tt.title; r.Verdict.Sentence != want {
			t.Errorf("%s, beside a snapshot: %q, want %q", name, r.Verdict.Sentence, want)
		}
		if others := r.Findings[0].Next[0].ID == "free-what-others-hold"; others != (tt.first == "free-what-others-hold") {
			t.Errorf("%s, beside a snapshot: first %s", name, r.Findings[0].Next[0].ID)
		}
	}
	// The message of another failure says nothing of this one.
	s := given(strings.ReplaceAll(message("1.00 GiB", "Process 77 has 34.00 GiB memory in use. ", "12.00 GiB"), "allocate 3.00", "allocate 2.00"))(t)
	m := healthyMemory()
	m.Input, m.Failed = len(s.Inputs), 1
	m.OutOfMemory = []summary.OutOfMemory{{Wanted: 3 * testGiB, Free: bytesOf(testGiB), Reserved: bytesOf(11 * testGiB)}}
	s.Inputs = append(s.Inputs, ofSnapshots(m).Inputs[0])
	s.Snapshots = append(s.Snapshots, m)
	if got, want := Judge(s, rule.DefaultThresholds()).Verdict.Sentence, "Out of memory: tried to allocate 3 GiB, 1 GiB free; this process has 11 GiB"; got != want {
		t.Errorf("another failure: %q, want %q", got, want)
	}
}

// TestMemoryOfSeveralRanks: the ranks that the watchdogs of the others wait for are those whose logs ran out of memory,
// and memory that grew until then asks for another fix than a batch that is too large.
func TestMemoryOfSeveralRanks(t *testing.T) {
	steps := func(rank int, from, by float64) string {
		var b strings.Builder
		for n := range 24 {
			fmt.Fprintf(&b, "[rank%d]:[titan] 2026-03-07 11:00:%02d,000 - root - INFO - step: %2d  loss: 2.5000  grad_norm: 1.0  memory: %.2fGiB(50.00%%)  tps: 900  tflops: 200.00  mfu: 20.00%%\n", rank, n, n+1, from+by*float64(n))
		}
		return b.String()
	}
	waits := func(rank int) string {
		return steps(rank, 30, 0) + fmt.Sprintf("[rank%d]:[E307 11:10:01.5 ProcessGroupNCCL.cpp:685] [Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=88, OpType=ALLREDUCE, NumelIn=512, NumelOut=512, Timeout(ms)=600000) ran for 600010 milliseconds before timing out.\n", rank, rank)
	}
	fails := func(rank int, from, by float64, unused string) string {
		return steps(rank, from, by) + fmt.Sprintf("[rank%d]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU %d has a total capacity of 44.40 GiB of which 100.00 MiB is free. Of the allocated memory 30.00 GiB is allocated by PyTorch, and %s is reserved by PyTorch but unallocated.\n", rank, rank, unused)
	}
	r := Judge(given(waits(0), fails(1, 20, 0.9, "1.00 GiB"), fails(2, 30, 0, "12.00 GiB"), waits(3))(t), rule.DefaultThresholds())
	hang, memory := find(t, r, rule.Hang), find(t, r, rule.MemoryExhausted)
	if want := "Hang: ranks 1, 2 ran out of memory, and ranks 0, 3 timed out in "; !strings.HasPrefix(hang.Title, want) || slices.Contains(ids(hang.Next), "dump-all-ranks") {
		t.Errorf("hang: %q, %v", hang.Title, ids(hang.Next))
	}
	if all := strings.Join(memory.Evidence, "\n"); memory.Next[0].ID != "find-what-keeps-tensors" || !strings.Contains(all, "grew from 20 GiB to 40.7 GiB over 24 steps") || !strings.Contains(all, "12 GiB was reserved but unallocated, which is fragmentation") {
		t.Errorf("memory: %v\n%s", ids(memory.Next), all)
	}
	if f := find(t, Judge(given(fails(2, 30, 0.01, "1.00 GiB"))(t), rule.DefaultThresholds()), rule.MemoryExhausted); f.Next[0].ID != "smaller-micro-batches" {
		t.Errorf("memory that stays: %v", ids(f.Next))
	}
	if f := find(t, Judge(given(waits(0), waits(3))(t), rule.DefaultThresholds()), rule.Hang); strings.Contains(f.Title, "memory") || !slices.Contains(ids(f.Next), "dump-all-ranks") {
		t.Errorf("nothing is known of the others: %q, %v", f.Title, ids(f.Next))
	}
}
