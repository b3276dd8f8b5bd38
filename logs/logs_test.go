package logs

import (
	"math"
	"slices"
	"testing"

	"assay/internal/diag"
)

func TestCatalog(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Catalog() {
		if seen[m.Name] {
			t.Errorf("%s is there twice", m.Name)
		}
		seen[m.Name] = true
		if !slices.Contains([]Better{Lower, Higher, Neither}, m.Better) || !slices.Contains([]Role{Time, Latency, Throughput, Utilization, Queue, Memory, Quality, Load, Health}, m.Role) ||
			!slices.Contains([]Pool{PoolSum, PoolWorst, PoolNone}, m.Pool) || m.Help == "" {
			t.Errorf("%+v: want a direction, a role, a way to pool and a description", m)
		}
		if (m.Role == Time || m.Role == Latency) && (m.Unit != "ns" || m.Pool == PoolSum) {
			t.Errorf("%+v: times are in ns and do not add up over ranks", m)
		}
	}
	if got, ok := MetricOf("step.time"); !ok || got.Unit != "ns" || got.Better != Lower {
		t.Errorf("step.time is %+v, %v", got, ok)
	}
	if _, ok := MetricOf("no.such"); ok {
		t.Error("no.such is known")
	}
}

func TestScaleOf(t *testing.T) {
	for _, tc := range []struct {
		unit   string
		binary bool
		base   string
		factor float64
	}{
		{"ms", false, "ns", 1e6}, {"%", false, "share", 0.01}, {"GiB", false, "byte", 1 << 30}, {"GB", false, "byte", 1e9}, {"GB", true, "byte", 1 << 30},
		{"kB", false, "byte", 1e3}, {"MB/s", false, "byte/s", 1e6}, {"tokens/s", false, "token/s", 1}, {"TFLOP/s", false, "flop/s", 1e12},
	} {
		base, factor, ok := ScaleOf(tc.unit, tc.binary)
		if base != tc.base || factor != tc.factor || !ok {
			t.Errorf("%s: %v %s %v, want %v %s", tc.unit, factor, base, ok, tc.factor, tc.base)
		}
	}
	for _, unit := range []string{"apples", "/s", "gB", "iB", "GGB"} {
		if base, _, ok := ScaleOf(unit, false); ok {
			t.Errorf("%q is a unit of %q", unit, base)
		}
	}
}

// TestMissingIsNotZero: values that are missing or not finite are counted, and are in no
// statistic.
func TestMissingIsNotZero(t *testing.T) {
	// Trap: missing is not zero.
	b := NewBuilder(Limits{})
	id := b.Of(Unnamed("x"), "p", "x", nil, diag.Pos{})
	for i, v := range []float64{4, math.NaN(), 6, math.Inf(1), math.Inf(-1)} {
		b.Add(id, v, int64(i), NoTime, 0)
	}
	b.Missing(id)
	s := b.Log(6, true).Series[0]
	if s.N != 2 || s.Min != 4 || s.Max != 6 || s.Sum != 10 || s.NaN != 1 || s.Inf != 2 || s.Missing != 1 || !slices.Equal(s.Points.Value, []float64{4, 6}) || !slices.Equal(s.Points.Step, []int64{0, 2}) {
		t.Errorf("%+v", s)
	}
}

// TestRepeatedSteps: of a step that is logged twice, by the trainer or by several ranks,
// the last value counts, once.
func TestRepeatedSteps(t *testing.T) {
	// Trap: repeated lines.
	b := NewBuilder(Limits{})
	id := b.Of(Unnamed("x"), "p", "x", nil, diag.Pos{})
	for _, p := range []struct {
		step int64
		v    float64
	}{{1, 10}, {1, 11}, {2, 20}, {1, 12}, {3, 30}, {2, 21}, {3, 31}} {
		b.Add(id, p.v, p.step, NoTime, b.Step(b.Stream("p"), p.step, diag.Pos{}))
	}
	s := b.Log(0, true).Series[0]
	if !slices.Equal(s.Points.Value, []float64{11, 20, 31}) || s.Points.Run != nil || s.Sum != 62 {
		t.Errorf("%+v", s)
	}
}

// TestRestart: steps that go back begin a new run, whose steps count again.
func TestRestart(t *testing.T) {
	b := NewBuilder(Limits{})
	id := b.Of(Unnamed("x"), "p", "x", nil, diag.Pos{})
	for _, step := range []int64{10, 11, 12, 13, 14, 15, 10, 11, 12} {
		b.Add(id, float64(step), step, NoTime, b.Step(b.Stream("p"), step, diag.Pos{File: "a", Line: int(step)}))
	}
	log := b.Log(0, true)
	if s := log.Series[0]; s.N != 9 || !slices.Equal(s.Points.Run, []int32{0, 0, 0, 0, 0, 0, 1, 1, 1}) {
		t.Errorf("%+v", s)
	}
	if len(log.Issues) != 1 || log.Issues[0].Code != "log-restarted" || log.Issues[0].Count != 1 {
		t.Errorf("%+v", log.Issues)
	}
}

// TestSample: over the memory limit points are a sample, and what is summed stays exact.
func TestSample(t *testing.T) {
	const n = 200_000
	b := NewBuilder(Limits{Memory: 400 << 10})
	id := b.Of(Unnamed("x"), "p", "x", nil, diag.Pos{})
	for i := range n {
		b.Add(id, float64(i), int64(i), NoTime, 0)
	}
	log := b.Log(0, true)
	s := log.Series[0]
	if s.N != n || s.Min != 0 || s.Max != n-1 || s.Sum != n*(n-1)/2 || !s.Sampled() {
		t.Errorf("n %d, min %v, max %v, sum %v", s.N, s.Min, s.Max, s.Sum)
	}
	if kept := s.Points.Len(); kept < 5_000 || kept > 20_000 {
		t.Errorf("%d points are kept", kept)
	}
	mid := s.Points.Value[s.Points.Len()/2]
	if mid < 0.48*n || mid > 0.52*n || !slices.IsSorted(s.Points.Value) || s.Points.Step[7] != int64(s.Points.Value[7]) {
		t.Errorf("the median of the sample is %v of %d", mid, n)
	}
	if len(log.Issues) != 1 || log.Issues[0].Code != "series-sampled" {
		t.Errorf("%+v", log.Issues)
	}
}

// TestManySeries: the number of series is bounded.
func TestManySeries(t *testing.T) {
	b := NewBuilder(Limits{Series: 3})
	for _, name := range []string{"a", "b", "c", "d", "e", "a"} {
		b.Add(b.Of(Unnamed(name), "p", name, nil, diag.Pos{}), 1, NoStep, NoTime, 0)
	}
	log := b.Log(0, true)
	if len(log.Series) != 3 || log.Series[0].N != 2 || len(log.Issues) != 1 || log.Issues[0].Count != 2 {
		t.Errorf("%d series, %+v", len(log.Series), log.Issues)
	}
}
