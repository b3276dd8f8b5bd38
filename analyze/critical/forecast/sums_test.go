package forecast_test

import (
	"maps"
	"testing"

	"assay/analyze/critical/graph"
)

// TestModulesAndPhases: a piece belongs to the innermost module and phase around it, GPU work to those around its
// launch, and an operator of a backward pass to the module of its forward operator. Host: 10 µs in the phase
// forward, of which 6 in Encoder/Attn; 14 in backward, of which 8 have a forward operator.
func TestModulesAndPhases(t *testing.T) {
	var p tape
	p.step(0, 60)
	p.host("user_annotation", "forward", 0, 10)
	p.host("python_function", "nn.Module: Encoder_0", 1, 8)
	p.host("python_function", "nn.Module: Attn_0", 2, 6)
	p.add("cpu_op", "aten::bmm", 1, 2, 6, object{"Sequence number": 31, "Fwd thread id": 0})
	p.host("user_annotation", "backward", 10, 14)
	p.add("cpu_op", "BmmBackward0", 1, 12, 8, object{"Sequence number": 31, "Fwd thread id": 1})
	p.launch(14, 4, 5)
	p.add("cpu_op", "aten::add_", 1, 21, 2, object{"Sequence number": 99, "Fwd thread id": 1})
	p.work("bmm_dgrad", 7, 20, 30, 5)
	p.call("cudaDeviceSynchronize", 30, 22, 6)
	tr := p.read(t)
	phase := func(at int64) string {
		switch {
		case at < 10_000:
			return "forward"
		case at < 24_000:
			return "backward"
		}
		return ""
	}
	g := modelOf(graph.Of(tr, graph.Options{Windows: windows(tr, "ProfilerStep", -1), Phase: phase}))
	path := g.Paths()[0]
	sums := g.SumsOf(&path)
	// The path: host until the launch call ends at 18, its delay until 20, 30 of the kernel, then the return of
	// the wait and the rest of the step, which are in no phase.
	if want := map[string]int64{"forward": 10_000, "backward": 40_000}; !maps.Equal(sums.Phases, want) {
		t.Errorf("phases %v, want %v", sums.Phases, want)
	}
	if want := map[string]int64{"Encoder_0": 2_000, "Encoder_0/Attn_0": 6_000 + 2_000 + 6_000 + 30_000}; !maps.Equal(sums.Modules, want) {
		t.Errorf("modules %v, want %v", sums.Modules, want)
	}
}
