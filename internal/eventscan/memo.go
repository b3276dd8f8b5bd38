package eventscan

// A Memo scans events by remembering the bytes between their values.
//
// A profiler writes millions of events in a few dozen shapes: the same keys in
// the same order with the same white space. The bytes from the end of one value
// to the start of the next, such as `,\n    "dur": `, are therefore nearly
// always ones that were met before at the same place. A Memo lexes such a
// stretch once and keeps it as a node of a trie, whose path from the root is
// the event so far; afterwards it is recognised by one comparison.
//
// This is exact, not a guess: the same bytes in the same state of the lexer
// give the same tokens. Values are read afresh every time, but for the short
// ones of which there are few (phase, category, process, thread), which are
// part of the stretch: `, "pid": 10, "tid": 10,\n    "ts": ` is one.
//
// The zero Memo is ready to use. It is not safe for concurrent use.
type Memo struct {
	// Wants says which fields of the events of a phase and category are read.
	// The others are passed over, where phase and category stand before them;
	// what is left unread depends on how the event is written, so it must not
	// matter. Nil wants all.
	Wants func(phase byte, category []byte) FieldSet

	root    node
	last    *node // the end of the event before
	nodes   int
	spare   []node            // not used yet
	threads map[[2]string]int // the numbers of process and thread: see Fields.Thread
}

// Limits of the trie. A trace of more shapes is read by Scan where it exceeds
// them, which is slower and no different.
const (
	maxNodes = 4096
	maxSize  = 1024 // bytes of a stretch
	maxKids  = 40
	maxFixed = 32 // kids that have values in them
	maxValue = 40 // bytes of such a value
)

// Scan does what the function Scan does, with the help of what was met before.
// The event may have a [Gap] before it, which becomes part of its first stretch.
func (m *Memo) Scan(b []byte, i int, f *Fields) (end int, ok bool) {
	f.set, f.thread = 0, 0
	start, args := i, 0
	at, before := &m.root, m.last
	if before == nil {
		before = at
	}
	for {
		next := before.likely
		if next == nil || !next.is(b, i) {
			if next = at.find(b, i); next == nil {
				if next = m.learn(at, b, i); next == nil {
					return scanBehind(b, start, f)
				}
			}
			before.likely = next
		}
		if !next.plain {
			args = next.apply(f, b, i, args)
		}
		i += next.size
		if next.kind == finish {
			m.last, f.thread = next, next.number
			return i, true
		}
		if i, ok = next.value(f, b, i); !ok {
			return i, false
		}
		at, before = next, next
	}
}

// scanBehind scans the event behind the gap at b[i].
func scanBehind(b []byte, i int, f *Fields) (end int, ok bool) {
	if i = Gap(b, i); i >= len(b) || b[i] != '{' {
		return i, false
	}
	return Scan(b, i, f)
}

// value reads the value behind n, which is at b[i], and returns the index
// behind it. What ends a short number need not be looked at: only what may
// follow a value is the start of a stretch.
func (n *node) value(f *Fields, b []byte, i int) (end int, ok bool) {
	switch n.kind {
	case integer:
		if v, digits := shortNumber(b, i); digits > 0 {
			f.ints[n.field-firstInt] = v
			f.set |= 1 << n.field
			return i + digits, true
		}
		return f.int(b, i, n.field)
	case moment:
		f.times[n.field-Start], end, ok = micros(b, i)
		f.set |= 1 << n.field
		return end, ok
	case quoted:
		if end = quote(b, i); end >= len(b) || b[end] != '"' {
			return end, false
		}
		f.texts[n.field-firstText] = b[i:end]
		f.set |= 1 << n.field
		return end + 1, true
	case unwantedText:
		if end = quote(b, i); end >= len(b) || b[end] != '"' {
			return end, false
		}
		return end + 1, true
	case unwanted:
		if n := digits(b, i); n > 0 { // most are short
			if end = i + n; b[end] != '.' {
				return end, true
			}
			if n = digits(b, end+1); n > 0 {
				return end + 1 + n, true
			}
		}
		if end = decimalEnd(b, i); end > i {
			return end, true
		}
		return skip(b, i, n.level)
	}
	return f.value(b, i, n.level, n.field)
}
