package main

import (
	"assay/internal/test"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRunsAgree: diff and check find the same runs in the same files. Each case lists
// files of a side as "NAME", as "NAME+" if it was recorded a minute after the trace, or as "NAME=OTHER" for a copy of
// another one's bytes.
func TestRunsAgree(t *testing.T) {
	trace := test.Unpacked(t, filepath.Join("..", "..", "testdata", "gen", "llm_train_step.json.gz"))
	for _, tc := range []struct {
		name, files string
		runs        int
	}{
		{"one capture", "a.json", 1},
		{"two identical copies", "a.json b.json=a.json", 1},
		{"two captures", "a.json b.json", 2},
		{"several captures of one process", "h_7.1690000000000.pt.trace.json h_7.1690000060000.pt.trace.json+", 1},
		{"captures of one process at the same time", "h_7.1690000000000.pt.trace.json h_7.1690000000999.pt.trace.json", 2},
		{"captures of two processes", "h_7.1690000000000.pt.trace.json h_8.1690000000999.pt.trace.json", 2},
		{"runs in directories", "r1/t.json r2/t.json r3/t.json", 3},
	} {
		dir := t.TempDir()
		written := map[string][]byte{}
		for i, spec := range strings.Fields(tc.files) {
			name, same, copied := strings.Cut(spec, "=")
			// White space behind the trace makes another file of it, with the same events.
			text := slices.Concat(trace, bytes.Repeat([]byte("\n"), i))
			if first, is := strings.CutSuffix(name, "+"); is {
				name, text = first, bytes.Replace(text, []byte("1751410836000000000"), []byte("1751410896000000000"), 1)
			}
			if copied {
				text = written[same]
			}
			written[name] = text
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		var diff struct {
			Base struct{ Runs int }
		}
		var check struct{ Runs, Baseline []any }
		jsonOf(t, &diff, "diff", dir, dir, "--format", "json")
		jsonOf(t, &check, "check", dir, "--baseline", dir, "--format", "json")
		if diff.Base.Runs != tc.runs || len(check.Runs) != tc.runs || len(check.Baseline) != tc.runs {
			t.Errorf("%s: diff finds %d runs, check %d and %d in the baseline; want %d", tc.name, diff.Base.Runs, len(check.Runs), len(check.Baseline), tc.runs)
		}
	}
}

func jsonOf(t *testing.T, v any, args ...string) {
	t.Helper()
	var out, talk bytes.Buffer
	run(env{strings.NewReader(""), &out, &talk}, args)
	if err := json.Unmarshal(out.Bytes(), v); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, talk.String())
	}
}
