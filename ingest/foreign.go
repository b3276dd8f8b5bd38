// Files that assay knows by name and does not read: results of benchmarks,
// monitors, and traces of other profilers. The table also knows the logs of trainers and
// servers, for those without a record that has values.
//
// It is a table. A row has what the content of such a file is recognised by, the
// file names where the content does not tell, what the file is, and what to give
// instead. Recognition and text are separate, so a row becomes a reader by moving
// its marks to the package that reads the format.

package ingest

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"assay/internal/lazyregexp"
)

// A shape is what must hold for the content before the marks of a row count.
type shape uint8

// The shapes.
const (
	shapeBinary shape = iota // begins with the first mark, or has a test of its own
	shapeSQLite              // a database of SQLite
	shapeCSV                 // the marks are in the first line
	shapeJSON                // an object or array
	shapeText                // lines, which may hold tables of a profiler as well
)

// A foreign is one kind of file that assay knows and does not read.
type foreign struct {
	Name  string // stable and unique: "verl-log"
	Shape shape

	// Marks are texts that the content has, all of them. Pattern is searched for
	// besides. A row with neither is recognised by its file name alone.
	Marks   []string
	Pattern func() *regexp.Regexp

	// Test replaces Marks and Pattern where bytes have to be walked through.
	Test func(head []byte) bool

	// Loose says that other text may follow what the marks are in, so the file is
	// left to readers first.
	Loose bool

	// Files are patterns of [path.Match] on the name in lower case, without the
	// folder. They count where no content tells.
	Files []string

	// Read says that assay reads such files. The row is for those in which no record is
	// complete.
	Read bool

	What string // "a training log of veRL"
	Do   string // what to give instead; FILE stands for the path
}

// Is returns what the file is, as the middle of an error message.
func (f *foreign) Is() string {
	if f.Read {
		return "is " + f.What + " without a record that has values"
	}
	return "is " + f.What + ", which assay does not read yet"
}

// strictForeign returns the format of a file that no reader may take, by its first
// bytes, or nil: formats that begin with a mark of their own, tables whose header
// tells whose they are, and arrays of JSON that are no events. Text and objects
// of JSON may hold what a reader knows, so they are left to [findForeign].
func strictForeign(name string, head []byte) *foreign {
	return foreignAmong(name, head, func(f *foreign) bool {
		return !f.Read && (f.Shape == shapeBinary || f.Shape == shapeCSV && !f.Loose || f.Shape == shapeJSON && bytes.HasPrefix(bytes.TrimSpace(head), []byte("[")))
	})
}

// findForeign returns the format of a file that no reader has taken, by a longer part
// of its beginning and then by its name, or nil.
func findForeign(name string, sample []byte) *foreign {
	return foreignAmong(name, sample, func(*foreign) bool { return true })
}

// allForeign returns the whole table.
func allForeign() []foreign { return foreignFormats }

func foreignAmong(name string, sample []byte, in func(*foreign) bool) *foreign {
	sample = bytes.TrimPrefix(sample, []byte("\xef\xbb\xbf"))
	shape := shapeOf(sample)
	lines := sample
	if shape == shapeText {
		lines = withoutColours(sample)
	}
	first, _, _ := bytes.Cut(lines, []byte("\n"))
	for i := range foreignFormats {
		f := &foreignFormats[i]
		content := lines
		switch {
		case !in(f), f.Shape == shapeCSV && shape != shapeText, f.Shape != shapeCSV && f.Shape != shape:
			continue
		case f.Shape == shapeCSV:
			content = first
		}
		if f.knows(content) {
			return f
		}
	}
	base := strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	for _, packing := range []string{".gz", ".zst"} {
		base = strings.TrimSuffix(base, packing)
	}
	for i := range foreignFormats {
		if f := &foreignFormats[i]; in(f) && f.Shape == shape && f.named(base) {
			return f
		}
	}
	return nil
}

// knows reports whether the content has what the format is recognised by.
func (f *foreign) knows(content []byte) bool {
	if f.Test != nil {
		return f.Test(content)
	}
	if len(f.Marks) == 0 && f.Pattern == nil {
		return false
	}
	for i, mark := range f.Marks {
		if f.Shape == shapeBinary && i == 0 && !bytes.HasPrefix(content, []byte(mark)) || !bytes.Contains(content, []byte(mark)) {
			return false
		}
	}
	return f.Pattern == nil || f.Pattern().Match(content)
}

func (f *foreign) named(base string) bool {
	for _, pattern := range f.Files {
		if ok, _ := path.Match(pattern, base); ok {
			return true
		}
	}
	return false
}

// shapeOf returns the shape of a content by its first bytes.
func shapeOf(sample []byte) shape {
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

// logTime matches what a line of a log begins with that is no JSON: "[2025-01-22",
// "[rank3]:", "[INFO".
var logTime = lazyregexp.New(`^\[ *(\d{4}-|[A-Za-z_]|\d+\])`)

func shapeOfBrace(trimmed []byte) shape {
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

// withoutColours returns text without colours, in which progress bars that overwrite
// themselves are lines.
func withoutColours(text []byte) []byte {
	if bytes.IndexByte(text, '\x1b') >= 0 {
		text = colours().ReplaceAll(text, nil)
	}
	if bytes.IndexByte(text, '\r') >= 0 {
		text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	}
	return text
}
