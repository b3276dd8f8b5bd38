package judge

import (
	"slices"
	"strings"
	"testing"

	"assay/judge/rule"
	"assay/summary"
)

// A gpu is one GPU of a process with a window of a second. Times are in ms: its work, the part of it
// during which another GPU of the process works, and its idle time during which another one works. In
// the rest of its idle time it waits for an event.
type gpu struct{ busy, shared, others int64 }

// driven returns the summary of a trace in which each process drives some GPUs.
func driven(processes ...[]gpu) *summary.Summary {
	s := of()
	for p, gpus := range processes {
		for _, g := range gpus {
			d := device(0, int64(len(s.Devices)), map[summary.Class]int64{0: 1000 - g.busy, comp: g.busy})
			d.SharedNS = g.shared * ms
			if len(gpus) > 1 {
				d.Process = p + 1
			}
			s.Devices = append(s.Devices, d)
			s.Idle = append(s.Idle, summary.Idle{Device: d.Device, Owner: summary.OwnerDependency, NS: (1000 - g.busy - g.others) * ms, Count: 9})
			if g.others > 0 {
				s.Idle = append(s.Idle, summary.Idle{Device: d.Device, Owner: summary.OwnerNeighbor, NS: g.others * ms, Count: 9})
			}
		}
	}
	return s
}

// labelledNeighbors are runs in which one process drives several GPUs.
func labelledNeighbors() []labelled {
	made := func(processes ...[]gpu) func(*testing.T) *summary.Summary {
		return func(*testing.T) *summary.Summary { return driven(processes...) }
	}
	return []labelled{
		{name: "3 GPUs in turn", label: rule.GPUsInTurn, num: 1930 * ms, den: 3000 * ms,
			in: made([]gpu{{320, 0, 640}, {320, 0, 650}, {330, 0, 640}})},
		{name: "one of two processes whose GPUs take turns", label: rule.GPUsInTurn, num: 960 * ms, den: 4000 * ms,
			in: made([]gpu{{500, 0, 470}, {480, 0, 490}}, []gpu{{990, 990, 10}, {1000, 990, 0}})},
		// Both work in 300 of the 500 in which any of them works, and wait together in half of the time.
		{name: "2 GPUs work at the same time", label: rule.GPUIdle, near: rule.GPUsInTurn, in: made([]gpu{{400, 300, 100}, {400, 300, 100}})},
		// Never at the same time, but the GPUs are idle together in two thirds of the time.
		{name: "2 GPUs are mostly idle together", label: rule.GPUIdle, near: rule.GPUsInTurn, in: made([]gpu{{170, 0, 160}, {160, 0, 170}})},
		{name: "3 ranks that do not know of each other", label: rule.GPUIdle, near: rule.GPUsInTurn, in: made([]gpu{{320, 0, 0}}, []gpu{{320, 0, 0}}, []gpu{{330, 0, 0}})},

		// The other three work while GPU 2 does.
		{name: "GPU 2 of 4 does more", label: rule.UnevenGPUs, num: 1800 * ms, den: 4000 * ms,
			in: made([]gpu{{300, 300, 600}, {300, 300, 600}, {900, 300, 0}, {300, 300, 600}})},
		// GPU 0 works 400 more, during 390 of which GPU 1 is idle.
		{name: "the first of 2 GPUs does more", label: rule.UnevenGPUs, num: 390 * ms, den: 2000 * ms,
			in: made([]gpu{{850, 440, 10}, {450, 440, 390}})},
		{name: "2 of 4 GPUs do more", label: rule.GPUIdle, near: rule.UnevenGPUs,
			in: made([]gpu{{900, 900, 0}, {900, 900, 0}, {300, 300, 600}, {300, 300, 600}})},
		{name: "one GPU does more while the others could not", label: rule.GPUIdle, near: rule.UnevenGPUs,
			in: made([]gpu{{600, 300, 0}, {300, 300, 100}, {300, 300, 100}})},
		{name: "one rank does more", label: rule.GPUIdle, near: rule.UnevenGPUs, in: made([]gpu{{900, 0, 0}}, []gpu{{300, 0, 0}}, []gpu{{300, 0, 0}})},
	}
}

// TestDivisionOfWork: the verdict is about GPUs that wait for each other, the sentences name the GPU
// that differs, and no first remedy is about the CPU or about ranks.
func TestDivisionOfWork(t *testing.T) {
	for _, tt := range []struct {
		name   string
		in     *summary.Summary
		says   string
		advice []string
	}{
		{"in turn", driven([]gpu{{250, 10, 700}, {250, 10, 720}, {240, 10, 710}, {240, 10, 730}}),
			"one of 4 GPUs of the process works during 96.0% of the time, each during 24.5% on average",
			[]string{"work-at-the-same-time", "use-fewer-gpus"}},
		{"uneven", driven([]gpu{{300, 300, 600}, {300, 300, 600}, {900, 300, 0}}),
			"GPU 2 works for 900 ms (90.0% of its window), the 2 others of its process for 300 ms (30.0%) on average",
			[]string{"give-the-gpu-less", "work-at-the-same-time", "find-the-dependency"}},
		{"one that is idle", driven([]gpu{{20, 20, 880}, {900, 20, 0}}),
			"GPU 1 works for 900 ms (90.0% of its window), the other GPU of its process for 20 ms (2.0%)",
			[]string{"give-the-gpu-less", "work-at-the-same-time"}},
	} {
		r := Judge(tt.in, rule.DefaultThresholds())
		if r.Verdict.Bound != "gpus" {
			t.Errorf("%s: %s-bound\n%s", tt.name, r.Verdict.Bound, told(r))
			continue
		}
		f := r.Findings[0]
		if f.Cause != tt.says || !slices.Equal(ids(f.Next), tt.advice) {
			t.Errorf("%s: %q, remedies %q", tt.name, f.Cause, ids(f.Next))
		}
	}
}

// TestDataParallel: only what torch.nn.DataParallel alone does shows it.
func TestDataParallel(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*summary.Summary)
		want   string
	}{
		"its operators":  {func(s *summary.Summary) { s.Ops = []summary.Op{{Name: "Gather"}, {Name: "Scatter"}} }, "one-process-per-gpu"},
		"its annotation": {func(s *summary.Summary) { s.Annotations = []summary.Annotation{{Name: "DataParallel.forward"}} }, "one-process-per-gpu"},
		"its module":     {func(s *summary.Summary) { s.Modules = []summary.Module{{Path: "DataParallel_0/VGG_0"}} }, "one-process-per-gpu"},
		"Scatter alone":  {func(s *summary.Summary) { s.Ops = []summary.Op{{Name: "Scatter"}} }, "give-the-gpu-less"},
		"DDP": {func(s *summary.Summary) {
			s.Annotations = []summary.Annotation{{Name: "DistributedDataParallel.forward"}}
		}, "give-the-gpu-less"},
		"operators of others": {func(s *summary.Summary) { s.Ops = []summary.Op{{Name: "GatherOp"}, {Name: "aten::scatter"}} }, "give-the-gpu-less"},
	} {
		s := driven([]gpu{{300, 300, 600}, {900, 300, 0}})
		tt.change(s)
		if got := find(t, Judge(s, rule.DefaultThresholds()), rule.UnevenGPUs).Next[0].ID; got != tt.want {
			t.Errorf("%s: the first remedy is %s, want %s", name, got, tt.want)
		}
	}
}

// TestRanksMissing: other traces are asked for only where there are other ranks.
func TestRanksMissing(t *testing.T) {
	for name, tt := range map[string]struct {
		gpus, world int
		want        bool
	}{
		"one GPU of an unknown number of ranks": {1, 0, true},
		"one of 16 ranks":                       {1, 16, true},
		"the only rank":                         {1, 1, false},
		"one process with all GPUs":             {4, 0, false},
		"one of 2 processes with 4 GPUs each":   {4, 2, true},
	} {
		s := of()
		s.Inputs[0].WorldSize = tt.world
		for i := range tt.gpus {
			d := device(0, int64(i), map[summary.Class]int64{comm: 400, comp: 600})
			if tt.gpus > 1 {
				d.Process, d.SharedNS = 1, 1000*ms
			}
			s.Devices = append(s.Devices, d)
			s.Kernels = append(s.Kernels, summary.Kernel{Name: "rcclAllReduce", Class: "comm", Category: "all-reduce", Device: int64(i), Count: 10, TotalNS: 400 * ms})
		}
		r := Judge(s, rule.DefaultThresholds())
		got := false
		for _, f := range r.Findings {
			got = got || slices.Contains(ids(f.Next), "give-all-ranks")
		}
		if got != tt.want || !strings.Contains(told(r), rule.ExposedComm) {
			t.Errorf("%s: other ranks are asked for: %t\n%s", name, got, told(r))
		}
	}
}
