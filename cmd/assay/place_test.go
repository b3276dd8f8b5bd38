package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/summary"
)

// writeUnnamed writes the ranks of a generated job without their ranks, under other names,
// and returns the directory.
func writeUnnamed(t *testing.T, name func(rank int) string) string {
	t.Helper()
	j, given := scenario(t, "slow_gpu")
	_, paths, _ := writeRanks(t, j, given)
	dir := t.TempDir()
	for rank, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, filepath.FromSlash(name(rank)))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, to, strings.Replace(string(text), `"distributedInfo"`, `"otherInfo"`, 1), 0o666)
	}
	return dir
}

// TestRankFrom: files that say nothing about their ranks give the waits of the generated
// truth, once --rank-from and --group-by say where the ranks and runs are.
func TestRankFrom(t *testing.T) {
	j, given := scenario(t, "slow_gpu")
	truth := j.Truth(given)
	for _, tt := range []struct {
		name     func(rank int) string
		flags    []string
		from, by string
	}{
		{func(r int) string { return fmt.Sprintf("host-%d.gpu%d.json", r/4, r) }, []string{"--rank-from", `gpu(\d+)`}, "pattern", ""},
		{func(r int) string { return fmt.Sprintf("worker%d/trace_rank%d.json", 9-r, r) }, []string{"--rank-from", "name"}, "name", ""},
		{func(r int) string { return fmt.Sprintf("rank%d/rank%d.json", r, 9-r) }, []string{"--rank-from", "folder", "--group-by", "none"}, "folder", "none"},
		{func(r int) string { return fmt.Sprintf("x%d/t-%d.json", r, r) }, []string{"--rank-from", `t-(\d)`, "--group-by", `\.(json)`}, "pattern", "pattern"},
	} {
		dir := writeUnnamed(t, tt.name)
		s := summaryOf(t, outputOf(t, append([]string{"summary", "--format", "json", dir}, tt.flags...)...))
		if len(s.Ranks) != len(truth.Ranks) {
			t.Errorf("%v: %d rows of ranks, want %d", tt.flags, len(s.Ranks), len(truth.Ranks))
			continue
		}
		for i, r := range s.Ranks {
			want, in := truth.Ranks[i], s.Inputs[r.Input]
			if r.Rank != want.Number || r.WaitNS != want.Wait || r.CausedNS != want.Caused || in.RankFrom != tt.from || in.RunFrom != tt.by || (in.Run != "") != (tt.by != "") {
				t.Errorf("%v: rank %d waits %d ns and causes %d, from %q and %q; want rank %d, %d, %d", tt.flags, r.Rank, r.WaitNS, r.CausedNS, in.RankFrom, in.RunFrom, want.Number, want.Wait, want.Caused)
			}
		}
	}
}

// TestGroupBy: the runs that the user states are compared by themselves, and the report
// says who decided.
func TestGroupBy(t *testing.T) {
	dir := writeUnnamed(t, func(r int) string { return fmt.Sprintf("run%d-gpu%d.json", r/4, r%4) })
	flags := []string{dir, "--rank-from", `gpu(\d)`, "--group-by", `(run\d)`}
	s := summaryOf(t, outputOf(t, append([]string{"summary", "--format", "json"}, flags...)...))
	jobs := map[string][]int{}
	for _, r := range s.Ranks {
		jobs[s.Inputs[r.Input].Run] = append(jobs[s.Inputs[r.Input].Run], r.Job)
	}
	for run, list := range jobs {
		if len(list) != 4 || slices.Max(list) != slices.Min(list) {
			t.Errorf("the ranks of %s are of the jobs %v, want one job of 4", run, list)
		}
	}
	if len(jobs) != 2 {
		t.Errorf("%d runs, want 2", len(jobs))
	}
	text := strings.Join(strings.Fields(string(outputOf(t, append([]string{"summary"}, flags...)...))), " ")
	if want := "Ranks from --rank-from; 2 runs (by --group-by)"; !strings.Contains(text, want) {
		t.Errorf("no %q in %s", want, text)
	}
	if i := slices.IndexFunc(s.Issues, func(is summary.Issue) bool { return is.Code == "rank-repeated" }); i < 0 {
		t.Error("nothing says that totals are of two runs")
	}
	one := []string{"summary", "--format", "json", dir, "--rank-from", `gpu(\d)`, "--group-by", "none"}
	s = summaryOf(t, outputOf(t, one...))
	if i := slices.IndexFunc(s.Issues, func(is summary.Issue) bool { return is.Code == "rank-repeated" }); i < 0 || !strings.Contains(s.Issues[i].Help, "in the same run") {
		t.Errorf("nothing says that a run has a rank twice: %+v", s.Issues)
	}
}

// TestRankFromErrors: values that find nothing, or more than one, are errors in one line.
func TestRankFromErrors(t *testing.T) {
	dir := writeUnnamed(t, func(r int) string { return fmt.Sprintf("a%d-b%d.json", r, 9-r) })
	file := filepath.Join(dir, "a3-b6.json")
	for _, tt := range []struct {
		flags  []string
		status int
		want   string
	}{
		{[]string{"--rank-from", "("}, exitUsage, `--rank-from is "(", want name, folder, or a regular expression (RE2) with one group`},
		{[]string{"--rank-from", "rank"}, exitUsage, "has 0 groups"},
		{[]string{"--rank-from", `(a)(\d)`}, exitUsage, "has 2 groups"},
		{[]string{"--rank-from", `(?=a)(\d)`}, exitUsage, "unsupported Perl syntax"},
		{[]string{"--group-by", `run`}, exitUsage, "--group-by is \"run\", which has 0 groups"},
		{[]string{"--rank-from", "name"}, exitTrouble, "finds no rank in the path"},
		{[]string{"--rank-from", "folder"}, exitTrouble, "finds no rank in the path"},
		{[]string{"--rank-from", `c(\d)`}, exitTrouble, "does not match the path"},
		{[]string{"--rank-from", `[ab](\d)[.-]`}, exitTrouble, `is ambiguous: it finds "3" and "6"`},
		{[]string{"--rank-from", `(a)3`}, exitTrouble, `finds "a", which is not a rank`},
		{[]string{"--group-by", `c(\d)`}, exitTrouble, "does not match the path"},
		{[]string{"--group-by", `a(x?)3`}, exitTrouble, "finds an empty text"},
	} {
		for _, command := range []string{"summary", "doctor"} {
			var stdout, stderr bytes.Buffer
			status := run(env{strings.NewReader(""), &stdout, &stderr}, append([]string{command, file}, tt.flags...))
			if status != tt.status || !strings.Contains(stderr.String(), tt.want) || strings.Count(stderr.String(), "\n") != 1 {
				t.Errorf("%s %v: exit status %d: %s", command, tt.flags, status, stderr.String())
			}
		}
	}
}
