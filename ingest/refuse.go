package ingest

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"assay/ingest/refused"
	"assay/logs/forms"
)

// A Refusal is the error for an input that assay does not read. It states what the input
// seems to be and what to give instead.
type Refusal struct {
	Path string
	What string // "is a web page"
	Do   string // the remedy
}

func (r *Refusal) Error() string {
	what := "the file"
	if r.Path == stdinName {
		what = "the input"
	}
	return fmt.Sprintf("%s: %s %s; %s", r.Path, what, r.What, r.Do)
}

// knownOthers lists files that users give by mistake, by their first bytes.
var knownOthers = []struct{ prefix, what, do string }{
	{"\x89PNG", "is a PNG picture", "give the trace that it was made from"},
	{"\xff\xd8\xff", "is a JPEG picture", "give the trace that it was made from"},
	{"%PDF", "is a PDF document", "give the trace that it was made from"},
	{"PK\x03\x04", "is a zip archive", "unpack it first: unzip FILE -d DIR && assay report DIR"},
	{"\xfd7zXZ", "is compressed with xz", "decompress it first: xz -dc FILE | assay summary"},
	{"BZh", "is compressed with bzip2", "decompress it first: bzip2 -dc FILE | assay summary"},
	{"\x04\x22\x4d\x18", "is compressed with lz4", "decompress it first: lz4 -dc FILE | assay summary"},
	{"version https://git-lfs.github.com", "is a Git LFS pointer, not the trace", "run git lfs pull"},
	{"\x7fELF", "is a program", "give a trace that a profiler wrote"},
	{"\x0a", "is binary (a protobuf of an unknown kind)",
		"export a JSON trace instead: torch.profiler's export_chrome_trace"},
	{"#!", "is a script", "give the trace or table that it works on"},
}

// The number of bytes in which a known format is searched for after no reader has
// accepted the content. Records of a log may begin after pages of other output.
const (
	textSample = bufferSize
	jsonSample = 64 << 10
)

// sample returns a copy of the beginning of the content, without reading it.
func (f *File) sample(n int) []byte {
	b, _ := f.content.Peek(n)
	return bytes.Clone(b)
}

// namedOr returns the Refusal of a known foreign format, or err if the format of the
// content is unknown.
func namedOr(path string, sample []byte, err error) error {
	if it := refused.Find(path, sample); it != nil {
		return &Refusal{path, it.Is(), withFile(it.Do, path)}
	}
	return err
}

// refuse returns the error for a file that no format accepts.
func refuse(f *File, head []byte) error {
	if len(head) > 0 && len(bytes.TrimRight(head, "\x00")) == 0 {
		return refuseZeros(f)
	}
	if it := refused.Strict(f.Path, head); it != nil {
		return &Refusal{f.Path, it.Is(), withFile(it.Do, f.Path)}
	}
	if r := refuseKnown(f.Path, head); r != nil {
		return r
	}
	return noTables(f.Path)
}

// maxZeros is the number of zero bytes after which refuseZeros stops counting.
const maxZeros = 4 << 30

// refuseZeros returns the error for a content that begins with zero bytes. It states their
// number and whether anything follows.
func refuseZeros(f *File) error {
	f.raw.sum = nil
	if size, ok := f.hole(); ok {
		return onlyZeros(f, size)
	}
	zeros, buf := int64(0), make([]byte, bufferSize)
	for zeros < maxZeros {
		n, err := f.Read(buf)
		if rest := len(bytes.TrimLeft(buf[:n], "\x00")); rest > 0 {
			return &Refusal{f.Path, fmt.Sprintf("begins with %d bytes of zeros, so its beginning is lost", zeros+int64(n-rest)),
				"copy the file again from where it was written, or record again"}
		}
		zeros += int64(n)
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: cannot be read behind %d bytes of zeros: %w", f.Path, zeros, pathError(err))
		}
		if err == io.EOF {
			return onlyZeros(f, zeros)
		}
	}
	return &Refusal{f.Path, fmt.Sprintf("begins with more than %d bytes of zeros", int64(maxZeros)),
		"copy the file again from where it was written, or record again"}
}

// onlyZeros refuses a content of n zeros.
func onlyZeros(f *File, n int64) error {
	return &Refusal{f.Path, fmt.Sprintf("consists of %d bytes of zeros; the space was probably reserved and the data was not written, or the disk lost it", n),
		"copy the file again from where it was written, or record again"}
}

// hole returns the size of a file without any data on the disk. It returns false if there is
// data or if the system does not provide that information.
func (f *File) hole() (size int64, ok bool) {
	if f.Compression != "none" || !f.holeBehind(0) {
		return 0, false
	}
	return f.raw.n + f.unread(), true
}

// refuseKnown returns the Refusal of a file that assay certainly cannot read, or nil for
// text, which may contain anything.
func refuseKnown(path string, head []byte) *Refusal {
	if len(bytes.TrimSpace(bytes.TrimRight(head, "\x00"))) == 0 {
		return &Refusal{path, "is empty", "the profiler was probably stopped before it wrote the trace; record again"}
	}
	// The first bytes of Nsight's own files differ between versions; their names do not.
	switch strings.ToLower(filepath.Ext(path)) {
	case ".qdstrm":
		return &Refusal{path, "is a raw recording of Nsight Systems, which must be converted to a report",
			"give the .nsys-rep file of the same name, or run QdstrmImporter of Nsight Systems"}
	}
	if isYappiPickle(head) {
		return &Refusal{path, "is a Python pickle of yappi's (ystat), which only Python can load",
			"save the profile in another form: stats.save(\"profile.callgrind\", type=\"callgrind\")"}
	}
	if bytes.HasPrefix(head, []byte("\x1f\x8b")) || isZstd(head[:min(4, len(head))]) {
		return &Refusal{path, "is compressed more than twice",
			withFile("decompress it first, until file FILE says that it is JSON", path)}
	}
	for _, s := range knownOthers {
		if bytes.HasPrefix(head, []byte(s.prefix)) && (len(s.prefix) > 1 || isBinary(head)) {
			return &Refusal{path, s.what, withFile(s.do, path)}
		}
	}
	if isPythonObject(head) && !forms.HasRecords(head) { // trainers print their metrics as dictionaries
		return &Refusal{path, "has a printed Python object, not JSON", "write it with json.dump"}
	}
	if r := refuseMemoryPage(path, head); r != nil {
		return r
	}
	lower := bytes.ToLower(bytes.TrimSpace(head))
	if bytes.HasPrefix(lower, []byte("<!doctype")) || bytes.HasPrefix(lower, []byte("<html")) ||
		bytes.HasPrefix(lower, []byte("<?xml")) {
		return &Refusal{path, "is a web page or XML",
			"if it was downloaded, the server sent an error page; download the trace itself"}
	}
	if isBinary(head) {
		return &Refusal{path, "is binary and of no known format",
			"give a Chrome trace in JSON: torch.profiler's export_chrome_trace writes one"}
	}
	return nil
}

// withFile replaces FILE in a command by path, quoted for a shell. For standard input,
// which has no name, it returns the command unchanged.
func withFile(command, path string) string {
	if path == stdinName {
		return command
	}
	return strings.ReplaceAll(command, "FILE", shellQuote(path))
}

// shellQuote quotes s for a POSIX shell if it needs that, and keeps commands
// from reading it as a flag.
func shellQuote(s string) string {
	if strings.HasPrefix(s, "-") {
		s = "./" + s
	}
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@%="
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// isPythonObject reports whether head starts with a dict whose keys have single
// quotes, as str and print write it.
func isPythonObject(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimSpace(head), "[ ")
	return bytes.HasPrefix(head, []byte("{'"))
}

// isYappiPickle reports whether head starts a pickle of yappi's own classes.
func isYappiPickle(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x80}) && bytes.Contains(head[:min(64, len(head))], []byte("yappi"))
}

func isBinary(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 }
