package whatif_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/analyze/critical/change"
	"assay/analyze/whatif"
	"assay/internal/test/captures"
)

// TestCostElsewhere: what recording an event costs is fitted to every second of the programs that the CPU limits and
// that were timed without a profiler too. At that cost, the steps of the others are nearer to their measured times than
// with the profiler: by a third or more, though programs differ.
func TestCostElsewhere(t *testing.T) {
	folder := filepath.Join("..", "..", "testdata", "h200", "pairs")
	text, err := os.ReadFile(filepath.Join(folder, "pairs.json"))
	var all struct{ Pairs []pair }
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	type program struct {
		name            string
		in              whatif.Input
		cost            float64
		profiled, given float64
	}
	var programs []program
	for _, p := range all.Pairs {
		for side, times := range map[string][]float64{"before": p.Before, "after": p.After} {
			given := 1000 * middle(times)
			in := whatif.Input{Trace: captures.Load(t, filepath.Join(folder, p.Name, side+".json.gz")).Trace}
			a, err := whatif.Of([]whatif.Input{in}, whatif.Question{Given: int64(given)})
			if err != nil {
				t.Fatal(err)
			}
			x := a.Profiler[0]
			if profiled := float64(x.MeasuredNS); x.Reason == "" && profiled > 1.05*given {
				programs = append(programs, program{p.Name + " " + side, in, *x.CostNS, profiled, given})
			}
		}
	}
	slices.SortFunc(programs, func(a, b program) int { return strings.Compare(a.name, b.name) })
	var costs []float64
	for i := 0; i < len(programs); i += 2 {
		costs = append(costs, programs[i].cost)
	}
	if len(programs) < 4 {
		t.Fatalf("%d programs", len(programs))
	}
	cost := middle(costs)
	for i := 1; i < len(programs); i += 2 {
		p := &programs[i]
		groups, _ := whatif.Graphs([]whatif.Input{p.in}, whatif.Question{})
		g := groups[0]
		paths := g.Paths()
		g.At(cost)
		list, _, err := g.Forecast(paths, []change.Change{{Kind: "host", Value: "1"}})
		if err != nil {
			t.Fatal(err)
		}
		var steps []float64
		for _, f := range list {
			steps = append(steps, float64(f.Fitted))
		}
		got := middle(steps)
		t.Logf("%-28s at %.2f µs an event (its own: %.2f): %.3f ms, measured %.3f without the profiler (%+.1f%%) and %.3f with it (%+.1f%%)",
			p.name, cost/1000, p.cost/1000, got/1e6, p.given/1e6, 100*(got/p.given-1), p.profiled/1e6, 100*(p.profiled/p.given-1))
		if math.Abs(got-p.given) > 2*math.Abs(p.profiled-p.given)/3 {
			t.Errorf("%s: %.0f ns at %.0f ns an event, want %.0f", p.name, got, cost, p.given)
		}
	}
}
