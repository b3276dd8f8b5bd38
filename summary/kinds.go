package summary

import (
	"cmp"
	"slices"
)

// kinds describes every type of row of a [Summary]. All code that treats every type in the same way
// iterates over this table: [Merge], [Summary.Sort], the checks of [Read], [Summary.Only],
// [Summary.Detach], [Kinds]. A new type of row is a struct, a field of Summary and an entry here; a test
// compares the table with the fields.
//
// Inputs and issues have no entry, because rows refer to inputs, and issues refer to no input.
var kinds = []Kind{
	rows[Device]{Name: "devices", In: func(s *Summary) *[]Device { return &s.Devices },
		Fold: slim,
		Slim: func(r *Device, _ bool) {
			r.Strip, r.Utilization, r.LargestGaps, r.Durations, r.Gaps = nil, nil, nil, Histogram{}, Histogram{}
		},
		At:    func(r *Device) place { return place{&r.Input, &r.Rank, &r.Device} },
		Check: (*Device).check},
	rows[Stream]{Name: "streams", In: func(s *Summary) *[]Stream { return &s.Streams },
		Fold:  away,
		Roll:  func(r *Stream) Rolled { return Rolled{Name: r.Name, Count: r.Kernels, TotalNS: r.WorkNS} },
		At:    func(r *Stream) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: func(a, b *Stream) int { return cmp.Compare(a.Stream, b.Stream) }},
	rows[Step]{Name: "steps", In: func(s *Summary) *[]Step { return &s.Steps },
		Fold: few,
		Roll: func(r *Step) Rolled { return Rolled{Name: r.Name, Kind: r.Kind, Count: 1, TotalNS: r.WallNS} },
		At:   func(r *Step) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: func(a, b *Step) int {
			return cmp.Or(cmp.Compare(a.StartNS, b.StartNS), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Name, b.Name))
		},
		Check: (*Step).check},
	rows[Phase]{Name: "phases", In: func(s *Summary) *[]Phase { return &s.Phases },
		Fold: few,
		Roll: func(r *Phase) Rolled {
			return Rolled{Name: r.Path, Count: r.Count, TotalNS: r.Total.Window(), CPUNS: &r.HostNS}
		},
		At:       func(r *Phase) place { return place{&r.Input, &r.Rank, &r.Device} },
		SortAll:  sortPhases,
		CheckAll: (*Summary).checkPhases},
	rows[Detail]{Name: "details", In: func(s *Summary) *[]Detail { return &s.Details },
		Fold:  stays,
		At:    func(r *Detail) place { return place{&r.Input, &r.Rank, &r.Device} },
		Check: (*Detail).check},
	rows[Kernel]{Name: "kernels", In: func(s *Summary) *[]Kernel { return &s.Kernels },
		Fold: away,
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
	rows[Copy]{Name: "copies", In: func(s *Summary) *[]Copy { return &s.Copies },
		Fold: away,
		Roll: func(r *Copy) Rolled {
			return Rolled{Name: r.Name, Class: r.Class, Count: r.Count, TotalNS: r.TotalNS, LongestNS: r.MaxNS, Bytes: r.Bytes}
		},
		At: func(r *Copy) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: func(a, b *Copy) int {
			return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Class, b.Class))
		},
		Check: func(r *Copy) error { return checkTotal(r.Count, r.TotalNS, r.MaxNS) }},
	rows[CopyCall]{Name: "copy_calls", In: func(s *Summary) *[]CopyCall { return &s.CopyCalls },
		Fold: away,
		Roll: func(r *CopyCall) Rolled {
			return Rolled{Name: r.Name, Class: r.Class, Op: r.Call, Kind: when(r.Large, "large"), Count: r.Count, TotalNS: r.TotalNS, LongestNS: r.MaxNS, Bytes: r.Bytes}
		},
		At: func(r *CopyCall) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: func(a, b *CopyCall) int {
			return cmp.Or(cmp.Compare(b.TotalNS, a.TotalNS), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Name, b.Name),
				cmp.Compare(a.Call, b.Call), compareBools(b.Large, a.Large))
		}},
	rows[Sync]{Name: "syncs", In: func(s *Summary) *[]Sync { return &s.Syncs },
		Fold: away,
		Roll: func(r *Sync) Rolled { return Rolled{Count: r.Calls, TotalNS: r.HostNS, LongestNS: r.MaxNS} },
		At:   func(r *Sync) place { return place{&r.Input, &r.Rank, &r.Device} }},
	rows[Span]{Name: "spans", In: func(s *Summary) *[]Span { return &s.Spans },
		Fold: away,
		Roll: func(r *Span) Rolled {
			return Rolled{Name: r.Name, Category: r.Category, Count: r.Count, TotalNS: r.TotalNS, LongestNS: r.MaxNS}
		},
		At: func(r *Span) place { return place{&r.Input, &r.Rank, nil} },
		Order: func(a, b *Span) int {
			return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Category, b.Category))
		}},
	rows[Op]{Name: "ops", In: func(s *Summary) *[]Op { return &s.Ops },
		Fold: away,
		Roll: func(r *Op) Rolled {
			return Rolled{Name: r.Name, Count: r.Count, TotalNS: r.GPUSelfNS, CPUNS: &r.CPUSelfNS, Launched: r.Launched}
		},
		At: func(r *Op) place { return place{&r.Input, &r.Rank, nil} },
		First: func(a, b *Op) int {
			return cmp.Or(cmp.Compare(b.GPUSelfNS, a.GPUSelfNS), cmp.Compare(b.CPUSelfNS, a.CPUSelfNS), cmp.Compare(a.Name, b.Name))
		}},
	rows[Module]{Name: "modules", In: func(s *Summary) *[]Module { return &s.Modules },
		Fold: away,
		Roll: func(r *Module) Rolled {
			return Rolled{Name: r.Path, Count: r.Count, TotalNS: r.GPUTotalNS, CPUNS: &r.CPUTotalNS}
		},
		At:    func(r *Module) place { return place{&r.Input, &r.Rank, nil} },
		Order: func(a, b *Module) int { return cmp.Compare(a.Path, b.Path) }},
	rows[Line]{Name: "lines", In: func(s *Summary) *[]Line { return &s.Lines },
		Fold: away,
		Roll: func(r *Line) Rolled {
			return Rolled{Name: r.Function, File: r.File, Line: r.Line, Count: r.Count, TotalNS: r.GPUTotalNS, CPUNS: &r.CPUTotalNS}
		},
		At: func(r *Line) place { return place{&r.Input, &r.Rank, nil} },
		First: func(a, b *Line) int {
			return cmp.Or(cmp.Compare(b.GPUSelfNS, a.GPUSelfNS), cmp.Compare(b.CPUTotalNS, a.CPUTotalNS), cmp.Compare(a.File, b.File),
				cmp.Compare(a.Line, b.Line), cmp.Compare(a.Function, b.Function))
		}},
	rows[Annotation]{Name: "annotations", In: func(s *Summary) *[]Annotation { return &s.Annotations },
		Fold: away,
		Roll: func(r *Annotation) Rolled {
			return Rolled{Name: r.Name, Count: r.Count, TotalNS: r.GPUTotalNS, CPUNS: &r.CPUTotalNS}
		},
		At: func(r *Annotation) place { return place{&r.Input, &r.Rank, nil} },
		First: func(a, b *Annotation) int {
			return cmp.Or(cmp.Compare(b.GPUTotalNS, a.GPUTotalNS), cmp.Compare(b.CPUTotalNS, a.CPUTotalNS), cmp.Compare(a.Name, b.Name))
		}},
	rows[Pass]{Name: "passes", In: func(s *Summary) *[]Pass { return &s.Passes },
		Fold:  away,
		Roll:  func(r *Pass) Rolled { return Rolled{Name: r.Name, Count: r.Count, TotalNS: r.GPUNS} },
		At:    func(r *Pass) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: func(a, b *Pass) int { return cmp.Or(cmp.Compare(b.GPUNS, a.GPUNS), cmp.Compare(a.Name, b.Name)) }},
	rows[Call]{Name: "calls", In: func(s *Summary) *[]Call { return &s.Calls },
		Fold: away,
		Roll: func(r *Call) Rolled {
			return Rolled{Name: r.Name, Kind: r.Kind, Count: r.Count, TotalNS: r.TotalNS, LongestNS: r.MaxNS, Launched: r.Launched}
		},
		At:    func(r *Call) place { return place{&r.Input, &r.Rank, nil} },
		First: func(a, b *Call) int { return cmp.Or(cmp.Compare(b.TotalNS, a.TotalNS), cmp.Compare(a.Name, b.Name)) }},
	rows[Launches]{Name: "launches", In: func(s *Summary) *[]Launches { return &s.Launches },
		Fold: slim,
		Slim: func(r *Launches, steps bool) {
			if r.Delays, r.Queue, r.QueueStrip = (Histogram{}), nil, nil; !steps {
				r.PerStep = nil
			}
		},
		At: func(r *Launches) place { return place{&r.Input, &r.Rank, &r.Device} }},
	rows[Collective]{Name: "collectives", In: func(s *Summary) *[]Collective { return &s.Collectives },
		Fold:  stays,
		At:    func(r *Collective) place { return place{Input: &r.Input} },
		Job:   func(r *Collective) *int { return &r.Job },
		First: (*Collective).order,
		Check: (*Collective).check},
	rows[RankWait]{Name: "ranks", In: func(s *Summary) *[]RankWait { return &s.Ranks },
		Fold:  stays,
		At:    func(r *RankWait) place { return place{&r.Input, &r.Rank, &r.Device} },
		Job:   func(r *RankWait) *int { return &r.Job },
		Check: (*RankWait).check},
	rows[Topology]{Name: "topologies", In: func(s *Summary) *[]Topology { return &s.Topologies },
		Fold:  stays,
		At:    func(r *Topology) place { return place{Input: &r.Input} },
		Job:   func(r *Topology) *int { return &r.Job },
		Check: (*Topology).check},
	rows[Rolled]{Name: "rolled", In: func(s *Summary) *[]Rolled { return &s.Rolled },
		Fold:  stays,
		At:    func(r *Rolled) place { return place{Input: &r.Input} },
		Job:   func(r *Rolled) *int { return &r.Job },
		First: (*Rolled).order,
		Check: (*Rolled).check},
	rows[LaunchLoss]{Name: "launch_losses", In: func(s *Summary) *[]LaunchLoss { return &s.LaunchLosses },
		Fold:  stays,
		At:    func(r *LaunchLoss) place { return place{&r.Input, &r.Rank, nil} },
		Order: func(a, b *LaunchLoss) int { return cmp.Compare(a.Kind, b.Kind) },
		Check: (*LaunchLoss).check},
	rows[Graph]{Name: "graphs", In: func(s *Summary) *[]Graph { return &s.Graphs },
		Fold: away,
		Roll: func(r *Graph) Rolled {
			return Rolled{Name: r.First, Op: r.Call, Kind: when(r.Opaque, "opaque"), Count: r.Launches, TotalNS: r.WorkNS}
		},
		At:    func(r *Graph) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: func(a, b *Graph) int { return cmp.Compare(a.ID, b.ID) }},
	rows[Idle]{Name: "idle", In: func(s *Summary) *[]Idle { return &s.Idle },
		Fold: away,
		Roll: func(r *Idle) Rolled {
			return Rolled{Name: r.Name, Owner: r.Owner, State: r.State, Count: r.Count, TotalNS: r.NS, LongestNS: r.MaxNS}
		},
		At: func(r *Idle) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: func(a, b *Idle) int {
			return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.State, b.State), cmp.Compare(a.Name, b.Name))
		}},
	rows[Memory]{Name: "memory", In: func(s *Summary) *[]Memory { return &s.Memory },
		Fold:  slim,
		Slim:  func(r *Memory, _ bool) { r.Live, r.Strip = nil, nil },
		At:    func(r *Memory) place { return place{&r.Input, &r.Rank, &r.Device} },
		First: func(a, b *Memory) int { return cmp.Or(cmp.Compare(a.Input, b.Input), compareBools(a.OnHost, b.OnHost)) }},
	rows[Table]{Name: "tables", In: func(s *Summary) *[]Table { return &s.Tables },
		Fold:  stays,
		At:    func(r *Table) place { return place{Input: &r.Input} },
		Order: func(a, b *Table) int { return cmp.Compare(a.Number, b.Number) },
		Inner: (*Table).sortRows,
		Check: (*Table).check},
	rows[Flame]{Name: "flames", In: func(s *Summary) *[]Flame { return &s.Flames },
		Fold:  stays,
		At:    func(r *Flame) place { return place{Input: &r.Input} },
		Order: func(a, b *Flame) int { return cmp.Compare(a.Name, b.Name) },
		Check: (*Flame).check},
	rows[Counter]{Name: "counters", In: func(s *Summary) *[]Counter { return &s.Counters },
		Fold: stays,
		At:   func(r *Counter) place { return place{Input: &r.Input, Device: &r.Device} },
		First: func(a, b *Counter) int {
			return cmp.Or(cmp.Compare(b.TotalNS, a.TotalNS), cmp.Compare(b.Launches, a.Launches), cmp.Compare(a.Kernel, b.Kernel))
		},
		Check: (*Counter).check},
	rows[Series]{Name: "series", In: func(s *Summary) *[]Series { return &s.Series },
		Fold:  stays,
		At:    func(r *Series) place { return place{Input: &r.Input} },
		Order: (*Series).order,
		Check: (*Series).check},
	rows[Benchmark]{Name: "benchmarks", In: func(s *Summary) *[]Benchmark { return &s.Benchmarks },
		Fold:  stays,
		At:    func(r *Benchmark) place { return place{Input: &r.Input} },
		Order: func(a, b *Benchmark) int { return cmp.Compare(a.Number, b.Number) }},
	rows[Group]{Name: "groups", In: func(s *Summary) *[]Group { return &s.Groups },
		Fold:  stays,
		At:    func(r *Group) place { return place{Input: &r.Input} },
		Order: (*Group).order,
		Check: (*Group).check},
	rows[Clock]{Name: "clocks", In: func(s *Summary) *[]Clock { return &s.Clocks },
		Fold:  stays,
		At:    func(r *Clock) place { return place{Input: &r.Input} },
		Check: (*Clock).check},
	rows[Monitored]{Name: "monitored", In: func(s *Summary) *[]Monitored { return &s.Monitored },
		Fold:  stays,
		At:    func(r *Monitored) place { return place{Input: &r.Input} },
		Job:   func(r *Monitored) *int { return &r.Beside },
		Order: (*Monitored).order,
		Check: (*Monitored).check},
	rows[Snapshot]{Name: "snapshots", In: func(s *Summary) *[]Snapshot { return &s.Snapshots },
		Fold:  stays,
		At:    func(r *Snapshot) place { return place{&r.Input, &r.Rank, &r.Device} },
		Check: (*Snapshot).check},
	rows[MemoryTimeline]{Name: "memory_timelines", In: func(s *Summary) *[]MemoryTimeline { return &s.MemoryTimelines },
		Fold:  stays,
		At:    func(r *MemoryTimeline) place { return place{&r.Input, &r.Rank, nil} },
		Check: (*MemoryTimeline).check},
	rows[EfficiencyDevice]{Name: "efficiency.devices", In: func(s *Summary) *[]EfficiencyDevice { return &s.Efficiency.Devices },
		Fold:  stays,
		At:    func(r *EfficiencyDevice) place { return place{&r.Input, &r.Rank, &r.Device} },
		Check: (*EfficiencyDevice).check},
	rows[EfficiencyRow]{Name: "efficiency.rows", In: func(s *Summary) *[]EfficiencyRow { return &s.Efficiency.Rows },
		Fold: away,
		Roll: func(r *EfficiencyRow) Rolled {
			return Rolled{Name: r.Op, Kind: r.Unit, Count: r.Count, TotalNS: r.GPUNS, Bytes: r.Bytes}
		},
		At:    func(r *EfficiencyRow) place { return place{&r.Input, &r.Rank, &r.Device} },
		First: (*EfficiencyRow).order,
		Check: (*EfficiencyRow).check},
	rows[EfficiencyStep]{Name: "efficiency.steps", In: func(s *Summary) *[]EfficiencyStep { return &s.Efficiency.Steps },
		Fold: few,
		Roll: func(r *EfficiencyStep) Rolled { return Rolled{Name: r.Name, Count: 1, TotalNS: r.WallNS} },
		At:   func(r *EfficiencyStep) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: func(a, b *EfficiencyStep) int {
			return cmp.Or(cmp.Compare(a.StartNS, b.StartNS), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Name, b.Name))
		},
		Check: (*EfficiencyStep).check},
	rows[EfficiencyDecode]{Name: "efficiency.decode", In: func(s *Summary) *[]EfficiencyDecode { return &s.Efficiency.Decode },
		Fold:  few,
		Roll:  func(r *EfficiencyDecode) Rolled { return Rolled{Name: r.Name, Count: 1, TotalNS: r.WallNS} },
		At:    func(r *EfficiencyDecode) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: (*EfficiencyDecode).order,
		Check: (*EfficiencyDecode).check},
	rows[EfficiencyTransfer]{Name: "efficiency.transfers", In: func(s *Summary) *[]EfficiencyTransfer { return &s.Efficiency.Transfers },
		Fold: away,
		Roll: func(r *EfficiencyTransfer) Rolled {
			return Rolled{Name: r.Name, Kind: r.Kind, Count: r.Count, TotalNS: r.NS, Bytes: (*int64)(&r.Bytes)}
		},
		At:    func(r *EfficiencyTransfer) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: (*EfficiencyTransfer).order,
		Check: (*EfficiencyTransfer).check},
	rows[EfficiencyReplay]{Name: "efficiency.replays", In: func(s *Summary) *[]EfficiencyReplay { return &s.Efficiency.Replays },
		Fold:  stays,
		At:    func(r *EfficiencyReplay) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: (*EfficiencyReplay).order,
		Check: (*EfficiencyReplay).check},
	rows[EfficiencyCapture]{Name: "efficiency.captures", In: func(s *Summary) *[]EfficiencyCapture { return &s.Efficiency.Captures },
		Fold:  stays,
		At:    func(r *EfficiencyCapture) place { return place{&r.Input, &r.Rank, nil} },
		Order: (*EfficiencyCapture).order,
		Check: (*EfficiencyCapture).check},
}

// Kinds returns the types of rows in the order of the fields of [Summary].
func Kinds() []Kind { return slices.Clone(kinds) }

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
