package forecast_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"assay/analyze/critical/forecast"
	"assay/analyze/critical/graph"
)

// profiled makes a step of 255 µs of ten operators of 20 µs with 5 µs of the step before each and after the last. The
// first launches a kernel. The annotation, the operators and the call divide the thread into 23 parts, each half an
// event long in the costs of recording. kineto says whether PyTorch's profiler made the trace.
func profiled(t *testing.T, kernel float64, kineto bool) *forecast.Model {
	var p tape
	p.step(0, 255)
	for i := range 10 {
		p.host("cpu_op", fmt.Sprintf("embed_%d", i), 5+25*float64(i), 20)
	}
	p.launch(10, 4, 1)
	p.work("gather", 7, 16, kernel, 1)
	file := object{"traceEvents": p.events}
	if kineto {
		file["record_shapes"] = 1
	}
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	tr := read(t, text)
	return modelOf(graph.Of(tr, graph.Options{Windows: windows(tr, "ProfilerStep", -1)}))
}

// With 2 µs for each of 11.5 events the step is 232 µs without the profiler, with 5 µs 197.5 µs. Operators have 200 µs, less 1 µs for each
// of their 12 parts: half of that is saved if they are twice as fast.
func TestCostOfRecording(t *testing.T) {
	g := profiled(t, 3, true)
	paths := g.Paths()
	f, _, err := g.Forecast(paths, changesOf([]string{"--scale", "op~embed=0.5"}))
	if why := strings.Join(f[0].Verdict.Reasons, ";"); err != nil || f[0].Forecast != 155_000 ||
		!strings.Contains(why, "without it the step may take 198 µs to 232 µs, and 113 µs to 138 µs after the change: give --measured") {
		t.Errorf("%v %d %s", err, f[0].Forecast, why)
	}
	if r, events := g.Unrecorded(paths); r[0] != (forecast.Range{Low: 197_500, High: 232_000}) || events[0] != 12 { // 11.5
		t.Errorf("%+v %v", r, events)
	}
	g.At(2000)
	forecastIs(t, g, map[string]float64{"--scale op~embed=0.5": 232 - 94, "--scale kernel~gather=2": 232, "--scale op~nothing=0.5": 232})
	fit := g.FitTo([]int{0}, 232_000)
	if fit.Failed != "" || math.Abs(fit.Cost-2000) > 10 || math.Abs(float64(fit.Fitted-232_000)) > 120 || fit.Measured != 255_000 {
		t.Errorf("%+v", fit)
	}
	if f, _, _ = g.Forecast(paths, changesOf([]string{"--scale", "op~embed=0.5"})); math.Abs(float64(f[0].Forecast-138_000)) > 120 ||
		strings.Contains(strings.Join(f[0].Verdict.Reasons, ";"), "profiler") || f[0].Measured != 255_000 || f[0].Fitted != fit.Fitted {
		t.Errorf("%+v", f[0])
	}
}

// The kernel decides the length of the step, so the time without the profiler does not tell what recording costs. With
// the kernel gone the host is the limit: the usual cost is assumed, and a reason has the range.
func TestCostUnknown(t *testing.T) {
	g := profiled(t, 784, true) // the step ends at 800
	paths := g.Paths()
	for _, test := range []struct {
		given  int64 // µs
		cost   float64
		failed string
	}{{795, 2500, ""}, {810, 2500, ""}, {700, 0, "no cost of recording"}, {900, 2500, "shorter than that"}} {
		if fit := g.FitTo([]int{0}, test.given*1000); fit.Cost != test.cost || (fit.Failed == "") != (test.failed == "") || !strings.Contains(fit.Failed, test.failed) {
			t.Errorf("%d µs: %+v", test.given, fit)
		}
	}
	g.FitTo([]int{0}, 800_000)
	for _, test := range []struct {
		change   string
		forecast int64
		told     bool
	}{
		{"--scale kernel~gather=0.01", 255_000 - 23*1250, true},                   // 197.5 to 232
		{"--scale kernel~gather=0.01 --scale op~embed=0", 55_000 - 11*1250, true}, // 27.5 to 44
		{"--scale kernel~gather=0.9", 800_000 - 3*1250 - 78_400, false},           // the GPU still decides
	} {
		f, _, err := g.Forecast(paths, changesOf(strings.Fields(test.change)))
		doubt := slices.ContainsFunc(f[0].Verdict.Reasons, func(s string) bool { return strings.Contains(s, "does not tell what recording costs") })
		if err != nil || f[0].Forecast != test.forecast || doubt != test.told {
			t.Errorf("%s: %v %+v", test.change, err, f[0])
		}
	}
}

// The cost of other profilers is not known, and a step of the GPU alone has none.
func TestNoCost(t *testing.T) {
	for _, g := range []*forecast.Model{profiled(t, 3, false), profiled(t, 784, true)} {
		f, _, err := g.Forecast(g.Paths(), changesOf([]string{"--scale", "kernel~gather=0.9"}))
		if why := strings.Join(f[0].Verdict.Reasons, ";"); err != nil || strings.Contains(why, "profiler") {
			t.Errorf("%v %s", err, why)
		}
	}
	if r, _ := profiled(t, 3, false).Unrecorded(nil); r != nil {
		t.Errorf("%+v", r)
	}
}
