package pyprof

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"assay/internal/diag"
)

// The types of Python's marshal that files of pstats use: numbers, text, tuples, dicts,
// and references to values. Code objects and all other types are refused.
const (
	typeNull               = '0'
	typeNone               = 'N'
	typeInt                = 'i'
	typeInt64              = 'I'
	typeLong               = 'l'
	typeFloat              = 'f' // as text; Python 2
	typeBinaryFloat        = 'g'
	typeString             = 's' // bytes; text of Python 2
	typeInterned           = 't'
	typeUnicode            = 'u'
	typeASCII              = 'a'
	typeASCIIInterned      = 'A'
	typeShort              = 'z'
	typeShortInterned      = 'Z'
	typeTuple              = '('
	typeSmallTuple         = ')'
	typeDict               = '{'
	typeRef                = 'r'
	typeStringRef          = 'R' // to the interned text of Python 2
	flagRef           byte = 0x80
)

const (
	// maxMarshalText is the maximum length of a text. Names of functions and paths
	// of files are shorter.
	maxMarshalText = 64 << 10

	// maxMarshalDepth is the maximum nesting in a file of pstats: a dict of tuples
	// of a dict of tuples.
	maxMarshalDepth = 6

	valueBytes = 48 // memory of a value in addition to its text
)

// null ends a dict.
type null struct{}

// A pair is an entry of a dict.
type pair struct{ key, value any }

// A marshalReader reads values: int64, float64, string, []any for a tuple,
// []pair for a dict, nil for None, and null.
type marshalReader struct {
	name     string
	in       *bufio.Reader
	at       int64
	refs     []any
	interned []string // of Python 2
	budget   int64
	limited  bool  // the error is that of a limit, not of the input
	spent    int64 // bytes of memory of the current entry
	kept     int64 // the part of spent for values that can be referred to
	within   int   // number of such values that contain the current one
}

// limit returns an error like fail, and records that a limit caused it.
func (r *marshalReader) limit(format string, args ...any) error {
	r.limited = true
	return r.fail(format, args...)
}

// free releases the memory of the values of an entry to which nothing can refer.
func (r *marshalReader) free() {
	r.budget += r.spent - r.kept
	r.spent, r.kept = 0, 0
}

func (r *marshalReader) fail(format string, args ...any) error {
	return &diag.Error{Pos: diag.Pos{File: r.name, Offset: r.at}, Msg: fmt.Sprintf(format, args...)}
}

// errCut is the error for a file that ends within a value.
var errCut = errors.New("the file is cut: copy it again, or let the profiler write it to its end")

func (r *marshalReader) bytes(n int) ([]byte, error) {
	r.spent += int64(n) + valueBytes
	if r.budget -= int64(n) + valueBytes; r.budget < 0 {
		return nil, r.limit("the values up to here take more memory than they may; to read them, give more with --max-memory SIZE")
	}
	b := make([]byte, n)
	got, err := io.ReadFull(r.in, b)
	r.at += int64(got)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = &diag.Error{Pos: diag.Pos{File: r.name, Offset: r.at}, Msg: "ends in a value", Err: errCut}
	}
	return b, err
}

func (r *marshalReader) int32() (int64, error) {
	b, err := r.bytes(4)
	if err != nil {
		return 0, err
	}
	return int64(int32(binary.LittleEndian.Uint32(b))), nil
}

// size reads a length, of four bytes or one.
func (r *marshalReader) size(short bool, limit int64) (int, error) {
	var n int64
	if short {
		b, err := r.bytes(1)
		if err != nil {
			return 0, err
		}
		n = int64(b[0])
	} else {
		var err error
		if n, err = r.int32(); err != nil {
			return 0, err
		}
	}
	if n < 0 || n > limit {
		return 0, r.fail("a length of %d, over the limit of %d", n, limit)
	}
	return int(n), nil
}

// kind reads the type of the next value, and whether the value can be
// referred to.
func (r *marshalReader) kind() (kind byte, ref bool, err error) {
	b, err := r.bytes(1)
	if err != nil {
		return 0, false, err
	}
	return b[0] &^ flagRef, b[0]&flagRef != 0, nil
}

// value reads one value at a nesting depth.
func (r *marshalReader) value(depth int) (any, error) {
	if depth > maxMarshalDepth {
		return nil, r.fail("values nest deeper than %d, which those of pstats do not", maxMarshalDepth)
	}
	kind, ref, err := r.kind()
	if err != nil {
		return nil, err
	}
	slot := len(r.refs)
	if ref { // a value gets its number before the values in it
		r.refs = append(r.refs, nil)
		r.within++
	}
	before := r.spent - valueBytes
	v, err := r.body(kind, depth)
	if ref {
		if r.within--; r.within == 0 {
			r.kept += r.spent - before
		}
	}
	if err == nil && ref {
		r.refs[slot] = v
	}
	return v, err
}

func (r *marshalReader) body(kind byte, depth int) (any, error) {
	switch kind {
	case typeNull:
		return null{}, nil
	case typeNone:
		return nil, nil
	case typeInt:
		return r.int32()
	case typeInt64:
		b, err := r.bytes(8)
		if err != nil {
			return nil, err
		}
		return int64(binary.LittleEndian.Uint64(b)), nil
	case typeLong:
		return r.long()
	case typeBinaryFloat:
		b, err := r.bytes(8)
		if err != nil {
			return nil, err
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), nil
	case typeFloat:
		text, err := r.text(true)
		if err != nil {
			return nil, err
		}
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, r.fail("%q is not a number", text)
		}
		return x, nil
	case typeShort, typeShortInterned:
		return r.text(true)
	case typeString, typeUnicode, typeASCII, typeASCIIInterned:
		return r.text(false)
	case typeInterned:
		text, err := r.text(false)
		r.interned = append(r.interned, text)
		return text, err
	case typeRef, typeStringRef:
		return r.reference(kind)
	case typeTuple, typeSmallTuple:
		return r.tuple(kind == typeSmallTuple, depth)
	case typeDict:
		return r.dict(depth)
	}
	return nil, r.fail("a value of type %q, which no file of pstats has", rune(kind))
}

func (r *marshalReader) text(short bool) (string, error) {
	n, err := r.size(short, maxMarshalText)
	if err != nil {
		return "", err
	}
	b, err := r.bytes(n)
	return strings.ToValidUTF8(string(b), "\ufffd"), err
}

// long reads an integer of any size, whose digits have 15 bits.
func (r *marshalReader) long() (any, error) {
	n, err := r.int32()
	if err != nil {
		return nil, err
	}
	digits := max(n, -n)
	if digits > 5 {
		return nil, r.fail("a number of %d digits of 15 bits, over the limit of 5", digits)
	}
	var sum uint64
	for i := range digits {
		b, err := r.bytes(2)
		if err != nil {
			return nil, err
		}
		digit := uint64(binary.LittleEndian.Uint16(b))
		if digit >= 1<<15 || i == 4 && digit >= 1<<3 {
			return nil, r.fail("a number too large for 64 bits")
		}
		sum |= digit << (15 * uint(i))
	}
	if n < 0 {
		return -int64(sum), nil
	}
	return int64(sum), nil
}

func (r *marshalReader) reference(kind byte) (any, error) {
	n, err := r.int32()
	if err != nil {
		return nil, err
	}
	if kind == typeStringRef && n >= 0 && n < int64(len(r.interned)) {
		return r.interned[n], nil
	}
	if kind == typeRef && n >= 0 && n < int64(len(r.refs)) {
		return r.refs[n], nil
	}
	return nil, r.fail("a reference to value %d, which does not exist", n)
}

func (r *marshalReader) tuple(short bool, depth int) (any, error) {
	n, err := r.size(short, 16)
	if err != nil {
		return nil, err
	}
	out := make([]any, n)
	for i := range out {
		if out[i], err = r.value(depth + 1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *marshalReader) dict(depth int) (any, error) {
	var out []pair
	err := r.entries(depth, func(p pair) error {
		out = append(out, p)
		return nil
	})
	return out, err
}

// entries calls f for each entry of a dict, after its type byte.
func (r *marshalReader) entries(depth int, f func(pair) error) error {
	for {
		key, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		if _, end := key.(null); end {
			return nil
		}
		value, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		if err := f(pair{key, value}); err != nil {
			return err
		}
	}
}
