package judge

import (
	"testing"

	"assay/judge/rule"
	"assay/summary"
)

// between is a run of one rank of eight that communicates for 400 ms of a second: part of it in sends and
// receives, the rest in another kind of collective.
func between(sends int64, other string) *summary.Summary {
	s := one(0, 400, 0)
	s.Inputs[0].WorldSize = 8
	s.Kernels = []summary.Kernel{{Name: "rcclSendRecv", Class: "comm", Category: "send-recv", Count: 40, TotalNS: sends * ms},
		{Name: "rcclOther", Class: "comm", Category: other, Count: 40, TotalNS: (400 - sends) * ms}}
	return s
}

// TestSendsAndReceives: a rank that waits for a stage of a pipeline is not told that its network is slow,
// or that one rank is a straggler. All-to-alls, which the same kernel runs, have their own category.
func TestSendsAndReceives(t *testing.T) {
	alone := between(400, "all-reduce")
	alone.Inputs[0].WorldSize = 1
	both := between(400, "all-reduce")
	both.Inputs = append(both.Inputs, both.Inputs[0])
	both.Inputs[1].Rank, both.Inputs[1].Path = 1, "other"
	for i := range both.Inputs {
		both.Inputs[i].WorldSize = 2
	}
	for _, tc := range []struct {
		name  string
		s     *summary.Summary
		first string
	}{
		{"sends only", between(400, "all-reduce"), "give-both-sides"},
		{"mostly sends", between(250, "all-reduce"), "give-both-sides"},
		{"mostly all-reduces", between(150, "all-reduce"), "give-all-ranks"},
		{"mostly all-to-alls", between(150, "all-to-all"), "give-all-ranks"},
		{"all ranks, which are no pipeline", both, "find-the-late-side"},
		{"no other rank to record", alone, "send-less-between-ranks"},
	} {
		f := find(t, Judge(tc.s, rule.DefaultThresholds()), rule.ExposedComm)
		if got := ids(f.Next); len(got) == 0 || got[0] != tc.first {
			t.Errorf("%s: %v, want %s first", tc.name, got, tc.first)
		}
	}
}
