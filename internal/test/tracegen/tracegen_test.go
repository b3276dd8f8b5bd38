package tracegen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// TestTruth reads small traces by a slow and exact method, and finds the cells,
// rows and steps of the generator's truth, in every dialect.
func TestTruth(t *testing.T) {
	for _, p := range Presets() {
		for rank := range min(2, p.Make().Ranks) {
			t.Run(fmt.Sprintf("%s rank %d", p.Name, rank), func(t *testing.T) {
				checkTruth(t, p.Make(), rank)
			})
		}
	}
	for _, sc := range dialects() {
		t.Run(fmt.Sprintf("%s %+v", sc.Name, sc.Dialect), func(t *testing.T) { checkTruth(t, sc, 0) })
	}
}

// dialects returns a short scenario in every combination of era, layout and
// vendor, with all options on.
func dialects() (out []Scenario) {
	for era := range eras {
		for layout := range layouts {
			for _, vendor := range []Vendor{CUDA, ROCm} {
				sc := MultiDevice()
				if vendor == ROCm {
					sc = Graphs()
					sc.Devices = append(sc.Devices, Device{Ordinal: 2, Name: "AMD Instinct MI300X", Program: trainingStep(rocmNames(), 1, 28*us)})
				}
				sc.Steps, sc.Jitter, sc.Seed = 2, 100, uint64(era)
				for i := range sc.Devices {
					sc.Devices[i].Program = wholeMicroseconds(sc.Devices[i].Program)
				}
				sc.Dialect = Dialect{Era: era, Layout: layout, Vendor: vendor, BaseLast: vendor == ROCm, Shapes: true, Stack: true, Memory: true}
				out = append(out, sc)
			}
		}
	}
	return out
}

// TestKnownSums compares the truth with sums computed by hand from the comments
// of the scenarios.
func TestKnownSums(t *testing.T) {
	// One step of comm_bound has four repetitions of: compute 150, comm
	// overlapped by compute 50, comm alone 250; then idle 60. Of three steps,
	// the last idle time is after the window.
	truth, _ := generated(t, CommBound(), 0)
	d := truth.Devices[0]
	want := Cells{"compute": 3 * 4 * 150 * us, "comm+compute": 3 * 4 * 50 * us, "comm": 3 * 4 * 250 * us, "": 2 * 60 * us}
	if !maps.Equal(d.Cells, want) || d.WindowNS != want.Sum() {
		t.Errorf("comm_bound: cells %v of window %d, want %v", d.Cells, d.WindowNS, want)
	}
	// A marker is 5 µs shorter than its step and the device is 20 µs behind it,
	// so the first one has 20 µs of idle time at its start and lacks 45 of the
	// 60 µs at its end.
	step := Cells{"compute": 600 * us, "comm+compute": 200 * us, "comm": 1000 * us, "": (20 + 60 - 25) * us}
	if !maps.Equal(d.Steps[0], step) || truth.Steps[0].WallNS != 1855*us {
		t.Errorf("comm_bound: step 0 is %v of %d, want %v", d.Steps[0], truth.Steps[0].WallNS, step)
	}
	if truth, _ = generated(t, CommHidden(), 0); truth.Devices[0].Cells["comm"] != 0 || truth.Devices[0].Cells["comm+compute"] != 3*4*300*us {
		t.Errorf("comm_hidden: cells %v, want 3600 µs of comm+compute and no comm alone", truth.Devices[0].Cells)
	}
	// Kernels on three streams: 65, 60 and 40 µs, but 130 µs elapsed, including
	// 80 overlapped by communication.
	truth, _ = generated(t, MultiStream(), 0)
	d = truth.Devices[0]
	want = Cells{"compute": 15 * 65 * us, "comm+compute": 15 * 65 * us, "comm": 15 * 15 * us, "": 14 * 20 * us}
	if !maps.Equal(d.Cells, want) {
		t.Errorf("multi_stream: cells %v, want %v", d.Cells, want)
	}
	if truth, _ = generated(t, CPUOnly(), 0); truth.Devices != nil || len(truth.Steps) != 3 {
		t.Errorf("cpu_only: %d devices and %d steps, want none and 3", len(truth.Devices), len(truth.Steps))
	}
}

// TestEventSpansSteps lets the device lag so far behind that half of its work
// is in the next step's marker.
func TestEventSpansSteps(t *testing.T) {
	sc := ComputeBound()
	sc.LagNS = 2 * ms
	checkTruth(t, sc, 0)
	truth, _ := generated(t, sc, 0)
	for i, cells := range truth.Devices[0].Steps {
		if sum := cells.Sum(); sum != truth.Steps[i].WallNS {
			t.Errorf("step %d: cells sum to %d, marker is %d long", i, sum, truth.Steps[i].WallNS)
		}
	}
	if idle := truth.Devices[0].Steps[0][""]; idle < 2*ms {
		t.Errorf("step 0: %d ns idle, want the lag of %d or more", idle, 2*ms)
	}
}

func TestDeterministic(t *testing.T) {
	sc := LLMTrainStep()
	_, a := generated(t, sc, 1)
	_, b := generated(t, sc, 1)
	if !bytes.Equal(a, b) {
		t.Error("equal arguments gave different bytes")
	}
	if _, c := generated(t, sc, 2); bytes.Equal(a, c) {
		t.Error("two ranks have the same trace")
	}
	sc.Seed++
	if _, c := generated(t, sc, 1); bytes.Equal(a, c) {
		t.Error("two seeds give the same trace")
	}
}

// TestLaunches follows the links of a trace: each kernel, copy and memset was
// launched by one call with its correlation, before it started; each launch is
// inside the operator with its External id; each arrow has two ends.
func TestLaunches(t *testing.T) {
	for _, sc := range []Scenario{LLMTrainStep(), Graphs(), CopyBound(), MultiDevice(), HostBound(), Rocm()} {
		t.Run(sc.Name, func(t *testing.T) {
			_, text := generated(t, sc, 0)
			events := parse(t, text)
			launch, ops := map[string]event{}, map[string]event{}
			for _, e := range events {
				switch e.Cat {
				case "cuda_runtime":
					id := e.arg("correlation")
					if _, twice := launch[id]; twice {
						t.Fatalf("correlation %s has two calls", id)
					}
					launch[id] = e
				case "cpu_op":
					ops[e.arg("External id")] = e
				}
			}
			for _, e := range events {
				if c := launch[e.arg("correlation")]; classOf(e) != "" && (c.Name == "" || c.start().Cmp(e.start()) > 0) {
					t.Fatalf("%s at %s was launched by %q at %s", e.Name, e.TS, c.Name, c.TS)
				}
				id := e.arg("External id")
				if o := ops[id]; e.Cat == "cuda_runtime" && id != "" && (o.start().Cmp(e.start()) > 0 || o.end().Cmp(e.end()) < 0 || string(o.TID) != string(e.TID)) {
					t.Fatalf("%s at %s is not inside operator %s at %s", e.Name, e.TS, o.Name, o.TS)
				}
			}
			checkFlows(t, events)
		})
	}
}

func checkFlows(t *testing.T, events []event) {
	t.Helper()
	starts, ends := map[string]int{}, map[string]int{}
	for _, e := range events {
		switch e.Ph {
		case "s":
			starts[e.Cat+" "+e.ID.String()]++
		case "f":
			ends[e.Cat+" "+e.ID.String()]++
		}
	}
	if len(starts) == 0 {
		t.Error("no flow at all")
	}
	for id, n := range ends {
		if starts[id] != 1 || n != 1 && strings.HasPrefix(id, "fwdbwd") {
			t.Errorf("flow %s has %d starts and %d ends", id, starts[id], n)
		}
	}
	for id := range starts {
		if ends[id] == 0 {
			t.Errorf("flow %s has no end", id)
		}
	}
}

// TestNesting checks that slices of one host thread are nested or do not touch.
func TestNesting(t *testing.T) {
	for _, sc := range append(dialects(), LLMTrainStep(), CPUOnly()) {
		_, text := generated(t, sc, 0)
		threads := map[string][]event{}
		for _, e := range parse(t, text) {
			switch e.Cat {
			case "cpu_op", "Operator", "cuda_runtime", "cuda_driver", "Runtime", "user_annotation", "python_function":
				threads[string(e.TID)] = append(threads[string(e.TID)], e)
			}
		}
		for tid, events := range threads {
			slices.SortStableFunc(events, func(a, b event) int {
				if c := a.start().Cmp(b.start()); c != 0 {
					return c
				}
				return b.end().Cmp(a.end())
			})
			var open []event
			for _, e := range events {
				for len(open) > 0 && open[len(open)-1].end().Cmp(e.start()) <= 0 {
					open = open[:len(open)-1]
				}
				if len(open) > 0 && open[len(open)-1].end().Cmp(e.end()) < 0 {
					t.Fatalf("%s, thread %s: %s at %s outlasts %s around it", sc.Name, tid, e.Name, e.TS, open[len(open)-1].Name)
				}
				open = append(open, e)
			}
		}
	}
}

func TestValidate(t *testing.T) {
	kernel := Op{Name: "k", Stream: 7, Spans: 2}
	for _, tc := range []struct {
		change func(*Scenario)
		want   string
	}{
		{func(sc *Scenario) { sc.Steps = 0 }, `0 steps, want at least 1`},
		{func(sc *Scenario) { sc.Devices = nil }, `no device, and so no program`},
		{func(sc *Scenario) { sc.Devices = append(sc.Devices, sc.Devices[0]) }, `device 0 appears twice`},
		{func(sc *Scenario) { sc.Dialect.Era = Era2023; sc.GapNS = 1500 }, `1500 ns is not a multiple of 1000 ns from 0 up`},
		{func(sc *Scenario) { sc.Devices[0].Program = nil }, `device 0: empty program`},
		{func(sc *Scenario) { sc.Devices[0].Program = []Segment{{NS: 5}, {NS: -1}} }, `device 0: segment 1: -1 ns is not a multiple of 1 ns from 0 up`},
		{func(sc *Scenario) { sc.Devices[0].Program = []Segment{{Ops: []Op{kernel}}} }, `device 0: segment 0: "k" lasts 2 segments, past the end of the step`},
		{func(sc *Scenario) {
			sc.Devices[0].Program = []Segment{{Ops: []Op{kernel}}, {Ops: []Op{{Name: "x", Stream: 7}}}}
		},
			`device 0: segment 1: "x" starts while stream 7 is busy`},
		{func(sc *Scenario) { sc.Devices[0].Program = []Segment{{Ops: []Op{{Name: "\xff"}}}} }, `device 0: segment 0: name "\xff" is not UTF-8`},
		{func(sc *Scenario) { sc.HostNS = sc.LagNS + 1 }, `the host takes 20001 ns to launch, over the lag of 20000 ns`},
		{func(sc *Scenario) { sc.LagNS = 10 * ms }, `step 0: its 4000000 ns leave no room for a lag of 10000000 ns and a gap of 5000 ns`},
	} {
		sc := ComputeBound()
		tc.change(&sc)
		_, err := Generate(io.Discard, sc, 0)
		if want := `scenario "compute_bound": ` + tc.want; err == nil || err.Error() != want {
			t.Errorf("got error %v\nwant      %s", err, want)
		}
	}
	if _, err := Generate(io.Discard, ComputeBound(), 1); err == nil || !strings.HasSuffix(err.Error(), "no rank 1 among 1") {
		t.Errorf("got error %v, want no rank 1", err)
	}
}

// TestWriteError checks that a write error is returned.
func TestWriteError(t *testing.T) {
	if _, err := Generate(failing{}, ComputeBound(), 0); err != io.ErrShortWrite {
		t.Errorf("got error %v, want %v", err, io.ErrShortWrite)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// TestBig checks that the requested size is reached and exceeded by at most a
// step, and that memory does not grow with it.
func TestBig(t *testing.T) {
	var sizes [2]counter
	var truths [2]Truth
	for i, size := range []int64{1, 20_000_000} {
		var err error
		if truths[i], err = Generate(&sizes[i], Big(size), 0); err != nil {
			t.Fatal(err)
		}
	}
	step := int64(sizes[0])
	if got := int64(sizes[1]); got < 20_000_000 || got > 20_000_000+step+step/10 {
		t.Errorf("big has %d bytes, want 20000000 and at most a step of %d more", got, step)
	}
	if len(truths[0].Steps) != 1 || len(truths[1].Steps) < 5 {
		t.Errorf("%d and %d steps, want 1 and more than 5", len(truths[0].Steps), len(truths[1].Steps))
	}
	if perEvent := int64(sizes[1]) / truths[1].Events; perEvent < 200 || perEvent > 500 {
		t.Errorf("%d bytes per event, want about as many as in a real trace", perEvent)
	}
}

type counter int64

func (c *counter) Write(b []byte) (int, error) { *c += counter(len(b)); return len(b), nil }

func BenchmarkGenerate(b *testing.B) {
	const size = 50_000_000
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Generate(io.Discard, Big(size), 0); err != nil {
			b.Fatal(err)
		}
	}
}

func generated(t *testing.T, sc Scenario, rank int) (Truth, []byte) {
	t.Helper()
	var b bytes.Buffer
	truth, err := Generate(&b, sc, rank)
	if err != nil {
		t.Fatal(err)
	}
	return truth, b.Bytes()
}

// An event is an element of traceEvents, with its numbers as written.
type event struct {
	Ph, Cat, Name string
	PID, TID      json.RawMessage
	ID, TS, Dur   json.Number
	Args          map[string]json.RawMessage
}

func (e event) arg(key string) string { return string(e.Args[key]) }
func (e event) start() *big.Rat       { return rat(e.TS) }
func (e event) end() *big.Rat         { return new(big.Rat).Add(rat(e.TS), rat(e.Dur)) }

func rat(n json.Number) *big.Rat {
	r, _ := new(big.Rat).SetString(cmpOr(n.String(), "0"))
	return r
}

func cmpOr(s, or string) string {
	if s == "" {
		return or
	}
	return s
}

// parse reads a trace of any layout and requires valid JSON.
func parse(t *testing.T, text []byte) []event {
	t.Helper()
	var doc struct{ TraceEvents []event }
	into := any(&doc)
	if text[0] == '[' {
		into = &doc.TraceEvents
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("not a trace: %v", err)
	}
	return doc.TraceEvents
}
