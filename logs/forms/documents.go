package forms

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/internal/textscan"
	"assay/logs"
)

// The forms with the fields of documents. Documents are not found by anchors.
const (
	trainerState = "hf-trainer-state"
	metricsCSV   = "metrics-csv"
)

// state returns the state of a form, or nil.
func (r *Reader) state(id string) *formState {
	for _, s := range r.states {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// maxObject is the maximum number of bytes that are read of an object of a document.
const maxObject = 1 << 20

// SniffTrainerState reports whether a file that begins with head is the state of a
// Trainer of Transformers (trainer_state.json).
func SniffTrainerState(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"global_step"`)) &&
		(bytes.Contains(head, []byte(`"is_world_process_zero"`)) || bytes.Contains(head, []byte(`"log_history"`)))
}

// ReadTrainerState reads the list log_history of a trainer_state.json. Python writes NaN and
// Infinity there, which are not JSON.
func ReadTrainerState(in io.Reader, name string, limits logs.Limits) (*logs.Log, error) {
	r := NewReader(name, Default(), limits)
	s := r.state(trainerState)
	buf := bufio.NewReaderSize(in, 64<<10)
	err := skipTo(buf, `"log_history"`)
	objects := int64(0)
	for err == nil {
		var obj []byte
		if obj, err = nextObject(buf); err == nil {
			objects++
			r.object(s, obj)
		}
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if errors.Is(err, errEndOfList) {
		err = nil
	}
	r.finish()
	return r.b.Log(0, err == nil), err
}

var errEndOfList = errors.New("end of the list")

// skipTo reads up to the end of a text.
func skipTo(in *bufio.Reader, text string) error {
	for n := 0; n < len(text); {
		c, err := in.ReadByte()
		if err != nil {
			return err
		}
		switch {
		case c == text[n]:
			n++
		case c == text[0]:
			n = 1
		default:
			n = 0
		}
	}
	return nil
}

// nextObject returns the next object of a list, without nested objects.
func nextObject(in io.ByteReader) (obj []byte, err error) { return restOfObject(in, nil, 0) }

// restOfObject is nextObject after the opening brace of an object.
func restOfObject(in io.ByteReader, obj []byte, depth int) ([]byte, error) {
	quoted, escaped := false, false
	for {
		c, err := in.ReadByte()
		if err != nil {
			return nil, err
		}
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth <= 0 {
				return obj, nil
			}
		case c == ']' && depth == 0:
			return nil, errEndOfList
		}
		if depth == 1 && len(obj) < maxObject {
			obj = append(obj, c)
		}
	}
}

// object reads the pairs of an object whose values are numbers.
func (r *Reader) object(s *formState, obj []byte) {
	r.got = r.got[:0]
	for len(obj) > 0 {
		open := bytes.IndexByte(obj, '"')
		if open < 0 {
			break
		}
		end := bytes.IndexByte(obj[open+1:], '"')
		if end < 0 {
			break
		}
		key := obj[open+1 : open+1+end]
		obj = obj[open+end+2:]
		colon := bytes.IndexByte(obj, ':')
		if colon < 0 {
			break
		}
		value := bytes.TrimLeft(obj[colon+1:], " \t\r\n")
		stop := bytes.IndexByte(value, ',')
		if stop < 0 {
			stop = len(value)
		}
		if len(value) == 0 || value[0] != '"' && value[0] != '[' {
			// What is left of an object within this one is empty.
			if v := read(value[:stop]); v.kind != junk && len(key) <= maxKey && len(trim(value[:stop])) > 0 {
				r.takeBytes(s, key, v)
			}
			obj = value[stop:]
			continue
		}
		obj = afterText(value)
	}
	if len(r.got) > 0 {
		at, _ := r.placeOf(nil, diag.Pos{File: r.name})
		r.commit(s, at, logs.NoTime, logs.NoStep, diag.Pos{File: r.name})
	}
}

// afterText returns the bytes after a text or a list.
func afterText(b []byte) []byte {
	closing := byte('"')
	if b[0] == '[' {
		closing = ']'
	}
	end := bytes.IndexByte(b[1:], closing)
	if end < 0 {
		return nil
	}
	return b[end+2:]
}

// SniffMetricsCSV reports whether a file that begins with head is a table of metrics by
// step, as the CSVLogger of Lightning writes it: names in the first line, step or epoch
// among them, and numbers or nothing in the second.
func SniffMetricsCSV(head []byte) bool {
	first, rest, ok := bytes.Cut(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), []byte("\n"))
	names := strings.Split(strings.TrimSpace(string(first)), ",")
	if !ok || len(names) < 2 || !slices.Contains(names, "step") && !slices.Contains(names, "epoch") {
		return false
	}
	for _, n := range names {
		if n == "" || read([]byte(n)).kind == number || !plainKey(strings.Trim(n, `"`)) {
			return false
		}
	}
	second, _, _ := bytes.Cut(rest, []byte("\n"))
	cells := strings.Split(strings.TrimSpace(string(second)), ",")
	if len(cells) != len(names) {
		return false
	}
	numbers := 0
	for _, c := range cells {
		switch read([]byte(c)).kind {
		case junk:
			return false
		case number:
			numbers++
		}
	}
	return numbers > 0
}

// ReadMetricsCSV reads a table of metrics by step. Empty cells are ignored, because loggers
// write a separate row for each kind of metric.
func ReadMetricsCSV(in io.Reader, name string, limits logs.Limits) (*logs.Log, error) {
	r := NewReader(name, Default(), limits)
	s := r.state(metricsCSV)
	lines := textscan.NewReader(in, maxLine)
	var names []string
	for {
		line, _, err := lines.Next()
		if err != nil && !errors.Is(err, io.EOF) {
			r.finish()
			return r.b.Log(int64(lines.N), false), err
		}
		cells := cellsOf(line)
		switch {
		case names == nil:
			names = cells
		case slices.Equal(cells, names): // appended by another start of the program
		case strings.TrimSpace(line) != "" && len(cells) != len(names):
			r.b.Note(diag.Issue{Code: "log-row-malformed", Severity: diag.DataLoss, First: diag.Pos{File: name, Line: lines.N}})
		case line != "":
			r.row(s, names, cells, lines.N)
		}
		if err != nil {
			break
		}
	}
	r.finish()
	return r.b.Log(int64(lines.N), true), nil
}

// cellsOf splits a line of a table, into at most as many cells as an input may have series.
func cellsOf(line string) []string {
	if strings.Contains(line, `"`) {
		c := csv.NewReader(strings.NewReader(line))
		c.LazyQuotes = true
		if cells, err := c.Read(); err == nil {
			return cells[:min(len(cells), maxKeys)]
		}
	}
	cells := strings.SplitN(line, ",", maxKeys+1)
	return cells[:min(len(cells), maxKeys)]
}

// row reads a row of a table.
func (r *Reader) row(s *formState, names, cells []string, line int) {
	r.got = r.got[:0]
	for i, c := range cells[:min(len(cells), len(names))] {
		if v := read([]byte(c)); v.kind == number && len(names[i]) <= maxKey {
			r.take(s, names[i], v)
		}
	}
	if len(r.got) > 0 {
		where := diag.Pos{File: r.name, Line: line}
		at, _ := r.placeOf(nil, where)
		r.commit(s, at, logs.NoTime, logs.NoStep, where)
	}
}
