package logs

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/summary/view/bench"
)

// A target is a latency of a benchmark for which guides name a limit.
type target struct{ rule, metric, what string }

// benchmarks has the rules on results of benchmarks.
type benchmarks struct{ *Evaluator }

// firstToken and nextToken judge the time to the first token and the time for each further one.
func (e benchmarks) firstToken() (finding.Finding, bool) {
	return e.overTarget(target{rule.SlowFirstToken, "serving.ttft", "TTFT"},
		[]finding.Step{finding.Advise("shorten-the-prefill"), finding.Advise("route-by-prefix")})
}

func (e benchmarks) nextToken() (finding.Finding, bool) {
	return e.overTarget(target{rule.SlowNextToken, "serving.tpot", "TPOT"},
		[]finding.Step{finding.Advise("shorten-the-decode"), finding.Advise("enable-decode-graphs")})
}

// overTarget reports a median latency that exceeds its target even at the lightest load that was
// measured. Results without a limited load are left out: their requests wait in the queue of the
// server, which says nothing about its speed.
func (e benchmarks) overTarget(t target, next []finding.Step) (best finding.Finding, found bool) {
	limits := e.Limits[t.rule]
	fastest := map[string]*summary.Benchmark{} // by workload, over all files
	var order []string
	for i := range e.logged.Benchmarks {
		b := &e.logged.Benchmarks[i]
		f := medianOf(b, t.metric)
		if f == nil || loadText(b) == "" || f.Value <= 0 {
			continue
		}
		k := workload(b)
		if fastest[k] == nil {
			order = append(order, k)
		}
		if have := fastest[k]; have == nil || f.Value < medianOf(have, t.metric).Value {
			fastest[k] = b
		}
	}
	for _, k := range order {
		b := fastest[k]
		value := medianOf(b, t.metric)
		f, ok := rule.OverTarget(limits, int64(min(value.Value, math.MaxInt64/4)))
		if !ok || found && best.Value >= f.Value {
			continue
		}
		f.Title = fmt.Sprintf("%s: %s %s at %s; target %s", t.what, value.Stat, unit.Duration(f.NumeratorNS), loadText(b),
			unit.Duration(limits.Under))
		f.Evidence = []string{fmt.Sprintf("result %d of %s has the lowest value", b.Number+1,
			label.Clip(label.Clean(b.Producer), 40))}
		f.Next = next
		f.Where = []finding.Place{{Input: b.Input, Rank: e.logged.Inputs[b.Input].Rank}}
		best, found = f, true
	}
	return best, found
}

// weightSync compares the weight syncs that benchmarks and scripts measured with their target. Of several
// strategies that one benchmark compares, the fastest counts.
func (e benchmarks) weightSync() (best finding.Finding, found bool) {
	limits := e.Limits[rule.WeightSyncTime]
	type key struct {
		input    int
		producer string
	}
	fastest, stats := map[key]float64{}, map[key]string{}
	var order []key
	take := func(input int, producer, stat string, ns float64) {
		k := key{input, producer}
		if have, ok := fastest[k]; ns > 0 && (!ok || ns < have) {
			if !ok {
				order = append(order, k)
			}
			fastest[k], stats[k] = ns, stat
		}
	}
	for i := range e.logged.Benchmarks {
		b := &e.logged.Benchmarks[i]
		if f := bench.FigureOf(b, "weight_sync.time", "mean"); f != nil {
			take(b.Input, b.Producer, "mean", f.Value)
		}
	}
	for i := range e.logged.Series {
		if r := &e.logged.Series[i]; r.Metric == "weight_sync.time" && r.Median != nil {
			take(r.Input, r.Producer, "median", *r.Median)
		}
	}
	for _, k := range order {
		f, ok := rule.OverTarget(limits, int64(min(fastest[k], math.MaxInt64/4)))
		if !ok || found && best.Value >= f.Value {
			continue
		}
		f.Title = fmt.Sprintf("Weight sync: %s %s; target %s", stats[k], unit.Duration(f.NumeratorNS),
			unit.Duration(limits.Under))
		f.Evidence = []string{"measured by " + label.Clip(label.Clean(k.producer), 40), syncTimes}
		f.Next = []finding.Step{finding.Advise("colocate-for-weight-sync"), finding.Advise("send-weights-in-buckets")}
		f.Where = []finding.Place{{Input: k.input, Rank: e.logged.Inputs[k.input].Rank}}
		best, found = f, true
	}
	return best, found
}

// syncTimes are the weight syncs of models of several sizes.
const syncTimes = "times that the SkyRL guide names: 7B 500 ms by CUDA IPC and 2 s by NCCL, 32B 2 s by CUDA IPC, 70B 10 s by NCCL"

// workload identifies the workload of a result: its producer and all settings that are not the
// load.
func workload(b *summary.Benchmark) string {
	out := b.Producer
	for _, s := range bench.Settings() {
		if !s.Load {
			out += "\x00" + s.Of(b)
		}
	}
	return out
}

// medianOf returns the median of a latency of a result, or nil.
func medianOf(b *summary.Benchmark, metric string) *summary.Figure {
	return cmp.Or(bench.FigureOf(b, metric, "median"), bench.FigureOf(b, metric, "p50"))
}

// loadText returns the load of a result, or "" if it is not limited or unknown.
func loadText(b *summary.Benchmark) string {
	for _, s := range slices.Backward(bench.Settings()[:2]) { // concurrency, request rate
		if n := s.Number(b); n > 0 && !math.IsInf(n, 0) {
			return fmt.Sprintf("%s %.4g", s.Head, n)
		}
	}
	return ""
}
