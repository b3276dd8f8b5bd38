package ranks

import (
	"bytes"
	"cmp"
	"runtime"
	"slices"
	"testing"

	"assay/analyze"
	"assay/analyze/ranks/collective"
	"assay/internal/test/rankgen"
	"assay/summary"
	"assay/trace"
)

// summaryOf returns the joined summary of files, without a comparison of ranks.
func summaryOf(t *testing.T, files []rankgen.File) *summary.Summary {
	t.Helper()
	var list []*summary.Summary
	for _, f := range files {
		tr, err := trace.Read(bytes.NewReader(f.JSON), f.Name, analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, analyze.Trace(tr, summary.Input{Path: f.Name, Rank: *tr.Meta.Rank, WorldSize: *tr.Meta.WorldSize}, analyze.DefaultOptions()))
	}
	return summary.Join(list...)
}

// measured returns the collectives of generated files, which are read and analysed as any
// trace. Inputs have the numbers of their place in the list.
func measured(t *testing.T, files []rankgen.File) (out []Member) {
	t.Helper()
	for i, f := range files {
		tr, err := trace.Read(bytes.NewReader(f.JSON), f.Name, analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		opt := analyze.DefaultOptions()
		opt.Collectives = func(device int64, c *collective.Columns) {
			out = append(out, Member{Input: i, Rank: *tr.Meta.Rank, Device: device, Columns: c})
		}
		analyze.Trace(tr, summary.Input{Rank: *tr.Meta.Rank}, opt)
	}
	return out
}

// worlds divides files by their folders: ranks of several are several jobs.
func worlds(files []rankgen.File, members []Member) [][]Member {
	index := map[string]int{}
	var out [][]Member
	for _, m := range members {
		folder := folderOf(files[m.Input].Name)
		n, ok := index[folder]
		if !ok {
			n = len(out)
			index[folder] = n
			out = append(out, nil)
		}
		out[n] = append(out[n], m)
	}
	return out
}

func folderOf(name string) string {
	for i := range name {
		if name[i] == '/' {
			return name[:i]
		}
	}
	return ""
}

// rowsOf returns what a summary has of the files.
func rowsOf(t *testing.T, files []rankgen.File) *summary.Summary {
	t.Helper()
	s := summaryOf(t, files)
	for _, members := range worlds(files, measured(t, files)) {
		if j := Match(members); j != nil {
			j.AddTo(s)
		}
	}
	return s
}

// TestScenarios compares the rows of every generated run with its truth, to the
// nanosecond, in three orders of the inputs and with one and two processors.
func TestScenarios(t *testing.T) {
	for _, s := range rankgen.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			j, given := s.Job()
			truth := j.Truth(given)
			for turn, procs := range []int{1, 2, 2} {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				order := append(append([]int{}, given[turn*len(given)/3:]...), given[:turn*len(given)/3]...)
				files := j.Files(order)
				rows := rowsOf(t, files)
				if s.Apart {
					checkApart(t, rows, truth)
					continue
				}
				checkRanks(t, files, rows, truth)
				checkRows(t, rows, truth)
			}
		})
	}
}

// checkRanks compares the rows of ranks.
func checkRanks(t *testing.T, files []rankgen.File, s *summary.Summary, truth rankgen.Truth) {
	t.Helper()
	if len(s.Ranks) != len(files) {
		t.Fatalf("%d ranks, want %d", len(s.Ranks), len(files))
	}
	for _, r := range s.Ranks {
		want := truth.Ranks[files[r.Input].Place]
		got := rankgen.Rank{
			Given: true, Number: r.Rank, Collectives: r.Collectives, Incomplete: r.Incomplete, Last: r.Last,
			Transfer: r.TransferNS, Wait: r.WaitNS, Caused: r.CausedNS, Aligned: r.OffsetNS != nil, Stage: -1, Split: r.SplitBytes,
		}
		if r.Stage != nil {
			got.Stage, got.StageWait, got.Messages = *r.Stage, *r.StageWaitNS, r.StageMessages
			for _, w := range r.StageWaits {
				if w.Stage < *r.Stage {
					got.ForBefore += w.NS
				} else {
					got.ForAfter += w.NS
				}
			}
		}
		if r.OffsetNS != nil {
			got.Offset = *r.OffsetNS
			if *r.ResidualNS != 0 {
				t.Errorf("%s: the residual of the clock is %d ns, want 0", files[r.Input].Name, *r.ResidualNS)
			}
		}
		if i := slices.IndexFunc(s.Devices, func(d summary.Device) bool { return d.Input == r.Input }); i >= 0 {
			got.Window = s.Devices[i].WindowNS
		}
		if got != want {
			t.Errorf("%s:\n%+v, want\n%+v", files[r.Input].Name, got, want)
		}
	}
}

// checkRows compares the rows of collectives.
func checkRows(t *testing.T, s *summary.Summary, truth rankgen.Truth) {
	t.Helper()
	got := map[rankgen.Row]rankgen.Sums{}
	for _, c := range s.Collectives {
		key := rankgen.Row{Group: c.Group, Ranks: c.GroupRanks, Op: c.Op}
		if c.Bytes != nil {
			key.Bytes = *c.Bytes
		}
		sums := got[key]
		sums.Given = max(sums.Given, c.Ranks)
		sums.Count, sums.Incomplete = sums.Count+c.Count, sums.Incomplete+c.Incomplete
		if c.TransferNS != nil {
			sums.Transfer, sums.Wait = sums.Transfer+*c.TransferNS, sums.Wait+*c.WaitNS
		}
		if sp := c.Splits; sp != nil {
			sums.Splits = rankgen.Splits{Count: sp.Count, Max: sp.MaxBytes, Mean: sp.MeanBytes, Wait: sp.WaitNS}
		}
		got[key] = sums
		if c.Partial != (c.GroupSize > c.Ranks) {
			t.Errorf("%+v: %d of %d ranks, partial is %v", key, c.Ranks, c.GroupSize, c.Partial)
		}
	}
	for key, want := range truth.Rows {
		if got[key] != want {
			t.Errorf("%+v:\n%+v, want\n%+v", key, got[key], want)
		}
	}
	if len(got) != len(truth.Rows) {
		t.Errorf("%d rows, want %d: %+v", len(got), len(truth.Rows), got)
	}
}

// checkApart: what cannot be identified is in no sum, and counts as incomplete.
func checkApart(t *testing.T, s *summary.Summary, truth rankgen.Truth) {
	t.Helper()
	for _, c := range s.Collectives {
		if c.Count != 0 || c.TransferNS != nil || c.MatchedBy != "" {
			t.Errorf("matched: %+v", c)
		}
	}
	for _, r := range s.Ranks {
		if want := truth.Ranks[r.Input]; r.WaitNS != 0 || r.CausedNS != 0 || r.Incomplete == 0 || r.Incomplete != want.Collectives+want.Incomplete {
			t.Errorf("rank %d: %+v, want %d incomplete", r.Rank, r, cmp.Or(want.Collectives, 0))
		}
	}
	if len(s.Ranks) == 0 {
		t.Error("no ranks")
	}
}
