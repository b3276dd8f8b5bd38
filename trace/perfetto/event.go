package perfetto

import (
	"math"
	"strconv"
	"strings"

	"assay/internal/protoscan"
)

// Fields of an event of a track, of its older form and of an annotation.
const (
	eventCategoryID, eventAnnotation, eventLegacy, eventType, eventNameID, eventTrack = 3, 4, 6, 9, 10, 11
	eventCategory, eventName, eventFlow, eventFlowEnd, eventGPU                       = 22, 23, 47, 48, 3000

	legacyName, legacyPhase, legacyDuration = 1, 2, 3

	annotationID, annotationUint, annotationInt, annotationDouble, annotationText, annotationArray = 1, 3, 4, 5, 6, 12
	annotationName, annotationValueID                                                              = 10, 17
)

// The types of events.
const (
	typeBegin, typeEnd, typeInstant, typeCounter = 1, 2, 3, 4
)

// A mark is the begin or the end of a slice, or a whole slice.
type mark struct {
	at, dur  int64 // ns; dur is -1 of a begin
	facts    int32 // number of them, from 1
	track    int32
	order    uint32
	name     text
	category text
	isEnd    bool
}

const bytesOfMark = 64

// facts are the annotations of a slice that are used. Numbers are -1 if unknown.
type facts struct {
	correlation, external, device, stream, queue, bytes, shared, registers int64
	begin, end                                                             int64
	grid, block                                                            [3]int64
	threads, group                                                         int64 // of all dimensions together
	step, sequence                                                         int64
	submits, flow                                                          int64 // work of a GPU, by its number; what an arrow connects
	source, target                                                         int64 // of a copy
	cbid                                                                   bool
}

var noFacts = facts{correlation: -1, external: -1, device: -1, stream: -1, queue: -1, bytes: -1, shared: -1, registers: -1, begin: -1, end: -1,
	threads: -1, group: -1, step: -1, sequence: -1, submits: -1, flow: -1, source: -1, target: -1}

// annotationPlaces are the places of the values of annotations, by their names in PyTorch and rocprofv3.
var annotationPlaces = map[string]func(*facts) *int64{
	"correlation": func(f *facts) *int64 { return &f.correlation }, "corr_id": func(f *facts) *int64 { return &f.correlation },
	"External id": func(f *facts) *int64 { return &f.external },
	"device":      func(f *facts) *int64 { return &f.device }, "agent": func(f *facts) *int64 { return &f.device },
	"stream": func(f *facts) *int64 { return &f.stream }, "stream_ID": func(f *facts) *int64 { return &f.stream }, "stream_id": func(f *facts) *int64 { return &f.stream },
	"queue": func(f *facts) *int64 { return &f.queue },
	"bytes": func(f *facts) *int64 { return &f.bytes }, "copy_bytes": func(f *facts) *int64 { return &f.bytes },
	"shared memory": func(f *facts) *int64 { return &f.shared }, "group_segment_size": func(f *facts) *int64 { return &f.shared },
	"registers per thread": func(f *facts) *int64 { return &f.registers },
	"begin_ns":             func(f *facts) *int64 { return &f.begin }, "end_ns": func(f *facts) *int64 { return &f.end },
	"grid_size": func(f *facts) *int64 { return &f.threads }, "workgroup_size": func(f *facts) *int64 { return &f.group },
	"src_agent": func(f *facts) *int64 { return &f.source }, "dst_agent": func(f *facts) *int64 { return &f.target },
	"step": func(f *facts) *int64 { return &f.step }, "Sequence number": func(f *facts) *int64 { return &f.sequence },
}

// event reads one event of a track.
func (r *reader) event(s *sequence, at int64, b []byte) {
	m := mark{at: at, dur: -1, order: uint32(r.packets)}
	it := noFacts
	found, id := false, s.track
	kind, phase, duration := uint64(0), uint64(0), uint64(0)
	whole := protoscan.Each(b, func(f protoscan.Field) {
		switch f.Number {
		case eventType:
			kind = f.Bits
		case eventTrack:
			id = f.Bits
		case eventNameID:
			m.name = s.names[f.Bits]
		case eventName:
			m.name = r.texts.of(f.Text)
		case eventCategoryID:
			m.category = s.categories[f.Bits]
		case eventCategory:
			m.category = r.texts.of(f.Text)
		case eventAnnotation:
			found = r.annotation(s, f.Text, &it) || found
		case eventFlow, eventFlowEnd:
			it.flow, found = int64(f.Bits&(1<<62-1)), true
		case eventGPU:
			protoscan.Each(f.Text, func(f protoscan.Field) {
				if f.Number == 1 && f.Type == protoscan.Varint {
					it.submits, found = int64(f.Bits), true
				}
			})
		case eventLegacy:
			protoscan.Each(f.Text, func(f protoscan.Field) {
				switch f.Number {
				case legacyName:
					m.name = s.names[f.Bits]
				case legacyPhase:
					phase = f.Bits
				case legacyDuration:
					duration = f.Bits
				}
			})
		}
	})
	if !whole {
		r.damaged++
		return
	}
	switch {
	case kind == typeBegin || phase == 'B':
	case kind == typeEnd || phase == 'E':
		m.isEnd = true
	case phase == 'X' && duration < latest/1000:
		m.dur = int64(duration) * 1000
	case kind == typeCounter:
		r.counters++
		return
	default:
		return // instants have no duration
	}
	t := r.track(id)
	if t == nil || !r.take(bytesOfMark) {
		return
	}
	m.track = int32(t.number)
	t.shuffled, t.last = t.shuffled || at < t.last, at
	if found && !m.isEnd && r.take(256) {
		r.facts = append(r.facts, it)
		m.facts = int32(len(r.facts))
	}
	r.marks = append(r.marks, m)
	r.tools.see(r.texts.all[m.category], &it)
}

// annotation takes the value of an annotation. It returns false if it is not used.
func (r *reader) annotation(s *sequence, b []byte, it *facts) bool {
	var name []byte
	var value string
	var n int64
	isNumber := false
	var list []byte
	protoscan.Each(b, func(f protoscan.Field) {
		switch f.Number {
		case annotationID:
			name = []byte(r.texts.all[s.annotations[f.Bits]])
		case annotationName:
			name = f.Text
		case annotationUint, annotationInt:
			n, isNumber = int64(f.Bits), true
		case annotationDouble:
			if v := math.Float64frombits(f.Bits); v >= 0 && v < 1<<62 {
				n, isNumber = int64(v), true
			}
		case annotationText:
			value = string(f.Text[:min(len(f.Text), 256)])
		case annotationValueID:
			value = r.texts.all[s.values[f.Bits]]
		case annotationArray:
			list = f.Text // of the last element, if there are several
		}
	})
	switch string(name) {
	case "grid", "block":
		place := &it.grid
		if name[0] == 'b' {
			place = &it.block
		}
		*place = r.three(b, value)
		return place[0] > 0
	case "cbid":
		it.cbid = true
		return true
	}
	place := annotationPlaces[string(name)]
	if place == nil || list != nil {
		return false
	}
	if !isNumber {
		digits := value[strings.LastIndexByte(value, ' ')+1:] // also of "Agent 4"
		v, err := strconv.ParseInt(digits, 0, 64)
		if err != nil {
			return false
		}
		n = v
	}
	*place(it) = n
	return true
}

// three reads three numbers: an array, or a text such as "[1, 2, 3]".
func (r *reader) three(b []byte, value string) (out [3]int64) {
	i := 0
	protoscan.Each(b, func(f protoscan.Field) {
		if f.Number != annotationArray {
			return
		}
		protoscan.Each(f.Text, func(f protoscan.Field) {
			if (f.Number == annotationUint || f.Number == annotationInt) && i < len(out) {
				out[i] = int64(f.Bits)
				i++
			}
		})
	})
	if i == 0 {
		for part := range strings.SplitSeq(strings.Trim(value, "[] "), ",") {
			n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
			if err != nil || i == len(out) {
				return [3]int64{}
			}
			out[i] = n
			i++
		}
	}
	for _, n := range out {
		if n < 0 || i != len(out) {
			return [3]int64{}
		}
	}
	return out
}
