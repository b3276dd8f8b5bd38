package bench

import (
	"math"

	"assay/summary"
)

// Limits say where throughput no longer follows the load.
type Limits struct {
	Gain   float64 // least growth of throughput when the load doubles
	Noise  float64 // growth that results of the same load can show
	Served float64 // least share of the requests that are served while they are sent
	Points int64   // least number of loads
}

// A Saturation says up to which load of a sweep throughput grows.
type Saturation struct {
	Knee *summary.Benchmark // the highest load that throughput follows; nil if the lowest is too much
	Next *summary.Benchmark // the lowest load beyond the knee; nil if no measured load saturates
	Most *summary.Benchmark // the highest throughput
}

// Saturation returns where throughput stops following the load. If the load is a rate of requests, and all
// results show how many of them were served while they were sent, the knee is the highest rate at
// which and below which enough are served. Otherwise it is the lowest load after which none brings
// the required growth. It returns false for too few loads, or without throughput.
func (s *Sweep) Saturation(l Limits) (out Saturation, ok bool) {
	metric := s.Throughput()
	if metric == "" || int64(len(s.List)) < l.Points {
		return out, false
	}
	through := func(i int) float64 { return FigureOf(s.List[i], metric, "").Value }
	most := 0
	for i := range s.List {
		if !(through(i) > 0) || !(s.Setting.Number(s.List[i]) > 0) {
			return out, false
		}
		if through(i) > through(most) {
			most = i
		}
	}
	out.Most = s.List[most]
	knee, served := s.served(l.Served)
	if !served {
		knee = 0
		for knee < len(s.List)-1 && s.grows(knee, through, l) {
			knee++
		}
	}
	if knee >= 0 {
		out.Knee = s.List[knee]
	}
	if knee+1 < len(s.List) && !math.IsInf(s.Setting.Number(s.List[knee+1]), 1) || !served && knee+1 < len(s.List) {
		out.Next = s.List[knee+1]
	}
	return out, true
}

// grows reports whether a higher load than that of a result has a throughput that is higher by enough.
func (s *Sweep) grows(from int, through func(int) float64, l Limits) bool {
	for i := from + 1; i < len(s.List); i++ {
		doublings := math.Log2(s.Setting.Number(s.List[i]) / s.Setting.Number(s.List[from]))
		if math.IsInf(doublings, 1) || math.IsNaN(doublings) {
			doublings = 1 // the load is unlimited, so nothing says how much higher it is
		}
		if through(i) >= through(from)*max(1+l.Noise, math.Pow(1+l.Gain, doublings)) {
			return true
		}
	}
	return false
}

// served returns the index of the highest rate that is served at least to the given share, as all lower
// rates are, and -1 if the lowest is not. It returns false if the load is no rate, or if the
// results do not show it.
func (s *Sweep) served(share float64) (last int, ok bool) {
	last = -1
	if s.Setting.Head != Settings()[0].Head {
		return last, false
	}
	follows := true
	for i, b := range s.List {
		rate := s.Setting.Number(b)
		if math.IsInf(rate, 1) {
			continue
		}
		done, whole := Served(b)
		if !whole {
			return last, false
		}
		if follows = follows && done >= share*rate; follows {
			last = i
		}
	}
	return last, true
}

// Served returns the requests per second of a result, which are 0 if they are unknown. The decode time of
// the last ones is left out, because a short benchmark would otherwise seem slow; whole is false if that
// time is unknown.
func Served(b *summary.Benchmark) (perSecond float64, whole bool) {
	figure := func(metric string, stats ...string) float64 {
		for _, stat := range stats {
			if f := FigureOf(b, metric, stat); f != nil {
				return f.Value
			}
		}
		return 0
	}
	done, took := figure("throughput.requests", ""), figure("serving.duration", "")
	if done <= 0 && took > 0 {
		done = figure("requests.completed", "") / (took / 1e9)
	}
	if done <= 0 || took <= 0 {
		return done, false
	}
	token := figure("serving.tpot", "median", "p50", "mean")
	if token <= 0 {
		token = figure("serving.itl", "median", "p50", "mean")
	}
	decode := token * figure("throughput.output_tokens", "") / done
	if decode >= took {
		return 0, false
	}
	return done * took / (took - decode), decode > 0
}
