package forecast_test

import (
	"compress/gzip"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"assay/analyze/critical"
	"assay/analyze/critical/graph"
	"assay/internal/interval"
	"assay/internal/test"
	"assay/trace"
)

// lanes returns the nodes of a step on each lane: those of the host within its times, and the work
// launched in it.
func lanes(g *critical.Program, w interval.Span) map[[2]int32][]int32 {
	out := make(map[[2]int32][]int32)
	threads := make([]int32, len(g.Nodes))
	for i := range g.Nodes {
		v, n := int32(i), &g.Nodes[i]
		lane, from, to := [2]int32{0, graph.None}, g.Start[v], g.End(v)
		if n.Flags&graph.IsGPU != 0 {
			s := g.SpanOf(v)
			if s == nil {
				continue
			}
			lane, from, to = [2]int32{1, g.Work(v).Stream}, s.Start, s.Start+1
		} else {
			if n.Owner != graph.None {
				lane[1] = g.Ranks[0].Spans[n.Owner].Thread
			} else if n.Pred != graph.None && n.Pred < v {
				lane[1] = threads[n.Pred]
			}
			threads[v] = lane[1]
		}
		if from >= w.Start && to <= w.End {
			out[lane] = append(out[lane], v)
		}
	}
	for _, vs := range out {
		slices.SortStableFunc(vs, func(a, b int32) int { return int(min(1, max(-1, g.Start[a]-g.Start[b]))) })
	}
	return out
}

// alike pairs the nodes of two steps: the nth of a name on a lane. It also returns how many nodes
// the first step has.
func alike(g *critical.Program, a, b interval.Span) (pairs map[int32]int32, total int) {
	type key struct {
		lane [2]int32
		name string
		nth  int
	}
	number := func(w interval.Span) map[key]int32 {
		out := make(map[key]int32)
		for lane, vs := range lanes(g, w) {
			count := make(map[string]int)
			for _, v := range vs {
				name := g.Name(v)
				out[key{lane, name, count[name]}] = v
				count[name]++
			}
		}
		return out
	}
	from, to := number(a), number(b)
	pairs = make(map[int32]int32)
	for k, v := range from {
		if u, ok := to[k]; ok {
			pairs[v] = u
		}
	}
	return pairs, len(from)
}

// TestOtherStepAsTruth takes the graph of one step, gives every node the duration that it has in
// another step, and compares the replay with how long the other step took: a forecast whose truth
// was measured. Durations of communication hold the wait for other ranks, so those of the first
// step stay in a second forecast.
func TestOtherStepAsTruth(t *testing.T) {
	for _, tt := range []struct {
		file         string
		alike, other float64 // % off at most: steps with the same nodes but for 2 %, and others
	}{
		{"hta/nccl_parser_config/nccl_data.json.gz", 0.02, 0.02},
		{"tracelens/mi300/resnet_act_checkpoint.json.gz", 0.2, 0.2},
		{"hta/trace_diff/test/test.json.gz", 1, 4},
		// Waits for other ranks, and for what the trace does not tell: all paths carry a warning.
		{"hta/trace_diff/control/control.json.gz", 3, 9.5},
	} {
		f, err := os.Open(test.Corpus(t, "kineto", tt.file))
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := trace.Read(z, "x", trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		var steps []graph.Window
		for s := range tr.Spans.All() {
			if s.Kind == trace.Annotation && !tr.Tracks[s.Track].OnDevice && strings.HasPrefix(tr.Name(s.Name), "ProfilerStep") {
				steps = append(steps, graph.Window{Name: tr.Name(s.Name), Track: s.Track, Span: interval.Span{Start: s.Start, End: s.Start + s.Dur}})
			}
		}
		slices.SortFunc(steps, func(a, b graph.Window) int { return int(min(1, max(-1, a.Span.Start-b.Span.Start))) })
		g := critical.New(graph.Of(tr, graph.Options{Windows: steps}))
		was := g.Measured()
		measured, paths := g.Lengths(&was), g.Paths()
		sizes := make([]int, len(steps))
		for i := range steps {
			_, sizes[i] = alike(g, steps[i].Span, steps[i].Span)
		}
		for i := 1; i < len(g.Steps); i++ {
			for k := 1; k < len(g.Steps); k++ {
				if i == k {
					continue
				}
				pairs, total := alike(g, steps[i].Span, steps[k].Span)
				forecast := func(comm bool) float64 {
					r := g.Unchanged()
					r.Dur = slices.Clone(r.Dur)
					for v, u := range pairs {
						if comm || g.Nodes[v].Class != graph.Comm {
							r.Dur[v] = g.Dur[u]
						}
					}
					s := g.ReplayInto(nil, r, false, g.Plan)
					return 100 * (float64(g.Lengths(&s)[i].Len())/float64(measured[k].Len()) - 1)
				}
				all, alone, none := forecast(true), forecast(false), 100*(float64(measured[i].Len())/float64(measured[k].Len())-1)
				t.Logf("%s: %s as %s: %+.2f%%, %+.2f%% with its own communication, %+.2f%% without a forecast; %d of %d nodes; %v",
					path.Base(tt.file), steps[i].Name, steps[k].Name, all, alone, none, len(pairs), total, paths[i].Verdict.Level)
				limit := tt.other
				if share := float64(len(pairs)); share > 0.98*float64(total) && share > 0.98*float64(sizes[k]) {
					limit = tt.alike
				}
				if math.Abs(all) > limit || paths[i].Verdict.Level == critical.OK && math.Abs(all) > 2 {
					t.Errorf("off by %.2f%%, want at most %g%%", all, limit)
				}
			}
		}
	}
}
