package ranks

import (
	"slices"
	"strings"
	"testing"

	"assay/judge"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
)

const ms = 1_000_000

// run returns a summary of three ranks, of which rank 10 keeps the others waiting.
func run() *summary.Summary {
	bytes, transfer, wait := int64(1<<26), int64(4*ms), int64(12*ms)
	bandwidth := 67.108864
	s := &summary.Summary{Schema: summary.Schema}
	for i, rank := range []int{2, 9, 10} {
		s.Inputs = append(s.Inputs, summary.Input{Path: "x", Rank: rank, RankFrom: "trace"})
		s.Devices = append(s.Devices, summary.Device{Input: i, Rank: rank, WindowNS: 100 * ms, Activity: summary.Activity{}})
		r := summary.RankWait{Input: i, Rank: rank, Collectives: 4, TransferNS: transfer, WaitNS: 6 * ms, OffsetNS: new(int64), ResidualNS: new(int64)}
		if rank == 10 {
			r.WaitNS, r.CausedNS, r.Last = 0, wait, 4
		}
		s.Ranks = append(s.Ranks, r)
	}
	s.Collectives = []summary.Collective{
		{Op: "all-reduce", Group: "tp", GroupSize: 3, Ranks: 3, Dtype: "Float", Bytes: &bytes, Count: 4, TransferNS: &transfer, WaitNS: &wait, AlgBWGBps: &bandwidth, BusBWGBps: &bandwidth},
		{Op: "broadcast", GroupRanks: "[0, 1]", GroupSize: 128, Ranks: 2, Partial: true, Count: 1, Incomplete: 2},
	}
	return s
}

func table(t *testing.T, s doc.Section) doc.Table {
	t.Helper()
	for _, b := range s.Blocks {
		if table, ok := b.(doc.Table); ok {
			return table
		}
	}
	t.Fatal("no table")
	return doc.Table{}
}

func cells(t doc.Table, row int) string { return strings.Join(t.Rows[row].Cells, " | ") }

// TestRanks: ranks are in numeric order, and the shares of what they cause sum to all
// waiting.
func TestRanks(t *testing.T) {
	ctx := section.New(run(), judge.Result{})
	got := table(t, Ranks(ctx))
	for i, want := range []string{
		"rank 2 | 4 | 4.000 | 6.000 | 0 | 0.000 | 0.0% | 0.0 | 0.0",
		"rank 9 | 4 | 4.000 | 6.000 | 0 | 0.000 | 0.0% | 0.0 | 0.0",
		"rank 10 | 4 | 4.000 | 0.000 | 4 | 12.000 | 100.0% | 0.0 | 0.0",
	} {
		if cells(got, i) != want {
			t.Errorf("row %d is %s, want %s", i, cells(got, i), want)
		}
	}
	screen := Screen(ctx)[0]
	// 12 ms of three windows of 100 ms, 4 ms per GPU
	if want := "Waiting in collectives (4 ms per GPU, 4.0% of the window; transfer 4 ms)"; screen.Title != want {
		t.Errorf("title %q, want %q", screen.Title, want)
	}
	if got := cells(table(t, screen), 0); !strings.HasPrefix(got, "100.0% | 4 | 4 | ") || !strings.HasSuffix(got, "rank 10") {
		t.Errorf("first row %s", got)
	}
}

// TestCollectives: waiting is a share of the durations on all ranks: 12 ms of 12 ms plus
// three times 4 ms. A group that was not given whole says how much of it was.
func TestCollectives(t *testing.T) {
	got := table(t, Collectives(section.New(run(), judge.Result{})))
	if got, want := cells(got, 0), "all-reduce | tp | 3 | Float | 64 MiB | 4 |  | 1.000 | 50.0% | 67.1 | 67.1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := cells(got, 1), "broadcast | [0, 1] | 2 of 128 |  |  | 1 | 2 |  |  |  | "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !strings.Contains(got.Note, "were not given") {
		t.Errorf("the note does not explain k of n: %s", got.Note)
	}
}

// TestNothing: a run of one rank has no section.
func TestNothing(t *testing.T) {
	ctx := section.New(&summary.Summary{}, judge.Result{})
	if got := slices.Concat(Ranks(ctx).Blocks, Collectives(ctx).Blocks); len(got) != 0 || Screen(ctx) != nil {
		t.Errorf("%v", got)
	}
}

// TestTwoRuns: the ranks of each run have a table of their own, whose shares are of the waiting
// in that run.
func TestTwoRuns(t *testing.T) {
	s, other := run(), run()
	for i := range s.Inputs {
		s.Inputs[i].Path = "trainer/x"
		in := other.Inputs[i]
		in.Path = "server/x"
		s.Inputs = append(s.Inputs, in)
		d, r := other.Devices[i], other.Ranks[i]
		d.Input, r.Input, r.Job = 3+i, 3+i, 3
		r.WaitNS, r.CausedNS = r.WaitNS/2, r.CausedNS/2
		s.Devices, s.Ranks = append(s.Devices, d), append(s.Ranks, r)
	}
	screen := Screen(section.New(s, judge.Result{}))
	if len(screen) != 2 {
		t.Fatalf("%d tables", len(screen))
	}
	for i, want := range []string{
		"Waiting in collectives of the run trainer (4 ms per GPU, 4.0% of the window; transfer 4 ms)",
		"Waiting in collectives of the run server (2 ms per GPU, 2.0% of the window; transfer 4 ms)",
	} {
		if screen[i].Title != want || !strings.HasPrefix(cells(table(t, screen[i]), 0), "100.0% | 4 | 4 | ") {
			t.Errorf("title %q, want %q; first row %s", screen[i].Title, want, cells(table(t, screen[i]), 0))
		}
	}
}
