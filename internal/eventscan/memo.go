package eventscan

import (
	"bytes"
	"encoding/binary"
	"unsafe"

	"assay/internal/jsonscan"
)

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
	root  node
	last  *node // the end of the event before
	nodes int
	// threads numbers the pairs of process and thread that are part of stretches.
	threads map[thread]int
}

// Limits of the trie. A trace of more shapes is read by Scan where it exceeds
// them, which is slower and no different.
const (
	maxNodes = 4096
	maxKids  = 40
	maxFixed = 32 // kids that have values in them
	maxValue = 40 // bytes of such a value
)

// A node is one stretch of bytes, up to a value or to the event's end.
type node struct {
	// How the bytes are recognised: eight at a time, and the last up to eight
	// through a mask.
	words     []uint64
	end, mask uint64
	room      int // bytes in words and end
	size      int

	likely *node // what followed last time: a kid or, behind an event, the next one's first
	kind   kind
	field  Field // of the value behind it
	level  int   // at its end: 1 for the event, 2 for its args
	plain  bool  // there is nothing of the next five
	fixed  []fixed
	phase  byte   // or 0
	sets   uint64 // 1<<Field for what is fixed
	opens  int    // where in it the brace that opens args is, or -1
	closes int    // where in it is what follows args, or -1

	thread thread // up to here
	number int    // of the thread, at an event's end: see Fields.Thread

	bytes string // empty for the root
	kids  []*node
	split int // the first index at which the bytes of two kids differ
	mark  int // its byte at its parent's split, or -1 if it ends before
}

// A fixed is a value that is part of a stretch.
type fixed struct {
	field Field
	text  []byte
}

// A thread is the process and thread of an event, as far as they are known
// without reading the event.
type thread struct {
	pid, tid string
	unknown  bool // one of them is a value that is read afresh
}

// A kind says what is behind a stretch.
type kind uint8

const (
	other    kind = iota // any value but these
	unwanted             // a value to skip
	integer
	textual
	quoted // a text behind its opening quote
	moment
	finish // the event's end
)

func kindOf(x Field) kind {
	switch {
	case x == FieldNone:
		return unwanted
	case x >= firstInt:
		return integer
	case x >= firstText && x < Grid:
		return textual
	case x == Start || x == Dur:
		return moment
	}
	return other
}

// Scan does what the function Scan does, with the help of what was met before.
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
					return Scan(b, start, f)
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
	case textual:
		return f.text(b, i, n.level, n.field)
	case unwanted:
		if n := digits(b, i); n > 0 && b[i+n] != '.' {
			return i + n, true
		} else if m := digits(b, i+n+1); n > 0 && m > 0 {
			return i + n + 1 + m, true
		}
		return skip(b, i, n.level)
	}
	return f.value(b, i, n.level, n.field)
}

// apply stores what is in the stretch n, which is at b[i]. Args began at the
// given index, if they did; apply returns where they began now.
func (n *node) apply(f *Fields, b []byte, i, args int) int {
	for _, v := range n.fixed {
		f.texts[v.field-firstText] = v.text
	}
	if f.set |= n.sets; n.phase != 0 {
		f.phase = n.phase
	}
	if n.opens >= 0 {
		args = i + n.opens
		f.set &^= argSet
	}
	if n.closes >= 0 {
		f.args = b[args : i+n.closes]
		f.set |= 1 << Args
	}
	return args
}

// is reports whether the bytes of n are at b[i]. It needs them and up to seven
// more to be there.
func (n *node) is(b []byte, i int) bool {
	if i+n.room > len(b) {
		return false
	}
	// Behind the check above, the bounds of each word need no check of their own.
	p := unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i)
	for _, word := range n.words {
		if *(*uint64)(p) != word {
			return false
		}
		p = unsafe.Add(p, 8)
	}
	return (*(*uint64)(p)^n.end)&n.mask == 0
}

// find returns the kid of n whose bytes are at b[i], or nil. It moves a kid
// that is not the first one place forward, so frequent ones come first.
func (n *node) find(b []byte, i int) *node {
	if i+n.split >= len(b) {
		return nil
	}
	mark := int(b[i+n.split])
	for k, kid := range n.kids {
		if kid.mark != mark && kid.mark >= 0 || !kid.is(b, i) {
			continue
		}
		if k > 0 {
			n.kids[k-1], n.kids[k] = kid, n.kids[k-1]
		}
		return kid
	}
	return nil
}

// add makes kid a kid of n, and finds the byte that best tells its kids apart.
func (n *node) add(kid *node) {
	if len(n.kids) == 0 {
		n.split = kid.size - 1
	}
	for _, k := range n.kids {
		same := 0
		for same < min(k.size, kid.size) && k.bytes[same] == kid.bytes[same] {
			same++
		}
		n.split = min(n.split, same)
	}
	n.kids = append(n.kids, kid)
	for _, k := range n.kids {
		if k.mark = -1; n.split < k.size {
			k.mark = int(k.bytes[n.split])
		}
	}
}

// learn lexes the stretch at b[i] and makes it a kid of n. It returns nil if
// the stretch is not as usual or the trie is full.
func (m *Memo) learn(n *node, b []byte, i int) *node {
	if m.nodes == maxNodes || len(n.kids) == maxKids {
		return nil
	}
	x := lexer{b: b, i: i, level: max(1, n.level), inside: n.bytes == "", fix: len(n.kids) < maxFixed}
	kid := x.stretch()
	if kid == nil || !kid.is(b, i) { // too close to the block's end to be compared
		return nil
	}
	m.nodes++
	n.add(kid)
	kid.thread = n.thread
	if n.field == PID || n.field == TID {
		kid.thread.unknown = true
	}
	for _, v := range kid.fixed {
		switch v.field {
		case PID:
			kid.thread.pid = string(v.text)
		case TID:
			kid.thread.tid = string(v.text)
		}
	}
	if kid.kind == finish && !kid.thread.unknown {
		kid.number = m.numberOf(kid.thread)
	}
	return kid
}

func (m *Memo) numberOf(t thread) int {
	if m.threads == nil {
		m.threads = make(map[thread]int)
	}
	if m.threads[t] == 0 {
		m.threads[t] = len(m.threads) + 1
	}
	return m.threads[t]
}

// A lexer reads one stretch.
type lexer struct {
	b      []byte
	i      int
	level  int
	inside bool // at an opening brace of the event or just behind that of args
	fix    bool // values may become part of the stretch
}

// stretch reads up to a value or to the event's end, and returns nil at
// anything unusual.
func (x *lexer) stretch() *node {
	n := &node{opens: -1, closes: -1}
	start := x.i
	if x.inside {
		x.i++ // the event's brace; of args it comes by below
	}
	for {
		x.space()
		switch {
		case x.i >= len(x.b):
			return nil
		case x.b[x.i] == '}' && x.level == 1:
			x.i++
			return n.with(x, start, finish)
		case x.b[x.i] == '}' && n.closes < 0:
			x.i++
			x.level, x.inside = 1, false
			n.closes = x.i - start
			continue
		case !x.inside && x.b[x.i] == ',':
			x.i++
			if x.space(); x.i < len(x.b) && x.b[x.i] == '}' {
				continue // a comma before the end
			}
		case !x.inside:
			return nil
		}
		field := x.key()
		switch {
		case x.i < 0:
			return nil
		case field == Args && x.b[x.i] == '{' && n.opens < 0 && n.closes < 0:
			n.opens = x.i - start
			x.i++
			x.level, x.inside = 2, true
		case field == Args:
			return nil // no object, or twice in one stretch
		case !x.fixedValue(n, field):
			n.field = field
			if k := kindOf(field); k != textual || x.b[x.i] != '"' {
				return n.with(x, start, k)
			}
			x.i++ // the quote is part of the stretch
			return n.with(x, start, quoted)
		default:
			x.inside = false
		}
	}
}

// with completes n with the bytes that x has read since start.
func (n *node) with(x *lexer, start int, k kind) *node {
	n.level, n.kind = x.level, k
	n.plain = n.sets == 0 && n.opens < 0 && n.closes < 0
	n.bytes, n.size = string(x.b[start:x.i]), x.i-start
	n.room = (n.size + 7) &^ 7
	words := func(b []byte) (ws []uint64) {
		for b = append(b, make([]byte, n.room-n.size)...); len(b) > 0; b = b[8:] {
			ws = append(ws, binary.NativeEndian.Uint64(b))
		}
		return ws
	}
	last := n.room/8 - 1
	n.words, n.end = words([]byte(n.bytes))[:last], words([]byte(n.bytes))[last]
	n.mask = words(bytes.Repeat([]byte{0xff}, n.size))[last]
	return n
}

func (x *lexer) space() { x.i = jsonscan.Space(x.b, x.i) }

// key reads a key and its colon, and leaves x.i at the value or at -1.
func (x *lexer) key() Field {
	start := x.i + 1
	if start+16 > len(x.b) || x.b[x.i] != '"' {
		x.i = -1
		return FieldNone
	}
	end := quote(x.b, start)
	if end+16 > len(x.b) || x.b[end] != '"' {
		x.i = -1
		return FieldNone
	}
	keys := memberTable
	if x.level == 2 {
		keys = argTable
	}
	x.i = colon(x.b, end+1)
	return keys.find(x.b, start, end)
}

// fixedValue reads the value at x.i into n if it is one of those that become
// part of a stretch.
func (x *lexer) fixedValue(n *node, field Field) bool {
	if !x.fix || x.level != 1 || field != Phase && field != Category && field != PID && field != TID {
		return false
	}
	end, err := jsonscan.Skip(x.b, x.i)
	if err != nil || end-x.i > maxValue {
		return false
	}
	val := x.b[x.i:end]
	switch {
	case val[0] == '"' && field == Phase && len(val) != 3, val[0] == '"' && quote(x.b, x.i+1) != end-1:
		return false
	case val[0] != '"' && (field == Phase || val[0] < '0' || val[0] > '9'):
		return false
	}
	n.sets |= 1 << field
	if field == Phase {
		n.phase = textOf(val)[0]
	} else {
		n.fixed = append(n.fixed, fixed{field, append([]byte(nil), textOf(val)...)})
	}
	x.i = end
	return true
}
