package vendorgen

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"assay/internal/test/pfgen"
	"assay/trace"
)

// A Plane, Line and Event are what XLA's profiler records, before it writes one of its two forms. Times are in picoseconds.
type (
	Plane struct {
		Name  string
		Own   []Stat // of a device; a Chrome trace does not have them
		Lines []Line
	}
	Line struct {
		ID     int64
		Name   string
		Events []Event
	}
	Event struct {
		Name, Shown string // the second is short, if the first is the text of an instruction
		Start, Dur  int64
		Stats       []Stat
	}
	Stat struct {
		Name  string
		Value any // a text or an int64
	}
)

// XLA returns what the profiler of XLA would record of a trace: calls and spans of threads, and work on streams. The
// earliest row starts at 1 ms.
func XLA(t *trace.Trace) []Plane {
	first := int64(math.MaxInt64)
	host, devices := Plane{Name: "/host:CPU"}, map[int64]int{}
	lines, streams := map[trace.TrackID]int{}, map[trace.TrackID]int{}
	planes := []Plane{}
	each := func(on trace.TrackID, start, dur int64, name string, stats ...Stat) {
		if _, ok := lines[on]; !ok {
			lines[on] = len(host.Lines)
			host.Lines = append(host.Lines, Line{ID: int64(on) + 1, Name: fmt.Sprintf("thread/%d", on)})
		}
		l := &host.Lines[lines[on]]
		l.Events = append(l.Events, Event{Name: name, Start: start * 1000, Dur: dur * 1000, Stats: stats})
		first = min(first, start)
	}
	for o := range t.Ops.All() {
		each(o.Track, o.Start, o.Dur, t.Name(o.Name))
	}
	for s := range t.Spans.All() {
		if s.Kind == trace.Annotation {
			var step int64
			if n, _ := fmt.Sscanf(t.Name(s.Name), "ProfilerStep#%d", &step); n == 1 {
				each(s.Track, s.Start, s.Dur, "train", Stat{"step_num", step})
			} else {
				each(s.Track, s.Start, s.Dur, t.Name(s.Name))
			}
		}
	}
	for c := range t.Calls.All() {
		var stats []Stat
		if c.Correlation != 0 {
			stats = append(stats, Stat{"correlation_id", int64(c.Correlation)})
		}
		each(c.Track, c.Start, c.Dur, t.Name(c.Name), stats...)
	}
	for a := range t.Activities.All() {
		on := &t.Tracks[a.Track]
		at, ok := devices[on.Device]
		if !ok {
			at = len(planes)
			devices[on.Device] = at
			planes = append(planes, Plane{Name: fmt.Sprintf("/device:GPU:%d", on.Device)})
		}
		p := &planes[at]
		if _, ok := streams[a.Track]; !ok {
			streams[a.Track] = len(p.Lines)
			p.Lines = append(p.Lines, Line{ID: on.Stream, Name: fmt.Sprintf("Stream #%d(Compute)", on.Stream)})
		}
		l := &p.Lines[streams[a.Track]]
		l.Events = append(l.Events, work(t, a))
		first = min(first, a.Start)
	}
	for i := range planes {
		p := &planes[i]
		p.Lines = append(p.Lines, Line{ID: 1 << 30, Name: "XLA Ops", Events: p.Lines[0].Events}) // repeats the work
	}
	planes = append(planes, host)
	for i := range planes {
		for k := range planes[i].Lines {
			if l := &planes[i].Lines[k]; l.Name != "XLA Ops" {
				for n := range l.Events {
					l.Events[n].Start += 1_000_000_000 - first*1000
				}
			}
		}
	}
	return planes
}

// work returns the event of some work of a device.
func work(t *trace.Trace, a *trace.Activity) Event {
	d := t.Detail(a.Detail)
	e := Event{Name: t.Name(a.Name), Start: a.Start * 1000, Dur: a.Dur * 1000}
	if a.Correlation != 0 {
		e.Stats = append(e.Stats, Stat{"correlation_id", int64(a.Correlation)})
	}
	size := fmt.Sprintf("size:%d", d.Bytes)
	switch a.Kind {
	case trace.Memset:
		e.Name, e.Stats = "Memset", append(e.Stats, Stat{"memset_details", size})
	case trace.Memcpy:
		e.Name = "MemcpyD2D"
		for _, of := range []string{"HtoD", "DtoH"} {
			if strings.Contains(t.Name(a.Name), of) {
				e.Name = "Memcpy" + of[:1] + "2" + of[3:]
			}
		}
		e.Stats = append(e.Stats, Stat{"memcpy_details", "kind_src:device kind_dst:device " + size + " dest:0 async:1"})
	default:
		e.Stats = append(e.Stats, Stat{"hlo_op", "fusion.3"}, Stat{"hlo_module", "jit_step"},
			Stat{"kernel_details", fmt.Sprintf("regs:%d grid:%d,%d,%d block:%d,%d,%d", max(0, d.Registers), d.Grid[0], d.Grid[1], d.Grid[2], d.Block[0], d.Block[1], d.Block[2])})
	}
	return e
}

// Space returns planes as an XSpace.
func Space(planes []Plane) []byte {
	var space pfgen.Message
	for i, p := range planes {
		out := pfgen.Message{}.Num(1, uint64(i)).Text(2, p.Name)
		numbers := map[string]uint64{}
		var tables pfgen.Message
		number := func(table int, m pfgen.Message, key string) uint64 {
			key = fmt.Sprint(table, key)
			if numbers[key] == 0 {
				numbers[key] = uint64(len(numbers) + 1)
				tables = tables.In(table, pfgen.Message{}.Num(1, numbers[key]).In(2, append(pfgen.Message{}.Num(1, numbers[key]), m...)))
			}
			return numbers[key]
		}
		text := func(s string) uint64 { return number(5, pfgen.Message{}.Text(2, s), s) }
		stat := func(s Stat) pfgen.Message {
			m := pfgen.Message{}.Num(1, text(s.Name))
			if n, ok := s.Value.(int64); ok {
				return m.Num(4, uint64(n))
			}
			return m.Num(7, text(s.Value.(string)))
		}
		for _, s := range p.Own {
			out = out.In(6, stat(s))
		}
		for _, l := range p.Lines {
			line := pfgen.Message{}.Num(1, uint64(l.ID)).Text(2, l.Name).Num(3, 1000)
			for _, e := range l.Events {
				kind := pfgen.Message{}.Text(2, e.Name)
				if e.Shown != "" {
					kind = kind.Text(4, e.Shown)
				}
				m := pfgen.Message{}.Num(1, number(4, kind, e.Name+"\x00"+e.Shown)).Num(2, uint64(e.Start-1_000_000)).Num(3, uint64(e.Dur))
				for _, s := range e.Stats {
					m = m.In(4, stat(s))
				}
				line = line.In(4, m)
			}
			out = out.In(3, line)
		}
		space = space.In(1, append(out, tables...))
	}
	return space
}

// ChromeTrace returns planes as the Chrome trace that XLA writes of them, by its xplane_to_trace_events.cc: properties are
// texts, some are left out, and so are asynchronous operations of TPUs.
func ChromeTrace(planes []Plane) []byte {
	w := &writer{}
	w.WriteString(`{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[`)
	for i, p := range planes {
		w.event(`{"ph":"M","pid":%d,"name":"process_name","args":{"name":%q}}`, i+1, p.Name)
		for _, l := range p.Lines {
			w.event(`{"ph":"M","pid":%d,"tid":%d,"name":"thread_name","args":{"name":%q}}`, i+1, uint32(l.ID), l.Name)
		}
	}
	for i, p := range planes {
		for _, l := range p.Lines {
			if l.Name == "Async XLA Ops" {
				continue
			}
			for _, e := range l.Events {
				args, name := map[string]string{}, cmp.Or(e.Shown, e.Name)
				if e.Shown != "" {
					args["long_name"] = e.Name
				}
				for _, s := range e.Stats {
					if s.Name == "step_name" {
						name = fmt.Sprint(s.Value)
					}
					if s.Name != "kernel_details" && s.Name != "flops" && s.Name != "program_id" {
						args[s.Name] = fmt.Sprint(s.Value)
					}
				}
				text, err := json.Marshal(args)
				if err != nil {
					panic(err)
				}
				quoted, err := json.Marshal(name)
				if err != nil {
					panic(err)
				}
				w.event(`{"ph":"X","pid":%d,"tid":%d,"ts":%.17g,"dur":%.17g,"name":%s,"args":%s}`, i+1, uint32(l.ID), float64(e.Start)/1e6, float64(max(1, e.Dur))/1e6, quoted, text)
			}
		}
	}
	w.WriteString(",{}]}")
	return w.Bytes()
}
