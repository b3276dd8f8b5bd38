package eventscan

import (
	"bytes"
	"encoding/binary"
	"unsafe"

	"assay/internal/jsonscan"
)

// learn lexes the stretch at b[i] and makes it a kid of n. It returns nil if
// the stretch is unusual or the trie is full.
func (m *Memo) learn(n *node, b []byte, i int) *node {
	if m.nodes == maxNodes || len(n.kids) == maxKids {
		return nil
	}
	x := lexer{
		b: b, i: i, start: i, level: max(1, n.level), head: n.head,
		inside: n.bytes == "", fix: len(n.kids) < maxFixed, kid: m.spareNode(),
	}
	x.head.fresh |= 1 << n.field & headSet
	kid := x.stretch()
	if kid == nil || kid.size > maxSize || !kid.matches(b, i) { // or too close to the block's end
		*x.kid = node{}
		return nil
	}
	m.decide(kid)
	m.spare = m.spare[1:]
	m.nodes++
	n.add(kid)
	return kid
}

// decide completes a new node: how the value after it is read, or the head of a
// complete event.
func (m *Memo) decide(kid *node) {
	h := &kid.head
	known := h.sets.Has(Phase) && h.sets.Has(Category)
	if m.Wants != nil && known {
		h.unwanted = ^(m.Wants(h.phase, h.texts[Category-firstText]) | 1<<Phase | 1<<Category | 1<<Args)
	}
	switch unread := h.unwanted.Has(kid.field); {
	case kid.kind == finish:
		if h.fresh&(1<<PID|1<<TID) == 0 {
			h.thread = m.threads.id(h.texts[PID-firstText], h.texts[TID-firstText])
		}
		if h.fresh&(1<<Phase|1<<Category) == 0 {
			h.class = m.classes.id([]byte{h.phase}, h.texts[Category-firstText])
		}
	case unread && (kid.kind == quoted || kid.kind == unwantedText):
		kid.kind = unwantedText // its quote is part of the stretch
	case unread:
		kid.kind = unwanted
	}
}

// spareNode returns an unused node, the first of spare. Nodes are allocated
// several at a time.
func (m *Memo) spareNode() *node {
	if len(m.spare) == 0 {
		m.spare = make([]node, 64)
	}
	return &m.spare[0]
}

// numbers assigns numbers from 1 on to pairs of texts.
type numbers map[[2]string]int

func (n *numbers) id(a, b []byte) int {
	if *n == nil {
		*n = make(numbers)
	}
	pair := [2]string{string(a), string(b)}
	if (*n)[pair] == 0 {
		(*n)[pair] = len(*n) + 1
	}
	return (*n)[pair]
}

// A lexer reads one stretch.
type lexer struct {
	b      []byte
	i      int
	start  int // of the stretch
	level  int
	inside bool // before the event, or just after the opening brace of its args
	fix    bool // values may become part of the stretch
	head   head // of the event so far
	fixed  []fixed
	kid    *node // to fill
}

// A fixed is a value that is part of a stretch.
type fixed struct {
	field Field
	at    jsonscan.Range // in the block
}

// stretch reads up to a value or to the event's end. It returns nil at anything
// unusual.
func (x *lexer) stretch() *node {
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
			return x.node(finish, FieldNone)
		case x.b[x.i] == '}':
			x.i++
			x.level, x.inside = 1, false
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
		case x.i < 0, (x.head.sets | x.head.fresh).Has(field):
			return nil // not a key, or a repeated one
		case field == Args && x.b[x.i] != '{':
			return nil
		case field == Args:
			x.head.sets |= 1 << Args
			x.i++
			x.level, x.inside = 2, true
		case x.mayFix(field) && x.i+maxValue >= len(x.b):
			return nil // the end of the block cuts the value off
		case !x.fixedValue(field):
			k := kindOf(field, x.b[x.i])
			if k == quoted || k == unwantedText {
				x.i++ // the quote is part of the stretch
			}
			return x.node(k, field)
		default:
			x.inside = false
		}
	}
}

// node makes a node from the bytes between start and the current position.
func (x *lexer) node(k kind, field Field) *node {
	n := x.kid
	n.kind, n.field, n.level, n.head = k, field, x.level, x.head
	n.size = x.i - x.start
	n.padded = (n.size + 7) &^ 7
	// One allocation serves as words, as bytes and as texts of values.
	n.words = make([]uint64, n.padded/8)
	memory := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(n.words))), n.padded)
	copy(memory, x.b[x.start:x.i])
	n.bytes = unsafe.String(unsafe.SliceData(memory), n.size)
	for _, v := range x.fixed {
		n.head.texts[v.field-firstText] = memory[v.at.Start-x.start : v.at.End-x.start : v.at.End-x.start]
	}
	var mask [8]byte
	for i := range mask[:8-(n.padded-n.size)] {
		mask[i] = 0xff
	}
	n.mask = binary.NativeEndian.Uint64(mask[:])
	return n
}

func (x *lexer) space() { x.i = jsonscan.Space(x.b, x.i) }

// key reads a key and its colon. It sets x.i to the index of the value, or to
// -1.
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

// mayFix reports whether values of a field may become part of the stretch.
func (x *lexer) mayFix(field Field) bool {
	return x.fix && x.level == 1 && headSet.Has(field)
}

// fixedValue makes the value at x.i part of the stretch if its field permits
// that.
func (x *lexer) fixedValue(field Field) bool {
	if !x.mayFix(field) {
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
	case val[0] != '"' && (field == Phase || !isInteger(val)):
		return false
	}
	x.head.sets |= 1 << field
	switch {
	case field == Phase:
		x.head.phase = textOf(val)[0]
	case val[0] == '"':
		x.fixed = append(x.fixed, fixed{field, jsonscan.Range{Start: x.i + 1, End: end - 1}})
	default:
		x.fixed = append(x.fixed, fixed{field, jsonscan.Range{Start: x.i, End: end}})
	}
	x.i = end
	return true
}

// isInteger reports whether a value consists of digits only. Threads are
// negative if a profiler wrote an address as a signed number.
func isInteger(val []byte) bool {
	if val[0] == '-' {
		val = val[1:]
	}
	return len(val) > 0 && bytes.IndexFunc(val, func(r rune) bool { return r < '0' || r > '9' }) < 0
}
