package eventscan

import (
	"unsafe"
)

// A node is one stretch of bytes, up to a value or to the event's end.
type node struct {
	// The bytes are compared eight at a time; the last up to eight are compared
	// through a mask.
	words  []uint64 // enough words for padded bytes
	mask   uint64   // of the last word
	padded int      // size, rounded up to whole words
	size   int

	likely *node // the node that followed last time: a kid or, after an event's end, the first node of the next event
	kind   kind
	field  Field // of the value after the node
	level  int   // at its end: 1 for the event, 2 for its args
	head   head  // of the event so far

	bytes string // empty for the root
	kids  []*node
	split int // the first index at which the bytes of two kids differ
	mark  int // the kid's byte at its parent's split, or -1 if the kid is shorter
}

// A head has the values that are part of the stretches up to a node.
type head struct {
	sets     FieldSet // the fields in it: of headSet and Args
	phase    byte
	texts    [TID + 1 - firstText][]byte
	fresh    FieldSet // of headSet: fields that are read as a value instead
	unwanted FieldSet // fields that Wants leaves out
	thread   int      // at an event's end: see Fields.Thread
	class    int      // at an event's end: see Fields.Class
}

// A kind defines what follows a stretch.
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

// kindOf returns the kind of a value of field x that starts with c.
func kindOf(x Field, c byte) kind {
	switch {
	case x == FieldNone && c == '"':
		return unwantedText
	case x == FieldNone:
		return unwanted
	case x >= firstText && x < Grid && c == '"':
		return quoted
	case x >= firstInt:
		return integer
	case x == Start || x == Dur:
		return moment
	}
	return other
}

// matches reports whether the bytes of n are at b[i]. It returns false unless up to
// eight more bytes follow them, at least one for the value.
func (n *node) matches(b []byte, i int) bool {
	if i+n.padded >= len(b) {
		return false
	}
	// After the check above, the accesses need no bounds checks.
	p, q := unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i), unsafe.Pointer(unsafe.SliceData(n.words))
	last := n.padded - 8
	for at := 0; at < last; at += 8 {
		if *(*uint64)(unsafe.Add(p, at)) != *(*uint64)(unsafe.Add(q, at)) {
			return false
		}
	}
	return (*(*uint64)(unsafe.Add(p, last))^*(*uint64)(unsafe.Add(q, last)))&n.mask == 0
}

// find returns the kid of n whose bytes are at b[i], or nil. It moves a kid
// that is not the first one position forward, so that frequent kids come first.
func (n *node) find(b []byte, i int) *node {
	if i+n.split >= len(b) {
		return nil
	}
	mark := int(b[i+n.split])
	for k, kid := range n.kids {
		if kid.mark != mark && kid.mark >= 0 || !kid.matches(b, i) {
			continue
		}
		if k > 0 {
			n.kids[k-1], n.kids[k] = kid, n.kids[k-1]
		}
		return kid
	}
	return nil
}

// add makes kid a kid of n, and chooses the byte that best distinguishes the
// kids of n.
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
