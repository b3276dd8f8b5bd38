package rocm

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"assay/internal/lazyregexp"
	"assay/trace"
)

var (
	gpuProcess = lazyregexp.New(`^GPU(\d{1,4})$`)
	hipThread  = lazyregexp.New(`"name" ?: ?"Hip \d+"`)
)

// SniffChrome returns the format of a Chrome trace of rocprof v1 or rocmProfileData that begins with head, or "". The
// first event of both is empty. The former has processes for calls, the latter threads.
func SniffChrome(head []byte) string {
	head = bytes.TrimSpace(head)
	switch {
	case !bytes.HasPrefix(head, []byte("{")) && !bytes.HasPrefix(head, []byte("[")), !bytes.Contains(head, []byte("{}")):
	case bytes.HasPrefix(head, []byte("[")) && hipThread().Match(head):
		return FormatRPDJSON
	case bytes.Contains(head, []byte(`"CPU HIP API"`)), bytes.Contains(head, []byte(`"CPU HSA API"`)),
		bytes.Contains(head, []byte(`"name":"COPY"`)) && bytes.Contains(head, []byte(`"name":"GPU0"`)):
		return FormatV1JSON
	}
	return ""
}

// A lane is a thread or queue of a Chrome trace.
type lane struct{ pid, tid int64 }

// A slice is a span of a Chrome trace.
type slice struct {
	lane
	at, micros  int64 // ns; as the file orders it, in µs
	name, extra string
	end         int64
	number      int64 // of the call, from 1
	work        work
	onDevice    bool
	marker      bool
}

// A chromeReader keeps the spans of a trace until its arrows tell which call launched which work: they name places, not
// events.
type chromeReader struct {
	*capture
	processes map[int64]string
	threads   map[lane]string
	all       []slice
	from, to  map[int64]place // ends of arrows
	counter   int64
}

// A place is a time on a lane.
type place struct {
	lane
	micros int64
}

// ReadChrome reads a Chrome trace of rocprof v1 or rocmProfileData.
func ReadChrome(in io.Reader, file string, sel trace.Select) (*trace.Trace, error) {
	c := newCapture(file, sel)
	c.single = true
	r := &chromeReader{capture: c, processes: map[int64]string{}, threads: map[lane]string{}, from: map[int64]place{}, to: map[int64]place{}}
	every := trace.SelectAll()
	every.Limits = sel.Limits
	events := trace.NewReader(in, file, every)
	for events.Scan() {
		if e, ok := events.Record().(*trace.Event); ok {
			r.event(e)
		}
		if r.rows++; r.overflow {
			break
		}
	}
	if err := events.Err(); err != nil {
		return nil, err
	}
	for _, is := range events.Issues() {
		if is.Code != "event-without-phase" { // the first event is empty
			c.out.Issue(is, max(1, is.Count))
			c.broken = c.broken || is.EndsInput() || is.Code == "input-truncated"
		}
	}
	r.finish()
	return c.trace(), nil
}

// event takes one event.
func (r *chromeReader) event(e *trace.Event) {
	raw := gjson.ParseBytes(e.Raw())
	num := func(path string) int64 { return number(raw.Get(path).String(), 0) }
	at := lane{num("pid"), num("tid")}
	switch e.Phase() {
	case 'M':
		name := raw.Get("args.name").String()
		switch raw.Get("name").String() {
		case "process_name":
			r.processes[at.pid] = name
		case "thread_name":
			r.threads[at] = name
		}
	case 's':
		r.from[num("id")] = place{at, num("ts")}
	case 't', 'f':
		r.to[num("id")] = place{at, num("ts")}
	case 'X':
		r.slice(raw, at)
	}
}

// slice keeps a span. rocprof states its times in ns beside those in µs.
func (r *chromeReader) slice(raw gjson.Result, at lane) {
	args := raw.Get("args")
	s := slice{lane: at, micros: number(raw.Get("ts").String(), 0), name: cut(raw.Get("name").String()), extra: cut(args.Get("desc").String())}
	s.at, s.end = number(args.Get("BeginNs").String(), 0), number(args.Get("EndNs").String(), 0)
	if s.at == 0 || s.end == 0 {
		s.at, s.end = s.micros*1000, (s.micros+number(raw.Get("dur").String(), 0))*1000
	}
	process := r.processes[at.pid]
	m := gpuProcess().FindStringSubmatch(process)
	s.onDevice = m != nil || process == "COPY"
	s.marker = strings.HasPrefix(process, "Markers")
	if s.onDevice {
		s.work = newWork(trace.Kernel)
		s.work.queue = at.tid
		if m != nil {
			s.work.device, _ = strconv.ParseInt(m[1], 10, 64)
		}
		if id := args.Get("dev-id"); id.Exists() {
			s.work.device, s.work.queue = number(id.String(), 0), number(args.Get("queue-id").String(), -1)
			s.work.stream = number(args.Get("stream-id").String(), 0)
		}
	} else if pid := args.Get("pid"); pid.Exists() {
		s.pid, s.tid = number(pid.String(), 0), number(args.Get("tid").String(), 0)
		s.micros = number(raw.Get("ts").String(), 0)
	}
	if r.take(320 + len(s.name) + len(s.extra)) {
		r.all = append(r.all, s)
	}
}

// finish links work with calls, and adds both.
func (r *chromeReader) finish() {
	r.link()
	for i := range r.all {
		s := &r.all[i]
		r.table, r.row = "traceEvents", int64(i)
		if s.onDevice {
			w := &s.work
			w.start, w.end = s.at, s.end
			w.name = v1Name(&w.kind, s.name)
			r.add(w)
			continue
		}
		name, d := s.name, rpdDomain([]byte(s.name))
		if s.marker {
			d = domain{trace.Annotation, "roctx"}
		}
		if s.name == "UserMarker" && s.extra != "" {
			name = s.extra
		}
		r.host(d, []byte(name), s.pid, s.tid, s.at, s.end, s.number)
	}
}

// link numbers the calls at which arrows begin, and gives the number to the work at which they end. The beginning of an
// arrow is inside its call, and its end is the start of its work.
func (r *chromeReader) link() {
	calls, works := map[int64][]*slice{}, map[place][]*slice{}
	for i := range r.all {
		if s := &r.all[i]; s.onDevice {
			key := place{s.lane, s.micros}
			works[key] = append(works[key], s)
		} else {
			calls[s.tid] = append(calls[s.tid], s)
		}
	}
	for _, list := range calls {
		slices.SortStableFunc(list, func(a, b *slice) int { return cmp.Compare(a.micros, b.micros) })
	}
	ids := make([]int64, 0, len(r.from))
	for id := range r.from {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		from, to := r.from[id], r.to[id]
		list := calls[from.tid]
		at, _ := slices.BinarySearchFunc(list, from.micros+1, func(s *slice, t int64) int { return cmp.Compare(s.micros, t) })
		var call *slice
		for k := at - 1; k >= 0 && k >= at-mostNested && call == nil; k-- {
			if list[k].end >= from.micros*1000 && rpdDomain([]byte(list[k].name)).kind == trace.Runtime {
				call = list[k]
			}
		}
		targets := works[to]
		if call == nil || len(targets) == 0 {
			continue
		}
		if call.number == 0 {
			r.counter++
			call.number = r.counter
		}
		targets[0].work.correlation = call.number
		works[to] = targets[1:]
	}
}

// mostNested is the number of spans that may begin between a call and the place of its arrow.
const mostNested = 64
