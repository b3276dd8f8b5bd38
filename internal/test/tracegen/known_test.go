package tracegen

import (
	"reflect"
	"testing"
)

// told returns the truth of the story with a name.
func told(t *testing.T, name string) Attribution {
	t.Helper()
	for _, p := range Stories() {
		if p.Name == name {
			return p.Make().Truth
		}
	}
	t.Fatalf("no story %s", name)
	return Attribution{}
}

// TestKnownStories compares the truth of some stories with sums computed by
// hand from their definitions.
func TestKnownStories(t *testing.T) {
	equal := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", what, got, want)
		}
	}
	// Inside the call 4; calls of 6 and 0, 20 or 10 after them; 2 and 20 after
	// another kernel; 3 and 8 of the call that begins before the gap.
	equal("launch_latency", told(t, "launch_latency").Idle, []IdleTime{
		{Owner: BetweenKernels, NS: (2 + 20) * us}, {Owner: LaunchLatency, NS: (4 + 6 + 26 + 11 + 16) * us},
	})
	// Two gaps a nanosecond over 20 µs, one of 300 µs and one of 90 µs, two of
	// them after a call of 6 µs.
	equal("dependency", told(t, "dependency").Idle, []IdleTime{
		{Owner: Dependency, NS: 2*20_001 + 390*us}, {Owner: LaunchLatency, NS: 12 * us},
	})
	// Depths of 3 and 1. aten::to uses 2 µs and launches for 1 µs; _to_copy
	// uses 2 µs. Kernels last 13 to 10 and 11 to 10 µs; _to_copy has all of
	// them except the outermost.
	equal("recursion", told(t, "recursion").Ops, []OpRun{
		{Name: "aten::_to_copy", Count: 4, CPUSelfNS: 8 * us, CPUTotalNS: (15 + 5) * us, GPUTotalNS: (33 + 10) * us},
		{Name: "aten::to", Count: 6, CPUSelfNS: 12 * us, CPUTotalNS: (18 + 8) * us, GPUSelfNS: 67 * us, GPUTotalNS: 67 * us, Launched: 6},
	})
	// Dense: 20, 30 and 20. The other one: 5, 9, 12 and 8, with 2, 50 and 2 between.
	graphs := told(t, "graphs").Graphs
	for i := range graphs {
		graphs[i].DelayNS = 0 // depends on what runs before
	}
	equal("graphs", graphs, []GraphRun{
		{Call: "cudaGraphLaunch", First: "qkv", Launches: 3, Nodes: 3, WorkNS: 210 * us, SpanNS: 210 * us, CallNS: 35 * us},
		{Call: "cudaGraphLaunch", First: "norm", Launches: 2, Nodes: 4, WorkNS: 68 * us, SpanNS: 176 * us, IdleNS: 108 * us, CallNS: 25 * us},
	})
	// Of two steps each: 80+80+25+30, 50+51+52+53, 45, and a copy of 2.
	passes := map[string]int64{}
	for _, o := range told(t, "training").Owners {
		passes[o.Pass] += o.NS
	}
	equal("training", passes, map[string]int64{"forward": 430 * us, "backward": 412 * us, "optimizer": 90 * us, "other": 4 * us})
	// In the second step 1000 MiB are older, addmm has 600, relu 10 and the loss 1.
	m := told(t, "memory").Memory[0]
	m.PeakNS = 0
	equal("memory", m, MemoryUse{
		Allocs: 15, Frees: 16, StartAllocated: 1024 * mib, PeakAllocated: 1611 * mib, PeakReserved: 1900 * mib, LiveBytes: 611 * mib,
		Live: []LiveMemory{
			{"aten::addmm", "Net_0/Linear_0", 600 * mib, 2}, {"aten::relu", "Net_0", 10 * mib, 1}, {"aten::mse_loss", "", mib, 1},
		},
	})
}
