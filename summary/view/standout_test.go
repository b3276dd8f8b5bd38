package view

import (
	"fmt"
	"slices"
	"testing"

	"assay/summary"
)

// jobOf returns a run of n ranks in windows of 1,000 ns. Rank r communicates for 100 + 10r ns, so
// rank 0 is the slowest and the last one the fastest.
func jobOf(n int) *summary.Summary {
	s := &summary.Summary{}
	for r := range n {
		var a summary.Activity
		a[summary.ClassComm], a[summary.ClassCompute] = int64(100+10*r), int64(900-10*r)
		s.Inputs = append(s.Inputs, summary.Input{Path: fmt.Sprintf("run/rank%d.json", r), Rank: r})
		s.Devices = append(s.Devices, summary.Device{Input: r, Rank: r, WindowNS: 1000, Activity: a})
	}
	return s
}

// TestJobsOf: the slowest and the fastest rank, those that are named and the median one stand out, up to the
// limit, which grows with the number of ranks.
func TestJobsOf(t *testing.T) {
	for _, tc := range []struct {
		ranks int
		named []int
		want  []int
	}{
		{2, nil, []int{0, 1}},
		{3, nil, []int{0, 1, 2}},
		{8, nil, []int{0, 4, 7}},
		{8, []int{6, 3}, []int{0, 6, 7}}, // 3 of 8: the first that is named, and no median
		{8, []int{7, 0}, []int{0, 4, 7}}, // these stand out anyway
		{16, []int{3, 9, 5, 2}, []int{0, 2, 3, 5, 9, 15}},
		{64, []int{1, 2, 3, 4, 5, 6, 7, 8}, []int{0, 1, 2, 3, 4, 5, 6, 63}},
	} {
		jobs := JobsOf(jobOf(tc.ranks), tc.named)
		if len(jobs) != 1 || len(jobs[0].Inputs) != tc.ranks || !slices.Equal(jobs[0].Full, tc.want) {
			t.Errorf("%d ranks, named %v: got %v, want %v", tc.ranks, tc.named, jobs, tc.want)
		}
	}
}

// TestJobsOfOthers: one trace, repeated runs of one rank, and runs with a trace without GPU work are not
// rolled up. Ranks without an order stand out by their compute time, and inputs of other runs are ignored.
func TestJobsOfOthers(t *testing.T) {
	repeated := jobOf(3)
	for i := range repeated.Inputs {
		repeated.Inputs[i] = summary.Input{Path: fmt.Sprintf("run%d/trace.json", i)}
		repeated.Devices[i].Rank = 0
	}
	bare := jobOf(5)
	bare.Devices = bare.Devices[:4]
	for name, s := range map[string]*summary.Summary{"one": jobOf(1), "repeated": repeated, "bare": bare, "none": {}} {
		if jobs := JobsOf(s, nil); len(jobs) > 0 {
			t.Errorf("%s: %v", name, jobs)
		}
	}
	stages := jobOf(9)
	stages.Collectives = []summary.Collective{{Op: summary.OpSendRecv, Ranks: 9}}
	stages.Devices[5].Activity[summary.ClassCompute] = 2000
	stages.Devices[5].WindowNS = stages.Devices[5].Activity.Window()
	if jobs := JobsOf(stages, nil); len(jobs) != 1 || !slices.Equal(jobs[0].Full, []int{3, 5, 8}) {
		t.Errorf("stages: %v, want the most, the median and the least compute time", jobs)
	}
	two := summary.Merge(jobOf(4), jobOf(4))
	for i := range two.Inputs[4:] {
		two.Inputs[4+i].Path = fmt.Sprintf("other/rank%d.json", i)
	}
	jobs := JobsOf(two, []int{6})
	if len(jobs) != 2 || !slices.Equal(jobs[0].Full, []int{0, 2, 3}) || !slices.Equal(jobs[1].Full, []int{4, 6, 7}) {
		t.Errorf("two runs: %v", jobs)
	}
}
