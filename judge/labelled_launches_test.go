package judge

import (
	"testing"

	"assay/judge/rule"
	"assay/summary"
)

// labelledSynchronous are runs of a second whose GPU is idle between launches; held of long kernels ran
// within their launch call. data is idle time, in ms, in which a batch was loaded.
func labelledSynchronous() []labelled {
	run := func(long, held, data int64) func(*testing.T) *summary.Summary {
		return func(*testing.T) *summary.Summary {
			s := one(400+data, 0, 0)
			s.Idle = []summary.Idle{
				{Owner: summary.OwnerHost, State: summary.StateOp, Name: "aten::mul", NS: 250 * ms, Count: 5000, MaxNS: 60_000, ShortGapsNS: 250 * ms},
				{Owner: summary.OwnerLaunch, Name: "hipExtModuleLaunchKernel", NS: 150 * ms, Count: 5000, MaxNS: 40_000, ShortGapsNS: 150 * ms},
			}
			if data > 0 {
				s.Idle = append(s.Idle, summary.Idle{Owner: summary.OwnerHost, State: summary.StateData, Name: "next", NS: data * ms, Count: 10, MaxNS: 90 * ms})
			}
			s.Launches = []summary.Launches{{Launched: 5000, Calls: 5000, Long: long, Held: held}}
			return s
		}
	}
	return []labelled{
		{name: "each kernel within its launch call", label: rule.SynchronousLaunches, num: 400 * ms, den: 1000 * ms, in: run(5000, 5000, 0)},
		{name: "ten long kernels, nine within their call", label: rule.SynchronousLaunches, num: 400 * ms, den: 1000 * ms, in: run(10, 9, 0)},
		{name: "89% within their call", label: rule.LaunchBound, near: rule.SynchronousLaunches, in: run(100, 89, 0)},
		{name: "nine kernels are too few", label: rule.LaunchBound, near: rule.SynchronousLaunches, in: run(9, 9, 0)},
		{name: "synchronous, and data is loaded for longer", label: rule.DataLoading, near: rule.SynchronousLaunches, in: run(5000, 5000, 500)},
	}
}

// TestSynchronousRemedies: the setting is that of the GPU's maker, and graphs are no remedy.
func TestSynchronousRemedies(t *testing.T) {
	for _, tc := range []struct{ gpu, call, want string }{
		{"NVIDIA L40S", "cudaLaunchKernel", "unset-launch-blocking"}, {"", "cudaLaunchKernel", "unset-launch-blocking"},
		{"AMD Radeon RX 7900 XTX", "hipLaunchKernel", "unset-serialize-kernel"}, {"", "hipModuleLaunchKernel", "unset-serialize-kernel"},
		{"Intel(R) Data Center GPU Max 1550", "urEnqueueKernelLaunch", "unset-serialize"},
	} {
		s := labelledSynchronous()[0].in(t)
		s.Devices[0].Name = tc.gpu
		s.Calls = []summary.Call{{Name: tc.call, Kind: "launch", Count: 5000, Launched: 5000}}
		s.Lines = []summary.Line{{File: "/vllm/v1/engine/core.py"}}
		next := ids(find(t, Judge(s, rule.DefaultThresholds()), rule.SynchronousLaunches).Next)
		if next[0] != tc.want {
			t.Errorf("%s, %s: %v, want %s first", tc.gpu, tc.call, next, tc.want)
		}
		for _, id := range next {
			if id == "launch-less" || id == "launch-less-by-graphs" || id == "vllm-graphs" {
				t.Errorf("%s: %s is advised", tc.gpu, id)
			}
		}
	}
}

// labelledQueued are runs of a busy second; before is the GPU time, in ms, of the work that was queued
// when the capture began, other the part of it that is unlike the launched work, and alone that of other work
// without a launch call.
func labelledQueued() []labelled {
	run := func(before, other, alone int64) func(*testing.T) *summary.Summary {
		return func(*testing.T) *summary.Summary {
			s := one(20, 0, 0)
			for _, name := range []string{"Cijk_Alik_Bljk_MT128x128", "attn_fwd", "rms_norm", "topk", "Cijk_Ailk_Bljk_MT64x64"} {
				s.Kernels = append(s.Kernels, summary.Kernel{Name: name, Class: "compute", Category: "gemm", Count: 40, TotalNS: 196 * ms, MaxNS: 5 * ms})
			}
			s.Launches = []summary.Launches{{Launched: 100, Calls: 100, Without: 100, WithoutNS: (before + alone) * ms, Before: 100, BeforeNS: before * ms, OtherNS: other * ms}}
			return s
		}
	}
	return []labelled{
		{name: "a quarter of the work was queued before", label: rule.QueuedBefore, num: 245 * ms, den: 980 * ms, in: run(245, 245, 0)},
		{name: "nearly all work was queued before", label: rule.QueuedBefore, num: 970 * ms, den: 980 * ms, in: run(970, 970, 0)},
		{name: "three quarters were queued before, of the same kernels", label: rule.QueuedBefore, num: 735 * ms, den: 980 * ms, in: run(735, 0, 0)},
		{name: "a step was queued before", label: rule.ComputeBound, near: rule.QueuedBefore, in: run(490, 0, 0)},
		{name: "a little less was queued before", label: rule.ComputeBound, near: rule.QueuedBefore, in: run(244, 244, 0)},
		{name: "work of streams that nothing recorded launches on", label: rule.ComputeBound, near: rule.QueuedBefore, in: run(0, 0, 970)},
	}
}

// labelledDark are runs of a second; in some steps, with the given idle time in ms, no call was recorded.
func labelledDark() []labelled {
	run := func(dark, late int64) func(*testing.T) *summary.Summary {
		return func(*testing.T) *summary.Summary {
			s := one(dark+late, 0, 0)
			s.Idle = []summary.Idle{{Owner: summary.OwnerNotRecorded, NS: dark * ms, Count: 3, MaxNS: dark * ms / 3},
				{Owner: summary.OwnerHost, State: summary.StatePython, Name: "run.py(3): collate", NS: late * ms, Count: 10, MaxNS: late * ms / 10}}
			s.Issues = []summary.Issue{{Code: "steps-without-calls", Severity: "data-loss", Count: 3}}
			return s
		}
	}
	return []labelled{
		{name: "steps without calls in a busy run", label: rule.NotRecorded, after: rule.CaptureQuality, num: 300 * ms, den: 1000 * ms, in: run(300, 10)},
		{name: "steps without calls in a run that waits for its host", label: rule.CPUWork, near: rule.NotRecorded, after: rule.CaptureQuality, in: run(300, 400)},
	}
}
