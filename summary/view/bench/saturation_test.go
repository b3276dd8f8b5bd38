package bench

import (
	"fmt"
	"testing"

	"assay/summary"
)

// TestSaturation: the knee is the lowest load after which no load has 20% more throughput for each
// doubling, and 5% altogether.
func TestSaturation(t *testing.T) {
	for _, tt := range []struct {
		name       string
		loads      []string
		throughput []float64
		want       string // the knee and the next load
	}{
		{"the last doubling brings 3%", []string{"4", "8", "16"}, []float64{100, 190, 196}, "8 16"},
		{"it brings exactly 20%", []string{"4", "8", "16"}, []float64{100, 190, 228}, "16 -"},
		{"it brings 19%", []string{"4", "8", "16"}, []float64{100, 190, 226}, "8 16"},
		{"a dip is no plateau", []string{"1", "2", "4", "8"}, []float64{10, 18, 17, 34}, "8 -"},
		{"a step of a tenth brings 4%, which may be noise", []string{"50", "100", "110"}, []float64{60, 100, 104}, "100 110"},
		{"it brings 10%", []string{"50", "100", "110"}, []float64{60, 100, 110}, "110 -"},
		{"more requests slow the server down", []string{"8", "64", "512"}, []float64{100, 90, 40}, "8 64"},
		{"throughput still grows without a limit", []string{"8", "16", "inf"}, []float64{100, 180, 250}, "inf -"},
		{"two loads", []string{"8", "16"}, []float64{100, 101}, "none"},
		{"no throughput at one load", []string{"8", "16", "32"}, []float64{100, 0, 101}, "none"},
	} {
		var list []summary.Benchmark
		for i, load := range tt.loads {
			list = append(list, measured("max_concurrency", load, tt.throughput[i], 1))
		}
		if got := saturationOf(list); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// saturationOf returns the knee and the next load of the only sweep.
func saturationOf(list []summary.Benchmark) string {
	sw := Sweeps(&summary.Summary{Benchmarks: list})[0]
	at, ok := sw.Saturation(Limits{Gain: 0.2, Noise: 0.05, Served: 0.9, Points: 3})
	if !ok {
		return "none"
	}
	load := func(b *summary.Benchmark) string {
		if b == nil {
			return "-"
		}
		return sw.Setting.Of(b)
	}
	return load(at.Knee) + " " + load(at.Next)
}

// TestServed: 100 requests of 50 tokens are sent for 100/rate seconds at least, and the last ones
// then take 50 tokens of 0.1 s. A server that can finish only 5 a second needs 20 s and these 5 s.
func TestServed(t *testing.T) {
	sweep := func(capacity float64, decodes bool, rates ...float64) (out []summary.Benchmark) {
		for _, rate := range rates {
			took := max(100/rate, 100/capacity) + 5
			b := result("request_rate", fmt.Sprint(rate))
			b.Metrics = []summary.Figure{{Metric: "requests.completed", Value: 100}, {Metric: "serving.duration", Value: took * 1e9},
				{Metric: "throughput.output_tokens", Value: 100 * 50 / took}}
			if decodes {
				b.Metrics = append(b.Metrics, summary.Figure{Metric: "serving.itl", Stat: "p50", Value: 1e8})
			}
			out = append(out, b)
		}
		return out
	}
	for _, tt := range []struct {
		name string
		list []summary.Benchmark
		want string
	}{
		{"5 a second", sweep(5, true, 1, 4, 16), "4 16"},
		{"5.5 of 6 are enough", sweep(5.5, true, 1, 6, 16), "6 16"},
		{"enough for all", sweep(50, true, 1, 4, 16), "16 -"},
		{"the lowest is too much", sweep(2, true, 3, 4, 16), "- 3"},
		// 100 requests of 16 a second take 11.25 s, of which 5 s are the last requests: 43% of the throughput of 50 a second.
		{"the end of the last requests is unknown, and throughput grows", sweep(50, false, 1, 4, 16), "16 -"},
	} {
		if got := saturationOf(tt.list); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
