package tracegen

import (
	"io"
	"strconv"
)

// A jsonWriter appends JSON to a buffer in one of the layouts and writes full
// buffers to w. It does not check that the calls nest; the tests parse its
// output. It keeps the first write error.
type jsonWriter struct {
	w      io.Writer
	layout Layout
	buf    []byte
	total  int64 // bytes written to w
	err    error

	depth    int
	nonEmpty [16]bool // by depth: a member has been written
	broken   bool     // Native: the next member goes on a new line
}

// bufferSize is the size at which the buffer is written; it may grow slightly
// larger.
const bufferSize = 1 << 16

const spaces = "                                "

// written returns the number of bytes so far.
func (j *jsonWriter) written() int64 { return j.total + int64(len(j.buf)) }

func (j *jsonWriter) flush() {
	if j.err == nil {
		var n int
		n, j.err = j.w.Write(j.buf)
		j.total += int64(n)
	}
	j.buf = j.buf[:0]
}

// br requests a line break before the next member or closing bracket if the
// layout leaves that to the caller.
func (j *jsonWriter) br() { j.broken = true }

// next starts a member of the innermost object or array.
func (j *jsonWriter) next() {
	comma := j.nonEmpty[j.depth]
	j.nonEmpty[j.depth] = true
	if comma {
		j.buf = append(j.buf, ',')
	}
	if j.depth == 0 {
		return
	}
	if !j.newline(comma) && comma && j.layout != Compact {
		j.buf = append(j.buf, ' ')
	}
}

// newline breaks the line if the layout does so here.
func (j *jsonWriter) newline(comma bool) bool {
	asked := j.broken
	j.broken = false
	indent := 2 * j.depth
	switch j.layout {
	case Pretty:
	case Native:
		// Kineto indents events no deeper than their array.
		if !asked {
			return false
		}
		if j.depth > 1 {
			indent -= 2
		}
	case Array:
		if j.depth != 1 || !comma {
			return false
		}
		indent = 1
	default:
		return false
	}
	j.buf = append(j.buf, '\n')
	j.buf = append(j.buf, spaces[:indent]...)
	return true
}

// key starts a member of an object. It must not need escapes.
func (j *jsonWriter) key(key string) {
	j.next()
	j.buf = append(j.buf, '"')
	j.buf = append(j.buf, key...)
	if j.layout == Compact {
		j.buf = append(j.buf, `":`...)
	} else {
		j.buf = append(j.buf, `": `...)
	}
}

func (j *jsonWriter) open(bracket byte) {
	j.buf = append(j.buf, bracket)
	j.depth++
	j.nonEmpty[j.depth] = false
}

func (j *jsonWriter) close(bracket byte) {
	full := j.nonEmpty[j.depth]
	j.depth--
	if full && j.layout != Array {
		j.newline(false)
	}
	j.broken = false
	j.buf = append(j.buf, bracket)
}

// object and array start a container that is the value of key.
func (j *jsonWriter) object(key string) { j.key(key); j.open('{') }
func (j *jsonWriter) array(key string)  { j.key(key); j.open('[') }

func (j *jsonWriter) str(key, v string) {
	j.key(key)
	j.quoted(v)
}

func (j *jsonWriter) int(key string, v int64) {
	j.key(key)
	j.buf = strconv.AppendInt(j.buf, v, 10)
}

// raw writes a value that is already JSON.
func (j *jsonWriter) raw(key, v string) {
	j.key(key)
	j.buf = append(j.buf, v...)
}

// ints writes an array of numbers.
func (j *jsonWriter) ints(key string, vs ...int64) {
	j.key(key)
	j.intArray(vs)
}

func (j *jsonWriter) intArray(vs []int64) {
	j.open('[')
	for _, v := range vs {
		j.next()
		j.buf = strconv.AppendInt(j.buf, v, 10)
	}
	j.close(']')
}

// quoted writes a string, which must be valid UTF-8.
func (j *jsonWriter) quoted(s string) {
	const hex = "0123456789abcdef"
	j.buf = append(j.buf, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		j.buf = append(j.buf, s[from:i]...)
		from = i + 1
		if c < 0x20 {
			j.buf = append(j.buf, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		} else {
			j.buf = append(j.buf, '\\', c)
		}
	}
	j.buf = append(j.buf, s[from:]...)
	j.buf = append(j.buf, '"')
}

// thousandths writes n/1000 with exactly three decimals. N must not be
// negative.
func (j *jsonWriter) thousandths(n int64) {
	j.buf = strconv.AppendInt(j.buf, n/1000, 10)
	f := n % 1000
	j.buf = append(j.buf, '.', byte('0'+f/100), byte('0'+f/10%10), byte('0'+f%10))
}
