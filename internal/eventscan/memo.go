package eventscan

import "assay/internal/jsonscan"

// A Memo scans events and remembers the bytes between their values.
//
// A profiler writes millions of events in a few dozen shapes: the same keys in
// the same order with the same white space. The bytes from the end of one value
// to the start of the next, such as `,\n    "dur": `, have therefore nearly
// always been seen before at the same place. A Memo lexes such a stretch once
// and stores it as a node of a trie, whose path from the root is the event so
// far; afterwards one comparison recognizes it.
//
// The result is exact: the same bytes in the same state of the lexer give the
// same tokens. Values are read for every event, except short values with few
// variants (phase, category, process, thread), which are part of the stretch:
// `, "pid": 10, "tid": 10,\n    "ts": ` is one.
//
// The zero Memo is ready to use. It is not safe for concurrent use.
type Memo struct {
	// Wants returns the fields that are read from events of a phase and
	// category. Other fields are skipped if phase and category precede them.
	// Which fields are skipped depends on how the event is written, so the
	// caller must not use them. Nil wants all.
	Wants func(phase byte, category []byte) FieldSet

	root    node
	last    *node // the end of the event before
	nodes   int
	spare   []node  // not used yet
	threads numbers // of process and thread
	classes numbers // of phase and category
}

// Limits of the trie. If a trace has more shapes, Scan reads the other events,
// which is slower and gives the same result.
const (
	maxNodes = 4096
	maxSize  = 1024 // bytes of a stretch
	maxKids  = 40
	maxFixed = 32 // kids that contain values
	maxValue = 40 // bytes of such a value
)

// Scan does the same as the function Scan and uses the stretches seen before. A
// [Gap] before the event becomes part of its first stretch.
func (m *Memo) Scan(b []byte, i int, f *Fields) (end int, ok bool) {
	f.set, f.head = 0, nil
	start := i
	at, before := &m.root, m.last
	if before == nil {
		before = at
	}
	for {
		next := before.likely
		if next == nil || !next.matches(b, i) {
			if next = at.find(b, i); next == nil {
				if next = m.learn(at, b, i); next == nil {
					return scanBehind(b, start, f)
				}
			}
			before.likely = next
		}
		i += next.size
		switch next.kind {
		case finish:
			m.last = next
			f.useHead(&next.head)
			return i, true
		case integer:
			// The byte that ends the number is not checked here: only a byte
			// that may follow a value is the start of a stretch.
			if v, digits := shortNumber(b, i); digits > 0 {
				f.ints[next.field-firstInt] = v
				f.set |= 1 << next.field
				i += digits
			} else if i, ok = f.int(b, i, next.field); !ok {
				return i, false
			}
		case moment:
			if f.times[next.field-Start], i, ok = micros(b, i); !ok {
				return i, false
			}
			f.set |= 1 << next.field
		case quoted:
			end := quote(b, i)
			if end >= len(b) || b[end] != '"' {
				return end, false
			}
			f.texts[next.field-firstText] = b[i:end]
			f.set |= 1 << next.field
			i = end + 1
		case unwantedText:
			if i, ok = passText(b, i); !ok {
				return i, false
			}
		case unwanted:
			if i, ok = pass(b, i, next.level); !ok {
				return i, false
			}
		default:
			if i, ok = f.value(b, i, next.level, next.field); !ok {
				return i, false
			}
		}
		at, before = next, next
	}
}

// scanBehind scans the event after the gap at b[i].
func scanBehind(b []byte, i int, f *Fields) (end int, ok bool) {
	if i = Gap(b, i); i >= len(b) || b[i] != '{' {
		return i, false
	}
	return Scan(b, i, f)
}

// pass skips an unwanted value at b[i] at the given level. Most values are
// numbers.
func pass(b []byte, i, level int) (end int, ok bool) {
	if n := digits(b, i); n > 0 { // and short
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
	return skip(b, i, level)
}

// passText skips the rest of a string, of which b[i] is the first byte.
func passText(b []byte, i int) (end int, ok bool) {
	if end = quote(b, i); end < len(b) && b[end] == '"' {
		return end + 1, true
	}
	end, err := jsonscan.String(b, i-1)
	return end, err == nil
}
