package compare_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/compare"
	"assay/summary"
)

// run returns a summary of one device with steps of the given lengths, all of
// them compute, and kernels.
func run(path string, rank int, walls []int64, kernels ...summary.Kernel) *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: path, Format: "kineto", Rank: rank, Complete: true}}}
	window := int64(0)
	for i, ns := range walls {
		s.Steps = append(s.Steps, summary.Step{Rank: rank, Name: "ProfilerStep#1", Number: int64(i), WallNS: ns, Activity: summary.Activity{summary.ClassCompute: ns}})
		window += ns
	}
	s.Devices = []summary.Device{{Rank: rank, Name: "H100", WindowNS: window, Activity: summary.Activity{summary.ClassCompute: window}}}
	s.Kernels = kernels
	return s
}

// TestEffects: 5 runs of 100 ns per step become 10 of 50. The count alone would
// have added 5 x 100, the mean alone would have saved 10 x 50, and the sum is
// 0.
func TestEffects(t *testing.T) {
	for _, tc := range []struct {
		name                 string
		base, new            summary.Kernel
		baseSteps, newSteps  int
		count, duration, sum int64
	}{
		{"both", summary.Kernel{Count: 10, TotalNS: 1000}, summary.Kernel{Count: 30, TotalNS: 1500}, 2, 3, 500, -500, 0},
		{"count only", summary.Kernel{Count: 4, TotalNS: 400}, summary.Kernel{Count: 6, TotalNS: 600}, 1, 1, 200, 0, 200},
		{"duration only", summary.Kernel{Count: 4, TotalNS: 400}, summary.Kernel{Count: 8, TotalNS: 1200}, 1, 2, 0, 200, 200},
		{"fewer and longer", summary.Kernel{Count: 8, TotalNS: 800}, summary.Kernel{Count: 2, TotalNS: 500}, 1, 1, -600, 300, -300},
		{"rounded", summary.Kernel{Count: 3, TotalNS: 10}, summary.Kernel{Count: 4, TotalNS: 10}, 1, 1, 3, -3, 0}, // 10/3 is 3.33
		{"of no length", summary.Kernel{Count: 3}, summary.Kernel{Count: 4, TotalNS: 8}, 1, 1, 0, 8, 8},
		{"huge", summary.Kernel{Count: 1, TotalNS: math.MaxInt64}, summary.Kernel{Count: math.MaxInt64, TotalNS: 1}, 1, 1, 1 - math.MaxInt64, 0, 1 - math.MaxInt64},
		{"negative", summary.Kernel{Count: -3, TotalNS: -5}, summary.Kernel{Count: 2, TotalNS: 8}, 1, 1, 8, 0, 8},
	} {
		tc.base.Name, tc.new.Name = "k", "k"
		walls := func(n int) []int64 { return slices.Repeat([]int64{1000}, n) }
		c, err := compare.Summaries(run("a.json", 0, walls(tc.baseSteps), tc.base), run("b.json", 0, walls(tc.newSteps), tc.new), compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := c.Kernels.Rows[0]
		if r.CountNS != tc.count || r.DurationNS != tc.duration || r.DeltaNS != tc.sum {
			t.Errorf("%s: %d by count, %d by duration, %d in sum, want %d, %d, %d", tc.name, r.CountNS, r.DurationNS, r.DeltaNS, tc.count, tc.duration, tc.sum)
		}
	}
}

// TestRounding: three kernels of 100 ns in 3 steps are 33, 33 and 34 ns per
// step, not three times 33, so the sum is exact.
func TestRounding(t *testing.T) {
	var kernels []summary.Kernel
	for _, name := range []string{"a", "b", "c"} {
		kernels = append(kernels, summary.Kernel{Name: name, Count: 3, TotalNS: 100})
	}
	s := run("a.json", 0, []int64{100, 100, 101}, kernels...)
	c, err := compare.Summaries(s, s, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, r := range c.Kernels.Rows {
		got[r.Name] = r.BaseNS
	}
	if want := map[string]int64{"a": 33, "b": 33, "c": 34}; !reflect.DeepEqual(got, want) || c.Kernels.BaseNS != 100 || c.Budget.BaseNS != 100 {
		t.Errorf("%v sum to %d in steps of %d, want %v, 100 and 100", got, c.Kernels.BaseNS, c.Budget.BaseNS, want)
	}
}

func TestSplit(t *testing.T) {
	one := []int64{10}
	for _, tc := range []struct {
		name string
		in   []*summary.Summary
		want [][]int
	}{
		{"one", []*summary.Summary{run("a.json", 0, one)}, [][]int{{0}}},
		{"ranks of a run", []*summary.Summary{run("d/a.json", 0, one), run("d/b.json", 1, one)}, [][]int{{0, 1}}},
		{"ranks in directories", []*summary.Summary{run("d/r0/t.json", 0, one), run("d/r1/t.json", 1, one)}, [][]int{{0, 1}}},
		{"repeated", []*summary.Summary{run("d/a.json", 0, one), run("d/b.json", 0, one)}, [][]int{{0}, {1}}},
		{"repeated ranks", []*summary.Summary{run("d/a0.json", 0, one), run("d/a1.json", 1, one), run("d/b0.json", 0, one), run("d/b1.json", 1, one)}, [][]int{{0, 1}, {2, 3}}},
		{"directories", []*summary.Summary{run("a/0.json", 0, one), run("a/1.json", 1, one), run("b/0.json", 0, one), run("b/1.json", 1, one)}, [][]int{{0, 1}, {2, 3}}},
		{"tables beside", []*summary.Summary{run("d/a.json", 0, one), {Inputs: []summary.Input{{Path: "d/t.csv"}}, Tables: []summary.Table{{}}}, run("d/b.json", 0, one)}, [][]int{{0, 1}, {2}}},
		{"nothing", nil, nil},
	} {
		var got [][]int
		for _, r := range compare.Split(summary.Merge(tc.in...)) {
			got = append(got, r.Inputs)
		}
		if !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}

// TestManyRuns: the number of runs claimed by a file is limited.
func TestManyRuns(t *testing.T) {
	var s summary.Summary
	for i := range 1000 {
		s.Inputs = append(s.Inputs, summary.Input{Path: fmt.Sprintf("d%d/x.json", i%300)})
		s.Devices = append(s.Devices, summary.Device{Input: i})
	}
	inputs := 0
	list := compare.Split(&s)
	for _, r := range list {
		inputs += len(r.Inputs)
	}
	if len(list) != 256 || inputs != 1000 {
		t.Errorf("%d runs of %d inputs, want 256 of all 1000", len(list), inputs)
	}
}

// runs returns one run for each length of a step.
func runs(walls ...int64) *summary.Summary {
	var list []*summary.Summary
	for _, ns := range walls {
		list = append(list, run("d/x.json", 0, []int64{ns, ns, ns}))
	}
	return summary.Merge(list...)
}

// TestRepeatedRuns: with 5 and 5 runs that do not overlap, chance separates
// them in 2 of 252 cases, the number of ways to choose 5 of 10.
func TestRepeatedRuns(t *testing.T) {
	c, err := compare.Summaries(runs(105, 100, 104, 101, 102), runs(121, 120, 125, 123, 124), compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := c.Estimates[0]
	if e.Name != "step" || e.Base.MedianNS != 102 || e.New.MedianNS != 123 || math.Abs(e.P-2.0/252) > 1e-9 || !e.Differs() {
		t.Errorf("got %+v, want medians 102 and 123 and p=%.4f", e, 2.0/252)
	}
	if c.Base.Runs != 5 || !strings.Contains(c.Headline, "; significant (p=0.008, n=5+5)") {
		t.Errorf("%d runs: %s", c.Base.Runs, c.Headline)
	}
	if i := slices.IndexFunc(c.Reasons, func(r compare.Reason) bool { return r.Code == "single-run" }); i >= 0 {
		t.Errorf("repeated runs are called single: %+v", c.Reasons[i])
	}
	c, err = compare.Summaries(runs(100, 120, 104, 117), runs(118, 103, 121, 101), compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Estimates[0].Differs() || !strings.Contains(c.Headline, "not significant") && !strings.Contains(c.Headline, "unchanged") {
		t.Errorf("runs that overlap differ significantly: %+v: %s", c.Estimates[0], c.Headline)
	}
}

// TestStepsAreNoRuns: many steps of a single run on each side give no interval
// and no probability.
func TestStepsAreNoRuns(t *testing.T) {
	c, err := compare.Summaries(run("a.json", 0, slices.Repeat([]int64{100}, 50)), run("b.json", 0, slices.Repeat([]int64{120}, 50)), compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Estimates) > 0 {
		t.Errorf("estimates of single runs: %+v", c.Estimates)
	}
	if i := slices.IndexFunc(c.Reasons, func(r compare.Reason) bool {
		return r.Code == "single-run" && strings.HasPrefix(r.Text, "one run per side")
	}); i < 0 {
		t.Errorf("it does not say that the runs are single: %+v", c.Reasons)
	}
}

func TestReasons(t *testing.T) {
	plain := func() *summary.Summary {
		s := run("a.json", 0, []int64{100, 100}, summary.Kernel{Name: "k", Count: 1, TotalNS: 50})
		s.Devices[0].Events = 300
		return s
	}
	for _, tc := range []struct {
		code   string
		level  compare.Level
		change func(*summary.Summary)
	}{
		{"no-gpu-time", compare.Refuse, func(s *summary.Summary) { s.Devices, s.Steps = nil, nil }},
		{"other-hardware", compare.Refuse, func(s *summary.Summary) { s.Devices[0].Name = "A100" }},
		{"other-device-count", compare.Refuse, func(s *summary.Summary) {
			d := s.Devices[0]
			d.Device = 1
			s.Devices = append(s.Devices, d)
		}},
		{"other-ranks", compare.Warn, func(s *summary.Summary) { s.Devices[0].Rank = 3 }},
		{"too-little-work", compare.Refuse, func(s *summary.Summary) { s.Devices[0].Events = 3 }},
		{"doubtful-values", compare.Warn, func(s *summary.Summary) {
			s.Issues = []summary.Issue{{Code: "values-impossible", Severity: "suspect"}}
		}},
		{"data-loss", compare.Warn, func(s *summary.Summary) {
			s.Issues = []summary.Issue{{Code: "input-truncated", Severity: "data-loss"}}
		}},
		{"other-format", compare.Warn, func(s *summary.Summary) { s.Inputs[0].Format = "nsys-sqlite" }},
		{"graph-mode", compare.Warn, func(s *summary.Summary) { s.Graphs = []summary.Graph{{Launches: 3}} }},
		{"other-kernels", compare.Warn, func(s *summary.Summary) { s.Kernels[0].Name = "another" }},
		{"step-definition", compare.Warn, func(s *summary.Summary) { s.Steps[1].Cut = "work" }},
		{"step-count", compare.Note, func(s *summary.Summary) { s.Steps = s.Steps[:1] }},
		{"steps-partial", compare.Warn, func(s *summary.Summary) {
			s.Devices[0].WindowNS, s.Devices[0].Activity = 1000, summary.Activity{summary.ClassCompute: 1000}
		}},
		{"other-length", compare.Warn, func(s *summary.Summary) {
			s.Steps = nil
			s.Devices[0].WindowNS, s.Devices[0].Activity = 1000, summary.Activity{summary.ClassCompute: 1000}
		}},
		{"few-steps-differ", compare.Warn, func(s *summary.Summary) {
			for _, ns := range []int64{100, 100, 9000} {
				s.Steps = append(s.Steps, summary.Step{WallNS: ns, Activity: summary.Activity{summary.ClassCompute: ns}})
			}
		}},
	} {
		changed := plain()
		tc.change(changed)
		has := func(base, new *summary.Summary) *compare.Reason {
			c, err := compare.Summaries(base, new, compare.Options{Force: true})
			if err != nil {
				t.Fatal(err)
			}
			for i := range c.Reasons {
				if c.Reasons[i].Code == tc.code {
					return &c.Reasons[i]
				}
			}
			return nil
		}
		if r := has(plain(), changed); r == nil || r.Level != tc.level || r.Text == "" {
			t.Errorf("%s: got %+v, want level %s", tc.code, r, tc.level)
		}
		if r := has(plain(), plain()); r != nil {
			t.Errorf("%s: equal runs have it: %+v", tc.code, r)
		}
		_, err := compare.Summaries(plain(), changed, compare.Options{})
		if refused := err != nil; refused != (tc.level == compare.Refuse) {
			t.Errorf("%s: refused is %t: %v", tc.code, refused, err)
		}
	}
}

// TestStepDefinitions: steps of another definition are no unit, on whichever side and
// however many of them. The windows are compared.
func TestStepDefinitions(t *testing.T) {
	cut := func(of ...string) *summary.Summary {
		s := run("a.json", 0, []int64{100, 100, 100})
		for i := range s.Steps {
			s.Steps[i].Cut = of[i]
		}
		return s
	}
	marker, work, some := cut("", "", ""), cut("work", "work", "work"), cut("", "work", "work")
	for _, tc := range []struct {
		base, new *summary.Summary
		per       string
	}{
		{marker, marker, compare.PerStep}, {work, work, compare.PerStep}, {some, some, compare.PerStep},
		{marker, work, compare.PerWindow}, {work, marker, compare.PerWindow}, {marker, some, compare.PerWindow}, {some, work, compare.PerWindow},
	} {
		c, err := compare.Summaries(tc.base, tc.new, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		told := slices.ContainsFunc(c.Reasons, func(r compare.Reason) bool { return r.Code == "step-definition" })
		if c.Per != tc.per || told != (tc.per == compare.PerWindow) {
			t.Errorf("%q and %q: compared per %s, told %v", tc.base.Steps[0].Cut, tc.new.Steps[0].Cut, c.Per, told)
		}
	}
}

// TestGroupedSides: a side says what separated its runs and which inputs were left out.
func TestGroupedSides(t *testing.T) {
	captured := func(path, digest string) *summary.Summary {
		s := run(path, 0, []int64{100, 100, 100}, summary.Kernel{Name: "k", Class: "compute", Count: 1, TotalNS: 300})
		s.Inputs[0].SHA256 = digest
		return s
	}
	base := summary.Merge(captured("a/0.json", "1"), captured("a/copy.json", "1"))
	new := summary.Merge(captured("b/0.json", "2"), captured("c/0.json", "3"))
	c, err := compare.Summaries(base, new, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Base.Runs != 1 || c.Base.RunsBy != "" || len(c.Base.Copies) != 1 || c.Base.Copies[0].Path != "a/copy.json" {
		t.Errorf("baseline: %+v", c.Base)
	}
	if c.New.Runs != 2 || c.New.RunsBy != "folder" || c.New.Copies != nil {
		t.Errorf("new: %+v", c.New)
	}
}

// TestLargeChange checks that a step of ten times the length or more is told as a factor.
func TestLargeChange(t *testing.T) {
	for _, tc := range []struct {
		ns   int64
		want string
	}{
		{999, "step 100 → 999 ns (+899 ns): "}, {1000, "step 100 ns → 1.00 µs (+0.90 µs, ×10): "}, {22500, "step 100 ns → 22.50 µs (+22.40 µs, ×225): "},
		{100 * 1e9, "step 100 ns → 100.00 s (+100.00 s, ×1,000,000,000): "},
	} {
		c, err := compare.Summaries(run("a", 0, []int64{100, 100}), run("b", 0, []int64{tc.ns, tc.ns}), compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(c.Headline, tc.want) {
			t.Errorf("%d ns: %q, want it to begin with %q", tc.ns, c.Headline, tc.want)
		}
	}
}
