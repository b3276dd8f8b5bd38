package xplane

import (
	"bytes"
	"io"
	"math"
	"strconv"

	"assay/internal/diag"
	"assay/internal/jsonscan"
	"assay/internal/lazyregexp"
	"assay/internal/profile"
	"assay/trace"
)

var (
	// tracePart matches the name of a device in the head of a Chrome trace. TensorFlow 1 has more behind the number.
	tracePart = lazyregexp.New(`"process_name"[^{}]*\{\s*"name":\s*"(?:[^"\s]{1,256} )?/device:(?:GPU|TPU):\d{1,9}(?: SparseCore \d{1,3})?"`)
	traceLane = lazyregexp.New(`"name":\s*"(?:Stream #\d|XLA |Steps"|TensorFlow |Framework )`)
)

// SniffTrace reports whether a file that begins with head is the Chrome trace that XLA's profiler writes of a capture, or
// writes beside its XSpace. The names of devices and of their lines come first.
func SniffTrace(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	return bytes.Contains(head, []byte("/device:")) && (head[0] == '{' || head[0] == '[') && tracePart().Match(head) && traceLane().Match(head)
}

// mostWritten is how many slices XLA writes to a Chrome trace: of more, it writes those that begin first.
const mostWritten = 1_000_000

// A thread identifies a line of a Chrome trace.
type thread struct{ pid, tid string }

// chrome reads the Chrome trace of a capture: a process is a plane, a thread is a line.
type chrome struct {
	*reader
	parts   map[string]*part // by process
	names   map[thread]string
	lanes   map[thread]func(*event)
	waiting map[thread][]event // of lines that have no name yet
	tids    map[string]int64   // numbers of threads that are written otherwise
	slices  int64
}

// ReadTrace reads the Chrome trace of a capture. The result is that of [Read], but for what this form does not have.
func ReadTrace(in io.Reader, name string, sel trace.Select) (*trace.Trace, *profile.Tables, error) {
	r, _ := newReader(name, sel)
	c := chrome{reader: r, parts: map[string]*part{}, names: map[thread]string{}, lanes: map[thread]func(*event){},
		waiting: map[thread][]event{}, tids: map[string]int64{}}
	rd := trace.NewReader(in, name, trace.Select{Kinds: trace.Every, Limits: sel.Limits})
	whole := true
	for rd.Scan() && !r.out.Full() {
		if e, ok := rd.Record().(*trace.Event); ok {
			c.take(e)
		}
	}
	if rd.Err() != nil {
		return nil, nil, rd.Err()
	}
	for _, is := range rd.Issues() {
		whole = whole && is.Severity != diag.DataLoss
		r.out.Issue(is, is.Count)
	}
	if c.slices == mostWritten {
		whole = false
		r.out.Issue(diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: diag.Pos{File: name},
			Help: "The profiler writes at most 1,000,000 events to a Chrome trace and leaves out those that begin later. Give the .xplane.pb of the same capture, which has all of them."}, 1)
	}
	for at, events := range c.waiting {
		c.release(at, events)
	}
	for _, p := range r.parts {
		r.finish(p)
	}
	r.events = rd.Events()
	t, tables := r.end(whole)
	return t, tables, nil
}

// take takes an event.
func (c *chrome) take(e *trace.Event) {
	at := thread{string(e.PID()), string(e.TID())}
	switch {
	case e.Phase() == 'M':
		c.name(string(e.Name()), at, e.Raw())
	case e.Phase() == 'X':
		c.slices++
		if ev := eventOf(e); c.names[at] == "" {
			c.waiting[at] = append(c.waiting[at], ev)
		} else if add := c.lane(at); add != nil {
			add(&ev)
		}
	}
}

// name takes the name of a process or a thread. A name of a device may have that of its host before it.
func (c *chrome) name(of string, at thread, raw []byte) {
	text := ""
	members(raw, func(key, val []byte) {
		if string(key) == "args" && val[0] == '{' {
			members(val, func(key, val []byte) {
				if string(key) == "name" && val[0] == '"' {
					text = cut(jsonscan.Unquote(nil, val[1:len(val)-1]))
				}
			})
		}
	})
	switch {
	case text == "":
	case of == "thread_name":
		c.names[at] = text
		if events := c.waiting[at]; events != nil && c.parts[at.pid] != nil {
			c.release(at, events)
			delete(c.waiting, at)
		}
	case of == "process_name" && c.parts[at.pid] == nil:
		if host, rest, ok := bytes.Cut([]byte(text), []byte(" /")); ok && len(host) > 0 {
			text = "/" + string(rest)
			if c.meta.Host == "" && len(host) <= 64 {
				c.meta.Host = string(host)
			}
		}
		c.parts[at.pid] = c.part(text)
	}
}

// release adds events that came before the name of their line.
func (c *chrome) release(at thread, events []event) {
	if add := c.lane(at); add != nil {
		for i := range events {
			add(&events[i])
		}
	}
}

// lane returns what takes the events of a line, or nil. A process without a name counts as the host.
func (c *chrome) lane(at thread) func(*event) {
	add, ok := c.lanes[at]
	if ok {
		return add
	}
	p := c.parts[at.pid]
	if p == nil {
		p = &part{kind: hostPart, core: -1}
		c.parts[at.pid] = p
	}
	add = c.reader.lane(p, c.number(at.tid), c.names[at])
	c.lanes[at] = add
	return add
}

// number returns the number of a thread.
func (c *chrome) number(tid string) int64 {
	n, err := strconv.ParseInt(tid, 10, 64)
	if err == nil {
		return n
	}
	if _, ok := c.tids[tid]; !ok {
		c.tids[tid] = -1 - int64(len(c.tids))
	}
	return c.tids[tid]
}

// members calls f with the members of an object.
func members(object []byte, f func(key, val []byte)) {
	m := jsonscan.Walk(object, 0)
	for m.Next() {
		f(m.Key().Of(object), m.Value().Of(object))
	}
}

// eventOf returns what an event says. The name is the short one of an instruction, else that which an XSpace has.
func eventOf(e *trace.Event) event {
	out := event{name: cut(e.Name()), start: e.Start(), dur: e.Dur(), facts: *noFacts("")}
	rest, dur, short := int64(0), int64(0), false // in ps; rest is what start lacks
	members(e.Raw(), func(key, val []byte) {
		switch string(key) {
		case "ts":
			if at, ok := picos(val); ok {
				out.start = rounded(at)
				rest = at - out.start*1000
			}
		case "dur":
			if dur, short = picos(val); dur == 1 {
				dur = 0 // the writer makes each duration at least 1 ps
			}
		case "args":
			if val[0] == '{' {
				members(val, out.argument)
			}
		}
	})
	if short {
		out.dur = max(0, rounded(rest+dur))
	}
	return out
}

// argument takes a property, which is a text even if it is a number.
func (e *event) argument(key, val []byte) {
	if val[0] == '"' {
		val = jsonscan.Unquote(nil, val[1:len(val)-1])
	}
	if string(key) == "long_name" {
		e.facts.operands = narrow(string(val))
		if len(val) > 0 && val[0] != '%' { // else it is the text of an instruction
			e.name = cut(val)
		}
		return
	}
	n, err := strconv.ParseInt(string(val), 10, 64)
	if err != nil {
		if v, err := strconv.ParseFloat(string(val), 64); err == nil && v >= 0 && v < 1<<62 {
			n = int64(v)
		}
	}
	e.facts.set(string(key), n, cut(val))
}

// picos returns a number of microseconds as picoseconds. It returns false for one that has no exact place in 19 digits:
// the writer of XLA counts from the start of a session, others from 1970.
func picos(val []byte) (ps int64, ok bool) {
	v, err := strconv.ParseFloat(string(bytes.Trim(val, `"`)), 64)
	if err != nil || !(math.Abs(v) < 1<<32) {
		return 0, false
	}
	return int64(math.Round(v * 1e6)), true
}
