package judge

import (
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
)

// TestMemoryRunsOutInALog: a log beside a healthy snapshot tells that memory ran out. What the message says of the
// limit and of the rest decides the title and the first remedy.
func TestMemoryRunsOutInALog(t *testing.T) {
	const head = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 MiB. GPU 2 has a total capacity of 80.00 GiB of which "
	for name, tt := range map[string]struct{ message, title, first string }{
		"a limit": {head + "60.50 GiB is free. Including non-PyTorch memory, this process has 16.25 GiB memory in use. 16.00 GiB allowed; " +
			"Of the allocated memory 15.75 GiB is allocated by PyTorch, and 128.00 MiB is reserved by PyTorch but unallocated.",
			"Out of memory on GPU 2: tried to allocate 96 MiB, 60.5 GiB free of 80 GiB; the process may use 16 GiB", "raise-the-limit"},
		"fragments": {head + "60.00 MiB is free. Of the allocated memory 40.25 GiB is allocated by PyTorch, and 20.00 GiB is reserved by PyTorch but unallocated.",
			"Out of memory on GPU 2: tried to allocate 96 MiB, 60 MiB free of 80 GiB", "expandable-segments"},
		"another process": {head + "60.00 MiB is free. Process 4711 has 40.00 GiB memory in use. Including non-PyTorch memory, this process has 39.00 GiB memory in use. " +
			"Of the allocated memory 38.25 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.",
			"Out of memory on GPU 2: tried to allocate 96 MiB, 60 MiB free of 80 GiB; other processes hold 40.9 GiB", "free-the-gpu-of-others"},
		"a process that is alone": {head + "60.00 MiB is free. Including non-PyTorch memory, this process has 79.50 GiB memory in use. " +
			"Of the allocated memory 78.25 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.",
			"Out of memory on GPU 2: tried to allocate 96 MiB, 60 MiB free of 80 GiB", "smaller-micro-batches"},
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
