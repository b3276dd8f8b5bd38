package judge

import (
	"fmt"
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

// TestMemoryOfOthers: what an error message says of other processes decides the first remedy, alone and beside the
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
