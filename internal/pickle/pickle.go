// Package pickle reads Python pickles of plain data: numbers, texts, lists,
// tuples, dicts and sets, of protocols 0 to 5.
//
// A pickle is a program for a small stack machine, and some of its instructions
// call functions by name. This package never executes those: it refuses an input
// with such an instruction, and names the function in the error. It does not
// trust the rest of an input either: it allocates memory for a text only as its
// bytes arrive, it does not recurse, and a limit bounds the memory of all values.
//
// A value has eight bytes, and equal texts are stored once. This file has the
// result, a [Doc]; machine.go, stack.go and ops.go have the machine; input.go
// reads bytes; unwind.go completes a pickle that ends early. Package
// torchprof/memory makes its model from a Doc.
package pickle

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"assay/internal/diag"
)

// A Value is a plain value, or an index into the [Doc] to which it belongs. The
// zero Value is None.
type Value uint64

// A Kind is the type of a value.
type Kind uint8

// The kinds. The items of a list, tuple, set or dict are in the Doc.
const (
	None Kind = iota
	Bool
	Int
	Float
	Text
	Bytes
	List
	Tuple
	Dict
	Set
)

var kindNames = [...]string{"None", "a bool", "an int", "a float", "a str", "bytes", "a list", "a tuple", "a dict", "a set"}

// String returns Python's name of the kind with an article: "a list".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// The tags, which are the low bits of a value. The other bits are a number or an
// index.
const (
	tagSpecial = iota // None, False, True
	tagInt            // of at most 61 bits
	tagWide           // index of a longer int
	tagFloat
	tagText
	tagBytes
	tagObject
	tagBits = 3
)

const (
	valueNone  = Value(0)
	valueFalse = Value(1 << tagBits)
	valueTrue  = Value(2 << tagBits)
)

func tagged(tag, index int) Value { return Value(index)<<tagBits | Value(tag) }

func (v Value) tag() int   { return int(v & (1<<tagBits - 1)) }
func (v Value) index() int { return int(v >> tagBits) }

// An object is a container. The items of a dict are its alternating keys and
// values.
type object struct {
	kind  Kind
	first int32 // 1 + the number of the list whose items this one shares, or 0
	items []Value
}

// A Doc is the content of a pickle.
type Doc struct {
	Root Value

	// Complete is false if the input ended within the pickle or is damaged. Root
	// then has the values that were read, inserted into their containers.
	Complete bool

	// End is the offset after a complete pickle, and Tail describes what follows.
	End  int64
	Tail Tail

	objects paged[object]
	texts   []string
	index   map[string]int // by text
	bytes   []int          // lengths of bytes values; their content is not kept
	floats  []float64
	wide    []int64
}

// Kind returns the kind of v.
func (d *Doc) Kind(v Value) Kind {
	switch v.tag() {
	case tagSpecial:
		if v == valueNone {
			return None
		}
		return Bool
	case tagInt, tagWide:
		return Int
	case tagFloat:
		return Float
	case tagText:
		return Text
	case tagBytes:
		return Bytes
	}
	return d.objects.at(v.index()).kind
}

// Int returns an int, or false. An int out of range is the largest or smallest int64.
func (d *Doc) Int(v Value) (int64, bool) {
	switch v.tag() {
	case tagInt:
		return int64(v) >> tagBits, true
	case tagWide:
		return d.wide[v.index()], true
	}
	return 0, false
}

// Float returns a float or an int, or false.
func (d *Doc) Float(v Value) (float64, bool) {
	if v.tag() == tagFloat {
		return d.floats[v.index()], true
	}
	n, ok := d.Int(v)
	return float64(n), ok
}

// Bool returns a bool; ok is false if v is not one.
func (d *Doc) Bool(v Value) (value, ok bool) {
	return v == valueTrue, v == valueTrue || v == valueFalse
}

// Text returns a str, or false.
func (d *Doc) Text(v Value) (string, bool) {
	if v.tag() != tagText {
		return "", false
	}
	return d.texts[v.index()], true
}

// Items returns the items of a list, tuple or set, or the alternating keys and
// values of a dict. The caller must not change them.
func (d *Doc) Items(v Value) []Value {
	if v.tag() != tagObject {
		return nil
	}
	return d.objects.at(v.index()).items
}

// Members returns the alternating keys and values of a dict, or nil for other values.
// The caller must not change them.
func (d *Doc) Members(v Value) []Value {
	if v.tag() != tagObject {
		return nil
	}
	if o := d.objects.at(v.index()); o.kind == Dict {
		return o.items
	}
	return nil
}

// ID returns the unique number of a container, or -1 for other values. A container
// to which the pickle refers several times has one number.
func (d *Doc) ID(v Value) int {
	if v.tag() != tagObject {
		return -1
	}
	return v.index()
}

// First returns the number of a container with the same items as v: the first of several
// equal lists, if the reader has found them to be equal, otherwise v itself. It returns -1 if
// v is not a container.
func (d *Doc) First(v Value) int {
	if v.tag() != tagObject {
		return -1
	}
	o := d.objects.at(v.index())
	if o.first == 0 {
		return v.index()
	}
	// One of the two may have received more items since they were found to be equal.
	if items := d.objects.at(int(o.first) - 1).items; len(items) != len(o.items) || &items[0] != &o.items[0] {
		return v.index()
	}
	return int(o.first) - 1
}

// Objects returns the number of containers. Every ID is less than it.
func (d *Doc) Objects() int { return d.objects.n }

// Key returns the Value of a text in this Doc, or false if the Doc does not contain the
// text. Equal texts have equal Values, so callers can compare keys by their Value.
func (d *Doc) Key(text string) (Value, bool) {
	i, ok := d.index[text]
	return tagged(tagText, i), ok
}

// Lookup returns the value of a key in a dict. It returns false if there is no such
// key or if v is not a dict. If a key occurs twice, the later one counts, as in Python.
func (d *Doc) Lookup(v Value, key string) (Value, bool) {
	k, ok := d.Key(key)
	if !ok || d.Kind(v) != Dict {
		return 0, false
	}
	items := d.Items(v)
	for i := len(items) - 2; i >= 0; i -= 2 {
		if items[i] == k {
			return items[i+1], true
		}
	}
	return 0, false
}

func (d *Doc) newObject(kind Kind, items []Value) Value {
	d.objects.add(object{kind: kind, items: items})
	return tagged(tagObject, d.objects.n-1)
}

func (d *Doc) newInt(n int64) Value {
	if v := Value(n)<<tagBits | tagInt; int64(v)>>tagBits == n {
		return v
	}
	d.wide = append(d.wide, n)
	return tagged(tagWide, len(d.wide)-1)
}

func (d *Doc) newFloat(x float64) Value {
	d.floats = append(d.floats, x)
	return tagged(tagFloat, len(d.floats)-1)
}

func (d *Doc) newText(b []byte) Value {
	i, ok := d.index[string(b)]
	if !ok {
		i = len(d.texts)
		text := string(b)
		d.texts = append(d.texts, text)
		d.index[text] = i
	}
	return tagged(tagText, i)
}

func newBool(b bool) Value {
	if b {
		return valueTrue
	}
	return valueFalse
}

// A Tail describes the data after a pickle.
type Tail uint8

// The tails.
const (
	NoTail     Tail = iota
	OtherTail       // bytes that are not a pickle, such as padding
	PickleTail      // another pickle: several dumps were written to one file
	FailedTail      // the input failed after the pickle, with the error that Read returned
)

// A DamageError is the error for an input that is not a pickle from some offset on.
type DamageError struct {
	At  int64 // offset of the instruction
	Err error
}

func (e *DamageError) Error() string { return fmt.Sprintf("at byte %d: %v", e.At, e.Err) }

// Unwrap returns the cause.
func (e *DamageError) Unwrap() error { return e.Err }

// Limits bound the resources for reading a pickle. A field that is 0 has the
// default value. Fields may be added.
type Limits struct {
	// Memory is the maximum number of bytes for all values, the stack and the memo.
	Memory int64

	// Grown, if not nil, is called from time to time with the number of bytes in
	// use. It may block until other readers have freed memory.
	Grown func(bytes int64)
}

const defaultMemory = 4 << 30

// A LimitError ends an input that needs more memory than the limit.
type LimitError struct{ Memory int64 }

func (e *LimitError) Error() string {
	return fmt.Sprintf("its values would take over %d MiB; to read it, give more with --max-memory SIZE", e.Memory>>20)
}

// A Refused is an instruction that would call or look up something outside the
// pickle.
type Refused struct {
	Op   string // the name in Python's pickletools: "STACK_GLOBAL"
	What string // what it would call, such as "os.system"; "" if the pickle does not name it
}

func (e *Refused) Error() string {
	s := "it is more than plain data: its instruction " + e.Op + " asks for "
	if e.What == "" {
		return s + "an object of some class, which is not made here"
	}
	return s + strconv.Quote(e.What) + ", which is not carried out here"
}

// Read reads one pickle. Name is the name of the input for messages. An error has
// the offset of its instruction.
//
// If the input ends early, [Doc.Complete] is false and there is no error. If the
// reader fails, a limit is reached, or an instruction cannot be executed (a
// [DamageError]), Read returns the values read so far together with the error. For
// a pickle that is not plain data, it returns a [Refused] and no Doc.
func Read(in io.Reader, name string, limits Limits) (*Doc, error) {
	m := newMachine(in, cmp.Or(limits.Memory, defaultMemory), limits.Grown)
	err := m.run()
	if err == nil {
		return m.doc, m.tail()
	}
	limit, refused := (*LimitError)(nil), (*Refused)(nil)
	if m.in.isEnd(err) || errors.As(err, &limit) {
		m.limit = math.MaxInt64 // unwinding needs little memory and must not fail
		m.unwind()
		if err == io.EOF {
			err = nil
		}
		return m.doc, err
	}
	if len(m.stack) > 0 && !errors.As(err, &refused) {
		m.limit = math.MaxInt64
		m.unwind()
		return m.doc, &DamageError{m.at, err}
	}
	return nil, &diag.Error{Pos: diag.Pos{File: name, Offset: m.at}, Msg: "not a pickle that can be read", Err: err}
}

// tail determines what follows the pickle.
func (m *machine) tail() error {
	d := m.doc
	d.End = m.in.offset()
	_ = m.in.need(tailLen) // ended has the error as the reader returned it
	b := m.in.rest[:min(tailLen, len(m.in.rest))]
	switch {
	case Sniff(b):
		d.Tail = PickleTail
	case len(b) > 0:
		d.Tail = OtherTail
	case m.in.ended != io.EOF:
		d.Tail = FailedTail
		return m.in.ended
	}
	return nil
}

// tailLen is the number of bytes after a pickle that tail looks at.
const tailLen = 512

// Sniff reports whether a file may be a pickle of plain data, by its first bytes.
// Pickles of protocols 0 and 1 have no magic number; they are recognized if they
// begin with a dict or list as Python writes them.
func Sniff(head []byte) bool {
	if len(head) < 2 {
		return false
	}
	if head[0] == opProto {
		return head[1] <= maxProtocol
	}
	return sniffOld(head)
}

// sniffOld recognizes the beginnings of dicts and lists that Python writes in
// protocols 0 and 1: "(dp0\n", "(lp0\n", "}q\x00", "]q\x00".
func sniffOld(head []byte) bool {
	switch string(head[:2]) {
	case "(d", "(l":
		rest := head[2:]
		i := 1
		for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' {
			i++
		}
		return len(rest) > 2 && rest[0] == opPut && i > 1 && i < len(rest) && rest[i] == '\n'
	case "}q", "]q":
		return len(head) > 3 && (head[3] == opMark || head[3] == opStop || head[3] >= 0x20)
	}
	return false
}
