package judge

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"assay/internal/test"
	"assay/internal/test/tracegen"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// treeRuns returns the summaries that trees are tested with, and the limits that they
// need: the labelled runs, the generated scenarios, and runs with random times.
// They are made once: tests only read them.
func treeRuns(t *testing.T) (names []string, runs []*summary.Summary, limits []rule.Thresholds) {
	treeRunsOnce.Do(func() { treeRunsOnce.names, treeRunsOnce.runs, treeRunsOnce.limits = makeTreeRuns(t) })
	return slices.Clip(treeRunsOnce.names), slices.Clip(treeRunsOnce.runs), slices.Clip(treeRunsOnce.limits)
}

var treeRunsOnce struct {
	sync.Once
	names  []string
	runs   []*summary.Summary
	limits []rule.Thresholds
}

func makeTreeRuns(t *testing.T) (names []string, runs []*summary.Summary, limits []rule.Thresholds) {
	add := func(name string, s *summary.Summary, text string) {
		th, err := rule.ParseThresholds([]byte(text), "limits.yaml")
		if err != nil {
			t.Fatal(err)
		}
		names, runs, limits = append(names, name), append(runs, s), append(limits, th)
	}
	for _, run := range labelledRuns() {
		add(run.name, run.in(t), run.limits)
	}
	for _, preset := range tracegen.Presets() {
		var ranks []tracegen.Story
		for rank := range preset.Make().Ranks {
			var b bytes.Buffer
			if _, err := tracegen.Generate(&b, preset.Make(), rank); err != nil {
				t.Fatal(err)
			}
			ranks = append(ranks, tracegen.Story{Name: preset.Name, JSON: b.Bytes()})
		}
		add(preset.Name, traced(t, ranks), "")
	}
	for _, preset := range tracegen.Stories() {
		add(preset.Name, traced(t, []tracegen.Story{preset.Make()}), "")
	}
	rnd := rand.New(rand.NewPCG(11, 13))
	for i := range stories(t, 150) {
		add(fmt.Sprint("random ", i), randomRun(rnd), "")
	}
	return names, runs, limits
}

// stories returns the number of random stories to test: n, or what ASSAY_STORIES says.
func stories(t *testing.T, n int) int {
	t.Helper()
	text := os.Getenv("ASSAY_STORIES")
	if text == "" {
		return n
	}
	more, err := strconv.Atoi(text)
	if err != nil || more < n {
		t.Fatalf("ASSAY_STORIES is %q; want a number from %d on", text, n)
	}
	return more
}

// randomRun returns a run whose rows contradict each other as those of damaged captures
// do: causes with more time than their part, and kernels that overlap.
func randomRun(rnd *rand.Rand) *summary.Summary {
	n := func(most int64) int64 { return rnd.Int64N(most) * ms }
	var devices []summary.Device
	for rank := range 1 + rnd.IntN(3) {
		devices = append(devices, device(rank, 0, map[summary.Class]int64{0: rnd.Int64N(400), comm: rnd.Int64N(300), comm | comp: rnd.Int64N(100),
			copies: rnd.Int64N(150), comp: rnd.Int64N(600)}))
	}
	s := of(devices...)
	for range rnd.IntN(6) {
		owner := []string{summary.OwnerHost, summary.OwnerLaunch, summary.OwnerOpaque, summary.OwnerDependency, summary.OwnerNothing}[rnd.IntN(5)]
		row := summary.Idle{Owner: owner, NS: n(400), Count: 10}
		if owner == summary.OwnerHost {
			row.State = []string{summary.StateData, summary.StateAlloc, summary.StatePython, summary.StateSync}[rnd.IntN(4)]
		}
		row.ShortGapsNS = row.NS / 2
		s.Idle = append(s.Idle, row)
	}
	for rank := range devices {
		s.Kernels = append(s.Kernels, summary.Kernel{Name: "reduce", Class: "comm", Category: "all-reduce", Rank: rank, Count: 10, TotalNS: n(500) + 1},
			summary.Kernel{Name: "add", Class: "compute", Category: "elementwise", Rank: rank, Count: 1000, TotalNS: n(900) + 1},
			summary.Kernel{Name: "graph", Class: "compute", Category: summary.WholeGraph, Rank: rank, Count: 1, TotalNS: n(300) + 1})
		for range rnd.IntN(50) {
			s.Devices[rank].Durations.Add(1 + rnd.Int64N(40_000))
			s.Devices[rank].Gaps.Add(1 + n(600))
		}
		s.Devices[rank].LargestGaps = []summary.Gap{{NS: n(900)}, {NS: n(600)}}
	}
	s.Syncs = []summary.Sync{{HostNS: n(500), LostNS: n(300)}}
	s.Copies = []summary.Copy{{Name: pageableToDevice, Class: "copy", Count: 5, TotalNS: n(300) + 1}, {Name: withinDevice, Class: "copy", Count: 5, TotalNS: n(300) + 1}}
	row := asked(pageableToDevice, "cudaMemcpyAsync", true, rnd.Int64N(300), rnd.Int64N(200))
	row.TotalNS = s.Copies[0].TotalNS
	s.CopyCalls = []summary.CopyCall{row}
	if rnd.IntN(2) == 0 {
		a := summary.Activity{0: n(300), comp: n(200)}
		s.Phases = []summary.Phase{{Path: "data", Count: 2, Activity: a, Total: a}, {Path: "setup", Count: 1, Activity: a, Total: a}}
	}
	return s
}

// TestOrderOfRules: the order of the rules has no influence on any result.
func TestOrderOfRules(t *testing.T) {
	names, runs, limits := treeRuns(t)
	if len(runs) < 450 {
		t.Errorf("%d runs", len(runs))
	}
	rnd := rand.New(rand.NewPCG(5, 7))
	for i, s := range runs {
		if i%test.Every(10) != 0 {
			continue
		}
		want := evaluate(s, limits[i])
		for range 20 { // in one of so many, any two rules have changed places: 1 - 2^-20
			b := newEvaluators(s, limits[i])
			rnd.Shuffle(len(b.Rows), func(i, j int) { b.Rows[i], b.Rows[j] = b.Rows[j], b.Rows[i] })
			if got := b.result(); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s:\n%s\nin another order of rules\n%s", names[i], told(want), told(got))
			}
		}
	}
}

// TestTreeAddsUp: the parts sum to the window, and causes are within their parents.
func TestTreeAddsUp(t *testing.T) {
	names, runs, limits := treeRuns(t)
	judged, deep := 0, 0
	for i, s := range runs {
		r := evaluate(s, limits[i])
		if len(r.Tree) == 0 || r.Tree[0].Part != "idle" {
			continue
		}
		var window, sum int64
		for _, d := range s.Devices {
			window += d.Activity.Window()
		}
		for k, part := range []string{"idle", "exposed-communication", "exposed-copies", "compute"} {
			if r.Tree[k].Part != part {
				t.Fatalf("%s: part %d is %s, want %s", names[i], k, r.Tree[k].Part, part)
			}
			sum += r.Tree[k].NS
			deep = max(deep, checkNode(t, names[i], r.Tree[k]))
			if !withoutWarmUp(r) {
				checkLevels(t, names[i], r.Tree[k].Causes)
			}
		}
		left := withoutWarmUp(r) || findingOf(r.Findings, rule.NotRecorded) != nil || r.Verdict.Bound == "unknown"
		if judged++; sum != r.Tree[0].OfNS || sum > window || sum != window && !left {
			t.Errorf("%s: the parts sum to %d, the windows to %d", names[i], sum, window)
		}
	}
	if judged < 250 || deep < 3 {
		t.Errorf("%d trees of %d levels; the test tests little", judged, deep)
	}
}

// withoutWarmUp reports whether a finding says that the warm-up is left out.
func withoutWarmUp(r Result) bool {
	return slices.ContainsFunc(r.Findings, func(f finding.Finding) bool {
		return (f.Rule == rule.WarmUpSteps || f.Rule == rule.WarmUpPhases) && f.Level > finding.Info
	})
}

// checkNode checks the times below a node and returns how many levels it has.
func checkNode(t *testing.T, name string, n finding.Node) int {
	sum, deep := int64(0), 0
	for _, k := range n.Causes {
		sum += k.NS
		if k.NS < 0 || k.NS > n.NS || k.OfNS != n.OfNS || k.Part != n.Part || k.ExplainsNS > 0 && k.ExplainsNS <= k.NS {
			t.Errorf("%s: %s has %d of %d ns of %s", name, k.Rule, k.NS, n.NS, n.Rule)
		}
		deep = max(deep, checkNode(t, name, k))
	}
	if sum > n.NS {
		t.Errorf("%s: the causes of %s have %d of %d ns", name, n.Rule, sum, n.NS)
	}
	return deep + 1
}

// checkLevels checks that causes without time are for information.
func checkLevels(t *testing.T, name string, list []finding.Node) {
	for _, n := range list {
		if n.NS == 0 && n.ExplainsNS == 0 && n.Level > finding.Info {
			t.Errorf("%s: %s is %s and explains nothing", name, n.Rule, n.Level)
		}
		checkLevels(t, name, n.Causes)
	}
}

// TestLevelsAreCapped: a finding about kernels has the level of its share of the window.
func TestLevelsAreCapped(t *testing.T) {
	names, runs, limits := treeRuns(t)
	lowered := 0
	for i, s := range runs {
		window := int64(0)
		for _, d := range s.Devices {
			window += d.Activity.Window()
		}
		for _, f := range evaluate(s, limits[i]).Findings {
			if window == 0 || f.Rule != rule.DominantKernel && f.Rule != rule.TinyKernels && f.Rule != rule.MemoryBandwidth {
				continue
			}
			share := float64(f.NumeratorNS) / float64(window)
			if f.Level == finding.Critical && share < 0.20 || f.Level == finding.Warn && share < 0.05 {
				t.Errorf("%s: %s is %s at %.3f of the window", names[i], f.Rule, f.Level, share)
			}
			if f.Value >= f.Critical && f.Critical > 0 && f.Level < finding.Critical {
				lowered++
			}
		}
	}
	if lowered < 10 {
		t.Errorf("%d levels are lowered; the test tests little", lowered)
	}
}

// TestDominantKernelOfIdleRun: the kernel takes 8% of a window that is idle for 92%.
func TestDominantKernelOfIdleRun(t *testing.T) {
	s := one(920, 0, 0)
	s.Kernels = []summary.Kernel{{Name: "k", Class: "compute", Category: "gemm", Count: 10, TotalNS: 80 * ms, MaxNS: 8 * ms}}
	r := Judge(s, rule.DefaultThresholds())
	f := find(t, r, rule.DominantKernel)
	// How much of its work a kernel can save is not known.
	if f.Level != finding.Info || f.Value != 1 || f.GainNS != nil || r.Findings[0].Rule != rule.GPUIdle {
		t.Errorf("%s, gain %v\n%s", f.Level, f.GainNS, told(r))
	}
	if want := `Dominant kernel: 100.0% of total kernel time (80 ms of 80 ms), "k"; 8.0% of the window`; f.Title != want {
		t.Errorf("got  %s\nwant %s", f.Title, want)
	}
	if want := "the level is lowered because this is 8.0% of the window"; f.Evidence[len(f.Evidence)-1] != want {
		t.Errorf("evidence %q, want %q", f.Evidence, want)
	}
	for compute, want := range map[int64]finding.Level{99: finding.Info, 100: finding.Warn, 499: finding.Warn, 500: finding.Critical, 1000: finding.Critical} {
		s := one(1000-compute, 0, 0)
		s.Kernels = []summary.Kernel{{Name: "k", Class: "compute", Category: "gemm", Count: 10, TotalNS: compute * ms, MaxNS: ms}}
		if f := find(t, Judge(s, rule.DefaultThresholds()), rule.DominantKernel); f.Level != want {
			t.Errorf("%d of 1000: %s, want %s", compute, f.Level, want)
		}
	}
}

// TestCommunicationIsToldOnce: the kernel that takes the exposed communication is a cause
// of it and no second finding.
func TestCommunicationIsToldOnce(t *testing.T) {
	s := one(20, 540, 0)
	s.Kernels = []summary.Kernel{
		{Name: "ncclDevKernel_AllReduce", Class: "comm", Category: "all-reduce", Op: "record_param_comms", Count: 12, TotalNS: 600 * ms, MaxNS: 50 * ms},
		{Name: "gemm", Class: "compute", Category: "gemm", Count: 24, TotalNS: 400 * ms, MaxNS: 20 * ms},
	}
	r := Judge(s, rule.DefaultThresholds())
	if got := strings.Join(rulesOf(r), " "); got != rule.ExposedComm {
		t.Fatalf("findings %s, want one", got)
	}
	f := r.Findings[0]
	for _, want := range []string{"the largest comm kernel takes 60.0% of total kernel time (600 ms of 1 s)", "launched by record_param_comms: 100.0% of its time (600 ms of 600 ms)"} {
		if !slices.Contains(f.Evidence, want) {
			t.Errorf("evidence %q, want %q", f.Evidence, want)
		}
	}
	comm := r.Tree[1]
	if len(comm.Causes) != 1 || comm.Causes[0].Rule != rule.DominantKernel || comm.Causes[0].NS != 540*ms || comm.NS != 540*ms {
		t.Errorf("tree %+v", comm)
	}
}

// TestCausesOfCauses: the rank that computes most is why the others wait for it.
func TestCausesOfCauses(t *testing.T) {
	slow, fast := device(0, 0, map[summary.Class]int64{comp: 900, comm: 100}), device(1, 0, map[summary.Class]int64{comp: 500, comm: 500})
	s := of(slow, fast)
	s.Inputs = append(s.Inputs, summary.Input{Path: "rank1.json", Rank: 1})
	s.Devices[1].Input = 1
	for rank, ns := range []int64{100, 500} {
		s.Kernels = append(s.Kernels, summary.Kernel{Name: "AllReduce", Class: "comm", Input: rank, Rank: rank, Count: 10, TotalNS: ns * ms})
	}
	r := Judge(s, rule.DefaultThresholds())
	if got := strings.Join(rulesOf(r), " "); got != rule.StragglingRank || r.Findings[0].Subject != "rank 0" || r.Findings[0].InPlaceOf != rule.ExposedComm {
		t.Fatalf("findings %s: %+v", got, r.Findings[0])
	}
	want := []finding.Node{{Rule: rule.StragglingRank, Part: "exposed-communication", Subject: "rank 0", NS: 400 * ms, OfNS: 2000 * ms, Share: 0.2, Level: finding.Critical, Causes: []finding.Node{
		{Rule: rule.UnevenRanks, Part: "exposed-communication", Subject: "rank 0", NS: 400 * ms, OfNS: 2000 * ms, Share: 0.2, Level: finding.Warn},
	}}, {Rule: rule.DominantKernel, Part: "exposed-communication", NS: 200 * ms, OfNS: 2000 * ms, Share: 0.1, ExplainsNS: 600 * ms, Level: finding.Critical}}
	if got := r.Tree[1].Causes; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestStragglerOfLittle: the fixes of exposed communication stay if waiting for one rank
// is less than half of it.
func TestStragglerOfLittle(t *testing.T) {
	s := of(device(0, 0, map[summary.Class]int64{comp: 500, comm: 500}), device(1, 0, map[summary.Class]int64{comp: 200, comm: 800}))
	s.Inputs = append(s.Inputs, summary.Input{Path: "rank1.json", Rank: 1})
	s.Devices[1].Input = 1
	for rank, ns := range []int64{500, 800} {
		s.Kernels = append(s.Kernels, summary.Kernel{Name: "AllReduce", Class: "comm", Input: rank, Rank: rank, Count: 10, TotalNS: ns * ms})
	}
	r := Judge(s, rule.DefaultThresholds())
	f := find(t, r, rule.ExposedComm)
	if f.Next[0].ID != "find-the-late-rank" || !slices.Contains(ids(f.Next), "send-less-between-ranks") {
		t.Errorf("steps %q", ids(f.Next))
	}
	if k := r.Tree[1].Causes; len(k) != 2 || k[0].Rule != rule.StragglingRank || k[0].NS != 300*ms || k[1].NS != 1000*ms {
		t.Errorf("causes %+v", k)
	}
}

// TestTwoFindingsOfOneRule: graphs that may have run in idle time decide the verdict, and
// graphs that ran as one event are another finding.
func TestTwoFindingsOfOneRule(t *testing.T) {
	s := one(550, 0, 0)
	s.Idle = []summary.Idle{{Owner: summary.OwnerOpaque, NS: 400 * ms, Count: 1}}
	s.Kernels = []summary.Kernel{{Name: "graph", Class: "compute", Category: summary.WholeGraph, Count: 10, TotalNS: 450 * ms, MaxNS: 45 * ms}}
	r := Judge(s, rule.DefaultThresholds())
	var titles []string
	for _, f := range r.Findings {
		titles = append(titles, f.Rule+" "+f.Level.String()+" "+f.Title)
	}
	want := []string{
		"opaque-graphs warn Idle or in untraced CUDA graphs: 40.0% of the window (400 ms of 1 s); limit 25%",
		"opaque-graphs warn CUDA graphs without node trace: 45.0% of the window (450 ms of 1 s); limit 25%",
	}
	if !slices.Equal(titles, want) || r.Verdict.Bound != finding.BoundUnknown {
		t.Errorf("verdict %s, findings %q\nwant %q", r.Verdict.Bound, titles, want)
	}
}

// TestRowsAndRules: each rule has a row, and each row is of a rule.
func TestRowsAndRules(t *testing.T) {
	ids := map[string]bool{}
	for _, r := range newEvaluators(of(), rule.DefaultThresholds()).Rows {
		ids[r.ID] = true
		if r.Part == "" || (r.Measure == nil) == (r.Conclude == nil) || (r.Replaces || r.Alone) && len(r.Under) == 0 {
			t.Errorf("row of rule %q: it lacks a part, has not exactly one of Measure and Conclude, or replaces or stands alone without a rule in Under", r.ID)
		}
	}
	for _, r := range rule.Rules() {
		if !ids[r.ID] {
			t.Errorf("rule %s has an entry in the folder rules and no row in rows.go, so it is never measured", r.ID)
		}
		delete(ids, r.ID)
	}
	if len(ids) > 0 {
		t.Errorf("rows of rows.go without an entry in the folder rules: %v", slices.Sorted(maps.Keys(ids)))
	}
}
