package judge

import (
	"strings"
	"testing"

	"assay/judge/rule"
	"assay/summary"
)

// idleSummary is idle for 600 ms of a second, in the given gaps.
func idleSummary(gaps ...int64) *summary.Summary {
	s := one(600, 0, 0)
	for _, g := range gaps {
		s.Devices[0].Gaps.Add(g)
	}
	return s
}

func TestIdleEvidence(t *testing.T) {
	s := idleSummary(400*ms, ms, ms-1, 198*ms, 10_000, 9_999, 100, 99) // four of them just beside a limit
	d := &s.Devices[0]
	d.LargestGaps = []summary.Gap{{StartNS: 1_234_567_890, NS: 400 * ms}, {StartNS: 5, NS: 198 * ms}}
	for _, run := range []int64{2_100, 2_200, 5_000, 50_000} {
		d.Durations.Add(run)
	}
	s.Steps = []summary.Step{
		step("ProfilerStep#1", 30, 70), step("ProfilerStep#2", 90, 10), step("ProfilerStep#3", 0, 0), step("ProfilerStep#4", 50, 50),
	}
	f := find(t, Judge(s, rule.DefaultThresholds()), rule.GPUIdle)
	wantEvidence(t, f,
		"largest gap: 400 ms at 1234567.890 µs (66.7% of the idle time)",
		"gaps of 1 ms and longer: 99.8% of the idle time (3 gaps, 599 ms of 600 ms); the CPU launched nothing",
		"gaps from 100 ns to 10 µs: <0.1% of the idle time (2 gaps, 10.1 µs of 600 ms); launch overhead",
		"median kernel duration: between 2 µs and 3 µs (4 kernels)",
		"GPU idle: 30.0% to 90.0% of a step (3 steps); largest in ProfilerStep#2 on rank 0 GPU 0 (90 ms of 100 ms)")
}

// TestIdleAdvice: the first advice follows from where the idle time is, and the
// DataLoader is never more than a possibility.
func TestIdleAdvice(t *testing.T) {
	many := func(n int, gap int64) (out []int64) {
		for range n {
			out = append(out, gap)
		}
		return out
	}
	few := []summary.Gap{{StartNS: -1_002_003, NS: 299 * ms}, {NS: ms}}
	for _, tc := range []struct {
		name, first string
		gaps        []int64
		largest     []summary.Gap
	}{
		{"half of it in few gaps", "Open the trace at -1002.003 µs (start of the largest gap)", append(many(300, ms), 299*ms), few},
		{"just under half in few gaps", "Find the call that most gaps have in common", append(many(300, ms), 299*ms), []summary.Gap{{NS: 299 * ms}}},
		{"long gaps, none known by place", "Find the call that most gaps have in common", many(600, ms), nil},
		{"short gaps", "Use CUDA graphs", many(60_000, 9_999), []summary.Gap{{NS: 9_999}}},
		{"gaps of the clock", "Use CUDA graphs", many(6_000_000/100, 99), nil},
		{"gaps between short and long", "Use CUDA graphs", many(60_000, 10_000), nil},
		{"not known", "Use CUDA graphs", nil, nil},
	} {
		s := idleSummary(tc.gaps...)
		s.Devices[0].LargestGaps = tc.largest
		f := find(t, Judge(s, rule.DefaultThresholds()), rule.GPUIdle)
		if !strings.HasPrefix(rule.Text(f.Next[0]), tc.first) {
			t.Errorf("%s: first advice is %q, want %q", tc.name, rule.Text(f.Next[0]), tc.first)
		}
		for i, line := range texts(f.Next) {
			if strings.Contains(line, "DataLoader") && (i == 0 || !strings.HasPrefix(line, "If ")) {
				t.Errorf("%s: advice %d blames the DataLoader: %q", tc.name, i, line)
			}
		}
	}
}

// TestTinyGapsAreNotOne: where few gaps are most of the idle time because there
// are few at all, tiny ones are still launch overhead.
func TestTinyGapsAreNotOne(t *testing.T) {
	d := summary.Device{Events: 20, WindowNS: 10_000}
	d.Activity[0], d.Activity[comp] = 6_000, 4_000
	d.Gaps.Add(6_000)
	d.LargestGaps = []summary.Gap{{NS: 6_000}}
	if f := find(t, Judge(of(d), rule.DefaultThresholds()), rule.GPUIdle); !strings.HasPrefix(rule.Text(f.Next[0]), "Use CUDA graphs") {
		t.Errorf("first advice is %q", rule.Text(f.Next[0]))
	}
	d.Gaps = summary.Histogram{}
	for range 6_000 / 60 {
		d.Gaps.Add(60)
	}
	f := find(t, Judge(of(d), rule.DefaultThresholds()), rule.GPUIdle)
	last := f.Evidence[len(f.Evidence)-1]
	if want := "gaps under 100 ns: 100.0% of the idle time (100 gaps, 6 µs of 6 µs); rounding of the profiler's clock"; last != want {
		t.Errorf("got  %s\nwant %s", last, want)
	}
}

// TestLargestGapOfMany: with several devices and inputs the gap has an address.
func TestLargestGapOfMany(t *testing.T) {
	cells := map[summary.Class]int64{0: 60, comp: 40}
	s := of(device(0, 0, cells), device(1, 3, cells))
	s.Inputs = append(s.Inputs, summary.Input{Path: "rank1.json"})
	s.Devices[0].LargestGaps = []summary.Gap{{StartNS: 1, NS: 59 * ms}}
	s.Devices[1].Input, s.Devices[1].LargestGaps = 1, []summary.Gap{{StartNS: 2_000, NS: 60 * ms}}
	f := find(t, Judge(s, rule.DefaultThresholds()), rule.GPUIdle)
	wantEvidence(t, f, "range over 2 GPUs: 60.0% to 60.0%; largest on rank 0 GPU 0 (60 ms of 100 ms)",
		"largest gap: 60 ms at 2.000 µs on rank 1 GPU 3 (50.0% of the idle time)")
	if !strings.HasPrefix(rule.Text(f.Next[0]), `Open "rank1.json" at 2.000 µs`) {
		t.Errorf("first advice is %q", rule.Text(f.Next[0]))
	}
}

func TestCopyEvidence(t *testing.T) {
	bytes := int64(300 * ms) // 300 MB in 30 ms are 10 GB/s
	s := one(0, 0, 200)
	s.Copies = []summary.Copy{
		{Name: "Memcpy HtoD (Pageable -> Device)", Class: "copy", Count: 3, TotalNS: 30 * ms, Bytes: &bytes},
		{Name: "Memset (Device)", Class: "memset", Count: 8, TotalNS: 9 * ms},
		{Name: "Memcpy DtoH (Device -> Pinned)", Class: "copy", Count: 1, TotalNS: ms},
	}
	f := find(t, Judge(s, rule.DefaultThresholds()), rule.ExposedCopies)
	wantEvidence(t, f, "copies from pageable CPU memory to the GPU: 75.0% of copy and memset time (30 ms of 40 ms, 3 operations, 286 MiB at 10 GB/s)")
	if !strings.Contains(rule.Text(f.Next[0]), "pin_memory=True") || strings.Contains(strings.Join(texts(f.Next), " "), "zero_grad") {
		t.Errorf("advice %q", texts(f.Next))
	}
	// A row that does not tell its bytes makes the rate unknown; a quarter of the
	// work is worth a line.
	s.Copies[0].Bytes = nil
	s.Copies = append(s.Copies, summary.Copy{Name: "Memset (Unknown)", Class: "memset", Stream: 1, Count: 1, TotalNS: ms})
	s.Copies[0].TotalNS = 29 * ms
	f = find(t, Judge(s, rule.DefaultThresholds()), rule.ExposedCopies)
	wantEvidence(t, f, "copies from pageable CPU memory to the GPU: 72.5% of copy and memset time (29 ms of 40 ms, 3 operations)",
		"memsets: 25.0% of copy and memset time (10 ms of 40 ms, 9 operations)")
	if !strings.Contains(rule.Text(f.Next[len(f.Next)-1]), "zero_grad(set_to_none=True)") {
		t.Errorf("advice %q passes over memsets", texts(f.Next))
	}
}

// TestCopyAdvice goes through the names that profilers write.
func TestCopyAdvice(t *testing.T) {
	for name, want := range map[string]string{
		"Memcpy HtoD (Pageable -> Device)": "pin_memory=True",
		"Memcpy HtoD (Pinned -> Device)":   "overlaps",
		"Memcpy HtoD (Host -> Device)":     "pin_memory=True",
		"CopyHostToDevice":                 "pin_memory=True",
		"Memcpy DtoH (Device -> Pageable)": ".item()",
		"Memcpy DtoH (Device -> Pinned)":   ".item()",
		"CopyDeviceToHost":                 ".item()",
		"Memcpy DtoD (Device -> Device)":   ".contiguous()",
		"Memcpy PtoP (Device -> Device)":   "consecutive layers",
		"Memset (Device)":                  "zero_grad",
		"Memcpy Unknown":                   "Find the operator that copies",
	} {
		s := one(0, 0, 200)
		s.Copies = []summary.Copy{{Name: name, Class: "copy", Count: 1, TotalNS: 1}}
		f := find(t, Judge(s, rule.DefaultThresholds()), rule.ExposedCopies)
		if !strings.Contains(rule.Text(f.Next[0]), want) {
			t.Errorf("%s: first advice is %q, want %q", name, rule.Text(f.Next[0]), want)
		}
		pageable := strings.Contains(strings.Join(texts(f.Next), " "), "Copies from pageable memory")
		if pageable != (name == "Memcpy HtoD (Pageable -> Device)") {
			t.Errorf("%s: advice %q", name, texts(f.Next))
		}
	}
	if f := find(t, Judge(one(0, 0, 200), rule.DefaultThresholds()), rule.ExposedCopies); len(f.Next) == 0 || len(f.Evidence) != 0 {
		t.Errorf("copies without rows: %+v", f)
	}
}

// TestPeers: texts about other ranks depend on what the capture has about them.
func TestPeers(t *testing.T) {
	type rank struct{ rank, ms, runs int64 }
	const all, equal, compare = "give-all-ranks", "tune-the-communication", "compare-the-same-steps"
	for _, tc := range []struct {
		name             string
		ranks            []rank
		evidence, advice string
	}{
		{"one rank", []rank{{0, 300, 10}}, "", all},
		{"straggler", []rank{{0, 290, 100}, {1, 105, 100}, {2, 200, 100}},
			"communication kernels take 290 ms on rank 0 and 105 ms on rank 1: rank 1 is the straggler", "find-the-late-rank rank 1"},
		{"spread at its limit", []rank{{0, 80, 5}, {1, 100, 5}}, "communication kernels take 100 ms on rank 1 and 80 ms on rank 0: no straggler", equal},
		{"spread over it", []rank{{0, 79, 5}, {1, 100, 5}}, "communication kernels take 100 ms on rank 1 and 79 ms on rank 0: rank 0 is the straggler", "find-the-late-rank rank 0"},
		{"fewer steps", []rank{{0, 100, 30}, {1, 300, 90}},
			"communication kernels take 300 ms on rank 1 and 100 ms on rank 0, but the numbers of launches differ (90 and 30), so the ranks recorded different work", compare},
		{"one does not communicate", []rank{{0, 100, 30}, {1, 0, 0}}, "", compare},
		{"a rank twice", []rank{{0, 100, 30}, {1, 300, 30}, {1, 300, 30}}, "", compare},
	} {
		s := of()
		s.Inputs = make([]summary.Input, len(tc.ranks))
		for i, r := range tc.ranks {
			d := device(int(r.rank), 0, map[summary.Class]int64{comm: 50, comp: 50})
			d.Input = i
			s.Devices = append(s.Devices, d)
			if r.runs > 0 {
				s.Kernels = append(s.Kernels, summary.Kernel{Name: "AllReduce", Class: "comm", Input: i, Rank: int(r.rank), Count: r.runs, TotalNS: r.ms * ms})
			}
		}
		found := findingOf(Judge(s, rule.DefaultThresholds()).Findings, rule.ExposedComm)
		if found == nil {
			t.Fatalf("%s: no finding on exposed communication", tc.name)
		}
		f := *found
		evidence := ""
		for _, line := range f.Evidence {
			if strings.HasPrefix(line, "communication kernels take") {
				evidence = line
			}
		}
		if first := strings.TrimSpace(f.Next[0].ID + " " + f.Next[0].Args["rank"]); evidence != tc.evidence || first != tc.advice {
			t.Errorf("%s:\ngot  %q, %q\nwant %q, %q", tc.name, evidence, first, tc.evidence, tc.advice)
		}
	}
}
