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
	// Wants says which fields of the events of a phase and category are read.
	// The others are passed over, where phase and category stand before them;
	// what is left unread depends on how the event is written, so it must not
	// matter. Nil wants all.
	Wants func(phase byte, category []byte) FieldSet

	root    node
	last    *node // the end of the event before
	nodes   int
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

// A node is one stretch of bytes, up to a value or to the event's end.
type node struct {
	// How the bytes are recognised: eight at a time, and the last up to eight
	// through a mask.
	words []uint64 // as many as there are bytes in room
	mask  uint64   // of the last word
	room  int      // size, rounded up to whole words
	size  int

	likely *node // what followed last time: a kid or, behind an event, the next one's first
	kind   kind
	field  Field // of the value behind it
	level  int   // at its end: 1 for the event, 2 for its args
	plain  bool  // there is nothing of the next five
	fixed  []fixed
	phase  byte     // or 0
	sets   FieldSet // what is fixed
	opens  int      // where in it the brace that opens args is, or -1
	closes int      // where in it is what follows args, or -1

	path   path
	number int // at an event's end: see Fields.Thread

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

// A path is what the stretches up to a node say about the event.
type path struct {
	pid, tid  string
	noThread  bool // pid or tid is a value that is read afresh
	phase     byte
	category  *string
	unwanted  FieldSet // what Wants leaves out
	confusing bool     // phase or category came again after they were decided on
}

// A kind says what is behind a stretch.
type kind uint8

const (
	other kind = iota // any value but these
	integer
	moment
	unwanted     // a value to skip
	unwantedText // a text to skip, behind its opening quote
	quoted       // a text behind its opening quote
	finish       // the event's end
)

func kindOf(x Field) kind {
	switch {
	case x == FieldNone:
		return unwanted
	case x >= firstInt:
		return integer
	case x == Start || x == Dur:
		return moment
	}
	return other
}

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

// is reports whether the bytes of n are at b[i]. It needs them and up to eight
// more to be there: at least one, for the value behind them.
func (n *node) is(b []byte, i int) bool {
	if i+n.room >= len(b) {
		return false
	}
	// Behind the check above, the bounds of each word need no check of their own.
	p, q := unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i), unsafe.Pointer(unsafe.SliceData(n.words))
	last := n.room - 8
	for at := 0; at < last; at += 8 {
		if *(*uint64)(unsafe.Add(p, at)) != *(*uint64)(unsafe.Add(q, at)) {
			return false
		}
	}
	return (*(*uint64)(unsafe.Add(p, last))^*(*uint64)(unsafe.Add(q, last)))&n.mask == 0
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
	if kid == nil || kid.size > maxSize || !kid.is(b, i) { // or too close to the block's end
		return nil
	}
	kid.path = m.follow(n, kid)
	if kid.path.confusing {
		return nil
	}
	switch unread := kid.path.unwanted.Has(kid.field); {
	case kid.kind == finish && !kid.path.noThread:
		kid.number = m.threadNumber(kid.path.pid, kid.path.tid)
	case kid.kind == quoted && unread:
		kid.kind = unwantedText
	case kid.kind != finish && unread:
		kid.kind = unwanted
	}
	m.nodes++
	n.add(kid)
	return kid
}

// follow returns the path that ends with kid, a new kid of n.
func (m *Memo) follow(n, kid *node) path {
	p := n.path
	p.noThread = p.noThread || n.field == PID || n.field == TID
	p.confusing = p.unwanted != 0 && kid.sets&(1<<Phase|1<<Category) != 0
	if kid.sets&(1<<Phase) != 0 {
		p.phase = kid.phase
	}
	for _, v := range kid.fixed {
		text := string(v.text)
		switch v.field {
		case PID:
			p.pid = text
		case TID:
			p.tid = text
		case Category:
			p.category = &text
		}
	}
	if m.Wants != nil && p.phase != 0 && p.category != nil {
		p.unwanted = ^(m.Wants(p.phase, []byte(*p.category)) | 1<<Phase | 1<<Category | 1<<Args)
	}
	return p
}

func (m *Memo) threadNumber(pid, tid string) int {
	if m.threads == nil {
		m.threads = make(map[[2]string]int)
	}
	key := [2]string{pid, tid}
	if m.threads[key] == 0 {
		m.threads[key] = len(m.threads) + 1
	}
	return m.threads[key]
}

// A lexer reads one stretch.
type lexer struct {
	b      []byte
	i      int
	level  int
	inside bool // before the event, or just behind the brace that opens its args
	fix    bool // values may become part of the stretch
}

// stretch reads up to a value or to the event's end, and returns nil at
// anything unusual.
func (x *lexer) stretch() *node {
	n := &node{opens: -1, closes: -1}
	start := x.i
	if x.inside { // at the event; args are entered below
		if x.i = Gap(x.b, x.i); x.i >= len(x.b) || x.b[x.i] != '{' {
			return nil
		}
		x.i++
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
			if field < firstText || field >= Grid || x.b[x.i] != '"' {
				return n.with(x, start, kindOf(field))
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
	n.words = words([]byte(n.bytes))
	n.mask = words(bytes.Repeat([]byte{0xff}, n.size))[n.room/8-1]
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
