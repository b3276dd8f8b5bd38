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
