package ingest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/trace"
)

// loaded opens and loads a file.
func loaded(t *testing.T, path string) (*Input, error) {
	t.Helper()
	f, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return Load(f, trace.Select{Kinds: trace.Every})
}

// TestProfiles: every file of testdata/profilers has the format that its name
// says, and a model with what it holds.
func TestProfiles(t *testing.T) {
	dir := filepath.Join("..", "testdata", "profilers")
	files := test.Files(t, filepath.Join(dir, "*"))
	if len(files) < 15 {
		t.Fatalf("%d files", len(files))
	}
	for _, path := range files {
		name, want := filepath.Base(path), ""
		switch ext := filepath.Ext(name); {
		case ext == ".json" || ext == ".py" || name == "pstats_callers.txt":
			continue
		case ext == ".callgrind":
			want = "callgrind"
		case ext == ".prof" || ext == ".pstat":
			want = "pstats-file"
		case strings.HasPrefix(name, "pstats"):
			want = "pstats"
		default:
			want = "yappi"
		}
		in, err := loaded(t, path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if in.Format != want || in.Tables == nil || len(in.Tables.List[0].Rows) == 0 || in.SHA256 == "" || !in.Tables.Complete {
			t.Errorf("%s is %s, %+v", name, in.Format, in.Tables)
		}
	}
}

// TestCutProfiles: what of a file can be read is, and says that it is cut.
func TestCutProfiles(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "testdata", "profilers", "yappi_cpu.callgrind"))
	if err != nil {
		t.Fatal(err)
	}
	packed := gz(t, string(text))
	path := filepath.Join(t.TempDir(), "cut.callgrind.gz")
	if err := os.WriteFile(path, packed[:len(packed)*9/10], 0o644); err != nil {
		t.Fatal(err)
	}
	in, err := loaded(t, path)
	if err != nil {
		t.Fatal(err)
	}
	if in.Tables.Complete || in.Tables.Issues[0].Code != "input-truncated" || len(in.Tables.List[0].Rows) < 50 {
		t.Errorf("a cut file is %+v", in.Tables)
	}
}

// TestStacks: folded stacks of PyTorch are microseconds, those of others count.
func TestStacks(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		text, column, unit string
		value              int64
		issues             int
	}{
		"torch.txt": {"a.py(21):_<module>;b.py(7):_f 161\na.py(21):_<module>;b.py(7):_f 5\n", "time", "nanoseconds", 166_000, 0},
		"perf.txt":  {"main;f 3\nmain;g 4\n", "samples", "count", 3, 1},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(tt.text), 0o644); err != nil {
			t.Fatal(err)
		}
		in, err := loaded(t, path)
		if err != nil {
			t.Fatal(err)
		}
		p := in.Profile
		if in.Format != "folded" || p.Columns[0].Name != tt.column || p.Columns[0].Unit != tt.unit || p.Samples[0].Values[0] != tt.value || len(p.Issues) != tt.issues {
			t.Errorf("%s is %s, %+v", name, in.Format, p)
		}
	}
}

// TestGymDirectory checks that a log without rows is not read if its directory has the
// same profile with rows, that all other logs are read, and that text that only looks
// like stacks is not.
func TestGymDirectory(t *testing.T) {
	const header = "\nClock type: CPU\nOrdered by: totaltime, desc\n\nname  ncall  tsub  ttot  tavg  \n"
	dir := t.TempDir()
	for name, text := range map[string]string{
		"judge/judge.log": header, "judge/judge.callgrind": "version: 1\ncreator: yappi\nevents: Ticks\nfn=f\n1 5\n", "judge/judge.dot": "digraph {}",
		"alone/alone.log": header, "rows.log": header + "app.py:1 f  1  0.1  0.1  0.1\n", "rows.callgrind": "version: 1\nevents: Ticks\nfn=f\n1 5\n",
		"rates.txt": "a;b 1\nc;d 2\n", "run.folded": "a;b 1\nc;d 2\n", "cpu_stacks.txt": "a;b 1\nc;d 2\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := Paths([]string{dir})
	var got []string
	for _, path := range c.Files {
		rel, _ := filepath.Rel(dir, path)
		got = append(got, filepath.ToSlash(rel))
	}
	want := []string{"alone/alone.log", "cpu_stacks.txt", "judge/judge.callgrind", "rows.callgrind", "rows.log", "run.folded"}
	if !slices.Equal(got, want) || c.Others != 3 || len(c.Failed) != 0 {
		t.Errorf("got %q, %d others, %v; want %q, 3", got, c.Others, c.Failed, want)
	}
}

// TestYappiPickle: what only Python can load is refused with another way to save
// it.
func TestYappiPickle(t *testing.T) {
	for _, head := range []string{"\x80\x02cyappi\nYFuncStats\nq\x00", "\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x05yappi\x94\x8c\nYFuncStats"} {
		path := filepath.Join(t.TempDir(), "x.ystat")
		if err := os.WriteFile(path, []byte(head), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := loaded(t, path)
		var refused *Refusal
		if !errors.As(err, &refused) || !strings.Contains(refused.Do, `stats.save("profile.callgrind", type="callgrind")`) {
			t.Errorf("%q: %v", head, err)
		}
	}
}
