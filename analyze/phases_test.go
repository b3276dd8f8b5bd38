package analyze_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"assay/summary"
)

// TestPhasesSum: whatever annotations and work there are, the cells of all phases
// of a device sum to its own, and a phase has what is within it.
func TestPhasesSum(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	names := []string{"generate", "train_critic_and_policy", "sync_weights", "forward", "optimizer", "nobody knows"}
	with := 0
	for range 400 {
		var events []string
		for range rnd.IntN(8) {
			events = append(events, fmt.Sprintf(`{"ph":"X","cat":"user_annotation","name":%q,"pid":1,"tid":%d,"ts":%d,"dur":%d}`,
				names[rnd.IntN(len(names))], 1+rnd.IntN(2), rnd.IntN(60), rnd.IntN(30)))
		}
		for i := range 1 + rnd.IntN(8) {
			at := rnd.IntN(60)
			events = append(events, fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"correlation":%d}}`, at, i+1))
			kernel := []string{"gemm", "ncclDevKernel_AllReduce"}[rnd.IntN(2)]
			events = append(events, fmt.Sprintf(`{"ph":"X","cat":"kernel","name":%q,"pid":%d,"tid":%d,"ts":%d,"dur":%d,"args":{"correlation":%d}}`,
				kernel, rnd.IntN(2), 7+rnd.IntN(2), at+1+rnd.IntN(20), rnd.IntN(12), i+1))
		}
		s := measured(t, list(events...))
		noneNegative(t, s)
		for _, d := range s.Devices {
			var sum, top summary.Activity
			launched := int64(0)
			for _, p := range s.Phases {
				if p.Device != d.Device {
					continue
				}
				sum = sum.Plus(p.Activity)
				launched += p.Launched
				if p.Depth() <= 0 {
					top = top.Plus(p.Total)
				}
				with++
			}
			if len(s.Phases) > 0 && (sum != d.Activity || top != d.Activity || launched != d.Events) {
				t.Fatalf("device %d has %v and %d events, its phases have %v and %d, the outermost %v: %v", d.Device, d.Activity, d.Events, sum, launched, top, events)
			}
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := summary.Read(bytes.NewReader(text), "s"); err != nil { // it checks more of this
			t.Fatal(err)
		}
	}
	if with < 1000 {
		t.Errorf("only %d rows; the test tests little", with)
	}
}

// TestPhaseOwners draws who has what, in µs:
//
//	host       generate      0 to 10, train_critic_and_policy 10 to 20
//	launches   k1 at 2, comm at 11, k2 at 12, k3 at 19, k4 at 30
//	k1              ##########               4 to 14
//	comm                    #####           12 to 17
//	k2                         ###          15 to 18
//	k3                                  #   25 to 26
//	k4                                       #  31 to 32
//
// From 12 to 14 both run and compute decides; from 18 to 25 the host is ahead
// of the device, which waits for work of the training; from 26 on it is in no
// phase.
func TestPhaseOwners(t *testing.T) {
	note := func(name string, from, ns int) string {
		return fmt.Sprintf(`{"ph":"X","cat":"user_annotation","name":%q,"pid":1,"tid":1,"ts":%d,"dur":%d}`, name, from, ns)
	}
	events := []string{note("generate", 0, 10), note("train_critic_and_policy", 10, 10)}
	for i, k := range []struct {
		name           string
		launch, at, ns int
	}{{"k1", 2, 4, 10}, {"ncclDevKernel_AllReduce", 11, 12, 5}, {"k2", 12, 15, 3}, {"k3", 19, 25, 1}, {"k4", 30, 31, 1}} {
		events = append(events,
			fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"correlation":%d}}`, k.launch, i+1),
			fmt.Sprintf(`{"ph":"X","cat":"kernel","name":%q,"pid":0,"tid":%d,"ts":%d,"dur":%d,"args":{"correlation":%d}}`, k.name, 7+i, k.at, k.ns, i+1))
	}
	const both = summary.ClassCompute | summary.ClassComm
	want := map[string]summary.Activity{
		"generation": {summary.ClassCompute: 8000, both: 2000},
		"training":   {summary.ClassComm: 1000, both: 2000, summary.ClassCompute: 2000, 0: 7000},
		"":           {summary.ClassCompute: 1000, 0: 5000},
	}
	for _, p := range measured(t, list(events...)).Phases {
		if p.Activity != want[p.Path] || p.Total != p.Activity {
			t.Errorf("%q has %v, want %v", p.Path, p.Activity, want[p.Path])
		}
		delete(want, p.Path)
	}
	if len(want) > 0 {
		t.Errorf("no phases %v", want)
	}
}

// TestStepsByWork: a server whose host is far ahead of the device. Its steps are
// those of the device, what the host does between two is in none, and prefill and
// decode are separate steps.
func TestStepsByWork(t *testing.T) {
	var events []string
	launch := func(n, at, start, ns int) {
		events = append(events,
			fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"correlation":%d}}`, at, n),
			fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":%d,"args":{"correlation":%d}}`, start, ns, n))
	}
	for i, name := range []string{"step[EXTEND bs=2]", "step[DECODE bs=8]", "step[DECODE bs=8]"} {
		events = append(events, fmt.Sprintf(`{"ph":"X","cat":"user_annotation","name":%q,"pid":1,"tid":1,"ts":%d,"dur":3}`, name, 10*i))
	}
	launch(1, 1, 100, 50)
	launch(2, 11, 150, 10)
	launch(3, 21, 165, 10)
	s := measured(t, list(events...))
	want := []summary.Step{
		{Name: "step[EXTEND bs=2]", Kind: "prefill", Batch: 2, StartNS: 100_000, WallNS: 50_000, Activity: summary.Activity{summary.ClassCompute: 50_000}},
		{Name: "step[DECODE bs=8]", Number: 1, Kind: "decode", Batch: 8, StartNS: 150_000, WallNS: 10_000, Activity: summary.Activity{summary.ClassCompute: 10_000}},
		{Name: "step[DECODE bs=8]", Number: 2, Kind: "decode", Batch: 8, StartNS: 160_000, WallNS: 15_000, Activity: summary.Activity{summary.ClassCompute: 10_000, 0: 5_000}},
	}
	for i := range want {
		want[i].Marker, want[i].Cut, want[i].HostNS = "SGLang", "work", 3000
	}
	if !reflect.DeepEqual(s.Steps, want) {
		t.Errorf("got  %+v\nwant %+v", s.Steps, want)
	}
}

// TestOutermostSteps: of markers within each other the outermost count that
// repeat, and a step has its phases.
func TestOutermostSteps(t *testing.T) {
	events := []string{event("user_annotation", "ProfilerStep#1", 1, "0", "1000"), event("kernel", "k", 0, "0", "1000")}
	for i := range 3 {
		at := 300 * i
		for _, e := range []struct {
			name     string
			from, ns int
		}{{"step", 0, 250}, {"generate", 10, 100}, {"step[DECODE bs=1]", 20, 10}, {"step[DECODE bs=1]", 40, 10}, {"train_critic_and_policy", 120, 60}} {
			events = append(events, fmt.Sprintf(`{"ph":"X","cat":"user_annotation","name":%q,"pid":1,"tid":7,"ts":%d,"dur":%d}`, e.name, at+e.from, e.ns))
		}
	}
	s := measured(t, list(events...))
	if len(s.Steps) != 3 {
		t.Fatalf("%d steps, want 3: %+v", len(s.Steps), s.Steps)
	}
	phases := []summary.StepPhase{{Name: "generation", NS: 100_000}, {Name: "training", NS: 60_000}}
	for i, st := range s.Steps {
		if st.Name != "step" || st.Number != int64(i) || st.WallNS != 250_000 || st.Marker != "program" || !reflect.DeepEqual(st.Phases, phases) {
			t.Errorf("step %+v", st)
		}
	}
	var paths []string
	for _, p := range s.Phases {
		paths = append(paths, fmt.Sprintf("%s %d", p.Path, p.Count))
	}
	if got := strings.Join(paths, ", "); got != "generation 3, generation/decode 6, training 3,  0" {
		t.Errorf("phases %s", got)
	}
}
