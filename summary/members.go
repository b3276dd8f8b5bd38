package summary

import (
	"cmp"
	"slices"
	"strings"
)

// members describes every type of row of a [Summary]. All code that treats every type in the same way
// iterates over this table: [Merge], [Summary.Sort], the checks of [Read], [Summary.Only],
// [Summary.Detach], [Members], [Described]. A new type of row is a struct, a field of Summary and an entry here; a test
// compares the table with the fields.
//
// Inputs and issues have no entry, because rows refer to inputs, and issues refer to no input.
var members = []Member{
	&rows[Device]{Member: "devices", In: func(s *Summary) *[]Device { return &s.Devices },
		Says:  "GPUs: window, activity, time breakdown (\"budget\"), number of the process that drives it (\"process\"), time in which another GPU of it works too (\"shared_ns\"), largest gaps",
		Plain: "one row is one GPU",
		Fold:  slim,
		Slim: func(r *Device, _ bool) {
			r.Strip, r.Utilization, r.LargestGaps, r.Durations, r.Gaps = nil, nil, nil, Histogram{}, Histogram{}
		},
		At:    func(r *Device) place { return place{&r.Input, &r.Rank, &r.Device} },
		Check: (*Device).check},
	&rows[Stream]{Member: "streams", In: func(s *Summary) *[]Stream { return &s.Streams },
		Says:      "streams of a GPU: operations, busy time",
		Described: Streams,
		Fold:      away,
		Roll:      func(r *Stream) Rolled { return Rolled{Name: r.Name, Count: r.Kernels, TotalNS: r.WorkNS} },
		At:        func(r *Stream) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order:     func(a, b *Stream) int { return cmp.Compare(a.Stream, b.Stream) }},
	&rows[Step]{Member: "steps", In: func(s *Summary) *[]Step { return &s.Steps },
		Says:  "steps: start, length, time breakdown; idle causes of the first four of a GPU; those of a log have the source \"log\"",
		Plain: "one row is one step",
		Fold:  few,
		Roll:  func(r *Step) Rolled { return Rolled{Name: r.Name, Kind: r.Kind, Count: 1, TotalNS: r.WallNS} },
		At:    func(r *Step) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: func(a, b *Step) int {
			return cmp.Or(cmp.Compare(a.StartNS, b.StartNS), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Name, b.Name))
		},
		Check: (*Step).check},
	&rows[Compilation]{Member: "compilations", In: func(s *Summary) *[]Compilation { return &s.Compilations },
		Says:  "compilations of torch.compile, as its log has them: time, failed guard, graph breaks, cache hits, step of a timeline",
		Plain: "one row is one compilation",
		Fold:  stays,
		At:    func(r *Compilation) place { return place{&r.Input, &r.Rank, nil} },
		Order: func(a, b *Compilation) int { return cmp.Or(cmp.Compare(a.StartNS, b.StartNS), cmp.Compare(a.ID, b.ID)) },
		Check: (*Compilation).check},
	&rows[Phase]{Member: "phases", In: func(s *Summary) *[]Phase { return &s.Phases },
		Says:  "phases of training, inference and reinforcement learning; those of a log have the source \"log\"",
		Plain: "rows contain each other, and their times are in Total",
		Fold:  few,
		Roll: func(r *Phase) Rolled {
			return Rolled{Name: r.Path, Count: r.Count, TotalNS: r.Total.Window(), CPUNS: &r.HostNS}
		},
		At:       func(r *Phase) place { return place{&r.Input, &r.Rank, &r.Device} },
		SortAll:  sortPhases,
		CheckAll: (*Summary).checkPhases},
	&rows[Detail]{Member: "details", In: func(s *Summary) *[]Detail { return &s.Details },
		Says:  "what zoomable timelines show, by GPU; only with `--detail`: see [below](#details)",
		Plain: "what pictures draw",
		Fold:  stays,
		At:    func(r *Detail) place { return place{&r.Input, &r.Rank, &r.Device} },
		Check: (*Detail).check},
	&rows[Kernel]{Member: "kernels", In: func(s *Summary) *[]Kernel { return &s.Kernels },
		Says:      "kernels by name, stream and operator: launches, total, minimum, maximum",
		Described: Kernels,
		Fold:      away,
		Roll: func(r *Kernel) Rolled {
			return Rolled{Name: r.Name, Class: r.Class, Category: r.Category, Rule: r.Rule, Op: r.Op, Count: r.Count, TotalNS: r.TotalNS, LongestNS: r.MaxNS}
		},
		At: func(r *Kernel) place { return place{&r.Input, &r.Rank, &r.Device} },
		First: func(a, b *Kernel) int {
			return cmp.Or(cmp.Compare(b.TotalNS, a.TotalNS), cmp.Compare(a.Name, b.Name),
				cmp.Compare(a.Device, b.Device), cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Category, b.Category))
		},
		Check:    func(r *Kernel) error { return checkTotal(r.Count, r.TotalNS, r.MaxNS) },
		CheckAll: (*Summary).checkLongest},
	&rows[Copy]{Member: "copies", In: func(s *Summary) *[]Copy { return &s.Copies },
		Says:      "copies and memsets by name and stream, with bytes",
		Described: Copies,
		Fold:      away,
		Roll: func(r *Copy) Rolled {
			return Rolled{Name: r.Name, Class: r.Class, Count: r.Count, TotalNS: r.TotalNS, LongestNS: r.MaxNS, Bytes: r.Bytes}
		},
		At: func(r *Copy) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: func(a, b *Copy) int {
			return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Class, b.Class))
		},
		Check: func(r *Copy) error { return checkTotal(r.Count, r.TotalNS, r.MaxNS) }},
	&rows[CopyCall]{Member: "copy_calls", In: func(s *Summary) *[]CopyCall { return &s.CopyCalls },
		Says:  "copies and memsets by the call that requested them",
		Plain: "the times are those of calls",
		Fold:  away,
		Roll: func(r *CopyCall) Rolled {
			return Rolled{Name: r.Name, Class: r.Class, Op: r.Call, Kind: when(r.Large, "large"), Count: r.Count, TotalNS: r.TotalNS, LongestNS: r.MaxNS, Bytes: r.Bytes}
		},
		At: func(r *CopyCall) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: func(a, b *CopyCall) int {
			return cmp.Or(cmp.Compare(b.TotalNS, a.TotalNS), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Name, b.Name),
				cmp.Compare(a.Call, b.Call), compareBools(b.Large, a.Large))
		}},
	&rows[Sync]{Member: "syncs", In: func(s *Summary) *[]Sync { return &s.Syncs },
		Says:  "calls that wait for a GPU: CPU time, and the idle time that not waiting could save at most",
		Plain: "one row is one rank",
		Fold:  away,
		Roll:  func(r *Sync) Rolled { return Rolled{Count: r.Calls, TotalNS: r.HostNS, LongestNS: r.MaxNS} },
		At:    func(r *Sync) place { return place{&r.Input, &r.Rank, &r.Device} }},
	&rows[Span]{Member: "spans", In: func(s *Summary) *[]Span { return &s.Spans },
		Says:      "CPU slices, for traces without GPU events",
		Described: Spans,
		Fold:      away,
		Roll: func(r *Span) Rolled {
			return Rolled{Name: r.Name, Category: r.Category, Count: r.Count, TotalNS: r.TotalNS, LongestNS: r.MaxNS}
		},
		At: func(r *Span) place { return place{&r.Input, &r.Rank, nil} },
		Order: func(a, b *Span) int {
			return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Category, b.Category))
		}},
	&rows[Op]{Member: "ops", In: func(s *Summary) *[]Op { return &s.Ops },
		Says:      "operators: self and total GPU time, shapes",
		Described: Ops,
		Fold:      away,
		Roll: func(r *Op) Rolled {
			return Rolled{Name: r.Name, Count: r.Count, TotalNS: r.GPUSelfNS, CPUNS: &r.CPUSelfNS, Launched: r.Launched}
		},
		At: func(r *Op) place { return place{&r.Input, &r.Rank, nil} },
		First: func(a, b *Op) int {
			return cmp.Or(cmp.Compare(b.GPUSelfNS, a.GPUSelfNS), cmp.Compare(b.CPUSelfNS, a.CPUSelfNS), cmp.Compare(a.Name, b.Name))
		}},
	&rows[Module]{Member: "modules", In: func(s *Summary) *[]Module { return &s.Modules },
		Says:      "the same by nn.Module",
		Described: Modules,
		Fold:      away,
		Roll: func(r *Module) Rolled {
			return Rolled{Name: r.Path, Count: r.Count, TotalNS: r.GPUTotalNS, CPUNS: &r.CPUTotalNS}
		},
		At:    func(r *Module) place { return place{&r.Input, &r.Rank, nil} },
		Order: func(a, b *Module) int { return cmp.Compare(a.Path, b.Path) }},
	&rows[Line]{Member: "lines", In: func(s *Summary) *[]Line { return &s.Lines },
		Says:      "the same by Python function",
		Described: Lines,
		Fold:      away,
		Roll: func(r *Line) Rolled {
			return Rolled{Name: r.Function, File: r.File, Line: r.Line, Count: r.Count, TotalNS: r.GPUTotalNS, CPUNS: &r.CPUTotalNS}
		},
		At: func(r *Line) place { return place{&r.Input, &r.Rank, nil} },
		First: func(a, b *Line) int {
			return cmp.Or(cmp.Compare(b.GPUSelfNS, a.GPUSelfNS), cmp.Compare(b.CPUTotalNS, a.CPUTotalNS), cmp.Compare(a.File, b.File),
				cmp.Compare(a.Line, b.Line), cmp.Compare(a.Function, b.Function))
		}},
	&rows[Annotation]{Member: "annotations", In: func(s *Summary) *[]Annotation { return &s.Annotations },
		Says:      "the same by record_function and NVTX range",
		Described: Annotations,
		Fold:      away,
		Roll: func(r *Annotation) Rolled {
			return Rolled{Name: r.Name, Count: r.Count, TotalNS: r.GPUTotalNS, CPUNS: &r.CPUTotalNS}
		},
		At: func(r *Annotation) place { return place{&r.Input, &r.Rank, nil} },
		First: func(a, b *Annotation) int {
			return cmp.Or(cmp.Compare(b.GPUTotalNS, a.GPUTotalNS), cmp.Compare(b.CPUTotalNS, a.CPUTotalNS), cmp.Compare(a.Name, b.Name))
		}},
	&rows[Pass]{Member: "passes", In: func(s *Summary) *[]Pass { return &s.Passes },
		Says:      "GPU time of forward, backward, recompute, optimizer",
		Described: Passes,
		Fold:      away,
		Roll:      func(r *Pass) Rolled { return Rolled{Name: r.Name, Count: r.Count, TotalNS: r.GPUNS} },
		At:        func(r *Pass) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order:     func(a, b *Pass) int { return cmp.Or(cmp.Compare(b.GPUNS, a.GPUNS), cmp.Compare(a.Name, b.Name)) }},
	&rows[Call]{Member: "calls", In: func(s *Summary) *[]Call { return &s.Calls },
		Says:      "calls of the CUDA runtime and driver; for waits, the part in which no GPU was busy",
		Described: Calls,
		Fold:      away,
		Roll: func(r *Call) Rolled {
			return Rolled{Name: r.Name, Kind: r.Kind, Count: r.Count, TotalNS: r.TotalNS, LongestNS: r.MaxNS, Launched: r.Launched}
		},
		At:    func(r *Call) place { return place{&r.Input, &r.Rank, nil} },
		First: func(a, b *Call) int { return cmp.Or(cmp.Compare(b.TotalNS, a.TotalNS), cmp.Compare(a.Name, b.Name)) }},
	&rows[Launches]{Member: "launches", In: func(s *Summary) *[]Launches { return &s.Launches },
		Says:  "queue time, queue length, short kernels",
		Plain: "one row is one GPU",
		Fold:  slim,
		Slim: func(r *Launches, steps bool) {
			if r.Delays, r.Queue, r.QueueStrip = (Histogram{}), nil, nil; !steps {
				r.PerStep, r.HostEventsPerStep = nil, nil
			}
		},
		At: func(r *Launches) place { return place{&r.Input, &r.Rank, &r.Device} }},
	&rows[Collective]{Member: "collectives", In: func(s *Summary) *[]Collective { return &s.Collectives },
		Says:  "collectives of several ranks by group, operation, type and size: count, transfer, wait, bandwidths",
		Plain: "one row is one matched call",
		Fold:  stays,
		At:    func(r *Collective) place { return place{Input: &r.Input} },
		Job:   func(r *Collective) *int { return &r.Job },
		First: (*Collective).order,
		Check: (*Collective).check},
	&rows[RankWait]{Member: "ranks", In: func(s *Summary) *[]RankWait { return &s.Ranks },
		Says:  "waiting of each rank, waiting that it caused, late steps, comparison with others, clock offset; also what \"Several ranks\" lists",
		Plain: "one row is one rank",
		Fold:  stays,
		At:    func(r *RankWait) place { return place{&r.Input, &r.Rank, &r.Device} },
		Job:   func(r *RankWait) *int { return &r.Job },
		Check: (*RankWait).check},
	&rows[Topology]{Member: "topologies", In: func(s *Summary) *[]Topology { return &s.Topologies },
		Says:  "kinds of groups, stages of the pipeline, machines, and what they were decided from",
		Plain: "groups of ranks",
		Fold:  stays,
		At:    func(r *Topology) place { return place{Input: &r.Input} },
		Job:   func(r *Topology) *int { return &r.Job },
		Check: (*Topology).check},
	&rows[Rolled]{Member: "rolled", In: func(s *Summary) *[]Rolled { return &s.Rolled },
		Says:  "sums over the ranks, by kind of row and names: see \"Several ranks\"",
		Plain: "sums already",
		Fold:  stays,
		At:    func(r *Rolled) place { return place{Input: &r.Input} },
		Job:   func(r *Rolled) *int { return &r.Job },
		First: (*Rolled).order,
		Check: (*Rolled).check},
	&rows[LaunchLoss]{Member: "launch_losses", In: func(s *Summary) *[]LaunchLoss { return &s.LaunchLosses },
		Says:  "launches, copies and memsets without GPU work in the capture, by kind",
		Plain: "counts of what is missing",
		Fold:  stays,
		At:    func(r *LaunchLoss) place { return place{&r.Input, &r.Rank, nil} },
		Order: func(a, b *LaunchLoss) int { return cmp.Compare(a.Kind, b.Kind) },
		Check: (*LaunchLoss).check},
	&rows[Graph]{Member: "graphs", In: func(s *Summary) *[]Graph { return &s.Graphs },
		Says:  "CUDA and HIP graphs",
		Plain: "one row is one graph",
		Fold:  away,
		Roll: func(r *Graph) Rolled {
			return Rolled{Name: r.First, Op: r.Call, Kind: when(r.Opaque, "opaque"), Count: r.Launches, TotalNS: r.WorkNS}
		},
		At:    func(r *Graph) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: func(a, b *Graph) int { return cmp.Compare(a.ID, b.ID) }},
	&rows[Idle]{Member: "idle", In: func(s *Summary) *[]Idle { return &s.Idle },
		Says:      "idle time by cause",
		Described: Idles,
		Fold:      away,
		Roll: func(r *Idle) Rolled {
			return Rolled{Name: r.Name, Owner: r.Owner, State: r.State, Count: r.Count, TotalNS: r.NS, LongestNS: r.MaxNS}
		},
		At: func(r *Idle) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: func(a, b *Idle) int {
			return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.State, b.State), cmp.Compare(a.Name, b.Name))
		}},
	&rows[Memory]{Member: "memory", In: func(s *Summary) *[]Memory { return &s.Memory },
		Says:  "allocated and reserved memory of traces",
		Plain: "has a view of its own",
		Fold:  slim,
		Slim:  func(r *Memory, _ bool) { r.Live, r.Strip = nil, nil },
		At:    func(r *Memory) place { return place{&r.Input, &r.Rank, &r.Device} },
		First: func(a, b *Memory) int { return cmp.Or(cmp.Compare(a.Input, b.Input), compareBools(a.OnHost, b.OnHost)) }},
	&rows[Table]{Member: "tables", In: func(s *Summary) *[]Table { return &s.Tables },
		Says:  "tables of nsys stats, torch.profiler and Python profilers",
		Plain: "rows of other tools have columns of their own",
		Fold:  stays,
		At:    func(r *Table) place { return place{Input: &r.Input} },
		Order: func(a, b *Table) int { return cmp.Compare(a.Number, b.Number) },
		Inner: (*Table).sortRows,
		Check: (*Table).check},
	&rows[Flame]{Member: "flames", In: func(s *Summary) *[]Flame { return &s.Flames },
		Says:  "call trees of profiles with stacks",
		Plain: "stacks",
		Fold:  stays,
		At:    func(r *Flame) place { return place{Input: &r.Input} },
		Order: func(a, b *Flame) int { return cmp.Compare(a.Name, b.Name) },
		Check: (*Flame).check},
	&rows[Counter]{Member: "counters", In: func(s *Summary) *[]Counter { return &s.Counters },
		Says:  "kernels with hardware counters",
		Plain: "hardware counters are no times",
		Fold:  stays,
		At:    func(r *Counter) place { return place{Input: &r.Input, Device: &r.Device} },
		First: func(a, b *Counter) int {
			return cmp.Or(cmp.Compare(b.TotalNS, a.TotalNS), cmp.Compare(b.Launches, a.Launches), cmp.Compare(a.Kernel, b.Kernel))
		},
		Check: (*Counter).check},
	&rows[Series]{Member: "series", In: func(s *Summary) *[]Series { return &s.Series },
		Says:  "metrics of logs: statistics, steps, times, and points for pictures",
		Plain: "values over steps or time",
		Fold:  stays,
		At:    func(r *Series) place { return place{Input: &r.Input} },
		Order: (*Series).order,
		Check: (*Series).check},
	&rows[Attempt]{Member: "attempts", In: func(s *Summary) *[]Attempt { return &s.Attempts },
		Says:  "starts of programs that log their steps: steps, where the time went, what ended them",
		Plain: "one row is one start of a program",
		Fold:  stays,
		At:    func(r *Attempt) place { return place{&r.Input, nil, nil} },
		Order: func(a, b *Attempt) int { return cmp.Compare(a.Number, b.Number) },
		Check: (*Attempt).check},
	&rows[RoleStep]{Member: "role_steps", In: func(s *Summary) *[]RoleStep { return &s.RoleSteps },
		Says:  "steps of reinforcement learning over all roles: overlap, critical role, time at perfect overlap",
		Plain: "one row is one trainer",
		Fold:  stays,
		At:    func(r *RoleStep) place { return place{&r.Input, nil, nil} }},
	&rows[RoleTime]{Member: "role_times", In: func(s *Summary) *[]RoleTime { return &s.RoleTimes },
		Says:      "seconds in which each role of reinforcement learning works and waits",
		Described: RoleTimes,
		Fold:      stays,
		At:        func(r *RoleTime) place { return place{&r.Input, nil, nil} },
		Order: func(a, b *RoleTime) int {
			return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.State, b.State))
		}},
	&rows[RoleTail]{Member: "role_tails", In: func(s *Summary) *[]RoleTail { return &s.RoleTails },
		Says:  "how the slowest sequences of batches of rollouts end, by the log of a server",
		Plain: "one row is one server",
		Fold:  stays,
		At:    func(r *RoleTail) place { return place{&r.Input, nil, nil} }},
	&rows[JobTime]{Member: "job_times", In: func(s *Summary) *[]JobTime { return &s.JobTimes },
		Says:      "where the time of jobs went, by part and attempt, restarts included",
		Described: JobTimes,
		Fold:      stays,
		At:        func(r *JobTime) place { return place{&r.Input, nil, nil} },
		Order: func(a, b *JobTime) int {
			return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.Part, b.Part))
		}},
	&rows[Setting]{Member: "settings", In: func(s *Summary) *[]Setting { return &s.Settings },
		Says:  "settings of trainers and servers as they printed them at their start: program, key, value",
		Plain: "values of a configuration",
		Fold:  stays,
		At:    func(r *Setting) place { return place{Input: &r.Input} },
		Order: (*Setting).order},
	&rows[Benchmark]{Member: "benchmarks", In: func(s *Summary) *[]Benchmark { return &s.Benchmarks },
		Says:  "results of benchmarks as they were reported: settings, metrics",
		Plain: "results of other tools",
		Fold:  stays,
		At:    func(r *Benchmark) place { return place{Input: &r.Input} },
		Order: func(a, b *Benchmark) int { return cmp.Compare(a.Number, b.Number) }},
	&rows[Group]{Member: "groups", In: func(s *Summary) *[]Group { return &s.Groups },
		Says:  "groups of ranks of NCCL and PyTorch: transports, calls, pending calls",
		Plain: "results over time",
		Fold:  stays,
		At:    func(r *Group) place { return place{Input: &r.Input} },
		Order: (*Group).order,
		Check: (*Group).check},
	&rows[Clock]{Member: "clocks", In: func(s *Summary) *[]Clock { return &s.Clocks },
		Says:  "how inputs were placed on one wall clock, what was assumed, and why one was left out: see [joining](joining.md)",
		Plain: "one row is one input",
		Fold:  stays,
		At:    func(r *Clock) place { return place{Input: &r.Input} },
		Check: (*Clock).check},
	&rows[Monitored]{Member: "monitored", In: func(s *Summary) *[]Monitored { return &s.Monitored },
		Says:  "what monitors measured during phases and steps of logs and traces: samples, mean, extremes",
		Plain: "values over time",
		Fold:  stays,
		At:    func(r *Monitored) place { return place{Input: &r.Input} },
		Job:   func(r *Monitored) *int { return &r.Beside },
		Order: (*Monitored).order,
		Check: (*Monitored).check},
	&rows[Health]{Member: "health", In: func(s *Summary) *[]Health { return &s.Health },
		Says:  "what machines say of their GPUs, links and ports: versions, modes, limits, counters of errors",
		Plain: "values are texts",
		Fold:  stays,
		At:    func(r *Health) place { return place{&r.Input, &r.Rank, nil} },
		Order: (*Health).order},
	&rows[Snapshot]{Member: "snapshots", In: func(s *Summary) *[]Snapshot { return &s.Snapshots },
		Says:  "memory snapshots",
		Plain: "sizes of memory, with a view of their own",
		Fold:  stays,
		At:    func(r *Snapshot) place { return place{&r.Input, &r.Rank, &r.Device} },
		Check: (*Snapshot).check},
	&rows[MemoryUse]{Member: "memory_uses", In: func(s *Summary) *[]MemoryUse { return &s.MemoryUses },
		Says:      "what the memory of snapshots is for, at the failed allocation or at the peak; sums to the reserved memory",
		Described: MemoryUses,
		Fold:      stays,
		At:        func(r *MemoryUse) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: func(a, b *MemoryUse) int {
			return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.By, b.By))
		}},
	&rows[MemoryTimeline]{Member: "memory_timelines", In: func(s *Summary) *[]MemoryTimeline { return &s.MemoryTimelines },
		Says:  "memory by category over time",
		Plain: "sizes of memory, with a view of their own",
		Fold:  stays,
		At:    func(r *MemoryTimeline) place { return place{&r.Input, &r.Rank, nil} },
		Check: (*MemoryTimeline).check},
	&rows[CriticalPath]{Member: "critical_paths", In: func(s *Summary) *[]CriticalPath { return &s.CriticalPaths },
		Says:  "what the typical step of each rank waited for, by class; only of `assay report`: see [below](#critical-paths-and-forecasts)",
		Plain: "one row is one step",
		Fold:  stays,
		At:    func(r *CriticalPath) place { return place{&r.Input, &r.Rank, nil} },
		Order: func(a, b *CriticalPath) int {
			return cmp.Or(cmp.Compare(a.StartNS, b.StartNS), cmp.Compare(a.Step, b.Step))
		},
		Check: (*CriticalPath).check},
	&rows[Layer]{Member: "layers", In: func(s *Summary) *[]Layer { return &s.Layers },
		Says:  "layers of the model that repeat in a step, by kind and pass: count, median length, parts, odd layers: see [below](#layers)",
		Plain: "one row is one kind of layer in one step",
		Fold:  slim,
		Slim:  func(r *Layer, _ bool) { r.Index, r.LengthNS, r.Typical = nil, nil, nil },
		At:    func(r *Layer) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: (*Layer).order,
		Check: (*Layer).check},
	&rows[Forecast]{Member: "forecasts", In: func(s *Summary) *[]Forecast { return &s.Forecasts },
		Says:  "what single changes would make of such a step, those that pay most first; only of `assay report`: see [below](#critical-paths-and-forecasts)",
		Plain: "one row is one change",
		Fold:  stays,
		At:    func(r *Forecast) place { return place{&r.Input, &r.Rank, nil} },
		Order: (*Forecast).gainFirst,
		Check: (*Forecast).check},
	&rows[EfficiencyDevice]{Member: "efficiency.devices", In: func(s *Summary) *[]EfficiencyDevice { return &s.Efficiency.Devices },
		Says:  "GPUs: peaks, and sums of FLOPs, bytes and time at the roofline; see [below](#efficiency)",
		Plain: "has a view of its own",
		Fold:  stays,
		At:    func(r *EfficiencyDevice) place { return place{&r.Input, &r.Rank, &r.Device} },
		Check: (*EfficiencyDevice).check},
	&rows[EfficiencyRow]{Member: "efficiency.rows", In: func(s *Summary) *[]EfficiencyRow { return &s.Efficiency.Rows },
		Says:  "operators by shape: FLOPs, bytes, achieved rates, what bounds them",
		Plain: "has a view of its own",
		Fold:  away,
		Roll: func(r *EfficiencyRow) Rolled {
			return Rolled{Name: r.Op, Kind: r.Unit, Count: r.Count, TotalNS: r.GPUNS, Bytes: r.Bytes}
		},
		At:    func(r *EfficiencyRow) place { return place{&r.Input, &r.Rank, &r.Device} },
		First: (*EfficiencyRow).order,
		Check: (*EfficiencyRow).check},
	&rows[EfficiencyStep]{Member: "efficiency.steps", In: func(s *Summary) *[]EfficiencyStep { return &s.Efficiency.Steps },
		Says:  "the sums of each step",
		Plain: "has a view of its own",
		Fold:  few,
		Roll:  func(r *EfficiencyStep) Rolled { return Rolled{Name: r.Name, Count: 1, TotalNS: r.WallNS} },
		At:    func(r *EfficiencyStep) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: func(a, b *EfficiencyStep) int {
			return cmp.Or(cmp.Compare(a.StartNS, b.StartNS), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Name, b.Name))
		},
		Check: (*EfficiencyStep).check},
	&rows[EfficiencyDecode]{Member: "efficiency.decode", In: func(s *Summary) *[]EfficiencyDecode { return &s.Efficiency.Decode },
		Says:  "decode steps of servers: bytes of weights and of the cache against the bandwidth of the memory",
		Plain: "has a view of its own",
		Fold:  few,
		Roll:  func(r *EfficiencyDecode) Rolled { return Rolled{Name: r.Name, Count: 1, TotalNS: r.WallNS} },
		At:    func(r *EfficiencyDecode) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: (*EfficiencyDecode).order,
		Check: (*EfficiencyDecode).check},
	&rows[Occupancy]{Member: "efficiency.occupancy", In: func(s *Summary) *[]Occupancy { return &s.Efficiency.Occupancy },
		Says:  "how kernels fill the multiprocessors: grid, resident blocks, occupancy, what limits it",
		Plain: "has a view of its own",
		Fold:  away,
		Roll:  func(r *Occupancy) Rolled { return Rolled{Name: r.Name, Count: r.Count, TotalNS: r.TotalNS} },
		At:    func(r *Occupancy) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: (*Occupancy).order,
		Check: (*Occupancy).check},
	&rows[Saving]{Member: "efficiency.savings", In: func(s *Summary) *[]Saving { return &s.Efficiency.Savings },
		Says:  "work that could be fused or removed: chains of operators, casts, layout copies, copies to the host and back",
		Plain: "has a view of its own",
		Fold:  away,
		Roll: func(r *Saving) Rolled {
			return Rolled{Name: strings.Join(r.Names, " "), Count: r.Count, TotalNS: r.TotalNS}
		},
		At:    func(r *Saving) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: (*Saving).order,
		Check: (*Saving).check},
	&rows[EfficiencyTransfer]{Member: "efficiency.transfers", In: func(s *Summary) *[]EfficiencyTransfer { return &s.Efficiency.Transfers },
		Says:  "copies and collectives: bandwidths against those of the links",
		Plain: "has a view of its own",
		Fold:  away,
		Roll: func(r *EfficiencyTransfer) Rolled {
			return Rolled{Name: r.Name, Kind: r.Kind, Count: r.Count, TotalNS: r.NS, Bytes: (*int64)(&r.Bytes)}
		},
		At:    func(r *EfficiencyTransfer) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: (*EfficiencyTransfer).order,
		Check: (*EfficiencyTransfer).check},
	&rows[EfficiencyReplay]{Member: "efficiency.replays", In: func(s *Summary) *[]EfficiencyReplay { return &s.Efficiency.Replays },
		Says:  "launches of graphs: whether a capture tells their operators",
		Plain: "has a view of its own",
		Fold:  stays,
		At:    func(r *EfficiencyReplay) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: (*EfficiencyReplay).order,
		Check: (*EfficiencyReplay).check},
	&rows[EfficiencyCapture]{Member: "efficiency.captures", In: func(s *Summary) *[]EfficiencyCapture { return &s.Efficiency.Captures },
		Says:  "sequences of kernels that were captured into graphs; only of inputs that are not joined yet",
		Plain: "has a view of its own",
		Fold:  stays,
		At:    func(r *EfficiencyCapture) place { return place{&r.Input, &r.Rank, nil} },
		Order: (*EfficiencyCapture).order,
		Check: (*EfficiencyCapture).check},
}

// Members returns the types of rows in the order of the fields of [Summary].
func Members() []Member { return slices.Clone(members) }

// when returns name if applies is true, otherwise "".
func when(applies bool, name string) string {
	if applies {
		return name
	}
	return ""
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
