package eventscan

import (
	"unsafe"
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
	pid, tid    []byte
	noThread    bool // pid or tid is a value that is read afresh
	phase       byte
	category    []byte
	categorized bool     // category is known
	unwanted    FieldSet // what Wants leaves out
	confusing   bool     // phase or category came again after they were decided on
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
