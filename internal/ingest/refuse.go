package ingest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
)

// A Refusal says that an input is nothing that assay reads, what it seems to
// be, and what to do instead.
type Refusal struct {
	Path string
	What string // "is a web page"
	Do   string // the remedy
}

func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s; %s", r.Path, r.What, r.Do) }

// strangers lists what users hand over in the place of a trace, by the first
// bytes.
var strangers = []struct{ prefix, what, do string }{
	{"\x89PNG", "is a PNG picture", "give the trace that it was made from"},
	{"\xff\xd8\xff", "is a JPEG picture", "give the trace that it was made from"},
	{"%PDF", "is a PDF document", "give the trace that it was made from"},
	{"PK\x03\x04", "is a zip archive", "unpack it first: unzip FILE -d DIR && assay report DIR"},
	{"\xfd7zXZ", "is compressed with xz", "decompress it first: xz -dc FILE | assay summary"},
	{"BZh", "is compressed with bzip2", "decompress it first: bzip2 -dc FILE | assay summary"},
	{"\x04\x22\x4d\x18", "is compressed with lz4", "decompress it first: lz4 -dc FILE | assay summary"},
	{"version https://git-lfs.github.com", "is a git-LFS pointer, not the file itself", "fetch the file: git lfs pull"},
	{"\x7fELF", "is a program", "give a trace that a profiler wrote"},
	{"\x0a", "is binary (a protobuf, perhaps *.xplane.pb)", "export a JSON trace instead: torch.profiler's export_chrome_trace"},
}

// refuse explains what a file is that no reader takes.
func refuse(path string, head []byte) error {
	if r := stranger(path, head); r != nil {
		return r
	}
	return noTables(path)
}

// stranger explains what a file is that is known not to be read, or returns nil
// for text that may hold anything.
func stranger(path string, head []byte) *Refusal {
	if len(bytes.TrimSpace(bytes.TrimRight(head, "\x00"))) == 0 {
		return &Refusal{path, "is empty", "the profiler may have been killed before it wrote, or had nothing to print; record again"}
	}
	// Nsight's own files have no stable first bytes, but stable names.
	switch strings.ToLower(filepath.Ext(path)) {
	case ".qdstrm":
		return &Refusal{path, "is the raw recording of Nsight Systems, of which its QdstrmImporter makes a report",
			"look for the .nsys-rep beside it, or run QdstrmImporter where Nsight Systems is installed"}
	}
	if isYappiPickle(head) {
		return &Refusal{path, "is a Python pickle of yappi's (ystat), which only Python can load", "save the profile in another form: stats.save(\"profile.callgrind\", type=\"callgrind\")"}
	}
	for _, s := range strangers {
		if bytes.HasPrefix(head, []byte(s.prefix)) && (len(s.prefix) > 1 || isBinary(head)) {
			return &Refusal{path, s.what, withFile(s.do, path)}
		}
	}
	if isPythonObject(head) {
		return &Refusal{path, "is the text of a Python object, not JSON", "write it with json.dump instead of str or print"}
	}
	if isExecutionTrace(head) {
		return &Refusal{path, "is an execution trace (ET) of PyTorch, which has no times", "give the trace that export_chrome_trace wrote in the same run"}
	}
	if r := refuseMemoryPage(path, head); r != nil {
		return r
	}
	lower := bytes.ToLower(bytes.TrimSpace(head))
	if bytes.HasPrefix(lower, []byte("<!doctype")) || bytes.HasPrefix(lower, []byte("<html")) || bytes.HasPrefix(lower, []byte("<?xml")) {
		return &Refusal{path, "is a web page or XML", "if it was downloaded, the server sent an error page; download the trace itself"}
	}
	if isBinary(head) {
		return &Refusal{path, "is binary and of no known format", "give a Chrome trace in JSON: torch.profiler's export_chrome_trace writes one"}
	}
	return nil
}

// isExecutionTrace reports whether head starts one of PyTorch's execution
// traces, which lie beside its Chrome traces.
func isExecutionTrace(head []byte) bool {
	head = bytes.TrimSpace(head)
	return bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte(`"schema"`)) && bytes.Contains(head, []byte(`"nodes"`)) &&
		!bytes.Contains(head, []byte(`"traceEvents"`))
}

// withFile puts path, as a shell reads it, in the place of FILE in a command.
// Standard input has no name to put there.
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
