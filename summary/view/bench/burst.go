package bench

import (
	"math"
	"slices"

	"assay/summary"
)

// waited is the share of a benchmark's time that a typical request waits for its first token if it queues.
const waited = 0.1

// Burst reports whether a benchmark sent all its requests at once, so that a typical one waited in the queue: its
// time to the first token is then not that of a server under a steady load.
func Burst(b *summary.Benchmark) bool {
	completed, duration := FigureOf(b, "requests.completed", ""), FigureOf(b, "serving.duration", "")
	if completed == nil || completed.Value < 2 || duration == nil || duration.Value <= 0 {
		return false
	}
	peak := FigureOf(b, "serving.peak_concurrency", "")
	if !unlimited(b) && (peak == nil || peak.Value < completed.Value) {
		return false
	}
	for _, stat := range []string{"median", "p50", "mean"} {
		if first := FigureOf(b, "serving.ttft", stat); first != nil {
			return first.Value >= waited*duration.Value
		}
	}
	return false
}

// unlimited reports whether the settings of a benchmark limit neither the rate nor the number of its requests.
func unlimited(b *summary.Benchmark) bool {
	of := func(head string) Setting {
		all := Settings()
		return all[slices.IndexFunc(all, func(s Setting) bool { return s.Head == head })]
	}
	rate, concurrency := of("request rate"), of("concurrency")
	open := concurrency.Of(b) == "" || math.IsInf(concurrency.Number(b), 1)
	return math.IsInf(rate.Number(b), 1) && open
}
