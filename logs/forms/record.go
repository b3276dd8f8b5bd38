package forms

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/logs"
)

// begin returns the position at which a record begins, given that of its anchor.
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

// limit returns the end of a record: the end of its line, or the beginning of another record
// that another process wrote to the same line.
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

// plausible reports whether a text has the literals that every record of the form has.
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

// stepBehind returns the number behind a text in a record, which begins so far into a line,
// or else behind the last such text before it.
func stepAfterText(line []byte, record int, text string) int64 {
	in, n := line[record:], bytes.Index(line[record:], []byte(text))
	if n < 0 {
		in, n = line, bytes.LastIndex(line[:record], []byte(text))
	}
	if n < 0 {
		return logs.NoStep
	}
	v, m := parseInt(in[n+len(text):])
	if m == 0 {
		return logs.NoStep
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
	step := logs.NoStep
	switch s.step {
	case stepFirst:
		step, _ = parseInt(rec)
	case stepAfter:
		step = stepAfterText(line[from:limit], begin-from, s.stepText)
	case stepBar:
		step = r.bar(line[max(0, begin-context):begin], start)
		if first, _, _ := bytes.Cut(rec, []byte(s.is)); s.barSeen(string(first), step) {
			step = logs.NoStep // several records follow one progress bar
		}
	}
	if s.end != "" {
		r.closeBlock()
		r.open = &block{state: s, at: *at, time: time, step: step, left: s.lines, from: int64(where.Line)}
		r.got = r.got[:0]
		if n := bytes.IndexByte(rec, '{'); s.end == dictEnd && n >= 0 {
			rec = rec[n+1:]
		}
		r.fields(s, rec)
		if s.end == dictEnd && len(r.got) > 0 && bytes.HasSuffix(bytes.TrimRight(rec, " \t\r"), []byte(dictEnd)) {
			r.closeBlock() // a dictionary in one line
		}
		return true
	}
	r.got, s.before = r.got[:0], -1
	if s.match != nil {
		if !r.matched(s, rec) {
			return false
		}
	} else {
		r.fields(s, rec)
	}
	if len(r.got) == 0 && !s.starts && len(s.fields) > 0 {
		return false
	}
	r.commit(s, at, time, step, where)
	return true
}

// fields reads the pairs of a record, or of a row of a block.
func (r *Reader) fields(s *formState, rec []byte) {
	if s.words {
		r.wordPairs(s, rec)
	} else {
		r.pairs(s, rec)
	}
}

// noteForeign adds an issue for keys that listed forms do not have: the program is newer than the form, and what
// it says with them is in no rule.
func (r *Reader) noteForeign() {
	var keys []string
	var first diag.Pos
	for _, s := range r.states {
		for _, key := range s.foreign {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
		if s.foreigns.File != "" && (first.File == "" || s.foreigns.Line < first.Line) {
			first = s.foreigns
		}
	}
	if len(keys) == 0 {
		return
	}
	names := strings.Join(keys[:min(4, len(keys))], ", ")
	r.b.NoteN(diag.Issue{Code: "log-keys-unknown", Severity: diag.Info, First: first,
		Help: fmt.Sprintf("Keys of this log are not known to its form, such as %s. %s", names, diag.HelpOf("log-keys-unknown"))}, int64(len(keys)))
}
