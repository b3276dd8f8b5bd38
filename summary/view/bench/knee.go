package bench

import (
	"math"

	"assay/summary"
)

// Latency returns the metric and the statistic of latency that all results of a sweep have: end-to-end
// latency is preferred, then the time to the first token. It is "" if there is none.
func (s *Sweep) Latency() (metric, stat string) {
	for _, metric := range []string{"serving.e2e", "serving.ttft"} {
		for _, stat := range []string{"median", "p50", "mean"} {
			if s.Has(metric, stat) {
				return metric, stat
			}
		}
	}
	return "", ""
}

// BestRatio returns the result with the highest ratio of throughput to latency: at lower load GPUs are
// idle, and at higher load requests mostly wait. It is nil for fewer than three results, or if the last
// result is the best one, because a higher load may be better.
func (s *Sweep) BestRatio() *summary.Benchmark {
	throughput := s.Throughput()
	latency, stat := s.Latency()
	if len(s.List) < 3 || throughput == "" || latency == "" || !s.Setting.Load {
		return nil
	}
	best, most := -1, 0.0
	for i, b := range s.List {
		v, l := FigureOf(b, throughput, "").Value, FigureOf(b, latency, stat).Value
		if !(v > 0) || !(l > 0) {
			return nil
		}
		if v/l > most {
			best, most = i, v/l
		}
	}
	if best < 0 || best == len(s.List)-1 {
		return nil
	}
	return s.List[best]
}

// Efficiency returns the scaling efficiency of a result in a sweep over the number of GPUs: its throughput
// per GPU relative to the first result's. It is NaN for other sweeps.
func (s *Sweep) Efficiency(b *summary.Benchmark) float64 {
	throughput := s.Throughput()
	first := s.List[0]
	from, to := s.Setting.Number(first), s.Setting.Number(b)
	if s.Setting.Head != "TP" || throughput == "" || !(from > 0) || !(to > 0) {
		return math.NaN()
	}
	base, v := FigureOf(first, throughput, "").Value, FigureOf(b, throughput, "").Value
	if !(base > 0) {
		return math.NaN()
	}
	return v / to / (base / from)
}
