package nsys

import (
	"cmp"
	"slices"

	"assay/trace"
)

// This file reads which call waited for what: the rows of synchronizations, and those of event
// records, which tell the stream whose event is waited for.

// An eventKey is an event as the profiler numbers it. The number stays when the event is recorded
// again.
type eventKey struct{ pid, context, event int64 }

// An eventRecord is one call of cudaEventRecord.
type eventRecord struct {
	correlation    int64
	number         int64 // eventSyncId: that of the record in the process; 0 if unknown
	device, stream int64
}

// events are the records of each event, by correlation once they are sorted.
type events struct {
	of     map[eventKey][]eventRecord
	most   int // records that are kept; with more, none is
	count  int
	sorted bool

	contexts map[contextKey]bool // see ofContext
}

const (
	eventShare       = 16 // the divisor of the memory limit that gives the memory for records
	eventRecordBytes = 96
)

func (l *loader) eventRecorded(r row) {
	if notOnStream(r, 1) || l.events.count > l.events.most {
		return
	}
	pid, device, context := l.thread(r.Num(3)).pid, r.Num(0), r.Num(4)
	l.contexts[contextKey{pid, context}] = device
	if l.events.count++; l.events.count > l.events.most {
		clear(l.events.of)
		return
	}
	key := eventKey{pid, context, r.Num(5)}
	l.events.of[key] = append(l.events.of[key], eventRecord{r.Num(2), recordNumber(r, 6), device, r.Num(1)})
	l.events.sorted = false
}

func notOnStream(r row, column int) bool {
	return r.Null(column) || r.NotNumber(column) || r.Num(column) == noStream
}

// recordNumber returns an eventSyncId, or 0 if the export or the row has none.
func recordNumber(r row, column int) int64 {
	if n := r.Num(column); n != noStream {
		return n
	}
	return 0
}

// before returns the last record of an event whose call came before another. Calls get their
// correlations in the order in which they start. If the number of the record is known, it must agree.
func (e *events) before(key eventKey, correlation, number int64) (eventRecord, bool) {
	if !e.sorted {
		e.sorted = true
		for _, list := range e.of {
			slices.SortStableFunc(list, func(a, b eventRecord) int { return cmp.Compare(a.correlation, b.correlation) })
		}
	}
	list := e.of[key]
	i, _ := slices.BinarySearchFunc(list, correlation, func(r eventRecord, n int64) int { return cmp.Compare(r.correlation, n) })
	if i == 0 {
		return eventRecord{}, false
	}
	last := list[i-1]
	return last, number == 0 || last.number == 0 || number == last.number
}

// ofContext reports whether records of events of a context are in the export: then an event without one was not recorded
// in the capture.
func (e *events) ofContext(pid, context int64) bool {
	if e.contexts == nil {
		e.contexts = make(map[contextKey]bool)
		for key := range e.of {
			e.contexts[contextKey{key.pid, key.context}] = true
		}
	}
	return e.contexts[contextKey{pid, context}]
}

func (l *loader) sync(r row) {
	start, dur, ok := l.span(r)
	if !ok {
		return
	}
	pid, context, stream := l.thread(r.Num(5)).pid, r.Num(7), r.Num(3)
	if stream == noStream {
		stream = -1
	}
	device := l.syncDevice(pid, context, r.Num(2))
	name, track := l.label(syncName(r)), l.out.Stream(pid, device, stream)
	l.out.Span(trace.HostSpan{Start: start, Dur: dur, Kind: trace.Sync, Name: name, Category: l.label("cuda_sync"), Track: track})
	call := l.correlation(pid, r.Num(4))
	if call == 0 {
		return
	}
	s := trace.SyncRecord{Start: start, Name: name, Track: track, Correlation: call, WaitsOn: -1}
	if hasEvent(r) {
		e, ok := l.events.before(eventKey{pid, context, r.Num(8)}, r.Num(4), recordNumber(r, 9))
		if ok && l.device(pid, e.device) == device {
			s.WaitsOn, s.Record = e.stream, l.correlation(pid, e.correlation)
		} else if !ok && e == (eventRecord{}) && l.events.ofContext(pid, context) {
			s.WaitsOn = trace.WaitsOnNothing
		}
	}
	l.out.Sync(s)
}

func hasEvent(r row) bool { return !r.Null(8) && r.Num(8) != noStream }

// syncName returns the kind of a synchronization. The numbers of syncType differ between versions
// (see QUIRKS.md), so that whether a row has an event and a stream decides.
func syncName(r row) string {
	onStream := r.Num(3) != noStream
	switch {
	case r.Null(8):
		return at(syncTypes[:], r.Num(6))
	case hasEvent(r) && onStream:
		return "Stream Wait Event"
	case hasEvent(r):
		return "Event Sync"
	case onStream:
		return "Stream Sync"
	}
	return "Context Sync"
}

// A contextKey is a context of CUDA, which each process numbers for itself.
type contextKey struct{ pid, context int64 }

// syncDevice returns the ordinal of the device of a synchronization. Many exports write 0 for
// every synchronization, so the device of its context is used, or a device on which the process
// has work.
func (l *loader) syncDevice(pid, context, device int64) int64 {
	if n, ok := l.contexts[contextKey{pid, context}]; ok {
		return l.device(pid, n)
	}
	if n, ok := l.ordinals[deviceKey{pid, device}]; ok {
		return n
	}
	if n, ok := l.syncs[deviceKey{pid, device}]; ok {
		return n
	}
	only, ok := l.lowest[pid]
	if !ok {
		only = l.device(pid, device)
	}
	l.syncs[deviceKey{pid, device}] = only
	return only
}
