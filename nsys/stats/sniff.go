package stats

import "strings"

// Named reports whether the name of a file contains the name of a report of any
// version, as the names given by "nsys stats -o" do.
func Named(path string) bool {
	_, _, ok := reportInName(path)
	return ok
}

// Sniff reports whether a file that begins with prefix contains tables of nsys
// stats: a line that announces a table, or the header of one.
func Sniff(prefix []byte) bool {
	text := strings.TrimPrefix(strings.ToValidUTF8(string(prefix), "\ufffd"), "\ufeff")
	if strings.ContainsRune(text, 0) {
		return false
	}
	if sniffArray(text) {
		return true
	}
	last := ""
	var g grid
	for line := range strings.Lines(text) {
		line, _ = g.text(strings.TrimRight(line, "\r\n"))
		if s, ok := parseMessage(line); ok && (s.report != "" || s.progress) {
			return true
		}
		if csvLayout(line, "") != nil || textLayout(last, line, "") != nil {
			return true
		}
		if strings.TrimSpace(line) != "" {
			last = line
		}
	}
	return false
}
