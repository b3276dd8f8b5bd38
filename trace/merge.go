package trace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/internal/eventscan"
)

// A merger combines the parts of one input in order. Every text, track, detail
// and shape gets its final number when the first row that refers to it is
// added, so the numbers do not depend on the Builder that saw it first.
type merger struct {
	t       *Trace
	names   *interner
	tracks  map[trackKey]TrackID
	details map[Detail]DetailID
	shapes  map[Shape]ShapeID
	maps    map[*Builder]*renumbering
	labels  []label
	marks   Table[Mark]
	issues  diag.Ledger
	textIDs map[string]int64 // numbers of devices and streams whose name is a text
	limits  Limits
	rows    int64 // bytes charged for rows and labels

	index *Index      // nil without Select.Index
	pairs [][2]uint32 // for each span made of two marks, their row numbers; only with index

	recordEnd *int64 // when the last profiler stopped recording
	tool      string // as in [Meta]
}

// A renumbering maps each number of one Builder to the final number plus 1; 0
// means that the final number is not assigned yet.
type renumbering struct{ names, tracks, details, shapes []uint32 }

// newMerger returns a merger that observes the limits.
func newMerger(limits Limits) *merger {
	return &merger{
		t: new(Trace), names: newInterner(),
		tracks:  make(map[trackKey]TrackID),
		details: make(map[Detail]DetailID),
		shapes:  make(map[Shape]ShapeID),
		maps:    make(map[*Builder]*renumbering),
		textIDs: make(map[string]int64),
		limits:  limits,
	}
}

// add appends a part. Its rows are renumbered in place.
func (m *merger) add(p part) {
	m.index.add(m, &p)
	re := m.maps[p.b]
	if re == nil {
		re = new(renumbering)
		m.maps[p.b] = re
	}
	re.grow(p.b)
	in := input{m, p.b, re}
	each(p.activities, func(a *Activity) {
		a.Name, a.Track, a.Detail = in.name(a.Name), in.track(a.Track), in.detail(a.Detail)
	})
	each(p.ops, func(o *Op) { o.Name, o.Track, o.Shape = in.hostName(o.Name), in.track(o.Track), in.shape(o.Shape) })
	each(p.calls, func(c *Call) {
		c.Name, c.Kernel, c.Track = in.hostName(c.Name), in.hostName(c.Kernel), in.track(c.Track)
	})
	each(p.collectives, func(c *CollectiveCall) {
		c.Args = in.collective(c.Args)
		c.Comms, c.Track = in.hostName(c.Comms), in.track(c.Track)
		c.Dims, c.Types, c.Concrete = in.hostName(c.Dims), in.hostName(c.Types), in.hostName(c.Concrete)
	})
	each(p.python, func(c *PythonCall) { c.Name, c.Track = in.hostName(c.Name), in.track(c.Track) })
	each(p.spans, func(s *HostSpan) {
		s.Name, s.Category, s.Track = in.hostName(s.Name), in.hostName(s.Category), in.track(s.Track)
	})
	each(p.syncs, func(s *SyncRecord) { s.Name, s.Track = in.hostName(s.Name), in.track(s.Track) })
	each(p.async, func(s *HostSpan) {
		s.Name, s.Category, s.Track = in.hostName(s.Name), in.hostName(s.Category), in.track(s.Track)
	})
	each(p.marks, func(k *Mark) {
		k.Name, k.Category, k.Track = in.hostName(k.Name), in.hostName(k.Category), in.track(k.Track)
	})
	each(p.flows, func(f *FlowEnd) { f.Category, f.Track = in.hostName(f.Category), in.track(f.Track) })
	each(p.memory, func(e *MemoryEvent) { e.Track = in.track(e.Track) })
	m.t.Activities.add(p.activities)
	m.t.Ops.add(p.ops)
	m.t.Calls.add(p.calls)
	m.t.CopySizes.add(p.sizes)
	m.t.Collectives.add(p.collectives)
	m.t.Python.add(p.python)
	m.t.Spans.add(p.spans)
	m.t.Syncs.add(p.syncs)
	m.t.Async = append(m.t.Async, slices.Concat(p.async...)...)
	m.marks.add(p.marks)
	m.t.Flows.add(p.flows)
	m.t.Memory.add(p.memory)
	for _, l := range p.labels {
		m.labels = append(m.labels, label{l.kind, m.cut(l.pid), m.cut(l.tid), m.cut(l.name)})
	}
	for _, end := range p.recordEnds {
		if m.recordEnd == nil || end > *m.recordEnd {
			m.recordEnd = &end
		}
	}
	m.rows += p.charge()
}

func each[T any](segments [][]T, f func(*T)) {
	for _, seg := range segments {
		for i := range seg {
			f(&seg[i])
		}
	}
}

func (re *renumbering) grow(b *Builder) {
	fit := func(s *[]uint32, n int) { *s = append(*s, make([]uint32, n-len(*s))...) }
	fit(&re.names, len(b.names.texts))
	fit(&re.tracks, len(b.trackRef))
	fit(&re.details, len(b.details.refs))
	fit(&re.shapes, len(b.shapes.refs))
}

// An input translates the numbers of one Builder. Its methods return the final
// number for a number of the Builder, in most cases by a lookup.
type input struct {
	m  *merger
	b  *Builder
	re *renumbering
}

func (in input) name(s Sym) Sym {
	if n := in.re.names[s]; n != 0 {
		return Sym(n - 1)
	}
	return in.newName(s)
}

func (in input) newName(s Sym) Sym {
	out := in.m.intern(in.b.names.texts[s])
	in.re.names[s] = uint32(out) + 1
	return out
}

func (in input) track(id TrackID) TrackID {
	if n := in.re.tracks[id]; n != 0 {
		return TrackID(n - 1)
	}
	return in.newTrack(id)
}

func (in input) newTrack(id TrackID) TrackID {
	key := in.b.trackRef[id]
	key.pid, key.tid = in.name(key.pid), in.name(key.tid)
	out, ok := in.m.tracks[key]
	if !ok {
		out = TrackID(len(in.m.t.Tracks))
		in.m.tracks[key] = out
		in.m.t.Tracks = append(in.m.t.Tracks, in.m.newTrack(key))
	}
	in.re.tracks[id] = uint32(out) + 1
	return out
}

func (in input) detail(id DetailID) DetailID {
	if n := in.re.details[id]; n != 0 {
		return DetailID(n - 1)
	}
	return in.newDetail(id)
}

func (in input) newDetail(id DetailID) DetailID {
	d := in.b.details.refs[id]
	d.Collective, d.Annotation = in.collective(d.Collective), in.name(d.Annotation)
	out, ok := in.m.details[d]
	if !ok {
		out = DetailID(len(in.m.t.details))
		in.m.details[d] = out
		in.m.t.details = append(in.m.t.details, d)
	}
	in.re.details[id] = uint32(out) + 1
	return out
}

func (in input) collective(c Collective) Collective {
	c.Name, c.Dtype, c.Group, c.Ranks = in.name(c.Name), in.name(c.Dtype), in.name(c.Group), in.name(c.Ranks)
	return c
}

func (in input) shape(id ShapeID) ShapeID {
	if n := in.re.shapes[id]; n != 0 {
		return ShapeID(n - 1)
	}
	return in.newShape(id)
}

func (in input) newShape(id ShapeID) ShapeID {
	s := in.b.shapes.refs[id]
	s = Shape{in.name(s.Dims), in.name(s.Types), in.name(s.Strides), in.name(s.Concrete), in.name(s.Kernel)}
	out, ok := in.m.shapes[s]
	if !ok {
		out = ShapeID(len(in.m.t.shapes))
		in.m.shapes[s] = out
		in.m.t.shapes = append(in.m.t.shapes, s)
	}
	in.re.shapes[id] = uint32(out) + 1
	return out
}

// maxDevice is far above the number of any device of a process.
const maxDevice = 1 << 20

// newTrack makes a track. If the events do not name their device or stream, it
// is taken from the track's pid or tid.
func (m *merger) newTrack(key trackKey) Track {
	t := Track{PID: m.names.texts[key.pid], TID: m.names.texts[key.tid], OnDevice: key.onDevice}
	if !key.onDevice {
		return t
	}
	if t.Device = key.device; t.Device == unnamed || t.Device == eventscan.Unreadable {
		t.Device = m.ordinal("device", t.PID)
	}
	if key.device == eventscan.Unreadable {
		m.issues.Add(diag.Issue{Code: "device-unreadable", Severity: diag.Suspect,
			Help: "GPU events have a device that is not a number. The number of their process was taken, so work of several GPUs may count for one. Use the file that the profiler wrote."})
	}
	if key.device == t.Device && (t.Device < 0 || t.Device > maxDevice) {
		m.issues.Add(diag.Issue{Code: "device-implausible", Severity: diag.Suspect,
			Help: fmt.Sprintf("GPU events have a device number that no GPU has, such as %d. They are reported as a GPU of that number. Use the file that the profiler wrote.",
				t.Device)})
	}
	if t.Stream = key.stream; t.Stream == unnamed {
		t.Stream = m.ordinal("stream", t.TID)
	}
	return t
}

// ordinal returns the number of a device or stream whose name is a text. Some
// traces write "stream 7" for 7. A name without a number gets a number of its
// own.
func (m *merger) ordinal(what, text string) int64 {
	text = strings.TrimSpace(text)
	if word, digits, ok := strings.Cut(text, " "); ok && strings.EqualFold(word, what) {
		text = strings.TrimSpace(digits)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	key := what + " " + text
	n, ok := m.textIDs[key]
	if !ok {
		n = -1000 - int64(len(m.textIDs)) // far from -1 and the like, which profilers use
		m.textIDs[key] = n
		m.issues.Add(diag.Issue{Code: what + "-without-number", Severity: diag.Info,
			Help: "the " + what + " of GPU events is a text instead of a number; each text was assigned a number below -999"})
	}
	return n
}

// finish completes the trace with the data of the reader.
func (m *merger) finish(rd *Reader) *Trace {
	t := m.t
	t.File, t.Meta, t.Events = rd.file, rd.Meta(), rd.Events()
	if m.index == nil { // an index counts the rows that events became; work by names is found when a part is read
		m.pluginKernels()
	}
	t.Meta.RecordEnd, t.Meta.Tool = m.recordEnd, m.tool
	t.Complete = true
	if m.index != nil {
		m.index.rows = m.tally()
	}
	m.pair()
	if m.index != nil {
		t.index, t.marks, t.pairs = m.index, m.marks, m.pairs
	}
	rd.meta.checkRank(&m.issues, rd.file)
	for _, is := range rd.Issues() {
		m.issues.AddN(is, is.Count)
		if is.Code == codeTruncated || is.EndsInput() || is.Code == codeTrailing && is.Severity == diag.DataLoss {
			t.Complete = false
		}
	}
	m.close()
	if m.index == nil {
		t.nameDevices()
	}
	t.separateDevices()
	return t.excerpted(m.index != nil)
}

// close completes the trace with the merged data.
func (m *merger) close() {
	t := m.t
	t.Issues = m.issues.Issues()
	t.names = m.names.texts
	processes, threads := make(map[string]string), make(map[[2]string]string)
	for _, l := range m.labels {
		switch l.kind {
		case pluginRank:
			t.Meta.statedRank(l.name)
		case "process_name":
			processes[l.pid] = l.name
		default:
			threads[[2]string{l.pid, l.tid}] = l.name
		}
	}
	for i := range t.Tracks {
		track := &t.Tracks[i]
		track.Process = processes[track.PID]
		track.Thread = threads[[2]string{track.PID, track.TID}]
	}
}
