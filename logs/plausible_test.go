package logs

import (
	"slices"
	"strings"
	"testing"

	"assay/internal/diag"
)

// TestImpossibleValues: a value that cannot be true is in no statistic; one that only looks odd is.
func TestImpossibleValues(t *testing.T) {
	for name, test := range map[string]struct {
		values []float64
		out    int64
	}{
		"kv_cache.usage":           {[]float64{.2, 41, .3, -.1}, 2},
		"gpu.util":                 {[]float64{0, 1, 1.02, 1.55}, 1},
		"requests.queued":          {[]float64{3, -3, 0, 5000}, 1},
		"throughput.output_tokens": {[]float64{1e9, -1}, 1},
		"host.process_cpu":         {[]float64{7.9, 12}, 0}, // CPUs
		"gpu.mfu":                  {[]float64{1.7, .4}, 0}, // a rule judges it
		"train.loss":               {[]float64{-4, 3}, 0},
		"gpu.temperature":          {[]float64{-5, 40}, 0},
	} {
		metric, ok := MetricOf(name)
		if !ok {
			t.Fatalf("no metric %s", name)
		}
		b := NewBuilder(Limits{})
		i := b.Of(metric, "producer", "x", nil, diag.Pos{})
		for _, v := range test.values {
			b.Add(i, v, NoStep, NoTime, 0)
		}
		l := b.Log(1, true)
		s := &l.Series[0]
		if s.Missing != test.out || s.N != int64(len(test.values))-test.out {
			t.Errorf("%s: %d values and %d missing", name, s.N, s.Missing)
		}
		if len(l.Issues) > 0 != (test.out > 0) || test.out > 0 && (l.Issues[0].Code != "values-impossible" || l.Issues[0].Count != test.out) {
			t.Errorf("%s: issues %+v", name, l.Issues)
		}
	}
}

// TestStepsWithTwoTimes: the lines of two runs in one file give steps two times. A line that is printed again, also
// with rounded numbers, does not.
func TestStepsWithTwoTimes(t *testing.T) {
	metric, _ := MetricOf("step.time")
	for second, want := range map[float64]int64{3: 10, .7: 10, 1: 0, 1.01: 0} {
		b := NewBuilder(Limits{})
		i := b.Of(metric, "producer", "x", nil, diag.Pos{})
		for step := range int64(10) {
			b.Add(i, 100+float64(step), step, NoTime, 0)
			b.Add(i, second*(100+float64(step)), step, NoTime, 0)
		}
		l := b.Log(1, true)
		n := int64(0)
		for _, is := range l.Issues {
			if is.Code == "steps-with-two-times" {
				n += is.Count
			}
		}
		if n != want || l.Series[0].N != 10 {
			t.Errorf("times %g of the first: %d issues, %d steps", second, n, l.Series[0].N)
		}
	}
}

// TestContradictions: numbers of a benchmark that contradict each other are left out and named, and others stay.
func TestContradictions(t *testing.T) {
	type number struct {
		metric, stat string
		value        float64
	}
	whole := []number{
		{"serving.duration", "", 50e9}, {"requests.completed", "", 400}, {"throughput.requests", "", 8}, {"throughput.output_tokens", "", 900},
		{"serving.ttft", "mean", 30e6}, {"serving.ttft", "median", 20e6}, {"serving.ttft", "p99", 200e6}, {"serving.ttft", "std", 1e6},
		{"serving.e2e", "mean", 700e6}, {"serving.e2e", "median", 500e6},
	}
	for name, test := range map[string]struct {
		change number
		why    string
		left   int
	}{
		"as it is":            {number{}, "", 10},
		"negative":            {number{"serving.ttft", "mean", -1}, "negative", 9},
		"order":               {number{"serving.ttft", "p99", 19e6}, "is over", 6},
		"std is no rank":      {number{"serving.ttft", "std", 1e12}, "", 10},
		"rounded":             {number{"serving.ttft", "p99", 19.95e6}, "", 10},
		"whole":               {number{"serving.e2e", "median", 19e6}, "whole request", 4},
		"equal":               {number{"serving.e2e", "median", 20e6}, "", 10}, // one token
		"rate":                {number{"throughput.requests", "", 8000}, "rate of requests", 7},
		"warm-up is left out": {number{"throughput.requests", "", 9.1}, "", 10},
		"few":                 {number{"requests.completed", "", 3}, "rate of requests", 7},
	} {
		var r Benchmark
		for _, n := range whole {
			if n.metric == test.change.metric && n.stat == test.change.stat {
				n.value = test.change.value
			}
			metric, ok := MetricOf(n.metric)
			if !ok {
				t.Fatalf("no metric %s", n.metric)
			}
			r.Metrics = append(r.Metrics, Figure{metric, n.stat, n.stat + " " + n.metric, n.value})
		}
		b := NewBuilder(Limits{})
		b.Benchmark(r, diag.Pos{})
		l := b.Log(1, true)
		if got := len(l.Benchmarks[0].Metrics); got != test.left {
			t.Errorf("%s: %d figures, want %d", name, got, test.left)
		}
		if found := len(l.Issues) > 0; found != (test.why != "") || found && !strings.Contains(l.Issues[0].Help, test.why) {
			t.Errorf("%s: issues %+v", name, l.Issues)
		}
	}
}

// TestRareImpossibleValue: one such value among thousands does not put the others in doubt.
func TestRareImpossibleValue(t *testing.T) {
	metric, _ := MetricOf("gpu.util")
	for n, want := range map[int]diag.Severity{500: diag.Suspect, 5000: diag.Info} {
		b := NewBuilder(Limits{})
		i := b.Of(metric, "producer", "x", nil, diag.Pos{})
		for range n {
			b.Add(i, .5, NoStep, NoTime, 0)
		}
		b.Add(i, 42, NoStep, NoTime, 0)
		if l := b.Log(1, true); len(l.Issues) != 1 || l.Issues[0].Severity != want {
			t.Errorf("%d values: %+v", n, l.Issues)
		}
	}
}

// TestMilliwatts: powers that no GPU can draw in watts are milliwatts, if all of a column are; others stay as they are.
func TestMilliwatts(t *testing.T) {
	metric, _ := MetricOf("gpu.power")
	for _, tc := range []struct {
		name   string
		values [2][]float64 // of two GPUs
		max    float64      // of the first one
		noted  bool
	}{
		{"milliwatts", [2][]float64{{350_000, 700_000}, {8_000, 9_000}}, 700, true},
		{"watts", [2][]float64{{350, 700}, {8, 9}}, 700, false},
		{"a wrong value among watts", [2][]float64{{350, 700_000}, {8, 9}}, 700_000, false},
		{"idle GPUs in milliwatts, which could be a rack in watts", [2][]float64{{8_000, 9_000}, {8_000, 9_000}}, 9_000, false},
		{"microwatts", [2][]float64{{350e6, 700e6}, {350e6, 700e6}}, 700e6, false},
	} {
		b := NewBuilder(Limits{})
		for gpu, list := range tc.values {
			for _, v := range list {
				b.Add(b.Of(metric, "monitor", "power", []Label{{"gpu", string(rune('0' + gpu))}}, diag.Pos{}), v, NoStep, NoTime, 0)
			}
		}
		log := b.Log(1, true)
		s := log.Series[0]
		noted := slices.ContainsFunc(log.Issues, func(is diag.Issue) bool { return is.Code == "power-in-milliwatts" })
		if s.Max != tc.max || s.Points.Value[1] != tc.max || noted != tc.noted {
			t.Errorf("%s: max %v, points %v, noted %v", tc.name, s.Max, s.Points.Value, noted)
		}
	}
}
