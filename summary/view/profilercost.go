package view

import (
	"slices"

	"assay/summary"
)

// A ProfilerCost bounds the idle time of GPUs that PyTorch's profiler itself causes, in ns: it makes each
// operator and call slower, and so the launches later.
type ProfilerCost struct {
	Events      int64 // recorded operators, annotated ranges and calls of the launching threads
	Idle        int64 // in which the CPU was between launches
	Least, Most int64
}

// CostOfEvents bounds the cost of recorded events by the idle time in which the CPU was between launches, and
// by the part of the windows that the profiler took in no measured pair of runs.
func CostOfEvents(events, between, window int64) ProfilerCost {
	most := min(between, window/summary.ProfilerSlowdown)
	return ProfilerCost{events, between, min(events*summary.ProfilerEventNS, most), min(events*summary.ProfilerEventMostNS, most)}
}

// ProfilerCostOf returns the cost over the windows of the devices of some inputs.
func ProfilerCostOf(s *summary.Summary, has func(input int) bool) ProfilerCost {
	var events, between, window int64
	for _, l := range s.Launches {
		if has(l.Input) {
			events += l.HostEvents
		}
	}
	for _, r := range s.Idle {
		if has(r.Input) && Launching(r) {
			between += r.NS
		}
	}
	for _, d := range s.Devices {
		if has(d.Input) {
			window = summary.Plus(window, d.Activity.Window())
		}
	}
	return CostOfEvents(events, between, window)
}

// Launching reports whether the CPU was between two launches during idle time: in a launch call,
// in an operator, in Python code, or in code that was not recorded. Waiting, copying and allocating
// are other causes.
func Launching(r summary.Idle) bool {
	switch r.Owner {
	case summary.OwnerLaunch:
		return true
	case summary.OwnerHost:
		return slices.Contains([]string{summary.StateLaunch, summary.StateCall, summary.StateOp, summary.StatePython,
			summary.StateAnnotation, summary.StateUnrecorded}, r.State)
	}
	return false
}
