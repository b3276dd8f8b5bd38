// Package perfetto reads traces of Perfetto as protocol buffers (*.pftrace, *.perfetto-trace), which rocprofv3, PyTorch's
// CUPTI monitor, Chrome and many other programs write.
//
// A trace is a list of packets in any order. Packets of one writer are a sequence, which has its own table of names and
// its own default clock. A slice is a begin and an end on a track. So marks are kept until the end, then sorted and
// paired (pair.go), and what they are follows from their categories, tracks and annotations (kinds.go).
//
// perfetto.go has the packets, sequence.go the state of a writer, clock.go the clocks, event.go one event of a track,
// track.go the tracks, ftrace.go the scheduler of the host.
package perfetto

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"assay/internal/diag"
	"assay/internal/protoscan"
	"assay/internal/redact"
	"assay/trace"
)

// Fields of a packet.
const (
	packetFtrace      = 1
	packetProcesses   = 2
	packetClocks      = 6
	packetTime        = 8
	packetSequence    = 10
	packetTrackEvent  = 11
	packetInterned    = 12
	packetFlags       = 13
	packetCleared     = 41
	packetLost        = 42
	packetCompressed  = 50
	packetRenderStage = 53
	packetTimeClock   = 58
	packetDefaults    = 59
	packetTrack       = 60
)

// The formats, as inputs have them.
const (
	Format       = "perfetto"
	FormatROCm   = "rocprofv3-perfetto"
	FormatKineto = "kineto-perfetto"
)

const (
	firstKey      = 1<<3 | 2 // of a packet in a trace
	mostPacket    = 64 << 20
	mostInflated  = 256 << 20 // bytes of the packets in a compressed one
	mostSequences = 1 << 16
	mostParts     = 1 << 12 // of one packet
)

// knownFields are fields with which packets begin.
var knownFields = map[int]bool{}

func init() {
	for _, n := range []int{1, 2, 3, 6, 8, 10, 11, 12, 13, 33, 35, 36, 41, 42, 43, 44, 45, 50, 53, 56, 58, 59, 60, 61, 69, 79, 87, 89, 98} {
		knownFields[n] = true
	}
}

// Sniff reports whether a file that begins with head is a trace of Perfetto: packets that begin with fields that packets
// have.
func Sniff(head []byte) bool {
	packets := 0
	for at := 0; at < len(head) && packets < 8; packets++ {
		if head[at] != firstKey {
			return false
		}
		size, n := binary.Uvarint(head[at+1:])
		if n <= 0 || size < 2 || size > mostPacket {
			return false
		}
		at += 1 + n
		if at < len(head) {
			if key, _ := binary.Uvarint(head[at:]); !knownFields[int(key>>3)] {
				return false
			}
		}
		if size > uint64(len(head)) {
			return packets > 0
		}
		at += int(size)
	}
	return packets > 1
}

// A reader makes a trace of packets.
type reader struct {
	file string
	out  *trace.Assembler
	meta trace.Meta

	at       int64
	packets  int64
	damaged  int64
	lost     int64 // packets whose names were in packets that are lost
	counters int64
	graphics int64 // work of a GPU that is not of a program of computation

	most, used int64
	full       bool

	input    int64 // bytes that may be read, 0 for any number
	bomb     int64 // bytes that packets may inflate to, whatever the file has
	inflated int64
	limit    error // that ended the reading, a trace.LimitError

	sequences map[uint64]*sequence
	clocks    clocks
	tracks    map[uint64]*track
	order     []*track
	texts     texts
	marks     []mark
	facts     []kept
	places    []int // of annotations, by the number of their text
	parts     []protoscan.Field
	body      []byte // of the packet
	inner     []byte // of the one in a compressed packet
	readings  []reading
	off       []offCPU
	sched     scheduler
	threads   map[int64]int64 // processes of threads
	tools     tools
	device    int64 // the GPU of the last queue whose work states it, plus 1
}

// Read reads a trace. The format tells which program wrote it.
func Read(in io.Reader, name string, sel trace.Select) (t *trace.Trace, format string, err error) {
	r := newReader(name, sel)
	if t, err = r.read(in); err != nil {
		return nil, "", err
	}
	return t, r.tools.format(), nil
}

func newReader(name string, sel trace.Select) *reader {
	most := sel.Limits.Memory
	if most <= 0 {
		most = trace.DefaultLimits().Memory
	}
	return &reader{file: name, out: trace.NewAssembler(name, sel), most: most / 2, input: sel.Limits.Input, bomb: trace.BombSize,
		sequences: map[uint64]*sequence{}, tracks: map[uint64]*track{}, texts: newTexts(), threads: map[int64]int64{},
		meta: trace.Meta{Devices: map[int64]string{}, Capacity: map[int64]int64{}, Hardware: map[int64]trace.Hardware{}}}
}

func (r *reader) read(in io.Reader) (*trace.Trace, error) {
	whole, err := r.stream(bufio.NewReaderSize(in, 1<<16), mostPacket, false)
	if err != nil {
		return nil, err
	}
	r.finish()
	r.note()
	return r.out.Trace(r.meta, r.packets, whole && !r.full && r.limit == nil && r.damaged == 0), nil
}

// stream reads packets. It returns false if they break off.
func (r *reader) stream(in *bufio.Reader, most uint64, inner bool) (whole bool, err error) {
	body := &r.body
	if inner {
		body = &r.inner
	}
	for !r.full {
		key, err := binary.ReadUvarint(in)
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		var size uint64
		if err == nil {
			if size, err = binary.ReadUvarint(in); errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
		}
		if err == nil && (key&7 != 2 || size > most) {
			err = fmt.Errorf("a packet of the type %d and of %d bytes", key&7, size)
		}
		if err == nil {
			err = fill(body, in, int64(size))
		}
		if err != nil {
			return false, r.broken(err, inner)
		}
		if key>>3 == 1 {
			r.packet(*body, inner)
			r.packets++
		}
		if !inner {
			r.at += int64(size)
		}
	}
	return true, nil
}

// fill reads the next bytes. A size that is false makes it take no more memory than the file has bytes.
func fill(body *[]byte, in io.Reader, size int64) (err error) {
	if int64(cap(*body)) >= size {
		*body = (*body)[:size]
		_, err = io.ReadFull(in, *body)
		return err
	}
	*body, err = io.ReadAll(io.LimitReader(in, size))
	if err == nil && int64(len(*body)) < size {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// broken notes that the file breaks off. If nothing was read before, it is an error.
func (r *reader) broken(err error, inner bool) error {
	if r.limit != nil {
		return nil
	}
	if limit := (*trace.LimitError)(nil); errors.As(err, &limit) && r.packets > 0 {
		r.limit = limit
		return nil
	}
	if r.packets == 0 && !inner {
		return fmt.Errorf("%s: not a complete Perfetto trace: %w; copy the file again", r.file, err)
	}
	r.out.Issue(diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: diag.Pos{File: r.file, Offset: r.at},
		Help: "The file ends within a packet, or it is damaged there. The rest is missing from every total. Copy the file again."}, 1)
	return nil
}

// A packet is what is used of one.
type packet struct {
	time, clock             uint64
	hasTime, hasClock, lost bool
	sequence                uint64
	flags                   uint64
	parts                   []protoscan.Field
}

// packet reads one packet. Its fields are in any order.
func (r *reader) packet(b []byte, inner bool) {
	p, surplus := packet{parts: r.parts[:0]}, false
	whole := protoscan.Each(b, func(f protoscan.Field) {
		switch f.Number {
		case packetTime:
			p.time, p.hasTime = f.Bits, true
		case packetTimeClock:
			p.clock, p.hasClock = f.Bits, true
		case packetSequence:
			p.sequence = f.Bits
		case packetFlags:
			p.flags |= f.Bits
		case packetCleared:
			p.flags |= f.Bits & 1
		case packetLost:
			p.lost = f.Bits != 0
		case packetFtrace, packetProcesses, packetClocks, packetTrackEvent, packetInterned, packetCompressed, packetRenderStage, packetDefaults, packetTrack:
			switch {
			case f.Type != protoscan.Bytes:
			case len(p.parts) < mostParts:
				p.parts = append(p.parts, f)
			default:
				surplus = true
			}
		}
	})
	if !whole || surplus {
		r.damaged++
	}
	r.parts = nil // packets in a compressed one need a list of their own
	if s := r.sequence(p.sequence); s != nil && r.begin(s, &p) {
		r.contents(s, &p, inner)
	} else {
		r.lost++
	}
	r.parts = p.parts
}

// contents reads the parts of a packet, those about its sequence first.
func (r *reader) contents(s *sequence, p *packet, inner bool) {
	for _, n := range [...]int{packetClocks, packetInterned, packetDefaults, packetTrack, packetProcesses} {
		for _, f := range p.parts {
			if f.Number == n {
				r.state(s, f)
			}
		}
	}
	for _, f := range p.parts {
		switch f.Number {
		case packetTrackEvent, packetRenderStage:
			at, ok := r.clocks.time(s, p)
			if !ok || !p.hasTime { // Chrome before 2020 counted from the time of the thread
				r.damaged++
			} else if f.Number == packetTrackEvent {
				r.event(s, at, f.Text)
			} else {
				r.renderStage(s, at, f.Text)
			}
		case packetFtrace:
			r.ftrace(f.Text)
		case packetCompressed:
			r.inflate(f.Text, inner)
		}
	}
}

// state takes what a packet says about its sequence, or about the trace.
func (r *reader) state(s *sequence, f protoscan.Field) {
	switch f.Number {
	case packetClocks:
		r.snapshot(s, f.Text)
	case packetInterned:
		r.interned(s, f.Text)
	case packetDefaults:
		s.defaults(f.Text)
	case packetTrack:
		r.describe(f.Text)
	case packetProcesses:
		r.processTree(f.Text)
	}
}

// inflate reads the packets in a compressed one. Those in it are not compressed again.
func (r *reader) inflate(b []byte, inner bool) {
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil || inner {
		r.damaged++
		return
	}
	limit := &io.LimitedReader{R: &inflating{z, r, r.at + int64(len(b))}, N: mostInflated}
	if _, err := r.stream(bufio.NewReader(limit), mostPacket, true); r.limit == nil && (err != nil || limit.N == 0) {
		r.damaged++
	}
}

// An inflating counts what all compressed packets inflate to, as other compressed inputs are counted.
type inflating struct {
	in     io.Reader
	r      *reader
	stored int64 // bytes of the file up to the end of the packet
}

func (i *inflating) Read(p []byte) (int, error) {
	n, err := i.in.Read(p)
	r := i.r
	r.inflated += int64(n)
	switch {
	case r.input > 0 && r.inflated > r.input:
		r.limit = trace.InputLimit(r.input)
	case r.input == 0 && r.inflated > r.bomb && r.inflated/trace.BombRatio > i.stored:
		r.limit = trace.InflationLimit(i.stored, r.inflated)
	default:
		return n, err
	}
	r.full = true
	return n, r.limit
}

// take reports whether n more bytes may be kept.
func (r *reader) take(n int) bool {
	if r.used += int64(n); r.used > r.most {
		r.full = true
	}
	return !r.full
}

// mostText is the number of bytes of a text that is kept.
const mostText = 64 << 10

func cut(text []byte) string { return string(redact.CutBytes(text, mostText)) }

// note adds what the user must know about the file.
func (r *reader) note() {
	at := diag.Pos{File: r.file}
	if limit := (*trace.LimitError)(nil); errors.As(r.limit, &limit) {
		r.out.Issue(diag.Issue{Code: limit.Code(), Severity: diag.DataLoss, First: diag.Pos{File: r.file, Offset: r.at},
			Help: limit.Error() + "; later events are missing"}, 1)
	} else if r.full {
		r.out.Issue(diag.Issue{Code: "memory-limit", Severity: diag.DataLoss, First: diag.Pos{File: r.file, Offset: r.at},
			Help: "The data read needs more than half of the memory, so reading stopped here and later events are missing. To read more, raise --max-memory SIZE."}, 1)
	}
	if r.damaged > 0 {
		r.out.Issue(diag.Issue{Code: "event-damaged", Severity: diag.DataLoss, First: at,
			Help: "These packets are damaged, or have times on a clock that the trace does not describe, and were left out. A file that went through a text tool is damaged: copy it as binary."}, r.damaged)
	}
	if r.lost > 0 {
		r.out.Issue(diag.Issue{Code: "packets-lost", Severity: diag.DataLoss, First: at}, r.lost)
	}
	if r.graphics > 0 {
		r.out.Issue(diag.Issue{Code: "device-not-read", Severity: diag.DataLoss, First: at,
			Help: "The file has graphics work of GPUs, which assay does not read. It is in no number."}, r.graphics)
	}
}
