package samplerun

import (
	"fmt"

	"assay/judge"
	"assay/judge/finding"
	"assay/judge/timeline"
	"assay/summary"
)

// Phases is a run of reinforcement learning on two devices that do the same.
// In s, of the window of 60:
//
//	generation      30: 18 compute, 12 idle; 24 of it decode, of that 16 compute
//	training        15: 12 compute, 2 exposed communication, 1 idle
//	weight-sync      9: 3 exposed copies, 6 idle
//	none             6: idle
//
// Of its five steps the first takes 20 s and is warm-up, the others 10 s each.
func Phases() *summary.Summary {
	s := &summary.Summary{
		Schema: summary.Schema,
		Inputs: []summary.Input{{Path: "rl.json", Format: "kineto", Compression: "none", Bytes: 12345, Events: 678, RankFrom: "trace", SpanNS: 60 * Sec, Complete: true}},
	}
	seconds := func(compute, comm, copies, idle int64) summary.Activity {
		return Cells(map[summary.Class]int64{summary.ClassCompute: compute * 1000, summary.ClassComm: comm * 1000, summary.ClassCopy: copies * 1000, 0: idle * 1000})
	}
	for dev := range int64(2) {
		all := seconds(30, 2, 3, 25)
		s.Devices = append(s.Devices, summary.Device{Device: dev, Name: "NVIDIA H100 80GB HBM3", WindowNS: 60 * Sec, Activity: all, Events: 5000})
		row := func(path, example string, count, host, median, longest int64, own, total summary.Activity) {
			s.Phases = append(s.Phases, summary.Phase{Device: dev, Path: path, Example: example, Producer: "SkyRL", Count: count, HostNS: host * Sec, HostOwnNS: host * Sec,
				MedianNS: median * MS, MaxNS: longest * MS, Activity: own, Total: total, Launched: 100 * count, WorkNS: own.Busy()})
		}
		row("generation", "generate", 5, 30, 5000, 10_000, seconds(2, 0, 0, 4), seconds(18, 0, 0, 12))
		row("generation/decode", "step[DECODE bs=64]", 500, 24, 48, 60, seconds(16, 0, 0, 8), seconds(16, 0, 0, 8))
		row("training", "train_critic_and_policy", 5, 15, 2500, 5000, seconds(12, 2, 0, 1), seconds(12, 2, 0, 1))
		row("weight-sync", "sync_weights", 5, 9, 1500, 3000, seconds(0, 0, 3, 6), seconds(0, 0, 3, 6))
		s.Phases = append(s.Phases, summary.Phase{Device: dev, Activity: seconds(0, 0, 0, 6), Total: seconds(0, 0, 0, 6)})
		for n := range int64(5) {
			a, start := seconds(5, 0, 1, 4), (n+1)*10*Sec
			if n == 0 {
				a, start = seconds(10, 2, 0, 8), 0
			}
			s.Steps = append(s.Steps, summary.Step{Device: dev, Name: "step", Number: n, StartNS: start, WallNS: a.Window(), Activity: a, Marker: "program",
				Phases: []summary.StepPhase{{Name: "generation", NS: a.Window() / 2}, {Name: "training", NS: a.Window() / 4}}})
		}
	}
	s.Sort()
	return s
}

// PhasesResult is a judgment of Phases.
func PhasesResult(s *summary.Summary) judge.Result {
	r := judge.Result{Verdict: finding.Verdict{Bound: finding.BoundHost, Sentence: "the devices wait"}}
	for _, st := range s.Steps {
		state := timeline.StepSteady
		if st.Number == 0 {
			state = timeline.StepWarmUp
		}
		r.States = append(r.States, state)
	}
	r.Groups = []timeline.StepGroup{{Marker: "program", Steps: 10, WarmUp: 2, MedianNS: 10 * Sec, MinNS: 10 * Sec, MaxNS: 10 * Sec, Bound: finding.BoundHost, Share: 0.4}}
	r.Phases = []timeline.PhaseVerdict{{Path: "generation", Bound: finding.BoundHost, Share: 0.4}, {Path: "generation/decode", Bound: finding.BoundHost, Share: 1.0 / 3},
		{Path: "training", Bound: finding.BoundCommunication, Share: 2.0 / 15}, {Path: "weight-sync", Bound: finding.BoundHost, Share: 2.0 / 3}}
	return r
}

// StrangePhases has more phases than tables show, and names that nobody gave.
func StrangePhases() *summary.Summary {
	s := OneKernel(5 * MS)
	for i := range int64(100) {
		s.Phases = append(s.Phases, summary.Phase{Path: fmt.Sprintf("a|b<i>%d\x1b[31m/`c`/\n", i), Example: "x\x00|`<script>", Count: i})
	}
	s.Phases = append(s.Phases, summary.Phase{Activity: s.Devices[0].Activity, Total: s.Devices[0].Activity})
	for i := range int64(3) {
		s.Steps = append(s.Steps, summary.Step{Name: "\x1b|", Kind: "`|<b>\n", Marker: "\x00|<i>", Number: i, Cut: "work", WallNS: 0})
	}
	return s
}
