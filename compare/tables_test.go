package compare_test

import (
	"errors"
	"strings"
	"testing"

	"assay/compare"
	"assay/summary"
	"assay/summary/view/comparability"
)

func at(n int64) *int64 { return &n }

// kernelTable returns a table of kernels: pairs of total time and count.
func kernelTable(rows map[string][2]int64) *summary.Summary {
	t := summary.Table{Tool: "nsys", Name: "cuda_gpu_kern_sum", Of: summary.OfKernel, Columns: []summary.TableColumn{
		{Name: "mean", Unit: "ns", Adds: summary.AddsEach}, {Name: "count", Unit: "count", Adds: summary.AddsSelf}, {Name: "total", Unit: "ns", Adds: summary.AddsSelf},
	}}
	for name, v := range rows {
		t.Rows = append(t.Rows, summary.TableRow{Name: name, Values: []*int64{at(v[0] / max(1, v[1])), at(v[1]), at(v[0])}})
	}
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "t.csv", Format: "nsys-stats"}}, Tables: []summary.Table{t}}
	s.Sort()
	return s
}

func TestTables(t *testing.T) {
	base := kernelTable(map[string][2]int64{"a": {1000, 10}, "b": {500, 5}, "gone": {70, 1}})
	new := kernelTable(map[string][2]int64{"a": {1800, 10}, "b": {500, 5}, "fresh": {40, 2}})
	new.Tables[0].Rest = []*int64{nil, at(3), at(9)}
	c, err := compare.Summaries(base, new, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Tables) != 1 || len(c.Tables[0].Columns) != 2 || c.Per != compare.PerNone {
		t.Fatalf("got %+v per %s, want one table with the two columns that add up", c.Tables, c.Per)
	}
	want := map[string][2]int64{"a": {800, 0}, "gone": {-70, -1}, "fresh": {40, 2}, compare.Rest: {9, 3}, "b": {0, 0}}
	got := c.Tables[0]
	sums := [2]int64{}
	for _, r := range got.Rows {
		for i := range 2 {
			if r.Delta(i) != want[r.Name][i] {
				t.Errorf("%s: column %d moved by %d, want %d", r.Name, i, r.Delta(i), want[r.Name][i])
			}
			sums[i] += r.Delta(i)
		}
	}
	for i, col := range got.Columns {
		if base, new, ok := col.Sums(); !ok || new-base != sums[i] {
			t.Errorf("%s: rows sum to %d, columns to %d (%v)", col.Name, sums[i], new-base, ok)
		}
	}
	if len(got.Rows) != len(want) || got.Rows[0].Name != "a" {
		t.Errorf("%d rows, the first %q", len(got.Rows), got.Rows[0].Name)
	}
	if want := `total time of cuda_gpu_kern_sum 1.57 → 2.35 µs (+0.78 µs): "a" +0.80 µs`; c.Headline != want {
		t.Errorf("headline %q, want %q", c.Headline, want)
	}
}

func TestCounters(t *testing.T) {
	counters := func(ns int64, pct float64) *summary.Summary {
		return &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "n.csv", Format: "ncu"}}, Counters: []summary.Counter{
			{Kernel: "k", Launches: 4, Timed: 4, TotalNS: 4 * ns, MemoryPct: &pct}, {Kernel: "untimed", Launches: 1},
		}}
	}
	c, err := compare.Summaries(counters(100, 40), counters(150, 20), compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	k := c.Counters[0]
	if k.Kernel != "k" || k.Delta() != 50 || *k.BaseMemory != 40 || *k.NewMemory != 20 || c.Counters[1].BaseNS != nil {
		t.Errorf("got %+v", c.Counters)
	}
	if want := `"k" per launch 100 → 150 ns (+50 ns)`; c.Headline != want {
		t.Errorf("headline %q, want %q", c.Headline, want)
	}
	_, err = compare.Summaries(counters(100, 40), kernelTable(nil), compare.Options{})
	if err == nil || !strings.Contains(err.Error(), "neither run has GPU time") {
		t.Errorf("counters and a table: got %v, want a refusal", err)
	}
}

// TestSnapshots: memory by allocation site is compared like tables. The limit
// on allocation sites left 7 of 107 bytes out.
func TestSnapshots(t *testing.T) {
	snapshot := func(activations int64) *summary.Summary {
		return &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "s.pickle", Format: "torch-memory-snapshot"}}, Snapshots: []summary.Snapshot{{
			OwnersAt: "peak", OwnersBytes: activations + 57, Owners: []summary.Owner{
				{Kind: summary.KindActivations, Frame: "model.py:3 forward", Bytes: activations}, {Kind: summary.KindParameters, Bytes: 50},
			},
		}}}
	}
	c, err := compare.Summaries(snapshot(50), snapshot(90), compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := `memory of device 0 at the peak 107 → 147 B (+40 B): "activations: model.py:3 forward" +40 B`; c.Headline != want {
		t.Errorf("headline %q, want %q", c.Headline, want)
	}
	for _, r := range c.Tables[0].Rows {
		if want := map[string]int64{"activations: model.py:3 forward": 40}[r.Name]; r.Delta(0) != want {
			t.Errorf("%s moved by %d, want %d", r.Name, r.Delta(0), want)
		}
	}
}

// profiled returns a summary with a profile: main calls work, which calls io, so the total
// time of main is that of all three.
func profiled(clock string, main, work, io int64) *summary.Summary {
	t := summary.Table{Tool: "yappi", Name: "functions", Of: summary.OfFunction, Clock: clock, Columns: []summary.TableColumn{
		{Name: "count", Unit: "count", Adds: summary.AddsSelf}, {Name: "total", Unit: "ns", Adds: summary.AddsTotal},
		{Name: "self", Unit: "ns", Adds: summary.AddsSelf}}}
	one := int64(1)
	for _, f := range []struct {
		name        string
		total, self int64
	}{{"main", main + work + io, main}, {"work", work + io, work}, {"io", io, io}} {
		t.Rows = append(t.Rows, summary.TableRow{Name: f.name, Values: []*int64{&one, &f.total, &f.self}})
	}
	return &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "p.txt", Format: "yappi", Complete: true}}, Tables: []summary.Table{t}}
}

// TestProfiles: the time of a profile is the sum of self times, which the caller's total
// contains again.
func TestProfiles(t *testing.T) {
	c, err := compare.Summaries(profiled(summary.ClockWall, 10e6, 20e6, 70e6), profiled(summary.ClockWall, 10e6, 20e6, 20e6), compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := `self time of functions 100.0 → 50.0 ms (-50.0 ms): "io" -50.0 ms`; c.Headline != want {
		t.Errorf("headline %q, want %q", c.Headline, want)
	}
	for _, col := range c.Tables[0].Columns {
		if _, _, ok := col.Sums(); ok != (col.Name != "total") {
			t.Errorf("column %s has sums: %v", col.Name, ok)
		}
	}
}

// TestClocks: profiles with different clocks are not compared. Of runs with profiles of
// both, those with one clock are.
func TestClocks(t *testing.T) {
	wall, cpu := profiled(summary.ClockWall, 1e6, 2e6, 3e6), profiled(summary.ClockCPU, 1e6, 2e6, 0)
	var refused *compare.Refusal
	if _, err := compare.Summaries(wall, cpu, compare.Options{}); !errors.As(err, &refused) || refused.Reason.Code != comparability.OtherClock {
		t.Errorf("wall and CPU time: %v", err)
	}
	both := profiled(summary.ClockWall, 1e6, 2e6, 5e6)
	both.Tables = append(both.Tables, profiled(summary.ClockCPU, 1e6, 2e6, 0).Tables...)
	c, err := compare.Summaries(both, cpu, compare.Options{})
	if err != nil || len(c.Tables) != 1 || c.Tables[0].Clock != summary.ClockCPU || c.Headline != "no table changed" {
		t.Errorf("both clocks and CPU time: %+v, %v", c, err)
	}
}
