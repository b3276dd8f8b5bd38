package export

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"assay/trace"
)

// A Rank is one input of the timeline.
type Rank struct {
	Label string // precedes the names of its processes: "rank 3"
	Shift int64  // ns to add to every time

	// Devices has the numbers of its GPUs in the timeline. A GPU that is not listed gets
	// the next free number. If Devices is nil, all GPUs keep their numbers.
	Devices map[int64]int64
}

// A Header has the metadata of the timeline, which precedes its events.
type Header struct {
	Kineto    bool   // the traces are of PyTorch's profiler
	BaseTime  *int64 // ns, to be added to every time to get Unix time
	Rank      *int   // of a timeline of one rank
	WorldSize *int   // of a timeline of one rank
	GPUs      []GPU  // that have names
	FreeGPU   int64  // the next number for a GPU that no rank lists
	Members   []Member

	// Excerpt is the member that describes the part of a capture that the timeline has; nil
	// for the whole capture.
	Excerpt []byte
}

// A GPU is a device of the timeline.
type GPU struct {
	ID       int64
	Name     string
	Capacity int64 // bytes of memory; 0 if unknown
	Hardware trace.Hardware
}

// A Member is the metadata of one input of the timeline.
type Member struct {
	Rank             int
	Input            string
	Offset, Residual *int64  // ns; nil if the clock is not aligned
	Devices          []int64 // the numbers of its GPUs in the timeline
}

// A Writer writes one timeline. The caller calls [NewWriter], [Writer.Add] for each rank
// in its order, and [Writer.Close].
type Writer struct {
	w     *bufio.Writer
	texts texts
	alone bool  // there is only one rank; its numbers stay as they are
	begun bool  // an event was written
	err   error // error of the first write that failed
	buf   []byte

	ranks    int64 // added so far
	overflow int64 // the next process number beyond those of a rank
	base     int64 // added to the small numbers that link events of this rank
	high     int64 // the largest of these numbers so far
	odd      int64 // number of ids that were replaced so far
	device   int64 // the next free number of a GPU
	limit    int64 // maximum memory for the replaced ids of one rank, in bytes
}

// NewWriter returns a Writer of a timeline of n ranks, and writes its header. The Writer
// applies mask to every text. limit is the maximum memory for the unusual ids of a rank, in
// bytes.
func NewWriter(w io.Writer, h Header, n int, limit int64, mask func(string) string) *Writer {
	t := &Writer{
		w: bufio.NewWriterSize(w, 64<<10), texts: texts{mask: mask}, alone: n == 1,
		limit: limit, overflow: int64(n+1) * stride, high: -1, device: h.FreeGPU,
	}
	t.header(h)
	return t
}

func (t *Writer) header(h Header) {
	b := append(t.buf[:0], "{\n"...)
	if h.Kineto {
		b = append(b, `"schemaVersion": 1, "deviceProperties": [`...)
		for i, g := range h.GPUs {
			b = fmt.Appendf(b, `%s{"id": %d, "name": %s`, comma(i), g.ID, t.texts.quoted(g.Name))
			if g.Capacity > 0 {
				b = fmt.Appendf(b, `, "totalGlobalMem": %d`, g.Capacity)
			}
			for name, n := range g.Hardware.Members {
				b = fmt.Appendf(b, `, "%s": %d`, name, n)
			}
			b = append(b, '}')
		}
		b = append(b, "],\n"...)
	}
	if h.Rank != nil {
		b = fmt.Appendf(b, `"distributedInfo": {"rank": %d`, *h.Rank)
		if h.WorldSize != nil {
			b = fmt.Appendf(b, `, "world_size": %d`, *h.WorldSize)
		}
		b = append(b, "},\n"...)
	}
	if h.BaseTime != nil {
		b = fmt.Appendf(b, "\"baseTimeNanoseconds\": %d,\n", *h.BaseTime)
	}
	if h.Excerpt != nil {
		b = append(append(b, h.Excerpt...), ",\n"...)
	}
	b = append(b, "\"displayTimeUnit\": \"ms\",\n\"assayTimeline\": ["...)
	for i, m := range h.Members {
		b = fmt.Appendf(b, `%s{"rank": %d, "input": %s`, comma(i), m.Rank, t.texts.quoted(m.Input))
		if m.Offset != nil && m.Residual != nil {
			b = fmt.Appendf(b, `, "offset_ns": %d, "residual_ns": %d`, *m.Offset, *m.Residual)
		}
		if len(m.Devices) > 0 {
			b = append(b, `, "devices": [`...)
			for n, d := range m.Devices {
				b = strconv.AppendInt(append(b, comma(n)...), d, 10)
			}
			b = append(b, ']')
		}
		b = append(b, '}')
	}
	t.write(append(b, "],\n\"traceEvents\": [\n"...))
}

// comma returns the separator before element i of a list.
func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ", "
}

// write writes b, unless a write has failed before.
func (t *Writer) write(b []byte) {
	if t.err == nil {
		_, t.err = t.w.Write(b)
	}
	t.buf = b[:0]
}

// begin returns the buffer for one event.
func (t *Writer) begin() []byte {
	if !t.begun {
		t.begun = true
		return t.buf[:0]
	}
	return append(t.buf[:0], ",\n"...)
}

// Close writes the end of the timeline and returns the first error of all writes.
func (t *Writer) Close() error {
	t.write(append(t.buf[:0], "\n]}\n"...))
	if t.err == nil {
		t.err = t.w.Flush()
	}
	return t.err
}

// A Sum counts the events of one rank.
type Sum struct {
	Copied  int64
	Dropped int64 // unusable, so that viewers would not show them
}

// Add copies the events of a rank in the order of rd.
func (t *Writer) Add(r Rank, rd *trace.Reader) (Sum, error) {
	c := newCopier(t, r)
	var sum Sum
	for t.err == nil && c.err == nil && rd.Scan() {
		e, ok := rd.Record().(*trace.Event)
		if !ok || e.Phase() != 'M' && !e.HasStart() {
			sum.Dropped++
			continue
		}
		sum.Copied++
		c.event(e)
	}
	c.names()
	t.ranks++
	t.base = t.high + 1
	switch {
	case t.err != nil:
		return sum, t.err
	case c.err != nil:
		return sum, c.err
	}
	return sum, rd.Err()
}
