package trace

import (
	"cmp"
	"slices"
)

// A Dialect says what the spans of a trace mean that another profiler than Kineto wrote. Only the package of that profiler
// knows it: see [Trace.Recast].
type Dialect struct {
	Tool  string
	Place func(*Track) Place

	// Span says what a span is. The kind [OtherKind] leaves it as it is. Spans of a place on a device are work, or of the
	// kind [Sync].
	Span func(on *Track, place Place, category, name string) Meaning

	// Arrow returns what arrows of a category link.
	Arrow func(category string) Arrow
}

// A Meaning is what a span is.
type Meaning struct {
	Kind       Kind
	Name       string
	Collective string // of work: the collective that it is, or ""
	Group      string // the group of its ranks
}

// A Place is what the spans of a track are of.
type Place struct {
	OnDevice       bool
	Repeats        bool // they repeat work of a device
	Device, Stream int64
	PID            string // of the host: the process to which the thread belongs, if the track has another number
}

// An Arrow is what arrows of a category link.
type Arrow uint8

// The kinds of arrows.
const (
	NoArrow     Arrow = iota
	LaunchArrow       // from a call to the work that it launched
	HandOver          // from the span in which a thread hands a task over to the one in which another thread executes it
)

// HandOverFlow is the category of arrows of the kind [HandOver].
const HandOverFlow = "hand-over"

// mostOpen is the number of calls that may begin between a call and an arrow that begins in it.
const mostOpen = 64

// Recast gives the spans of a trace the meaning that they have for its profiler: work of devices, and the calls that
// launched it.
func (t *Trace) Recast(d Dialect) {
	r := recast{t: t, d: d, places: make([]Place, len(t.Tracks)), names: make(map[string]Sym), known: make(map[spanKey]meaning), none: t.noDetail(), shape: ShapeID(len(t.shapes))}
	t.shapes = append(t.shapes, Shape{})
	r.place()
	for row := range t.Activities.All() {
		*r.work.next() = *row
	}
	t.Spans = filter(&t.Spans, func(s *HostSpan) bool {
		m := r.meaning(s.Track, s.Category, s.Name)
		if m.kind == OtherKind {
			return true
		}
		if s.Name = m.name; m.kind.OnDevice() || m.kind == Runtime || m.kind == CPUOp {
			r.add(s.Start, s.Dur, s.Track, m)
			return false
		}
		s.Kind = m.kind
		return true
	})
	var notes column[HostSpan]
	op := r.sym(Kind(CPUOp).String())
	t.Ops = filter(&t.Ops, func(o *Op) bool {
		switch m := r.meaning(o.Track, op, o.Name); m.kind {
		case OtherKind, CPUOp:
			return true
		case Annotation:
			*notes.next() = HostSpan{Start: o.Start, Dur: o.Dur, Name: m.name, Kind: Annotation, Track: o.Track}
		default:
			r.add(o.Start, o.Dur, o.Track, m)
		}
		return false
	})
	t.Spans.add(notes.cut())
	t.Activities = tableOf(&r.work)
	t.Calls.add(r.calls.cut())
	t.Ops.add(r.ops.cut())
	t.Meta.Tool = d.Tool
	r.link()
}

type recast struct {
	t      *Trace
	d      Dialect
	places []Place
	names  map[string]Sym
	known  map[spanKey]meaning
	none   DetailID
	work   column[Activity]
	calls  column[Call]
	ops    column[Op]
	shape  ShapeID // of operators without arguments
}

type spanKey struct {
	track          TrackID
	category, name Sym
}

type meaning struct {
	kind   Kind
	name   Sym
	detail DetailID
}

// detail returns the number of what a span says about its work.
func (r *recast) detail(is Meaning) DetailID {
	if is.Collective == "" {
		return r.none
	}
	id := r.t.noDetail()
	c := &r.t.details[id].Collective
	c.Name, c.Group = r.sym(is.Collective), r.sym(is.Group)
	return id
}

// place finds the place of each track. Threads that a profiler lists under several numbers of a process become one track.
func (r *recast) place() {
	type thread struct{ pid, tid string }
	threads := make(map[thread]TrackID)
	to := make([]TrackID, len(r.t.Tracks))
	for i := range r.t.Tracks {
		on := &r.t.Tracks[i]
		r.places[i] = r.d.Place(on)
		if p := r.places[i]; p.OnDevice {
			on.OnDevice, on.Device, on.Stream = true, p.Device, p.Stream
		} else if on.Repeats = on.Repeats || p.Repeats; !on.OnDevice && p.PID == "" {
			threads[thread{on.PID, on.TID}] = TrackID(i)
		}
		to[i] = TrackID(i)
	}
	for i := range r.t.Tracks {
		on, pid := &r.t.Tracks[i], r.places[i].PID
		if pid == "" || r.places[i].OnDevice {
			continue
		}
		if same, ok := threads[thread{pid, on.TID}]; ok {
			to[i] = same
			continue
		}
		on.PID = pid
		threads[thread{pid, on.TID}] = TrackID(i)
	}
	for s := range r.t.Spans.All() {
		s.Track = to[s.Track]
	}
	for o := range r.t.Ops.All() {
		o.Track = to[o.Track]
	}
	for f := range r.t.Flows.All() {
		f.Track = to[f.Track]
	}
}

// meaning returns what spans of a name are.
func (r *recast) meaning(track TrackID, category, name Sym) meaning {
	key := spanKey{track, category, name}
	m, ok := r.known[key]
	if !ok {
		m = meaning{OtherKind, name, r.none}
		if is := r.d.Span(&r.t.Tracks[track], r.places[track], r.t.names[category], r.t.names[name]); is.Kind != OtherKind {
			m = meaning{is.Kind, r.sym(is.Name), r.detail(is)}
		}
		r.known[key] = m
	}
	return m
}

// sym returns the number of a text.
func (r *recast) sym(text string) Sym {
	n, ok := r.names[text]
	if !ok && text != "" {
		n = Sym(len(r.t.names))
		r.t.names = append(r.t.names, text)
		r.names[text] = n
	}
	return n
}

// add adds work or a call.
func (r *recast) add(start, dur int64, on TrackID, m meaning) {
	switch {
	case m.kind == CPUOp:
		*r.ops.next() = Op{Start: start, Dur: dur, Name: m.name, Track: on, Shape: r.shape}
		return
	case m.kind.OnDevice():
		*r.work.next() = Activity{Start: start, Dur: dur, Name: m.name, Track: on, Kind: m.kind, Detail: m.detail}
		return
	}
	*r.calls.next() = Call{Start: start, Dur: dur, Name: m.name, Track: on, Kind: Runtime}
}

// link gives calls and work the numbers by which they belong together, as the arrows say.
func (r *recast) link() {
	type end struct {
		category Sym
		id       ID
	}
	arrows := make(map[Sym]Arrow)
	handOver := r.sym(HandOverFlow)
	var ends []*FlowEnd
	for f := range r.t.Flows.All() {
		of, ok := arrows[f.Category]
		if !ok {
			of = r.d.Arrow(r.t.names[f.Category])
			arrows[f.Category] = of
		}
		if of == LaunchArrow {
			ends = append(ends, f)
		} else if of == HandOver {
			f.Category = handOver
		}
	}
	byTrack := make(map[TrackID][]*Call)
	for c := range r.t.Calls.All() {
		byTrack[c.Track] = append(byTrack[c.Track], c)
	}
	for _, list := range byTrack {
		slices.SortStableFunc(list, func(a, b *Call) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Dur, a.Dur)) })
	}
	type place struct {
		track TrackID
		start int64
	}
	works := make(map[place][]*Activity)
	for a := range r.t.Activities.All() {
		if p := (place{a.Track, a.Start}); r.places[a.Track].OnDevice {
			works[p] = append(works[p], a)
		}
	}
	slices.SortStableFunc(ends, func(a, b *FlowEnd) int { return cmp.Compare(a.Start, b.Start) })
	from := make(map[end]*Call)
	last := ID(0)
	for _, f := range ends {
		if key := (end{f.Category, f.ID}); f.Phase == 's' && !r.places[f.Track].OnDevice {
			from[key] = innermost(byTrack[f.Track], f.Start)
		}
	}
	for _, f := range ends {
		call := from[end{f.Category, f.ID}]
		p := place{f.Track, f.Start}
		if f.Phase == 's' || call == nil || len(works[p]) == 0 {
			continue
		}
		if call.Correlation == 0 {
			last++
			call.Correlation = last
		}
		works[p][0].Correlation = call.Correlation
		works[p] = works[p][1:]
	}
}

// innermost returns the innermost of the calls of a thread, sorted by start, that are open at a time, or nil.
func innermost(calls []*Call, at int64) *Call {
	n, _ := slices.BinarySearchFunc(calls, at+1, func(c *Call, t int64) int { return cmp.Compare(c.Start, t) })
	for k := n - 1; k >= 0 && k >= n-mostOpen; k-- {
		if calls[k].Start+calls[k].Dur >= at {
			return calls[k]
		}
	}
	return nil
}
