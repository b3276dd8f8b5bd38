package judge

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

func ExampleJudge() {
	device := summary.Device{WindowNS: 200 * ms, Events: 1000}
	device.Activity[0] = 120 * ms // idle
	device.Activity[comp] = 80 * ms
	result := Judge(&summary.Summary{Devices: []summary.Device{device}}, rule.DefaultThresholds())
	fmt.Println(result.Verdict.Bound)
	fmt.Println(result.Verdict.Sentence)
	// Output:
	// host
	// GPU idle: 60.0% of the window (120 ms of 200 ms); limit 50%
}

const (
	comm   = summary.ClassComm
	comp   = summary.ClassCompute
	copies = summary.ClassCopy
	memset = summary.ClassMemset
	ms     = 1_000_000 // ns
)

// device returns a device whose cells are given in milliseconds, with events
// enough to be judged.
func device(rank int, dev int64, cells map[summary.Class]int64) summary.Device {
	d := summary.Device{Rank: rank, Device: dev, Events: 1000}
	for class, n := range cells {
		d.Activity[class] = n * ms
	}
	d.WindowNS = d.Activity.Window()
	return d
}

func of(devices ...summary.Device) *summary.Summary {
	return &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "run.json"}}, Devices: devices}
}

// One returns a summary of one device with a window of a second.
func one(idle, exposedComm, exposedCopy int64) *summary.Summary {
	return of(device(0, 0, map[summary.Class]int64{
		0: idle, comm: exposedComm, copies: exposedCopy, comp: 1000 - idle - exposedComm - exposedCopy,
	}))
}

// TestVerdict walks the precedence, with every limit met exactly and missed by
// one part in a thousand.
func TestVerdict(t *testing.T) {
	for _, tc := range []struct {
		name             string
		s                *summary.Summary
		bound, sentence  string
		findings, levels string
	}{
		{"no devices", of(), "unknown", "No GPU events; record with ProfilerActivity.CUDA", "no-gpu-time", "warn"},
		{"no time", of(device(0, 0, nil)), "unknown", "All GPU events have zero duration; record at least one whole step", "no-gpu-time", "warn"},
		{"idle critical at its limit", one(500, 250, 100), "host",
			"GPU idle: 50.0% of the window (500 ms of 1 s); limit 50%",
			"gpu-idle exposed-communication exposed-copies", "critical critical warn"},
		{"idle is larger than critical communication", one(499, 200, 150), "host",
			"GPU idle: 49.9% of the window (499 ms of 1 s); limit 15%",
			"gpu-idle exposed-communication exposed-copies", "critical critical critical"},
		{"idle is larger than critical copies", one(390, 50, 170), "host",
			"GPU idle: 39.0% of the window (390 ms of 1 s); limit 15%",
			"gpu-idle exposed-copies", "critical critical"},
		{"communication is as large as idle", one(500, 500, 0), "host",
			"GPU idle: 50.0% of the window (500 ms of 1 s); limit 50%",
			"gpu-idle exposed-communication", "critical critical"},
		{"communication is larger than idle", one(220, 430, 0), "communication",
			"Exposed communication: 43.0% of the window (430 ms of 1 s); limit 20%",
			"exposed-communication gpu-idle", "critical warn"},
		{"communication that warns is larger than critical copies", one(100, 190, 180), "communication",
			"Exposed communication: 19.0% of the window (190 ms of 1 s); limit 10%",
			"exposed-communication exposed-copies", "critical critical"},
		{"the largest warning", one(160, 170, 149), "communication",
			"Exposed communication: 17.0% of the window (170 ms of 1 s); limit 10%",
			"exposed-communication gpu-idle exposed-copies", "warn warn warn"},
		{"equal warnings", one(150, 150, 0), "host",
			"GPU idle: 15.0% of the window (150 ms of 1 s); limit 15%",
			"gpu-idle exposed-communication", "warn warn"},
		{"one copy warning", one(149, 99, 50), "copies",
			"Exposed copies: 5.0% of the window (50 ms of 1 s); limit 5%", "exposed-copies", "warn"},
		{"all just under", one(149, 99, 49), "compute",
			"Compute: 70.3% of the window (703 ms of 1 s); all other parts are below their limits: " +
				"GPU idle 14.9%, exposed communication 9.9%, exposed copies 4.9%", "", ""},
		{"compute at its limit", one(100, 0, 0), "compute",
			"Compute: 90.0% of the window (900 ms of 1 s); compute-bound if ≥ 90%", "compute-bound", "info"},
		{"compute just under its limit", one(101, 0, 0), "compute",
			"Compute: 89.9% of the window (899 ms of 1 s); all other parts are below their limits: " +
				"GPU idle 10.1%, exposed communication 0.0%, exposed copies 0.0%", "", ""},
		{"a warning goes before compute", one(0, 100, 0), "communication",
			"Exposed communication: 10.0% of the window (100 ms of 1 s); limit 10%",
			"exposed-communication compute-bound", "warn info"},
		{"nothing but idle", one(1000, 0, 0), "host",
			"GPU idle: 100.0% of the window (1 s of 1 s); limit 50%", "gpu-idle", "critical"},
		{"memsets are copies", of(device(0, 0, map[summary.Class]int64{memset: 30, copies | memset: 30, copies: 40, comp: 300, comp | copies: 100})),
			"copies", "Exposed copies: 20.0% of the window (100 ms of 500 ms); limit 15%",
			"exposed-copies", "critical"},
		{"hidden communication is compute", of(device(0, 0, map[summary.Class]int64{comm | comp: 1000})), "compute",
			"Compute: 100.0% of the window (1 s of 1 s); compute-bound if ≥ 90%", "compute-bound", "info"},
	} {
		got := Judge(tc.s, rule.DefaultThresholds())
		if got.Verdict.Bound != finding.Bound(tc.bound) || got.Verdict.Sentence != tc.sentence {
			t.Errorf("%s: %s: %s\nwant %s: %s", tc.name, got.Verdict.Bound, got.Verdict.Sentence, tc.bound, tc.sentence)
		}
		decided := got.Verdict.Rule
		if i := slices.IndexFunc(got.Findings, func(f finding.Finding) bool { return f.Title == tc.sentence }); i >= 0 && got.Findings[i].Rule != decided || i < 0 && decided != "" {
			t.Errorf("%s: decided by %q, which is not the finding of that sentence", tc.name, decided)
		}
		var rules, levels []string
		for _, f := range got.Findings {
			rules, levels = append(rules, f.Rule), append(levels, f.Level.String())
			if len(f.Next) == 0 {
				t.Errorf("%s: %s does not say what to do", tc.name, f.Rule)
			}
		}
		if r, l := strings.Join(rules, " "), strings.Join(levels, " "); r != tc.findings || l != tc.levels {
			t.Errorf("%s: findings %q at %q, want %q at %q", tc.name, r, l, tc.findings, tc.levels)
		}
	}
}

// TestLimitsOfAFile: a file of limits decides what is over one.
func TestLimitsOfAFile(t *testing.T) {
	th, err := rule.ParseThresholds([]byte("gpu-idle: {warn: 25%}"), "limits.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got := Judge(one(200, 0, 0), th).Verdict.Bound; got != "compute" {
		t.Errorf("20%% idle under a limit of 25%% is bound by %s", got)
	}
	if got := Judge(one(200, 0, 0), rule.DefaultThresholds()).Verdict.Bound; got != "host" {
		t.Errorf("20%% idle over a limit of 15%% is bound by %s", got)
	}
}

// TestMixed needs limits so wide that compute is not the largest part although
// nothing is over one.
func TestMixed(t *testing.T) {
	th, err := rule.ParseThresholds([]byte("gpu-idle: {warn: 90%, critical: 95%}\nexposed-communication: {warn: 90%, critical: 0.95}"), "t.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got := Judge(one(400, 300, 0), th)
	want := finding.Verdict{Bound: "mixed", Sentence: "No dominant bottleneck. Compute: 30.0% of the window (300 ms of 1 s), " +
		"GPU idle 40.0%, exposed communication 30.0%, exposed copies 0.0%"}
	if got.Verdict != want || len(got.Findings) != 0 {
		t.Errorf("got %+v\nwant %+v without findings", got, want)
	}
	if got := Judge(one(400, 200, 0), th).Verdict; got.Bound != "compute" {
		t.Errorf("compute and idle time of 40%% each are %s: %s", got.Bound, got.Sentence)
	}
}

// TestPooling: cells of all devices over windows of all devices, and the worst
// device by its own share, not by its time.
func TestPooling(t *testing.T) {
	s := of(
		device(0, 0, map[summary.Class]int64{0: 200, comp: 700}), // 22.2% of 900 ms
		device(3, 0, map[summary.Class]int64{0: 60, comp: 40}),   // 60.0% of 100 ms
		device(4, 1, nil),
	)
	got := Judge(s, rule.DefaultThresholds())
	f := find(t, got, rule.GPUIdle)
	if want := "GPU idle: 26.0% of GPU time (86.7 ms of 333 ms, mean of 3 GPUs); limit 15%"; f.Title != want {
		t.Errorf("got  %s\nwant %s", f.Title, want)
	}
	if f.Value != 0.26 || f.NumeratorNS != 260*ms || f.DenominatorNS != 1000*ms || f.Warn != 0.15 || f.Critical != 0.5 {
		t.Errorf("numbers of %+v", f)
	}
	wantEvidence(t, f, "range over 3 GPUs: 22.2% to 60.0%; largest on rank 3 GPU 0 (60 ms of 100 ms)")
}

// TestSameRankTwice: if two inputs have the same rank, the path distinguishes
// them.
func TestSameRankTwice(t *testing.T) {
	s := of(device(0, 0, map[summary.Class]int64{0: 10, comp: 90}), device(0, 0, map[summary.Class]int64{0: 30, comp: 70}))
	s.Inputs = append(s.Inputs, summary.Input{Path: "again.json"})
	s.Devices[1].Input = 1
	wantEvidence(t, find(t, Judge(s, rule.DefaultThresholds()), rule.GPUIdle),
		`range over 2 GPUs: 10.0% to 30.0%; largest on rank 0 GPU 0 in "again.json" (30 ms of 100 ms)`)
}

// TestEqualDevices: of devices that are equally bad, the first is named.
func TestEqualDevices(t *testing.T) {
	cells := map[summary.Class]int64{0: 60, comp: 40}
	s := of(device(0, 0, map[summary.Class]int64{comp: 10}), device(1, 0, cells), device(2, 0, cells))
	wantEvidence(t, find(t, Judge(s, rule.DefaultThresholds()), rule.GPUIdle), "range over 3 GPUs: 0.0% to 60.0%; largest on rank 1 GPU 0 (60 ms of 100 ms)")
}

// step returns a step of device 0 in milliseconds.
func step(name string, idle, compute int64) summary.Step {
	d := device(0, 0, map[summary.Class]int64{0: idle, comp: compute})
	return summary.Step{Name: name, WallNS: d.WindowNS, Activity: d.Activity}
}

func TestCommEvidence(t *testing.T) {
	s := of(device(0, 0, map[summary.Class]int64{comm: 30, comm | comp: 10, comp: 60}))
	s.Kernels = []summary.Kernel{
		{Name: "gemm", Class: "compute", Category: "gemm", Count: 1, TotalNS: 70 * ms},
		{Name: "AllReduce", Class: "comm", Stream: 1, Count: 2, TotalNS: 20 * ms},
		{Name: "AllReduce", Class: "comm", Stream: 2, Count: 1, TotalNS: 10 * ms},
		{Name: "AllGather", Class: "comm", Count: 9, TotalNS: 10 * ms},
	}
	wantEvidence(t, find(t, Judge(s, rule.DefaultThresholds()), rule.ExposedComm),
		"compute overlaps 25.0% of the communication time (10 ms of 40 ms)",
		`largest comm kernel: "AllReduce", 75.0% of the comm kernel time (30 ms of 40 ms, 3 launches)`)
}

func TestDominantKernel(t *testing.T) {
	long := strings.Repeat("π", 500)
	s := one(0, 0, 0)
	s.Kernels = []summary.Kernel{
		{Name: long, Class: "compute", Category: "attention", Op: "aten::sdpa", Stream: 7, Count: 2, TotalNS: 300 * ms, MaxNS: 200 * ms},
		{Name: long, Class: "compute", Category: "attention", Op: "aten::bmm", Stream: 7, Count: 1, TotalNS: 100 * ms, MaxNS: 100 * ms},
		{Name: long, Class: "compute", Category: "attention", Stream: 8, Count: 1, TotalNS: 100 * ms, MaxNS: 100 * ms},
		{Name: "ρ", Class: "compute", Category: "gemm", Count: 5, TotalNS: 500 * ms, MaxNS: 100 * ms},
	}
	f := find(t, Judge(s, rule.DefaultThresholds()), rule.DominantKernel)
	if want := `Dominant kernel: 50.0% of total kernel time (500 ms of 1 s), "` + long[:2*399] + `…"; limit 50%`; f.Title != want {
		t.Errorf("got  %s\nwant %s", f.Title, want)
	}
	wantEvidence(t, f,
		`"`+long+`": class compute, category attention; 4 launches, mean 125 ms, max 200 ms`,
		"launched by aten::sdpa: 60.0% of its time (300 ms of 500 ms)",
		"launched by aten::bmm: 20.0% of its time (100 ms of 500 ms)")
	s.Kernels[3].TotalNS += ms
	if f := find(t, Judge(s, rule.DefaultThresholds()), rule.DominantKernel); !strings.Contains(f.Title, `50.0% of total kernel time (501 ms of 1 s), "ρ"`) {
		t.Errorf("got %s", f.Title)
	}
	s.Kernels[3].TotalNS = 334 * ms // 500 of 834 is under 60%
	if f := find(t, Judge(s, rule.DefaultThresholds()), rule.DominantKernel); f.Level != finding.Warn {
		t.Errorf("level %s: %s", f.Level, f.Title)
	}
	s.Kernels[3].TotalNS = 333 * ms // 500 of 833 is over
	if f := find(t, Judge(s, rule.DefaultThresholds()), rule.DominantKernel); f.Level != finding.Critical {
		t.Errorf("level %s: %s", f.Level, f.Title)
	}
}

func TestComputeBoundNamesCategories(t *testing.T) {
	s := one(0, 0, 0)
	for i, category := range []string{"norm", "gemm", "attention", "other"} {
		s.Kernels = append(s.Kernels, summary.Kernel{Name: category, Class: "compute", Category: category, Count: 1, TotalNS: []int64{10, 62, 20, 8}[i]})
	}
	s.Kernels = append(s.Kernels, summary.Kernel{Name: "nccl", Class: "comm", Category: "collective", Count: 1, TotalNS: 900})
	f := find(t, Judge(s, rule.DefaultThresholds()), rule.ComputeBound)
	if want := "Compute: 100.0% of the window (1 s of 1 s); compute-bound if ≥ 90%"; f.Title != want {
		t.Errorf("got  %s\nwant %s", f.Title, want)
	}
	wantEvidence(t, f, "gemm: 62.0% of the compute kernel time (62 ns of 100 ns)",
		"attention: 20.0% of the compute kernel time (20 ns of 100 ns)", "norm: 10.0% of the compute kernel time (10 ns of 100 ns)",
		`largest compute kernel: "gemm", 62.0% of the compute kernel time (62 ns of 100 ns, 1 launch)`)
}

// TestMoreIdleIsMoreHost: once the verdict is host, more idle time keeps it,
// and less idle time never makes it.
func TestMoreIdleIsMoreHost(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	th := rule.DefaultThresholds()
	changes := 0
	for range 300 / test.Every(10) {
		d := device(0, 0, map[summary.Class]int64{0: rnd.Int64N(30), comm: rnd.Int64N(40), copies: rnd.Int64N(20), comp: rnd.Int64N(100)})
		host, level := false, finding.Level(-1)
		for range 60 {
			got := Judge(of(d), th)
			now := got.Verdict.Bound == "host"
			if host && !now {
				t.Fatalf("%v idle makes the verdict %s", d.Activity, got.Verdict.Bound)
			}
			if now != host {
				changes++
			}
			host = now
			next := finding.Level(-1)
			for _, f := range got.Findings {
				if f.Rule != rule.GPUIdle {
					continue
				}
				// The level by its own limits: that of a smaller part can raise it.
				if next = finding.Warn; f.Value >= f.Critical {
					next = finding.Critical
				}
				if f.Level < next {
					t.Fatalf("%v idle is %s by its limits and has the level %s", d.Activity, next, f.Level)
				}
			}
			if next < level {
				t.Fatalf("%v idle lowers its finding from %s to %s", d.Activity, level, next)
			}
			level = next
			d.Activity[0] += rnd.Int64N(10 * ms)
			d.WindowNS = d.Activity.Window()
		}
	}
	if changes < 200/test.Every(10) {
		t.Errorf("the verdict turned to host %d times; the test tests little", changes)
	}
}

// TestOrderOfRows: a verdict is about what was measured, not about the order it
// is listed in.
func TestOrderOfRows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	s := one(300, 50, 100)
	for i := range int64(20) {
		s.Kernels = append(s.Kernels, summary.Kernel{Name: fmt.Sprint("k", i%5), Class: "compute", Category: fmt.Sprint("c", i%3),
			Op: fmt.Sprint("op", i%4), Stream: i, Count: 1, TotalNS: 10})
		s.Copies = append(s.Copies, summary.Copy{Name: fmt.Sprint("copy", i%5), Stream: i, TotalNS: 10})
	}
	want := asJSON(t, Judge(s, rule.Thresholds{}))
	for range 50 {
		rnd.Shuffle(len(s.Kernels), func(i, j int) { s.Kernels[i], s.Kernels[j] = s.Kernels[j], s.Kernels[i] })
		rnd.Shuffle(len(s.Copies), func(i, j int) { s.Copies[i], s.Copies[j] = s.Copies[j], s.Copies[i] })
		if got := asJSON(t, Judge(s, rule.DefaultThresholds())); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
}

func asJSON(t *testing.T, r Result) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func find(t *testing.T, r Result, id string) finding.Finding {
	t.Helper()
	i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == id })
	if i < 0 {
		t.Fatalf("no finding %s in %+v", id, r)
	}
	return r.Findings[i]
}

func wantEvidence(t *testing.T, f finding.Finding, want ...string) {
	t.Helper()
	if !slices.Equal(f.Evidence, want) {
		t.Errorf("evidence of %s:\n%s\nwant:\n%s", f.Rule, strings.Join(f.Evidence, "\n"), strings.Join(want, "\n"))
	}
}

// findingOf returns the finding of a rule, or of the cause that replaces it, or nil.
func findingOf(list []finding.Finding, id string) *finding.Finding {
	i := slices.IndexFunc(list, func(f finding.Finding) bool { return f.Rule == id || f.InPlaceOf == id })
	if i < 0 {
		return nil
	}
	return &list[i]
}
