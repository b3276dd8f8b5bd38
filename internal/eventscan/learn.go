package eventscan

import (
	"encoding/binary"
	"unsafe"

	"assay/internal/jsonscan"
)

// learn lexes the stretch at b[i] and makes it a kid of n. It returns nil if
// the stretch is not as usual or the trie is full.
func (m *Memo) learn(n *node, b []byte, i int) *node {
	if m.nodes == maxNodes || len(n.kids) == maxKids {
		return nil
	}
	x := lexer{m: m, b: b, i: i, level: max(1, n.level), inside: n.bytes == "", fix: len(n.kids) < maxFixed}
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

// newNode returns a node to fill. Nodes are made several at a time.
func (m *Memo) newNode() *node {
	if len(m.spare) == 0 {
		m.spare = make([]node, 64)
	}
	n := &m.spare[0]
	m.spare = m.spare[1:]
	n.opens, n.closes = -1, -1
	return n
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
		switch v.field {
		case PID:
			p.pid = v.text
		case TID:
			p.tid = v.text
		case Category:
			p.category, p.categorized = v.text, true
		}
	}
	if m.Wants != nil && p.phase != 0 && p.categorized {
		p.unwanted = ^(m.Wants(p.phase, p.category) | 1<<Phase | 1<<Category | 1<<Args)
	}
	return p
}

func (m *Memo) threadNumber(pid, tid []byte) int {
	if m.threads == nil {
		m.threads = make(map[[2]string]int)
	}
	if n := m.threads[[2]string{string(pid), string(tid)}]; n != 0 {
		return n
	}
	n := len(m.threads) + 1
	m.threads[[2]string{string(pid), string(tid)}] = n
	return n
}

// A lexer reads one stretch.
type lexer struct {
	m      *Memo
	b      []byte
	i      int
	level  int
	inside bool             // before the event, or just behind the brace that opens its args
	fix    bool             // values may become part of the stretch
	texts  []jsonscan.Range // of the values in the stretch, in b
}

// stretch reads up to a value or to the event's end, and returns nil at
// anything unusual.
func (x *lexer) stretch() *node {
	n := x.m.newNode()
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
	n.size = x.i - start
	n.room = (n.size + 7) &^ 7
	// One piece of memory serves as words, as bytes and as texts of values.
	n.words = make([]uint64, n.room/8)
	memory := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(n.words))), n.room)
	copy(memory, x.b[start:x.i])
	n.bytes = unsafe.String(unsafe.SliceData(memory), n.size)
	for i, at := range x.texts {
		n.fixed[i].text = memory[at.Start-start : at.End-start : at.End-start]
	}
	var mask [8]byte
	for i := range mask[:8-(n.room-n.size)] {
		mask[i] = 0xff
	}
	n.mask = binary.NativeEndian.Uint64(mask[:])
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
		if n.fixed == nil {
			n.fixed = make([]fixed, 0, 3)
		}
		at := jsonscan.Range{Start: x.i, End: end}
		if val[0] == '"' {
			at = jsonscan.Range{Start: x.i + 1, End: end - 1}
		}
		n.fixed, x.texts = append(n.fixed, fixed{field: field}), append(x.texts, at)
	}
	x.i = end
	return true
}
