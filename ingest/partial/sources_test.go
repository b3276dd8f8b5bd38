package partial

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"assay/summary"
)

// deep has so many nodes that one kernel beside their capture is less than a tenth.
func deep(rows int) []node { return slices.Concat(layer(rows), layer(rows), layer(rows)) }

// measuredGraphs measures traces, each as a file of its own.
func measuredGraphs(t *testing.T, traces ...*graphTrace) (all []Part) {
	t.Helper()
	dir := t.TempDir()
	for i, g := range traces {
		path := filepath.Join(dir, fmt.Sprintf("trace%d.json", i))
		if err := os.WriteFile(path, []byte(g.text()), 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, measuredFile(t, path))
	}
	return all
}

// TestSources: a trace that only captures graphs is no GPU where another one replays graphs,
// and it is one where none does, or where it runs work of its own.
func TestSources(t *testing.T) {
	capture := func(eager int, at int64) *graphTrace {
		g := &graphTrace{ns: at}
		g.capture(captured32, deep(32)) // which runs one kernel
		for range eager {
			g.eager()
		}
		return g
	}
	replay := func() *graphTrace {
		g := new(graphTrace)
		g.eager()
		g.replay(decoded32, "", deep(0), 0)
		return g
	}
	both := capture(0, 0)
	both.ns = both.gpu + 1000
	both.replay(decoded32, "", deep(0), 0)
	for _, c := range []struct {
		name   string
		traces []*graphTrace
		gpus   []int // the inputs that have one
	}{
		{"capture before", []*graphTrace{capture(0, 0), replay()}, []int{1}},
		{"capture after", []*graphTrace{replay(), capture(0, 0)}, []int{0}},
		{"two captures", []*graphTrace{capture(0, 0), replay(), capture(0, 5000)}, []int{1}},
		{"no replay", []*graphTrace{capture(0, 0), capture(0, 5000)}, []int{0, 1}},
		{"work of its own", []*graphTrace{capture(4, 0), replay()}, []int{0, 1}},
		{"a replay of its own", []*graphTrace{both, replay()}, []int{0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := measuredGraphs(t, c.traces...)
			var outlines []Outline
			var records [][]byte
			for i := range all {
				r, err := all[i].Encode("test")
				if err != nil {
					t.Fatal(err)
				}
				records, outlines = append(records, r.JSON), append(outlines, all[i].Outline())
			}
			var alone *summary.Summary
			if len(c.gpus) == 1 {
				alone = Join(measuredGraphs(t, replay()))
			}
			s := Join(all)
			NoteRepeatedRanks(s)
			var gpus, rated []int
			for _, d := range s.Devices {
				gpus = append(gpus, d.Input)
			}
			for _, d := range s.Efficiency.Devices {
				rated = append(rated, d.Input)
			}
			if !slices.Equal(gpus, c.gpus) || !slices.Equal(rated, c.gpus) {
				t.Errorf("GPUs are those of inputs %v and %v, want %v", gpus, rated, c.gpus)
			}
			has := func(code string) bool {
				return slices.ContainsFunc(s.Issues, func(is summary.Issue) bool { return is.Code == code })
			}
			if has(graphSource) == (alone == nil) || has("rank-repeated") != (alone == nil) {
				t.Errorf("issues are %+v", s.Issues)
			}
			if alone == nil {
				return
			}
			sums, want := s.Efficiency.Total(), alone.Efficiency.Total()
			if sums.GPUNS != want.GPUNS || sums.WallNS != want.WallNS || len(s.Kernels) != len(alone.Kernels) || s.Efficiency.Replays[0].From != summary.FromCapture || len(s.Efficiency.Captures) != 0 {
				t.Errorf("sums are %+v, want the times of %+v with operators", sums, want)
			}
			if p, err := NewPlan(outlines); err != nil || len(p.Parts) != len(records) || len(p.Jobs) != 0 {
				t.Errorf("plan is %+v, %v", p, err)
			}
		})
	}
}

// TestSourcesOfRuns: summaries that are not joined have the operators of captures, too, and a
// trace that only captures graphs is none of them.
func TestSourcesOfRuns(t *testing.T) {
	c, r := new(graphTrace), new(graphTrace)
	c.capture(captured32, deep(32))
	r.eager()
	r.replay(decoded32, "", deep(0), 0)
	list := Runs(measuredGraphs(t, c, r, r))
	if len(list) != 2 {
		t.Fatalf("%d summaries, want one of each trace with replays", len(list))
	}
	for _, s := range list {
		if len(s.Efficiency.Replays) != 1 || s.Efficiency.Replays[0].From != summary.FromCapture || len(s.Efficiency.Captures) != 0 {
			text, _ := json.Marshal(s.Efficiency.Replays)
			t.Errorf("replays are %s, want those of the capture", text)
		}
	}
}
