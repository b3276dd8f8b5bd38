package xplane

import (
	"math"
	"strings"

	"assay/internal/protoscan"
	"assay/internal/redact"
	"assay/trace"
)

// Fields of a plane, a line, an event, a stat and an entry of metadata.
const (
	planeName, planeLine, planeEvents, planeStats, planeStat = 2, 3, 4, 5, 6

	lineID, lineName, lineStart, lineEvent, lineShown = 1, 2, 3, 4, 11

	eventMeta, eventOffset, eventDuration, eventStat, eventCount = 1, 2, 3, 4, 5

	statMeta, statDouble, statUnsigned, statSigned, statText, statBytes, statRef = 1, 2, 3, 4, 5, 6, 7

	metaKey, metaValue                      = 1, 2
	metaName, metaDisplay, metaEventOwnStat = 2, 4, 5
)

// A plane is one plane of the file, with its tables of names.
type plane struct {
	name   string
	lines  [][]byte
	events map[int64]*eventKind
	stats  map[int64]string
	own    [][]byte // its own stats
}

// An eventKind is what events of one number have in common.
type eventKind struct {
	name  string
	stats [][]byte
	facts *facts // of the stats, once an event needs them

	operands string // see facts
}

// mostText is the number of bytes of a name or property that is kept. Names of kernels are up to a few KiB long.
const mostText = 16 << 10

// cut returns a text of limited length.
func cut(text []byte) string { return string(redact.CutBytes(text, mostText)) }

// fits reports whether a field is of the type that its number has, and otherwise counts it as damaged.
func (r *reader) fits(f protoscan.Field, bytes bool) bool {
	if (f.Type == protoscan.Bytes) == bytes {
		return true
	}
	r.damaged++
	return false
}

// A line is a stream or a thread.
type line struct {
	id     int64
	name   string
	start  int64 // ns
	events [][]byte
}

// An event of a line. Times are on the clock of the trace.
type event struct {
	name       string
	start, dur int64 // ns
	facts      facts
}

// facts are the stats of an event that are used.
type facts struct {
	correlation   int64
	hlo, tf, note string // operator of XLA; of the framework; annotation of TensorFlow
	details       string // launch of a kernel, or of a copy
	step          int64  // of StepTraceAnnotation, or -1
	graph         int64  // of CUDA, or -1
	category      string // of an operation of a TPU
	source        string // file and line of the program
	group         string // of a step, its number
	stepName      string // of the program, with a number

	flops, model, bytes int64  // of a run, as XLA states them; -1 if it does not
	hbm                 int64  // the part of bytes in the memory of the device; -1 if it is not stated
	operands            string // their type, by the text of the instruction; "" if it is not a narrow one

	memory allocation
}

// plane reads one plane.
func (r *reader) plane(b []byte) {
	p := plane{events: map[int64]*eventKind{}, stats: map[int64]string{}}
	whole := protoscan.Each(b, func(f protoscan.Field) {
		if f.Number > planeStat || f.Number >= planeName && !r.fits(f, true) {
			return
		}
		switch f.Number {
		case planeName:
			p.name = cut(f.Text)
		case planeLine:
			p.lines = append(p.lines, f.Text)
		case planeEvents:
			p.addEventKind(f.Text)
		case planeStats:
			p.addStatName(f.Text)
		case planeStat:
			p.own = append(p.own, f.Text)
		}
	})
	if !whole {
		r.damaged++
	}
	of := r.part(p.name)
	if of.kind == otherPart {
		return
	}
	r.eachLine(&p, func(l line) {
		if add := r.lane(of, l.id, l.name); add != nil {
			r.eachEvent(&p, &l, add)
		}
	})
	if r.finish(of); of.found && of.core < 0 {
		r.hardware(&p, of.device)
	}
}

// entry returns the key and the value of an element of a map.
func entry(b []byte) (key int64, value []byte) {
	protoscan.Each(b, func(f protoscan.Field) {
		switch f.Number {
		case metaKey:
			key = int64(f.Bits)
		case metaValue:
			value = f.Text
		}
	})
	return key, value
}

func (p *plane) addEventKind(b []byte) {
	key, value := entry(b)
	k := &eventKind{}
	shown := ""
	protoscan.Each(value, func(f protoscan.Field) {
		switch f.Number {
		case metaName:
			k.name = cut(f.Text)
		case metaDisplay:
			shown = cut(f.Text)
		case metaEventOwnStat:
			k.stats = append(k.stats, f.Text)
		}
	})
	k.operands = narrow(k.name)
	if shown != "" && (k.name == "" || k.name[0] == '%') { // else the name is the text of an instruction
		k.name = shown
	}
	p.events[key] = k
}

func (p *plane) addStatName(b []byte) {
	key, value := entry(b)
	protoscan.Each(value, func(f protoscan.Field) {
		if f.Number == metaName {
			p.stats[key] = cut(f.Text)
		}
	})
}

// eachLine calls f with each line of the plane.
func (r *reader) eachLine(p *plane, f func(line)) {
	for _, b := range p.lines {
		l := line{}
		whole := protoscan.Each(b, func(f protoscan.Field) {
			if (f.Number == lineID || f.Number == lineStart) && !r.fits(f, false) || f.Number == lineEvent && !r.fits(f, true) {
				return
			}
			switch f.Number {
			case lineID:
				l.id = int64(f.Bits)
			case lineName:
				l.name = cut(f.Text)
			case lineShown:
				if len(f.Text) > 0 {
					l.name = cut(f.Text)
				}
			case lineStart:
				l.start = int64(f.Bits)
			case lineEvent:
				l.events = append(l.events, f.Text)
			}
		})
		if !whole {
			r.damaged++
		}
		f(l)
	}
}

// latest is the latest time that is plausible: the years of a date fit, and sums of two times do not overflow.
const latest = math.MaxInt64 / 4

// eachEvent calls f with each event of a line. Events that only have a number of occurrences have no time.
func (r *reader) eachEvent(p *plane, l *line, f func(*event)) {
	for _, b := range l.events {
		r.events++
		var e event
		var meta, offset, duration, count int64
		var stats [][]byte
		typed := true
		whole := protoscan.Each(b, func(f protoscan.Field) {
			typed = typed && (f.Number > eventCount || (f.Number == eventStat) == (f.Type == protoscan.Bytes))
			switch f.Number {
			case eventMeta:
				meta = int64(f.Bits)
			case eventOffset:
				offset = int64(f.Bits)
			case eventDuration:
				duration = int64(f.Bits)
			case eventCount:
				count = int64(f.Bits)
			case eventStat:
				stats = append(stats, f.Text)
			}
		})
		if count > 0 && duration == 0 {
			continue
		}
		if !whole || !typed || duration < 0 || offset < -latest || offset > latest || l.start < 0 || l.start > latest || duration > 1000*trace.MaxDuration {
			r.damaged++
			continue
		}
		kind := p.kind(meta)
		e.name, e.facts = kind.name, *kind.facts
		end := l.start + rounded(offset+duration)
		e.start = l.start + rounded(offset)
		e.dur = end - e.start
		for _, s := range stats { // these win
			p.fact(s, &e.facts)
		}
		f(&e)
	}
}

// kind returns what events of a number have in common.
func (p *plane) kind(number int64) *eventKind {
	k := p.events[number]
	if k == nil {
		k = &eventKind{}
		p.events[number] = k
	}
	if k.facts == nil {
		k.facts = noFacts(k.operands)
		for _, s := range k.stats {
			p.fact(s, k.facts)
		}
	}
	return k
}

// rounded returns picoseconds as nanoseconds.
func rounded(ps int64) int64 {
	if ps < 0 {
		return -rounded(-ps)
	}
	return (ps + 500) / 1000
}

// stat returns the name of a stat, its number and its text.
func (p *plane) stat(b []byte) (name string, n int64, text string) {
	protoscan.Each(b, func(f protoscan.Field) {
		switch f.Number {
		case statMeta:
			name = p.stats[int64(f.Bits)]
		case statUnsigned, statSigned:
			n = int64(f.Bits)
		case statDouble:
			if v := math.Float64frombits(f.Bits); v >= 0 && v < 1<<62 {
				n = int64(v)
			}
		case statText, statBytes:
			text = cut(f.Text)
		case statRef:
			text = p.stats[int64(f.Bits)]
		}
	})
	return name, n, text
}

// fact takes a stat that is used.
func (p *plane) fact(b []byte, f *facts) {
	f.set(p.stat(b))
}

// set takes a property that is used.
func (f *facts) set(name string, n int64, text string) {
	switch name {
	case "correlation_id":
		f.correlation = n
	case "hlo_op":
		if at := strings.LastIndex(text, "::"); at >= 0 { // the innermost comes last
			text = text[at+2:]
		}
		f.hlo = text
	case "tf_op":
		f.tf = text
	case "annotation":
		f.note, _, _ = strings.Cut(text, "#")
	case "kernel_details", "memcpy_details", "Memset_details", "memset_details":
		f.details = text
	case "flops":
		f.flops = max(0, n)
	case "model_flops":
		f.model = max(0, n)
	case "bytes_accessed":
		f.bytes = max(0, n)
	case "memory_access_breakdown":
		f.hbm = bytesInMemory(text)
	case "source":
		f.source = text
	case "hlo_category":
		f.category = text
	case "step_num":
		f.step = n
	case "group_id":
		f.group = text
	case "step_name":
		f.stepName = text
	case "cuda_graph_id":
		f.graph = n
	default:
		f.memory.set(name, n, text)
	}
}

// operator returns what the program calls the work.
func (f *facts) operator() string {
	switch {
	case f.hlo != "":
		return f.hlo
	case f.note != "":
		return f.note
	}
	return ""
}
