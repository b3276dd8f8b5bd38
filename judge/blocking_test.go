package judge

import (
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

const (
	pageableToDevice = "Memcpy HtoD (Pageable -> Device)"
	pinnedToDevice   = "Memcpy HtoD (Pinned -> Device)"
	toPageable       = "Memcpy DtoH (Device -> Pageable)"
	withinDevice     = "Memcpy DtoD (Device -> Device)"
)

// asked returns a row of copies by call; times are in milliseconds.
func asked(name, call string, large bool, host, lost int64) summary.CopyCall {
	class := "copy"
	if strings.HasPrefix(name, "Memset") {
		class = "memset"
	}
	return summary.CopyCall{Name: name, Call: call, Class: class, Large: large, Count: 2, TotalNS: 3 * ms, MaxNS: 2 * ms, MaxStartNS: 1_234_567,
		HostNS: host * ms, LostNS: lost * ms}
}

// rulesOf returns the ids of the findings.
func rulesOf(r Result) (out []string) {
	for _, f := range r.Findings {
		out = append(out, f.Rule)
	}
	return out
}

// TestWhichCopies: which copies each rule is about, by name, call and size. Each
// row blocks the CPU for 100 ms of a second, all of which could be saved.
func TestWhichCopies(t *testing.T) {
	for _, tc := range []struct {
		name, call string
		large      bool
		want       string
	}{
		{pageableToDevice, "cudaMemcpyAsync", true, rule.PageableCopies},
		{pageableToDevice, "cudaMemcpyAsync", false, rule.PageableCopies},
		{toPageable, "hipMemcpyAsync", false, rule.PageableCopies},
		{toPageable, "cudaMemcpy2DAsync", false, rule.PageableCopies},
		{pinnedToDevice, "cudaMemcpyAsync", true, ""},
		{toPageable, "", true, ""},
		{toPageable, "cudaGraphLaunch", true, ""},
		{pageableToDevice, "cudaMemcpy", true, rule.SyncCopies},
		{pageableToDevice, "cudaMemcpy", false, ""},
		{pinnedToDevice, "cudaMemcpy", false, ""},
		{pinnedToDevice, "cudaMemcpy2D", true, rule.SyncCopies},
		{"CopyHostToDevice", "hipMemcpy", false, ""},
		{"CopyHostToDevice", "hipMemcpyWithStream", true, rule.SyncCopies},
		{"CopyDeviceToHost", "hipMemcpyWithStream", false, rule.SyncCopies},
		{toPageable, "cudaMemcpy", false, rule.SyncCopies},
		{withinDevice, "cudaMemcpy", true, ""},
		{"Memcpy PtoP (Device -> Device)", "cudaMemcpyPeer", true, rule.SyncCopies},
		{"Memset (Pinned)", "cudaMemset", false, rule.SyncMemsets},
		{"Memset (Managed)", "cudaMemset2D", true, rule.SyncMemsets},
		{"Memset (Managed)", "cudaMemsetAsync", true, ""},
		{"Memset (Pinned)", "cuMemsetD32Async", true, ""},
		{"Memset (Device)", "cudaMemset", true, ""},
		{"Memset (Managed Static)", "cudaMemset", true, ""},
		{"Memset (Unknown)", "cudaMemset", true, ""},
	} {
		s := one(100, 0, 0)
		s.CopyCalls = []summary.CopyCall{asked(tc.name, tc.call, tc.large, 100, 100)}
		want := []string{rule.ComputeBound}
		if tc.want != "" {
			want = []string{tc.want, rule.ComputeBound}
		}
		if got := rulesOf(Judge(s, rule.DefaultThresholds())); !slices.Equal(got, want) {
			t.Errorf("%s by %q, large: %v: %q, want %q", tc.name, tc.call, tc.large, got, want)
		}
	}
}

// TestHeldLimits: both the time for which the host was held and what that cost
// must reach their limits.
func TestHeldLimits(t *testing.T) {
	for _, tc := range []struct {
		host, lost int64 // of a second
		want       bool
	}{
		{100, 50, true}, {99, 99, false}, {100, 49, false}, {900, 0, false},
	} {
		s := one(100, 0, 0)
		s.Syncs = []summary.Sync{{HostNS: tc.host * ms, LostNS: tc.lost * ms}}
		r := Judge(s, rule.DefaultThresholds())
		if got := slices.Contains(rulesOf(r), rule.SyncCalls); got != tc.want {
			t.Errorf("%d ms, %d ms of them lost: finding: %v", tc.host, tc.lost, got)
		}
		if r.Verdict.Bound != "compute" {
			t.Errorf("the verdict is %s", r.Verdict.Bound)
		}
	}
	th, err := rule.ParseThresholds([]byte("synchronizing-calls: {warn: 1%, min_share: 1%}"), "t.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := one(100, 0, 0)
	s.Syncs = []summary.Sync{{HostNS: 10 * ms, LostNS: 10 * ms}}
	if !slices.Contains(rulesOf(Judge(s, th)), rule.SyncCalls) {
		t.Error("limits of a file are not held to")
	}
}

// TestSyncCalls: two devices of one second each; their hosts stood still for 300
// and 100 ms, which cost 150 and 50 ms.
func TestSyncCalls(t *testing.T) {
	cells := map[summary.Class]int64{0: 100, comp: 900}
	s := of(device(0, 0, cells), device(0, 1, cells))
	s.Syncs = []summary.Sync{
		{Device: 0, Calls: 7, HostNS: 300 * ms, LostNS: 150 * ms, Longest: "cudaStreamSynchronize", MaxNS: 40 * ms, MaxStartNS: 5_000},
		{Device: 1, Calls: 2, HostNS: 100 * ms, LostNS: 50 * ms, Longest: "cudaStreamSynchronize", MaxNS: 90 * ms, MaxStartNS: 6_001},
	}
	s.Calls = []summary.Call{
		{Name: "cudaStreamSynchronize", Kind: "sync", Count: 8, TotalNS: 390 * ms},
		{Name: "cudaDeviceSynchronize", Kind: "sync", Count: 1, TotalNS: 20 * ms},
		{Name: "cudaEventSynchronize", Kind: "sync", Count: 5, TotalNS: 800 * ms},
		{Name: "cudaMemcpy", Kind: "copy", Count: 5, TotalNS: 800 * ms},
	}
	f := find(t, Judge(s, rule.DefaultThresholds()), rule.SyncCalls)
	if want := "GPU idle after synchronizing calls: 10.0% of GPU time (mean of 2 GPUs); limit 5%"; f.Title != want || f.Level != finding.Warn {
		t.Errorf("got  %s (%s)\nwant %s", f.Title, f.Level, want)
	}
	if f.NumeratorNS != 200*ms || f.DenominatorNS != 2000*ms || f.Value != 0.1 || f.Warn != 0.05 {
		t.Errorf("numbers of %+v", f)
	}
	want := []string{
		"cudaStreamSynchronize: 8 calls, 390 ms CPU time; longest 90 ms at 6.001 µs on rank 0 GPU 1",
		"cudaDeviceSynchronize: 1 call, 20 ms CPU time",
	}
	if !slices.Equal(f.Evidence, want) {
		t.Errorf("got  %q\nwant %q", f.Evidence, want)
	}
	if all := strings.Join(texts(f.Next), " "); !strings.Contains(all, ".item()") || !strings.Contains(all, "cudaStreamWaitEvent") {
		t.Errorf("advice %q", texts(f.Next))
	}
}

// TestHeldEvidence: rows of one name and call are one line, those that block the
// host longest first.
func TestHeldEvidence(t *testing.T) {
	bytes := int64(1 << 20)
	s := one(100, 0, 0)
	s.CopyCalls = []summary.CopyCall{
		asked(toPageable, "cudaMemcpyAsync", false, 20, 10),
		asked(pageableToDevice, "cudaMemcpyAsync", false, 10, 0), asked(pageableToDevice, "cudaMemcpyAsync", true, 50, 40),
	}
	s.CopyCalls[2].MaxNS, s.CopyCalls[2].MaxStartNS, s.CopyCalls[2].Bytes = 3*ms, 77_000, &bytes
	f := find(t, Judge(s, rule.DefaultThresholds()), rule.PageableCopies)
	if want := "CPU blocked in pageable copies: 8.0% of the window (80 ms of 1 s); limit 5%"; f.Title != want {
		t.Errorf("got  %s\nwant %s", f.Title, want)
	}
	want := []string{
		"Memcpy HtoD (Pageable -> Device) by cudaMemcpyAsync: 4 calls, 60 ms CPU time, 6 ms GPU time, 1 MiB; longest copy 3 ms at 77.000 µs",
		"Memcpy DtoH (Device -> Pageable) by cudaMemcpyAsync: 2 calls, 20 ms CPU time, 3 ms GPU time; longest copy 2 ms at 1234.567 µs",
	}
	if !slices.Equal(f.Evidence, want) {
		t.Errorf("got  %q\nwant %q", f.Evidence, want)
	}
	if !strings.Contains(rule.Text(f.Next[0]), "cudaMallocHost") || !strings.Contains(rule.Text(f.Next[0]), "non_blocking=True") {
		t.Errorf("advice %q", texts(f.Next))
	}
}

// TestPageableAdvice: who reads results back is told to do so less often first.
func TestPageableAdvice(t *testing.T) {
	for name, want := range map[string]string{pageableToDevice: "pin-for-async", toPageable: "read-back-less"} {
		s := one(100, 0, 0)
		s.CopyCalls = []summary.CopyCall{asked(name, "cudaMemcpyAsync", false, 60, 50), asked(pageableToDevice, "cudaMemcpyAsync", true, 20, 0)}
		if f := find(t, Judge(s, rule.DefaultThresholds()), rule.PageableCopies); f.Next[0].ID != want || !strings.Contains(strings.Join(texts(f.Next), " "), "cudaMallocHost") {
			t.Errorf("%s: advice %q", name, texts(f.Next))
		}
	}
}

// TestToldWithIdle: where idle time is over its limit, what made the host late is
// evidence there, and its advice comes first if it explains most of it.
func TestToldWithIdle(t *testing.T) {
	for _, tc := range []struct {
		lost  int64 // of 400 ms of idle time
		first bool  // it is the cause, and has the finding
		want  string
	}{
		{200, true, "without these calls: up to 50.0% less idle time (200 ms of 400 ms)"},
		{199, false, "GPU idle after synchronizing calls: 19.9% of the window (199 ms of 1 s); without these calls: up to 49.8% less idle time (199 ms of 400 ms)"},
		{100, false, "GPU idle after synchronizing calls: 10.0% of the window (100 ms of 1 s); without these calls: up to 25.0% less idle time (100 ms of 400 ms)"},
		{49, false, ""},
	} {
		s := one(400, 0, 0)
		s.Syncs = []summary.Sync{{HostNS: 300 * ms, LostNS: tc.lost * ms}}
		s.Idle = []summary.Idle{{Owner: summary.OwnerLaunch, NS: 400 * ms, Count: 1000, MaxNS: ms / 2}}
		r := Judge(s, rule.DefaultThresholds())
		id, other := rule.GPUIdle, rule.SyncCalls
		if tc.first {
			id, other = other, id
		}
		f := find(t, r, id)
		if slices.Contains(rulesOf(r), other) || r.Verdict.Rule != id || r.Verdict.Bound != "host" {
			t.Errorf("%d ms: findings %q, decided by %s", tc.lost, rulesOf(r), r.Verdict.Rule)
		}
		if tc.want == "" {
			if all := strings.Join(f.Evidence, " ") + strings.Join(texts(f.Next), " "); strings.Contains(all, "synchroniz") {
				t.Errorf("%d ms are told: %+v", tc.lost, f)
			}
			continue
		}
		// What replaces the finding of the part begins with the share of the part. Other
		// causes follow the evidence of the part.
		if replaces := strings.HasPrefix(f.Evidence[0], "GPU idle: 40.0%"); len(f.Evidence) < 2 || f.Evidence[1] != tc.want || replaces != tc.first {
			t.Errorf("%d ms: evidence %q\nwant %q", tc.lost, f.Evidence, tc.want)
		}
		if first := f.Next[0].ID == "remove-synchronization"; first != tc.first || !slices.Contains(ids(f.Next), "remove-synchronization") {
			t.Errorf("%d ms: advice %q", tc.lost, texts(f.Next))
		}
	}
}

// TestToldWithCopies: where exposed copies are over their limit, what asked for
// a quarter of the copies or more is reported there, and pinned memory is advised
// once.
func TestToldWithCopies(t *testing.T) {
	story := func(device int64) Result {
		s := one(0, 0, 400)
		s.Copies = []summary.Copy{
			{Name: pageableToDevice, Class: "copy", Count: 1, TotalNS: device * ms},
			{Name: withinDevice, Class: "copy", Count: 1, TotalNS: (400 - device) * ms},
		}
		row := asked(pageableToDevice, "cudaMemcpyAsync", true, 60, 0)
		row.Count, row.TotalNS = 1, device*ms
		s.CopyCalls = []summary.CopyCall{row}
		return Judge(s, rule.DefaultThresholds())
	}
	const line = "CPU blocked in pageable copies: 6.0% of the window (60 ms of 1 s)"
	r := story(200)
	f := find(t, r, rule.ExposedCopies)
	if slices.Contains(rulesOf(r), rule.PageableCopies) || f.Evidence[0] != line || f.Next[0].ID != "pin-for-async" {
		t.Errorf("%q: %+v", rulesOf(r), f)
	}
	if slices.ContainsFunc(ids(f.Next), func(id string) bool { return strings.HasPrefix(id, "copy-pinned") }) {
		t.Errorf("pinned memory is advised twice: %q", texts(f.Next))
	}
	f = find(t, story(100), rule.ExposedCopies)
	if !slices.Contains(f.Evidence, line) || !strings.Contains(rule.Text(f.Next[0]), ".contiguous()") {
		t.Errorf("a quarter of the copies: %+v", f)
	}
	if r := story(99); slices.Contains(find(t, r, rule.ExposedCopies).Evidence, line) || slices.Contains(rulesOf(r), rule.PageableCopies) {
		t.Errorf("under a quarter of the copies: %+v", r)
	}
}
