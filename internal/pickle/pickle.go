// Package pickle reads Python pickles that hold plain data: numbers, texts,
// lists, tuples, dicts and sets, of protocols 0 to 5.
//
// A pickle is a program for a small machine, and some of its instructions call
// what they name. None of those is ever carried out: an input that has one is
// refused with the name of what it asked for. Nothing else in an input is
// trusted either. Lengths are believed only as far as bytes follow, nothing
// recurses, and a limit bounds what all values take.
//
// Values are small: eight bytes each, in lists that the program of the pickle
// built; equal texts are kept once. Package torchprof/memory reads its model
// out of them.
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

// A Value is a plain value, or a place in the [Doc] that it came with. The zero
// Value is None.
type Value uint64

// A Kind says what a value is.
type Kind uint8

// The kinds. Of a list, tuple, set or dict the doc has the items.
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

// String returns the kind as Python calls it, with its article: "a list".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// What the low bits of a value say. The others are a number or an index.
const (
	tagSpecial = iota // None, False, True
	tagInt            // of at most 61 bits
	tagWide           // index of a longer one
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

// An object is a container. The items of a dict are its keys and values in
// turn.
type object struct {
	kind  Kind
	first int32 // 1 + the number of the list that this one got its items from, or 0
	items []Value
}

// A Doc is what a pickle holds.
type Doc struct {
	Root Value

	// Complete is false if the input ended before the pickle did, or is damaged
	// within it. Root then has what was built so far, put where it would have gone.
	Complete bool

	// End is the offset behind a complete pickle, and Tail what follows it.
	End  int64
	Tail Tail

	objects paged[object]
	texts   []string
	index   map[string]int // of texts
	bytes   []int          // lengths: what bytes hold nobody has asked for
	floats  []float64
	wide    []int64
}

// Kind returns what v is.
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

// Int returns an int, or false. An int beyond int64 has been brought to its end.
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

// Bool returns a bool, or false twice.
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

// Items returns the items of a list, tuple or set, and of a dict its keys and
// values in turn. The caller must not change them.
func (d *Doc) Items(v Value) []Value {
	if v.tag() != tagObject {
		return nil
	}
	return d.objects.at(v.index()).items
}

// Members returns the keys and values of a dict in turn, and nothing of other values.
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

// ID returns a number that a container alone has, or -1: what is shared in the
// pickle has one number.
func (d *Doc) ID(v Value) int {
	if v.tag() != tagObject {
		return -1
	}
	return v.index()
}

// First returns the number of a container that has the same items as v: that of the first
// of several equal lists, as far as that is known, else the number of v. It is -1 if v is no
// container.
func (d *Doc) First(v Value) int {
	if v.tag() != tagObject {
		return -1
	}
	o := d.objects.at(v.index())
	if o.first == 0 {
		return v.index()
	}
	// One of both may have got more items since.
	if items := d.objects.at(int(o.first) - 1).items; len(items) != len(o.items) || &items[0] != &o.items[0] {
		return v.index()
	}
	return int(o.first) - 1
}

// Objects returns how many containers there are: their numbers are below it.
func (d *Doc) Objects() int { return d.objects.n }

// Key returns the value that a text has in this doc, for [Doc.Get]; false if no
// value is that text.
func (d *Doc) Key(text string) (Value, bool) {
	i, ok := d.index[text]
	return tagged(tagText, i), ok
}

// Lookup returns what a dict has under a key; false if there is nothing, or v is
// no dict. Of a key that is there twice the later one counts, as in Python.
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

// A Tail is what follows a pickle.
type Tail uint8

// The tails.
const (
	NoTail     Tail = iota
	OtherTail       // bytes that begin no pickle: padding, or anything
	PickleTail      // another pickle, as several dumps into one file leave
	FailedTail      // the input fails behind the pickle, with the error of Read
)

// A DamageError says that the input is no pickle from a place on.
type DamageError struct {
	At  int64 // offset of the instruction
	Err error
}

func (e *DamageError) Error() string { return fmt.Sprintf("at byte %d: %v", e.At, e.Err) }

// Unwrap returns the cause.
func (e *DamageError) Unwrap() error { return e.Err }

// Limits bound what a pickle may take. A field that is 0 has the value of the
// default. Fields may be added.
type Limits struct {
	// Memory is how many bytes all values, the stack and the memo may take.
	Memory int64

	// Grown, if not nil, is called now and then with how many bytes they take by
	// now. It may wait until other readers have given memory back.
	Grown func(bytes int64)
}

const defaultMemory = 4 << 30

// A LimitError ends an input that would take more memory than it may.
type LimitError struct{ Memory int64 }

func (e *LimitError) Error() string {
	return fmt.Sprintf("its values would take over %d MiB; to read it, give more with --max-memory SIZE", e.Memory>>20)
}

// A Refused is an instruction that would call or look up something outside the
// pickle.
type Refused struct {
	Op   string // as pickletools calls it: "STACK_GLOBAL"
	What string // "os.system", as far as the pickle says; quoted where it is shown
}

func (e *Refused) Error() string {
	s := "it is more than plain data: its instruction " + e.Op + " asks for "
	if e.What == "" {
		return s + "an object of some class, which is not made here"
	}
	return s + strconv.Quote(e.What) + ", which is not carried out here"
}

// Read reads one pickle. Name is that of the input, for messages. An error has
// the offset of its instruction.
//
// An input that ends early is no error: [Doc.Complete] is false. Where the
// reader itself fails, a limit is reached, or an instruction cannot be carried
// out (a [DamageError]), what was read stands and the error comes with the doc. A
// pickle that asks for more than plain data is refused as a whole.
func Read(in io.Reader, name string, limits Limits) (*Doc, error) {
	m := newMachine(in, cmp.Or(limits.Memory, defaultMemory), limits.Grown)
	err := m.run()
	if err == nil {
		return m.doc, m.tail()
	}
	limit, refused := (*LimitError)(nil), (*Refused)(nil)
	if m.in.isEnd(err) || errors.As(err, &limit) {
		m.limit = math.MaxInt64 // the little that is left to do
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

// tail looks at what follows the pickle.
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

// tailLen is how much of what follows a pickle is looked at.
const tailLen = 512

// Sniff reports whether a file may be a pickle of plain data, by its first
// bytes. Those of protocols 0 and 1 have no mark of their own: they are taken
// for one if they begin with a dict or list and end no text line with what only
// other formats have.
func Sniff(head []byte) bool {
	if len(head) < 2 {
		return false
	}
	if head[0] == opProto {
		return head[1] <= maxProtocol
	}
	return sniffOld(head)
}

// sniffOld knows the beginnings that Python gives to dicts and lists in
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
