package trace

import (
	"bytes"
	"strconv"
	"strings"

	"assay/internal/eventscan"
)

// A Builder makes tables from events. Several Builders may work on parts of one
// input at the same time. Each numbers its own texts, tracks, details and
// shapes; they are renumbered when the [part]s are merged.
type Builder struct {
	sel   Select
	names *interner

	tracks     map[trackKey]TrackID
	trackRef   []trackKey
	threads    []lastTracks // indexed by the Thread of an event
	correlated bool         // device work with a correlation was seen
	sequenced  bool         // an operator with a sequence number was seen
	category   Sym          // category of the last event that had one

	details numbered[Detail, DetailID]
	shapes  numbered[Shape, ShapeID]

	activities  column[Activity]
	ops         column[Op]
	calls       column[Call]
	sizes       column[CopySize]
	collectives column[CollectiveCall]
	python      column[PythonCall]
	spans       column[HostSpan]
	syncs       column[SyncRecord]
	async       column[HostSpan]
	marks       column[Mark]
	flows       column[FlowEnd]
	memory      column[MemoryEvent]
	labels      []label
	recordEnds  []int64 // when the profiler stopped recording
	others      others
}

// A trackKey identifies a track. Process 1 of a container and GPU 1 have the
// same pid, so device work never shares a track with the host. A device or
// stream in the event's args has precedence over its pid and tid.
type trackKey struct {
	pid, tid       Sym
	onDevice       bool
	device, stream int64 // unnamed if the event does not name it
}

// unnamed is the device or stream of an event that does not name one.
const unnamed = -1 << 63

// lastTracks are the tracks of the latest events of one thread.
type lastTracks struct {
	host           TrackID // plus 1; 0 if there is none
	work           TrackID // on the device, plus 1; 0 if there is none
	device, stream int64   // of work
}

// A label is what an event says about its process or thread.
type label struct {
	kind           string // "process_name", "thread_name" or pluginRank
	pid, tid, name string
}

// A part is the output of a Builder for one part of the input.
type part struct {
	b           *Builder
	activities  [][]Activity
	ops         [][]Op
	calls       [][]Call
	sizes       [][]CopySize
	collectives [][]CollectiveCall
	python      [][]PythonCall
	spans       [][]HostSpan
	syncs       [][]SyncRecord
	async       [][]HostSpan
	marks       [][]Mark
	flows       [][]FlowEnd
	memory      [][]MemoryEvent
	labels      []label
	recordEnds  []int64
	others      others

	from, to int64 // the stretch of the input
	careful  bool  // the Reader read it, not the pipeline
}

// recordEnd is the name of the instant at which Kineto stopped recording. All device work
// of the trace started before it.
const recordEnd = "Record Window End"

// NewBuilder returns an empty Builder that keeps the events selected by sel.
func NewBuilder(sel Select) *Builder {
	return &Builder{
		sel: sel, names: newInterner(),
		tracks:  make(map[trackKey]TrackID),
		details: newNumbered[Detail, DetailID](),
		shapes:  newNumbered[Shape, ShapeID](),
	}
}

// cut returns the rows added since the last cut.
func (b *Builder) cut() part {
	p := part{
		b: b, activities: b.activities.cut(), ops: b.ops.cut(), calls: b.calls.cut(), sizes: b.sizes.cut(),
		collectives: b.collectives.cut(), python: b.python.cut(), spans: b.spans.cut(), syncs: b.syncs.cut(), async: b.async.cut(),
		marks: b.marks.cut(), flows: b.flows.cut(), memory: b.memory.cut(),
		labels: b.labels, recordEnds: b.recordEnds, others: b.others,
	}
	b.labels, b.recordEnds, b.others = nil, nil, others{}
	return p
}

// Add copies the selected fields of e, which it does not retain. The event must
// have passed its checks.
func (b *Builder) Add(e *Event) {
	phase := e.Phase()
	switch {
	case phase == 'M':
		b.addLabel(e)
		b.others.lasting = true
	case !b.sel.Kinds.Has(e.Kind):
	case phase == 'X' && e.HasDur():
		b.addComplete(e)
	case isArrow(phase) && e.HasStart():
		if b.sel.FlowsIfNeeded && b.linkedByNumbers(e.Category()) {
			return
		}
		*b.flows.next() = FlowEnd{
			Start: e.Start(), ID: textID(e.Text(eventscan.ID)), Phase: phase,
			Track: b.hostTrack(e), Category: b.categoryOf(e),
		}
	case isMark(phase) && e.HasStart():
		b.addPluginRank(e)
		*b.marks.next() = Mark{
			Start: e.Start(), ID: asyncID(e), Phase: phase,
			Name: b.names.sym(e.Name()), Category: b.categoryOf(e), Track: b.hostTrack(e),
		}
	case isRecordEnd(e):
		b.recordEnds = append(b.recordEnds, e.Start())
		b.others.lasting = true
	case e.Kind == Instant && e.Has(eventscan.MemBytes):
		*b.memory.next() = MemoryEvent{
			Start: e.Start(), Track: b.hostTrack(e),
			Address: e.Int(eventscan.MemAddress, 0), Bytes: e.Int(eventscan.MemBytes, 0),
			Allocated: e.Int(eventscan.MemAllocated, -1), Reserved: e.Int(eventscan.MemReserved, -1),
			Device: smallID(e.Int(eventscan.MemDevice, -1)), DeviceType: smallID(e.Int(eventscan.MemDeviceType, -1)),
		}
	default:
		b.others.see(e, otherRow)
	}
}

func (b *Builder) addComplete(e *Event) {
	name := b.names.sym(e.Name())
	switch e.Kind {
	case Kernel, Memcpy, Memset:
		b.correlated = b.correlated || e.Int(eventscan.Correlation, 0) != 0
		*b.activities.next() = Activity{
			Start: e.Start(), Dur: e.Dur(), Name: name, Kind: e.Kind, Track: b.deviceTrack(e), Detail: b.detail(e, name),
			Correlation: argID(e, eventscan.Correlation), External: argID(e, eventscan.ExternalID),
		}
		if e.Kind == Kernel && (e.Has(eventscan.CollectiveSeq) || e.Has(eventscan.CommsID)) {
			b.addCollective(e, CollectiveCall{Correlation: argID(e, eventscan.Correlation), Track: b.deviceTrack(e)})
		}
	case CPUOp:
		b.sequenced = b.sequenced || e.Int(eventscan.Sequence, 0) != 0
		*b.ops.next() = Op{
			Start: e.Start(), Dur: e.Dur(), Name: name, Track: b.hostTrack(e), Shape: b.shape(e, name),
			External: argID(e, eventscan.ExternalID), Sequence: argID(e, eventscan.Sequence),
			Forward: argID(e, eventscan.ForwardThread),
		}
		if string(e.Name()) == collectiveOp {
			b.addCollective(e, CollectiveCall{
				External: argID(e, eventscan.ExternalID), Track: b.hostTrack(e),
				Dims: b.names.sym(e.Text(eventscan.InputDims)), Types: b.names.sym(e.Text(eventscan.InputTypes)),
				Concrete: b.names.sym(e.Text(eventscan.ConcreteInputs)),
			})
		}
	case Runtime, Driver:
		*b.calls.next() = Call{
			Start: e.Start(), Dur: e.Dur(), Name: name, Kernel: b.launchedKernel(e), Kind: e.Kind, Track: b.hostTrack(e),
			Correlation: argID(e, eventscan.Correlation), External: argID(e, eventscan.ExternalID),
		}
		if n := e.Int(eventscan.CopySize, -1); n >= 0 {
			*b.sizes.next() = CopySize{n, argID(e, eventscan.Correlation)}
		}
	case Python:
		*b.python.next() = PythonCall{
			Start: e.Start(), Dur: e.Dur(), Name: name, Track: b.hostTrack(e),
			ID: argID(e, eventscan.PythonID), Parent: argID(e, eventscan.PythonParent),
		}
	case OtherKind:
		b.addOther(e, name)
	default:
		track := b.hostTrack
		if e.Kind == GPUAnnotation || e.Kind == Sync {
			track = b.deviceTrack
		}
		*b.spans.next() = HostSpan{
			Start: e.Start(), Dur: e.Dur(), Name: name, Kind: e.Kind, Track: track(e),
			Category: b.categoryOf(e), External: argID(e, eventscan.ExternalID),
		}
		if e.Kind == Sync && e.Has(eventscan.Correlation) {
			*b.syncs.next() = SyncRecord{
				Start: e.Start(), Name: name, Track: b.deviceTrack(e), WaitsOn: known(e, eventscan.WaitStream, -1),
				Correlation: argID(e, eventscan.Correlation), Record: idOf(known(e, eventscan.WaitRecord, 0)),
			}
		}
	}
}

// known returns a field of a synchronization, or otherwise if the profiler did not know it: it
// writes -1 then, as a number of 32 or 64 bits.
func known(e *Event, x eventscan.Field, otherwise int64) int64 {
	if n := e.Int(x, -1); n >= 0 && n != 1<<32-1 {
		return n
	}
	return otherwise
}

// launchedKernel interns the name of the kernel that a call launches, or returns 0.
func (b *Builder) launchedKernel(e *Event) Sym {
	if !b.sel.Arguments {
		return 0
	}
	return b.names.sym(e.Text(eventscan.LaunchedKernel))
}

// isArrow reports whether events of this phase are the ends of arrows.
func isArrow(phase byte) bool { return phase == 's' || phase == 't' || phase == 'f' }

// redundantArrow reports whether a valid end of an arrow can be dropped, because the
// numbers of other events carry the same link: see [Select.FlowsIfNeeded].
func (b *Builder) redundantArrow(e *Event) bool {
	return e.HasStart() && !e.HasDur() && b.linkedByNumbers(e.Category())
}

// linkedByNumbers reports whether an event was seen whose number carries the same links as
// the arrows of this category.
func (b *Builder) linkedByNumbers(category []byte) bool {
	if string(category) == "fwdbwd" {
		return b.sequenced
	}
	return b.correlated
}

// categoryOf interns the event's category. Most events have the category of the
// event before.
func (b *Builder) categoryOf(e *Event) Sym {
	if string(e.Category()) != b.names.texts[b.category] {
		b.category = b.names.sym(e.Category())
	}
	return b.category
}

// smallID returns n as the number of a device, or -1 if n is not one.
func smallID(n int64) int32 {
	if n < 0 || n > maxDevice {
		return -1
	}
	return int32(n)
}

// isMark reports whether events of this phase begin or end a span. S and F are
// how Chrome wrote b and e before 2014.
func isMark(phase byte) bool {
	return phase == 'B' || phase == 'E' || phase == 'b' || phase == 'e' || phase == 'S' || phase == 'F'
}

// asyncID returns the ID that pairs an asynchronous begin with its end. An id2
// may be local to its process.
func asyncID(e *Event) ID {
	if id2 := e.Text(eventscan.ID2); id2 != nil {
		if bytes.Contains(id2, []byte(`"local"`)) {
			id2 = append(append([]byte(nil), id2...), e.PID()...)
		}
		return textID(id2)
	}
	return textID(e.Text(eventscan.ID))
}

func argID(e *Event, x eventscan.Field) ID {
	return idOf(e.Int(x, 0))
}

// textID folds the id of a flow, which may be a number or a text.
func textID(text []byte) ID {
	if n, ok := smallNumber(text); ok {
		return idOf(n)
	}
	n, err := strconv.ParseInt(string(text), 0, 64)
	if err != nil {
		for _, c := range text {
			n = n*31 + int64(c)
		}
		n |= 1 << 62 // separates texts from numbers
	}
	return idOf(n)
}

// smallNumber reads a decimal number, which is the form of most ids.
func smallNumber(text []byte) (n int64, ok bool) {
	if len(text) == 0 || len(text) > 9 || text[0] == '0' && len(text) > 1 {
		return 0, false // empty, too long for this function, or in another base
	}
	for _, c := range text {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	return n, true
}

func (b *Builder) addLabel(e *Event) {
	switch kind := string(e.Name()); kind {
	case "process_name", "thread_name":
		name := strings.TrimSpace(string(e.Text(eventscan.ArgName)))
		b.labels = append(b.labels, label{kind, string(e.PID()), string(e.TID()), name})
	}
}

func (b *Builder) hostTrack(e *Event) TrackID {
	last := b.last(e)
	if last == nil || last.host == 0 {
		id := b.track(trackKey{pid: b.names.sym(e.PID()), tid: b.names.sym(e.TID())})
		if last == nil {
			return id
		}
		last.host = id + 1
	}
	return last.host - 1
}

func (b *Builder) deviceTrack(e *Event) TrackID {
	device, stream := e.Int(eventscan.Device, unnamed), e.Int(eventscan.Stream, unnamed)
	if device == unnamed && e.Has(eventscan.Device) {
		device = eventscan.Unreadable // 9223372036854775808, whose bits are those of unnamed
	}
	last := b.last(e)
	if last != nil && last.work != 0 && last.device == device && last.stream == stream {
		return last.work - 1
	}
	id := b.track(trackKey{
		pid: b.names.sym(e.PID()), tid: b.names.sym(e.TID()), onDevice: true, device: device, stream: stream,
	})
	if last != nil {
		last.work, last.device, last.stream = id+1, device, stream
	}
	return id
}

// last returns the latest tracks of the event's thread, or nil.
func (b *Builder) last(e *Event) *lastTracks {
	n := e.Thread()
	if n == 0 {
		return nil
	}
	for n >= len(b.threads) {
		b.threads = append(b.threads, lastTracks{})
	}
	return &b.threads[n]
}

func (b *Builder) track(key trackKey) TrackID {
	id, ok := b.tracks[key]
	if !ok {
		id = TrackID(len(b.trackRef))
		b.tracks[key] = id
		b.trackRef = append(b.trackRef, key)
	}
	return id
}

func (b *Builder) detail(e *Event, name Sym) DetailID {
	d := Detail{
		Grid: e.Triple(eventscan.Grid), Block: e.Triple(eventscan.Block),
		Registers: e.Int(eventscan.Registers, -1), SharedMemory: e.Int(eventscan.SharedMemory, -1),
		Bytes: max(-1, e.Int(eventscan.Bytes, -1)), GraphID: e.Int(eventscan.GraphID, -1),
		Collective: b.collective(e),
	}
	if node := e.Int(eventscan.GraphNode, 0); node > 0 {
		d.Annotation = b.names.sym(e.Text(eventscan.ArgName))
		if n, ok := b.sel.nodeName(node); ok && d.Annotation == 0 {
			d.Annotation = b.names.sym([]byte(n.Name))
			if d.Collective.Name == 0 {
				d.Collective.Name = b.names.sym([]byte(n.Collective))
			}
		}
	}
	return b.details.number(d, name)
}

// collectiveOp is the operator on which PyTorch records the arguments of a
// collective.
const collectiveOp = "record_param_comms"

// addCollective adds a row from e. The caller has set the fields of c that depend on whether
// e is an operator or a kernel.
func (b *Builder) addCollective(e *Event, c CollectiveCall) {
	c.Start, c.Dur, c.Args = e.Start(), e.Dur(), b.collective(e)
	c.Comms, c.Seq = b.names.sym(e.Text(eventscan.CommsID)), e.Int(eventscan.CollectiveSeq, -1)
	c.Source, c.Target = smallID(e.Int(eventscan.SourceRank, -1)), smallID(e.Int(eventscan.TargetRank, -1))
	*b.collectives.next() = c
}

func (b *Builder) collective(e *Event) Collective {
	return Collective{
		Name: b.names.sym(e.Text(eventscan.Collective)), Dtype: b.names.sym(e.Text(eventscan.Dtype)),
		Group: b.names.sym(e.Text(eventscan.GroupName)), Ranks: b.names.sym(e.Text(eventscan.GroupRanks)),
		In: e.Int(eventscan.InElements, -1), Out: e.Int(eventscan.OutElements, -1), GroupSize: e.Int(eventscan.GroupSize, -1),
	}
}

func (b *Builder) shape(e *Event, name Sym) ShapeID {
	if !b.sel.Shapes {
		return b.shapes.number(Shape{}, 0)
	}
	if a, ok := b.executed(e); ok {
		return b.shapes.number(Shape{Dims: b.names.sym([]byte(a.Dims)), Types: b.names.sym([]byte(a.Types)), Concrete: b.names.sym([]byte(a.Concrete))}, name)
	}
	if last, ok := b.shapes.lastOf(name); ok && b.isShape(e, last) {
		return b.shapes.last[name] - 1
	}
	s := Shape{Dims: b.names.sym(e.Text(eventscan.InputDims)), Types: b.names.sym(e.Text(eventscan.InputTypes))}
	if b.sel.Arguments {
		s.Strides, s.Concrete = b.names.sym(e.Text(eventscan.InputStrides)), b.names.sym(e.Text(eventscan.ConcreteInputs))
		s.Kernel = b.names.sym(e.Text(eventscan.KernelHash))
	}
	return b.shapes.number(s, name)
}

// isShape reports whether the event has the given shape. Comparing the texts
// takes half the time of interning them.
func (b *Builder) isShape(e *Event, s Shape) bool {
	is := func(x eventscan.Field, s Sym) bool { return string(e.Text(x)) == b.names.texts[s] }
	return is(eventscan.InputDims, s.Dims) && is(eventscan.InputTypes, s.Types) && (!b.sel.Arguments ||
		is(eventscan.InputStrides, s.Strides) && is(eventscan.ConcreteInputs, s.Concrete) && is(eventscan.KernelHash, s.Kernel))
}

// A numbered assigns numbers to values in the order of their first use.
type numbered[T comparable, N ~uint32] struct {
	ids  map[T]N
	refs []T
	last []N // indexed by the name of the event: its latest number, plus 1
}

func newNumbered[T comparable, N ~uint32]() numbered[T, N] {
	return numbered[T, N]{ids: make(map[T]N)}
}

// lastOf returns the value of the latest event with the given name.
func (n *numbered[T, N]) lastOf(name Sym) (value T, ok bool) {
	if int(name) >= len(n.last) || n.last[name] == 0 {
		return value, false
	}
	return n.refs[n.last[name]-1], true
}

// number returns the number of a value, which it assigns at first use. The name is that of
// the event: most events have the same value as the last event with their name, so that value
// is compared first.
func (n *numbered[T, N]) number(value T, name Sym) N {
	for int(name) >= len(n.last) {
		n.last = append(n.last, make([]N, len(n.last)+64)...)
	}
	if last := n.last[name]; last != 0 && n.refs[last-1] == value {
		return last - 1
	}
	id, ok := n.ids[value]
	if !ok {
		id = N(len(n.refs))
		n.ids[value] = id
		n.refs = append(n.refs, value)
	}
	n.last[name] = id + 1
	return id
}
