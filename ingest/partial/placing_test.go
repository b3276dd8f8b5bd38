package partial

import (
	"strings"
	"testing"

	"assay/ingest"
)

// TestRank: the rank of a path, or what the error says.
func TestRank(t *testing.T) {
	for _, tc := range []struct {
		from, path string
		rank       int
		message    string
	}{
		{from: `w(\d+)\.json`, path: "run/w12.json", rank: 12},
		{from: `run/(\d+)/`, path: `run\3\t.json`, rank: 3},
		{from: `(\d+)`, path: "7/7.json", rank: 7},
		{from: `(\d+)`, path: "7/8.json", message: `ambiguous: it finds "7" and "8"`},
		{from: `w(\d+)`, path: "t.json", message: "does not match the path"},
		{from: `(w)`, path: "w.json", message: "not a rank"},
		{from: `(\d+)`, path: "16777216.json", message: "below 16777216"},
		{from: `(\d+)`, path: "16777215.json", rank: 1<<24 - 1},
		{from: "name", path: "t.json", message: "finds no rank"},
	} {
		p, err := ParsePathRules(tc.from, "")
		if err != nil {
			t.Fatal(err)
		}
		in := &ingest.Input{Path: tc.path}
		err = p.Apply(in)
		switch {
		case tc.message != "":
			if err == nil || !strings.Contains(err.Error(), tc.message) {
				t.Errorf("%s of %s: %v, want %q", tc.from, tc.path, err, tc.message)
			}
		case err != nil || in.Rank != tc.rank:
			t.Errorf("%s of %s: rank %d, %v; want %d", tc.from, tc.path, in.Rank, err, tc.rank)
		}
	}
}

// TestParse: an expression needs exactly one group.
func TestParse(t *testing.T) {
	for text, ok := range map[string]bool{"": true, "folder": true, `a(\d)`: true, `a(?:b)(\d)`: true, `a\d`: false, `(a)(\d)`: false, "(": false} {
		if _, err := ParsePathRules(text, ""); (err == nil) != ok {
			t.Errorf("--rank-from %q: %v, want no error: %v", text, err, ok)
		}
		if _, err := ParsePathRules("", text); (err == nil) != ok {
			t.Errorf("--group-by %q: %v, want no error: %v", text, err, ok)
		}
	}
}

// TestEmptyRun: a run has a name.
func TestEmptyRun(t *testing.T) {
	p, err := ParsePathRules("", `run(\d*)/`)
	if err != nil {
		t.Fatal(err)
	}
	if run, _, err := p.Run(&ingest.Input{Path: "run4/t.json"}); run != "4" || err != nil {
		t.Errorf("run %q, %v; want 4", run, err)
	}
	if run, _, err := p.Run(&ingest.Input{Path: "run/t.json"}); err == nil {
		t.Errorf("run %q without an error", run)
	}
}
