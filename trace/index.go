package trace

import "assay/internal/eventscan"

// An Index records where in the input the events of a trace are, so that some of them can be
// copied without parsing the others again: see [Cut].
type Index struct {
	members  []memberAt
	segments []segment // in order
	rows     tally     // of the whole trace

	careful []eventAt // events that the Reader, not the pipeline, read since the last segment
}

// Indexed reports whether parts of the trace can be cut: see [NewCut].
func (t *Trace) Indexed() bool { return t.index != nil }

// A memberAt is a member of the top-level object other than the events, from its key to the
// end of its value.
type memberAt struct {
	key      string
	from, to int64
}

// An eventAt is the place of one event, with quotes that may have to be repaired.
type eventAt struct{ from, to int64 }

// A segment is a stretch of the input that was read at once.
type segment struct {
	from, to int64
	rows     tally     // number of rows before the segment
	events   []eventAt // what the Reader read; nil if there are only valid events between from and to
	others   others
}

// others describes the events of a segment that are in no table.
type others struct {
	lasting     bool // there are events that belong to the whole capture, such as names of threads
	timed       bool // there are events with a time
	first, last int64
}

// see records an event that is in no table.
func (o *others) see(e *Event, r row) {
	switch at := e.Start(); {
	case r == lastingRow || !e.HasStart():
		o.lasting = true
	case !o.timed:
		o.timed, o.first, o.last = true, at, at
	default:
		o.first, o.last = min(o.first, at), max(o.last, at)
	}
}

// A row is the kind of row that a [Builder] makes of an event.
type row uint8

const (
	activityRow row = iota
	opRow
	callRow
	pythonRow
	spanRow
	flowRow
	markRow
	memoryRow
	tables     // the number of kinds of rows
	lastingRow = tables + iota
	otherRow   // an event that is in no table
)

// A tally counts rows by kind.
type tally [tables]int

// rowOf returns the kind of row that a Builder makes of a valid event, if it keeps all
// kinds and all arrows. [Builder.Add] decides in the same way.
func rowOf(e *Event) row {
	phase := e.Phase()
	switch {
	case phase == 'M':
		return lastingRow
	case phase == 'X' && e.HasDur():
		switch e.Kind {
		case Kernel, Memcpy, Memset:
			return activityRow
		case CPUOp:
			return opRow
		case Runtime, Driver:
			return callRow
		case Python:
			return pythonRow
		}
		return spanRow
	case (phase == 's' || phase == 't' || phase == 'f') && e.HasStart():
		return flowRow
	case isMark(phase) && e.HasStart():
		return markRow
	case isRecordEnd(e):
		return lastingRow
	case e.Kind == Instant && e.Has(eventscan.MemBytes):
		return memoryRow
	}
	return otherRow
}

// isRecordEnd reports whether the event marks the time at which the profiler stopped recording.
func isRecordEnd(e *Event) bool {
	return e.Phase() == 'i' && len(e.Category()) == 0 && e.HasStart() && string(e.Name()) == recordEnd
}

// tally returns the number of rows merged so far.
func (m *merger) tally() tally {
	t := m.t
	return tally{
		activityRow: t.Activities.Len(), opRow: t.Ops.Len(), callRow: t.Calls.Len(), pythonRow: t.Python.Len(),
		spanRow: t.Spans.Len(), flowRow: t.Flows.Len(), markRow: m.marks.Len(), memoryRow: t.Memory.Len(),
	}
}

// add records where a part is. It must be called before the rows of the part are merged.
func (x *Index) add(m *merger, p *part) {
	if x == nil || p.to <= p.from {
		return
	}
	s := segment{from: p.from, to: p.to, rows: m.tally(), others: p.others}
	if p.careful {
		if len(x.careful) == 0 {
			return
		}
		s.events, x.careful = x.careful, nil
		s.from, s.to = s.events[0].from, s.events[len(s.events)-1].to
	}
	x.segments = append(x.segments, s)
}

// event records an event that the Reader read.
func (x *Index) event(from, to int64) {
	if x != nil {
		x.careful = append(x.careful, eventAt{from, to})
	}
}

// member records a member of the top-level object.
func (x *Index) member(key string, from, to int64) {
	const most = 1 << 16 // real traces have a few dozen
	if x != nil && key != "traceEvents" && key != windowMember && len(x.members) < most {
		x.members = append(x.members, memberAt{key, from, to})
	}
}
