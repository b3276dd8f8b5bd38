// Package hostile writes inputs that ask for more than a program should give:
// bombs, events without an end, and unlimited names, threads and devices. It writes
// them as streams, so their size needs no memory here. The tests of cmd/assay check
// the limits of the command with them, small and at full size.
package hostile

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A Case is one kind of input.
type Case struct {
	Name string
	Full int // units at full size
	// Refused says that there is nothing to judge in it at full size.
	Refused bool
	// Refusable says that it may be refused where memory is short, and only then, or
	// where it is damaged.
	Refusable bool

	head, tail string
	close      string                       // is written as often as there are units, before the tail
	unit       func(b []byte, i int) []byte // appends unit i
	packing    string                       // "", "gzip", "zstd" or "gzip gzip"; all units are then equal
}

// mega is a unit of text without a quote.
const mega = 1 << 20

// sound is an event with which an input has something to judge.
const sound = `{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2}`

// Cases returns all kinds.
func Cases() []Case {
	return slices.Concat(bombs(), long(), many(), profiles(), binaries())
}

// bombs are small as stored and many GB as read.
func bombs() (cases []Case) {
	events := strings.Repeat(`{"ph":"X","ts":1,"dur":1},`, mega/26)
	for _, packing := range []string{"gzip", "zstd", "gzip gzip"} {
		add := func(name, head, unit string, refused bool) {
			cases = append(cases, Case{
				Name: name + " in " + packing, Full: int(10 << 30 / int64(len(unit))), Refused: refused, packing: packing,
				head: head, unit: func(b []byte, _ int) []byte { return append(b, unit...) },
			})
		}
		add("zeros", "", strings.Repeat("\x00", mega), true)
		add("spaces", "[", strings.Repeat(" ", mega), true)
		add("events", "["+sound+",", events, false)
		add("a string without an end", "["+sound+`,{"name":"`, strings.Repeat("a", mega), false)
	}
	return cases
}

// long has inputs in which one thing is of 1 GB or nested a million times.
func long() []Case {
	text, numbers := strings.Repeat("a", mega), strings.Repeat("1,", mega/2)
	objects := strings.Repeat(`{"name":1},`, mega/11)
	repeat := func(unit string) func([]byte, int) []byte {
		return func(b []byte, _ int) []byte { return append(b, unit...) }
	}
	const before = `{"traceEvents":[` + sound + `,{"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":1,`
	const after = `,` + sound + `]}`
	const around = `"traceEvents":[` + sound + `]}`
	return []Case{
		{Name: "args of 1 GB", Full: 1 << 10, head: before + `"name":"op","args":{"a":"`, unit: repeat(text), tail: `"}}` + after},
		{Name: "name of 1 GB", Full: 1 << 10, head: before + `"name":"`, unit: repeat(text), tail: `"}` + after},
		{Name: "list of 1 GB", Full: 1 << 10, head: before + `"name":"op","args":{"a":[`, unit: repeat(numbers), tail: `1]}}` + after},
		{Name: "objects of 1 GB", Full: 1 << 10, head: before + `"name":"op","args":{"a":[`, unit: repeat(objects), tail: `{}]}}` + after},
		{Name: "nested lists in args", Full: 1e6, head: before + `"name":"op","args":{"a":`, unit: repeat("["), close: "]", tail: "}}" + after},
		{Name: "nested objects in args", Full: 1e6, head: before + `"name":"op","args":{"a":{"b":1`, unit: repeat(`,"a":{"b":1`), close: "}", tail: "}}}" + after},
		{Name: "nested lists", Full: 1e6, Refused: true, unit: repeat("["), tail: sound},
		{Name: "nested objects", Full: 1e6, Refused: true, unit: repeat(`{"a":`), tail: sound},
		{Name: "nested lists in the header", Full: 1e6, head: `{"a":`, unit: repeat("["), close: "]", tail: "," + around},
		{Name: "nested metadata", Full: 3e5, head: `{"deviceProperties":`, unit: repeat("["), close: "]", tail: "," + around},
		{Name: "header of 1 GB", Full: 1 << 10, head: `{"a":"`, unit: repeat(text), tail: `",` + around},
		{Name: "key of 1 GB", Full: 1 << 10, Refused: true, head: `{"`, unit: repeat(text), tail: `":1,` + around},
		{Name: "metadata of 1 GB", Full: 1 << 10, head: `{"deviceProperties":[`, unit: repeat(numbers), tail: `1],` + around},
		{Name: "events of 60 MB", Full: 3000, head: "[" + sound, tail: `"}]`, unit: func(b []byte, i int) []byte {
			if i%60 == 0 {
				if i > 0 {
					b = append(b, `"}`...)
				}
				b = fmt.Appendf(b, `,{"ph":"X","cat":"kernel","pid":0,"tid":7,"ts":%d,"dur":1,"name":"%d`, i, i)
			}
			return append(b, text...)
		}},
	}
}

// many returns inputs with many distinct names, threads or devices: one event for
// each, with its number instead of every %d.
func many() (cases []Case) {
	for _, c := range []struct {
		name, format string
		full         int
	}{
		{"names of operators", `{"ph":"X","cat":"cpu_op","name":"op %d","pid":1,"tid":1,"ts":%d,"dur":1},`, 10e6},
		{"names of Python functions", `{"ph":"X","cat":"python_function","name":"f %d","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"Python id":%d}},`, 10e6},
		{"names of kernels", `{"ph":"X","cat":"kernel","name":"kernel_%d","pid":0,"tid":7,"ts":%d,"dur":1,"args":{"device":0,"stream":7,"correlation":%d}},`, 10e6},
		{"long names of kernels", `{"ph":"X","cat":"kernel","name":"` + strings.Repeat("a", 4000) + `_%d","pid":0,"tid":7,"ts":%d,"dur":1,"args":{"device":0,"stream":7}},`, 2e6},
		{"launches", `{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":1,"args":{"device":0,"stream":7,"grid":[%d,%d,1]}},`, 10e6},
		{"sizes of copies", `{"ph":"X","cat":"cuda_runtime","name":"hipMemcpyAsync","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"size":%d,"correlation":%d}},`, 10e6},
		{"threads", `{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":%d,"ts":%d,"dur":1},`, 1e6},
		{"processes and threads", `{"ph":"X","cat":"cpu_op","name":"op","pid":%d,"tid":"t%d","ts":%d,"dur":1},`, 5e6},
		{"devices", `{"ph":"X","cat":"kernel","name":"k","pid":%d,"tid":7,"ts":%d,"dur":1,"args":{"device":%d,"stream":7}},`, 1e6},
		{"streams", `{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":1,"args":{"device":0,"stream":%d}},`, 1e6},
		{"streams and names", `{"ph":"X","cat":"kernel","name":"k%d","pid":0,"tid":7,"ts":%d,"dur":1,"args":{"device":0,"stream":%d}},`, 10e6},
		{"copies on streams", `{"ph":"X","cat":"gpu_memcpy","name":"m%d","pid":0,"tid":7,"ts":%d,"dur":1,"args":{"device":0,"stream":%d,"bytes":1}},`, 3e6},
		{"labels of threads", `{"ph":"M","name":"thread_name","pid":%d,"tid":%d,"args":{"name":"thread %d"}},`, 10e6},
		{"begins", `{"ph":"B","name":"b %d","pid":1,"tid":1,"ts":%d},`, 10e6},
		{"asynchronous begins", `{"ph":"b","cat":"a","id":%d,"name":"b %d","pid":1,"tid":1,"ts":%d},`, 10e6},
		{"categories", `{"ph":"X","cat":"c %d","name":"s","pid":1,"tid":1,"ts":%d,"dur":1},`, 10e6},
		{"steps", `{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":1,"tid":1,"ts":%d,"dur":1},`, 10e6},
		{"nested spans", `{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":%d,"dur":100000000},`, 10e6},
	} {
		head := "["
		if strings.HasPrefix(c.format, `{"ph":"M"`) {
			head += sound + "," // else there is nothing to judge
		}
		cases = append(cases, Case{Name: fmt.Sprintf("%d %s", c.full, c.name), Full: c.full, head: head, tail: "{}]",
			unit: func(b []byte, i int) []byte { return appendUnit(b, c.format, i) }})
	}
	return cases
}

// appendUnit appends the format with i instead of every %d. It is several times
// faster than package fmt.
func appendUnit(b []byte, format string, i int) []byte {
	for {
		at := strings.IndexByte(format, '%')
		if at < 0 {
			return append(b, format...)
		}
		b = append(b, format[:at]...)
		b = strconv.AppendInt(b, int64(i), 10)
		format = format[at+len("%d"):]
	}
}

// Write writes the case with so many units.
func (c Case) Write(w io.Writer, units int) error {
	if c.packing != "" {
		return c.writePacked(w, units)
	}
	b := []byte(c.head)
	for i := range units {
		if b = c.unit(b, i); len(b) > mega {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	b = append(b, strings.Repeat(c.close, units)...)
	_, err := w.Write(append(b, c.tail...))
	return err
}

// writePacked compresses a stretch of units once and writes it repeatedly, because
// files of several members or frames are common.
func (c Case) writePacked(w io.Writer, units int) error {
	const stretch = 16
	pack := packers[c.packing]
	unit := c.unit(nil, 0)
	if _, err := w.Write(pack([]byte(c.head))); err != nil {
		return err
	}
	packed := pack(bytes.Repeat(unit, stretch))
	for i := 0; i < units; i += stretch {
		if _, err := w.Write(packed); err != nil {
			return err
		}
	}
	return nil
}

var packers = map[string]func([]byte) []byte{
	"gzip": gzipped,
	"zstd": func(b []byte) []byte {
		z, _ := zstd.NewWriter(nil) // fails for bad options only
		defer z.Close()
		return z.EncodeAll(b, nil)
	},
	"gzip gzip": func(b []byte) []byte { return gzipped(gzipped(b)) },
}

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	z.Write(b)
	z.Close()
	return out.Bytes()
}
