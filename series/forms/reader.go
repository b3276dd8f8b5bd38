package forms

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"assay/diag"
	"assay/series"
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
	b    *series.Builder

	buf  []byte // what is not processed yet, behind the context
	from int    // where that begins
	skip bool   // the rest of a line over the limit follows

	line    int64 // number of the line that begins at counted
	counted int   // position in buf up to which lines are counted
	places  map[string]*place
	states  []*formState
	open    *block
	last    stamp // of the last record
	year    int64 // years that passed since the first time of a log without years

	scratch, keyless []byte
	got              []got
}

// A formState is what a reader knows of a form: its fields, and those that it has met
// besides.
type formState struct {
	*Form
	keys    map[string]int // of all keys met: the number in known
	known   []field
	ids     map[*place][]int // the series of a place, by field
	streams map[*place]int
	bars    map[string]int64 // the last step from a bar, by the first key of its record
}

// A place is what the prefixes of lines tell: labels.
type place struct {
	ranks, all []series.Label // without and with those of processes
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
func NewReader(name string, set *Set, limits series.Limits) *Reader {
	r := &Reader{name: name, set: set, b: series.NewBuilder(limits), line: 1, places: map[string]*place{}}
	for _, f := range set.list {
		r.states = append(r.states, &formState{Form: f})
	}
	return r
}

// Read reads a text. The error is that of the input, and comes with what was read
// before.
func Read(in io.Reader, name string, set *Set, limits series.Limits) (*series.Log, error) {
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
		r.part(part)
	}
	return n, nil
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
func (r *Reader) Close(complete bool) *series.Log {
	if !r.skip {
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

// fallbackMark is behind the producer of series that others may replace.
const fallbackMark = "\x00fallback"

// finish applies what only the end of the text shows: series that others replace, and
// labels with one value.
func (r *Reader) finish() {
	have := map[string]bool{}
	for _, s := range r.states {
		if len(s.ids) > 0 {
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
		r.b.DropSeries(func(s *series.Series) bool { return replaced[s.Producer] })
	}
	r.b.EachSeries(func(s *series.Series) { s.Producer = strings.TrimSuffix(s.Producer, fallbackMark) })
	values := map[string]string{}
	several := map[string]bool{}
	r.b.EachSeries(func(s *series.Series) {
		for _, name := range []string{"replica", "task", "host"} {
			key, v := s.Producer+"\x00"+name, s.Label(name)
			if first, ok := values[key]; ok && first != v {
				several[key] = true
			}
			values[key] = v
		}
	})
	r.b.EachSeries(func(s *series.Series) {
		s.Labels = slices.DeleteFunc(s.Labels, func(l series.Label) bool {
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
		at, _ := r.set.matcher.next(b, pos)
		if at < 0 {
			return
		}
		start, next := r.lineStart(b, at, pos), lineEnd(b, at)
		r.oneLine(start, next)
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

// single returns a line without Ray's note on repetitions, and whether it had one.
func single(line []byte) ([]byte, bool) {
	if end := bytes.TrimRight(line, " \t\r"); bytes.HasSuffix(end, repeatedEnd) {
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
func (r *Reader) oneLine(start, end int) bool {
	line := r.clean(start, end)
	line, repeated := single(line)
	found := false
	done := 0 // the end of the last record
	for from, tries := 0, 0; from < len(line) && tries < maxTries; tries++ {
		at, literal := r.set.matcher.next(line, from)
		if at < 0 {
			break
		}
		from = at + 1
		for _, i := range r.set.by[literal] {
			s := r.states[i]
			begin, ok := s.begin(line, at, len(r.set.matcher.literals[literal]), done)
			if !ok {
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

// begin returns where a record of a form begins that has an anchor at a position.
func (s *formState) begin(line []byte, at, length, from int) (int, bool) {
	begin := at + length
	switch s.from {
	case "":
	case "^":
		begin = from
	default:
		n := bytes.LastIndex(line[from:max(from, at)], []byte(s.from))
		switch {
		case bytes.HasPrefix(line[at:], []byte(s.from)):
			begin = at
		case n < 0:
			return 0, false
		default:
			begin = from + n
		}
	}
	if s.alone {
		first := begin
		if s.from == "" {
			first = at
		}
		if first > 0 && strings.IndexByte(`/_-.'"*#`, line[first-1]) >= 0 || first > 0 && (isLetter(line[first-1]) || isDigit(line[first-1])) {
			return 0, false
		}
	}
	return begin, true
}

// limit returns where a record ends: at the end of its line, or where another record
// begins that was glued behind it.
func (r *Reader) limit(line []byte, from, begin int) int {
	line = line[:min(len(line), begin+maxRecord)]
	for tries := 0; from < len(line) && tries < maxAhead; tries++ {
		at, literal := r.set.matcher.next(line, from)
		if at < 0 {
			break
		}
		length := len(r.set.matcher.literals[literal])
		for _, i := range r.set.by[literal] {
			s := r.states[i]
			if other, ok := s.begin(line, at, length, 0); ok && s.plausible(line[other:]) {
				if s.from == "" {
					other = at
				}
				if other > begin && s.from != "^" {
					return other
				}
			}
		}
		from = at + 1
	}
	return len(line)
}

// plausible reports whether a text has what a record of the form has in any case.
func (s *formState) plausible(rec []byte) bool {
	if s.step == stepFirst {
		if _, n := parseInt(rec); n == 0 {
			return false
		}
	}
	for _, text := range s.also {
		if !bytes.Contains(rec, []byte(text)) {
			return false
		}
	}
	return true
}

// stepBehind returns the number behind a text in a record, or in what precedes it.
func stepBehind(prefix, rec []byte, text string) int64 {
	in, n := rec, bytes.Index(rec, []byte(text))
	if n < 0 {
		in, n = prefix, bytes.LastIndex(prefix, []byte(text))
	}
	if n < 0 {
		return series.NoStep
	}
	v, m := parseInt(in[n+len(text):])
	if m == 0 {
		return series.NoStep
	}
	return v
}

// record reads one record, and reports whether it is one.
func (r *Reader) record(s *formState, line []byte, from, begin, limit, start int) bool {
	rec := line[begin:limit]
	if !s.plausible(rec) {
		return false
	}
	where := r.pos(start)
	prefix := line[from:begin]
	at, time := r.placeOf(prefix, where)
	step := series.NoStep
	switch s.step {
	case stepFirst:
		step, _ = parseInt(rec)
	case stepAfter:
		step = stepBehind(line[from:begin], rec, s.stepText)
	case stepBar:
		step = r.bar(line[max(0, begin-context):begin], start)
		if first, _, _ := bytes.Cut(rec, []byte(s.is)); s.barSeen(string(first), step) {
			step = series.NoStep // several records follow one bar
		}
	}
	if s.end != "" {
		r.closeBlock()
		r.open = &block{state: s, at: *at, time: time, step: step, left: s.lines, from: int64(where.Line)}
		r.got = r.got[:0]
		r.pairs(s, rec)
		return true
	}
	r.got = r.got[:0]
	switch {
	case s.match != nil:
		if !r.matched(s, rec) {
			return false
		}
	case s.words:
		r.wordPairs(s, rec)
	default:
		r.pairs(s, rec)
	}
	if len(r.got) == 0 && !s.starts && len(s.fields) > 0 {
		return false
	}
	r.commit(s, at, time, step, where)
	return true
}
