package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"assay/gate"
	"assay/internal/test"
	"assay/internal/test/rankgen"
	"assay/summary"
)

// writeRanks writes the traces of some ranks of a job, and returns the directory and the
// files.
func writeRanks(t *testing.T, j *rankgen.Job, given []int) (dir string, paths []string, place map[string]int) {
	t.Helper()
	dir, place = t.TempDir(), map[string]int{}
	for _, f := range j.Files(given) {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, write(t, name, string(f.JSON), 0o666))
		place[name] = f.Place
	}
	return dir, paths, place
}

// scenario returns the job of a name.
func scenario(t *testing.T, name string) (*rankgen.Job, []int) {
	t.Helper()
	for _, s := range rankgen.Scenarios() {
		if s.Name == name {
			return s.Job()
		}
	}
	t.Fatalf("no scenario %s", name)
	return nil, nil
}

// summaryOf returns what a command prints as JSON.
func summaryOf(t *testing.T, text []byte) *summary.Summary {
	t.Helper()
	s := &summary.Summary{}
	if err := json.Unmarshal(text, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRankScenarios: the command prints the truth about every generated run, to the
// nanosecond, and the same bytes whatever the order of the files and the number of
// processors.
func TestRankScenarios(t *testing.T) {
	for i, s := range rankgen.Scenarios() {
		if i%test.Every(2) != 0 {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			j, given := s.Job()
			truth := j.Truth(given)
			dir, paths, place := writeRanks(t, j, given)
			text := outputOf(t, "summary", "--format", "json", dir)
			got := summaryOf(t, text)
			if len(got.Ranks) != len(given) {
				t.Fatalf("%d rows of ranks, want %d", len(got.Ranks), len(given))
			}
			for i, r := range got.Ranks {
				want := truth.Ranks[place[got.Inputs[r.Input].Path]]
				if i > 0 && got.Ranks[i-1].Job == r.Job && got.Ranks[i-1].Rank >= r.Rank {
					t.Errorf("rank %d comes after rank %d", r.Rank, got.Ranks[i-1].Rank)
				}
				if s.Apart {
					if r.Collectives != 0 || r.WaitNS != 0 {
						t.Errorf("rank %d: %+v, want nothing matched", r.Rank, r)
					}
					continue
				}
				same := r.Rank == want.Number && r.Collectives == want.Collectives && r.Incomplete == want.Incomplete && r.Last == want.Last &&
					r.TransferNS == want.Transfer && r.WaitNS == want.Wait && r.CausedNS == want.Caused && (r.OffsetNS != nil) == want.Aligned
				if !same || want.Aligned && *r.OffsetNS != want.Offset {
					t.Errorf("%s: %+v, want %+v", got.Inputs[r.Input].Path, r, want)
				}
			}
			slices.Reverse(paths)
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			if len(given) > 1 && !strings.Contains(s.Name, "rollout") { // which of two worlds comes first follows the arguments
				if again := outputOf(t, append([]string{"summary", "--format", "json"}, paths...)...); !bytes.Equal(again, text) {
					t.Error("the output depends on the order of the files or the number of processors")
				}
			}
		})
	}
}

// TestDamagedRank: a rank whose file ends early counts as far as it goes, and one that
// cannot be read is missing. What the others recorded stays right.
func TestDamagedRank(t *testing.T) {
	j, given := scenario(t, "random")
	whole := j.Truth(given)
	dir, paths, _ := writeRanks(t, j, given)
	text, err := os.ReadFile(paths[3])
	if err != nil {
		t.Fatal(err)
	}
	write(t, paths[3], string(text[:len(text)/2]), 0o666)
	got := summaryOf(t, outputOf(t, "summary", "--format", "json", dir))
	all := whole.Ranks[0].Collectives
	wait := int64(0)
	for _, r := range got.Ranks {
		wait += r.WaitNS - r.CausedNS
		// What the others recorded after the end of its file is compared without rank 3.
		if r.Incomplete != 0 || (r.Rank != 3) != (r.Collectives == all) || r.Collectives == 0 {
			t.Errorf("rank %d: %d of %d collectives and %d incomplete", r.Rank, r.Collectives, all, r.Incomplete)
		}
		if r.OffsetNS == nil || *r.OffsetNS != 0 {
			t.Errorf("rank %d: the offset of its clock is %v", r.Rank, r.OffsetNS)
		}
	}
	if wait != 0 {
		t.Errorf("the waits differ from what was caused by %d ns", wait)
	}

	write(t, paths[3], "not a trace", 0o666)
	var stdout, stderr bytes.Buffer
	if status := run(env{strings.NewReader(""), &stdout, &stderr}, []string{"summary", "--format", "json", dir}); status == exitOK {
		t.Error("the unreadable file was not reported")
	}
	others := slices.DeleteFunc(slices.Clone(given), func(p int) bool { return p == 3 })
	truth := j.Truth(others)
	got = summaryOf(t, stdout.Bytes())
	if len(got.Ranks) != len(others) {
		t.Fatalf("%d ranks, want %d", len(got.Ranks), len(others))
	}
	for _, r := range got.Ranks {
		if want := truth.Ranks[r.Rank]; r.WaitNS != want.Wait || r.CausedNS != want.Caused || r.TransferNS != want.Transfer {
			t.Errorf("rank %d: %+v, want %+v", r.Rank, r, want)
		}
	}
	for _, c := range got.Collectives {
		if !c.Partial {
			t.Errorf("%+v: want it to be partial", c)
		}
	}
}

// TestRanksOfRuns: "check" and "diff" compare the ranks of each run with each other, and
// never those of different runs; so does "check" of a saved summary of several runs.
func TestRanksOfRuns(t *testing.T) {
	e := env{strings.NewReader(""), io.Discard, io.Discard}
	slow, given := scenario(t, "slow_host")
	even, places := scenario(t, "even")
	dir := t.TempDir()
	for name, files := range map[string][]rankgen.File{"a": slow.Files(given), "b": even.Files(places)} {
		for _, f := range files {
			path := filepath.Join(dir, name, f.Name)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			write(t, path, string(f.JSON), 0o666)
		}
	}
	saved := write(t, filepath.Join(t.TempDir(), "saved.json"), string(outputOf(t, "summary", "--format", "json", dir)), 0o666)
	for _, args := range [][]string{{dir}, {filepath.Join(dir, "a"), filepath.Join(dir, "b")}, {saved}} {
		group, err := loadRuns(e, commandNamed(t, "check"), &source{}, args)
		if err != nil {
			t.Fatal(err)
		}
		runs := group.Runs
		if len(runs) != 2 {
			t.Fatalf("%s: %d runs, want 2", args, len(runs))
		}
		checkWaits(t, fmt.Sprint(args), runs[0], slow.Truth(given))
		checkWaits(t, fmt.Sprint(args), runs[1], even.Truth(places))
	}
	d := &difference{}
	s, err := d.load(e, commandNamed(t, "diff"), []string{filepath.Join(dir, "a")})
	if err != nil {
		t.Fatal(err)
	}
	checkWaits(t, "diff", gate.Run{Summary: s}, slow.Truth(given))
}

func checkWaits(t *testing.T, what string, run gate.Run, truth rankgen.Truth) {
	t.Helper()
	s := run.Summary
	if len(s.Ranks) != len(truth.Ranks) || len(s.Collectives) != len(truth.Rows) {
		t.Errorf("%s: %d ranks and %d kinds of collectives, want %d and %d", what, len(s.Ranks), len(s.Collectives), len(truth.Ranks), len(truth.Rows))
		return
	}
	for _, r := range s.Ranks {
		if want := truth.Ranks[r.Rank]; r.WaitNS != want.Wait || r.CausedNS != want.Caused || r.Collectives != want.Collectives {
			t.Errorf("%s: rank %d: %+v, want %+v", what, r.Rank, r, want)
		}
	}
}

// commandNamed returns a command.
func commandNamed(t *testing.T, name string) *command {
	t.Helper()
	for _, c := range commands() {
		if c.name == name {
			return c
		}
	}
	t.Fatalf("no command %s", name)
	return nil
}
