package pipeline

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"assay/internal/test"
	"assay/internal/test/rankgen"
	"assay/summary"
)

// assay is the command of the main module.
var assay string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "assay-beam-test")
	if err != nil {
		panic(err)
	}
	assay = filepath.Join(dir, "assay")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", assay, "./cmd/assay")
	build.Dir = filepath.Join("..", "..", "..")
	if text, err := build.CombinedOutput(); err != nil {
		panic(string(text))
	}
	status := ptest.MainRetWithDefault(m, "prism")
	os.RemoveAll(dir)
	os.Exit(status)
}

// run runs the pipeline on Prism and returns its output directory.
func run(t *testing.T, patterns ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	p, s := beam.NewPipelineWithRoot()
	Build(s, Options{Inputs: patterns, Output: out, Memory: 8 << 30, MadeBy: "(devel)"})
	if _, err := beam.Run(context.Background(), "prism", p); err != nil {
		t.Fatal(err)
	}
	return out
}

// command runs assay and returns its output.
func command(t *testing.T, args ...string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := exec.Command(assay, args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		t.Fatalf("assay %s: %v: %s", args[0], err, stderr.String())
	}
	return stdout.Bytes()
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

// check compares the output of the pipeline with that of "assay merge" and of "assay report"
// of what that merged. The page of the traces themselves has zoomable timelines, too.
func check(t *testing.T, out, traces string) {
	t.Helper()
	merged, report := filepath.Join(t.TempDir(), "merged"), filepath.Join(t.TempDir(), "report")
	command(t, "merge", traces, "-o", merged)
	command(t, "report", merged, "-o", report)
	want := filesOf(t, report)
	for name, text := range filesOf(t, merged) {
		want[filepath.Join("run", name)] = text
	}
	got := filesOf(t, out)
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s differs or is missing: %d bytes, want %d", name, len(got[name]), len(text))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}

// write writes the traces of a run, one directory deep at most, and returns the patterns.
func write(t *testing.T, j *rankgen.Job, given []int) (dir string, patterns []string) {
	t.Helper()
	dir = t.TempDir()
	for _, f := range j.Files(given) {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.JSON, 0o666); err != nil {
			t.Fatal(err)
		}
		if pattern := filepath.Join(filepath.Dir(path), "*.json*"); !slices.Contains(patterns, pattern) {
			patterns = append(patterns, pattern)
		}
	}
	return dir, patterns
}

// TestMany: 256 ranks, or a part of them, give the files of one read, byte for byte.
func TestMany(t *testing.T) {
	j := rankgen.Training(256/test.Every(8), 2)
	dir, patterns := write(t, j, j.Places())
	check(t, run(t, patterns...), dir)
}

// TestScenarios does the same for runs of every kind of group: pipelines, experts, nodes,
// several runs, ranks that are missing, collectives without numbers.
func TestScenarios(t *testing.T) {
	for _, s := range rankgen.Scenarios() {
		if !slices.Contains([]string{"pp_dp_no_seq", "experts", "two_nodes", "trainer_rollout", "random"}, s.Name) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			j, given := s.Job()
			dir, patterns := write(t, j, given)
			check(t, run(t, append(patterns, patterns...)...), dir) // each file matches two patterns
		})
	}
}

// TestCorpus does the same for real runs.
func TestCorpus(t *testing.T) {
	for name, pattern := range map[string]string{"megatron_tp8_a100": "*.json.gz", "hta_sampled_2of128": "*.json.gz", "cs336_ddp_2x3090_nsys": "*.sqlite*"} {
		t.Run(name, func(t *testing.T) {
			dir := test.Corpus(t, "ranks", name)
			test.Files(t, filepath.Join(dir, pattern))
			check(t, run(t, filepath.Join(dir, pattern)), dir)
		})
	}
}

// TestCorrupt: a file that cannot be read is a row of issues, and nothing else changes.
func TestCorrupt(t *testing.T) {
	j := rankgen.Training(4, 2)
	dir, patterns := write(t, j, j.Places())
	whole := run(t, patterns...)
	if err := os.WriteFile(filepath.Join(dir, "rank99.json"), []byte(`{"traceEvents": nothing`), 0o666); err != nil {
		t.Fatal(err)
	}
	out := run(t, patterns...)
	a, b := filesOf(t, filepath.Join(whole, "run")), filesOf(t, filepath.Join(out, "run"))
	for name, text := range a {
		if b[name] != text {
			t.Errorf("%s differs", name)
		}
	}
	if len(a) != len(b) {
		t.Errorf("%d files, want %d", len(b), len(a))
	}
	read := func(dir string) *summary.Summary {
		f, err := os.Open(filepath.Join(dir, "summary.json"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s, err := summary.Read(f, dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want, got := read(whole), read(out)
	i := slices.IndexFunc(got.Issues, func(is summary.Issue) bool { return is.Code == "input-unreadable" })
	if i < 0 || got.Issues[i].Count != 1 || !strings.Contains(got.Issues[i].First, "rank99.json") {
		t.Fatalf("issues: %+v", got.Issues)
	}
	got.Issues = slices.Delete(got.Issues, i, i+1)
	var x, y bytes.Buffer
	if err := summary.Write(&x, want, ""); err != nil {
		t.Fatal(err)
	}
	if err := summary.Write(&y, got, ""); err != nil {
		t.Fatal(err)
	}
	if x.String() != y.String() {
		t.Error("more than the row of issues differs")
	}
}
