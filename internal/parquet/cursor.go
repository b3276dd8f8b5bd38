package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// Codecs, encodings and pages that only the reader knows.
const (
	codecNone, codecSnappy = 0, 1
	pageDataV2             = 3

	encodingOldDictionary, encodingBitPacked = 2, 4
)

// Names of what is not read. Arrow, with which nsys writes, uses none of it unless asked.
var (
	codecNames    = map[int64]string{2: "gzip", 3: "LZO", 4: "Brotli", 5: "LZ4", 7: "LZ4"}
	encodingNames = map[int64]string{5: "DELTA_BINARY_PACKED", 6: "DELTA_LENGTH_BYTE_ARRAY", 7: "DELTA_BYTE_ARRAY", 9: "BYTE_STREAM_SPLIT"}
)

var (
	errPage  = errors.New("a page is damaged")
	errValue = errors.New("a page has fewer values than it claims")
)

// A scan is what the columns of one scan share.
type scan struct {
	*File
	stored   []byte // of the page that is being unpacked
	read     int64  // bytes of all pages, compressed
	inflated int64  // and unpacked
	held     int64  // bytes of the pages that columns keep
	texts    int64  // bytes of all texts
	zip      *zstd.Decoder
}

func (s *scan) close() {
	if s.zip != nil {
		s.zip.Close()
	}
}

// A cursor reads the values of one column, one page at a time.
type cursor struct {
	*scan
	leaf    *leaf
	at, end int64 // of the rest of its pages
	codec   int64

	// Of the current page.
	left     int64 // entries
	defined  runs  // whether an entry has a value
	encoding int64
	page     []byte
	rest     []byte // of the values
	index    runs
	nth      int // values that were read

	dictionary []byte
	numbers    []int64  // of the dictionary
	offsets    []uint32 // of its texts, with their lengths before them

	// The current value.
	null   bool
	number int64
	text   []byte
}

// begin starts the pages of a row group.
func (c *cursor) begin(s span) {
	c.at, c.end, c.codec, c.left = s.at, s.at+s.size, s.codec, 0
	c.numbers, c.offsets = c.numbers[:0], c.offsets[:0]
}

// next reads the value of the next row.
func (c *cursor) next() error {
	for c.left == 0 {
		if err := c.nextPage(); err != nil {
			return err
		}
	}
	c.left--
	c.null = false
	if c.leaf.optional {
		level, ok := c.defined.next()
		if !ok {
			return errValue
		}
		if c.null = level == 0; c.null {
			c.number, c.text = 0, nil
			return nil
		}
	}
	if !c.value() {
		return errValue
	}
	if c.leaf.isText() {
		if c.texts += int64(len(c.text)); c.texts > freeInflation+inflation*c.size {
			return fmt.Errorf("its texts are longer than a file of %d bytes can have", c.size)
		}
	}
	return nil
}

// A pageHead is what precedes a page.
type pageHead struct {
	kind, unpacked, stored, values, encoding int64
	levels, repeats                          int64 // bytes of levels in the second form of pages, which are not compressed
	packed, oldLevels                        bool
}

// pageHeadOf returns the head of a page. What kinds of pages have of their own is in fields 5, 7 and 8.
func pageHeadOf(n node) pageHead {
	h := pageHead{kind: -1, unpacked: n.fields[2].n, stored: n.fields[3].n, packed: true}
	if kind, ok := n.fields[1]; ok {
		h.kind = kind.n
	}
	switch data, second := n.fields[5].fields, n.fields[8].fields; h.kind {
	case pageData:
		h.values, h.encoding, h.oldLevels = data[1].n, data[2].n, data[3].n == encodingBitPacked
	case pageDictionary:
		h.values = n.fields[7].fields[1].n
	case pageDataV2:
		h.values, h.encoding, h.levels, h.repeats = second[1].n, second[4].n, second[5].n, second[6].n
		if packed, ok := second[7]; ok {
			h.packed = packed.n == 1
		}
	}
	return h
}

// head reads the head of the next page.
func (c *cursor) head() (h pageHead, err error) {
	c.stored = grown(c.stored, min(maxHead, c.end-c.at))
	if _, err := c.in.ReadAt(c.stored, c.at); err != nil {
		return h, err
	}
	m := structReader{in: c.stored}
	h = pageHeadOf(m.value(thriftStruct))
	n := int64(len(c.stored) - len(m.in))
	c.at, c.read = c.at+n, c.read+n
	if m.bad || h.kind < 0 || h.stored < 0 || h.stored > c.end-c.at || h.values < 0 || h.unpacked < 0 || h.levels < 0 || h.repeats < 0 ||
		h.levels+h.repeats > min(h.stored, h.unpacked) {
		return h, errPage
	}
	c.read += h.stored
	c.inflated += h.unpacked
	switch {
	case h.unpacked > maxPage || h.stored > 2*maxPage:
		return h, fmt.Errorf("a page takes %d bytes, over the limit of %d", max(h.unpacked, h.stored), maxPage)
	case c.read > c.size:
		return h, errors.New("pages of several row groups or columns overlap")
	case c.inflated > freeInflation+inflation*c.size:
		return h, fmt.Errorf("its pages unpack to more than a file of %d bytes can have", c.size)
	}
	return h, nil
}

// nextPage reads pages until one has values.
func (c *cursor) nextPage() error {
	if c.at >= c.end {
		return errValue
	}
	h, err := c.head()
	if err != nil {
		return err
	}
	switch h.kind {
	case pageData, pageDataV2:
		if name := encodingNames[h.encoding]; name != "" {
			return fmt.Errorf("its encoding is %s, which assay does not read", name)
		}
		if c.page, err = c.unpack(h, c.page); err == nil && !c.values(h) {
			err = errPage
		}
		c.left = h.values
	case pageDictionary:
		if c.dictionary, err = c.unpack(h, c.dictionary); err == nil && !c.entries(h) {
			err = errPage
		}
	default: // an index
		c.at += h.stored
	}
	return err
}

// unpack returns the content of a page, in the given memory if that is enough.
func (c *cursor) unpack(h pageHead, into []byte) ([]byte, error) {
	before := int64(cap(into))
	into = grown(into, h.unpacked)
	if c.held += int64(cap(into)) - before; c.held > c.Memory {
		return nil, fmt.Errorf("pages of one row group take over %d MiB; give more memory (--max-memory)", c.Memory>>20)
	}
	c.stored = grown(c.stored, h.stored)
	if _, err := c.in.ReadAt(c.stored, c.at); err != nil {
		return nil, err
	}
	c.at += h.stored
	plain := h.levels + h.repeats // of the second form, which has no compressed levels
	copy(into, c.stored[:plain])
	if h.packed && c.codec != codecNone {
		return into, c.decompress(c.stored[plain:], into[plain:])
	}
	if h.stored != h.unpacked {
		return nil, errPage
	}
	copy(into, c.stored)
	return into, nil
}

// decompress fills out.
func (c *cursor) decompress(in, out []byte) error {
	n, err := 0, error(nil)
	switch c.codec {
	case codecSnappy:
		if n, err = snappy.DecodedLen(in); err == nil && n == len(out) {
			_, err = snappy.Decode(out, in)
		}
	case codecZstd:
		if c.zip == nil {
			c.zip, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage))
			if err != nil {
				return err
			}
		}
		var whole []byte
		if whole, err = c.zip.DecodeAll(in, out[:0:len(out)]); err == nil {
			n = len(whole)
		}
	default:
		return fmt.Errorf("it is compressed with %s, which assay does not read", codecNames[c.codec])
	}
	if err != nil || n != len(out) {
		return errPage
	}
	return nil
}

// grown returns memory of a length, the given one if it suffices.
func grown(b []byte, n int64) []byte {
	if int64(cap(b)) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// values prepares the reading of the values of a page.
func (c *cursor) values(h pageHead) (ok bool) {
	in := c.page[h.repeats:]
	if c.leaf.optional {
		n := h.levels
		if h.kind == pageData {
			if len(in) < 4 || h.oldLevels {
				return false
			}
			n, in = int64(binary.LittleEndian.Uint32(in)), in[4:]
		}
		if n > int64(len(in)) {
			return false
		}
		c.defined = runs{in: in[:n], width: 1}
		in = in[n:]
	} else {
		in = in[h.levels:]
	}
	c.encoding, c.rest, c.nth = h.encoding, in, 0
	switch c.encoding {
	case encodingPlain:
		return true
	case encodingOldDictionary, encodingDictionary:
		if len(in) == 0 || in[0] > 32 {
			return len(in) == 0 // all entries are null
		}
		c.encoding, c.index = encodingDictionary, runs{in: in[1:], width: int(in[0])}
		return true
	case encodingRLE:
		if c.leaf.kind != typeBool || len(in) < 4 {
			return false
		}
		c.index = runs{in: in[4:], width: 1}
		return true
	}
	return false
}

// entries reads the values of a dictionary.
func (c *cursor) entries(h pageHead) bool {
	c.numbers, c.offsets = c.numbers[:0], c.offsets[:0]
	before := int64(8*cap(c.numbers) + 4*cap(c.offsets))
	c.rest, c.nth = c.dictionary, 0
	for range h.values {
		at := len(c.dictionary) - len(c.rest)
		if !c.plain() {
			return false
		}
		if c.leaf.isText() {
			c.offsets = append(c.offsets, uint32(at))
		} else {
			c.numbers = append(c.numbers, c.number)
		}
	}
	c.held += int64(8*cap(c.numbers)+4*cap(c.offsets)) - before
	return c.leaf.kind != typeBool
}

// value reads the next value of the page.
func (c *cursor) value() (ok bool) {
	switch c.encoding {
	case encodingPlain:
		return c.plain()
	case encodingDictionary:
		return c.fromDictionary()
	case encodingRLE:
		var bit uint64
		bit, ok = c.index.next()
		c.number = int64(bit)
		return ok
	}
	return false
}

// take takes a text from the page.
func (c *cursor) take(n int64) bool {
	if n < 0 || n > int64(len(c.rest)) {
		return false
	}
	c.text, c.rest = c.rest[:n], c.rest[n:]
	return true
}

// plain reads a value that is stored as it is.
func (c *cursor) plain() bool {
	switch c.leaf.kind {
	case typeBool:
		at := c.nth
		if c.nth++; at/8 >= len(c.rest) {
			return false
		}
		c.number = int64(c.rest[at/8] >> (at % 8) & 1)
		return true
	case typeBytes:
		if len(c.rest) < 4 {
			return false
		}
		n := binary.LittleEndian.Uint32(c.rest)
		c.rest = c.rest[4:]
		return c.take(int64(n))
	}
	if c.leaf.kind == typeInt32 {
		if c.take(4) {
			c.number = c.leaf.integer(binary.LittleEndian.Uint32(c.text))
			return true
		}
	} else if c.take(8) {
		c.number = int64(binary.LittleEndian.Uint64(c.text))
		return true
	}
	return false
}

func (c *cursor) fromDictionary() bool {
	at, ok := c.index.next()
	if !c.leaf.isText() {
		if !ok || at >= uint64(len(c.numbers)) {
			return false
		}
		c.number = c.numbers[at]
		return true
	}
	if !ok || at >= uint64(len(c.offsets)) {
		return false
	}
	b := c.dictionary[c.offsets[at]:]
	c.text = b[4 : 4+binary.LittleEndian.Uint32(b)]
	return true
}
