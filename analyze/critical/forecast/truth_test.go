package forecast_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"assay/analyze/critical"
	"assay/analyze/critical/forecast"
	"assay/analyze/critical/graph"
	"assay/trace"
)

// A tape collects the events of a trace. Times are in µs. Host events are on thread 1 if no other
// is given.
type tape struct{ events []object }

func (p *tape) add(cat, name string, tid int, ts, dur float64, args object) {
	pid := 3
	if cat == "kernel" || cat == "gpu_memcpy" || cat == "cuda_sync" {
		pid = 0
	}
	p.events = append(p.events, object{"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args})
}

func (p *tape) host(cat, name string, ts, dur float64) { p.add(cat, name, 1, ts, dur, object{}) }

func (p *tape) step(ts, dur float64) { p.host("user_annotation", "ProfilerStep#4", ts, dur) }

func (p *tape) call(name string, ts, dur float64, correlation int) {
	p.add("cuda_runtime", name, 1, ts, dur, object{"correlation": correlation})
}

func (p *tape) launch(ts, dur float64, correlation int) {
	p.call("cudaLaunchKernel", ts, dur, correlation)
}

func (p *tape) work(name string, stream int, ts, dur float64, correlation int) {
	cat := "kernel"
	if strings.HasPrefix(name, "Memcpy") {
		cat = "gpu_memcpy"
	}
	p.add(cat, name, stream, ts, dur, object{"device": 0, "stream": stream, "correlation": correlation})
}

// read returns the trace of the events.
func (p *tape) read(t *testing.T) *trace.Trace {
	t.Helper()
	text, err := json.Marshal(object{"traceEvents": p.events})
	if err != nil {
		t.Fatal(err)
	}
	return read(t, text)
}

// graph returns the model of the events, and rank their graph, to be joined.
func (p *tape) graph(t *testing.T, rank int) *forecast.Model { return modelOf(p.rank(t, rank)) }

func (p *tape) rank(t *testing.T, rank int) *graph.Graph {
	t.Helper()
	tr := p.read(t)
	return graph.Of(tr, graph.Options{Rank: rank, Windows: windows(tr, "ProfilerStep", -1)})
}

// pathIs compares the classes of the path of the first step, in µs, with the truth.
func pathIs(t *testing.T, g *forecast.Model, truth map[string]float64) critical.Path {
	t.Helper()
	p := g.Paths()[0]
	for class, ns := range p.Classes {
		if want := truth[graph.Class(class).String()]; float64(ns)/1000 != want {
			t.Errorf("%v: %g µs, want %g", graph.Class(class), float64(ns)/1000, want)
		}
	}
	return p
}

// forecastIs compares forecasts of the first step, in µs, with the truth.
func forecastIs(t *testing.T, g *forecast.Model, truth map[string]float64) {
	t.Helper()
	for change, want := range truth {
		f, _, err := g.Forecast(g.Paths(), changesOf(strings.Fields(change)))
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(f[0].Forecast) / 1000; got != want {
			t.Errorf("%s: %g µs, want %g", change, got, want)
		}
	}
}

// Three kernels of 50 µs are queued; the host waits for the device, then works for 27 µs.
// 0 step, 10-14 launch, 17-67, 68-118, 119-169 kernels, 173 return, 200 end.
func TestQueuedWorkAndDeviceWait(t *testing.T) {
	var p tape
	p.step(0, 200)
	for i := range 3 {
		p.launch(10+4*float64(i), 4, i+1)
		p.work("ln_fwd", 5, 17+51*float64(i), 50, i+1)
	}
	p.call("cudaDeviceSynchronize", 30, 143, 9)
	g := p.graph(t, 0)
	pathIs(t, g, map[string]float64{"python": 10 + 27, "runtime": 4, "launch_delay": 3, "compute": 150, "kernel_gap": 2, "sync_return": 4})
	forecastIs(t, g, map[string]float64{
		"--scale kernel~ln=0.5": 200 - 75,
		"--gap 0.5":             200 - 1,
		"--launch 0.5":          200 - 3.5, // 2 of the call, 1.5 of the delay
		"--remove sync~Device":  169,       // the last kernel; the host is done at 30 + 27
	})
}

// The work of stream 8 waits for that of stream 3 through an event.
func TestForkOverEvent(t *testing.T) {
	for _, recorded := range []bool{true, false} {
		t.Run(fmt.Sprint("recorded ", recorded), func(t *testing.T) {
			var p tape
			p.step(0, 40)
			p.launch(10, 4, 1)
			p.work("embed_fwd", 3, 16, 100, 1)
			p.call("cudaEventRecord", 15, 1, 50)
			p.call("cudaStreamWaitEvent", 17, 1, 51)
			p.launch(20, 4, 2)
			p.work("topk_route", 8, 123, 50, 2)
			if recorded {
				p.add("cuda_sync", "Stream Wait Event", 8, 17, 0, object{"device": 0, "stream": 8, "correlation": 51,
					"wait_on_stream": 3, "wait_on_cuda_event_record_corr_id": 50})
			}
			g := p.graph(t, 0)
			path := pathIs(t, g, map[string]float64{"python": 10, "runtime": 4, "launch_delay": 2, "compute": 150, "kernel_gap": 7})
			if want := map[bool]int64{true: 0, false: 7000}[recorded]; path.Inferred != want {
				t.Errorf("%d ns are inferred, want %d", path.Inferred, want)
			}
			forecastIs(t, g, map[string]float64{
				"--scale kernel~embed=0.5": 173 - 50,
				"--remove wait~topk":       116, // topk_route runs from 26 to 76 beside embed_fwd, which ends at 116
			})
		})
	}
}

// The main thread waits in one operator (10-110) for the thread of the autograd engine (30-90).
// Without an event of the engine nothing proves the wait.
func TestBackwardThread(t *testing.T) {
	record := func(name string) *forecast.Model {
		var p tape
		p.step(0, 120)
		p.host("cpu_op", "criterion", 10, 100)
		p.add("cpu_op", name, 2, 30, 60, object{})
		p.add("cuda_runtime", "cudaLaunchKernel", 2, 40, 4, object{"correlation": 1})
		p.work("mul", 7, 46, 10, 1)
		return p.graph(t, 0)
	}
	g := record("autograd::engine::evaluate_function: MulBackward0")
	pathIs(t, g, map[string]float64{"python": 20, "host_op": 20 + 56 + 20, "runtime": 4})
	forecastIs(t, g, map[string]float64{"--scale op~evaluate=0.5": 120 - 30, "--scale op~criterion=0.5": 120 - 20})
	g = record("worker::evaluate")
	pathIs(t, g, map[string]float64{"python": 20, "host_op": 100})
	forecastIs(t, g, map[string]float64{"--scale op~evaluate=0.5": 120})
}

// A copy to pageable memory blocks the host until 5 µs after its end; that of a call on pinned memory is as long
// for another reason.
func TestPageableCopy(t *testing.T) {
	record := func(memory string, call, step float64) *forecast.Model {
		var p tape
		p.step(0, step)
		p.launch(2, 4, 1)
		p.work("argmax", 4, 8, 6, 1)
		p.call("cudaMemcpyAsync", 10, call, 2)
		p.work("Memcpy DtoH (Device -> "+memory+")", 4, 15, 40, 2)
		return p.graph(t, 0)
	}
	g := record("Pageable", 50, 70)
	pathIs(t, g, map[string]float64{"python": 2 + 10, "runtime": 4, "launch_delay": 2, "compute": 6, "kernel_gap": 1, "copy": 40, "sync_return": 5})
	forecastIs(t, g, map[string]float64{"--copy 2x": 70 - 20, "--pinned": 55})
	g = record("Pinned", 50, 70)
	pathIs(t, g, map[string]float64{"python": 2 + 4 + 10, "runtime": 4 + 50})
	forecastIs(t, g, map[string]float64{"--pinned": 70, "--copy 2x": 70})
}

// One call of 10 µs launches three kernels.
func TestGraphLaunch(t *testing.T) {
	var p tape
	p.step(0, 30)
	p.call("cudaGraphLaunch", 10, 10, 1)
	for i, name := range []string{"rms", "rope", "attn"} {
		p.work(name, 6, 25+11*float64(i), 10, 1)
	}
	g := p.graph(t, 0)
	pathIs(t, g, map[string]float64{"python": 10, "runtime": 10, "launch_delay": 5, "compute": 30, "kernel_gap": 2})
	forecastIs(t, g, map[string]float64{"--launch 0.5": 57 - 7.5, "--scale kernel~rope=0": 57 - 10,
		"--overlap rope": 46}) // rope still follows rms, to 46; attn follows rms, to 45
	if g.Counts.Graphs != 1 {
		t.Errorf("%d graphs", g.Counts.Graphs)
	}
}

// A stream has room for 250 launches. Kernel i starts at 15 + 41i; a call takes 2 µs, or lasts until
// kernel i - 251 starts. The last call (319) returns at 15 + 41·68 = 2803, when the host goes on alone.
func TestFullLaunchQueue(t *testing.T) {
	var p tape
	const n, room = 320, 250
	start := func(i int) float64 { return 15 + 41*float64(i) }
	at := 10.0
	for i := range n {
		end := at + 2
		if i > room {
			end = max(end, start(i-room-1))
		}
		p.launch(at, end-at, i+1)
		p.work("gelu", 2, start(i), 40, i+1)
		at = end
	}
	p.host("cpu_op", "save", at, 17200)
	p.step(0, at+17200)
	g := p.graph(t, 0)
	pathIs(t, g, map[string]float64{"python": 10, "runtime": 2, "launch_delay": 3, "compute": 68 * 40, "kernel_gap": 68, "host_op": 17200})
	forecastIs(t, g, map[string]float64{"--scale kernel~gelu=0.5": 15 + 21*68 + 17200})
}

// Rank 6 comes to the collective at 127, rank 4 at 47. The transfer takes 20 µs.
func TestStraggler(t *testing.T) {
	record := func(rank int, compute float64) *graph.Graph {
		var p tape
		p.step(0, 30)
		p.launch(10, 4, 1)
		p.work("ffn", 7, 16, compute, 1)
		p.launch(18, 4, 2)
		p.work("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 7, 17+compute, 147-17-compute, 2)
		return p.rank(t, rank)
	}
	g, _ := joined([]*graph.Graph{record(4, 30), record(6, 110)})
	p := pathIs(t, g, map[string]float64{"python": 10, "runtime": 4, "launch_delay": 2, "compute": 110, "kernel_gap": 1, "comm": 20})
	ranks := g.SumsOf(&p).Ranks
	if ranks[4] != 20_000 || ranks[6] != 127_000 {
		t.Errorf("the path leads through %v", ranks)
	}
	forecastIs(t, g, map[string]float64{"--like 4": 47 + 20, "--like 6": 147, "--scale kernel~ffn=0.5": 16 + 55 + 1 + 20})
	for _, absent := range []string{"0", "5"} {
		if _, _, err := g.Forecast(g.Paths(), changesOf([]string{"--like", absent})); err == nil {
			t.Errorf("rank %s is not given", absent)
		}
	}
}

// The batch comes from another process at 90, however fast this one is.
func TestBatchArrives(t *testing.T) {
	var p tape
	p.step(0, 120)
	p.host("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 10, 80)
	p.host("cpu_op", "normalize", 95, 20)
	g := p.graph(t, 0)
	pathIs(t, g, map[string]float64{"python": 10 + 5 + 5, "dataloader": 80, "host_op": 20})
	forecastIs(t, g, map[string]float64{"--host 2x": 90 + 15, "--scale op~normalize=0.5": 110})
}

// Of 100 launches, some have no work in the trace.
func TestLostRecords(t *testing.T) {
	for lost, want := range map[int]critical.Level{0: critical.OK, 5: critical.Warn, 15: critical.Abstain} {
		var p tape
		p.step(0, 30)
		for i := range 100 {
			p.launch(float64(i)*.2, .2, i+1)
			if i >= 50 || i >= lost {
				p.work("silu", 7, 10+10.5*float64(i), 10, i+1)
			}
		}
		v := p.graph(t, 0).Paths()[0].Verdict
		found := strings.Contains(strings.Join(v.Reasons, ";"), "launches have no GPU work")
		if found != (lost > 0) || lost == 15 && v.Level != want || lost == 5 && v.Level < want {
			t.Errorf("%d lost: %v %v", lost, v.Level, v.Reasons)
		}
	}
}

// A loop of 12 steps launches a kernel and waits for the device. The clock of the GPU may be wrong, and calls
// may not be recorded.
func TestDoubts(t *testing.T) {
	const cause, other = "clocks of CPU and GPU differ", "GPU time is not in the trace"
	for _, test := range []struct {
		ahead  float64 // µs by which the clock of the GPU is ahead
		silent int     // kernels without a launch
		reason string
		level  critical.Level
	}{
		{0, 0, "", critical.Warn}, // no kernel is queued
		{12, 0, "", critical.Warn},
		{7e8, 0, cause, critical.Abstain},
		{45, 0, cause, critical.Abstain},
		{0, 12, other, critical.Abstain},
		{0, 7, other, critical.Abstain},
		{0, 2, other, critical.Warn},
		{0, 1, "", critical.Warn},
	} {
		var p tape
		for i := range 12 {
			at := 200 * float64(i)
			p.add("user_annotation", fmt.Sprintf("ProfilerStep#%d", i), 1, at, 199, object{})
			if i >= test.silent {
				p.launch(at+10, 4, i+1)
				p.call("hipDeviceSynchronize", at+20, 60, i+101)
			}
			p.work("rope_fwd", 5, at+17+test.ahead, 55, i+1)
		}
		v := p.graph(t, 0).Paths()[11].Verdict
		found := ""
		for _, s := range []string{cause, other} {
			if strings.Contains(strings.Join(v.Reasons, ";"), s) {
				found += s
			}
		}
		if found != test.reason || v.Level != test.level {
			t.Errorf("%+v: %v %q", test, v.Level, v.Reasons)
		}
	}
}

// Several busy streams without an event between them may hide an order that was not recorded.
func TestUnorderedStreams(t *testing.T) {
	for _, event := range []bool{false, true} {
		var p tape
		p.step(0, 100)
		for i := range 6 {
			p.launch(10*float64(i), 2, i+1)
			p.work("conv", 3+i%2, 10*float64(i)+4, 5, i+1)
		}
		if event {
			p.call("cudaEventRecord", 43, 1, 50)
			p.call("cudaStreamWaitEvent", 45, 1, 51)
		}
		v := p.graph(t, 0).Paths()[0].Verdict
		if got := strings.Contains(strings.Join(v.Reasons, ";"), "several streams"); got == event || v.Level == critical.OK {
			t.Errorf("event %v: %v %v", event, v.Level, v.Reasons)
		}
	}
}

// A host without GPU, a GPU without host, and no events at all get an answer that is withheld.
func TestHalves(t *testing.T) {
	for name, fill := range map[string]func(p *tape){
		"host": func(p *tape) { p.host("cpu_op", "tokenize", 0, 50) },
		"GPU":  func(p *tape) { p.work("gemv", 1, 5, 50, 0) },
	} {
		var p tape
		fill(&p)
		paths := p.graph(t, 0).Paths()
		if len(paths) != 1 || paths[0].Verdict.Level != critical.Abstain || paths[0].Window.Len() != 50_000 {
			t.Errorf("%s: %+v", name, paths)
		}
	}
	if paths := (&tape{events: []object{}}).graph(t, 0).Paths(); len(paths) != 0 {
		t.Errorf("%+v", paths)
	}
}

// Work of the first step ends after the second: the second has no time of its own.
func TestStepEndsBeforeTheOneBefore(t *testing.T) {
	var p tape
	p.step(0, 20)
	p.host("user_annotation", "ProfilerStep#5", 20, 20)
	p.launch(5, 2, 1)
	p.work("scan", 7, 10, 90, 1)
	p.launch(25, 2, 2)
	p.work("copy_k", 8, 30, 5, 2)
	g := p.graph(t, 0)
	if paths := g.Paths(); paths[0].Window.Len() != 100_000 || paths[1].Window.Len() != 0 {
		t.Errorf("%v, then %v", paths[0].Window, paths[1].Window)
	}
	checkGraph(t, g)
}

// An event at the end of time is left out and the answer withheld. One of over 100 hours is left out by the reader.
func TestImpossibleTimes(t *testing.T) {
	for _, at := range [][2]float64{{9.2e15, 5}, {-9.2e15, 5}} {
		var p tape
		p.step(0, 60)
		p.launch(10, 4, 1)
		p.work("silu", 7, 16, 30, 1)
		p.host("cpu_op", "broken", at[0], at[1])
		g := p.graph(t, 0)
		if v := g.Paths()[0].Verdict; v.Level != critical.Abstain {
			t.Errorf("%v: %v %v", at, v.Level, v.Reasons)
		}
		checkGraph(t, g)
	}
}

// The GPU's clock is 6 µs ahead: the kernel that the host waits for ends after the call returns. Only a
// record tells that the call waited for it. Later, by 60 µs, it cannot have.
func TestClockOfTheGPU(t *testing.T) {
	for _, late := range []float64{6, 60} {
		var p tape
		p.step(0, 120)
		p.launch(10, 4, 1)
		p.work("conv", 7, 16, 54+late, 1)
		p.call("cudaStreamSynchronize", 20, 50, 2)
		p.add("cuda_sync", "Stream Sync", 7, 20, 50, object{"device": 0, "stream": 7, "correlation": 2})
		g := p.graph(t, 0)
		if late == 6 {
			pathIs(t, g, map[string]float64{"python": 10 + 50, "runtime": 4, "launch_delay": 2, "compute": 54})
			forecastIs(t, g, map[string]float64{"--scale kernel~conv=0.5": 120 - 30})
		} else {
			forecastIs(t, g, map[string]float64{"--scale kernel~conv=0.5": 120})
		}
	}
}

// TestOthersAfterChange: communication that is hidden behind compute decides once compute is faster. Of one rank
// that forecast carries a warning, because the other ranks may come later; of all ranks it does not.
func TestOthersAfterChange(t *testing.T) {
	record := func(rank int, hidden float64) *graph.Graph {
		var p tape
		p.step(0, 130)
		p.launch(4, 4, 1)
		p.launch(8, 4, 2)
		p.work("conv_fprop", 7, 10, 100, 1)
		p.work("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", 20, 14, hidden, 2)
		p.call("cudaDeviceSynchronize", 20, 95, 3)
		return p.rank(t, rank)
	}
	joined, _ := joined([]*graph.Graph{record(0, 90), record(1, 90)})
	for name, c := range map[string]struct {
		g    *forecast.Model
		ask  string
		warn bool
	}{
		"long communication":  {modelOf(record(0, 90)), "--scale class:compute=0.5", true},
		"short communication": {modelOf(record(0, 30)), "--scale class:compute=0.5", false},
		"compute still last":  {modelOf(record(0, 90)), "--scale class:compute=0.97", false},
		"all ranks":           {joined, "--scale class:compute=0.5", false},
	} {
		list, _, err := c.g.Forecast(c.g.Paths(), changesOf(strings.Fields(c.ask)))
		if err != nil {
			t.Fatal(err)
		}
		why := strings.Join(list[0].Verdict.Reasons, "; ")
		if got := strings.Contains(why, "waiting for other ranks"); got != c.warn || got && list[0].Verdict.Level != critical.Warn {
			t.Errorf("%s: %v %q", name, list[0].Verdict.Level, why)
		}
		if c.ask != "--scale class:compute=0.5" {
			continue
		}
		for _, gain := range c.g.Sweep(c.g.Paths(), []int{0}) {
			if why := strings.Join(gain.Verdict.Reasons, "; "); gain.Change.String() == c.ask && strings.Contains(why, "waiting for other ranks") != c.warn {
				t.Errorf("%s: sweep: %q", name, why)
			}
		}
	}
}
