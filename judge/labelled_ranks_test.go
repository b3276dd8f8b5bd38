package judge

import (
	"bytes"
	"path"
	"slices"
	"testing"

	"assay/analyze"
	"assay/analyze/ranks"
	"assay/analyze/ranks/collective"
	"assay/internal/test/rankgen"
	"assay/judge/rule"
	"assay/summary"
	"assay/trace"
)

// generated returns a generated run of several ranks and what is true of it.
func generated(name string) (*rankgen.Job, []int, rankgen.Truth) {
	all := rankgen.Scenarios()
	i := slices.IndexFunc(all, func(s rankgen.Scenario) bool { return s.Name == name })
	j, given := all[i].Job()
	return j, given, j.Truth(given)
}

// ranked returns the summary of a generated run. Ranks of one folder are one job.
func ranked(t *testing.T, name string) *summary.Summary {
	t.Helper()
	j, given, _ := generated(name)
	var list []*summary.Summary
	jobs := map[string][]ranks.Member{}
	for i, f := range j.Files(given) {
		tr, err := trace.Read(bytes.NewReader(f.JSON), f.Name, analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		opt := analyze.DefaultOptions()
		opt.Collectives = func(device int64, c *collective.Columns) {
			dir := path.Dir(f.Name)
			jobs[dir] = append(jobs[dir], ranks.Member{Input: i, Rank: *tr.Meta.Rank, Device: device, Columns: c})
		}
		list = append(list, analyze.Trace(tr, summary.Input{Path: f.Name, Format: "kineto", Rank: *tr.Meta.Rank, WorldSize: *tr.Meta.WorldSize}, opt))
	}
	s := summary.Join(list...)
	for _, members := range jobs {
		ranks.Match(members).AddTo(s)
	}
	return s
}

// labelledRanks are generated runs of several ranks. What their findings measure follows
// from the program of the generator.
func labelledRanks() (out []labelled) {
	sum := func(name string, of func(rankgen.Rank) int64) (ns int64) {
		_, _, truth := generated(name)
		for _, r := range truth.Ranks {
			ns += of(r)
		}
		return ns
	}
	caused := func(name string) int64 { return sum(name, func(r rankgen.Rank) int64 { return r.Caused }) }
	stages := func(name string) int64 { return sum(name, func(r rankgen.Rank) int64 { return r.StageWait }) }
	splits := func(name string) (ns int64) {
		_, _, truth := generated(name)
		for _, r := range truth.Rows {
			ns += r.Splits.Wait
		}
		return ns
	}
	stragglers := map[string]int{"slow_gpu": 5, "slow_host": 2, "more_work": 3, "experts_even": 2, "tp_dp_slow": 3}
	const kernel, loading = 400_137, 3_000_017
	const step = 400_000 + 800_000 // forward and backward of a micro-batch
	for _, l := range []struct {
		name, label, near string
		num               int64 // 0: it is not compared
	}{
		{"slow_gpu", rule.StragglingRank, rule.RanksInTurn, 7 * 72 * (kernel*5/4 - kernel)},
		{"slow_host", rule.StragglingRank, rule.SlowCollectives, 7 * 6 * loading},
		{"more_work", rule.StragglingRank, rule.UnevenExperts, 7 * 36 * kernel},
		{"experts_even", rule.StragglingRank, rule.UnevenExperts, caused("experts_even")},
		{"tp_dp_slow", rule.StragglingRank, rule.RanksInTurn, 7 * 5 * 12 * 120_000},
		{"late_in_turn", rule.RanksInTurn, rule.StragglingRank, caused("late_in_turn")},
		{"pp_few", rule.PipelineBubble, rule.StragglingRank, stages("pp_few")},
		{"pp_even", rule.PipelineBubble, rule.UnevenStages, stages("pp_even")},
		{"pp_undescribed", rule.PipelineBubble, rule.ExposedComm, stages("pp_undescribed")},
		{"pp_uneven", rule.UnevenStages, rule.PipelineBubble, 3 * 5 * 20 * (step*160/100 - step)},
		{"pp_uneven_last", rule.UnevenStages, rule.PipelineBubble, 3 * 5 * 24 * step},
		{"pp_many", rule.DominantKernel, rule.PipelineBubble, 0}, // a bubble of 2%, and one kernel
		{"ring", rule.ExposedComm, rule.PipelineBubble, 0},
		{"experts", rule.UnevenExperts, rule.StragglingRank, splits("experts")},
		{"experts_hotter", rule.UnevenExperts, rule.StragglingRank, splits("experts_hotter")},
		// Half of the peak of NVLink 4 is 225 GB/s: 64 MiB, times 7/4 on 8 ranks and 1 on 2.
		{"slow_link", rule.SlowCollectives, rule.ExposedComm, 8 * (20*10_680_707 - 20*(64<<20)*7/4/225)},
		{"slow_link_pair", rule.SlowCollectives, rule.ExposedComm, 2 * (20*5_592_405 - 20*(64<<20)/225)},
		{"slow_node", rule.SlowCollectives, rule.ExposedComm, 2 * 30 * (1_750_049 - 250_007)},
		{"slow_node_of_two", rule.SlowCollectives, rule.ExposedComm, 4 * 30 * (1_250_035 - 250_007)},
		{"fast_link", rule.ExposedComm, rule.SlowCollectives, 0},
		{"slow_network", rule.ExposedComm, rule.SlowCollectives, 0}, // the machines are not known
	} {
		run := labelled{name: "ranks " + l.name, label: l.label, near: l.near, num: l.num, in: func(t *testing.T) *summary.Summary { return ranked(t, l.name) }}
		if l.num != 0 {
			run.den = sum(l.name, func(r rankgen.Rank) int64 { return r.Window })
			if late, ok := stragglers[l.name]; ok { // it does not wait for itself
				run.den = sum(l.name, func(r rankgen.Rank) int64 {
					if r.Number == late {
						return 0
					}
					return r.Window
				})
			}
		}
		out = append(out, run)
	}
	return append(out, labelledFiles()...)
}

// labelledFiles are files of ranks that are given together and cannot, or can, be compared.
func labelledFiles() (out []labelled) {
	const later, copied, mixed, clock = "a rank of another run, 2 h later", "a rank copied", "two runs mixed", "clock of a rank off by 10 s"
	for _, l := range []struct{ run, damage, label, near string }{
		{"slow_gpu", later, rule.RanksApart, rule.StragglingRank},
		{"random", copied, rule.RanksApart, rule.RanksInTurn},
		{"tp_dp", mixed, rule.RanksApart, rule.Clocks},
		{"slow_host", clock, rule.StragglingRank, rule.RanksApart},
	} {
		out = append(out, labelled{name: "ranks " + l.run + ": " + l.damage, label: l.label, near: l.near, in: func(t *testing.T) *summary.Summary {
			j, given, _ := generated(l.run)
			return joinedRanks(t, damaged(j.Files(given), l.damage, 1))
		}})
	}
	return out
}
