package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/internal/test/rankgen"
	"assay/summary"
)

// commanded returns what a command prints, what it says and its exit status.
func commanded(args ...string) (out, talk string, status int) {
	var o, e bytes.Buffer
	status = run(env{strings.NewReader(""), &o, &e}, args)
	return o.String(), e.String(), status
}

// rolledFiles writes the JSON of a run of several ranks, once rolled up and once with all rows.
func rolledFiles(t *testing.T, dir string) (rolled, full string) {
	t.Helper()
	into := t.TempDir()
	for name, more := range map[string][]string{"rolled.json": nil, "full.json": {"--full"}} {
		out, talk, status := commanded(append([]string{"summary", dir, "--format", "json"}, more...)...)
		if status != 0 {
			t.Fatal(talk)
		}
		write(t, filepath.Join(into, name), out, 0o666)
	}
	return filepath.Join(into, "rolled.json"), filepath.Join(into, "full.json")
}

// TestRolledUpBaseline: diff and check have the same results for a summary that is rolled up
// and for one with all rows, on either side.
func TestRolledUpBaseline(t *testing.T) {
	for _, name := range []string{"slow_gpu", "tp_dp", "experts"} {
		j, given := scenario(t, name)
		dir, _, _ := writeRanks(t, j, given)
		rolled, full := rolledFiles(t, dir)
		other, _, _ := writeRanks(t, rankgen.Training(len(given), 5), given)
		if n := summaryOf(t, []byte(unread(t, rolled))).RolledUpInputs(); n != len(given)-3 {
			t.Errorf("%s: %d of %d ranks are rolled up, want all but 3", name, n, len(given))
		}
		for _, args := range [][]string{
			{"diff", "FILE", other}, {"diff", other, "FILE"}, {"diff", "FILE", dir},
			{"diff", "FILE", other, "--by", "kernel,category"}, {"diff", other, "FILE", "--by", "cause"},
			{"check", other, "--baseline", "FILE"}, {"check", "FILE", "--baseline", other}, {"check", "FILE", "--baseline", dir},
		} {
			of := func(file string) string {
				args := slices.Clone(args)
				args[slices.Index(args, "FILE")] = file
				out, _, status := commanded(append(args, "--format", "json")...)
				return fmt.Sprint(status, out)
			}
			if a, b := of(rolled), of(full); a != b || len(a) < 1000 {
				t.Errorf("%s: %v differ:\n%s\nwith all rows\n%s", name, args, a, b)
			}
		}
	}
}

func unread(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRolledUpRefused: what needs the rows of every rank refuses a summary that is rolled up.
func TestRolledUpRefused(t *testing.T) {
	dir, _, _ := writeRanks(t, rankgen.Training(8, 3), []int{0, 1, 2, 3, 4, 5, 6, 7})
	rolled, full := rolledFiles(t, dir)
	for _, args := range [][]string{{"summary"}, {"report", "-o", filepath.Join(t.TempDir(), "out")}, {"accept", "--baseline", filepath.Join(t.TempDir(), "base"), "--reason", "x", dir}} {
		if _, talk, status := commanded(append(args, rolled)...); status != 3 || !strings.Contains(talk, "rolled up") || !strings.Contains(talk, "--full") {
			t.Errorf("%s: status %d, %s", args[0], status, talk)
		}
		if _, talk, status := commanded(append(args, full)...); status != 0 {
			t.Errorf("%s of all rows: status %d, %s", args[0], status, talk)
		}
	}
	for _, by := range [][]string{{"--by", "rank"}, {"--by", "op", "--where", "device=0"}, {"--by", "operator"}} {
		if _, talk, status := commanded(append([]string{"diff", dir, rolled}, by...)...); status != 3 || !strings.Contains(talk, "rolled up") || !strings.Contains(talk, "--full") {
			t.Errorf("diff %s: status %d, %s", by, status, talk)
		}
	}
	gates := write(t, filepath.Join(t.TempDir(), "gates.yaml"), "kernels.total{rank=5}: \"<= 10s\"\nkernels.total: \"<= 10s\"\n", 0o666)
	out, _, status := commanded("check", rolled, "--gates", gates)
	if status != 3 || !strings.Contains(out, "rolled up") || strings.Count(out, "pass") == 0 {
		t.Errorf("gates of a rank: status %d\n%s", status, out)
	}
	if out, _, status = commanded("check", full, "--gates", gates); status != 0 {
		t.Errorf("with all rows: status %d\n%s", status, out)
	}
}

// TestAcceptRolledUp: a baseline of many ranks may be a summary that is rolled up. Checks
// against it have the results of one with all rows.
func TestAcceptRolledUp(t *testing.T) {
	j, given := scenario(t, "slow_gpu")
	dir, _, _ := writeRanks(t, j, given)
	other, _, _ := writeRanks(t, rankgen.Training(len(given), 5), given)
	rolled, full := rolledFiles(t, dir)
	var results [2]string
	for i, file := range []string{rolled, full} {
		base := filepath.Join(t.TempDir(), "base")
		if _, talk, status := commanded("accept", file, "--baseline", base, "--reason", "x"); status != 0 {
			t.Fatalf("%s: status %d, %s", file, status, talk)
		}
		if out, talk, status := commanded("check", dir, "--baseline", base); status != 0 || !strings.Contains(out, "comm.wait_share") {
			t.Errorf("%s against itself: status %d, %s%s", file, status, out, talk)
		}
		out, _, _ := commanded("check", other, "--baseline", base, "--format", "benchmark")
		results[i] = out
	}
	if results[0] != results[1] || len(results[0]) < 500 {
		t.Errorf("rolled up\n%s\nwith all rows\n%s", results[0], results[1])
	}
}

// statesOf returns the states of the steps in a JSON by rank and step.
func statesOf(t *testing.T, path string) map[string]string {
	t.Helper()
	var v struct {
		Steps []struct {
			Rank int
			Name string
		}
		States []string `json:"step_states"`
	}
	if err := json.Unmarshal([]byte(unread(t, path)), &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Steps) != len(v.States) {
		t.Errorf("%d steps have %d states", len(v.Steps), len(v.States))
	}
	out := map[string]string{}
	for i, st := range v.Steps {
		out[fmt.Sprint(st.Rank, st.Name)] = v.States[i]
	}
	return out
}

// withKeys returns the entries of a map whose keys another has.
func withKeys(m, keys map[string]string) map[string]string {
	m = maps.Clone(m)
	maps.DeleteFunc(m, func(k, _ string) bool { _, ok := keys[k]; return !ok })
	return m
}

// TestRolledUpWithoutSteps: of many ranks and steps, the summary has no steps of each rank, and what
// needs them is refused.
func TestRolledUpWithoutSteps(t *testing.T) {
	j := rankgen.Training(40, 60)
	dir, _, _ := writeRanks(t, j, j.Places())
	rolled, full := rolledFiles(t, dir)
	s := summaryOf(t, []byte(unread(t, rolled)))
	if a, b := statesOf(t, rolled), statesOf(t, full); len(a) >= len(b) || !maps.Equal(a, withKeys(b, a)) {
		t.Errorf("states of %d steps, of %d with all rows, which differ", len(a), len(b))
	}
	if n := len(s.Steps); n == 0 || n > 8*60 || s.Inputs[s.Ranks[1].Input].RolledUp != summary.RolledSteps && s.Inputs[s.Ranks[2].Input].RolledUp != summary.RolledSteps {
		t.Errorf("%d rows of steps", n)
	}
	for _, r := range s.Ranks {
		if r.Steps == nil || r.Steps.Count != 60 || r.Budget == nil {
			t.Fatalf("rank %d: %+v", r.Rank, r)
		}
	}
	if _, talk, status := commanded("diff", rolled, dir); status != 3 || !strings.Contains(talk, "without the steps of every rank") || strings.Contains(talk, "--force") {
		t.Errorf("diff: status %d, %s", status, talk)
	}
	out, _, _ := commanded("check", dir, "--baseline", rolled, "--format", "json")
	var checked struct {
		Gates []struct{ Metric, Result, Why string }
	}
	if err := json.Unmarshal([]byte(out), &checked); err != nil {
		t.Fatal(err)
	}
	for _, g := range checked.Gates {
		if ofSteps := strings.Contains(g.Metric, "step") && g.Metric != "step.decode_time"; ofSteps && (g.Result == "pass" || !strings.Contains(g.Why, "rolled up")) {
			t.Errorf("%s is %s: %s", g.Metric, g.Result, g.Why)
		}
	}
}

// TestRolledUpOrder: the roll-up is the same whatever the order of the files, and a single trace
// has none.
func TestRolledUpOrder(t *testing.T) {
	dir, paths, _ := writeRanks(t, rankgen.Training(9, 2), []int{0, 1, 2, 3, 4, 5, 6, 7, 8})
	want, _, _ := commanded("summary", dir, "--format", "json")
	slices.Reverse(paths)
	if got, _, _ := commanded(append([]string{"summary", "--format", "json"}, paths...)...); got != want {
		t.Error("the order of the files changes the summary")
	}
	plain, _, _ := commanded("summary", paths[0], "--format", "json")
	full, _, _ := commanded("summary", paths[0], "--format", "json", "--full")
	if plain != full || strings.Contains(plain, `"rolled`) {
		t.Error("a single trace is rolled up")
	}
	saved := t.TempDir()
	if _, talk, status := commanded("summary", dir, "--save", saved); status != 0 {
		t.Fatal(talk)
	}
	files := test.Files(t, filepath.Join(saved, "*.json.gz"))
	if len(files) != len(paths) {
		t.Fatal(files)
	}
	for _, f := range files {
		if text := test.Unpacked(t, f); bytes.Contains(text, []byte(`"rolled`)) {
			t.Error("a saved summary is rolled up")
		}
	}
}

// TestRolledUpSize: the JSON of 8 real ranks, and of many small ones, stays within its limit.
func TestRolledUpSize(t *testing.T) {
	sizes := map[string]int{}
	if dir, ok := test.FindCorpus(t, "ranks", "megatron_tp8_a100"); ok {
		sizes[dir] = 700_000
	}
	ranks, limit := 200, 2_000_000
	if test.Long() {
		ranks, limit = 1000, 5_000_000
	}
	j := rankgen.Training(ranks, 2)
	dir, _, _ := writeRanks(t, j, j.Places())
	sizes[dir] = limit
	for dir, limit := range sizes {
		out, talk, status := commanded("summary", dir, "--format", "json")
		if status != 0 || len(out) > limit || len(out) < limit/4 {
			t.Errorf("%s has %d bytes, want at most %d: %s", dir, len(out), limit, talk)
		}
	}
}
