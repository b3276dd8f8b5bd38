package forecast_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/analyze/critical"
	"assay/analyze/critical/change"
	"assay/analyze/critical/forecast"
	"assay/analyze/critical/graph"
	"assay/internal/interval"
	"assay/internal/test"
	"assay/trace"
)

// reference returns a file of the independent reference, or skips the test.
func reference(t *testing.T, name string) []byte {
	text, err := os.ReadFile(filepath.Join(test.Corpus(t, ".."), "accept", "critical", name))
	if err != nil {
		t.Skip(err)
	}
	return text
}

func read(t *testing.T, text []byte) *trace.Trace {
	t.Helper()
	if bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if text, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := trace.Read(bytes.NewReader(text), "test", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func modelOf(g *graph.Graph) *forecast.Model { return forecast.ModelOf(critical.New(g)) }

// joined returns the model of ranks, or why they cannot be joined.
func joined(gs []*graph.Graph) (*forecast.Model, string) {
	if len(gs) == 1 {
		return modelOf(gs[0]), ""
	}
	g, apart := graph.Join(gs)
	if g == nil {
		return nil, apart
	}
	return modelOf(g), ""
}

// reproduced reports whether an unchanged replay gives back when every node ended.
func reproduced(g *forecast.Model) bool {
	again, was := g.ReplayInto(nil, nil, false, g.Plan), g.Measured()
	for v := range g.Nodes {
		if again.End(int32(v)) != was.End(int32(v)) {
			return false
		}
	}
	return true
}

// windows returns the annotations whose name matches, by start, and only the k-th if k is not -1.
func windows(tr *trace.Trace, pattern string, k int) (out []graph.Window) {
	re := regexp.MustCompile(pattern)
	for s := range tr.Spans.All() {
		if s.Kind == trace.Annotation && !tr.Tracks[s.Track].OnDevice && re.MatchString(tr.Name(s.Name)) {
			out = append(out, graph.Window{Name: tr.Name(s.Name), Track: s.Track, Span: interval.Span{Start: s.Start, End: s.Start + s.Dur}})
		}
	}
	if k >= 0 {
		return out[k : k+1]
	}
	slices.SortStableFunc(out, func(a, b graph.Window) int { return int(min(1, max(-1, a.Span.Start-b.Span.Start))) })
	return out
}

// changesOf reads changes as the command takes them.
func changesOf(args []string) (out []change.Change) {
	for _, a := range args {
		if name, ok := strings.CutPrefix(a, "--"); ok {
			out = append(out, change.Change{Kind: name})
		} else {
			out[len(out)-1].Value = a
		}
	}
	return out
}

func TestReferenceCases(t *testing.T) {
	var cases []struct {
		Name   string
		Events json.RawMessage
		Path   map[string]float64 `json:"path_us"`
		Step   int
		Whatif map[string]float64 `json:"whatif_us"`
	}
	if err := json.Unmarshal(reference(t, "cases.json"), &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			tr := read(t, []byte(`{"traceEvents":`+string(c.Events)+`}`))
			g := modelOf(graph.Of(tr, graph.Options{Windows: windows(tr, "ProfilerStep", -1)}))
			paths := g.Paths()
			p := paths[c.Step]
			for class, ns := range p.Classes {
				if want := int64(math.Round(1000 * c.Path[graph.Class(class).String()])); ns != want {
					t.Errorf("%v: %d ns, want %d", graph.Class(class), ns, want)
				}
			}
			for arg, want := range c.Whatif {
				f, _, err := g.Forecast(paths, changesOf(strings.Fields(arg)))
				if err != nil {
					t.Fatal(err)
				}
				if got := f[c.Step].Forecast; math.Abs(float64(got)-1000*want) > 1 {
					t.Errorf("%s: %d ns, want %g µs", arg, got, want)
				}
			}
		})
	}
}

// TestReferenceExpected compares paths and forecasts of real traces with those of the reference.
func TestReferenceExpected(t *testing.T) {
	var all []struct {
		File    string
		Window  []any
		Graph   map[string]float64
		Typical map[string]any
		Steps   []struct {
			Step      string
			Time      float64            `json:"time_us"`
			Share     map[string]float64 `json:"share_pct"`
			Explained float64            `json:"explained_replay_error_pct"`
			Inferred  float64            `json:"inferred_on_path_pct"`
			Unlaunch  float64            `json:"unlaunched_on_path_pct"`
			Verdict   string
			Reasons   []string
		}
		Whatif map[string][]float64 `json:"whatif_us"`
	}
	if err := json.Unmarshal(reference(t, "expected.json"), &all); err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		t.Run(c.File, func(t *testing.T) {
			pattern, k := "ProfilerStep", -1
			if c.Window != nil {
				pattern, k = c.Window[0].(string), int(c.Window[1].(float64))
			}
			files := []string{c.File}
			if folder, ok := strings.CutSuffix(c.File, " (8 ranks joined)"); ok {
				files = nil
				for r := range 8 {
					files = append(files, fmt.Sprintf("%s/rank%d.json.gz", folder, r))
				}
			}
			var gs []*graph.Graph
			for _, f := range files {
				text, err := os.ReadFile(filepath.Join(test.Corpus(t, "."), f))
				if err != nil {
					t.Skip(err)
				}
				tr := read(t, text)
				gs = append(gs, graph.Of(tr, graph.Options{Windows: windows(tr, pattern, k)}))
			}
			g, _ := joined(gs)
			paths := g.Paths()
			if len(paths) != len(c.Steps) {
				t.Fatalf("%d steps, want %d", len(paths), len(c.Steps))
			}
			// The reference adds a join for each work of a graph launched into a full queue; all but the last are without effect.
			// It has none for the calls of copies from pageable memory that return before the end of their copy, where
			// measurements on an H200 show that the call lasts as long.
			if c.Graph["full_queue_launches"] == 0 && g.Counts.Nodes-g.Counts.Staged != int(c.Graph["nodes"]) {
				t.Errorf("%d nodes, %d edges; want %v", g.Counts.Nodes, g.Counts.Edges, c.Graph)
			}
			for i, s := range c.Steps {
				p := &paths[i]
				total := float64(p.Window.Len())
				if math.Abs(total/1000-s.Time) > 0.001*s.Time {
					t.Errorf("%s: %g µs, want %g", s.Step, total/1000, s.Time)
				}
				for class, ns := range p.Classes {
					got, want := 100*float64(ns)/total, s.Share[graph.Class(class).String()]
					if math.Abs(got-want) > 0.05 {
						t.Errorf("%s: %v %.2f%%, want %.2f%%", s.Step, graph.Class(class), got, want)
					}
				}
				if got := p.Verdict.Level.String(); got != s.Verdict {
					t.Errorf("%s: verdict %s %v, want %s %v", s.Step, got, p.Verdict.Reasons, s.Verdict, s.Reasons)
				}
				if p.Exact != p.Window.Len() || !reproduced(g) {
					t.Errorf("%s: replay %d, measured %d", s.Step, p.Exact, p.Window.Len())
				}
			}
			for arg, want := range c.Whatif {
				f, _, err := g.Forecast(paths, changesOf(strings.Fields(arg)))
				if err != nil {
					t.Fatal(err)
				}
				for i := range want {
					if got := float64(f[i].Forecast) / 1000; math.Abs(got-want[i]) > 0.001*math.Abs(want[i]) {
						t.Errorf("%s: step %d: %g µs, want %g", arg, i, got, want[i])
					}
				}
			}
		})
	}
}

func graphOf(t *testing.T, path string) *graph.Graph {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Skip(err)
	}
	tr := read(t, text)
	return graph.Of(tr, graph.Options{Windows: windows(tr, "ProfilerStep", -1)})
}

// TestReferencePrograms compares paths and forecasts with programs that were simulated, and run
// again with each change.
func TestReferencePrograms(t *testing.T) {
	var check struct {
		Composition map[string][]any
	}
	if err := json.Unmarshal(reference(t, "check.json"), &check); err != nil {
		t.Fatal(err)
	}
	folder := test.Corpus(t, "..", "accept", "critical", "sim")
	truths := test.Files(t, filepath.Join(folder, "truth_*.json"))
	if len(truths) < 20 {
		t.Fatalf("%d programs", len(truths))
	}
	counts := map[string][2]int{}
	for _, path := range truths {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "truth_"), ".json")
		t.Run(name, func(t *testing.T) {
			var truth struct {
				Steps     []float64            `json:"step_us"`
				Path      []map[string]float64 `json:"critical_path"`
				Changes   map[string][]float64
				Arguments map[string][]string
			}
			text, err := os.ReadFile(path)
			if err == nil {
				err = json.Unmarshal(text, &truth)
			}
			if err != nil {
				t.Fatal(err)
			}
			var g *forecast.Model
			if _, err := os.Stat(filepath.Join(folder, "trace_"+name+".json.gz")); err != nil {
				var gs []*graph.Graph
				for _, f := range test.Files(t, filepath.Join(folder, "trace_"+name+"_rank*.json.gz")) {
					gs = append(gs, graphOf(t, f))
				}
				g, _ = joined(gs)
			} else {
				g = modelOf(graphOf(t, filepath.Join(folder, "trace_"+name+".json.gz")))
			}
			paths := g.Paths()
			worst := critical.OK
			for i, p := range paths[:len(truth.Steps)] {
				if i > 0 {
					worst = max(worst, p.Verdict.Level)
				}
			}
			if want := check.Composition[name][5].(string); worst.String() != want {
				t.Errorf("verdict %v, want %s", worst, want)
			}
			for i, p := range paths[:len(truth.Steps)] {
				off := 0.0
				for class, ns := range p.Classes {
					off += math.Abs(float64(ns)/1000 - truth.Path[i][graph.Class(class).String()])
				}
				if off = 50 * off / truth.Steps[i]; off > 1 && worst != critical.Abstain {
					t.Errorf("%s: the path is %.2f%% off", p.Step, off)
				}
			}
			for change, after := range truth.Changes {
				f, _, err := g.Forecast(paths, changesOf(truth.Arguments[change]))
				if err != nil {
					t.Fatal(err)
				}
				level, got, want := critical.OK, 0.0, 0.0
				for i := 1; i < len(after); i++ {
					level = max(level, f[i].Verdict.Level)
					got += float64(f[i].Forecast) / 1000
					want += after[i]
				}
				n := counts[level.String()]
				n[0]++
				if off := 100 * math.Abs(got-want) / want; off > 2 {
					n[1]++
					if level == critical.OK {
						t.Errorf("%s: %g µs, truth %g: %.2f%% off", change, got, want, off)
					}
				}
				counts[level.String()] = n
			}
		})
	}
	t.Logf("forecasts, and those over 2%% off: %v", counts)
}
