package judge

import (
	"fmt"
	"strings"
	"testing"

	"assay/analyze"
	"assay/judge/rule"
	"assay/summary"
	"assay/trace"
)

// TestRulesOfTraces takes each rule from a trace to its finding.
//
//	time     0            300      450  540 550          1000
//	host     L (ahead)    [waits.....]   L
//	device   [k k k k k             ]       [k k k k k  ]
//
// The window is 1000, and 100 of it are idle: too little for a finding of its
// own, and all of it follows a call that blocked the CPU from 300 to 455. One of
// 30 chunks is 33.334, so low are those from 433.342 (busy for 16.658), 466.676
// and 500.010, and not that from 533.344 (busy for 16.678).
func TestRulesOfTraces(t *testing.T) {
	const us, tenMS = 1, 10_000 // how many microseconds a unit of the picture is
	for _, tc := range []struct {
		rule       string
		unit       int
		call, copy string
		title      string
	}{
		{rule.SyncCalls, us, "cudaStreamSynchronize", "",
			"GPU idle after synchronizing calls: 10.0% of the window (100 µs of 1 ms); limit 5%"},
		{rule.SyncCalls, us, "hipDeviceSynchronize", "",
			"GPU idle after synchronizing calls: 10.0% of the window (100 µs of 1 ms); limit 5%"},
		{rule.SyncCopies, us, "cudaMemcpy", "Memcpy DtoH (Device -> Pinned)",
			"CPU blocked in synchronous copies: 15.5% of the window (155 µs of 1 ms); limit 5%"},
		{rule.PageableCopies, us, "cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)",
			"CPU blocked in pageable copies: 15.5% of the window (155 µs of 1 ms); limit 5%"},
		{rule.SyncMemsets, us, "cudaMemset", "Memset (Managed)",
			"CPU blocked in synchronous memsets: 15.5% of the window (155 µs of 1 ms); limit 5%"},
		{rule.LongGaps, tenMS, "cudaEventSynchronize", "",
			"Gaps of 500 ms and longer: 10.0% of the window (1 s of 10 s); limit 5%"},
		{rule.LowUtilization, us, "cudaEventSynchronize", "",
			"GPU time utilization under 50%: 10.0% of the window (100 µs of 1 ms); limit 10%"},
	} {
		tr, err := trace.Read(strings.NewReader(held(tc.unit, tc.call, tc.copy)), "in", analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		r := Judge(analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions()), rule.DefaultThresholds())
		if f := find(t, r, tc.rule); f.Title != tc.title {
			t.Errorf("%s:\ngot  %s\nwant %s", tc.call, f.Title, tc.title)
		}
		for _, f := range r.Findings {
			if holds := strings.Contains(f.Title, "CPU blocked"); holds && f.Rule != tc.rule {
				t.Errorf("%s: a finding of %s too: %s", tc.call, f.Rule, f.Title)
			}
		}
	}
}

// held returns the trace of the picture as JSON. Of a copy or memset the last
// microsecond before 450 is on another stream, beside compute.
func held(unit int, call, copied string) string {
	var events []string
	add := func(cat, name string, pid, tid, start, dur, correlation int) {
		events = append(events, fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":%d,"tid":%d,"ts":%d,"dur":%d,"args":{"device":0,"stream":%[4]d,"correlation":%[7]d,"bytes":4}}`,
			cat, name, pid, tid, start*unit, dur*unit, correlation))
	}
	for i := range 10 {
		start, launched := 90*i, -100+i
		if i >= 5 {
			start, launched = start+100, 540+i-5
		}
		add("cuda_runtime", "cudaLaunchKernel", 1, 1, launched, 1, i+1)
		add("kernel", "k", 0, 7, start, 90, i+1)
	}
	add("cuda_runtime", call, 1, 1, 300, 155, 99)
	if copied != "" {
		add(map[bool]string{false: "gpu_memcpy", true: "gpu_memset"}[strings.HasPrefix(copied, "Memset")], copied, 0, 8, 449, 1, 99)
	}
	return "[" + strings.Join(events, ",") + "]"
}
