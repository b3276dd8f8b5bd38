package judge

import (
	"assay/summary"
)

// among returns a toggle of each value that a fact of evidence can have: off gives it the last value, or the one before.
func among(word string, values []string, set func(*summary.Summary, string)) (out []toggle) {
	for i, v := range values {
		next := values[len(values)-1]
		if i == len(values)-1 {
			next = values[max(0, i-1)]
		}
		out = append(out, toggle{word: word, value: v, on: func(s *summary.Summary) { set(s, v) }, off: func(s *summary.Summary) { set(s, next) }})
	}
	return out
}

// evidenceToggles change the evidence of a finding, so that it has another cause and stays.
func evidenceToggles() (out []toggle) {
	out = append(out, among("memory", []string{summary.KindActivations, summary.KindRecomputed, summary.KindBackward, summary.KindOptimizer, summary.KindParameters,
		summary.KindKVCache, summary.KindComm, summary.KindData, summary.KindUnknown, summary.KindOther}, func(s *summary.Summary, kind string) {
		for i := range s.Snapshots {
			s.Snapshots[i].Kinds = []summary.Held{{Name: kind, Bytes: s.Snapshots[i].OwnersBytes, Count: 1}}
		}
	})...)
	snapshots := func(change func(*summary.Snapshot)) func(*summary.Summary) {
		return func(s *summary.Summary) {
			for i := range s.Snapshots {
				change(&s.Snapshots[i])
			}
		}
	}
	counters := func(change func(*summary.Counter)) func(*summary.Summary) {
		return func(s *summary.Summary) {
			for i := range s.Counters {
				change(&s.Counters[i])
			}
		}
	}
	return append(out,
		toggle{word: "matrix-kernel", on: counters(func(k *summary.Counter) { k.Category = "gemm" }), off: counters(func(k *summary.Counter) { k.Category = "reduction" })},
		toggle{word: "short-launches", on: counters(func(k *summary.Counter) { k.Launches = k.TotalNS / 5_000 }), off: counters(func(k *summary.Counter) { k.Launches = 1 })},
		toggle{word: "private-pools", on: snapshots(func(s *summary.Snapshot) { s.PrivateFree = s.Split }), off: snapshots(func(s *summary.Snapshot) { s.PrivateFree = 0 })},
		toggle{word: "short-of-memory", on: snapshots(func(s *summary.Snapshot) { s.History.RetryFrees, s.History.SegmentFrees = 3, s.History.SegmentFrees+3 }),
			off: snapshots(func(s *summary.Snapshot) { s.History.RetryFrees = 0 })},
	)
}
