package nsysgen

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"assay/trace"
)

// A SyncForm is how an export has synchronizations. It differs between versions of Nsight Systems.
type SyncForm int

const (
	NumberedSyncs SyncForm = iota // 2026: each record of an event has a number, which its waits repeat
	NamedEvents                   // 2024: events have a number, which stays when they are recorded again; syncType is one less
	NoSyncs                       // none
)

const none = int64(1<<32 - 1) // event or stream

// WriteTrace writes a trace as an export to a path that does not exist: what of it Nsight Systems
// would have recorded. Functions of Python are written as ranges.
func WriteTrace(path string, t *trace.Trace, form SyncForm) error {
	return write(path, func(db *database) error {
		w := &traceWriter{database: db, t: t, form: form}
		if form == NamedEvents {
			db.own = map[string]string{
				"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": `start, "end", deviceId, contextId, streamId, correlationId, globalPid, syncType, eventId`,
				"CUPTI_ACTIVITY_KIND_CUDA_EVENT":      `deviceId, contextId, streamId, correlationId, globalPid, eventId`,
			}
		}
		for c := range t.Calls.All() {
			w.pid = cmp.Or(w.pid, number(t.Tracks[c.Track].PID))
		}
		w.host()
		if err := w.device(); err != nil {
			return err
		}
		if form != NoSyncs {
			w.syncs()
		}
		return db.err
	})
}

type traceWriter struct {
	*database
	t    *trace.Trace
	form SyncForm
	pid  int64 // of the process that uses the GPU
}

// number parses a number of a trace; the text of another one counts as 0.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

func (w *traceWriter) thread(id trace.TrackID) int64 {
	return global(number(w.t.Tracks[id].PID), number(w.t.Tracks[id].TID))
}

func (w *traceWriter) host() {
	for c := range w.t.Calls.All() {
		class := 0
		if c.Kind == trace.Driver {
			class = 1
		}
		w.call(w.t.Name(c.Name)+"_v3020", class, w.thread(c.Track), int64(c.Correlation), c.Start, c.Dur)
	}
	for s := range w.t.Spans.All() {
		if s.Kind == trace.Annotation {
			w.pushPop(w.t.Name(s.Name), w.thread(s.Track), s.Start, s.Dur)
		}
	}
	for p := range w.t.Python.All() {
		w.pushPop(w.t.Name(p.Name), w.thread(p.Track), p.Start, p.Dur)
	}
	for o := range w.t.Ops.All() {
		w.pushPop(w.t.Name(o.Name)+", op_id = 1", w.thread(o.Track), o.Start, o.Dur)
	}
}

func (w *traceWriter) device() error {
	process, graphs := global(w.pid, 0), make(map[trace.ID]int)
	for a := range w.t.Activities.All() {
		graphs[a.Correlation]++
	}
	for a := range w.t.Activities.All() {
		on, name, node := &w.t.Tracks[a.Track], w.t.Name(a.Name), any(nil)
		if graphs[a.Correlation] > 1 {
			node = int64(1<<32) + a.Start // one graph
		}
		switch a.Kind {
		case trace.Memcpy:
			c, err := copyOf(name)
			if err != nil {
				return err
			}
			w.row("CUPTI_ACTIVITY_KIND_MEMCPY", a.Start, a.End(), on.Device, 1, nil, on.Stream, int64(a.Correlation), process,
				1, c.kind, nil, c.from, c.to, nil, nil, nil, nil, nil, node, nil, 1)
		case trace.Kernel:
			d := w.t.Detail(a.Detail)
			w.kernel(kernel{start: a.Start, dur: a.Dur, device: int(on.Device), stream: int(on.Stream), correlation: int64(a.Correlation),
				process: process, name: name, short: shortName(name), grid: d.Grid, block: d.Block, registers: max(0, d.Registers), shared: max(0, d.SharedMemory), node: node})
		default:
			return fmt.Errorf("%q is neither a kernel nor a copy", name)
		}
	}
	return nil
}

// syncs writes synchronizations, and records of events. An event whose last wait is over is used again.
func (w *traceWriter) syncs() {
	waits := slices.Collect(w.t.Syncs.All())
	slices.SortStableFunc(waits, func(a, b *trace.SyncRecord) int { return cmp.Compare(a.Correlation, b.Correlation) })
	left, streams, events := make(map[trace.ID]int), make(map[trace.ID]int64), make(map[trace.ID]int64) // by record
	for _, s := range waits {
		if s.Record != 0 {
			left[s.Record]++
			streams[s.Record] = s.WaitsOn
		}
	}
	records := slices.Sorted(maps.Keys(streams))
	var free []int64
	for _, s := range waits {
		for len(records) > 0 && records[0] < s.Correlation {
			if len(free) == 0 {
				free = append(free, int64(len(events)+1))
			}
			events[records[0]], free = free[0], free[1:]
			w.record(records[0], streams[records[0]], events[records[0]])
			records = records[1:]
		}
		w.wait(s, events[s.Record])
		if left[s.Record]--; left[s.Record] == 0 {
			free = append(free, events[s.Record])
		}
	}
}

func (w *traceWriter) record(id trace.ID, stream, event int64) {
	const table = "CUPTI_ACTIVITY_KIND_CUDA_EVENT"
	process := global(w.pid, 0)
	if w.form == NamedEvents {
		w.row(table, 0, 1, stream, int64(id), process, event)
		return
	}
	w.row(table, 0, 0, 1, 0, stream, int64(id), process, event, int64(id)) // the correlation serves as the record's number
}

func (w *traceWriter) wait(s *trace.SyncRecord, event int64) {
	const table = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
	kind := slices.Index([]string{"Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"}, w.t.Name(s.Name)) + 1
	stream, number := w.t.Tracks[s.Track].Stream, int64(s.Record)
	if stream < 0 {
		stream = none
	}
	if s.Record == 0 {
		event, number = none, 0
	}
	if w.form == NamedEvents {
		w.row(table, s.Start, s.Start, 0, 1, stream, int64(s.Correlation), global(w.pid, 0), kind-1, event)
		return
	}
	w.row(table, s.Start, s.Start, 0, 1, nil, stream, int64(s.Correlation), global(w.pid, 0), nil, kind, event, number)
}
