package samplerun

import (
	"slices"

	"assay/summary"
)

// Logged is the log of a trainer with 40 steps of generation, training and weight sync. Each
// tenth step has an evaluation too.
func Logged() *summary.Summary {
	const steps, second = 40, 1e9
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "train.log", Format: "log", Complete: true, Events: steps}}, Devices: []summary.Device{}, Kernels: []summary.Kernel{}}
	timers := []struct {
		name, phase string
		seconds     float64
		every       int64
	}{
		{"timing_s/gen", "generation", 66, 1}, {"timing_s/update_actor", "training", 24, 1}, {"timing_s/sync", "weight-sync", 4, 1}, {"timing_s/testing", "evaluation", 70, 10},
	}
	whole := make([]float64, steps)
	for i := range whole {
		whole[i] = 3 * second
	}
	add := func(name, metric, phase string, x []int64, values []float64) {
		sorted := slices.Sorted(slices.Values(values))
		n := len(values)
		median, sum := (sorted[(n-1)/2]+sorted[n/2])/2, 0.0
		for _, v := range values {
			sum += v
		}
		mean, mad := sum/float64(n), 0.01*median
		r := summary.Series{Metric: metric, Unit: "ns", Better: "lower", Role: "time", Producer: "veRL", Name: name, N: int64(n), Min: &sorted[0], Median: &median, Mean: &mean,
			Max: &sorted[n-1], Sum: &sum, MAD: &mad, First: &values[0], Last: &values[n-1], Strip: &summary.SeriesStrip{By: "step", X: x, Values: values}}
		if phase != "" {
			r.Labels = map[string]string{"phase": phase}
			s.Phases = append(s.Phases, summary.Phase{Device: summary.NoDevice, Path: phase, Example: name, Producer: "veRL", Source: summary.SourceLog,
				Count: int64(n), HostNS: int64(sum), HostOwnNS: int64(sum), MedianNS: int64(median), MaxNS: int64(sorted[n-1])})
		}
		s.Series = append(s.Series, r)
	}
	for _, t := range timers {
		var x []int64
		var values []float64
		for i := range int64(steps) {
			if (i+1)%t.every == 0 {
				v := (t.seconds + float64(i%3)) * second
				x, values = append(x, i+1), append(values, v)
				whole[i] += v
			}
		}
		add(t.name, "step.phase", t.phase, x, values)
	}
	s.Settings = []summary.Setting{{Producer: "veRL", Key: "actor_rollout_ref.rollout.gpu_memory_utilization", Name: "engine.memory_share", Value: "0.6", Line: 3},
		{Producer: "vLLM", Key: "max_num_seqs", Name: "engine.requests", Value: "256", Line: 4, Varies: true}}
	s.Health = []summary.Health{
		{Node: "host-1", Part: "GPU 00000000:18:00.0", Property: "gpu.model", Value: "NVIDIA H100 80GB HBM3", Times: 1, Line: 9},
		{Node: "host-1", Part: "mlx5_0 port 1", Property: "port.link_downed", Name: "link_downed", First: "1", Value: "2", Times: 2, Line: 12},
	}
	x := make([]int64, steps)
	start := int64(0)
	for i := range x {
		x[i] = int64(i) + 1
		s.Steps = append(s.Steps, summary.Step{Device: summary.NoDevice, Name: "step", Number: x[i], StartNS: start, WallNS: int64(whole[i]), Source: summary.SourceLog, Marker: "veRL"})
		start += int64(whole[i])
	}
	add("timing_s/step", "step.time", "", x, whole)
	restarted(s)
	roles(s)
	return s
}

// roles gives the log roles: of steps of 100 s the rollout works 60 s and the trainer 30 s, in turn.
func roles(s *summary.Summary) {
	const second = int64(1e9)
	for _, r := range []struct {
		role                    string
		work, wait, sync, pause int64
	}{{summary.RoleRollout, 60, 30, 6, 4}, {summary.RoleTrainer, 30, 60, 6, 4}} {
		for state, seconds := range map[string]int64{summary.RoleWorks: r.work, summary.RoleWaits: r.wait, summary.RoleSyncs: r.sync, summary.RolePauses: r.pause} {
			s.RoleTimes = append(s.RoleTimes, summary.RoleTime{Role: r.role, State: state, NS: 40 * seconds * second})
		}
	}
	s.RoleSteps = []summary.RoleStep{{Steps: 40, StepNS: 4000 * second, PerfectNS: 2800 * second, Critical: summary.RoleRollout}}
	s.RoleTails = []summary.RoleTail{{Batches: 40, Sequences: 512, TotalNS: 2400 * second, TailNS: 744 * second}}
}

// restarted makes a log that of a job with three starts: the first did 400 s of steps, of which 100 s were lost, the
// second one failed after 10 s, before its first step, the third one did 300 s; 40 s passed in between, and each of the
// others took 25 s to start. Another training after them is a job of its own.
func restarted(s *summary.Summary) {
	const second = int64(1e9)
	end, from, to, resumed, rank := 425*second, 475*second, 800*second, int64(30), 5
	at := func(part string, attempt int, seconds, steps int64) {
		s.JobTimes = append(s.JobTimes, summary.JobTime{Job: "1", Part: part, Attempt: attempt, NS: seconds * second, Steps: steps})
	}
	at(summary.PartLost, 1, 100, 10)
	at(summary.PartStartUp, 1, 25, 0)
	at(summary.PartSteps, 1, 300, 30)
	at(summary.PartWaiting, 1, 15, 0)
	at(summary.PartStartUp, 2, 10, 0)
	at(summary.PartWaiting, 2, 25, 0)
	at(summary.PartStartUp, 3, 25, 0)
	at(summary.PartSteps, 3, 300, 30)
	s.JobTimes = append(s.JobTimes, summary.JobTime{Job: "2", Part: summary.PartSteps, Attempt: 1, NS: 100 * second, Steps: 10})
	died, failed, other := 440*second, 450*second, 900*second
	s.Attempts = []summary.Attempt{
		{Producer: "veRL", StartNS: new(int64), EndNS: &end, FirstStep: 1, LastStep: 40, Steps: 40, MedianNS: 10 * second, End: summary.EndFailed, Reason: "GPU out of memory",
			Rank: &rank, Node: "node-7", Line: 812, Job: 1, Parts: []summary.AttemptPart{{Part: summary.PartSteps, NS: 400 * second}, {Part: summary.PartStartUp, NS: 25 * second}}},
		{Number: 1, StartNS: &died, EndNS: &failed, End: summary.EndFailed, Reason: "ModuleNotFoundError", Line: 840, Job: 1,
			Parts: []summary.AttemptPart{{Part: summary.PartStartUp, NS: 10 * second}}},
		{Number: 3, Producer: "veRL", StartNS: &to, EndNS: &other, FirstStep: 1, LastStep: 10, Steps: 10, MedianNS: 10 * second, Job: 2,
			Apart: "another data: /data/alpaca instead of /data/pile", Parts: []summary.AttemptPart{{Part: summary.PartSteps, NS: 100 * second}}},
		{Number: 2, Producer: "veRL", StartNS: &from, EndNS: &to, FirstStep: 31, LastStep: 60, Steps: 30, Resumed: &resumed, MedianNS: 10 * second, End: summary.EndFinished, Line: 1990,
			Job: 1, Parts: []summary.AttemptPart{{Part: summary.PartSteps, NS: 300 * second}, {Part: summary.PartStartUp, NS: 25 * second}}},
	}
}

// StrangeLog is a log with names of phases and a producer that terminals and pictures must not
// show as they are, and with a timer that no int64 can hold.
func StrangeLog() *summary.Summary {
	s := Logged()
	for i := range s.Series {
		r := &s.Series[i]
		r.Producer = HostileNames()[i%len(HostileNames())]
		if r.Metric != "step.time" {
			r.Producer, r.Labels = s.Series[len(s.Series)-1].Producer, nil
			r.Name = HostileNames()[i%len(HostileNames())]
		}
	}
	s.Series[len(s.Series)-1].Producer = s.Series[0].Producer
	huge := 1e300
	odd := s.Series[0]
	odd.Name, odd.Max, odd.Sum = "huge", &huge, &huge
	s.Series = append(s.Series, odd)
	return s
}
