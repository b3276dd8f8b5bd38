package export

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"assay/internal/jsonscan"
	"assay/trace"
)

// WriteModel writes a trace of another format as Chrome JSON, with the numbers and the
// clock of the trace. An arrow leads from each launch to its work on a GPU.
func WriteModel(w io.Writer, t *trace.Trace) error {
	m := &model{w: bufio.NewWriterSize(w, 64<<10), t: t}
	m.write([]byte(`{"traceEvents": [{}`))
	m.link()
	m.tracks()
	m.device()
	m.host()
	m.spans()
	m.memory()
	m.write([]byte("]}\n"))
	if m.err == nil {
		m.err = m.w.Flush()
	}
	return m.err
}

// A model writes the tables of a trace.
type model struct {
	w   *bufio.Writer
	t   *trace.Trace
	buf []byte
	err error

	arrows map[trace.ID]bool // correlations that both a call and GPU work have
}

// link finds the launches whose work was recorded.
func (m *model) link() {
	m.arrows = map[trace.ID]bool{}
	for c := range m.t.Calls.All() {
		if c.Correlation != 0 {
			m.arrows[c.Correlation] = false
		}
	}
	for a := range m.t.Activities.All() {
		if _, ok := m.arrows[a.Correlation]; ok {
			m.arrows[a.Correlation] = true
		}
	}
}

func (m *model) write(b []byte) {
	if m.err == nil {
		_, m.err = m.w.Write(b)
	}
	m.buf = b[:0]
}

// An arg is an argument of an event: a number, or a text if it has one.
type arg struct {
	key  string
	n    int64
	text string // as JSON
}

// text returns an argument that is a text. One that is empty is left out.
func text(key, s string) arg {
	if s == "" {
		return arg{}
	}
	return arg{key: key, text: quote(valid(s))}
}

// id returns an argument that links events. 0 is none and is left out.
func id(key string, n trace.ID) arg {
	if n == 0 {
		return arg{}
	}
	return arg{key: key, n: int64(n)}
}

// positive returns an argument whose negative values mean that it is unknown.
func positive(key string, n int64) arg {
	if n < 0 {
		return arg{}
	}
	return arg{key: key, n: n}
}

// complete writes an event with a duration on a track.
func (m *model) complete(kind, name string, track trace.TrackID, start, dur int64, args ...arg) {
	b := m.head('X', kind, name, track, start)
	b = appendMicros(append(b, `, "dur": `...), dur)
	m.args(b, args)
}

// head begins an event.
func (m *model) head(phase byte, kind, name string, track trace.TrackID, start int64) []byte {
	tr := &m.t.Tracks[track]
	pid, tid := tr.PID, tr.TID
	if tr.OnDevice {
		pid, tid = gpuProcess(tr.Device), strconv.FormatInt(tr.Stream, 10)
	}
	b := append(m.buf[:0], ",\n{\"ph\": \""...)
	b = append(append(b, phase), `", "cat": `...)
	b = append(append(b, quote(valid(kind))...), `, "name": `...)
	b = append(append(b, quote(valid(name))...), `, "pid": `...)
	b = append(append(b, quote(valid(pid))...), `, "tid": `...)
	b = append(append(b, quote(valid(tid))...), `, "ts": `...)
	return appendMicros(b, start)
}

// gpuProcess is the process of the work of a GPU.
func gpuProcess(device int64) string { return fmt.Sprintf("device %d", device) }

// args ends an event.
func (m *model) args(b []byte, args []arg) {
	n := 0
	for _, a := range args {
		switch {
		case a.key == "":
			continue
		case n == 0:
			b = append(b, `, "args": {`...)
		default:
			b = append(b, ", "...)
		}
		n++
		b = append(append(b, quote(a.key)...), ": "...)
		if a.text != "" {
			b = append(b, a.text...)
		} else {
			b = strconv.AppendInt(b, a.n, 10)
		}
	}
	if n > 0 {
		b = append(b, '}')
	}
	m.write(append(b, '}'))
}

// tracks writes the names of processes, threads and GPUs.
func (m *model) tracks() {
	named := map[string]bool{}
	for i := range m.t.Tracks {
		tr := &m.t.Tracks[i]
		switch {
		case tr.OnDevice && !named[gpuProcess(tr.Device)]:
			named[gpuProcess(tr.Device)] = true
			m.label(gpuProcess(tr.Device), "", "process_labels", "labels", fmt.Sprintf("GPU %d", tr.Device))
			const after = 1 << 24 // processes of the CPU
			m.sort(gpuProcess(tr.Device), after+tr.Device)
		case !tr.OnDevice && !named["process "+tr.PID]:
			named["process "+tr.PID] = true
			if tr.Process != "" {
				m.label(tr.PID, "", "process_name", "name", tr.Process)
			}
			m.label(tr.PID, "", "process_labels", "labels", "CPU")
		}
		if tr.OnDevice {
			m.label(gpuProcess(tr.Device), strconv.FormatInt(tr.Stream, 10), "thread_name", "name", fmt.Sprintf("stream %d", tr.Stream))
		} else if tr.Thread != "" {
			m.label(tr.PID, tr.TID, "thread_name", "name", tr.Thread)
		}
	}
}

func (m *model) label(pid, tid, name, key, value string) {
	b := fmt.Appendf(m.buf[:0], ",\n"+`{"ph": "M", "name": %q, "pid": %s, "tid": %s, "args": {%q: %s}}`, name, quote(valid(pid)), quote(valid(tid)), key, quote(valid(value)))
	m.write(b)
}

func (m *model) sort(pid string, index int64) {
	m.write(fmt.Appendf(m.buf[:0], ",\n"+`{"ph": "M", "name": "process_sort_index", "pid": %s, "tid": "", "args": {"sort_index": %d}}`, quote(valid(pid)), index))
}

// device writes the work of GPUs.
func (m *model) device() {
	for a := range m.t.Activities.All() {
		tr, d := &m.t.Tracks[a.Track], m.t.Detail(a.Detail)
		args := []arg{
			{key: "device", n: tr.Device}, {key: "stream", n: tr.Stream}, id("correlation", a.Correlation), id("External id", a.External),
			positive("bytes", d.Bytes), positive("registers per thread", d.Registers), positive("shared memory", d.SharedMemory), positive("graph id", d.GraphID),
			triple("grid", d.Grid), triple("block", d.Block),
		}
		if c := &d.Collective; c.Name != 0 {
			args = append(args, text("Collective name", m.t.Name(c.Name)), text("dtype", m.t.Name(c.Dtype)), positive("In msg nelems", c.In), positive("Out msg nelems", c.Out),
				positive("Group size", c.GroupSize), text("Process Group Name", m.t.Name(c.Group)), text("Process Group Ranks", m.t.Name(c.Ranks)))
		}
		m.complete(a.Kind.String(), m.t.Name(a.Name), a.Track, a.Start, a.Dur, args...)
		if m.arrows[a.Correlation] {
			m.flow('f', a.Track, a.Start, a.Correlation)
		}
	}
}

func triple(key string, v [3]int64) arg {
	if v == [3]int64{} {
		return arg{}
	}
	return arg{key: key, text: fmt.Sprintf("[%d, %d, %d]", v[0], v[1], v[2])}
}

// flow writes one end of the arrow from a launch to its work.
func (m *model) flow(phase byte, track trace.TrackID, ns int64, n trace.ID) {
	b := m.head(phase, trace.Flow.String(), trace.Flow.String(), track, ns)
	b = fmt.Appendf(b, `, "id": %d`, n)
	if phase == 'f' {
		b = append(b, `, "bp": "e"`...)
	}
	m.args(b, nil)
}

// host writes the calls, operators and functions of the CPU.
func (m *model) host() {
	for c := range m.t.Calls.All() {
		m.complete(c.Kind.String(), m.t.Name(c.Name), c.Track, c.Start, c.Dur, id("correlation", c.Correlation), id("External id", c.External))
		if m.arrows[c.Correlation] {
			m.flow('s', c.Track, c.Start, c.Correlation)
		}
	}
	for o := range m.t.Ops.All() {
		args := []arg{id("External id", o.External), id("Sequence number", o.Sequence), id("Fwd thread id", o.Forward)}
		if dims := m.t.Name(m.t.Shape(o.Shape).Dims); isJSON(dims) {
			args = append(args, arg{key: "Input Dims", text: dims})
		}
		m.complete(trace.CPUOp.String(), m.t.Name(o.Name), o.Track, o.Start, o.Dur, args...)
	}
	for p := range m.t.Python.All() {
		m.complete(trace.Python.String(), m.t.Name(p.Name), p.Track, p.Start, p.Dur, id("Python id", p.ID), id("Python parent id", p.Parent))
	}
}

// isJSON reports whether a text is one JSON value.
func isJSON(s string) bool {
	if s == "" {
		return false
	}
	b := []byte(s + " ")
	end, err := jsonscan.Skip(b, 0)
	return err == nil && end == len(s)
}

// spans writes all other spans.
func (m *model) spans() {
	for s := range m.t.Spans.All() {
		m.complete(s.Kind.String(), m.t.Name(s.Name), s.Track, s.Start, s.Dur, m.spanArgs(&s.Category, s.Track)...)
	}
	for i := range m.t.Async {
		s := &m.t.Async[i]
		for _, end := range []struct {
			phase byte
			ns    int64
		}{{'b', s.Start}, {'e', s.Start + s.Dur}} {
			b := m.head(end.phase, s.Kind.String(), m.t.Name(s.Name), s.Track, end.ns)
			m.args(fmt.Appendf(b, `, "id": %d`, i+1), m.spanArgs(&s.Category, s.Track))
		}
	}
}

// spanArgs returns the category of a span as its trace has it, and its GPU.
func (m *model) spanArgs(category *trace.Sym, track trace.TrackID) []arg {
	args := []arg{text("category", m.t.Name(*category))}
	if tr := &m.t.Tracks[track]; tr.OnDevice {
		args = append(args, arg{key: "device", n: tr.Device}, arg{key: "stream", n: tr.Stream})
	}
	return args
}

// memory writes the changes of the allocated memory.
func (m *model) memory() {
	for e := range m.t.Memory.All() {
		b := append(m.head('i', trace.Instant.String(), "[memory]", e.Track, e.Start), `, "s": "t"`...)
		m.args(b, []arg{{key: "Bytes", n: e.Bytes}, {key: "Addr", n: e.Address}, positive("Total Allocated", e.Allocated), positive("Total Reserved", e.Reserved),
			positive("Device Id", int64(e.Device)), positive("Device Type", int64(e.DeviceType))})
	}
}
