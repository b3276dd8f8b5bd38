package forms

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/internal/redact"
	"assay/logs"
	"assay/logs/bars"
	"assay/logs/config"
)

const (
	// maxLine is the number of bytes of a line that are read. Lines with records have a
	// few thousand bytes; a program that prints its data may write lines of gigabytes.
	maxLine = 1 << 20

	// context is the number of bytes before a line that are kept, because they may have a
	// progress bar with the step of its record.
	context = 4 << 10

	blockSize = 256 << 10

	// maxPlaces is the maximum number of cached prefixes, and of different sets of
	// labels.
	maxPlaces = 4096

	// maxRecord is the maximum length of a record in bytes. maxTries and maxAhead are the
	// numbers of literals of a line at which the beginning and the end of a record are
	// searched for.
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
	conf *config.Reader

	buf  []byte // the context, then the bytes that are not processed yet
	from int    // index in buf of the bytes that are not processed yet
	skip bool   // the rest of a line over the limit follows and is skipped

	line    int64 // number of the line that begins at counted
	counted int   // position in buf up to which lines are counted
	nulls   int   // number of null characters at the end of the text so far
	places  map[string]*place
	states  []*formState
	open    *block
	last    stamp // of the last record
	times   timeTrack
	year    int64 // number of years since the first time, in a log without years
	leap    bool  // a 29 February without a year was found
	bars    bars.Set
	latest  int64 // the step of the last record with one, or NoStep
	dropped int64 // bytes of the text before buf

	keyless []byte
	got     []keyValue
}

// A formState is the state of a form in one input: its fields, and keys of the input that have
// no field in the form.
type formState struct {
	*Form
	keys    map[string]int // number in known of each key of the input
	known   []field
	names   []string         // the names of the fields in known, as the input writes them
	follow  []int            // by key: the key that last followed it, or -1; see keyOf
	before  int              // the last key, or -1
	ids     map[*place][]int // the series of a place, by field
	streams map[*place]int

	at       *place // the place of the last record, to save lookups in the maps
	atIDs    []int
	atStream int
	used     bool             // a series was created
	foreign  []string         // keys that a listed form does not have
	foreigns diag.Pos         // the first record with one
	bars     map[string]int64 // by the first key of a record: the last step from a progress bar
}

// A place is the set of labels in the prefix of a line.
type place struct {
	ranks, all []logs.Label // without and with the labels of processes
	key        string
}

// A keyValue is a value of a record.
type keyValue struct {
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

	indented bool // its first row is indented, so all are
}

// NewReader returns a reader for an input of the given name.
func NewReader(name string, set *Set, limits logs.Limits) *Reader {
	r := &Reader{name: name, set: set, b: logs.NewBuilder(limits), conf: config.NewReader(), line: 1, latest: logs.NoStep,
		places: map[string]*place{}}
	for _, f := range set.list {
		r.states = append(r.states, &formState{Form: f})
	}
	return r
}

// Read reads a text. If the input fails, it returns the log read so far together with the
// error.
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
		r.conf.Write(part)
		r.part(part)
	}
	return n, nil
}

// holes finds runs of null characters, which may extend over several parts of the text.
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

// keep drops the processed bytes of buf, except for the context.
func (r *Reader) keep(end int) {
	if r.counted < end {
		r.line += int64(bytes.Count(r.buf[r.counted:end], []byte("\n")))
	}
	start := max(0, end-context)
	n := copy(r.buf, r.buf[start:])
	r.dropped += int64(start)
	r.buf, r.from, r.counted = r.buf[:n], end-start, end-start
}

// Close ends the text and returns the log. The argument states whether the text is complete.
func (r *Reader) Close(complete bool) *logs.Log {
	if !r.skip {
		r.trimCut()
		r.process(len(r.buf))
	}
	r.keep(len(r.buf))
	r.closeBlock()
	r.finish()
	r.b.Settings(r.conf.Settings())
	first, last, gaps := r.times.ends(r.kind())
	r.b.Times(first, last, gaps, r.kind()%zonedKind == 1)
	lines := r.line
	if n := len(r.buf); n == 0 || r.buf[n-1] == '\n' {
		lines--
	}
	return r.b.Log(lines, complete)
}

// kind returns the kind of the times of records, or of those of a text without records.
func (r *Reader) kind() int {
	if r.last.to > 0 {
		return kindOf(r.last)
	}
	for _, kind := range []int{1, 1 + zonedKind} {
		if r.times.of[kind].any {
			return kind
		}
	}
	return 0
}

// hole is the minimum number of null characters that count as a lost block of a file.
const hole = 16

// trimCut removes a number at the end of a text whose last line has no line end. The text may
// have been cut within the number: 25 may be the beginning of 25.75.
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

// fallbackMark is appended to the producer of series that others may replace.
const fallbackMark = "\x00fallback"

// finish applies corrections that need the whole text: it drops series that others replace,
// and labels that have only one value.
func (r *Reader) finish() {
	r.noteForeign()
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
	r.barSteps()
	waiting(r)
	nest(r)
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
	r.times.track(b[r.from:])
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

// lineEnd returns the end of the line at a position: a line feed, or a carriage return, with
// which progress bars overwrite themselves.
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

// lineStart returns the beginning of the line at a position, not before pos.
func (r *Reader) lineStart(b []byte, at, pos int) int {
	for at > pos && b[at-1] != '\n' && b[at-1] != '\r' {
		at--
	}
	return at
}

// pos returns the position in the input of a line that begins at an index of the buffer.
func (r *Reader) pos(start int) diag.Pos {
	if start > r.counted {
		r.line += int64(bytes.Count(r.buf[r.counted:start], []byte("\n")))
		r.counted = start
	}
	return diag.Pos{File: r.name, Line: int(r.line)}
}

// clean returns a line as a terminal shows it, and whether it is in the buffer.
func (r *Reader) clean(start, end int) (line []byte, same bool) {
	part := r.buf[start:end]
	line = redact.Line(redact.CutBytes(part, maxLine))
	return line, len(line) == len(part) && (len(line) == 0 || &line[0] == &part[0])
}

// repeatedEnd ends a line of Ray that represents several similar lines of other workers,
// which Ray did not print.
var repeatedEnd, repeatedMark = []byte("across cluster]"), []byte(" [repeated ")

// repeatedHelp begins the explanation that Ray adds to the first such line.
var repeatedHelp = []byte(" (Ray deduplicates logs")

// single returns a line without Ray's note about repetitions, and whether it had one.
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

// merged adds an issue for values of other workers that Ray did not print.
func (r *Reader) merged(start int) {
	r.b.Note(diag.Issue{Code: "log-lines-merged", Severity: diag.Info, First: r.pos(start)})
}

// oneLine reads all records of a line.
func (r *Reader) oneLine(start, end int) bool { return r.lineFrom(start, end, -1, 0) }

// lineFrom is oneLine for a line whose first literal is known, unless at is -1.
func (r *Reader) lineFrom(start, end, at, literal int) bool {
	line, same := r.clean(start, end)
	if !same { // without escape sequences, or too long
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
		for _, i := range r.set.marks[literal] {
			if markForms[i].alone && found {
				continue
			}
			r.mark(&markForms[i], line, at, start)
		}
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
