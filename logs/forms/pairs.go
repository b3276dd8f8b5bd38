package forms

import (
	"bytes"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/logs"
)

// maxKeys is the maximum number of keys of a form in one input, and maxKey the maximum length
// of a key.
const (
	maxKeys = logs.MaxSeries
	maxKey  = 120
)

// dictEnd ends a block that is a Python dictionary. It has one pair per line, or several if it
// is short or printed without indentation.
const dictEnd = "}"

// pairs reads the pairs of a key and a value that a text separates.
func (r *Reader) pairs(s *formState, rec []byte) {
	if s.is == cellRule {
		r.cells(s, rec)
		return
	}
	split := s.split
	if s.end == dictEnd {
		split = ", "
	}
	for len(rec) > 0 {
		part := rec
		if n := indexOf(rec, split); split != "\n" && n >= 0 {
			part, rec = rec[:n], rec[n+len(split):]
		} else {
			rec = nil
		}
		n := 0
		if s.last {
			n = bytes.LastIndex(part, []byte(s.is))
		} else {
			n = indexOf(part, s.is)
		}
		if n > 0 {
			r.pair(s, part[:n], part[n+len(s.is):])
		}
	}
}

// indexOf is bytes.Index for separators of pairs, whose first byte is rare in short texts.
func indexOf(b []byte, sep string) int {
	for at := 0; ; at++ {
		n := bytes.IndexByte(b[at:], sep[0])
		if n < 0 {
			return -1
		}
		if at += n; len(b)-at >= len(sep) && string(b[at:at+len(sep)]) == sep {
			return at
		}
	}
}

// cellRule separates the cells of a table with alternating keys and values.
const cellRule = "│"

// cells reads the keys and values of a row of such a table.
func (r *Reader) cells(s *formState, rec []byte) {
	list := bytes.Split(rec, []byte(cellRule))
	for i := 1; i+1 < len(list); i += 2 {
		if len(trim(list[i])) > 0 && len(trim(list[i+1])) > 0 {
			r.pair(s, list[i], list[i+1])
		}
	}
}

// wordPairs reads "key=value", "key: value" and "step 12" among words.
func (r *Reader) wordPairs(s *formState, rec []byte) {
	for len(rec) > 0 {
		var word []byte
		word, rec = nextWord(rec)
		if n := bytes.IndexByte(word, '='); n > 0 && n+1 < len(word) {
			r.pair(s, word[:n], word[n+1:])
			continue
		}
		n := len(word)
		switch {
		case n > 1 && (word[n-1] == ':' || word[n-1] == '='):
			value, after := nextWord(rec)
			r.pair(s, word[:n-1], value)
			rec = after
		case isStepWord(word):
			value, after := nextWord(rec)
			if v, m := parseInt(value); m == len(bytes.TrimRight(value, ":,")) && m > 0 {
				r.take(s, "step", reading{kind: number, value: float64(v)})
				rec = after
			}
		default:
			if n := bytes.IndexByte(word, ':'); n > 0 && n+1 < len(word) && !bytes.Contains(word, []byte("::")) {
				r.pair(s, word[:n], word[n+1:])
			}
		}
	}
}

func isStepWord(w []byte) bool {
	switch strings.ToLower(string(w)) {
	case "step", "iter", "iteration":
		return true
	}
	return false
}

// nextWord returns the first word of b and what follows.
func nextWord(b []byte) (word, rest []byte) {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for i, c := range b {
		if isSpace(c) {
			return b[:i], b[i+1:]
		}
	}
	return b, nil
}

// pair handles a pair. Quotes, bullets and an opening bracket may precede the key. A value
// that is not a number is ignored.
func (r *Reader) pair(s *formState, key, value []byte) {
	key = bareKey(key)
	if len(key) == 0 || len(key) > maxKey {
		return
	}
	v := read(value)
	i := s.keyOf(key)
	label := false
	if i >= 0 {
		label = s.known[i].role == roleLabel
	} else if k := s.fieldOf(string(key)); k >= 0 {
		label = s.fields[k].role == roleLabel
	}
	switch {
	case label: // the text may be a number
		v.unit = bytes.Trim(value, " '\"")
	case v.kind == junk:
		return
	}
	if i < 0 {
		r.take(s, string(key), v)
		return
	}
	r.put(s, i, v)
}

// keyOf returns the number of a known key, or -1. The records of a form have their keys in one
// order, so keyOf tries the key that last followed the previous key before the map.
func (s *formState) keyOf(key []byte) int {
	if s.before >= 0 && s.before < len(s.follow) {
		if i := s.follow[s.before]; i >= 0 && s.names[i] == string(key) {
			s.before = i
			return i
		}
	}
	i, ok := s.keys[string(key)]
	if !ok {
		return -1
	}
	if s.before >= 0 && s.before < len(s.follow) {
		s.follow[s.before] = i
	}
	s.before = i
	return i
}

// bareKey returns a key without surrounding characters.
func bareKey(key []byte) []byte {
	if n := len(key); n > 0 && key[n-1] != ']' {
		for i := n - 2; i >= 0; i-- {
			if c := key[i]; c == '{' || c == '[' && !isColor(key[i+1:]) || c == '|' {
				key = key[i+1:]
				break
			}
		}
	}
	for len(key) > 0 && aroundKey[key[0]] {
		key = key[1:]
	}
	for len(key) > 0 && aroundKey[key[len(key)-1]] {
		key = key[:len(key)-1]
	}
	return bytes.TrimPrefix(key, []byte("\u2022 "))
}

// isColor reports whether a colour follows a bracket whose escape character was lost, as in "[0m".
func isColor(b []byte) bool {
	rest := bytes.TrimLeft(b, "0123456789;")
	return len(rest) < len(b) && len(rest) > 0 && rest[0] == 'm'
}

// aroundKey are the bytes that may surround a key and are not part of it.
var aroundKey = [256]bool{' ': true, '\t': true, '\'': true, '"': true, '-': true, '*': true, ',': true, '.': true}

// takeBytes is take without a copy of a key that is known.
func (r *Reader) takeBytes(s *formState, key []byte, v reading) {
	if i := s.keyOf(key); i >= 0 {
		r.put(s, i, v)
		return
	}
	r.take(s, string(key), v)
}

// take adds a value to the record. A new key gets a field: that of the form, or a field of its
// own unless the form is closed.
func (r *Reader) take(s *formState, key string, v reading) {
	if s.keys == nil {
		s.keys = map[string]int{}
	}
	i, ok := s.keys[key]
	if !ok {
		if len(s.known) >= maxKeys {
			return
		}
		i = len(s.known)
		s.keys[strings.Clone(key)] = i
		s.known = append(s.known, s.fieldFor(strings.ToValidUTF8(strings.Clone(key), "\ufffd")))
		s.names, s.follow = append(s.names, strings.Clone(key)), append(s.follow, -1)
	}
	r.put(s, i, v)
}

func (r *Reader) put(s *formState, i int, v reading) {
	if s.known[i].role == roleSkip {
		return
	}
	r.got = append(r.got, keyValue{field: i, v: v})
	if v.paren && s.known[i].paren.metric.Name != "" {
		r.got = append(r.got, keyValue{field: i, paren: true, v: v})
	}
}

// fieldFor returns the field for a new key.
func (s *formState) fieldFor(key string) field {
	i := s.fieldOf(key)
	switch {
	case i >= 0:
		fd := s.fields[i]
		if fd.prefix || fd.suffix {
			return timerFor(fd, key)
		}
		fd.key = key
		return fd
	case s.step == stepKey && key == s.stepText:
		return field{key: key, role: roleStep}
	case s.closed || !plainKey(key):
		return field{key: key, role: roleSkip}
	}
	if s.listed {
		s.foreign = append(s.foreign, key)
	}
	return field{key: key, value: target{metric: logs.Unnamed(key), factor: 1}}
}

// plainKey reports whether a key may be the name of a metric. It is needed because other text
// in a line also has colons.
func plainKey(key string) bool {
	letters := false
	for _, c := range key {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
			letters = true
		case '0' <= c && c <= '9', strings.ContainsRune("_/-.() @#%[]+", c):
		default:
			return false
		}
	}
	return letters && strings.Count(key, " ") <= 5
}

// matched reads the named groups of an expression.
func (r *Reader) matched(s *formState, rec []byte) bool {
	re := s.match()
	m := re.FindSubmatch(rec)
	if m == nil {
		return false
	}
	named, value := "", reading{}
	for i, name := range re.SubexpNames() {
		if name == "" || m[i] == nil {
			continue
		}
		v := read(m[i])
		if k := s.fieldOf(name); k >= 0 && s.fields[k].role == roleName {
			named = s.fields[k].label + string(m[i])
			continue
		} else if k >= 0 && s.fields[k].role == roleValue {
			value = v
			continue
		}
		if k := s.fieldOf(name); v.kind == junk || k >= 0 && s.fields[k].role == roleLabel {
			v.unit = m[i]
		}
		r.take(s, name, v)
	}
	if named != "" && len(named) <= maxKey && value.kind != junk {
		r.take(s, named, value)
	}
	return true
}

// bar returns the count of the last progress bar before a record: 30 of "| 30/471 [".
func (r *Reader) bar(before []byte, start int) int64 {
	if step := barStep(before); step != logs.NoStep {
		return step
	}
	return barStep(r.buf[max(0, start-context):start])
}

// barSeen reports whether an earlier record with the same first key had the same step from
// the progress bar.
func (s *formState) barSeen(key string, step int64) bool {
	last, ok := s.bars[key]
	if ok && last == step {
		return true
	}
	if s.bars == nil {
		s.bars = map[string]int64{}
	}
	if len(s.bars) < maxKeys {
		s.bars[key] = step
	}
	return false
}

func barStep(b []byte) int64 {
	for len(b) > 0 {
		end := bytes.LastIndex(b, []byte(" ["))
		if end < 0 {
			return logs.NoStep
		}
		b = b[:end]
		bar := bytes.LastIndexByte(b, '|')
		if bar < 0 {
			return logs.NoStep
		}
		v, n := parseInt(b[bar+1:])
		if rest := b[bar+1+n:]; n > 0 && len(rest) > 1 && rest[0] == '/' && isDigit(rest[1]) {
			return v
		}
	}
	return logs.NoStep
}

// inBlock reads a line while a block is open.
func (r *Reader) inBlock(start, end int) {
	bl := r.open
	bl.left--
	line, _ := r.clean(start, end)
	line = bytes.TrimRight(line, " \t\r\x00")
	line, repeated := single(line)
	had := len(r.got)
	rec := line
	if n := bytes.IndexByte(rec, ')'); n >= 0 && bytes.HasPrefix(rec, []byte("(")) && bytes.Contains(rec[:n], []byte("pid=")) {
		rec = bytes.TrimPrefix(rec[n+1:], []byte(" "))
	}
	for _, l := range bl.at.all {
		if l.Name == "host" { // pdsh puts it before each line
			rec = bytes.TrimPrefix(rec, []byte(l.Value+": "))
		}
	}
	empty := len(trim(rec)) == 0
	if inside := isSpace(firstOf(rec)); bl.left == bl.state.lines-1 {
		bl.indented = inside
	} else if bl.indented && !inside {
		rec = nil // a line of another record or process, such as "step_metrics={'loss': 0.1}"
	}
	r.fields(bl.state, rec)
	row := len(r.got) > had
	if row && repeated {
		r.merged(start)
	}
	switch {
	case (row || len(bl.state.end) > 1) && bytes.HasSuffix(line, []byte(bl.state.end)), bl.state.end == "\n" && empty:
		r.closeBlock()
	case bl.left <= 0:
		r.closeBlock()
	case !row:
		if at, _ := r.set.matcher.next(line, 0); at >= 0 {
			if r.heads(bl, line) {
				r.closeBlock() // the next step begins, and no empty line was before it
				r.oneLine(start, end)
				return
			}
			kept := r.got
			r.got, r.open = nil, nil
			found := r.oneLine(start, end)
			if r.open == nil { // another record within the block
				r.got, r.open = kept, bl
			} else if found {
				inner, begun := r.open, r.got
				r.got, r.open = kept, bl
				r.closeBlock()
				r.got, r.open = begun, inner
			}
		}
	}
}

// heads reports whether a line has the number of the next step of the program whose block is open.
func (r *Reader) heads(bl *block, line []byte) bool {
	at, literal := r.set.matcher.next(line, 0)
	return at >= 0 && bl.state.step == stepLast && slices.ContainsFunc(r.set.by[literal], func(i int) bool {
		s := r.states[i]
		return s.Producer == bl.state.Producer && s.step == stepAfter && s.end == ""
	})
}

// closeBlock ends the open block and commits its values.
func (r *Reader) closeBlock() {
	bl := r.open
	if bl == nil {
		return
	}
	r.open = nil
	at := r.places["\x00"+bl.at.key]
	if at == nil {
		at = &bl.at
	}
	if len(r.got) > 0 {
		r.commit(bl.state, at, bl.time, bl.step, diag.Pos{File: r.name, Line: int(bl.from)})
	}
	r.got = nil
}

func firstOf(b []byte) byte {
	if len(b) == 0 {
		return 0
	}
	return b[0]
}
