package perfetto

import (
	"math"
	"strconv"
	"strings"

	"assay/internal/protoscan"
	"assay/internal/redact"
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

const bytesOfMark, bytesOfFacts = 64, 192 // with what the growth of lists takes

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

// kept are facts in half the size.
type kept struct {
	link, bytes, begin, end                                                                            int64
	external, device, stream, shared, registers, threads, group, step, sequence, source, target, flags int32
	grid, block                                                                                        [3]int32
}

// small returns a number in 32 bits, or -1 if it does not fit.
func small(n int64) int32 {
	if n < 0 || n > math.MaxInt32 {
		return -1
	}
	return int32(n)
}

// keep returns the facts as they are kept.
func (f *facts) keep() kept {
	k := kept{link: -1, bytes: f.bytes, begin: f.begin, end: f.end, external: small(f.external), device: small(f.device), stream: small(f.stream),
		shared: small(f.shared), registers: small(f.registers), threads: small(f.threads), group: small(f.group), step: small(f.step),
		sequence: small(f.sequence), source: small(f.source), target: small(f.target)}
	for _, id := range []int64{f.correlation, f.submits, f.flow} {
		if id > 0 {
			k.link = id
			break
		}
	}
	if f.cbid || f.correlation >= 0 {
		k.flags = 1
	}
	if f.cbid {
		k.flags |= 2
	}
	for i := range f.grid {
		k.grid[i], k.block[i] = small(f.grid[i]), small(f.block[i])
	}
	return k
}

var noFacts = facts{correlation: -1, external: -1, device: -1, stream: -1, queue: -1, bytes: -1, shared: -1, registers: -1, begin: -1, end: -1,
	threads: -1, group: -1, step: -1, sequence: -1, submits: -1, flow: -1, source: -1, target: -1}

// annotationPlaces are the places of values of annotations.
var annotationPlaces = [...]func(*facts) *int64{
	func(f *facts) *int64 { return &f.correlation },
	func(f *facts) *int64 { return &f.external },
	func(f *facts) *int64 { return &f.device },
	func(f *facts) *int64 { return &f.stream },
	func(f *facts) *int64 { return &f.queue },
	func(f *facts) *int64 { return &f.bytes },
	func(f *facts) *int64 { return &f.shared },
	func(f *facts) *int64 { return &f.registers },
	func(f *facts) *int64 { return &f.begin },
	func(f *facts) *int64 { return &f.end },
	func(f *facts) *int64 { return &f.threads },
	func(f *facts) *int64 { return &f.group },
	func(f *facts) *int64 { return &f.source },
	func(f *facts) *int64 { return &f.target },
	func(f *facts) *int64 { return &f.step },
	func(f *facts) *int64 { return &f.sequence },
}

// Places of annotations that are not numbers.
const (
	placeGrid  = -1
	placeBlock = -2
	placeCBID  = -3
)

// annotationNames are the places of annotations by their names in PyTorch and rocprofv3: an index of annotationPlaces, plus 1.
var annotationNames = map[string]int{
	"grid": placeGrid, "block": placeBlock, "cbid": placeCBID,
	"correlation":          1,
	"corr_id":              1,
	"External id":          2,
	"device":               3,
	"agent":                3,
	"stream":               4,
	"stream_ID":            4,
	"stream_id":            4,
	"queue":                5,
	"bytes":                6,
	"copy_bytes":           6,
	"shared memory":        7,
	"group_segment_size":   7,
	"registers per thread": 8,
	"begin_ns":             9,
	"end_ns":               10,
	"grid_size":            11,
	"workgroup_size":       12,
	"src_agent":            13,
	"dst_agent":            14,
	"step":                 15,
	"Sequence number":      16,
}

// place returns the place of an annotation, 0 if it is not used.
func (r *reader) place(name text) int {
	for int(name) >= len(r.places) {
		r.places = append(r.places, annotationNames[r.texts.all[len(r.places)]])
	}
	return r.places[name]
}

// event reads one event of a track.
func (r *reader) event(s *sequence, at int64, b []byte) {
	m, ok := r.phase(at, b)
	if !ok {
		return
	}
	it := noFacts
	found, id := false, s.track
	protoscan.Each(b, func(f protoscan.Field) {
		switch f.Number {
		case eventTrack:
			id = f.Bits
		case eventNameID:
			m.name = s.names[f.Bits]
		case eventName:
			m.name = r.text(f.Text)
		case eventCategoryID:
			m.category = s.categories[f.Bits]
		case eventCategory:
			m.category = r.text(f.Text)
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
				if f.Number == legacyName {
					m.name = s.names[f.Bits]
				}
			})
		}
	})
	t := r.track(id)
	if t == nil || !r.take(bytesOfMark) {
		return
	}
	m.track = int32(t.number)
	t.shuffled, t.last = t.shuffled || at < t.last, at
	if found && !m.isEnd && r.take(bytesOfFacts) {
		r.facts = append(r.facts, it.keep())
		m.facts = int32(len(r.facts))
	}
	r.marks = append(r.marks, m)
	r.tools.see(r.texts.all[m.category], &it)
}

// phase returns the mark of an event without what it is about. It returns false if the event is damaged, a counter or an
// instant: nothing of these is kept.
func (r *reader) phase(at int64, b []byte) (m mark, ok bool) {
	m = mark{at: at, dur: -1, order: uint32(r.packets)}
	kind, phase, duration := uint64(0), uint64(0), uint64(0)
	whole := protoscan.Each(b, func(f protoscan.Field) {
		switch f.Number {
		case eventType:
			kind = f.Bits
		case eventLegacy:
			protoscan.Each(f.Text, func(f protoscan.Field) {
				switch f.Number {
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
		return m, false
	}
	switch {
	case kind == typeBegin || phase == 'B':
	case kind == typeEnd || phase == 'E':
		m.isEnd = true
	case phase == 'X' && duration < latest/1000:
		m.dur = int64(duration) * 1000
	case kind == typeCounter:
		r.counters++
		return m, false
	default:
		return m, false // instants have no duration
	}
	return m, true
}

// annotation takes the value of an annotation. It returns false if it is not used.
func (r *reader) annotation(s *sequence, b []byte, it *facts) bool {
	var place int
	var value string
	var n int64
	isNumber := false
	var list []byte
	protoscan.Each(b, func(f protoscan.Field) {
		switch f.Number {
		case annotationID:
			place = r.place(s.annotations[f.Bits])
		case annotationName:
			place = annotationNames[string(f.Text)]
		case annotationUint, annotationInt:
			n, isNumber = int64(f.Bits), true
		case annotationDouble:
			if v := math.Float64frombits(f.Bits); v >= 0 && v < 1<<62 {
				n, isNumber = int64(v), true
			}
		case annotationText:
			value = string(redact.CutBytes(f.Text, 256))
		case annotationValueID:
			value = r.texts.all[s.values[f.Bits]]
		case annotationArray:
			list = f.Text // of the last element, if there are several
		}
	})
	switch place {
	case placeGrid:
		it.grid = three(b, value)
		return it.grid[0] > 0
	case placeBlock:
		it.block = three(b, value)
		return it.block[0] > 0
	case placeCBID:
		it.cbid = true
		return true
	}
	if place == 0 || list != nil {
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
	*annotationPlaces[place-1](it) = n
	return true
}

// three reads three numbers: an array, or a text such as "[1, 2, 3]".
func three(b []byte, value string) (out [3]int64) {
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
