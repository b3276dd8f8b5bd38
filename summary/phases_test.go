package summary

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomPhases distributes the cells of a device over a tree of phases.
func randomPhases(rnd *rand.Rand, d Device) []Phase {
	paths := []string{"a", "a/b", "a/b/c", "a/d", "e", ""}
	rows := make([]Phase, len(paths))
	for i, path := range paths {
		rows[i] = Phase{Input: d.Input, Rank: d.Rank, Device: d.Device, Path: path, Count: rnd.Int64N(4)}
	}
	for set, ns := range d.Activity {
		for i := range rows {
			part := ns
			if i < len(rows)-1 {
				part = rnd.Int64N(ns + 1)
			}
			rows[i].Activity[set] = part
			ns -= part
		}
	}
	for i := range rows {
		for j := range rows {
			if paths[j] == paths[i] || paths[i] != "" && strings.HasPrefix(paths[j], paths[i]+"/") {
				rows[i].Total = rows[i].Total.Plus(rows[j].Activity)
			}
		}
	}
	rnd.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

// TestPhaseOrder: phases are in tree order, the time outside phases comes last,
// and phases of one level are in the order of descending time.
func TestPhaseOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 9))
	for range 200 {
		d := Device{Activity: randomActivity(rnd)}
		s := &Summary{Devices: []Device{d}, Phases: randomPhases(rnd, d)}
		s.Sort()
		if len(s.Phases) == 0 || s.Phases[len(s.Phases)-1].Path != "" {
			t.Fatalf("the last of %+v is not what is in no phase", s.Phases)
		}
		total := map[string]int64{}
		at := map[string]int{}
		for i, p := range s.Phases {
			total[p.Path], at[p.Path] = p.Total.Window(), i
		}
		if at["a/b"] != at["a/b/c"]-1 || at["a"] > at["a/b"] || at["a"] > at["a/d"] || (at["e"] > at["a"]) != (at["e"] > at["a/d"]) {
			t.Fatalf("no tree: %v", at)
		}
		for _, pair := range [][2]string{{"a", "e"}, {"a/b", "a/d"}} {
			if (at[pair[0]] < at[pair[1]]) != (total[pair[0]] >= total[pair[1]]) {
				t.Fatalf("%v have %d and %d ns and are at %d and %d", pair, total[pair[0]], total[pair[1]], at[pair[0]], at[pair[1]])
			}
		}
	}
}

// TestCheckPhases: phases that do not add up, phases of unknown devices and
// phases nested too deeply are refused.
func TestCheckPhases(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 10))
	d := Device{Activity: Activity{0: 1000, ClassCompute: 500}, WindowNS: 1500, Gaps: Histogram{}}
	whole := func() *Summary {
		return &Summary{Schema: Schema, Inputs: []Input{{}}, Devices: []Device{d}, Phases: randomPhases(rnd, d),
			Steps: []Step{{WallNS: 10, Activity: Activity{0: 10}, Phases: []StepPhase{{"a", 10}}}}}
	}
	read := func(s *Summary) error {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Read(strings.NewReader(string(text)), "s.json")
		return err
	}
	if err := read(whole()); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Summary){
		"sum to":       func(s *Summary) { s.Phases[0].Activity[0]++; s.Phases[0].Total[0]++ },
		"total":        func(s *Summary) { s.Phases[1].Total[0]++ },
		"no device 3":  func(s *Summary) { s.Phases[2].Device = 3 },
		"deep":         func(s *Summary) { s.Phases[3].Path = "a/b/c/d/e/f/g/h/i" },
		"does not fit": func(s *Summary) { s.Steps[0].Phases = append(s.Steps[0].Phases, StepPhase{"b", 1}) },
		"\"a\" has -1": func(s *Summary) { s.Steps[0].Phases[0].NS = -1 },
	} {
		s := whole()
		spoil(s)
		if err := read(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that says %q", err, want)
		}
	}
}

// TestLoggedStepPhases: phases of a log may overlap, and add up to more than their step. Those
// of a timeline do not.
func TestLoggedStepPhases(t *testing.T) {
	st := Step{Source: SourceLog, Device: NoDevice, WallNS: 100, Phases: []StepPhase{{"generation", 80}, {"reward", 60}}}
	if err := st.check(); err != nil {
		t.Errorf("a log: %v", err)
	}
	st.Phases[1].NS = -1
	if err := st.check(); err == nil {
		t.Error("a phase of a log has less than no time")
	}
	st = Step{WallNS: 100, Phases: []StepPhase{{"generation", 80}, {"reward", 60}}}
	st.Activity[0] = 100
	if err := st.check(); err == nil {
		t.Error("phases of a timeline that do not fit into the step are read")
	}
}
