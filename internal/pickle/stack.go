package pickle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
)

func (m *machine) push(v Value) error {
	if len(m.stack) == cap(m.stack) {
		if err := m.take(perValue * max(1, len(m.stack))); err != nil {
			return err
		}
	}
	m.stack = append(m.stack, v)
	return nil
}

// floor returns the height below which the stack must not be popped: values below
// the last mark belong to containers that are still open.
func (m *machine) floor() int {
	if n := len(m.marks); n > 0 {
		return m.marks[n-1]
	}
	return 0
}

func (m *machine) top() (Value, error) {
	if len(m.stack) <= m.floor() {
		return 0, errStack
	}
	return m.stack[len(m.stack)-1], nil
}

func (m *machine) pop() (Value, error) {
	v, err := m.top()
	if err == nil {
		m.stack = m.stack[:len(m.stack)-1]
	}
	return v, err
}

func (m *machine) popMark() (int, error) {
	n := len(m.marks)
	if n == 0 {
		return 0, errMark
	}
	from := m.marks[n-1]
	m.marks = m.marks[:n-1]
	return from, nil
}

func (m *machine) pushObject(kind Kind, items []Value) error {
	if err := m.take(perObject); err != nil {
		return err
	}
	return m.push(m.doc.newObject(kind, items))
}

func (m *machine) pushUint(size int) error {
	n, err := m.in.uint(size)
	return m.pushInt(int64(n), err)
}

func (m *machine) pushInt(n int64, err error) error {
	if err != nil {
		return err
	}
	v := m.doc.newInt(n)
	if v.tag() == tagWide {
		if err := m.take(2 * perValue); err != nil {
			return err
		}
	}
	return m.push(v)
}

func (m *machine) pushFloat(x float64, err error) error {
	if err == nil {
		err = m.take(2 * perValue)
	}
	if err != nil {
		return err
	}
	return m.push(m.doc.newFloat(x))
}

// text pushes a text of n bytes.
func (m *machine) text(n uint64, err error) error {
	if err != nil {
		return err
	}
	b, err := m.in.text(n, m.take)
	if err != nil {
		return err
	}
	return m.pushText(b)
}

func (m *machine) pushText(b []byte) error {
	before := len(m.doc.texts)
	v := m.doc.newText(b)
	if len(m.doc.texts) > before {
		if err := m.take(perText + len(b)); err != nil {
			return err
		}
	}
	return m.push(v)
}

// skipBytes pushes bytes, of which only the length is kept.
func (m *machine) skipBytes(n uint64, err error) error {
	if err != nil {
		return err
	}
	if err := errors.Join(m.take(2*perValue), m.in.skip(n)); err != nil {
		return err
	}
	m.doc.bytes = append(m.doc.bytes, int(min(n, math.MaxInt32)))
	return m.push(tagged(tagBytes, len(m.doc.bytes)-1))
}

// long pushes an int in two's complement, which follows its length. The length has
// size bytes.
func (m *machine) long(size int) error {
	n, err := m.in.uint(size)
	if err != nil {
		return err
	}
	if size == 4 && n > math.MaxInt32 {
		return fmt.Errorf("the length of a LONG4 is %d, want 0 or more", int32(n))
	}
	if n <= 8 {
		b, err := m.in.text(n, m.take)
		if err != nil {
			return err
		}
		var buf [8]byte
		if n > 0 && b[n-1]&0x80 != 0 {
			buf = [8]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
		}
		copy(buf[:], b)
		return m.pushInt(int64(binary.LittleEndian.Uint64(buf[:])), nil)
	}
	return m.huge(n)
}

// huge pushes an int of more than eight bytes. An int out of range becomes the
// largest or smallest int64.
func (m *machine) huge(n uint64) error {
	b, err := m.in.text(8, m.take)
	if err != nil {
		return err
	}
	low := int64(binary.LittleEndian.Uint64(b))
	if err := m.in.skip(n - 9); err != nil {
		return err
	}
	high, err := m.in.byte()
	if err != nil {
		return err
	}
	if n == 9 && (high == 0 && low >= 0 || high == 0xff && low < 0) {
		return m.pushInt(low, nil)
	}
	return m.pushInt(saturated(high&0x80 != 0), nil)
}

func saturated(negative bool) int64 {
	if negative {
		return math.MinInt64
	}
	return math.MaxInt64
}

// get pushes value n of the memo.
func (m *machine) get(n uint64, err error) error {
	if err != nil {
		return err
	}
	if n < uint64(m.memo.n) {
		return m.push(*m.memo.at(int(n)))
	}
	v, ok := m.sparse[n]
	if !ok {
		return fmt.Errorf("it asks for entry %d of the memo, which does not exist", n)
	}
	return m.push(v)
}

// put stores the top of the stack in the memo. Python writes consecutive numbers,
// which index a list. Others are in a map, because a single one may be large.
func (m *machine) put(n uint64, err error) error {
	if err != nil {
		return err
	}
	v, err := m.top()
	if err != nil {
		return err
	}
	switch {
	case n < uint64(m.memo.n):
		*m.memo.at(int(n)) = v
	case n == uint64(m.memo.n):
		if err := m.take(2 * perValue); err != nil {
			return err
		}
		m.memo.add(v)
	default:
		if m.sparse == nil {
			m.sparse = make(map[uint64]Value)
		}
		if err := m.take(8 * perValue); err != nil {
			return err
		}
		m.sparse[n] = v
	}
	return nil
}

// copied returns a copy of items.
func (m *machine) copied(items []Value) ([]Value, error) {
	if err := m.take(perValue * len(items)); err != nil || len(items) == 0 {
		return nil, err
	}
	if len(items) > chunkSize/8 {
		return append([]Value(nil), items...), nil
	}
	if len(m.chunk)+len(items) > cap(m.chunk) {
		m.chunk = make([]Value, 0, chunkSize)
	}
	from := len(m.chunk)
	m.chunk = append(m.chunk, items...)
	return m.chunk[from:len(m.chunk):len(m.chunk)], nil
}

// The lengths of lists that are compared with lists that were read before.
const (
	leastShared = 4
	mostShared  = 1024
	listBits    = 14
)

// shareItems looks for a list that was read before and has the given items. If there is one,
// it sets the items of an empty list to those of the found one and returns true. The stacks of
// a snapshot are lists, most of which occur thousands of times. Sharing is safe because the
// items have no spare capacity: appending to a list copies them.
func (m *machine) shareItems(list int, items []Value) bool {
	if len(items) < leastShared || len(items) > mostShared {
		return false
	}
	hash := uint64(len(items))
	for _, v := range items {
		hash = (hash ^ uint64(v)) * 0x9e3779b97f4a7c15
	}
	known := &m.lists[hash>>(64-listBits)]
	if first := int(*known) - 1; first >= 0 {
		if own := m.doc.objects.at(first).items; slices.Equal(own, items) {
			o := m.doc.objects.at(list)
			o.items, o.first = own[:len(own):len(own)], *known
			return true
		}
	}
	if list < math.MaxInt32 {
		*known = int32(list) + 1
	}
	return false
}

// add appends items to a container.
func (m *machine) add(to Value, want Kind, items []Value) error {
	kind := m.doc.Kind(to)
	switch {
	case kind != want:
		return fmt.Errorf("items are put into %v, want %v", kind, want)
	case kind == Dict && len(items)%2 != 0:
		return errors.New("a dict gets a key without a value")
	}
	o := m.doc.objects.at(to.index())
	if o.items == nil {
		if kind == List && m.shareItems(to.index(), items) {
			return nil
		}
		own, err := m.copied(items)
		o.items = own
		return err
	}
	if len(o.items)+len(items) > cap(o.items) {
		// Append grows the list by a quarter or more, and the old copy is garbage.
		if err := m.take(perValue * (len(items) + len(o.items)/2)); err != nil {
			return err
		}
	}
	o.items = append(o.items, items...)
	return nil
}

// addMarked moves the values above the mark into the container below it.
func (m *machine) addMarked(kind Kind) error {
	from, err := m.popMark()
	if err != nil {
		return err
	}
	if from <= m.floor() {
		return errStack
	}
	err = m.add(m.stack[from-1], kind, m.stack[from:])
	m.stack = m.stack[:from]
	return err
}

// addTop moves the top n values into the container below them.
func (m *machine) addTop(kind Kind, n int) error {
	from := len(m.stack) - n
	if from <= m.floor() {
		return errStack
	}
	err := m.add(m.stack[from-1], kind, m.stack[from:])
	m.stack = m.stack[:from]
	return err
}

// collect replaces the last mark and the values above it by a container with these
// values.
func (m *machine) collect(op byte) error {
	from, err := m.popMark()
	if err != nil {
		return err
	}
	items, err := m.copied(m.stack[from:])
	if err != nil {
		return err
	}
	m.stack = m.stack[:from]
	kind := map[byte]Kind{opTuple: Tuple, opList: List, opDict: Dict, opFrozenSet: Set}[op]
	if kind == Dict && len(items)%2 != 0 {
		return errors.New("a dict gets a key without a value")
	}
	return m.pushObject(kind, items)
}

func (m *machine) tuple(n int) error {
	from := len(m.stack) - n
	if from < m.floor() {
		return errStack
	}
	items, err := m.copied(m.stack[from:])
	if err != nil {
		return err
	}
	m.stack = m.stack[:from]
	return m.pushObject(Tuple, items)
}

// line executes an instruction of protocol 0 whose argument is a line.
func (m *machine) line(op byte) error {
	b, err := m.in.lineText()
	if err != nil {
		return err
	}
	switch op {
	case opUnicode:
		return m.pushText(unescapeUnicode(b))
	case opString:
		if n := len(b); n < 2 || b[0] != b[n-1] || b[0] != '\'' && b[0] != '"' {
			return errors.New("a text has no quotes around it")
		}
		return m.pushText(unescapeString(b[1 : len(b)-1]))
	case opFloat:
		x, err := strconv.ParseFloat(string(b), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return errors.New("a number cannot be read")
		}
		return m.pushFloat(x, nil)
	case opPut, opGet:
		n, err := strconv.ParseUint(string(b), 10, 64)
		if err != nil {
			return errors.New("a number of the memo cannot be read")
		}
		if op == opPut {
			return m.put(n, nil)
		}
		return m.get(n, nil)
	}
	return m.decimal(op, b)
}

// decimal pushes an int of protocol 0. The ints 00 and 01 are its bools, and a
// long ends in L.
func (m *machine) decimal(op byte, b []byte) error {
	if op == opInt && (string(b) == "00" || string(b) == "01") {
		return m.push(newBool(b[1] == '1'))
	}
	if op == opLong {
		b = bytes.TrimSuffix(b, []byte("L"))
	}
	const most = 4000 // digits; no size or time has more, and parsing takes quadratic time
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		if _, ok := new(big.Int).SetString(string(b[:min(len(b), most)]), 10); !ok {
			return errors.New("a number cannot be read")
		}
		n = saturated(bytes.HasPrefix(b, []byte("-")))
	}
	return m.pushInt(n, nil)
}
