// Package forms reads the logs of trainers and inference servers: it finds lines with
// values among other lines. The forms of these lines are data: the files *.yaml of
// this directory have one form for each kind of line, with the fields that it has,
// their metrics and units, the era and the source of the form, and samples, which
// tests read. A user's own file adds forms.
//
// A text of any size is read in one pass. A line is parsed only if it has one of the
// literals (anchors) of the forms; matcher.go searches for all literals at once and
// skips the other text.
//
// Start with this file and one of the YAML files, then parse.go, which compiles them.
// reader.go finds records in a text; record.go, pairs.go and number.go parse a record;
// prefix.go and stamp.go parse the text before it; commit.go adds its values to a log.
// documents.go and objects.go read files of other formats with the same forms. guess.go
// proposes a form for a log of an unknown program.
package forms

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"assay/internal/lazyregexp"
	"assay/logs"
)

// A Form is one kind of line. It is immutable.
type Form struct {
	ID         string
	Producer   string
	Era        string
	Source     string // where the form is from
	Unverified bool   // the form is known only from the source code of the program, not from real logs
	Samples    []Sample

	anchors []string // literals; each line of the form contains one of them
	from    string   // text at which the record begins, at or before the anchor; "": after the anchor, "^": at the line's start
	alone   bool     // the record must not begin within a longer name
	also    []string // further literals that the record must contain

	split, is string // between pairs, and between a key and its value
	last      bool   // split a pair at its last separator, not at its first
	words     bool   // keys and values are separated by spaces
	match     func() *regexp.Regexp

	step     stepRule
	stepText string // of stepKey and stepAfter
	labels   []logs.Label
	fields   []field
	exact    map[string]int // by key
	nest     map[string]string
	waits    map[string]string // a timer is waiting if the input has a key that begins with the text
	replicas bool              // several processes print it
	closed   bool              // ignore keys without a field
	listed   bool              // the program prints no other keys than those with a field: a new one is reported
	spans    bool              // each line is written at the end of a phase, and its value is the duration of the phase
	fallback string            // the form whose values replace those of this one, if there are any
	starts   bool              // a line of the form marks a start of the program
	scope    string            // forms of one scope share their steps: the producer
	end      string            // end of a block of several lines; "" for forms of one line
	lines    int               // maximum number of lines of a block
}

// A stepRule is how the step of a record is found.
type stepRule uint8

const (
	stepNone   stepRule = iota
	stepFirst           // the number at the beginning of the record
	stepKey             // the value of a key
	stepAfter           // the number after a text of the line
	stepLast            // the step of the last record of the scope
	stepLatest          // the step of the last record of any form
	stepBar             // the count of the progress bar before the record: "| 30/471 ["
)

// A role is the meaning of the value of a field.
type role uint8

const (
	roleMetric role = iota
	roleStep
	roleLabel
	roleSkip
	roleName  // the producer's name of the value of the record; a prefix is added
	roleValue // the value that roleName names
)

// A field is a key of a form, or all keys that begin or end with its text.
type field struct {
	key            string
	prefix, suffix bool // a wildcard is behind, or before, the key
	role           role
	label          string // of roleLabel
	value, paren   target // paren is the second number: "27.83GiB(88.75%)"
	unitless       bool   // the unit that the program prints is wrong: a throughput among timers
}

// A target is the metric and the unit of a value.
type target struct {
	metric logs.Metric
	unit   string  // as the form declares it
	base   string  // base unit of unit
	factor float64 // converts values without a unit of their own to base
	binary bool    // GB means 1024³ bytes
}

// A Sample is a text with the values that a form must read from it, by metric or by
// the producer's name.
type Sample struct {
	Text  string
	Gives map[string]float64
}

// A Set is an ordered list of forms. It is safe for concurrent use.
type Set struct {
	list    []*Form
	matcher *matcher
	by      [][]int // the forms of each literal, in order
	marks   [][]int // the marks of each literal
}

// Forms returns the forms in the order in which they are tried.
func (s *Set) Forms() []*Form { return slices.Clone(s.list) }

func newSet(list []*Form) *Set {
	s := &Set{list: list}
	index := map[string]int{}
	var literals []string
	number := func(a string) int {
		n, ok := index[a]
		if !ok {
			n = len(literals)
			index[a] = n
			literals = append(literals, a)
			s.by, s.marks = append(s.by, nil), append(s.marks, nil)
		}
		return n
	}
	for i, f := range list {
		for _, a := range f.anchors {
			n := number(a)
			s.by[n] = append(s.by[n], i)
		}
	}
	for i := range markForms {
		for _, a := range markForms[i].anchors {
			n := number(a)
			s.marks[n] = append(s.marks[n], i)
		}
	}
	s.matcher = newMatcher(literals)
	return s
}

// Default returns the built-in forms.
func Default() *Set { return builtIn() }

var builtIn = sync.OnceValue(func() *Set {
	var list []*Form
	for _, e := range builtInEntries() {
		f, err := e.form()
		if err != nil {
			panic(err) // not possible: a test compiles them
		}
		list = append(list, f)
	}
	return newSet(list)
})

// With returns a set in which own forms are tried first. A form of own replaces the
// form with the same id.
func (s *Set) With(own *Set) *Set {
	list := slices.Clone(own.list)
	for _, f := range s.list {
		if !slices.ContainsFunc(own.list, func(o *Form) bool { return o.ID == f.ID }) {
			list = append(list, f)
		}
	}
	return newSet(list)
}

// fieldOf returns the field of a key, or -1.
func (f *Form) fieldOf(key string) int {
	if i, ok := f.exact[key]; ok {
		return i
	}
	for i := range f.fields {
		switch fd := &f.fields[i]; {
		case fd.prefix && strings.HasPrefix(key, fd.key), fd.suffix && strings.HasSuffix(key, fd.key):
			return i
		}
	}
	return -1
}

// insideOf returns the key of the phase whose time includes that of a key, or "".
func (f *Form) insideOf(key string) string {
	if up, ok := f.nest[key]; ok && up != key {
		return up
	}
	longest, inside := -1, ""
	for pattern, up := range f.nest {
		if p, ok := strings.CutSuffix(pattern, "*"); ok && strings.HasPrefix(key, p) && key != up && len(p) > longest {
			longest, inside = len(p), up
		}
	}
	return inside
}

// compileLater returns a function that compiles an expression when it is first used.
func compileLater(expr string) func() *regexp.Regexp { return lazyregexp.New(expr) }

// SniffLines reports whether a file that begins with head consists of records in JSON,
// one in a line, that a built-in form reads.
func SniffLines(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	if !bytes.HasPrefix(head, []byte(`{"step"`)) {
		return false
	}
	first, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.Contains(first, []byte(`"data"`)) && bytes.Contains(first, []byte(`:`))
}

// FindRecords reports whether the first bytes of a text, up to a maximum number, have a value
// that a built-in form reads. A server may print thousands of lines before the first value.
func FindRecords(in io.Reader, most int64) bool {
	r := NewReader("", Default(), logs.Limits{})
	buf := make([]byte, blockSize)
	for in = io.LimitReader(in, most); ; {
		n, err := in.Read(buf)
		r.Write(buf[:n])
		if r.b.Records() > 0 {
			return true
		}
		if err != nil {
			return !r.Close(true).Empty()
		}
	}
}

// HasRecords reports whether a sample of a text has values that a built-in form reads.
func HasRecords(sample []byte) bool {
	r := NewReader("", Default(), logs.Limits{})
	r.Write(sample)
	return !r.Close(true).Empty()
}
