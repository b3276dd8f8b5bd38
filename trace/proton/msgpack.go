package proton

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"assay/internal/profile"
)

// SniffPacked reports whether a file that begins with head is a tree of Proton in MessagePack: an array whose first element
// is a map with the members of a node.
func SniffPacked(head []byte) bool {
	if len(head) < 4 || head[0]&0xf0 != 0x90 || head[1]&0xf0 != 0x80 {
		return false
	}
	for _, key := range []string{"frame", "metrics", "children"} {
		if !bytes.Contains(head, append([]byte{0xa0 | byte(len(key))}, key...)) {
			return false
		}
	}
	return true
}

// ReadPacked reads a tree in MessagePack.
func ReadPacked(in io.Reader, name string, limits Limits) (*profile.Tables, error) {
	from, to := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p := &unpacker{in: bufio.NewReaderSize(in, 1<<16), out: bufio.NewWriterSize(to, 1<<16)}
		err := p.value(0, false)
		if flushed := p.out.Flush(); err == nil {
			err = flushed
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		to.CloseWithError(err)
	}()
	out, err := ReadTree(from, name, limits)
	from.Close() // ends the goroutine, which must not read an input that the caller closes
	<-done
	return out, err
}

// An unpacker writes the values of MessagePack as JSON.
type unpacker struct {
	in  *bufio.Reader
	out *bufio.Writer
}

// maxPacked is the number of bytes of a text, of which names have few.
const maxPacked = 1 << 20

// uint reads a number of n bytes, big endian.
func (p *unpacker) uint(n int) (uint64, error) {
	var b [8]byte
	_, err := io.ReadFull(p.in, b[8-n:])
	return binary.BigEndian.Uint64(b[:]), err
}

// value writes the next value. A key is written as a text, whatever it is.
func (p *unpacker) value(depth int, key bool) error {
	if depth > 4*maxDepth {
		return errDeep
	}
	tag, err := p.in.ReadByte()
	if err != nil {
		return err
	}
	if key && (tag < 0xa0 || tag > 0xbf) && (tag < 0xd9 || tag > 0xdb) {
		return fmt.Errorf("a key of type %#x, where a text is wanted", tag)
	}
	switch {
	case tag <= 0x7f:
		return p.write(strconv.Itoa(int(tag)))
	case tag >= 0xe0:
		return p.write(strconv.Itoa(int(int8(tag))))
	case tag <= 0x8f:
		return p.list(uint64(tag&0x0f), true, depth)
	case tag <= 0x9f:
		return p.list(uint64(tag&0x0f), false, depth)
	case tag <= 0xbf:
		return p.text(uint64(tag & 0x1f))
	}
	size := map[byte]int{0xc4: 1, 0xc5: 2, 0xc6: 4, 0xca: 4, 0xcb: 8, 0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8, 0xd0: 1, 0xd1: 2, 0xd2: 4, 0xd3: 8,
		0xd9: 1, 0xda: 2, 0xdb: 4, 0xdc: 2, 0xdd: 4, 0xde: 2, 0xdf: 4}[tag]
	n, err := p.uint(size)
	if err != nil {
		return err
	}
	switch tag {
	case 0xc0:
		return p.write("null")
	case 0xc2:
		return p.write("false")
	case 0xc3:
		return p.write("true")
	case 0xca:
		return p.float(float64(math.Float32frombits(uint32(n))))
	case 0xcb:
		return p.float(math.Float64frombits(n))
	case 0xcc, 0xcd, 0xce, 0xcf:
		return p.write(strconv.FormatUint(n, 10))
	case 0xd0, 0xd1, 0xd2, 0xd3:
		shift := 64 - 8*size
		return p.write(strconv.FormatInt(int64(n<<shift)>>shift, 10))
	case 0xc4, 0xc5, 0xc6, 0xd9, 0xda, 0xdb:
		return p.text(n)
	case 0xdc, 0xdd:
		return p.list(n, false, depth)
	case 0xde, 0xdf:
		return p.list(n, true, depth)
	}
	return fmt.Errorf("a value of type %#x, which trees do not have", tag)
}

func (p *unpacker) write(text string) error {
	_, err := p.out.WriteString(text)
	return err
}

func (p *unpacker) float(v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return p.write("null")
	}
	return p.write(strconv.FormatFloat(v, 'g', -1, 64))
}

func (p *unpacker) text(n uint64) error {
	if n > maxPacked {
		return fmt.Errorf("a text of %d bytes", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(p.in, b); err != nil {
		return err
	}
	quoted, err := json.Marshal(string(b))
	if err != nil {
		return err
	}
	_, err = p.out.Write(quoted)
	return err
}

// list writes an array, or a map, of n elements.
func (p *unpacker) list(n uint64, isMap bool, depth int) error {
	open, end := "[", "]"
	if isMap {
		open, end = "{", "}"
	}
	if err := p.write(open); err != nil {
		return err
	}
	for i := range n {
		if i > 0 {
			if err := p.write(","); err != nil {
				return err
			}
		}
		if isMap {
			if err := p.value(depth+1, true); err != nil {
				return err
			}
			if err := p.write(":"); err != nil {
				return err
			}
		}
		if err := p.value(depth+1, false); err != nil {
			return err
		}
	}
	return p.write(end)
}
