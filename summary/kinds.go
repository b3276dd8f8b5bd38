package summary

import (
	"cmp"
	"reflect"
	"slices"
)

// kinds describes every type of row of a [Summary]. All code that treats every
// type in the same way iterates over this table: [Merge], [Summary.Sort],
// [Read]'s checks, [Summary.Only], [Summary.Detach], [Kinds]. A new type of row
// is a struct, a field of Summary and an entry here; a test compares the table
// with the fields.
//
// Inputs and issues have no entry: rows refer to inputs, and issues belong to
// no place.
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
		}},
	rows[Copy]{Name: "copies", In: func(s *Summary) *[]Copy { return &s.Copies },
		Fold: away,
		Roll: func(r *Copy) Rolled {
			return Rolled{Name: r.Name, Class: r.Class, Count: r.Count, TotalNS: r.TotalNS, LongestNS: r.MaxNS, Bytes: r.Bytes}
		},
		At: func(r *Copy) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: func(a, b *Copy) int {
			return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Class, b.Class))
		}},
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
		Check: func(r *EfficiencyDevice) error { return r.EfficiencySums.check() }},
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
		Check: func(r *EfficiencyStep) error { return r.EfficiencySums.check() }},
	rows[EfficiencyTransfer]{Name: "efficiency.transfers", In: func(s *Summary) *[]EfficiencyTransfer { return &s.Efficiency.Transfers },
		Fold: away,
		Roll: func(r *EfficiencyTransfer) Rolled {
			return Rolled{Name: r.Name, Kind: r.Kind, Count: r.Count, TotalNS: r.NS, Bytes: &r.Bytes}
		},
		At:    func(r *EfficiencyTransfer) place { return place{&r.Input, &r.Rank, &r.Device} },
		Order: (*EfficiencyTransfer).order,
		Check: (*EfficiencyTransfer).check},
}

// Kinds returns the types of rows in the order of the fields of [Summary].
func Kinds() []Kind { return slices.Clone(kinds) }

// A Kind is one type of row. Its methods apply to all of a summary's rows of
// that type.
type Kind interface {
	// Member returns the name of the rows in the JSON.
	Member() string
	// Len returns the number of rows of the kind in s.
	Len(s *Summary) int
	// EachInput calls f with the input of each row of the kind in s.
	EachInput(s *Summary, f func(input int))

	rollUp(to, from *Summary, jobs *jobs)
	keep(s *Summary, want func(f fold, input int) bool)
	take(to, from *Summary, input func(int) (int, bool))
	move(to *Summary, list []*Summary, first []int)
	sort(s *Summary)
	rerank(s *Summary, ranks map[int64]int)
	check(s *Summary) error
	texts(s *Summary, f func(*string))
}

// A place has pointers to the fields of a row that identify where it was
// measured. Rank and Device are nil for rows without them; the rank is then
// that of the input.
type place struct {
	Input  *int
	Rank   *int
	Device *int64
}

// rows describes one type of row.
type rows[Row any] struct {
	Name string
	In   func(*Summary) *[]Row
	At   func(*Row) place

	// Job returns the second input that a row refers to; it is nil for rows of one input.
	Job func(*Row) *int

	// Fold is what [Summary.RollUp] does with the rows of ranks that are not kept in full, and Slim
	// what it removes from each if that is slim; steps is whether rows of steps stay. Roll returns what a row adds to the sums over
	// the ranks: the names by which rows of several ranks correspond, and the values. It is
	// nil if rows are not added up.
	Fold fold
	Slim func(r *Row, steps bool)
	Roll func(*Row) Rolled

	// Rows are sorted by First, then by input, rank and device, then by Order.
	// Together these are unique, so the order is total.
	First, Order func(a, b *Row) int
	// SortAll replaces First and Order if the order of one row depends on
	// others.
	SortAll func([]Row)
	// Inner sorts the content of a row.
	Inner func(*Row)

	Check    func(*Row) error     // returns the first violated constraint of a row
	CheckAll func(*Summary) error // returns the first violated constraint between rows
}

func (k rows[Row]) Member() string     { return k.Name }
func (k rows[Row]) Len(s *Summary) int { return len(*k.In(s)) }

func (k rows[Row]) EachInput(s *Summary, f func(int)) {
	list := *k.In(s)
	for i := range list {
		f(*k.At(&list[i]).Input)
	}
}

// take appends to one summary copies of the rows of another. The function input
// returns the new number of a row's input, and whether the row is wanted.
func (k rows[Row]) take(to, from *Summary, input func(int) (int, bool)) {
	list, refers := k.In(to), refers(reflect.TypeFor[Row]())
	for _, r := range *k.In(from) {
		at := k.At(&r)
		n, ok := input(*at.Input)
		if !ok {
			continue
		}
		*at.Input = n
		if k.Job != nil {
			job := k.Job(&r)
			if *job, ok = input(*job); !ok {
				continue
			}
		}
		if refers {
			ownValue(reflect.ValueOf(&r).Elem())
		}
		*list = append(*list, r)
	}
}

// move appends to one summary the rows of others, which have none afterwards. The
// inputs of each are numbered from its entry in first on.
func (k rows[Row]) move(to *Summary, list []*Summary, first []int) {
	n := 0
	for _, from := range list {
		n += len(*k.In(from))
	}
	if n == 0 {
		return
	}
	out := slices.Grow(*k.In(to), n)
	for i, from := range list {
		moved := k.In(from)
		out = append(out, *moved...)
		for j := len(out) - len(*moved); j < len(out); j++ {
			*k.At(&out[j]).Input += first[i]
			if k.Job != nil {
				*k.Job(&out[j]) += first[i]
			}
		}
		*moved = nil
	}
	*k.In(to) = out
}

func (k rows[Row]) sort(s *Summary) {
	list := *k.In(s)
	if k.Inner != nil {
		for i := range list {
			k.Inner(&list[i])
		}
	}
	if k.SortAll != nil {
		k.SortAll(list)
		return
	}
	sorted := true
	for i := 1; i < len(list) && sorted; i++ {
		sorted = k.compare(&list[i-1], &list[i]) <= 0
	}
	if !sorted {
		k.arrange(list)
	}
}

// arrange sorts the numbers of the rows and then moves each row once, because rows are
// large.
func (k rows[Row]) arrange(list []Row) {
	from := make([]int, len(list)) // the number of the row that belongs at each place
	for i := range from {
		from[i] = i
	}
	slices.SortStableFunc(from, func(a, b int) int { return k.compare(&list[a], &list[b]) })
	for first := range from {
		if from[first] == first {
			continue
		}
		row, at := list[first], first
		for from[at] != first {
			next := from[at]
			list[at], from[at] = list[next], at
			at = next
		}
		list[at], from[at] = row, at
	}
}

func (k rows[Row]) compare(a, b *Row) int {
	if k.First != nil {
		if c := k.First(a, b); c != 0 {
			return c
		}
	}
	p, q := k.At(a), k.At(b)
	c := cmp.Compare(*p.Input, *q.Input)
	if c == 0 && p.Rank != nil {
		c = cmp.Compare(*p.Rank, *q.Rank)
	}
	if c == 0 && p.Device != nil {
		c = cmp.Compare(*p.Device, *q.Device)
	}
	if c == 0 && k.Order != nil {
		c = k.Order(a, b)
	}
	return c
}

func (k rows[Row]) check(s *Summary) error {
	list := *k.In(s)
	for i := range list {
		if in := *k.At(&list[i]).Input; in < 0 || in >= len(s.Inputs) {
			return rowError(k.Name, i, ".input: got %d, want 0 or more and under %d, the number of inputs", in, len(s.Inputs))
		}
		if k.Job != nil {
			if job := *k.Job(&list[i]); job < 0 || job >= len(s.Inputs) {
				return rowError(k.Name, i, ".job: got %d, want 0 or more and under %d, the number of inputs", job, len(s.Inputs))
			}
		}
		if k.Check != nil {
			if err := k.Check(&list[i]); err != nil {
				return rowError(k.Name, i, "%w", err)
			}
		}
	}
	if k.CheckAll != nil {
		return k.CheckAll(s)
	}
	return nil
}

func (k rows[Row]) texts(s *Summary, f func(*string)) {
	if !holdsText(reflect.TypeFor[Row]()) {
		return
	}
	list := *k.In(s)
	for i := range list {
		textsIn(reflect.ValueOf(&list[i]).Elem(), f)
	}
}

// when returns the name if it applies, or "".
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
