package analyze_test

import (
	"bytes"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/analyze"
	"assay/internal/test"
	"assay/judge"
	"assay/judge/rule"
	"assay/summary"
	"assay/trace"
)

// lacking removes from a summary what it lacks without a measure, and reports whether there was any.
var lacking = map[analyze.Measures]func(*summary.Summary) bool{
	analyze.Shapes: func(s *summary.Summary) (any bool) {
		for i := range s.Ops {
			o := &s.Ops[i]
			any = any || o.Shapes > 0 && len(o.TopShapes) > 0
			o.Shapes, o.TopShapes = 0, nil
		}
		return any
	},
	analyze.Passes: func(s *summary.Summary) bool {
		any := len(s.Passes) > 0
		s.Passes = nil
		return any
	},
	analyze.Strips: func(s *summary.Summary) bool {
		device, queue := false, false
		for i := range s.Devices {
			device = device || s.Devices[i].Strip != nil
			s.Devices[i].Strip = nil
		}
		for i := range s.Launches {
			queue = queue || s.Launches[i].QueueStrip != nil
			s.Launches[i].QueueStrip = nil
		}
		for i := range s.Memory {
			s.Memory[i].Strip = nil
		}
		return device && queue
	},
	analyze.Layers: func(s *summary.Summary) bool {
		any := len(s.Layers) > 0
		s.Layers = nil
		s.Issues = slices.DeleteFunc(s.Issues, func(is summary.Issue) bool { return strings.HasPrefix(is.Code, "layers-") })
		return any
	},
	analyze.Efficiency: func(s *summary.Summary) bool {
		any := len(s.Efficiency.Rows) > 0
		for i := range s.Layers {
			s.Layers[i].Floor = nil // by the FLOPs and bytes of operators
		}
		host := slices.DeleteFunc(s.Efficiency.Savings, func(r summary.Saving) bool { return r.Kind != summary.SavingHost })
		if len(host) == 0 {
			host = nil
		}
		s.Efficiency = summary.Efficiency{Occupancy: s.Efficiency.Occupancy, Savings: host}
		s.Issues = slices.DeleteFunc(s.Issues, func(is summary.Issue) bool { return is.Code == "over-peak" })
		if len(s.Issues) == 0 {
			s.Issues = nil
		}
		return any
	},
}

// TestMeasures: a summary without a measure is the whole summary without the rows of that measure,
// whether the trace was read with what the measure needs or not; and its verdict is the same.
func TestMeasures(t *testing.T) {
	read := func(name string, sel trace.Select) *trace.Trace {
		text := test.Unpacked(t, filepath.Join("..", "testdata", "gen", name+".json.gz"))
		tr, err := trace.Read(bytes.NewReader(text), name, sel)
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	for one := analyze.Measures(1); one <= analyze.AllMeasures; one <<= 1 {
		if one == analyze.LayerSteps { // rows of other steps: TestFewSteps of package layers
			continue
		}
		remove, seen := lacking[one], false
		if remove == nil {
			t.Errorf("nothing says what a summary lacks without measure %#x", one)
			continue
		}
		for _, name := range []string{"llm_train_step", "rocm", "host_bound", "era2022", "cpu_only"} {
			opt := analyze.DefaultOptions()
			want := analyze.Trace(read(name, opt.Needs()), summary.Input{}, opt)
			verdict := judge.Judge(want, rule.DefaultThresholds())
			seen = remove(want) || seen
			opt.Without = one
			for _, sel := range []trace.Select{opt.Needs(), trace.SelectAll()} {
				got := analyze.Trace(read(name, sel), summary.Input{}, opt)
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: without measure %#x, other rows differ, or its own are there", name, one)
				}
				if !reflect.DeepEqual(judge.Judge(got, rule.DefaultThresholds()), verdict) {
					t.Errorf("%s: without measure %#x, the verdict differs", name, one)
				}
			}
		}
		if !seen {
			t.Errorf("no trace has rows of measure %#x, so nothing was compared", one)
		}
	}
}
