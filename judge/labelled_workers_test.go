package judge

import (
	"fmt"
	"testing"

	"assay/judge/rule"
	"assay/summary"
)

// labelledWorkers are timelines that have one thread for each worker of a job and no GPU
// events. Each worker runs 100 forward slices of 10 ms and 100 backward slices of 20 ms.
func labelledWorkers() []labelled {
	const n = 100
	// workers returns the timeline of 8 workers; change edits the slices of one of them.
	workers := func(change func(worker int, forward, backward *summary.Span)) func(*testing.T) *summary.Summary {
		return func(*testing.T) *summary.Summary {
			s := &summary.Summary{Inputs: []summary.Input{{Format: "chrome-trace", Complete: true}}}
			for i := range 8 {
				forward := summary.Span{Name: "forward", Category: "work", Process: fmt.Sprint("rank ", i), Thread: "compute", Count: n, TotalNS: n * 10 * ms, SelfNS: n * 10 * ms, MaxNS: 10 * ms}
				backward := forward
				backward.Name, backward.TotalNS, backward.SelfNS, backward.MaxNS = "backward", n*20*ms, n*20*ms, 20*ms
				change(i, &forward, &backward)
				s.Spans = append(s.Spans, forward, backward)
			}
			return s
		}
	}
	longer := func(s *summary.Span, ns int64) { s.TotalNS, s.SelfNS = s.TotalNS+n*ns, s.SelfNS+n*ns }
	return []labelled{
		// Of 60 ms per pair of slices, 30 ms are beyond the others.
		{name: "a worker on a slow machine", label: rule.SlowWorker, num: n * 30 * ms, den: n * 60 * ms, in: workers(func(i int, f, b *summary.Span) {
			if i == 5 {
				longer(f, 10*ms)
				longer(b, 20*ms)
			}
		})},
		{name: "two last stages with more work", label: rule.SlowWorker, num: n * 10 * ms, den: n * 40 * ms, in: workers(func(i int, f, b *summary.Span) {
			if i%4 == 3 {
				longer(b, 10*ms)
			}
		})},
		{name: "a worker with more slices", label: rule.NoGPUTime, near: rule.SlowWorker, in: workers(func(i int, f, b *summary.Span) {
			if i == 5 {
				f.Count, b.Count = 2*n, 2*n
				longer(f, 10*ms)
				longer(b, 20*ms)
			}
		})},
		{name: "two kinds of workers", label: rule.NoGPUTime, near: rule.SlowWorker, in: workers(func(i int, f, b *summary.Span) {
			if i%2 == 1 {
				longer(b, 20*ms)
			}
		})},
		{name: "workers that differ a little", label: rule.NoGPUTime, near: rule.SlowWorker, in: workers(func(i int, f, b *summary.Span) {
			if i == 5 {
				longer(b, 3*ms)
			}
		})},
		{name: "threads of tensors", label: rule.NoGPUTime, near: rule.SlowWorker, in: func(t *testing.T) *summary.Summary {
			s := workers(func(i int, f, b *summary.Span) {
				if i == 5 {
					longer(b, 20*ms)
				}
			})(t)
			for i := range s.Spans {
				s.Spans[i].Process = fmt.Sprint("DistributedAdam_Allreduce/layer_", i/2)
			}
			return s
		}},
		{name: "equal workers", label: rule.NoGPUTime, in: workers(func(int, *summary.Span, *summary.Span) {})},
	}
}
