package xplane

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/internal/profile"
	"assay/trace"
)

// Fields of an XSpace.
const (
	spacePlane = 1
	spaceHost  = 4
)

// Sniff reports whether a file that begins with head is an XSpace: its first field is a plane with one of the names
// that planes have.
func Sniff(head []byte) bool {
	if len(head) < 4 || head[0] != spacePlane<<3|2 {
		return false
	}
	for _, name := range []string{"/host:", "/device:", "Task Environment", "#Chip"} {
		if at := bytes.Index(head, []byte(name)); at > 1 && head[at-2] == 0x12 {
			return true
		}
	}
	return false
}

// A reader makes a trace of the planes of a file.
type reader struct {
	file string
	out  *trace.Assembler
	meta trace.Meta

	events  int64
	damaged int64
	text    bool             // it was converted as text, which replaces bytes
	at      int64            // offset of the plane that is read
	ops     map[int64]string // what launched the work of a correlation, by the work itself
	calls   []call
	others  int64 // planes of other devices, which are not read
	work    bool
	tpus    bool    // work of TPUs was read
	marked  bool    // the host marks steps
	parts   []*part // in their order in the file

	stated     map[opKey]*profile.Stated // work of TPUs
	works      map[trace.Stated]uint32   // the same, of one run: places in the trace plus 1
	mostStated int                       // rows of it

	seen     map[string]bool // names of planes
	repeated int64           // planes with the name of an earlier one
}

// A call is a call of the host that launched work. It is kept until all planes are read, because those of devices say
// which operator it belongs to.
type call struct {
	row      trace.Call // without the numbers of texts and tracks, which may change
	name, op string
	tid      int64
	key      int64 // its correlation
}

// mostPlane is the number of bytes of a plane beyond which a file is damaged: protocol buffers end at 2 GiB.
const mostPlane = 2 << 30

var devicePlane = lazyregexp.New(`^/device:GPU:(\d{1,9})$`)

// Read reads a file. The tables have the operations of TPUs with the work that XLA states of them; nil if it states none.
func Read(in io.Reader, name string, sel trace.Select) (*trace.Trace, *profile.Tables, error) {
	r, most := newReader(name, sel)
	whole, err := r.space(bufio.NewReaderSize(in, 1<<16), min(most/2, mostPlane))
	if err != nil {
		return nil, nil, err
	}
	t, tables := r.end(whole)
	return t, tables, nil
}

// newReader returns a reader, and the number of bytes of memory that it may use.
func newReader(name string, sel trace.Select) (r *reader, most int64) {
	if most = sel.Limits.Memory; most <= 0 {
		most = trace.DefaultLimits().Memory
	}
	return &reader{file: name, out: trace.NewAssembler(name, sel), ops: map[int64]string{}, seen: map[string]bool{},
		stated: map[opKey]*profile.Stated{}, works: map[trace.Stated]uint32{}, mostStated: int(min(1<<16, most>>14)),
		meta: trace.Meta{Tool: trace.ToolXLA, Devices: map[int64]string{}, Capacity: map[int64]int64{}, Hardware: map[int64]trace.Hardware{}}}, most
}

// end returns what was read. whole is false if the file breaks off.
func (r *reader) end(whole bool) (*trace.Trace, *profile.Tables) {
	r.addCalls()
	r.addSteps()
	r.note()
	if r.tpus && len(r.calls) == 0 {
		r.meta.WithoutCalls = withoutCalls
	}
	whole = whole && r.damaged == 0 && r.repeated == 0
	t := r.out.Trace(r.meta, r.events, whole)
	t.Stated = make([]trace.Stated, len(r.works))
	for work, at := range r.works {
		t.Stated[at-1] = work
	}
	return t, r.tables(whole)
}

// space reads the fields of the file. It returns false if the file breaks off.
func (r *reader) space(in *bufio.Reader, most int64) (whole bool, err error) {
	head, _ := in.Peek(512)
	r.text = bytes.Count(head, []byte("\uFFFD")) >= 8
	for n := 0; ; n++ {
		key, size, err := header(in)
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, r.broken(n, err)
		}
		if key&7 != 2 {
			return false, r.broken(n, fmt.Errorf("a field of the type %d, which an XSpace does not have", key&7))
		}
		if int64(size) > most || size > mostPlane {
			return false, r.broken(n, fmt.Errorf("a plane of %d MiB; with a larger --max-memory up to 2 GiB can be read", size>>20))
		}
		body, err := io.ReadAll(io.LimitReader(in, int64(size)))
		if err != nil {
			return false, err
		}
		switch key >> 3 {
		case spacePlane:
			r.plane(body)
		case spaceHost:
			if r.meta.Host == "" && len(body) <= 64 {
				r.meta.Host = string(body)
			}
		}
		if uint64(len(body)) < size {
			return false, r.broken(n+1, io.ErrUnexpectedEOF)
		}
		r.at += int64(size)
	}
}

// header reads the key of a field and the length of its content.
func header(in *bufio.Reader) (key, size uint64, err error) {
	if key, err = binary.ReadUvarint(in); err != nil {
		return 0, 0, err
	}
	if size, err = binary.ReadUvarint(in); errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return key, size, err
}

// broken notes that the file breaks off. If nothing was read before, it is an error.
func (r *reader) broken(planes int, err error) error {
	if planes == 0 {
		if r.text {
			return fmt.Errorf("%s: the file was converted as text: every byte that is no UTF-8 is replaced (EF BF BD); copy it as binary, or give the .trace.json.gz in the same directory", r.file)
		}
		return fmt.Errorf("%s: not a complete XSpace file: %w; copy the file again, or give the .trace.json.gz in the same directory", r.file, err)
	}
	r.out.Issue(diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: diag.Pos{File: r.file, Offset: r.at},
		Help: "The file ends within a plane, or it is damaged there. The rest is missing from every total. Copy the file again, or give the .trace.json.gz in the same directory."}, 1)
	return nil
}

// note adds what the user must know about the file.
func (r *reader) note() {
	if r.damaged > 0 {
		r.out.Issue(diag.Issue{Code: "event-damaged", Severity: diag.DataLoss, First: diag.Pos{File: r.file},
			Help: "These events or lines are damaged or have impossible times, and were left out. A file that went through a text tool is damaged: copy it as binary."}, r.damaged)
	}
	if r.repeated > 0 {
		r.out.Issue(diag.Issue{Code: "plane-repeated", Severity: diag.DataLoss, First: diag.Pos{File: r.file},
			Help: "These planes have the name of an earlier one and were left out: files of several hosts or captures were joined. Give each file by itself."}, r.repeated)
	}
	if r.others > 0 && !r.work {
		r.out.Issue(diag.Issue{Code: "device-not-read", Severity: diag.DataLoss, First: diag.Pos{File: r.file},
			Help: "The file has work of devices that are neither GPUs nor TPUs, which assay does not read, so their work is in no number."}, r.others)
	}
}

// number returns the number that a part of an expression matched.
func number(re *regexp.Regexp, text string) (int64, bool) {
	m := re.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	return n, err == nil
}
