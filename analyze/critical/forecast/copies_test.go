package forecast_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"assay/analyze/critical/forecast"
)

// A call copies from pageable memory: it returns (at 100) while the rest of the copy (18 to 113) is under way, and
// the operator then waits for it (102 to 116). From 128 on a kernel is launched that runs from 135 to 175; the host
// lasts until 190. With half the copy the call returns at 18 + 41 and the wait at 18 + 47.5 + 3. If the copy does not
// block, the kernel follows it, 1.3 µs after 113.
func TestStagedCopy(t *testing.T) {
	record := func(copies string) *forecast.Model {
		var p tape
		p.step(0, 190)
		p.host("cpu_op", "move_batch", 5, 113)
		p.call("cudaMemcpyAsync", 10, 90, 1)
		p.work(copies, 4, 18, 95, 1)
		p.call("cudaStreamSynchronize", 102, 14, 2)
		p.launch(128, 4, 3)
		p.work("encoder", 4, 135, 40, 3)
		return p.graph(t, 0)
	}
	g := record("Memcpy HtoD (Pageable -> Device)")
	pathIs(t, g, map[string]float64{"python": 5 + 10 + 58, "host_op": 5 + 2, "runtime": 8 + 4, "copy": 95, "sync_return": 3})
	forecastIs(t, g, map[string]float64{"--copy 0.5": 190 - 47.5, "--pinned": 113 + 1.3 + 40, "--remove sync~move": 154.3,
		"--scale kernel~encoder=2": 215})
	// The call of a copy from pinned memory takes as long for another reason, so it stays.
	g = record("Memcpy HtoD (Pinned -> Device)")
	forecastIs(t, g, map[string]float64{"--copy 0.5": 190 - 13, "--pinned": 190 - 14, "--pinned 0.2": 190 - 14})
}

// A value is read: the copy to the host does not block, the wait after it does, and stays with pinned memory.
func TestReadBack(t *testing.T) {
	var p tape
	p.step(0, 80)
	p.host("cpu_op", "read_value", 5, 70)
	p.call("cudaMemcpyAsync", 10, 6, 1)
	p.work("Memcpy DtoH (Device -> Pinned)", 4, 20, 40, 1)
	p.call("cudaStreamSynchronize", 18, 46, 2)
	forecastIs(t, p.graph(t, 0), map[string]float64{"--pinned": 80, "--copy 0.5": 60})
}

// Each step queues three kernels of 20 µs and waits for them, from 20 to 78. With one of 30 µs instead, the wait
// ends at 12 + 30 + 4, and the rest of the step takes 22 µs.
func TestFuseWithinSteps(t *testing.T) {
	var p tape
	for s := range 2 {
		at, id := 100*float64(s), 10*s
		p.step(at, 100)
		for i := range 3 {
			p.launch(at+5+5*float64(i), 4, id+i+1)
			p.work("bias_add", 7, at+12+21*float64(i), 20, id+i+1)
		}
		p.call("hipDeviceSynchronize", at+20, 58, id+9)
	}
	g := p.graph(t, 0)
	f, _, err := g.Forecast(g.Paths(), changesOf([]string{"--fuse", "bias=0.5"}))
	if err != nil || len(f) != 2 || f[0].Forecast != 68_000 || f[1].Forecast != 68_000 {
		t.Errorf("%+v %v", f, err)
	}
}

// The host waits between the second and the third of four kernels, so two become one before the wait (12 to 32),
// and two after it (46 to 66). The last wait ends at 70, and the host goes on for 38 µs.
func TestFuseBetweenWaits(t *testing.T) {
	var p tape
	p.step(0, 150)
	for i := range 4 {
		at := 5*float64(i%2) + 55*float64(i/2)
		p.launch(5+at, 4, i+1)
		p.work("bias_add", 7, 12+55*float64(i/2)+21*float64(i%2), 20, i+1)
	}
	p.call("cudaStreamSynchronize", 16, 41, 8)
	p.call("cudaStreamSynchronize", 71, 41, 9)
	forecastIs(t, p.graph(t, 0), map[string]float64{"--fuse bias=0.5": 108})
}

// Two operators launch a kernel each, with 30 µs of Python between them; the host waits from 82 to 86 and goes on for
// 14 µs. A graph of the operators leaves the Python, one of the whole step does not: the wait ends with the second
// kernel, at 18 + 10 + 1.3 + 10 + 3. A wait between the launches cannot be in a graph.
func TestGraphOfStep(t *testing.T) {
	record := func(wait bool) *forecast.Model {
		var p tape
		p.step(0, 100)
		for i := range 2 {
			at := 50 * float64(i)
			p.host("cpu_op", "rotary", at+10, 20)
			p.launch(at+15, 5, i+1)
			p.work("rope_kernel", 6, at+23, 10, i+1)
		}
		if wait {
			p.call("cudaStreamSynchronize", 40, 2, 8)
		}
		p.call("cudaDeviceSynchronize", 82, 4, 9)
		return p.graph(t, 0)
	}
	g := record(false)
	forecastIs(t, g, map[string]float64{"--graph": 67, "--graph 10:step": 56.3, "--graph step": 56.3, "--graph 30": 87, "--graph 30:step": 57})
	for _, wait := range []bool{false, true} {
		g := record(wait)
		f, _, err := g.Forecast(g.Paths(), changesOf([]string{"--graph", "step"}))
		if got := err == nil && strings.Contains(strings.Join(f[0].Verdict.Reasons, ";"), "waits for the GPU between the launches"); got != wait {
			t.Errorf("wait %v: %+v %v", wait, f, err)
		}
	}
}

// TestPinnedSpeed: copies of pageable memory take 0.2 times 50 µs and do not block; the call stays 6 µs. The kernel
// follows the copy. Pinned copies are as fast as before.
func TestPinnedSpeed(t *testing.T) {
	for name, want := range map[string]float64{"Memcpy HtoD (Pageable -> Device)": .2 * 50, "Memcpy HtoD (Pinned -> Device)": 50} {
		var p tape
		p.step(0, 150)
		p.call("cudaMemcpyAsync", 10, 6, 1)
		p.work(name, 4, 20, 50, 1)
		p.launch(18, 4, 2)
		p.work("conv", 4, 71, 70, 2)
		p.call("cudaDeviceSynchronize", 24, 119, 9)
		g := p.graph(t, 0)
		both := make(map[string]float64)
		for _, change := range []string{"--scale kernel~Memcpy=" + strconv.FormatFloat(want/50, 'g', -1, 64) + " --pinned", "--pinned 0.2"} {
			f, _, err := g.Forecast(g.Paths(), changesOf(strings.Fields(change)))
			if err != nil {
				t.Fatal(err)
			}
			both[change] = float64(f[0].Forecast)
		}
		for change, got := range both {
			if got != both["--pinned 0.2"] {
				t.Errorf("%s: %s gives %g, with its speed %g", name, change, got, both["--pinned 0.2"])
			}
		}
		if off := math.Abs(both["--pinned 0.2"]/1000 - (150 - 50 + want)); off > 2 {
			t.Errorf("%s: off by %g µs", name, off)
		}
	}
}

// TestBlockerFirst: where the CPU waits between launches one graph cannot hold the step, and that comes before the doubt
// that no kernel was queued. A wait after the last launch is no reason.
func TestBlockerFirst(t *testing.T) {
	for wait, want := range map[float64]bool{32: true, 132: false} {
		var p tape
		p.step(0, 200)
		for i := range 2 {
			p.launch(10+50*float64(i), 4, i+1)
			p.work("gelu", 4, 18+50*float64(i), 12, i+1)
		}
		p.call("cudaStreamSynchronize", wait, 6, 7)
		g := p.graph(t, 0)
		f, _, err := g.Forecast(g.Paths(), changesOf([]string{"--graph"}))
		if err != nil {
			t.Fatal(err)
		}
		list := f[0].Verdict.Reasons
		if len(list) < 1 || strings.Contains(list[0], "one graph cannot hold") != want {
			t.Errorf("a wait at %g: %q", wait, list)
		}
	}
}
