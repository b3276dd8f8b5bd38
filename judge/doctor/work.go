package doctor

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/summary/view"
	"assay/summary/view/efficiency"
)

// An examination answers the questions for one summary.
type examination struct {
	*summary.Summary
	total    summary.Activity // summed over all devices
	lost     summary.LaunchLoss
	loses    bool                // lost is over the limit of the rule on missing records
	unusable *finding.Abstention // why no number of the devices can be used, or nil
}

// byQuestion returns the method that answers each question, by the id of the question.
func (e *examination) byQuestion() map[string]func() (can, why string) {
	l := logged{e}
	return map[string]func() (can, why string){
		"kernels": e.kernels, "budget": e.budget, "idle": e.idle, "profiler": e.profiler, "operators": e.operators, "lines": e.lines,
		"shapes": e.shapes, "memory": e.memory, "steps": e.steps, "phases": e.phases, "graphs": e.graphs,
		"ranks": e.ranks, "efficiency": e.efficiency, "whole": e.whole, "clocks": e.clocks, "complete": e.complete,
		"sharing": e.sharing, "waits": e.waits,
		"server-limit": l.serverLimit, "server-lines": l.serverLines, "server-graphs": l.serverGraphs, "server-latency": l.serverLatency,
		"trainer-phases": l.trainerPhases, "trainer-steps": l.trainerSteps, "trainer-throughput": l.trainerThroughput, "trainer-engine": l.trainerEngine,
		"settings": l.settings, "times": l.times, "beside": l.beside,
		"percentiles": l.percentiles, "requests": l.requests, "load": l.load, "sweep": l.sweep, "bench-warm-up": l.benchWarmUp, "bench-server": l.benchServer,
		"monitor-use": l.monitorUse, "monitor-samples": l.monitorSamples, "monitor-times": l.times, "monitor-phases": l.monitorPhases,
		"snapshot-sites": l.snapshotSites, "snapshot-peak": l.snapshotPeak,
	}
}

// From the share mostly on, the answer is yes; from partly on, it is partly.
const mostly, partly = 0.8, 0.01

// answerByShare answers by the part of a time, in ns, for which the answer is known; of names the
// time.
func answerByShare(known, all int64, of string) (can, why string) {
	if all <= 0 {
		return No, "The capture has no " + of + "."
	}
	why = fmt.Sprintf("The answer is known for %s of the %s (%s).", unit.Share(known, all), of,
		unit.DurationOf(known, all))
	switch share := float64(known) / float64(all); {
	case share >= mostly:
		return Yes, why
	case share >= partly:
		return Partly, why
	}
	return No, why
}

// hasTable reports whether a table of one of the kinds has rows.
func (e *examination) hasTable(kinds ...string) bool {
	return slices.ContainsFunc(e.Tables, func(t summary.Table) bool {
		return len(t.Rows) > 0 &&
			slices.Contains(kinds, t.Of)
	})
}

func (e *examination) kernels() (can, why string) {
	opaque := int64(0)
	for _, k := range e.Kernels {
		if k.Category == summary.WholeGraph {
			opaque += k.TotalNS
		}
	}
	switch {
	case opaque > 0:
		return Partly, unit.Share(opaque, view.GPUWork(e.Summary)) + " of GPU time is in CUDA graphs without node trace."
	case len(e.Kernels) > 0:
		names := map[string]bool{}
		for i := range e.Kernels {
			names[e.Kernels[i].Name] = true
		}
		return Yes, "The capture has " + label.Plural(int64(len(names)), "kernel") + " by name."
	case e.hasTable(summary.OfKernel, summary.OfDeviceOp):
		return Partly, "The inputs have totals and no timeline."
	case len(e.Counters) > 0:
		return Partly, "Only the launches that Nsight Compute profiled are known."
	}
	return No, "No kernel was recorded."
}

func (e *examination) budget() (can, why string) {
	events := int64(0)
	for _, d := range e.Devices {
		events += d.Events
	}
	least, _ := rule.Thresholds{}.Rule(rule.TooLittleWork)
	switch window := e.total.Window(); {
	case window > 0 && events < least.MinEvents:
		return Partly, "The capture has only " + label.Plural(events, "GPU event") + ", too few for meaningful shares."
	case window > 0:
		return Yes, fmt.Sprintf("The capture has %s in %s of GPU time.", label.Plural(events, "GPU event"),
			unit.Duration(window))
	case len(e.Tables) > 0:
		return No, "The inputs have totals and no timeline."
	}
	return No, "No GPU event has a time."
}

func (e *examination) idle() (can, why string) {
	idle := e.total.Idle()
	switch {
	case e.total.Window() == 0:
		return No, "The capture has no timeline of a GPU."
	case idle == 0:
		return Yes, "The GPU was never idle."
	}
	known, vague := int64(0), int64(0)
	for _, r := range e.Idle {
		switch {
		case r.Owner == summary.OwnerUnknown || r.Owner == summary.OwnerOpaque:
		case r.State == summary.StateUnrecorded:
			vague += r.NS
		default:
			known += r.NS
		}
	}
	can, why = answerByShare(known, idle, "idle time")
	if vague > 0 {
		why += fmt.Sprintf(" For %s, only host wait is known, but not what the CPU did.", unit.Share(vague, idle))
	}
	if can == No && vague > idle/2 {
		can = Partly
	}
	return can, why
}

// profiler judges how much of the idle time the profiler itself may cause. The question does not apply
// where that was not recorded, or where the GPU is hardly idle.
func (e *examination) profiler() (can, why string) {
	const asked = 0.05 // the least idle share of the windows
	idle, window := e.total.Idle(), e.total.Window()
	cost := view.ProfilerCostOf(e.Summary, func(int) bool { return true })
	if cost.Events == 0 || float64(idle) < asked*float64(window) {
		return "", ""
	}
	logged := 0
	for i := range e.Steps {
		if e.Steps[i].Source == summary.SourceLog {
			logged++
		}
	}
	switch {
	case logged > 0:
		return Yes, "A log has the step times without it."
	case float64(cost.Most) < partOfIdle*float64(idle):
		return Yes, fmt.Sprintf("The profiler itself causes at most %s of the idle time (%s).", unit.Share(cost.Most, idle), unit.DurationOf(cost.Most, idle))
	}
	share, of := unit.Share(cost.Most, idle), unit.DurationOf(cost.Most, idle)
	if cost.Least < cost.Most {
		share, of = unit.Share(cost.Least, idle)+" to "+share, unit.Duration(cost.Least)+" to "+of
	}
	return Partly, fmt.Sprintf("The profiler itself may cause %s of the idle time (%s), because it makes each of %s on the launching threads slower.",
		share, of, label.Plural(cost.Events, "recorded operator or call"))
}

// partOfIdle is the part of the idle time from which on the profiler's own makes causes and savings doubtful.
const partOfIdle = 0.2

func (e *examination) operators() (can, why string) {
	known, work := int64(0), view.GPUWork(e.Summary)
	for _, o := range e.Ops {
		known += o.GPUSelfNS
	}
	switch {
	case len(e.Ops) == 0 && e.hasTable(summary.OfOp):
		return Yes, "The capture has a table of operators."
	case len(e.Ops) == 0:
		return No, "No operator was recorded."
	}
	return answerByShare(min(known, work), work, "GPU work")
}

func (e *examination) lines() (can, why string) {
	known := int64(0)
	for _, l := range e.Lines {
		known += l.GPUSelfNS
	}
	modules := int64(0)
	for _, m := range e.Modules {
		modules += m.GPUSelfNS
	}
	switch {
	case len(e.Lines)+len(e.Modules) == 0 && len(e.Flames) > 0:
		return Yes, "The capture has a profile with stacks."
	case len(e.Lines)+len(e.Modules) == 0:
		return No, "No stack was recorded."
	}
	work := view.GPUWork(e.Summary)
	can, why = answerByShare(min(max(known, modules), work), work, "GPU work")
	return can, why + fmt.Sprintf(" The capture has %s and %s.", label.Plural(int64(len(e.Modules)), "module"),
		label.Plural(int64(len(e.Lines)), "line"))
}

func (e *examination) shapes() (can, why string) {
	for _, t := range e.Tables {
		for _, r := range t.Rows {
			if r.Labels["shapes"] != "" {
				return Yes, "A table has the input shapes."
			}
		}
	}
	with := int64(0)
	for _, o := range e.Ops {
		if o.Shapes > 0 {
			with++
		}
	}
	if with == 0 {
		return No, "No input shapes were recorded."
	}
	return Yes, "The input shapes of " + label.Plural(with, "operator") + " were recorded."
}

func (e *examination) memory() (can, why string) {
	switch n := len(e.Snapshots) + len(e.MemoryTimelines); {
	case n == 1:
		return Yes, "The inputs have one snapshot or timeline of memory."
	case n > 0:
		return Yes, "The inputs have " + unit.Count(int64(n)) + " snapshots or timelines of memory."
	case slices.ContainsFunc(e.Memory, func(m summary.Memory) bool { return m.PeakAllocated != nil }):
		return Yes, "Allocations and their operators were recorded."
	case len(e.Memory) > 0:
		return Partly, "Allocations were recorded, without the memory that was allocated before."
	}
	return No, "No allocation was recorded."
}

func (e *examination) steps() (can, why string) {
	seen := map[int64]bool{}
	for _, s := range e.Steps {
		seen[s.Number] = true
	}
	switch n := int64(len(seen)); {
	case n >= 3:
		return Yes, "The capture has " + label.Plural(n, "step") + "."
	case n > 0:
		return Partly, "The capture has only " + label.Plural(n, "step") + ", and at least 3 are needed."
	}
	return No, "No step was marked."
}

// mostNames limits how many names of ranges are counted.
const mostNames = 1000

func (e *examination) phases() (can, why string) {
	var own []string
	for _, a := range e.Annotations {
		if !strings.HasPrefix(a.Name, "ProfilerStep") && !slices.Contains(own, a.Name) && len(own) < mostNames {
			own = append(own, a.Name)
		}
	}
	switch {
	case len(own) > 0:
		return Yes, fmt.Sprintf("The program marked ranges of %s, for example %q.", label.Plural(int64(len(own)), "name"),
			label.Head(own[0], longName))
	case e.hasTable(summary.OfRange):
		return Yes, "The capture has a table of ranges."
	}
	logged := map[string]bool{}
	for _, p := range e.Phases {
		if p.Source == summary.SourceLog {
			logged[p.Path] = true
		}
	}
	if n := int64(len(logged)); n > 0 {
		return Yes, "The program logged the times of " + label.Plural(n, "phase") + "."
	}
	return No, "The program marked no phase."
}

// longName is the length to which names in answers are cut; reports shorten them further.
const longName = 400

func (e *examination) graphs() (can, why string) {
	opaque, nodes := int64(0), int64(0)
	for _, g := range e.Graphs {
		if g.Opaque {
			opaque++
		} else {
			nodes++
		}
	}
	hidden := slices.ContainsFunc(e.Kernels, func(k summary.Kernel) bool { return k.Category == summary.WholeGraph })
	launched := slices.ContainsFunc(e.Calls, func(r summary.Call) bool { return r.Kind == "graph-launch" })
	switch {
	case (opaque > 0 || hidden) && nodes > 0:
		return Partly, fmt.Sprintf("The nodes of %s of %s were not recorded.", unit.Count(opaque),
			label.Plural(opaque+nodes, "graph"))
	case opaque > 0 || hidden || launched && nodes == 0:
		return No, "Graphs were launched, and their nodes were not recorded."
	case nodes > 0:
		return Yes, "The nodes of " + label.Plural(nodes, "graph") + " were recorded."
	case rule.ValueOf("gpu", e.Summary, nil) == "other":
		return "", "" // XLA runs whole programs on TPUs, and NPUs have no CUDA graphs
	case len(e.Calls) == 0:
		return No, "No CUDA API calls were recorded."
	}
	return Yes, "No graph was launched."
}

// waits judges whether forecasts must infer what streams wait for.
func (e *examination) waits() (can, why string) {
	all, unknown := int64(0), int64(0)
	for _, in := range e.Inputs {
		all, unknown = summary.Plus(all, in.StreamWaits), summary.Plus(unknown, in.StreamWaitsUnknown)
	}
	if known := all - unknown; float64(known) >= mostly*float64(all) {
		return Yes, "The waits between streams are recorded."
	} else if known > 0 {
		return Partly, fmt.Sprintf("For %s of %s between streams nothing tells what they wait for. Forecasts infer it.",
			unit.Count(unknown), label.Plural(all, "wait"))
	}
	return No, "Nothing tells what the waits between streams wait for. Forecasts infer it."
}

func (e *examination) efficiency() (can, why string) {
	known := int64(0)
	for _, k := range e.Counters {
		if k.ComputePct != nil && k.MemoryPct != nil {
			known++
		}
	}
	switch all := int64(len(e.Counters)); {
	case all == 0:
		sums := e.Efficiency.Total()
		if work := efficiency.Work(&sums); sums.RooflineNS > 0 && work > 0 {
			return Partly, "FLOPs are known for " + unit.Share(sums.FLOPsKnownNS, work) +
				" of GPU time. No hardware counters were collected."
		}
		return No, "No hardware counters were collected."
	case known < all:
		return Partly, fmt.Sprintf("The %% of peak is known for %s of %s.", unit.Count(known), label.Plural(all, "kernel"))
	default:
		return Yes, "The % of peak is known for " + label.Plural(all, "kernel") + "."
	}
}
