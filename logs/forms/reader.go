package forms

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/logs"
)

const (
	// maxLine is how much of a line is read. Lines of logs with records have a few
	// thousand bytes; what a program prints of its data may have gigabytes.
	maxLine = 1 << 20

	// context is how much of the text before a line is kept for the progress bar
	// that tells its step.
	context = 4 << 10

	blockSize = 256 << 10

	// maxPlaces is how many different prefixes are remembered, and how many different
	// sets of labels there may be.
	maxPlaces = 4096

	// maxRecord is how much of a line one record may have, maxTries at how many literals
	// of a line a record is tried, and maxAhead at how many the end of a record.
	maxRecord = 64 << 10
	maxTries  = 128
	maxAhead  = 32
)

// A Reader finds the records of forms in a text that is written to it. Close
// returns what it found.
type Reader struct {
	name string
	set  *Set
	b    *logs.Builder

	buf  []byte // what is not processed yet, behind the context
	from int    // where that begins
	skip bool   // the rest of a line over the limit follows

	line    int64 // number of the line that begins at counted
	counted int   // position in buf up to which lines are counted
	nulls   int   // that the text ends with so far
	places  map[string]*place
	states  []*formState
	open    *block
	last    stamp // of the last record
	year    int64 // years that passed since the first time of a log without years
	leap    bool  // a 29 February without its year was found

	scratch, keyless []byte
	got              []got
}

// A formState is what a reader knows of a form: its fields, and those that it has met
// besides.
type formState struct {
	*Form
	keys    map[string]int // of all keys met: the number in known
	known   []field
	names   []string         // of the fields in known, as keys are written
	follow  []int            // by key, the one that came behind it last, or -1: records have their keys in one order
	before  int              // the last key, or -1
	ids     map[*place][]int // the series of a place, by field
	streams map[*place]int

	at       *place // the place of the last record, with what the maps have of it
	atIDs    []int
	atStream int
	used     bool             // it has a series
	bars     map[string]int64 // the last step from a bar, by the first key of its record
}

// A place is what the prefixes of lines tell: labels.
type place struct {
	ranks, all []logs.Label // without and with those of processes
	key        string
}

// A got is a value of a record.
type got struct {
	field int
	paren bool
	v     reading
}

// A block is a record of several lines that has begun.
type block struct {
	state *formState
	at    place
	time  int64
	step  int64
	left  int
	from  int64 // the line where it began
}

// NewReader returns a reader for an input of the given name.
func NewReader(name string, set *Set, limits logs.Limits) *Reader {
	r := &Reader{name: name, set: set, b: logs.NewBuilder(limits), line: 1, places: map[string]*place{}}
	for _, f := range set.list {
		r.states = append(r.states, &formState{Form: f})
	}
	return r
}

// Read reads a text. The error is that of the input, and comes with what was read
// before.
func Read(in io.Reader, name string, set *Set, limits logs.Limits) (*logs.Log, error) {
	r := NewReader(name, set, limits)
	buf := make([]byte, blockSize)
	for {
		n, err := in.Read(buf)
		r.Write(buf[:n])
		if err == io.EOF {
			return r.Close(true), nil
		}
		if err != nil {
			return r.Close(false), err
		}
	}
}

// Write reads more of the text. It returns no error.
func (r *Reader) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part := p[:min(len(p), blockSize)]
		p = p[len(part):]
		r.holes(part)
		r.part(part)
	}
	return n, nil
}

// holes notes null characters in succession, which may begin in one part and end in another.
func (r *Reader) holes(part []byte) {
	for at := 0; at < len(part); {
		if part[at] != 0 {
			r.nulls = 0
			n := bytes.IndexByte(part[at:], 0)
			if n < 0 {
				return
			}
			at += n
			continue
		}
		n := len(part[at:]) - len(bytes.TrimLeft(part[at:], "\x00"))
		if r.nulls < hole && r.nulls+n >= hole {
			line := r.line + int64(bytes.Count(r.buf[r.counted:], []byte("\n"))+bytes.Count(part[:at], []byte("\n")))
			r.b.Note(diag.Issue{Code: "log-hole", Severity: diag.DataLoss, First: diag.Pos{File: r.name, Line: int(line)}})
		}
		r.nulls += n
		at += n
	}
}

// part reads a part of the text. Its last line is kept until it is complete.
func (r *Reader) part(p []byte) {
	if r.skip {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			return
		}
		p, r.skip = p[end:], false
	}
	r.buf = append(r.buf, p...)
	end := bytes.LastIndexByte(r.buf[r.from:], '\n') + 1
	if end == 0 && len(r.buf)-r.from <= maxLine {
		return
	}
	if end == 0 { // a line over the limit
		end = len(r.buf) - r.from
		r.skip = true
	}
	r.process(r.from + end)
	r.keep(r.from + end)
}

// keep drops what is processed, but for the context.
func (r *Reader) keep(end int) {
	if r.counted < end {
		r.line += int64(bytes.Count(r.buf[r.counted:end], []byte("\n")))
	}
	start := max(0, end-context)
	n := copy(r.buf, r.buf[start:])
	r.buf, r.from, r.counted = r.buf[:n], end-start, end-start
}

// Close ends the text, and tells whether it is complete.
func (r *Reader) Close(complete bool) *logs.Log {
	if !r.skip {
		r.trimCut()
		r.process(len(r.buf))
	}
	r.keep(len(r.buf))
	r.closeBlock()
	r.finish()
	lines := r.line
	if n := len(r.buf); n == 0 || r.buf[n-1] == '\n' {
		lines--
	}
	return r.b.Log(lines, complete)
}

// hole is how many null characters a lost block of a file has at least. Texts have none.
const hole = 16

// trimCut removes the number at the end of a text whose last line has no end: the text may
// have been cut within the number, and 25 may be the beginning of 25.75.
func (r *Reader) trimCut() {
	end := len(r.buf)
	at := end
	for at > r.from && (isDigit(r.buf[at-1]) || strings.IndexByte(".+-eE", r.buf[at-1]) >= 0) {
		at--
	}
	start := r.from + 1 + max(bytes.LastIndexByte(r.buf[r.from:], '\n'), bytes.LastIndexByte(r.buf[r.from:], '\r'))
	if at == end || at <= start || !isDigit(r.buf[end-1]) && r.buf[end-1] != '.' {
		return
	}
	if found, _ := r.set.matcher.next(r.buf[start:end], 0); found < 0 {
		return
	}
	r.b.Note(diag.Issue{Code: "log-cut", Severity: diag.Suspect, First: r.pos(start)})
	r.buf = r.buf[:at]
}

// fallbackMark is behind the producer of series that others may replace.
const fallbackMark = "\x00fallback"

// finish applies what only the end of the text shows: series that others replace, and
// labels with one value.
func (r *Reader) finish() {
	have := map[string]bool{}
	for _, s := range r.states {
		if s.used {
			have[s.ID] = true
		}
	}
	replaced := map[string]bool{}
	for _, s := range r.states {
		if s.fallback != "" && have[s.fallback] {
			replaced[s.Producer+fallbackMark] = true
		}
	}
	if len(replaced) > 0 {
		r.b.DropSeries(func(s *logs.Series) bool { return replaced[s.Producer] })
	}
	r.b.EachSeries(func(s *logs.Series) { s.Producer = strings.TrimSuffix(s.Producer, fallbackMark) })
	values := map[string]string{}
	several := map[string]bool{}
	r.b.EachSeries(func(s *logs.Series) {
		for _, name := range []string{"replica", "task", "host"} {
			key, v := s.Producer+"\x00"+name, s.Label(name)
			if first, ok := values[key]; ok && first != v {
				several[key] = true
			}
			values[key] = v
		}
	})
	r.b.EachSeries(func(s *logs.Series) {
		s.Labels = slices.DeleteFunc(s.Labels, func(l logs.Label) bool {
			return processLabels(l.Name) && !several[s.Producer+"\x00"+l.Name]
		})
	})
}

// process finds the records up to a position of the buffer.
func (r *Reader) process(end int) {
	b := r.buf[:end]
	for pos := r.from; pos < end; {
		if r.open != nil {
			next := lineEnd(b, pos)
			r.inBlock(pos, next)
			pos = next + 1
			continue
		}
		at, literal := r.set.matcher.next(b, pos)
		if at < 0 {
			return
		}
		start, next := r.lineStart(b, at, pos), lineEnd(b, at)
		r.lineFrom(start, next, at-start, literal)
		pos = next + 1
	}
}

// lineEnd returns where the line that has a position ends: at a line feed, or at a
// carriage return, with which progress bars overwrite themselves.
func lineEnd(b []byte, at int) int {
	end := len(b)
	if n := bytes.IndexByte(b[at:], '\n'); n >= 0 {
		end = at + n
	}
	if n := bytes.IndexByte(b[at:end], '\r'); n >= 0 {
		return at + n
	}
	return end
}

// lineStart returns where the line that has a position begins, not before pos.
func (r *Reader) lineStart(b []byte, at, pos int) int {
	for at > pos && b[at-1] != '\n' && b[at-1] != '\r' {
		at--
	}
	return at
}

// pos returns the position of a line, by where it begins in the buffer.
func (r *Reader) pos(start int) diag.Pos {
	if start > r.counted {
		r.line += int64(bytes.Count(r.buf[r.counted:start], []byte("\n")))
		r.counted = start
	}
	return diag.Pos{File: r.name, Line: int(r.line)}
}

// clean returns a line as a terminal shows it.
func (r *Reader) clean(start, end int) []byte {
	line := r.buf[start:min(end, start+maxLine)]
	if bytes.IndexByte(line, 0x1b) >= 0 {
		r.scratch = plain(line, r.scratch)
		line = r.scratch
	}
	return line
}

// repeatedEnd is how Ray ends a line that stands for several lines of other workers,
// which it left out because they are alike.
var repeatedEnd, repeatedMark = []byte("across cluster]"), []byte(" [repeated ")

// repeatedHelp begins the explanation that Ray adds to its first note.
var repeatedHelp = []byte(" (Ray deduplicates logs")

// single returns a line without Ray's note on repetitions, and whether it had one.
func single(line []byte) ([]byte, bool) {
	end := bytes.TrimRight(line, " \t\r")
	if bytes.HasSuffix(end, []byte(")")) {
		if n := bytes.LastIndex(end, repeatedHelp); n >= 0 {
			end = end[:n]
		}
	}
	if bytes.HasSuffix(end, repeatedEnd) {
		if n := bytes.LastIndex(end, repeatedMark); n >= 0 {
			return line[:n], true
		}
	}
	return line, false
}

// merged notes that values of other workers are lost.
func (r *Reader) merged(start int) {
	r.b.Note(diag.Issue{Code: "log-lines-merged", Severity: diag.Info, First: r.pos(start)})
}

// oneLine reads all records of a line.
func (r *Reader) oneLine(start, end int) bool { return r.lineFrom(start, end, -1, 0) }

// lineFrom is oneLine for a line whose first literal is known, unless at is -1.
func (r *Reader) lineFrom(start, end, at, literal int) bool {
	line := r.clean(start, end)
	if len(line) != end-start { // without escape sequences, or too long
		at = -1
	}
	line, repeated := single(line)
	found := false
	done := 0 // the end of the last record
	for from, tries := 0, 0; from < len(line) && tries < maxTries; tries++ {
		if tries > 0 || at < 0 || at >= len(line) {
			at, literal = r.set.matcher.next(line, from)
		}
		if at < 0 {
			break
		}
		from = at + 1
		for _, i := range r.set.by[literal] {
			s := r.states[i]
			begin, ok := s.begin(line, at, len(r.set.matcher.literals[literal]), done)
			if !ok || !s.plausible(line[begin:]) {
				continue
			}
			limit := r.limit(line, at+len(r.set.matcher.literals[literal]), begin)
			if r.record(s, line, done, begin, limit, start) {
				if repeated && !found {
					r.merged(start)
				}
				found, done = true, limit
				from = max(from, limit)
				break
			}
		}
		if r.open != nil {
			break
		}
	}
	return found
}
