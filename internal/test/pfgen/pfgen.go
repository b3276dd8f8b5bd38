// Package pfgen writes traces of Perfetto: messages of protocol buffers by hand, and whole traces as rocprofv3 and
// PyTorch's CUPTI monitor write them.
package pfgen

import (
	"encoding/binary"
	"sort"
	"strconv"
	"strings"

	"assay/trace"
)

// A Message is an encoded message. Its methods return it with one more field.
type Message []byte

// Num adds a number.
func (m Message) Num(field int, n uint64) Message {
	m = binary.AppendUvarint(m, uint64(field)<<3)
	return binary.AppendUvarint(m, n)
}

// Fixed adds a number of eight bytes.
func (m Message) Fixed(field int, n uint64) Message {
	return binary.LittleEndian.AppendUint64(binary.AppendUvarint(m, uint64(field)<<3|1), n)
}

// Text adds a text.
func (m Message) Text(field int, s string) Message {
	m = binary.AppendUvarint(m, uint64(field)<<3|2)
	return append(binary.AppendUvarint(m, uint64(len(s))), s...)
}

// In adds a message.
func (m Message) In(field int, in Message) Message { return m.Text(field, string(in)) }

// Packets joins packets to a trace.
func Packets(packets ...Message) []byte {
	var out Message
	for _, p := range packets {
		out = out.In(1, p)
	}
	return out
}

// Process and Thread return packets that describe tracks.
func Process(id uint64, pid int64, name string) Message {
	return Message{}.In(60, Message{}.Num(1, id).In(3, Message{}.Num(1, uint64(pid)).Text(6, name)))
}

// Thread returns the packet that describes the track of a thread.
func Thread(id, parent uint64, pid, tid int64, name string) Message {
	return Message{}.In(60, Message{}.Num(1, id).Num(5, parent).In(4, Message{}.Num(1, uint64(pid)).Num(2, uint64(tid)).Text(5, name)))
}

// Track returns the packet that describes a track that is no thread.
func Track(id uint64, name string) Message {
	return Message{}.In(60, Message{}.Num(1, id).Text(2, name))
}

// Begin and End return the packets of a slice. The event of the begin may have more fields.
func Begin(at int64, track uint64, name, category string, more Message) Message {
	event := append(Message{}.Num(9, 1).Num(11, track).Text(23, name), more...)
	if category != "" {
		event = event.Text(22, category)
	}
	return Message{}.Num(8, uint64(at)).Num(10, 1).In(11, event)
}

// End returns the packet of the end of a slice.
func End(at int64, track uint64) Message {
	return Message{}.Num(8, uint64(at)).Num(10, 1).In(11, Message{}.Num(9, 2).Num(11, track))
}

// Annotation returns a field of an event: a name with a number.
func Annotation(name string, n int64) Message {
	return Message{}.In(4, Message{}.Text(10, name).Num(4, uint64(n)))
}

func three(name string, n [3]int64) Message {
	list := Message{}.Text(10, name)
	for _, v := range n {
		list = list.In(12, Message{}.Num(4, uint64(v)))
	}
	return Message{}.In(4, list)
}

// A Style is how a profiler writes its traces.
type Style int

// The styles.
const (
	Rocprofv3 Style = iota // categories, streams as tracks
	Torch                  // no categories, GPUs as processes; all begins of a group before all its ends
)

// Trace writes a trace. Operators and functions of Python are left out. Shift is added to all times.
func Trace(t *trace.Trace, style Style, shift int64) []byte {
	w := &writer{t: t, style: style, shift: shift, tracks: map[trace.TrackID]uint64{}, processes: map[string]uint64{}}
	for a := range t.Activities.All() {
		w.work(a)
	}
	for c := range t.Calls.All() {
		category, more := "hip_api", Annotation("corr_id", int64(c.Correlation))
		if style == Torch {
			category, more = "", append(Annotation("correlation", int64(c.Correlation)), Annotation("cbid", 211)...)
		}
		w.slice(c.Start, c.Dur, w.thread(c.Track), t.Name(c.Name), category, more)
	}
	for s := range t.Spans.All() {
		if s.Kind == trace.Annotation {
			category := "marker_api"
			if style == Torch {
				category = "user_annotation"
			}
			w.slice(s.Start, s.Dur, w.thread(s.Track), t.Name(s.Name), category, nil)
		}
	}
	// rocprofv3 writes each end behind its begin, and slices within others behind those.
	sort.SliceStable(w.slices, func(i, j int) bool {
		a, b := &w.slices[i], &w.slices[j]
		if a.at != b.at {
			return a.at < b.at
		}
		return a.end > b.end
	})
	packets := w.described
	if style == Torch {
		for _, s := range w.slices {
			packets = append(packets, s.begin)
		}
		sort.SliceStable(w.slices, func(i, j int) bool { return w.slices[i].end < w.slices[j].end })
		for _, s := range w.slices {
			packets = append(packets, End(s.end, s.track))
		}
		return Packets(packets...)
	}
	for _, s := range w.slices {
		packets = append(packets, s.begin, End(s.end, s.track))
	}
	return Packets(packets...)
}

type slice struct {
	at, end int64
	track   uint64
	begin   Message
}

type writer struct {
	t         *trace.Trace
	style     Style
	shift     int64
	tracks    map[trace.TrackID]uint64
	processes map[string]uint64
	described []Message
	slices    []slice
}

func (w *writer) slice(start, dur int64, track uint64, name, category string, more Message) {
	at, end := start+w.shift, start+dur+w.shift
	if w.style == Rocprofv3 {
		more = append(append(append(Message{}, more...), Annotation("begin_ns", at)...), Annotation("end_ns", end)...)
	}
	w.slices = append(w.slices, slice{at, end, track, Begin(at, track, name, category, more)})
}

func (w *writer) process(pid int64, name string) uint64 {
	id, ok := w.processes[name]
	if !ok {
		id = uint64(1000 + len(w.processes))
		w.processes[name] = id
		w.described = append(w.described, Process(id, pid, name))
	}
	return id
}

func (w *writer) thread(on trace.TrackID) uint64 {
	id, ok := w.tracks[on]
	if !ok {
		id = uint64(1 + len(w.tracks))
		w.tracks[on] = id
		pid, _ := strconv.ParseInt(w.t.Tracks[on].PID, 10, 64)
		tid, _ := strconv.ParseInt(w.t.Tracks[on].TID, 10, 64)
		w.described = append(w.described, Thread(id, w.process(pid, "python "+w.t.Tracks[on].PID), pid, tid, "thread "+w.t.Tracks[on].TID))
	}
	return id
}

func (w *writer) work(a *trace.Activity) {
	on, d, name := w.t.Tracks[a.Track], w.t.Detail(a.Detail), w.t.Name(a.Name)
	id, ok := w.tracks[a.Track]
	if !ok {
		id = uint64(1 + len(w.tracks))
		w.tracks[a.Track] = id
		stream := strconv.FormatInt(on.Stream, 10)
		if w.style == Torch {
			gpu := "GPU " + strconv.FormatInt(on.Device, 10)
			w.described = append(w.described, Thread(id, w.process(on.Device, gpu), on.Device, on.Stream, "stream "+stream))
		} else {
			w.described = append(w.described, Track(id, `STREAM [" `+stream+` "] `))
		}
	}
	if w.style == Torch {
		more := append(Annotation("correlation", int64(a.Correlation)), Annotation("stream", on.Stream)...)
		more = append(append(more, Annotation("device", on.Device)...), three("grid", d.Grid)...)
		more = append(more, three("block", d.Block)...)
		if d.Bytes >= 0 {
			more = append(more, Annotation("bytes", d.Bytes)...)
		}
		w.slice(a.Start, a.Dur, id, name, "", more)
		return
	}
	category, more := "kernel_dispatch", append(Annotation("corr_id", int64(a.Correlation)), Annotation("agent", on.Device)...)
	if a.Kind == trace.Memcpy {
		category = "memory_copy"
		more = append(Annotation("corr_id", int64(a.Correlation)), Annotation("copy_bytes", max(0, d.Bytes))...)
		name = "MEMORY_COPY_DEVICE_TO_DEVICE"
		for short, long := range map[string]string{"HtoD": "HOST_TO_DEVICE", "DtoH": "DEVICE_TO_HOST", "HtoH": "HOST_TO_HOST"} {
			if strings.Contains(w.t.Name(a.Name), short) {
				name = "MEMORY_COPY_" + long
			}
		}
	}
	w.slice(a.Start, a.Dur, id, name, category, more)
}
