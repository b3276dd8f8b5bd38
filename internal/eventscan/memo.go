package eventscan

import "assay/internal/jsonscan"

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
	nodes int
}

// Limits of the trie. A trace of more shapes is read by Scan where it exceeds
// them, which is slower and no different.
const (
	maxNodes = 4096
	maxKids  = 24
	maxFixed = 8  // kids that have values in them
	maxValue = 40 // bytes of such a value
)

// A node is one stretch of bytes, up to a value or to the event's end.
type node struct {
	bytes string // empty for the root
	level int    // at its end: 1 for the event, 2 for its args
	kids  []*node
	split int // the first index at which the bytes of two kids differ
	mark  int // its byte at its parent's split, or -1 if it ends before

	fixed  []fixed // the values in it
	opens  int     // where in it the brace that opens args is, or -1
	closes int     // where in it is what follows args, or -1
	last   bool    // it ends with the brace that closes the event
	field  Field   // else: of the value behind it
}

// A fixed is a value that is part of a stretch.
type fixed struct {
	field Field
	text  []byte
}

// Scan does what the function Scan does, with the help of what was met before.
func (m *Memo) Scan(b []byte, i int, f *Fields) (end int, ok bool) {
	f.set = 0
	start, args := i, 0
	for at := &m.root; ; {
		next := at.match(b, i)
		if next == nil {
			if next = m.learn(at, b, i); next == nil {
				return Scan(b, start, f)
			}
		}
		for _, v := range next.fixed {
			f.set |= 1 << v.field
			if v.field == Phase {
				f.phase = v.text[0]
			} else {
				f.texts[v.field-firstText] = v.text
			}
		}
		if next.opens >= 0 {
			args = i + next.opens
			f.set &^= argSet
		}
		if next.closes >= 0 {
			f.args = b[args : i+next.closes]
			f.set |= 1 << Args
		}
		i += len(next.bytes)
		if next.last {
			return i, true
		}
		if i, ok = f.value(b, i, next.level, next.field); !ok || i >= len(b) {
			return i, false
		}
		at = next
	}
}

// match returns the kid of n whose bytes are at b[i], or nil. It moves a kid
// that is not the first one place forward, so frequent ones come first.
func (n *node) match(b []byte, i int) *node {
	if i+n.split >= len(b) {
		return nil
	}
	mark := int(b[i+n.split])
	for k, kid := range n.kids {
		if kid.mark != mark && kid.mark >= 0 {
			continue
		}
		end := i + len(kid.bytes)
		if end >= len(b) || string(b[i:end]) != kid.bytes {
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
		n.split = len(kid.bytes) - 1
	}
	for _, k := range n.kids {
		same := 0
		for same < min(len(k.bytes), len(kid.bytes)) && k.bytes[same] == kid.bytes[same] {
			same++
		}
		n.split = min(n.split, same)
	}
	n.kids = append(n.kids, kid)
	for _, k := range n.kids {
		if k.mark = -1; n.split < len(k.bytes) {
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
	if kid != nil {
		m.nodes++
		n.add(kid)
	}
	return kid
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
			n.last = true
			return n.with(x, start)
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
			return n.with(x, start)
		default:
			x.inside = false
		}
	}
}

// with completes n with the bytes that x has read since start.
func (n *node) with(x *lexer, start int) *node {
	n.level, n.bytes = x.level, string(x.b[start:x.i])
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
	n.fixed = append(n.fixed, fixed{field, append([]byte(nil), textOf(val)...)})
	x.i = end
	return true
}
