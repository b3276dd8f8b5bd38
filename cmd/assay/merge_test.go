package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/internal/test/rankgen"
)

// saved runs a command that writes to a directory, and returns the directory.
func saved(t *testing.T, dir string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := run(env{strings.NewReader(""), &stdout, &stderr}, append(args, dir)); status != exitOK {
		t.Fatalf("%s: exit status %d: %s", args, status, stderr.String())
	}
	return dir
}

// filesOf returns the texts of the files of a directory by their names.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sameFiles(t *testing.T, what string, a, b map[string]string) {
	t.Helper()
	for name, text := range a {
		if b[name] != text {
			t.Errorf("%s: %s differs or is missing", what, name)
		}
	}
	if len(a) != len(b) {
		t.Errorf("%s: %d files, want %d", what, len(b), len(a))
	}
}

// saveTree splits inputs at random places, saves the parts and merges them in random
// order. Some parts are saved twice, and some inputs are merged as they are.
func saveTree(t *testing.T, rnd *rand.Rand, inputs []string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "p")
	if len(inputs) == 1 || rnd.IntN(4) == 0 {
		return saved(t, dir, append(append([]string{"summary"}, inputs...), "--save")...)
	}
	list := slices.Clone(inputs)
	rnd.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	args := []string{"merge"}
	for len(list) > 0 {
		n := 1 + rnd.IntN(min(len(list), max(1, len(inputs)-1)))
		switch rnd.IntN(6) {
		case 0:
			args = append(args, list[:n]...)
		case 1:
			args = append(args, saveTree(t, rnd, list[:n]), saveTree(t, rnd, list[:n]))
		default:
			args = append(args, saveTree(t, rnd, list[:n]))
		}
		list = list[n:]
	}
	return saved(t, dir, append(args, "-o")...)
}

// checkMerge saves and merges the traces of a directory in a random tree, or in
// several at full size. All merges must have the same files, and answers must be those of
// the traces.
func checkMerge(t *testing.T, rnd *rand.Rand, dir string, inputs []string) {
	t.Helper()
	given := inputs
	if dir != "" {
		given = []string{dir}
	}
	want := outputOf(t, append([]string{"summary", "--format", "json"}, given...)...)
	whole := filesOf(t, saved(t, filepath.Join(t.TempDir(), "whole"), append(append([]string{"summary"}, given...), "--save")...))
	if len(whole) < len(inputs) {
		t.Fatalf("%d files of %d inputs", len(whole), len(inputs))
	}
	trees := 1
	if test.Long() {
		trees = 5
	}
	for range trees {
		merged := saveTree(t, rnd, inputs)
		sameFiles(t, "merged", whole, filesOf(t, merged))
		if got := outputOf(t, "summary", "--format", "json", merged); !bytes.Equal(got, want) {
			t.Fatal("the summary of the partial differs from that of the traces")
		}
	}
}

// TestMergeScenarios: merging is associative and commutative, byte for byte, and answers
// are those of one read, for every generated run.
func TestMergeScenarios(t *testing.T) {
	for i, s := range rankgen.Scenarios() {
		if i%test.Every(4) != 1%test.Every(4) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			j, given := s.Job()
			dir, paths, _ := writeRanks(t, j, given)
			checkMerge(t, rand.New(rand.NewPCG(uint64(i), 1)), dir, paths)
		})
	}
}

// TestMergeCorpus is TestMergeScenarios with real runs.
func TestMergeCorpus(t *testing.T) {
	for i, name := range []string{"megatron_tp8_a100", "deepseek_ep64_train", "cs336_ddp_2x3090_nsys", "hta_sampled_2of128", "nsysai_pipeline_2gpu", "bytedance_ST"} {
		if i%test.Every(3) != 2%test.Every(3) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := ofRanks(t, name)
			var inputs []string
			for _, in := range summaryOf(t, outputOf(t, "summary", "--format", "json", dir)).Inputs {
				inputs = append(inputs, in.Path)
			}
			if others, _ := os.ReadDir(dir); len(others) > len(inputs) {
				dir = "" // a directory also names the files that it left out
			}
			checkMerge(t, rand.New(rand.NewPCG(uint64(i), 2)), dir, inputs)
		})
	}
}

// TestPartialAnswers: every command answers from a partial as from the traces. Partials have
// what the timeline of a page shows only where it was asked for, and no critical paths, which need
// the events, so a report differs by these.
func TestPartialAnswers(t *testing.T) {
	j, given := scenario(t, "slow_gpu")
	dir, paths, _ := writeRanks(t, j, given)
	merged := saveTree(t, rand.New(rand.NewPCG(1, 1)), paths)
	gates := write(t, filepath.Join(t.TempDir(), "gates.yaml"), "gpu.busy_share: '>= 1%'\ncomm.exposed_share: '<= 99%'\n", 0o666)
	for _, args := range [][]string{
		{"summary", "IN"}, {"summary", "IN", "--format", "md"}, {"doctor", "IN"}, {"doctor", "IN", "--format", "json"},
		{"diff", "IN", dir, "-o", "OUT"}, {"diff", dir, "IN", "--format", "json"}, {"check", "IN", "--gates", gates, "-o", "OUT"}, {"check", dir, "--baseline", "IN", "--format", "json"},
	} {
		var stdout [2]string
		var files [2]map[string]string
		for i, in := range []string{dir, merged} {
			out := t.TempDir()
			var now []string
			for _, a := range args {
				now = append(now, strings.NewReplacer("IN", in, "OUT", out).Replace(a))
			}
			stdout[i] = string(outputOf(t, now...))
			files[i] = filesOf(t, out)
		}
		if stdout[0] != stdout[1] {
			t.Errorf("%s: the answer from the partial differs", args)
		}
		sameFiles(t, fmt.Sprint(args), files[0], files[1])
	}
}

// TestPartialsOfTwoRuns: a rank that was saved twice with different content belongs to two
// runs, although both files had one name.
func TestPartialsOfTwoRuns(t *testing.T) {
	slow, given := scenario(t, "slow_host")
	even, places := scenario(t, "even")
	for _, p := range places {
		even.Clock(p, 60_000_000_000) // it ran later
	}
	dir := t.TempDir()
	save := func(j *rankgen.Job, given []int) string {
		for _, f := range j.Files(given) {
			write(t, filepath.Join(dir, f.Name), string(f.JSON), 0o666)
		}
		return saved(t, filepath.Join(t.TempDir(), "p"), "summary", dir, "--save")
	}
	first, second := save(slow, given), save(even, places)
	merged := saved(t, filepath.Join(t.TempDir(), "m"), "merge", second, first, "-o")
	for _, args := range [][]string{{first, second}, {second, first}, {merged}} {
		group, err := loadRuns(env{strings.NewReader(""), io.Discard, io.Discard}, commandNamed(t, "check"), &source{}, args)
		if err != nil {
			t.Fatal(err)
		}
		if len(group.Runs) != 2 {
			t.Fatalf("%d runs, want 2", len(group.Runs))
		}
		checkWaits(t, "first", group.Runs[0], slow.Truth(given))
		checkWaits(t, "second", group.Runs[1], even.Truth(places))
	}
	if text := string(outputOf(t, "summary", "--format", "json", merged)); !strings.Contains(text, "rank-repeated") {
		t.Error("the summary does not say that ranks are repeated")
	}
}

// TestPartialRedacted: secrets in the names of process groups are in no file of a partial,
// and with --redact neither are names of users.
func TestPartialRedacted(t *testing.T) {
	const secret, user = "hf_abcdefghijABCDEFGHIJklmnopqrstuvwx", "/home/adalovelace/x"
	j, given := scenario(t, "even")
	dir, paths, _ := writeRanks(t, j, given)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		now := strings.ReplaceAll(string(text), `"Process Group Name": "`, `"Process Group Name": "`+secret+" "+user+" ")
		if now == string(text) {
			t.Fatal("the trace has no process group")
		}
		write(t, path, now, 0o666)
	}
	for _, args := range [][]string{{"summary", dir, "--save"}, {"summary", dir, "--redact", "--save"}} {
		for name, text := range filesOf(t, saved(t, filepath.Join(t.TempDir(), "p"), args...)) {
			if strings.HasSuffix(name, ".gz") {
				z, err := gzip.NewReader(strings.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				plain, err := io.ReadAll(z)
				if err != nil {
					t.Fatal(err)
				}
				text = string(plain)
			}
			if strings.Contains(text, secret) || len(args) > 3 && strings.Contains(text, "adalovelace") {
				t.Errorf("%s: %s has what must be hidden", args, name)
			}
			if strings.HasSuffix(name, ".collectives") && !strings.Contains(text, "[") {
				t.Errorf("%s has no placeholder", name)
			}
		}
	}
}

// write makes a file and returns its path.
func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

const oneKernel = `[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2}]`
