package bench

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"assay/internal/textscan"
	"assay/logs"
)

func textLog(t testing.TB, text string) *logs.Log {
	t.Helper()
	f := NewFinder("log", logs.Limits{})
	if _, err := textscan.Scan(strings.NewReader(text), f); err != nil {
		t.Fatal(err)
	}
	return f.Log()
}

func jsonLog(t testing.TB, text string) *logs.Log {
	t.Helper()
	if !Sniff([]byte(text)) {
		t.Errorf("Sniff says no: %s", text)
	}
	log, err := Read(strings.NewReader(text), "log", logs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// A want is a number that a result has.
type want struct {
	metric, stat string
	value        float64
}

func check(t *testing.T, b *logs.Benchmark, producer string, wants ...want) {
	t.Helper()
	if b.Producer != producer {
		t.Errorf("the producer is %q, want %q", b.Producer, producer)
	}
	for _, w := range wants {
		if got, ok := b.Figure(w.metric, w.stat); !ok || !near(got, w.value) {
			t.Errorf("%s: %s %s is %v, %v, want %v", producer, w.stat, w.metric, got, ok, w.value)
		}
	}
}

func TestProducers(t *testing.T) {
	for _, tc := range []struct {
		name, json string
		wants      []want
	}{
		{"SGLang bench_serving", `{"backend":"sglang","request_rate":Infinity,"duration":2.5,"completed":7,"output_throughput":12.5,"median_ttft_ms":40.5,"p99_itl_ms":9,"accept_length":null,"server_info":{"tp_size":8,"x":[1,{"y":2}]},"ttfts":[0.1,NaN]}`,
			[]want{{"serving.ttft", "median", 40.5e6}, {"serving.itl", "p99", 9e6}, {"serving.duration", "", 2.5e9}, {"throughput.output_tokens", "", 12.5}, {"requests.completed", "", 7}}},
		{"vLLM bench serve", `[{"model_id":"m","request_rate":"inf","completed":3,"request_throughput":0.5,"request_goodput:":null,"output_throughput":4,"p99.9_e2el_ms":7}]`,
			[]want{{"serving.e2e", "p99.9", 7e6}, {"throughput.requests", "", 0.5}}},
		{"vLLM bench throughput", `{"elapsed_time": 10.5, "num_requests": 21, "total_num_tokens": 2100, "requests_per_second": 2.0, "tokens_per_second": 200.0}`,
			[]want{{"throughput.total_tokens", "", 200}, {"serving.duration", "", 10.5e9}}},
		{"vLLM bench latency", `{"avg_latency": 1.5, "latencies": [1.4, 1.6], "percentiles": {"10": 1.41, "50": 1.5, "99": 1.6}}`,
			[]want{{"serving.e2e", "mean", 1.5e9}, {"serving.e2e", "p99", 1.6e9}}},
		{"SGLang bench_one_batch", `{"run_name":"a","batch_size":4,"input_len":16,"output_len":8,"prefill_latency":0.05,"prefill_throughput":1280,"median_decode_latency":0.01,"median_decode_throughput":400,"total_latency":0.13,"overall_throughput":738.5}`,
			[]want{{"step.prefill_time", "", 0.05e9}, {"step.decode_time", "median", 0.01e9}, {"throughput.total_tokens", "", 738.5}}},
		{"SGLang bench_offline_throughput", `{"backend":"engine","successful_requests":10,"total_latency":4.2,"total_input_tokens":70,"total_output_tokens":80,"request_throughput":2.38,"input_throughput":16.7,"output_throughput":19.0,"total_throughput":35.7}`,
			[]want{{"throughput.output_tokens", "", 19}, {"serving.duration", "", 4.2e9}}},
		{"llmperf", `{"model":"m","num_concurrent_requests":5,"results_ttft_s_mean":0.25,"results_ttft_s_quantiles_p99":0.45,"results_number_input_tokens_min":"550","results_num_completed_requests_per_min":30}`,
			[]want{{"serving.ttft", "p99", 0.45e9}, {"tokens.request_input", "min", 550}, {"throughput.requests", "", 0.5}}},
		{"GenAI-Perf", `{"request_throughput":{"unit":"requests/sec","avg":2.5},"request_latency":{"unit":"ms","avg":100,"p99":180,"std":9},"time_to_first_token":{"unit":"ms","p50":11},"output_token_throughput":{"unit":"tokens/sec","avg":640},"input_config":{"model_names":["m"]}}`,
			[]want{{"serving.e2e", "p99", 180e6}, {"serving.ttft", "p50", 11e6}, {"throughput.output_tokens", "", 640}}},
		{"TensorRT-LLM trtllm-bench", `{"world_info":{"tp_size":2},"performance":{"total_latency_ms":1500,"request_throughput_req_s":3,"request_latency_percentiles_ms":{"p99":90}},"streaming_metrics":{"avg_ttft_ms":12}}`,
			[]want{{"serving.duration", "", 1.5e9}, {"serving.e2e", "p99", 90e6}, {"serving.ttft", "mean", 12e6}}},
		{"k6", `{"metrics":{"http_reqs":{"values":{"rate":6.5,"count":856}},"http_req_duration":{"values":{"avg":10,"med":9,"p(95)":20}}}}`,
			[]want{{"serving.e2e", "p95", 20e6}, {"serving.e2e", "median", 9e6}, {"throughput.requests", "", 6.5}}},
	} {
		log := jsonLog(t, tc.json)
		if len(log.Benchmarks) != 1 || len(log.Issues) != 0 {
			t.Errorf("%s: %+v", tc.name, log)
			continue
		}
		check(t, &log.Benchmarks[0], tc.name, tc.wants...)
	}
	if got := jsonLog(t, `{"backend":"sglang","request_rate":Infinity,"duration":1,"completed":1,"output_throughput":1,"median_ttft_ms":1,"server_info":{"tp_size":8}}`).Benchmarks[0]; got.Setting("request_rate") != "inf" || got.Setting("server_info.tp_size") != "8" {
		t.Errorf("settings are %+v", got.Settings)
	}
}

// TestNotMeasured: a value that stands for a number that was not measured is left out.
func TestNotMeasured(t *testing.T) {
	// Trap: missing is not zero (0.0 stands for a value that was not measured).
	log := jsonLog(t, `{"batch_size":1,"input_len":2,"output_len":3,"latency":0.5,"output_throughput":6,"overall_throughput":10,"last_gen_throughput":0.0}`)
	b := &log.Benchmarks[0]
	check(t, b, "SGLang bench_one_batch_server", want{"serving.e2e", "", 0.5e9})
	if v, ok := b.Figure("throughput.last_tokens", ""); ok {
		t.Errorf("the last throughput is %v", v)
	}
}

const table = `
============ Serving Benchmark Result ============
Backend:                                 sglang
Traffic request rate:                    inf
Max request concurrency:                 not set
Successful requests:                     1,996
Request throughput (req/s):              %R
----------------End-to-End Latency----------------
Mean E2E Latency (ms):                   1979.33
---------------Time to First Token----------------
P99 TTFT (ms):                           13317.90
Median TPOT (ms):                        -0.00
==================================================
`

// TestSeveralTables: each table is a result, and the first is not taken for the others.
func TestSeveralTables(t *testing.T) {
	// Trap: cold first table, and thousands.
	text := strings.Replace(table, "%R", "3.80", 1) + "INFO: more\n" + strings.Replace(table, "%R", "5.20", 1)
	text += "(Bench pid=7) " + strings.ReplaceAll(strings.TrimSpace(strings.Replace(table, "%R", "6.10", 1)), "\n", "\n(Bench pid=7) ")
	log := textLog(t, strings.ReplaceAll(text, "\n", "\r\n"))
	if len(log.Benchmarks) != 3 {
		t.Fatalf("%d results", len(log.Benchmarks))
	}
	for i, rate := range []float64{3.8, 5.2, 6.1} {
		b := &log.Benchmarks[i]
		check(t, b, sglang, want{"throughput.requests", "", rate}, want{"serving.ttft", "p99", 13317.9e6}, want{"requests.completed", "", 1996}, want{"serving.tpot", "median", 0})
		if b.Setting("Max request concurrency") != "not set" {
			t.Errorf("settings are %+v", b.Settings)
		}
	}
	if log.Benchmarks[0].Line != 2 {
		t.Errorf("it begins at line %d", log.Benchmarks[0].Line)
	}
}

// TestCutTable: a table that ends early keeps what it has, and lines of others between its
// rows are not part of it.
func TestCutTable(t *testing.T) {
	// Trap: several kinds in one file (a line of the server between rows).
	log := textLog(t, "======= Serving Benchmark Result =======\nSuccessful requests:   5\n[2026-01-06 10:00:00 DP0] Decode batch, #running-req: 3\nMean TTFT (ms):   7.5")
	if len(log.Benchmarks) != 1 {
		t.Fatalf("%+v", log)
	}
	check(t, &log.Benchmarks[0], vllmServe, want{"serving.ttft", "mean", 7.5e6})
	if n := len(log.Benchmarks[0].Metrics); n != 2 {
		t.Errorf("it has %d numbers", n)
	}
	if log := textLog(t, "======= Serving Benchmark Result =======\nno numbers\n==========\n"); len(log.Benchmarks) != 0 {
		t.Errorf("%+v", log.Benchmarks)
	}
}

// TestWarmup: the block of the warm-up of bench_one_batch is no result.
func TestWarmup(t *testing.T) {
	// Trap: first iterations (the block of the warm-up).
	log := textLog(t, `Warmup ...
Prefill. latency: 0.31000 s, throughput:  200.00 token/s
Decode.  median latency: 0.02000 s, median throughput:   50.00 token/s
Total. latency:  0.665 s, throughput:  100.00 token/s
Benchmark ...
Prefill. latency: 0.05127 s, throughput: 1500.50 token/s
Decode 0. Batch size: 32, latency: 0.01098 s, throughput:   2914.39 token/s
Decode.  median latency: 0.01079 s, median throughput:   2965.71 token/s
Total. latency:  0.386 s, throughput:  23875.13 token/s
`)
	if len(log.Benchmarks) != 1 {
		t.Fatalf("%+v", log.Benchmarks)
	}
	b := &log.Benchmarks[0]
	check(t, b, oneBatch, want{"step.prefill_time", "", 0.05127e9}, want{"step.decode_time", "median", 0.01079e9}, want{"throughput.total_tokens", "", 23875.13})
	if len(b.Metrics) != 6 || b.Setting("batch_size") != "32" {
		t.Errorf("%+v", b)
	}
}

func TestOtherTables(t *testing.T) {
	for _, tc := range []struct {
		producer, text string
		wants          []want
	}{
		{"SFLLM benchmark", "--- Benchmark Results ---\nTotal Requests: 100\nSuccessful: 99 (99.0%)\nFailed: 1 (1.0%)\n\nLatency (seconds):\n  Min: 0.5\n  Avg: 1.1\n  Std Dev: 0.25\n\nThroughput: 17.61 requests/second\n",
			[]want{{"requests.completed", "", 99}, {"serving.e2e", "mean", 1.1e9}, {"serving.e2e", "std", 0.25e9}, {"throughput.requests", "", 17.61}}},
		{"vLLM bench throughput", "Throughput: 3.10 requests/s, 1200.50 total tokens/s, 620.25 output tokens/s\n",
			[]want{{"throughput.requests", "", 3.1}, {"throughput.total_tokens", "", 1200.5}, {"throughput.output_tokens", "", 620.25}}},
		{"vLLM bench latency", "Avg latency: 2.5 seconds\n10% percentile latency: 2.4 seconds\n99% percentile latency: 2.75 seconds\nother\n",
			[]want{{"serving.e2e", "mean", 2.5e9}, {"serving.e2e", "p10", 2.4e9}, {"serving.e2e", "p99", 2.75e9}}},
		{"MLPerf loadgen", "====\nMLPerf Results Summary\n====================\nScenario : Server\nSamples per second: 0.5\nResult is : VALID\n\n====================\nAdditional Stats\n====================\nMean latency (ns)                : 300\n99.90 percentile latency (ns)   : 605\n",
			[]want{{"throughput.samples", "", 0.5}, {"serving.e2e", "mean", 300}, {"serving.e2e", "p99.9", 605}}},
		{"AIPerf", "   NVIDIA AIPerf | LLM Metrics\n┏━━━┳━━┓\n┃ Metric ┃ avg ┃ p99 ┃\n┡━━━╇━━┩\n│ Request Latency (ms) │ 3,651.23 │ 5,707.95 │\n│ Output Token Throughput (tokens/sec) │ 287.44 │ N/A │\n│ Goodput (requests/sec) │ 0.14 │ N/A │\n└───┴──┘\n",
			[]want{{"serving.e2e", "p99", 5707.95e6}, {"serving.e2e", "mean", 3651.23e6}, {"throughput.output_tokens", "", 287.44}, {"serving.goodput", "", 0.14}}},
		{"TensorRT-LLM trtllm-bench", "===========================================================\n= PERFORMANCE OVERVIEW \n===========================================================\nRequest Throughput (req/sec):                     43.2\nTotal Latency (ms):                               23000.5\n",
			[]want{{"throughput.requests", "", 43.2}, {"serving.duration", "", 23000.5e6}}},
	} {
		log := textLog(t, "before\n"+tc.text)
		if len(log.Benchmarks) != 1 {
			t.Errorf("%s: %d results", tc.producer, len(log.Benchmarks))
			continue
		}
		check(t, &log.Benchmarks[0], tc.producer, tc.wants...)
	}
}

// TestUnknownObjects: objects of other programs are no results, and are counted among
// results.
func TestUnknownObjects(t *testing.T) {
	for _, text := range []string{"", "{", "[1,2]", `{"loss": 1}`, `{"traceEvents":[{"ph":"X"}]}`, "hello", `{"backend":"nccl","duration":3}`} {
		if Sniff([]byte(text)) {
			t.Errorf("Sniff says yes: %s", text)
		}
	}
	log := jsonLog(t, `{"avg_latency":1,"percentiles":{"50":1}}`+"\n"+`{"loss":1}`+"\n"+`{"loss":2}`)
	if len(log.Benchmarks) != 1 || len(log.Issues) != 1 || log.Issues[0].Code != "benchmark-unknown" || log.Issues[0].Count != 2 {
		t.Errorf("%+v", log)
	}
}

// TestDamaged: results before the damage are kept, and the damage is an issue.
func TestDamaged(t *testing.T) {
	whole := `{"avg_latency":1,"percentiles":{"50":1}}` + "\n"
	log, err := Read(strings.NewReader(whole+"\x01"), "x", logs.Limits{})
	if err != nil || len(log.Benchmarks) != 1 || len(log.Issues) != 1 || log.Complete {
		t.Errorf("%v: %+v", err, log)
	}
	log, err = Read(strings.NewReader(whole+`{"avg_latency":`), "x", logs.Limits{})
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(log.Benchmarks) != 1 || log.Complete {
		t.Errorf("%v: %+v", err, log)
	}
	if _, err := Read(strings.NewReader(strings.Repeat(`{"a":`, 1000)), "x", logs.Limits{}); err == nil {
		t.Error("a deep object has no error")
	}
}

// TestLarge: memory does not depend on the length of a value or on the number of members.
func TestLarge(t *testing.T) {
	text := func() io.Reader {
		return io.MultiReader(strings.NewReader(`{"model_id":"m","completed":1,"request_throughput":2,"output_throughput":3,"generated_texts":["`),
			bytes.NewReader(bytes.Repeat([]byte(`ab\"`), 8<<20)), strings.NewReader(`"],"long":"`), bytes.NewReader(bytes.Repeat([]byte("x"), 8<<20)),
			strings.NewReader(`"`), bytes.NewReader(bytes.Repeat([]byte(`,"k":1`), 1<<20)), strings.NewReader(`}`))
	}
	var log *logs.Log
	allocated := testing.Benchmark(func(b *testing.B) {
		for range b.N {
			log, _ = Read(text(), "x", logs.Limits{})
		}
	}).AllocedBytesPerOp()
	if len(log.Benchmarks) != 1 {
		t.Fatalf("%+v", log.Issues)
	}
	check(t, &log.Benchmarks[0], vllmServe, want{"throughput.requests", "", 2})
	if allocated > 200<<20 { // input buffers included; the input has 46 MB and 1 M members
		t.Errorf("%d bytes were allocated", allocated)
	}
}

// TestMLLog: statistics of a training by step, and the numbers of loadgen.
func TestMLLog(t *testing.T) {
	log := textLog(t, ` 0: :::MLLOG {"namespace": "", "time_ms": 1759993689345, "event_type": "POINT_IN_TIME", "key": "tracked_stats", "value": {"train_step_time": 4.25, "reduced_train_loss": 12.5}, "metadata": {"lineno": 312, "step": 64.0}}
:::MLLOG {"time_ms": 1759993690570, "key": "tracked_stats", "value": {"train_step_time": 1.5}, "metadata": {"step": 128.0}}
:::MLLOG {"time_ms": 1759993691570, "key": "tracked_stats", "value": {"throughput": 86.5, "train_step_time": 0.75}, "metadata": {"step": 0}}
:::MLLOG {"key": "result_validity", "value": "VALID", "time_ms": 1.5}
:::MLLOG {"key": "result_mean_latency_ns", "value": 33431331185, "time_ms": 1.5}
:::MLLOG {"key": "result_99.90_percentile_latency_ns", "value": 60592566749, "time_ms": 1.5}
`)
	s := &log.Series[0]
	if s.Metric.Name != "step.time" || len(s.Points.Value) != 2 || s.Points.Value[0] != 4.25e9 || s.Points.Step[1] != 128 || s.Points.Time[0] != 1759993689345e6 {
		t.Errorf("%+v", s)
	}
	if len(log.Benchmarks) != 1 {
		t.Fatalf("%+v", log.Benchmarks)
	}
	check(t, &log.Benchmarks[0], mlperf, want{"serving.e2e", "mean", 33431331185}, want{"serving.e2e", "p99.9", 60592566749})
	if log.Benchmarks[0].Setting("Result is") != "VALID" {
		t.Errorf("%+v", log.Benchmarks[0].Settings)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"avg_latency":1,"percentiles":{"50":NaN},"a":[[{"b":"\"\\"}]]}`))
	f.Add([]byte(`[{"model_id":"m","completed":1e999,"request_throughput":-Infinity,"output_throughput":3}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		Sniff(text)
		log, _ := Read(bytes.NewReader(text), "x", logs.Limits{})
		for i := range log.Benchmarks {
			if len(log.Benchmarks[i].Metrics) > maxValues {
				t.Error("too many numbers")
			}
		}
	})
}

func FuzzFinder(f *testing.F) {
	f.Add([]byte(table))
	f.Add([]byte("NVIDIA AIPerf | LLM Metrics\n┃ Metric ┃ avg ┃\n│ Request Latency (ms) │ 3,651.23 │ 1 │\n"))
	f.Add([]byte("Avg latency: 1 seconds\n1% percentile latency: 1 seconds\nThroughput: 1 requests/s, 1 tokens/s\nBenchmark ...\nTotal. latency: 1 s\n"))
	f.Fuzz(func(t *testing.T, text []byte) { textLog(t, string(text)) })
}

// TestAnnouncedLoad: vLLM prints the load of a benchmark when it starts, and not in the table of its result. Each
// result has the load that was printed since the one before.
func TestAnnouncedLoad(t *testing.T) {
	run := func(head, rows string) string {
		return head + "  0%|          | 0/64 [00:00<?, ?it/s]\n============ Serving Benchmark Result ============\nSuccessful requests:      64\n" +
			rows + "Median TTFT (ms):         80.5\n==================================================\n"
	}
	text := run("Traffic request rate: 12.5\nBurstiness factor: 1.0 (Poisson process)\nMaximum request concurrency: None\n", "") +
		run("Traffic request rate: 3.0 RPS.\nMaximum request concurrency: 16\n", "Maximum request concurrency:  16\nRequest rate configured (RPS): 3.00\n") +
		run("(Bench pid=7) Traffic request rate: inf\n", "") +
		run("Traffic request rate: unknown\nThe Traffic request rate: 4\n", "") +
		run("Traffic request rate: 9\n", "Backend:   sglang\nTraffic request rate:   2.0\n")
	log := textLog(t, text)
	want := [][2]string{{"12.5", ""}, {"", "16"}, {"inf", ""}, {"", ""}, {"2.0", ""}}
	if len(log.Benchmarks) != len(want) {
		t.Fatalf("%d results, want %d", len(log.Benchmarks), len(want))
	}
	for i, w := range want {
		b := &log.Benchmarks[i]
		if got := [2]string{b.Setting("Traffic request rate"), b.Setting("Maximum request concurrency")}; got != w {
			t.Errorf("result %d: rate and concurrency are %q, want %q", i+1, got, w)
		}
	}
	if rate := log.Benchmarks[1].Setting("Request rate configured (RPS)"); rate != "3.00" {
		t.Errorf("the rate of the second result is %q", rate)
	}
}
