package bench

import (
	"fmt"
	"strings"
	"testing"

	"assay/internal/textscan"
	"assay/logs"
)

// k6Summary is a summary of k6 0.50, and k6Total one of k6 1.0.
const (
	k6Summary = `
     ✓ status is 200

     checks.........................: 100.00% ✓ 300      ✗ 0
     http_req_connecting............: avg=3.95ms   min=0s       med=0s       max=120.56ms p(90)=0s       p(95)=0s
   ✗ http_req_duration..............: avg=250ms    min=15.5ms   med=200ms    max=1m2s     p(90)=1.25s    p(95)=2s       p(99.9)=40s
       { expected_response:true }...: avg=1ms      min=1ms      med=1ms      max=1ms      p(90)=1ms      p(95)=1ms
     http_req_failed................: 1.50%   ✓ 3        ✗ 197
     http_req_waiting...............: avg=120.5ms  min=115µs    med=119ms    max=263.12ms p(90)=122.5ms  p(95)=123ms
     http_reqs......................: 200     6.5/s
     vus_max........................: 32      min=8      max=32
`
	k6Total = `  █ TOTAL RESULTS

    HTTP
    http_req_duration.......................................................: avg=90ms min=10ms med=80ms max=300ms p(90)=150ms p(95)=160ms
    http_req_failed.........................................................: 0.00%  0 out of 500
    http_reqs...............................................................: 500    49.5/s

    EXECUTION
    vus_max.................................................................: 5      min=5       max=5
`
)

func k6Log(t *testing.T, text string) *logs.Log {
	t.Helper()
	f := NewFinder("k6.txt", logs.Limits{})
	if _, err := textscan.Scan(strings.NewReader(text), f); err != nil {
		t.Fatal(err)
	}
	return f.Log()
}

// TestK6Summary: two summaries in one log, with the text of a server between their lines.
func TestK6Summary(t *testing.T) {
	log := k6Log(t, "run 1\n"+k6Summary+"\nGET http://x..: 200 OK\nrun 2\n"+k6Total)
	if len(log.Benchmarks) != 2 {
		t.Fatalf("%d results, want 2", len(log.Benchmarks))
	}
	for _, tc := range []struct {
		result       int
		metric, stat string
		want         float64
	}{
		{0, "serving.e2e", "mean", 250e6}, {0, "serving.e2e", "median", 200e6}, {0, "serving.e2e", "max", 62e9},
		{0, "serving.e2e", "p95", 2e9}, {0, "serving.e2e", "p99.9", 40e9}, {0, "serving.ttfb", "min", 115e3},
		{0, "throughput.requests", "", 6.5}, {0, "requests.completed", "", 200}, {0, "requests.failed_share", "", 0.015},
		{0, "serving.peak_concurrency", "", 32},
		{1, "serving.e2e", "median", 80e6}, {1, "throughput.requests", "", 49.5}, {1, "requests.failed_share", "", 0},
	} {
		b := &log.Benchmarks[tc.result]
		if got, ok := b.Figure(tc.metric, tc.stat); !ok || got < tc.want*(1-1e-12) || got > tc.want*(1+1e-12) {
			t.Errorf("result %d: %s %s is %v, want %v", tc.result, tc.metric, tc.stat, got, tc.want)
		}
	}
}

// TestNoK6: lines with dots that another program prints.
func TestNoK6(t *testing.T) {
	log := k6Log(t, "http_server........: started\ncpu_vus....: none of 3\nloading http_req_duration ...: 5\n  vusers.....: many\n")
	for _, b := range log.Benchmarks {
		t.Errorf("a result: %+v", b)
	}
}

// k6Request is a request in the JSON of k6, at 10:00:SECOND.
func k6Request(second string, ms float64) string {
	point := func(metric string, v float64) string {
		return fmt.Sprintf(`{"metric":"%s","type":"Point","data":{"time":"2026-03-02T10:00:%s+01:00","value":%g,"tags":{"status":"200","url":"http://u:hunter2@x/"}}}`+"\n", metric, second, v)
	}
	return point("http_reqs", 1) + point("http_req_duration", ms) + point("http_req_blocked", 1)
}

// TestK6Points: rates are of whole seconds, and a second without requests counts.
func TestK6Points(t *testing.T) {
	text := `{"type":"Metric","data":{"name":"http_reqs","type":"counter"},"metric":"http_reqs"}` + "\n"
	for _, r := range []struct {
		at string
		ms float64
	}{{"00.9", 10}, {"01.1", 20}, {"01.5", 30}, {"01.9", 40}, {"03.000001", 50}, {"04.1", 60}} {
		text += k6Request(r.at, r.ms)
	}
	if !SniffK6Points([]byte(text)) {
		t.Error("not recognized")
	}
	log, err := ReadK6Points(strings.NewReader(text), "k6.json", logs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range log.Series {
		got[s.Metric.Name] = fmt.Sprint(s.Points.Value)
		if strings.Contains(fmt.Sprint(s), "hunter2") {
			t.Error("the address of a request is kept")
		}
	}
	want := map[string]string{"serving.e2e": "[1e+07 2e+07 3e+07 4e+07 5e+07 6e+07]", "throughput.requests": "[3 0 1]"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("series %v, want %v", got, want)
	}
	for _, other := range []string{`{"metric":"loss","value":3}`, `[{"type":"Point"}]`, `{"type":"Feature","data":{}}`} {
		if SniffK6Points([]byte(other)) {
			t.Errorf("%s is taken for points of k6", other)
		}
	}
}

func FuzzK6Points(f *testing.F) {
	f.Add(k6Request("01.5", 3))
	f.Fuzz(func(t *testing.T, text string) {
		SniffK6Points([]byte(text))
		ReadK6Points(strings.NewReader(text), "f", logs.Limits{Memory: 16 << 20})
	})
}

// TestTrtllmBreakdown: the percentiles that trtllm-bench prints behind the overview.
func TestTrtllmBreakdown(t *testing.T) {
	log := k6Log(t, `===========================================================
= PERFORMANCE OVERVIEW 
===========================================================
Request Throughput (req/sec):                     20.5
Per User Output Throughput [w/ ctx] (tps/user):   41.0
Total Latency (ms):                               3522.3

-- Request Latency Breakdown (ms) -----------------------

[Latency] P50    : 3120.5
[Latency] P99    : 3500.0
[Latency] MAXIMUM: 3520.0

-- Time-to-First-Token [TTFT] Breakdown (ms) -----------------------

[TTFT] P50    : 120.5
[OTHER] P50    : 7
`)
	if len(log.Benchmarks) != 1 {
		t.Fatalf("%d results", len(log.Benchmarks))
	}
	for k, want := range map[[2]string]float64{
		{"serving.e2e", "p50"}: 3120.5e6, {"serving.e2e", "p99"}: 3500e6, {"serving.e2e", "max"}: 3520e6, {"serving.ttft", "p50"}: 120.5e6,
		{"throughput.output_tokens_per_user", "mean"}: 41, {"throughput.requests", ""}: 20.5,
	} {
		if got, ok := log.Benchmarks[0].Figure(k[0], k[1]); !ok || got != want {
			t.Errorf("%v is %v, want %v", k, got, want)
		}
	}
}
