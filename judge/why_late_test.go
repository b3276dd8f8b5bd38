package judge

import (
	"slices"
	"strings"
	"testing"

	"assay/judge/rule"
)

// TestWhyLate: the finding on a late rank says why it is late, in which steps, and what to
// compare first.
func TestWhyLate(t *testing.T) {
	for _, tt := range []struct {
		scenario, rule, step string
		evidence             []string
	}{
		{"slow_gpu", rule.StragglingRank, "compare-the-gpu", []string{"rank 5: last in 18 of 18 collectives, causes 100.0% of the waiting; late in all 6 steps",
			"rank 5: the same kernels take 36 ms, a median of 28.8 ms on the others (25.0% longer), as on a slower GPU",
			"waiting: 7.2 ms of 38.3 ms, mean of 7 GPUs (1.2 ms of 6.39 ms per step)"}},
		{"slow_gpu_later", rule.StragglingRank, "compare-the-gpu", []string{
			"rank 5: last in 18 of 30 collectives, causes 100.0% of the waiting; late from step 7 on (6 of 10 steps)"}},
		{"more_work", rule.StragglingRank, "compare-the-work", []string{"rank 3: kernels with another number of launches take 43.2 ms, a median of 28.8 ms on the others: more work"}},
		{"slow_host", rule.StragglingRank, "compare-the-input", []string{
			"rank 2: idle for 15.3 ms, a median of 290 µs on the others: its CPU launches late, 15 ms of it in data loading, \"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__\""}},
		{"pp_few", rule.PipelineBubble, "more-micro-batches", []string{
			"4 stages, 2 micro-batches: a pipeline of equal stages idles (p-1)/(m+p-1) = 60.0% of a step; measured 58.2%"}},
		{"pp_uneven", rule.UnevenStages, "balance-stages", []string{"compute: 192 ms per GPU on stage 2, 120 ms on the other stages (60.0% more)"}},
		// In units of 64 tokens, rank 5 has 165 or 160, and all ranks 8 times 49 or 48.5.
		{"experts_hotter", rule.UnevenExperts, "balance-experts", []string{"sizes of all-to-alls: largest rank 3.33 times the mean, over 48 collectives"}},
		{"slow_link", rule.SlowCollectives, "check-the-link", []string{
			"all-reduce of 64 MiB on ranks [0, 1, 2, 3, 4, 5, 6, 7]: bus bandwidth 11.0 GB/s; NVLink 4 has a peak of 450.0 GB/s, and at least 50% of that is expected"}},
		{"slow_node", rule.SlowCollectives, "check-the-link", []string{"all-reduce of 32 MiB on ranks [4, 5] takes 1.75 ms; the median of 2 other groups of this kind is 250 µs"}},
	} {
		f := find(t, Judge(ranked(t, tt.scenario), rule.DefaultThresholds()), tt.rule)
		for _, want := range tt.evidence {
			if !slices.Contains(f.Evidence, want) {
				t.Errorf("%s: evidence\n%q\nwant %q", tt.scenario, f.Evidence, want)
			}
		}
		if !slices.ContainsFunc(f.Evidence, func(line string) bool { return f.Cause != "" && strings.HasPrefix(f.Cause, line) }) {
			t.Errorf("%s: the cause %q is none of the evidence %q", tt.scenario, f.Cause, f.Evidence)
		}
		if len(f.Next) == 0 || f.Next[0].ID != tt.step {
			t.Errorf("%s: steps %q, want %s first", tt.scenario, ids(f.Next), tt.step)
		}
	}
}

// TestStagesAreNoStragglers: stages that wait for their pipeline, and ranks that may do
// different work, are no stragglers, and their compute times are not compared.
func TestStagesAreNoStragglers(t *testing.T) {
	for _, name := range []string{"pp_dp", "pp_dp_no_seq", "pp_dp_undescribed", "pp_even", "pp_uneven_last", "ring"} {
		r := Judge(ranked(t, name), rule.DefaultThresholds())
		for _, f := range r.Findings {
			if f.Rule == rule.StragglingRank || f.Rule == rule.UnevenRanks || f.Rule == rule.RanksInTurn {
				t.Errorf("%s: %s", name, f.Title)
			}
			if slices.Contains(ids(f.Next), "tune-the-communication") {
				t.Errorf("%s: %s says that no rank is a straggler", name, f.Rule)
			}
		}
	}
}
