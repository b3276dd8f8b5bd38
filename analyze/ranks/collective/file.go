package collective

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"assay/internal/diag"
)

// An OfGPU has the collectives of one GPU, as stored in a file of [Encode].
type OfGPU struct {
	Device  int64
	Columns *Columns
}

// The file is the magic, the version, a body and a checksum. The body has only
// varints and texts: the number of GPUs and, for each, its number, its groups, its
// kinds and its runs. Times, numbers and streams are differences from what the run
// before makes probable, so a run takes about 10 bytes.
const (
	magic   = "\x89ASSAYCC"
	version = 1
	sumSize = 4 // bytes of the checksum, CRC-32 with Castagnoli's polynomial
)

// IsFile reports whether a file begins as [Encode] writes it.
func IsFile(head []byte) bool { return len(head) >= len(magic) && string(head[:len(magic)]) == magic }

// Encode writes the collectives of the GPUs of one input. The same collectives give the
// same bytes.
func Encode(w io.Writer, list []OfGPU) error {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	e := encoder{w: bufio.NewWriterSize(io.MultiWriter(w, sum), 64<<10), sum: sum}
	e.w.WriteString(magic)
	e.count(version)
	e.count(len(list))
	for _, g := range list {
		e.number(g.Device)
		e.columns(g.Columns)
	}
	if err := e.w.Flush(); err != nil {
		return err
	}
	_, err := w.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32()))
	return err
}

// An encoder writes the parts of a file. Its writer keeps the first error until Flush.
type encoder struct {
	w   *bufio.Writer
	sum hash.Hash32
	buf [binary.MaxVarintLen64]byte
}

func (e *encoder) count(n int) { e.unsigned(uint64(n)) }

func (e *encoder) unsigned(n uint64) { e.w.Write(binary.AppendUvarint(e.buf[:0], n)) }

func (e *encoder) number(n int64) { e.w.Write(binary.AppendVarint(e.buf[:0], n)) }

func (e *encoder) text(s string) {
	e.count(len(s))
	e.w.WriteString(s)
}

func (e *encoder) flag(b bool) {
	n := 0
	if b {
		n = 1
	}
	e.count(n)
}

func (e *encoder) columns(c *Columns) {
	e.count(len(c.Groups))
	for _, g := range c.Groups {
		e.unsigned(g.ID)
		e.text(g.Name)
		e.text(g.Ranks)
		e.number(int64(g.Size))
		e.flag(g.Local)
	}
	e.count(len(c.Whats))
	for _, w := range c.Whats {
		e.count(int(w.Op))
		e.text(w.Dtype)
		e.number(w.In)
		e.number(w.Out)
		e.number(w.Message)
		e.count(int(w.Group))
		e.number(int64(w.Peer))
		e.flag(w.Sends)
	}
	e.count(len(c.Runs))
	p := newPredictor(len(c.Groups), len(c.Whats))
	for i := range c.Runs {
		r := &c.Runs[i]
		seq, stream := p.next(r.What, c.Whats[r.What].Group)
		e.unsigned(uint64(r.What))
		e.number(r.Start - p.start) // differences wrap around, and so do the sums of the decoder
		e.number(r.End - r.Start)
		e.number(int64(int32(r.Seq - *seq)))
		e.number(int64(r.Stream) - int64(*stream))
		e.unsigned(uint64(r.Queued + 1)) // 0 for NoQueue
		p.start = r.Start
		*seq, *stream = r.Seq, r.Stream
	}
}

// predictor has the expected values of the next run. Only differences from them are stored, which makes
// runs short.
type predictor struct {
	start   int64
	seqs    []uint32 // the number of the last run of each group
	streams []int32  // the stream of the last run of each kind
}

func newPredictor(groups, whats int) *predictor {
	p := &predictor{seqs: make([]uint32, groups), streams: make([]int32, whats)}
	for i := range p.seqs {
		p.seqs[i] = NoSeq
	}
	return p
}

// next returns the expected number and stream of a run of a kind. The caller sets both to
// those of the run.
func (p *predictor) next(what uint32, group int32) (seq *uint32, stream *int32) {
	seq = &p.seqs[group]
	if *seq != NoSeq {
		*seq++
	}
	return seq, &p.streams[what]
}

// Decode reads what [Encode] wrote. The name is that of the file, for errors, which have
// the position. The columns and the text of the file take at most limit bytes. Every
// count is checked against what is left of the file before memory is allocated.
func Decode(r io.Reader, name string, limit int64) ([]OfGPU, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit/2+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d := decoder{name: name, text: text, limit: limit}
	if int64(len(text)) > limit/2 {
		return nil, d.tooLarge()
	}
	return d.file()
}

// decoder reads the parts of a file. After its first error everything that it reads is 0.
type decoder struct {
	name  string
	text  []byte
	at    int
	used  int64 // bytes of memory that the columns take
	limit int64
	err   error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = &diag.Error{Pos: diag.Pos{File: d.name, Offset: int64(d.at)}, Msg: fmt.Sprintf(format, args...)}
	}
}

const again = "; copy the file again, or save the trace again"

func (d *decoder) tooLarge() error {
	return fmt.Errorf("%s: the collectives take more than %d MiB of memory; raise --max-memory", d.name, d.limit>>20)
}

func (d *decoder) file() ([]OfGPU, error) {
	if !IsFile(d.text) {
		d.fail("this is not a file of collectives that assay wrote%s", again)
		return nil, d.err
	}
	end := len(d.text) - sumSize
	if d.at = len(magic); end <= d.at {
		d.fail("the file is cut%s", again)
		return nil, d.err
	}
	if v, n := binary.Uvarint(d.text[d.at:end]); n > 0 && v != version {
		d.fail("the version is %d, want %d; read it with the assay that wrote it, or save the trace again", v, version)
		return nil, d.err
	}
	if sum := crc32.Checksum(d.text[:end], crc32.MakeTable(crc32.Castagnoli)); sum != binary.LittleEndian.Uint32(d.text[end:]) {
		d.at = end
		d.fail("the checksum is wrong: the file is damaged or cut%s", again)
		return nil, d.err
	}
	d.text = d.text[:end]
	d.unsigned() // the version
	const least = 4
	out := make([]OfGPU, 0, d.count("GPUs", least, 24))
	for range cap(out) {
		g := OfGPU{Device: d.number(), Columns: d.columns()}
		if d.err != nil {
			return nil, d.err
		}
		out = append(out, g)
	}
	if d.at < len(d.text) {
		d.fail("%d bytes follow the last GPU%s", len(d.text)-d.at, again)
	}
	return out, d.err
}

func (d *decoder) unsigned() uint64 {
	n, size := binary.Uvarint(d.text[d.at:])
	if size <= 0 {
		d.fail("a number is cut or too large%s", again)
	}
	if d.err != nil {
		return 0
	}
	d.at += size
	return n
}

func (d *decoder) number() int64 {
	u := d.unsigned()
	return int64(u>>1) ^ -int64(u&1)
}

// count reads the number of elements that follow. Each takes at least least bytes of the file and size
// bytes of memory, so an impossible number is refused before memory is allocated.
func (d *decoder) count(what string, least int, size int64) int {
	from := d.at
	n := d.unsigned()
	if left := len(d.text) - d.at; n > uint64(left/least) {
		d.at = from
		d.fail("the number of %s is %d, and %d bytes are left%s", what, n, left, again)
	}
	if d.err != nil {
		return 0
	}
	if d.used += int64(n) * size; d.used > d.limit/2 {
		d.err = d.tooLarge()
		return 0
	}
	return int(n)
}

func (d *decoder) str() string {
	n := d.count("bytes of a text", 1, 1)
	if d.err != nil {
		return ""
	}
	d.at += n
	return string(d.text[d.at-n : d.at])
}

// below reads a number under a limit.
func (d *decoder) below(what string, limit int) uint64 {
	from := d.at
	n := d.unsigned()
	if d.err == nil && n >= uint64(limit) {
		d.at = from
		d.fail("%s is %d, want less than %d%s", what, n, limit, again)
		return 0
	}
	return n
}

// within reads a number of 32 bits.
func (d *decoder) within(what string, base int64) int32 {
	from := d.at
	n := base + d.number()
	if n != int64(int32(n)) {
		d.at = from
		d.fail("%s is %d, want 32 bits%s", what, n, again)
	}
	return int32(n)
}

func (d *decoder) columns() *Columns {
	c := &Columns{Groups: make([]Group, d.count("groups", 5, 64))}
	for i := range c.Groups {
		c.Groups[i] = Group{ID: d.unsigned(), Name: d.str(), Ranks: d.str(), Size: int(d.number()),
			Local: d.below("a flag", 2) == 1}
	}
	c.Whats = make([]What, d.count("kinds", 8, 64))
	for i := range c.Whats {
		w := What{Op: Op(d.below("an operation", int(ops))), Dtype: d.str(), In: d.number(), Out: d.number(),
			Message: d.number()}
		w.Group = int32(d.below("a group", len(c.Groups)))
		w.Peer = d.within("a peer", 0)
		w.Sends = d.below("a flag", 2) == 1
		c.Whats[i] = w
	}
	c.Runs = make([]Run, d.count("collectives", 6, 32))
	p := newPredictor(len(c.Groups), len(c.Whats))
	for i := range c.Runs {
		what := uint32(d.below("a kind", len(c.Whats)))
		if d.err != nil {
			return c
		}
		seq, stream := p.next(what, c.Whats[what].Group)
		r := Run{What: what, Start: p.start + d.number()}
		r.End = r.Start + d.number()
		r.Seq = *seq + uint32(d.within("a number", 0))
		r.Stream = d.within("a stream", int64(*stream))
		r.Queued = uint32(d.below("a time in the queue", 1<<32)) - 1
		p.start, *seq, *stream = r.Start, r.Seq, r.Stream
		c.Runs[i] = r
	}
	return c
}
