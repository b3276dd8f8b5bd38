package export

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"assay/internal/eventscan"
	"assay/internal/jsonscan"
	"assay/trace"
)

// Ranges of the numbers of a timeline. Perfetto keeps processes and threads in 32 bits
// and JavaScript has 53 bits for integers.
const (
	stride     = 1000    // distance between the first process numbers of two ranks
	mostTracks = 1 << 20 // maximum number of processes and named threads of one rank
	oddThreads = 1 << 30 // the first number for threads whose own number is a text or larger
	smallID    = 1 << 32 // smaller ids are shifted, others are replaced
	oddIDs     = 1 << 45 // the first number that replaces an id
)

// A copier copies the events of one rank.
type copier struct {
	t         *Writer
	rank      Rank
	processes map[string]*process
	order     []*process // by first use
	threads   map[threadKey]*thread
	odd       []threadKey // threads with a number of our own, by first use
	ids       map[string]int64
	idBytes   int64
	devices   map[int64]int64
	err       error
}

func newCopier(t *Writer, r Rank) *copier {
	c := &copier{t: t, rank: r, processes: map[string]*process{}, threads: map[threadKey]*thread{}, ids: map[string]int64{}}
	if r.Devices != nil {
		c.devices = map[int64]int64{}
		for from, to := range r.Devices {
			c.devices[from] = to
		}
	}
	return c
}

// event writes e with the numbers and the clock of the timeline.
func (c *copier) event(e *trace.Event) {
	if c.isMetadata(e) {
		return
	}
	raw := e.Raw()
	p := c.process(e.PID())
	p.used = p.used || e.Phase() != 'M'
	tid := c.thread(p, e.TID())
	b := append(c.t.begin(), '{')
	members, args := 0, false
	for m := jsonscan.Walk(raw, 0); m.Next(); {
		key, val := m.Key().Of(raw), m.Value().Of(raw)
		switch string(key) {
		case "ts", "dur", "pid", "tid", "sf", "esf":
			continue // refers to stack frames in a part of the file that is not copied
		}
		b = append(b, comma(members)...)
		members++
		b = append(c.t.texts.append(b, key), ": "...)
		switch {
		case string(key) == "id" || string(key) == "bind_id":
			b = c.id(b, val)
		case string(key) == "id2":
			b = c.scoped(b, val)
		case string(key) == "args" && val[0] == '{':
			b, args = c.args(b, val, e, p.pid, tid), true
		default:
			b = c.t.texts.value(b, nil, val)
		}
	}
	if !args && onDevice(e) {
		b = append(append(b, comma(members)...), `"args": `...)
		b = c.args(b, []byte("{}"), e, p.pid, tid)
		members++
	}
	b = fmt.Appendf(append(b, comma(members)...), `"pid": %d, "tid": %d`, p.pid, tid)
	switch {
	case e.Phase() == 'M':
		b = append(b, `, "ts": 0`...)
	default:
		b = appendMicros(append(b, `, "ts": `...), e.Start()+c.rank.Shift)
		if e.HasDur() {
			b = appendMicros(append(b, `, "dur": `...), e.Dur())
		}
	}
	c.t.write(append(b, '}'))
}

// appendMicros appends ns as decimal microseconds.
func appendMicros(b []byte, ns int64) []byte {
	u := uint64(ns)
	if ns < 0 {
		b, u = append(b, '-'), -u
	}
	b = strconv.AppendUint(b, u/1000, 10)
	if f := u % 1000; f > 0 {
		b = append(b, '.', byte('0'+f/100), byte('0'+f/10%10), byte('0'+f%10))
		for b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
	}
	return b
}

// onDevice reports whether the event has a GPU.
func onDevice(e *trace.Event) bool {
	return e.Phase() == 'X' && (e.Kind.OnDevice() || e.Kind == trace.GPUAnnotation || e.Kind == trace.Sync)
}

// links are the arguments by which events of one trace refer to each other.
var links = map[string]bool{
	"correlation": true, "External id": true, "external id": true, "Sequence number": true,
	"Python id": true, "Python parent id": true, "Python module id": true, "wait_on_cuda_event_record_corr_id": true,
}

// args appends the arguments of an event.
func (c *copier) args(b, raw []byte, e *trace.Event, pid, tid int64) []byte {
	b = append(b, '{')
	members := 0
	var name []byte // the content of the member "name"
	for m := jsonscan.WalkInner(raw, 0, 1); m.Next(); members++ {
		key, val := m.Key().Of(raw), m.Value().Of(raw)
		if string(key) == "name" || string(key) == "key" {
			name = bytes.Trim(val, `"`)
		}
		if string(key) == "device" && onDevice(e) {
			members--
			continue
		}
		b = append(c.t.texts.append(append(b, comma(members)...), key), ": "...)
		switch n, isInt := intOf(val); {
		case links[string(key)] && isInt:
			b = strconv.AppendInt(b, c.link(n), 10)
		case string(key) == "Device Id" && isInt && e.Int(eventscan.MemDeviceType, 0) == deviceCUDA:
			b = strconv.AppendInt(b, c.device(n), 10)
		case string(key) == "value" && name != nil && isString(val):
			b = c.t.texts.namedValue(b, key, name, val[1:len(val)-1])
		default:
			b = c.t.texts.value(b, key, val)
		}
	}
	if onDevice(e) {
		b = c.place(append(b, comma(members)...), e, pid, tid)
	}
	return append(b, '}')
}

// deviceCUDA is how PyTorch numbers CUDA among the types of devices.
const deviceCUDA = 1

// place appends the arguments with the GPU and stream of an event. In a trace without them,
// the process is the GPU and the thread is the stream.
func (c *copier) place(b []byte, e *trace.Event, pid, tid int64) []byte {
	d := e.Int(eventscan.Device, eventscan.Unreadable)
	if d != eventscan.Unreadable {
		d = c.device(d)
	} else if n, ok := numbered("device", e.PID()); ok {
		d = c.device(n)
	} else {
		d = pid
	}
	b = strconv.AppendInt(append(b, `"device": `...), d, 10)
	if e.Has(eventscan.Stream) {
		return b
	}
	stream, ok := numbered("stream", e.TID())
	if !ok {
		stream = tid
	}
	return strconv.AppendInt(append(b, `, "stream": `...), stream, 10)
}

// numbered returns the number of a text such as 7 or "stream 7".
func numbered(what string, text []byte) (int64, bool) {
	s := strings.TrimSpace(string(text))
	if word, digits, ok := strings.Cut(s, " "); ok && strings.EqualFold(word, what) {
		s = strings.TrimSpace(digits)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// device returns the number of a GPU in the timeline.
func (c *copier) device(n int64) int64 {
	if c.devices == nil || n < 0 {
		return n
	}
	to, ok := c.devices[n]
	if !ok && len(c.devices) < mostTracks {
		to = c.t.device
		c.t.device++
		c.devices[n] = to
	}
	return to
}

// link returns the number in the timeline of a number that links events. Zero and negative
// numbers link nothing.
func (c *copier) link(n int64) int64 {
	switch {
	case c.t.alone || n <= 0:
		return n
	case n < smallID:
		return c.small(n)
	}
	return c.replaced(strconv.FormatInt(n, 10))
}

// small shifts a number beyond the numbers of the previous ranks.
func (c *copier) small(n int64) int64 {
	n += c.t.base
	c.t.high = max(c.t.high, n)
	return n
}

// errIDs is the error of a trace with too many ids to replace.
var errIDs = errors.New("the trace has more ids over 32 bits than fit into memory; raise --max-memory")

// replaced returns the number that replaces an id, which is new for each text.
func (c *copier) replaced(id string) int64 {
	n, ok := c.ids[id]
	if !ok {
		n = oddIDs + c.t.odd
		c.t.odd++
		c.ids[id] = n
		if c.idBytes += int64(len(id)) + 64; c.idBytes > c.t.limit {
			c.err = errIDs
		}
	}
	return n
}

// id appends the id of a flow or of an asynchronous span. Perfetto reads numbers, and
// texts as hexadecimal numbers only.
func (c *copier) id(b, val []byte) []byte {
	if c.t.alone {
		return c.t.texts.value(b, nil, val)
	}
	if n, ok := intOf(val); ok && n >= 0 && n < smallID {
		return strconv.AppendInt(b, c.small(n), 10)
	}
	return strconv.AppendInt(b, c.replaced(string(val)), 10)
}

// isString reports whether a JSON value is a whole string.
func isString(val []byte) bool {
	if val[0] != '"' {
		return false
	}
	end, err := jsonscan.String(val, 0)
	return err == nil && end == len(val)
}

// scoped appends the member "id2". A local id belongs to its process; a global one
// becomes unique to the rank.
func (c *copier) scoped(b, val []byte) []byte {
	if c.t.alone || val[0] != '{' {
		return c.t.texts.value(b, nil, val)
	}
	b = append(b, '{')
	members := 0
	for m := jsonscan.WalkInner(val, 0, 1); m.Next(); members++ {
		key, of := m.Key().Of(val), m.Value().Of(val)
		b = append(c.t.texts.append(append(b, comma(members)...), key), ": "...)
		if string(key) == "global" {
			b = fmt.Appendf(b, `"0x%x"`, c.replaced(string(of)))
		} else {
			b = c.t.texts.value(b, nil, of)
		}
	}
	return append(b, '}')
}

// intOf returns the integer that a JSON value is, also in quotes.
func intOf(val []byte) (int64, bool) {
	if n := len(val); n > 2 && val[0] == '"' && val[n-1] == '"' {
		val = val[1 : n-1]
	}
	if len(val) == 0 || len(val) > 20 || !isNumber(val) {
		return 0, false
	}
	n, err := strconv.ParseInt(string(val), 10, 64)
	return n, err == nil
}
