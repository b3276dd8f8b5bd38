package compare_test

import (
	"bytes"
	"strings"
	"testing"

	"assay/analyze"
	matched "assay/analyze/ranks"
	"assay/analyze/ranks/collective"
	"assay/compare"
	"assay/compare/ranks"
	"assay/ingest/partial"
	"assay/internal/test/rankgen"
	"assay/summary"
	"assay/trace"
)

// runOf returns the summary of a generated run, with its waits.
func runOf(t testing.TB, dir string, job *rankgen.Job) *summary.Summary {
	t.Helper()
	var parts []partial.Part
	for _, f := range job.Files(job.Places()) {
		tr, err := trace.Read(bytes.NewReader(f.JSON), f.Name, analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		var p partial.Part
		opt := analyze.DefaultOptions()
		opt.Collectives = func(device int64, c *collective.Columns) {
			p.Members = append(p.Members, matched.Member{Rank: *tr.Meta.Rank, Device: device, Columns: c})
		}
		p.Summary = analyze.Trace(tr, summary.Input{Path: dir + "/" + f.Name, Format: "kineto", Rank: *tr.Meta.Rank, WorldSize: *tr.Meta.WorldSize, Complete: true}, opt)
		parts = append(parts, p)
	}
	return partial.Join(parts)
}

const rankSteps = 6

// checkRanks checks that the parts of each rank sum to its step, that the ranks add up to the
// breakdown, and that waits are those of the generated run.
func checkRanks(t *testing.T, c *compare.Comparison, base, new *rankgen.Job) {
	t.Helper()
	for _, side := range []struct {
		of   func(ranks.Row) *ranks.Side
		job  *rankgen.Job
		part func(compare.Row) int64
	}{
		{func(r ranks.Row) *ranks.Side { return r.Base }, base, func(r compare.Row) int64 { return r.BaseNS }},
		{func(r ranks.Row) *ranks.Side { return r.New }, new, func(r compare.Row) int64 { return r.NewNS }},
	} {
		truth := side.job.Truth(side.job.Places())
		sums := map[string]int64{}
		n := int64(0)
		for _, r := range c.Ranks {
			s := side.of(r)
			if s == nil {
				continue
			}
			n++
			all := int64(0)
			for _, p := range s.Parts() {
				all += p.NS
				sums[p.Name] += p.NS
			}
			if all != s.NS {
				t.Errorf("rank %d: parts sum to %d, the step is %d", r.Rank, all, s.NS)
			}
			want := truth.Ranks[r.Rank]
			if s.Steps != rankSteps || s.Collectives == nil || *s.Collectives != (ranks.Collectives{Transfer: want.Transfer / rankSteps, Wait: want.Wait / rankSteps, Caused: want.Caused / rankSteps, Last: want.Last}) {
				t.Errorf("rank %d: %+v, want the sums of %+v over %d steps", r.Rank, *s, want, rankSteps)
			}
		}
		for _, p := range c.Budget.Rows {
			if want := sums[p.Name] / n; side.part(p)-want > 2 || want-side.part(p) > 2 {
				t.Errorf("%s: mean over ranks %d, want %d", p.Name, want, side.part(p))
			}
		}
	}
}

// TestRanksHeadline: the headline names the rank that the others wait for, and not their
// communication.
func TestRanksHeadline(t *testing.T) {
	even := func() *rankgen.Job { return rankgen.Even(8, rankSteps) }
	slow := func(rank int) func() *rankgen.Job {
		return func() *rankgen.Job { return rankgen.SlowGPU(8, rankSteps, rank) }
	}
	host := func() *rankgen.Job { return rankgen.SlowHost(8, rankSteps, 2) }
	network := func() *rankgen.Job { return rankgen.SlowNetwork(8, rankSteps) }
	inTurn := func() *rankgen.Job { return rankgen.InTurn(4, rankSteps) }
	for _, tc := range []struct {
		name      string
		base, new func() *rankgen.Job
		want      []string
		not       []string
	}{
		{"nothing", even, even, []string{"unchanged"}, []string{"straggler", "wait"}},
		{"slow GPU", even, slow(5), []string{"rank 5 became the straggler: compute +1.2 ms, its kernels take 25.0% longer than on the others; the other 7 ranks wait +1.2 ms"}, []string{"AllReduce"}},
		{"slow GPU repaired", slow(5), even, []string{"rank 5 is no longer the straggler: compute -1.2 ms; the other 7 ranks wait -1.2 ms"}, []string{"AllReduce"}},
		{"slow host", even, host, []string{"rank 2 became the straggler: idle +3 ms, host wait: data loading in", "the other 7 ranks wait +3 ms"}, []string{"AllReduce"}},
		{"straggler moved", slow(5), slow(1), []string{"the straggler moved from rank 5 to rank 1: compute +1.2 ms"}, []string{"AllReduce"}},
		{"straggler moved to a worse one", slow(5), host, []string{"the straggler moved from rank 5 to rank 2: idle +3 ms"}, []string{"AllReduce"}},
		{"slow network", even, network, []string{"transfers +12.", "on each rank, waiting 0 ns; exposed communication +", "AllReduce"}, []string{"straggler"}},
		{"slow network instead of a slow GPU", slow(5), network, []string{"exposed communication +", "; rank 5 is no longer the straggler"}, nil},
		{"late in turn", func() *rankgen.Job { return rankgen.Even(4, rankSteps) }, inTurn, []string{"ranks wait +", "for each other, no rank is always last"}, []string{"straggler", "AllReduce"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, b := tc.base(), tc.new()
			c, err := compare.Summaries(runOf(t, "a", a), runOf(t, "b", b), compare.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkRanks(t, c, a, b)
			rest := c.Headline
			for _, want := range tc.want {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("headline %q\nlacks %q", c.Headline, want)
				}
				rest = after
			}
			for _, not := range tc.not {
				if strings.Contains(c.Headline, not) {
					t.Errorf("headline %q\nhas %q", c.Headline, not)
				}
			}
		})
	}
}

// TestRanksOfPipelines: stages do different work, so none is called a straggler.
func TestRanksOfPipelines(t *testing.T) {
	var jobs []*summary.Summary
	for _, s := range rankgen.Scenarios() {
		if s.Name == "pp_even" || s.Name == "pp_uneven" {
			job, _ := s.Job()
			jobs = append(jobs, runOf(t, s.Name, job))
		}
	}
	c, err := compare.Summaries(jobs[0], jobs[1], compare.Options{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	if c.Waits == nil || c.Waits.Base.Matched || len(c.Waits.New.Stragglers) > 0 || strings.Contains(c.Headline, "straggler") {
		t.Errorf("%+v: %s", c.Waits, c.Headline)
	}
}

// TestOtherRanks: a rank that one side does not have has no delta.
func TestOtherRanks(t *testing.T) {
	a, b := rankgen.Even(4, rankSteps), rankgen.SlowGPU(6, rankSteps, 5)
	c, err := compare.Summaries(runOf(t, "a", a), runOf(t, "b", b), compare.Options{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	checkRanks(t, c, a, b)
	if len(c.Ranks) != 6 || c.Ranks[5].Base != nil || c.Ranks[5].DeltaNS != nil || c.Ranks[5].Match != compare.OnlyNew || !c.Ranks[5].New.Straggler {
		t.Errorf("%+v", c.Ranks)
	}
	if !strings.Contains(c.Headline, "rank 5 became the straggler: ") {
		t.Error(c.Headline)
	}
}
