// Package refused recognizes formats that assay does not read, such as traces of other
// profilers, so that the error message can name the format and say what to give instead.
// The table also has formats that assay reads, such as logs of trainers, for files of them
// that contain no usable record.
//
// The table is in formats.go (binary files, databases, tables, JSON) and logs.go (text).
package refused

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"assay/internal/lazyregexp"
)

// A Shape is the general form of a content. A row of the table applies only to contents of
// its shape.
type Shape uint8

// The shapes.
const (
	shapeBinary Shape = iota // begins with the first mark, or has a test of its own
	shapeSQLite              // a database of SQLite
	shapeCSV                 // the marks are in the first line
	shapeJSON                // an object or array
	shapeText                // lines, which may also contain tables of a profiler
)

// A Format is one kind of file that assay knows and does not read.
type Format struct {
	Name  string // stable and unique: "verl-log"
	Shape Shape

	// The content must contain all Marks and match Pattern. A row with neither is
	// recognized by its file name alone.
	Marks   []string
	Pattern func() *regexp.Regexp

	// Test replaces Marks and Pattern for binary formats whose fields must be parsed.
	Test func(head []byte) bool

	// Loose means that the content may continue with other text, so the readers are
	// tried before the row applies.
	Loose bool

	// Files are patterns of [path.Match] for the name in lower case, without the
	// directory. They are used if no row matches the content.
	Files []string

	// Read means that assay reads such files. The row applies to files without a
	// complete record.
	Read bool

	What string // "a training log of veRL"
	Do   string // what to give instead; FILE is replaced by the path
}

// Is returns what the file is, as the middle of an error message.
func (f *Format) Is() string {
	if f.Read {
		return "is " + f.What + " without a record that has values"
	}
	return "is " + f.What + ", which assay does not read yet"
}

// Strict returns the format of a file by its first bytes, if they show that no
// reader can read it, or nil: formats with a magic number, tables with the header of
// another program, and JSON arrays that are not events. Text and JSON objects may
// contain something that a reader knows, so they are left to [Find].
func Strict(name string, head []byte) *Format {
	return among(name, head, func(f *Format) bool {
		return !f.Read && (f.Shape == shapeBinary || f.Shape == shapeCSV && !f.Loose ||
			f.Shape == shapeJSON && bytes.HasPrefix(bytes.TrimSpace(head), []byte("[")))
	})
}

// Find returns the format of a file that no reader accepted, or nil. It looks at
// a longer sample of the content and then at the name.
func Find(name string, sample []byte) *Format {
	return among(name, sample, func(*Format) bool { return true })
}

// All returns the whole table.
func All() []Format { return formats }

func among(name string, sample []byte, in func(*Format) bool) *Format {
	sample = bytes.TrimPrefix(sample, []byte("\xef\xbb\xbf"))
	shape := shapeOf(sample)
	lines := sample
	if shape == shapeText {
		lines = withoutColours(sample)
	}
	first, _, _ := bytes.Cut(lines, []byte("\n"))
	for i := range formats {
		f := &formats[i]
		content := lines
		switch {
		case !in(f), f.Shape == shapeCSV && shape != shapeText, f.Shape != shapeCSV && f.Shape != shape:
			continue
		case f.Shape == shapeCSV:
			content = first
		}
		if f.matchesContent(content) {
			return f
		}
	}
	base := strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	for _, packing := range []string{".gz", ".zst"} {
		base = strings.TrimSuffix(base, packing)
	}
	for i := range formats {
		if f := &formats[i]; in(f) && f.Shape == shape && f.hasName(base) {
			return f
		}
	}
	return nil
}

// matchesContent reports whether a content is of the format.
func (f *Format) matchesContent(content []byte) bool {
	if f.Test != nil {
		return f.Test(content)
	}
	if len(f.Marks) == 0 && f.Pattern == nil {
		return false
	}
	for i, mark := range f.Marks {
		if f.Shape == shapeBinary && i == 0 && !bytes.HasPrefix(content, []byte(mark)) ||
			!bytes.Contains(content, []byte(mark)) {
			return false
		}
	}
	return f.Pattern == nil || f.Pattern().Match(content)
}

func (f *Format) hasName(base string) bool {
	for _, pattern := range f.Files {
		if ok, _ := path.Match(pattern, base); ok {
			return true
		}
	}
	return false
}

// shapeOf returns the shape of a content by its first bytes.
func shapeOf(sample []byte) Shape {
	switch trimmed := bytes.TrimSpace(sample); {
	case bytes.HasPrefix(sample, []byte("SQLite format 3\x00")):
		return shapeSQLite
	case hasControls(sample):
		return shapeBinary
	case len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '['):
		return shapeOfBrace(trimmed)
	}
	return shapeText
}

// logTime matches the beginning of a line of a log that looks like a JSON array but is
// not: "[2025-01-22", "[rank3]:", "[INFO".
var logTime = lazyregexp.New(`^\[ *(\d{4}-|[A-Za-z_]|\d+\])`)

func shapeOfBrace(trimmed []byte) Shape {
	if trimmed[0] == '[' && logTime().Match(trimmed) {
		return shapeText
	}
	return shapeJSON
}

// hasControls reports whether the sample has control characters that text does not
// have.
func hasControls(sample []byte) bool {
	return bytes.ContainsFunc(sample[:min(len(sample), 1<<10)], func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\x1b' && r != '\f' && r != '\b'
	})
}

var colours = lazyregexp.New(`\x1b\[[0-9;?]*[A-Za-z]`)

// withoutColours returns text without color codes. It also turns carriage returns, with
// which progress bars overwrite themselves, into line ends.
func withoutColours(text []byte) []byte {
	if bytes.IndexByte(text, '\x1b') >= 0 {
		text = colours().ReplaceAll(text, nil)
	}
	if bytes.IndexByte(text, '\r') >= 0 {
		text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	}
	return text
}
