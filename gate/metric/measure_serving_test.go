package metric

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"assay/summary"
)

// benchmarkOf returns a result with settings, written as "request_rate=4 tp_size=2", its p99 TTFT and mean ITL
// in ms, and its output tokens per second.
func benchmarkOf(settings string, ttft, itl, tokens float64) summary.Benchmark {
	b := summary.Benchmark{Producer: "bench", Settings: map[string]string{}}
	for _, f := range strings.Fields(settings) {
		name, value, _ := strings.Cut(f, "=")
		b.Settings[name] = value
	}
	b.Metrics = []summary.Figure{{Metric: "serving.ttft", Stat: "p99", Value: ttft * 1e6}, {Metric: "serving.itl", Stat: "mean", Value: itl * 1e6},
		{Metric: "throughput.output_tokens", Value: tokens}}
	return b
}

// byRate is a sweep over the request rate, whose lowest rate was measured cold and again warm, in the order of a
// script that goes from high to low.
func byRate() []summary.Benchmark {
	return []summary.Benchmark{
		benchmarkOf("request_rate=inf", 9000, 30, 900), benchmarkOf("request_rate=12.0", 700, 20, 850),
		benchmarkOf("request_rate=6", 300, 15, 600), benchmarkOf("request_rate=3", 280, 9, 300), benchmarkOf("request_rate=3.0", 100, 8, 310),
	}
}

// TestSettings: a selector chooses among the results of a sweep; of several the worst counts. A selector that
// matches none names the values that there are.
func TestSettings(t *testing.T) {
	concurrency := []summary.Benchmark{
		benchmarkOf("max_concurrency=8 server_info.tp_size=1 dataset_name=random", 90, 5, 100), benchmarkOf("max_concurrency=8 server_info.tp_size=4 dataset_name=random", 40, 2, 380),
		benchmarkOf("max_concurrency=64 server_info.tp_size=1 dataset_name=sharegpt", 800, 12, 500), benchmarkOf("max_concurrency=64 server_info.tp_size=4 dataset_name=sharegpt", 210, 4, 1900)}
	for _, tc := range []struct {
		list       []summary.Benchmark
		gate, want string
	}{
		{byRate(), "serving.ttft_p99{request_rate=6}", "300 ms, as a benchmark reported it"},
		{byRate(), "serving.ttft_p99{request_rate=6.00}", "300 ms, as a benchmark reported it"},
		{byRate(), "serving.ttft_p99{request_rate=3}", "280 ms, the worst of 2 results of benchmarks"},
		{byRate(), "serving.ttft_p99{request_rate=inf}", "9 s, as a benchmark reported it"},
		{byRate(), "serving.ttft_p99{request_rate<=6}", "300 ms, the worst of 3 results of benchmarks"},
		{byRate(), "serving.ttft_p99{request_rate<6}", "280 ms, the worst of 2 results of benchmarks"},
		{byRate(), "throughput.output_tokens{request_rate>3, request_rate<inf}", "600, the worst of 2 results of benchmarks"},
		{byRate(), "serving.ttft_p99{request_rate=*}", "9 s, the worst of 5 results of benchmarks"},
		{byRate(), "serving.ttft_p99{request_rate=4}", "no result of a benchmark has request_rate=4; there is request_rate inf, 12.0, 6, 3"},
		{byRate(), "serving.ttft_p99{request_rate>=13, request_rate<inf}", "no result of a benchmark has request_rate<inf with request_rate>=13; there is request_rate inf"},
		{byRate(), "serving.ttft_p99{batch=4}", "no result of a benchmark has batch=4; none states its batch; they differ in request_rate (inf, 12.0, 6, 3)"},
		{byRate(), "serving.ttft_p50{request_rate=6}", "no result of a benchmark with median serving.ttft"},
		{byRate(), "requests.queued{request_rate=6}", "no result of a benchmark with requests.queued"},
		{concurrency, "serving.ttft_p99{concurrency=64}", "800 ms, the worst of 2 results of benchmarks"},
		{concurrency, "serving.ttft_p99{concurrency=64, tp=4}", "210 ms, as a benchmark reported it"},
		{concurrency, "serving.ttft_p99{tp=4}", "210 ms, the worst of 2 results of benchmarks"},
		{concurrency, "serving.ttft_p99{dataset=rand*}", "90 ms, the worst of 2 results of benchmarks"},
		{concurrency, "serving.ttft_p99{dataset=sharegpt, concurrency=8}", "no result of a benchmark has concurrency=8 with dataset=sharegpt; there is concurrency 64"},
		{nil, "serving.ttft_p99{request_rate=4}", "no result of a benchmark with p99 serving.ttft"},
	} {
		if got := measureText(t, &summary.Summary{Benchmarks: tc.list}, tc.gate); got != tc.want {
			t.Errorf("%s is %q, want %q", tc.gate, got, tc.want)
		}
	}
}

// TestCapacity: the highest load within all limits is named, with the reason why not the next one.
func TestCapacity(t *testing.T) {
	by := func(setting string, values ...float64) (out []summary.Benchmark) {
		for i := 0; i < len(values); i += 2 {
			out = append(out, benchmarkOf(fmt.Sprintf("%s=%g", setting, values[i]), values[i+1], 1, 10))
		}
		return out
	}
	lost := by("batch_size", 1, 10, 2, 20, 4, 30)
	lost[2].Metrics = lost[2].Metrics[1:]
	grid := by("request_rate", 1, 10, 2, 20)
	for _, b := range by("request_rate", 1, 5, 2, 6, 4, 9) {
		b.Settings["tp_size"], b.Settings["server_info.tp_size"] = "2", "2"
		grid = append(grid, b)
	}
	for i := range grid[:2] {
		grid[i].Settings["server_info.tp_size"] = "1"
	}
	two := by("max_concurrency", 1, 10, 2, 20)
	for _, b := range by("max_concurrency", 1, 10, 2, 20) {
		b.Settings["dataset_name"] = "long"
		two = append(two, b)
	}
	for _, tc := range []struct {
		list         []summary.Benchmark
		limits, want string
		below        float64
	}{
		{byRate(), "ttft_p99<=300ms", "6, because ttft_p99 is 700 ms at request_rate 12.0", 12},
		{byRate(), "ttft_p99<300ms", "3, because ttft_p99 is 300 ms at request_rate 6", 6},
		{byRate(), "serving.ttft_p99<=1s, itl_mean<=10ms", "3, because itl_mean is 15 ms at request_rate 6", 6},
		{byRate(), "ttft_p99<=1s, throughput.output_tokens>=500", "12, because ttft_p99 is 9 s at request_rate inf", math.Inf(1)},
		{byRate(), "ttft_p99<=200ms", "0, because ttft_p99 is 280 ms at request_rate 3", 3}, // the cold run
		{byRate(), "ttft_p99<=10s", "12, and without a limit of the load the results are within the limits too", math.Inf(1)},
		{byRate(), "ttft_p99<=1s, request_rate<=6", "6, the highest measured load", math.Inf(1)},
		{by("max_concurrency", 32, 50, 8, 90, 16, 40), "ttft_p99<=60ms", "32, the highest measured load", math.Inf(1)}, // the first run was cold
		{by("batch_size", 64, 50, 8, 10), "ttft_p99<=20ms", "8, because ttft_p99 is 50 ms at batch 64", 64},
		{by("batch_size", 8, 10), "ttft_p99<=20ms", "the results are no sweep: there is no second load", 0},
		{byRate(), "ttft_p99<=1s, request_rate=6", "the results are no sweep: there is no second load", 0},
		{byRate(), "ttft_p99<=1s, request_rate=5", "no result of a benchmark has request_rate=5; there is request_rate inf, 12.0, 6, 3", 0},
		{by("server_info.tp_size", 1, 10, 2, 9), "ttft_p99<=20ms", "the results are no sweep over one load: they differ in tp (1, 2); select all but the load", 0},
		{grid, "ttft_p99<=8ms", "the results are no sweep over one load: they differ in request_rate (1, 2, 4), tp (1, 2); select all but the load", 0},
		{grid, "ttft_p99<=8ms, tp=2", "2, because ttft_p99 is 9 ms at request_rate 4", 4},
		{two, "ttft_p99<=15ms", "there are 2 sweeps: bench, bench dataset long; select one by a setting", 0},
		{two, "ttft_p99<=15ms, dataset=long", "1, because ttft_p99 is 20 ms at concurrency 2", 2},
		{lost, "ttft_p99<=1s", "the result at batch 4 has no p99 serving.ttft", 0},
		{byRate(), "e2e_p99<=1s", "no result of a benchmark with p99 serving.e2e", 0},
	} {
		m, sel, err := Parse("serving.capacity{" + tc.limits + "}")
		if err != nil {
			t.Errorf("%s: %v", tc.limits, err)
			continue
		}
		v, err := m.Measure(&summary.Summary{Benchmarks: tc.list}, sel)
		got := m.Text(v)
		if err != nil {
			got = err.Error()
		}
		if got != tc.want || v.Below != tc.below {
			t.Errorf("%s: %q below %g, want %q below %g", tc.limits, got, v.Below, tc.want, tc.below)
		}
		if a := (*Ambiguity)(nil); err != nil && errors.As(err, &a) != !strings.Contains(tc.want, "with p99") {
			t.Errorf("%s: %v can be skipped: %t", tc.limits, err, a == nil)
		}
	}
}

// TestSettingErrors: a selector that can match nothing is rejected when it is read.
func TestSettingErrors(t *testing.T) {
	for gate, want := range map[string]string{
		"serving.capacity":                              "serving.capacity needs a limit: write serving.capacity{ttft_p99<=500ms}",
		"serving.capacity{concurrency=4}":               "serving.capacity needs a limit: write serving.capacity{ttft_p99<=500ms}",
		"serving.capacity{ttft_p99<=500}":               `selector ttft_p99: duration "500": want a number and one of ns, us, ms, s, min, h`,
		"serving.capacity{ttft_p99=500ms}":              `selector "ttft_p99=500ms": want a limit with <=, >=, < or >`,
		"serving.capacity{ttft<=500ms}":                 `serving.capacity has no selector "ttft", want a limit of a benchmark's number, as ttft_p99<=500ms, or one of request_rate, `,
		"serving.capacity{ttft_p99<=1s, ttft_p99<=2s}":  `selector "ttft_p99" is given twice`,
		"serving.ttft_p99{request_rate=4, phase=x}":     "selectors request_rate and phase: request_rate selects results of benchmarks, which have no phase",
		"serving.ttft_p99{source=log, concurrency=4}":   "selectors concurrency and source=log: concurrency selects results of benchmarks",
		"serving.ttft_p99{concurrency<=many}":           `selector concurrency: "many" is not a number`,
		"serving.ttft_p99{place<=4}":                    `selector "place<=4": place takes "=" only`,
		"kernels.total{category<=gemm}":                 `selector "category<=gemm": category takes "=" only`,
		"train.loss{request_rate=4}":                    `train.loss has no selector "request_rate", want one of phase, place, source`,
		"serving.ttft_p99{request_rate=4, rate=5}":      `serving.ttft_p99 has no selector "rate", want one of phase, place, source, request_rate, concurrency, batch, tp, `,
		"serving.ttft_p99{request_rate}":                `selector: want key=value: at character 1: "request_rate" is no condition`,
		"serving.ttft_p99{request_rate=}":               `selector "request_rate=": want key=value`,
		"serving.ttft_p99{=4}":                          `selector: want key=value: at character 1: want a column, not "=4"`,
		"serving.capacity{=4}":                          `selector: want key=value: at character 1: want a column, not "=4"`,
		"serving.capacity{ttft_p99<=500ms, step=4}":     `serving.capacity has no selector "step", want a limit`,
		"serving.capacity{kv_cache.usage<=120%}":        `selector kv_cache.usage: share "120%" is over 100%`,
		"serving.capacity{ttft_p99<=1s, ttft_p99>=-1s}": `selector ttft_p99: "-1s" is below 0`,
	} {
		if _, _, err := Parse(gate); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", gate, err, want)
		}
	}
	for _, gate := range []string{"serving.capacity{ttft_p99<=500ms, tpot_p50<40ms, dataset=a*}", "serving.ttft_p99{request_rate>=4, request_rate<=8}"} {
		if m, sel, err := Parse(gate); err != nil || m.Name+sel.String() != gate {
			t.Errorf("%s is read as %s%s, %v", gate, m.Name, sel, err)
		}
	}
}

// TestScalingEfficiency: throughput per GPU relative to that on the fewest GPUs, by the names of logs or by the
// tensor-parallel size of results.
func TestScalingEfficiency(t *testing.T) {
	logs := &summary.Summary{}
	for i, n := range []int{8, 2, 4} { // 10 on two GPUs is 5 on each; 18 on four 4.5, 24 on eight 3
		rate := map[int]float64{2: 10, 4: 18, 8: 24}[n]
		logs.Inputs = append(logs.Inputs, summary.Input{Path: fmt.Sprintf("llama-%d-gpus.log", n)})
		logs.Series = append(logs.Series, series(i, "throughput.samples", "", rate-1, rate, rate+1))
	}
	// 100 on one GPU; 150 on two are 75 on each, and 320 on four 80.
	sizes := &summary.Summary{Benchmarks: []summary.Benchmark{benchmarkOf("server_info.tp_size=4", 1, 1, 320), benchmarkOf("server_info.tp_size=1", 1, 1, 100), benchmarkOf("server_info.tp_size=2", 1, 1, 150)}}
	for _, tc := range []struct {
		s          *summary.Summary
		gate, want string
	}{
		{logs, "scaling.efficiency", "60.0%, on 8 GPUs, relative to 2"},
		{logs, "scaling.efficiency{gpus=4}", "90.0%, on 4 GPUs, relative to 2"},
		{logs, "scaling.efficiency{gpus=16}", "no run on 16 GPUs; there is gpus 2 4 8"},
		{sizes, "scaling.efficiency", "80.0%, on 4 GPUs, relative to 1"},
		{sizes, "scaling.efficiency{gpus=2}", "75.0%, on 2 GPUs, relative to 1"},
		{sizes, "scaling.efficiency{tp<=2}", "75.0%, on 2 GPUs, relative to 1"},
		{sizes, "scaling.efficiency{dataset=x}", "no result of a benchmark has dataset=x; none states its dataset; they differ in tp (4, 1, 2)"},
		{&summary.Summary{Benchmarks: byRate()}, "scaling.efficiency", "no runs of one program on different numbers of GPUs, which the names of their logs must state (gpus_8.log), and no results that differ in tp only"},
	} {
		if got := measureText(t, tc.s, tc.gate); got != tc.want {
			t.Errorf("%s is %q, want %q", tc.gate, got, tc.want)
		}
	}
}
