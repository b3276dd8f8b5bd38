package summary

import (
	"cmp"
	"maps"
	"slices"
)

// Merge returns one summary of all that the list holds.
//
// Inputs follow each other in the order of the list, and the rows of each keep
// pointing at their own. Rows of different inputs are never added up: two
// ranks, or two captures of one rank, stay apart, and a reader who wants them
// pooled can still do it. Only issues are added up by code: the counts sum,
// the worst severity stays, and so do the First and Help met first.
//
// The result is sorted as by [Summary.Sort] and shares no memory with the
// list. Merging is associative, and an empty summary, like a nil one, changes
// nothing. Merge of nothing is an empty summary.
func Merge(list ...*Summary) *Summary {
	out := &Summary{Schema: Schema, Inputs: []Input{}, Devices: []Device{}, Kernels: []Kernel{}, Issues: []Issue{}}
	for _, s := range list {
		if s != nil {
			out.append(s)
		}
	}
	out.Issues = mergeIssues(out.Issues)
	out.Sort()
	return out
}

// append adds copies of the rows of s behind those of out, with their inputs
// renumbered.
func (out *Summary) append(s *Summary) {
	base := len(out.Inputs)
	for _, in := range s.Inputs {
		in.BaseTimeNS, in.Recorder = clone(in.BaseTimeNS), maps.Clone(in.Recorder)
		out.Inputs = append(out.Inputs, in)
	}
	add(&out.Devices, s.Devices, func(d *Device) {
		d.Input += base
		d.Strip, d.Utilization = d.Strip.clone(), d.Utilization.clone()
		d.Durations.Buckets, d.Gaps.Buckets = slices.Clone(d.Durations.Buckets), slices.Clone(d.Gaps.Buckets)
		d.LargestGaps = slices.Clone(d.LargestGaps)
	})
	add(&out.Streams, s.Streams, func(r *Stream) { r.Input += base })
	add(&out.Steps, s.Steps, func(r *Step) { r.Input += base; r.Phases = slices.Clone(r.Phases) })
	add(&out.Phases, s.Phases, func(r *Phase) { r.Input += base })
	add(&out.Kernels, s.Kernels, func(r *Kernel) { r.Input += base })
	add(&out.Copies, s.Copies, func(r *Copy) { r.Input += base; r.Bytes = clone(r.Bytes) })
	add(&out.CopyCalls, s.CopyCalls, func(r *CopyCall) { r.Input += base; r.Bytes = clone(r.Bytes) })
	add(&out.Syncs, s.Syncs, func(r *Sync) { r.Input += base })
	add(&out.Spans, s.Spans, func(r *Span) { r.Input += base })
	add(&out.Ops, s.Ops, func(r *Op) { r.Input += base; r.TopShapes = slices.Clone(r.TopShapes) })
	add(&out.Modules, s.Modules, func(r *Module) { r.Input += base })
	add(&out.Lines, s.Lines, func(r *Line) { r.Input += base })
	add(&out.Annotations, s.Annotations, func(r *Annotation) { r.Input += base })
	add(&out.Passes, s.Passes, func(r *Pass) { r.Input += base })
	add(&out.Calls, s.Calls, func(r *Call) { r.Input += base })
	add(&out.Launches, s.Launches, func(r *Launches) {
		r.Input += base
		r.Delays.Buckets = slices.Clone(r.Delays.Buckets)
		r.PerStep, r.Queue, r.QueueStrip = slices.Clone(r.PerStep), slices.Clone(r.Queue), slices.Clone(r.QueueStrip)
	})
	add(&out.LaunchLosses, s.LaunchLosses, func(r *LaunchLoss) { r.Input += base })
	add(&out.Graphs, s.Graphs, func(r *Graph) { r.Input += base })
	add(&out.Idle, s.Idle, func(r *Idle) { r.Input += base })
	add(&out.Memory, s.Memory, func(r *Memory) { r.Input += base; *r = r.clone() })
	add(&out.Tables, s.Tables, func(t *Table) { t.Input += base; *t = t.clone() })
	add(&out.Counters, s.Counters, func(c *Counter) { c.Input += base; *c = c.clone() })
	add(&out.Flames, s.Flames, func(f *Flame) { f.Input += base; *f = f.clone() })
	add(&out.Snapshots, s.Snapshots, func(r *Snapshot) { r.Input += base; *r = r.clone() })
	add(&out.MemoryTimelines, s.MemoryTimelines, func(r *MemoryTimeline) { r.Input += base; *r = r.clone() })
	out.Issues = append(out.Issues, s.Issues...)
}

// add appends copies of rows, each made its own by own.
func add[T any](to *[]T, rows []T, own func(*T)) {
	for _, r := range rows {
		own(&r)
		*to = append(*to, r)
	}
}

func (m Memory) clone() Memory {
	m.StartAllocated, m.PeakAllocated, m.PeakReserved = clone(m.StartAllocated), clone(m.PeakAllocated), clone(m.PeakReserved)
	m.Capacity = clone(m.Capacity)
	m.Live = slices.Clone(m.Live)
	if m.Strip != nil {
		s := *m.Strip
		s.Allocated, s.Reserved = slices.Clone(s.Allocated), slices.Clone(s.Reserved)
		m.Strip = &s
	}
	return m
}

func clone(p *int64) *int64 {
	if p == nil {
		return nil
	}
	n := *p
	return &n
}

func (s *Strip) clone() *Strip {
	if s == nil {
		return nil
	}
	out := &Strip{BinNS: s.BinNS, NS: maps.Clone(s.NS)}
	for class, bins := range out.NS {
		out.NS[class] = slices.Clone(bins)
	}
	return out
}

// mergeIssues adds up the issues of each code, in the order of their first
// appearance.
func mergeIssues(list []Issue) []Issue {
	out := list[:0]
	index := map[string]int{}
	for _, is := range list {
		i, ok := index[is.Code]
		if !ok {
			index[is.Code] = len(out)
			out = append(out, is)
			continue
		}
		have := &out[i]
		have.Count = Plus(have.Count, is.Count)
		have.First = cmp.Or(have.First, is.First)
		have.Help = cmp.Or(have.Help, is.Help)
		if weight(is.Severity) > weight(have.Severity) {
			have.Severity = is.Severity
		}
	}
	return out
}

// weight orders severities. One that is not known, from a later version of the
// schema, counts least.
func weight(severity string) int {
	return slices.Index([]string{"info", "data-loss", "suspect"}, severity)
}

// Sort puts the rows into the one order of the JSON: kernels by falling total,
// then name, device, stream, op, input and rank; issues worst first, then by
// code; steps of a device by their start; all others by their keys, and the rows of
// a table of another tool by falling value. Inputs
// keep their order, for rows point at them. Keys are unique, so the order is
// total.
func (s *Summary) Sort() {
	slices.SortStableFunc(s.Devices, func(a, b Device) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Device, b.Device))
	})
	slices.SortStableFunc(s.Streams, func(a, b Stream) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Rank, b.Rank),
			cmp.Compare(a.Device, b.Device), cmp.Compare(a.Stream, b.Stream))
	})
	slices.SortStableFunc(s.Steps, func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Device, b.Device),
			cmp.Compare(a.StartNS, b.StartNS), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Name, b.Name))
	})
	slices.SortStableFunc(s.Kernels, func(a, b Kernel) int {
		return cmp.Or(cmp.Compare(b.TotalNS, a.TotalNS), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Device, b.Device), cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Op, b.Op),
			cmp.Compare(a.Input, b.Input), cmp.Compare(a.Rank, b.Rank))
	})
	slices.SortStableFunc(s.Copies, func(a, b Copy) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Device, b.Device),
			cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Class, b.Class))
	})
	slices.SortStableFunc(s.Spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Process, b.Process),
			cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Category, b.Category))
	})
	s.sortPhases()
	s.sortWaiting()
	s.sortAttribution()
	s.sortSnapshots()
	s.sortTables()
	s.sortCounters()
	s.sortFlames()
	s.sortLosses()
	slices.SortStableFunc(s.Issues, func(a, b Issue) int {
		return cmp.Or(cmp.Compare(weight(b.Severity), weight(a.Severity)), cmp.Compare(a.Code, b.Code))
	})
}

// sortAttribution sorts the rows of attribution, idle time and memory: tables by
// time, the largest first, the others by device.
func (s *Summary) sortAttribution() {
	slices.SortStableFunc(s.Ops, func(a, b Op) int {
		return cmp.Or(cmp.Compare(b.GPUSelfNS, a.GPUSelfNS), cmp.Compare(b.CPUSelfNS, a.CPUSelfNS), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Input, b.Input))
	})
	slices.SortStableFunc(s.Modules, func(a, b Module) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Path, b.Path))
	})
	slices.SortStableFunc(s.Lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.GPUSelfNS, a.GPUSelfNS), cmp.Compare(b.CPUTotalNS, a.CPUTotalNS), cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Input, b.Input))
	})
	slices.SortStableFunc(s.Annotations, func(a, b Annotation) int {
		return cmp.Or(cmp.Compare(b.GPUTotalNS, a.GPUTotalNS), cmp.Compare(b.CPUTotalNS, a.CPUTotalNS), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Input, b.Input))
	})
	slices.SortStableFunc(s.Passes, func(a, b Pass) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Device, b.Device), cmp.Compare(b.GPUNS, a.GPUNS), cmp.Compare(a.Name, b.Name))
	})
	slices.SortStableFunc(s.Calls, func(a, b Call) int {
		return cmp.Or(cmp.Compare(b.TotalNS, a.TotalNS), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Input, b.Input))
	})
	slices.SortStableFunc(s.Launches, func(a, b Launches) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Device, b.Device))
	})
	slices.SortStableFunc(s.Graphs, func(a, b Graph) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Device, b.Device), cmp.Compare(a.ID, b.ID))
	})
	slices.SortStableFunc(s.Idle, func(a, b Idle) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Device, b.Device), cmp.Compare(b.NS, a.NS),
			cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.State, b.State), cmp.Compare(a.Name, b.Name))
	})
	slices.SortStableFunc(s.Memory, func(a, b Memory) int {
		onHost := func(m Memory) int {
			if m.OnHost {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(onHost(a), onHost(b)), cmp.Compare(a.Device, b.Device))
	})
}
