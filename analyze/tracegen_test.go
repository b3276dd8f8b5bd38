package analyze_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/analyze"
	"assay/internal/interval"
	"assay/internal/test/nsysgen"
	"assay/internal/test/tracegen"
	"assay/nsys"
	"assay/summary"
	"assay/trace"
)

// generated measures rank 0 of a scenario and returns it with the truth.
func generated(t *testing.T, sc tracegen.Scenario) (*summary.Summary, tracegen.Truth) {
	t.Helper()
	var b bytes.Buffer
	truth, err := tracegen.Generate(&b, sc, 0)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Read(&b, sc.Name, analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Trace(tr, summary.Input{Path: sc.Name}, analyze.DefaultOptions()), truth
}

// exported is the same of what Nsight Systems exports of the run.
func exported(t *testing.T, sc tracegen.Scenario) (*summary.Summary, nsysgen.Recording) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.sqlite")
	rec, err := nsysgen.Record(path, io.Discard, sc, 0)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := nsys.ReadSQLite(path, sc.Name, analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Trace(tr, summary.Input{Path: sc.Name}, analyze.DefaultOptions()), rec
}

func cells(a summary.Activity) tracegen.Cells {
	out := tracegen.Cells{}
	for set, ns := range a {
		if ns != 0 {
			out[strings.Join(summary.Class(set).Names(), "+")] = ns
		}
	}
	return out
}

// TestTruth compares every measurement of generated traces with what the
// generator knows by construction.
func TestTruth(t *testing.T) {
	for _, p := range tracegen.Presets() {
		t.Run(p.Name, func(t *testing.T) {
			s, truth := generated(t, p.Make())
			compareTruth(t, s, truth)
		})
	}
}

// TestTruthOfExports does the same with what Nsight Systems exports of the runs.
func TestTruthOfExports(t *testing.T) {
	for _, p := range tracegen.Presets() {
		sc := p.Make()
		if sc.Dialect.Vendor != tracegen.CUDA {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			s, rec := exported(t, sc)
			compareTruth(t, s, rec.Truth)
			// The two clocks show the same instant.
			if base := s.Inputs[0].BaseTimeNS; base == nil || *base != rec.Truth.BaseNS || rec.Truth.BaseNS+rec.ShiftNS != rec.JSON.BaseNS {
				t.Errorf("base time %v, want %d, and %d less a shift of %d", base, rec.Truth.BaseNS, rec.JSON.BaseNS, rec.ShiftNS)
			}
		})
	}
}

func compareTruth(t *testing.T, s *summary.Summary, truth tracegen.Truth) {
	t.Helper()
	if len(s.Devices) != len(truth.Devices) {
		t.Fatalf("%d devices, want %d", len(s.Devices), len(truth.Devices))
	}
	for i, want := range truth.Devices {
		got := s.Devices[i]
		if got.Device != int64(want.Device) || got.StartNS != want.StartNS || got.WindowNS != want.WindowNS {
			t.Errorf("device %d from %d for %d, want %d from %d for %d", got.Device, got.StartNS, got.WindowNS, want.Device, want.StartNS, want.WindowNS)
		}
		if diff := cmp.Diff(want.Cells, cells(got.Activity)); diff != "" {
			t.Errorf("device %d cells: want(-) got(+)\n%s", got.Device, diff)
		}
		if got.Gaps.TotalNS() != want.Cells[""] {
			t.Errorf("device %d: gaps sum to %d, want %d", got.Device, got.Gaps.TotalNS(), want.Cells[""])
		}
		compareRows(t, s, want)
		compareSteps(t, s, truth, i)
		compareStrip(t, got)
	}
}

type row struct {
	Stream      int64
	Name        string
	Count, Sum  int64
	Least, Most int64
	Bytes       int64
}

func compareRows(t *testing.T, s *summary.Summary, want tracegen.DeviceTruth) {
	t.Helper()
	truth, got := map[string]row{}, map[string]row{}
	for class, rows := range map[string][]tracegen.Row{"kernel": want.Kernels, "copy": want.Copies, "memset": want.Memsets} {
		for _, r := range rows {
			truth[fmt.Sprint(class, r.Stream, r.Name)] = row{int64(r.Stream), r.Name, r.Count, r.TotalNS, r.MinNS, r.MaxNS, r.Bytes}
		}
	}
	for _, k := range s.Kernels {
		if k.Device == int64(want.Device) {
			key := fmt.Sprint("kernel", k.Stream, k.Name) // one row for each operator that launched it
			r, ok := got[key]
			if !ok {
				r = row{k.Stream, k.Name, 0, 0, k.MinNS, k.MaxNS, 0}
			}
			r.Count, r.Sum = r.Count+k.Count, r.Sum+k.TotalNS
			r.Least, r.Most = min(r.Least, k.MinNS), max(r.Most, k.MaxNS)
			got[key] = r
		}
	}
	for _, c := range s.Copies {
		if c.Device != int64(want.Device) {
			continue
		}
		r := row{c.Stream, c.Name, c.Count, c.TotalNS, c.MinNS, c.MaxNS, 0}
		if c.Bytes != nil {
			r.Bytes = *c.Bytes
		}
		got[fmt.Sprint(c.Class, c.Stream, c.Name)] = r
	}
	if diff := cmp.Diff(truth, got); diff != "" {
		t.Errorf("device %d rows: want(-) got(+)\n%s", want.Device, diff)
	}
	work := map[int64]int64{}
	for _, r := range truth {
		work[r.Stream] += r.Sum
	}
	for _, st := range s.Streams {
		if st.Device == int64(want.Device) && (st.WorkNS != work[st.Stream] || st.BusyNS > st.WorkNS || st.BusyNS > want.WindowNS) {
			t.Errorf("stream %d: work %d, busy %d; want work %d", st.Stream, st.WorkNS, st.BusyNS, work[st.Stream])
		}
	}
}

func compareSteps(t *testing.T, s *summary.Summary, truth tracegen.Truth, device int) {
	t.Helper()
	var steps []summary.Step
	for _, st := range s.Steps {
		if st.Device == int64(truth.Devices[device].Device) {
			steps = append(steps, st)
		}
	}
	if len(steps) != len(truth.Steps) {
		t.Fatalf("%d steps, want %d", len(steps), len(truth.Steps))
	}
	for i, want := range truth.Steps {
		if got := steps[i]; got.Name != want.Name || got.StartNS != want.StartNS || got.WallNS != want.WallNS {
			t.Errorf("step %s from %d for %d, want %s from %d for %d", got.Name, got.StartNS, got.WallNS, want.Name, want.StartNS, want.WallNS)
		}
		if diff := cmp.Diff(truth.Devices[device].Steps[i], cells(steps[i].Activity)); diff != "" {
			t.Errorf("cells of %s: want(-) got(+)\n%s", want.Name, diff)
		}
	}
}

// compareStrip: the bins of a class sum to the time with that class, and none
// is over its length.
func compareStrip(t *testing.T, d summary.Device) {
	t.Helper()
	for _, class := range summary.Singles() {
		var sum int64
		for _, ns := range d.Strip.NS[class.String()] {
			if ns < 0 || ns > d.Strip.BinNS {
				t.Errorf("%v: a bin has %d ns of %d", class, ns, d.Strip.BinNS)
			}
			sum += ns
		}
		if sum != d.Activity.With(class) {
			t.Errorf("%v: bins sum to %d, want %d", class, sum, d.Activity.With(class))
		}
	}
}

// TestActivitySums holds the promise of the cells on random programs of several
// devices: the parts of every budget sum to the window, steps and the time
// between them too, and any cut of the window adds up.
func TestActivitySums(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		s := randomTrace(t, rnd)
		for _, d := range s.Devices {
			a := d.Activity
			if sum := a.Compute() + a.ExposedComm() + a.ExposedCopy() + a.Idle(); sum != d.WindowNS || a.Window() != d.WindowNS {
				t.Fatalf("parts sum to %d, cells to %d, window is %d", sum, a.Window(), d.WindowNS)
			}
			if a.ExposedComm()+a.HiddenComm() != a.With(summary.ClassComm) {
				t.Fatalf("exposed %d and hidden %d of %d", a.ExposedComm(), a.HiddenComm(), a.With(summary.ClassComm))
			}
			var last int64
			for _, st := range s.Steps {
				if st.Device != d.Device {
					continue
				}
				if st.Activity.Window() != st.WallNS || st.StartNS < last {
					t.Fatalf("step from %d for %d: cells sum to %d; the one before ends at %d", st.StartNS, st.WallNS, st.Activity.Window(), last)
				}
				last = st.StartNS + st.WallNS
			}
		}
	}
}

// randomTrace measures a trace of random, overlapping events.
func randomTrace(t *testing.T, rnd *rand.Rand) *summary.Summary {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("[")
	for i := range 1 + rnd.IntN(40) {
		if i > 0 {
			b.WriteString(",")
		}
		what := []string{`"cat":"kernel","name":"gemm"`, `"cat":"kernel","name":"ncclDevKernel_AllReduce"`, `"cat":"gpu_memcpy","name":"Memcpy HtoD"`,
			`"cat":"gpu_memset","name":"Memset"`, fmt.Sprintf(`"cat":"user_annotation","name":"ProfilerStep#%d"`, rnd.IntN(5))}[rnd.IntN(5)]
		fmt.Fprintf(&b, `{"ph":"X",%s,"pid":%d,"tid":%d,"ts":%d.%03d,"dur":%d}`, what, rnd.IntN(2), rnd.IntN(3), rnd.IntN(50), rnd.IntN(1000), rnd.IntN(20))
	}
	b.WriteString("]")
	tr, err := trace.Read(&b, "random", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
}

// TestNoDevice: without GPU events the spans of the host are all there is, and
// the self times of a thread sum to its busy time.
func TestNoDevice(t *testing.T) {
	const in = `[
		{"ph":"X","cat":"cpu_op","name":"outer","pid":1,"tid":1,"ts":0,"dur":100},
		{"ph":"X","cat":"cpu_op","name":"inner","pid":1,"tid":1,"ts":10,"dur":30},
		{"ph":"X","cat":"cpu_op","name":"leaf","pid":1,"tid":1,"ts":20,"dur":5},
		{"ph":"X","cat":"cpu_op","name":"inner","pid":1,"tid":1,"ts":50,"dur":20},
		{"ph":"X","cat":"cpu_op","name":"late","pid":1,"tid":1,"ts":95,"dur":6},
		{"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","ts":0,"dur":1000},
		{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":0,"dur":7},
		{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"main"}}]`
	tr, err := trace.Read(strings.NewReader(in), "in", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	s := analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
	got := map[string][3]int64{}
	for _, sp := range s.Spans {
		got[sp.Thread+" "+sp.Name] = [3]int64{sp.Count, sp.TotalNS, sp.SelfNS}
	}
	want := map[string][3]int64{ // by hand; "late" ends 1 us after "outer", which is what µs clocks do
		"main (1) outer": {1, 100000, 100000 - 30000 - 20000 - 5000}, "main (1) inner": {2, 50000, 45000},
		"main (1) leaf": {1, 5000, 5000}, "main (1) late": {1, 6000, 6000}, "2 cudaLaunchKernel": {1, 7000, 7000},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
	if len(s.Issues) != 1 || s.Issues[0].Code != "gpu-events-missing" {
		t.Errorf("issues %+v, want gpu-events-missing: a kernel was launched", s.Issues)
	}
}

// TestPartitionOrder guards what activity relies on: bit i of a mask is class i
// of summary.Singles.
func TestPartitionOrder(t *testing.T) {
	one := interval.Of(interval.Span{Start: 0, End: 1})
	for i, class := range summary.Singles() {
		layers := make([]interval.Set, 4)
		layers[i] = one
		if got := interval.Partition(interval.Span{Start: 0, End: 1}, layers...); got[class] != 1 {
			t.Errorf("layer %d is not class %v", i, class)
		}
	}
}

// TestNeeds: what Needs leaves out changes no measurement.
func TestNeeds(t *testing.T) {
	for _, p := range tracegen.Presets() {
		var b bytes.Buffer
		if _, err := tracegen.Generate(&b, p.Make(), 0); err != nil {
			t.Fatal(err)
		}
		var got [2]*summary.Summary
		for i, sel := range []trace.Select{analyze.Needs(), trace.SelectAll()} {
			tr, err := trace.Read(bytes.NewReader(b.Bytes()), p.Name, sel)
			if err != nil {
				t.Fatal(err)
			}
			got[i] = analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
		}
		if diff := cmp.Diff(got[1], got[0]); diff != "" {
			t.Errorf("%s: all(-) needed(+)\n%s", p.Name, diff)
		}
	}
}
