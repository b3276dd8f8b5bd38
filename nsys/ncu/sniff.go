package ncu

import "strings"

// Sniff reports whether a file that begins with prefix is output of ncu: a
// message of ncu, the header of a table, or a page in text.
func Sniff(prefix []byte) bool {
	text := strings.TrimPrefix(strings.ToValidUTF8(string(prefix), "\ufffd"), "\ufeff")
	if strings.ContainsRune(text, 0) {
		return false
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "==PROF== ") || strings.Contains(line, "==ERROR== ERR_NVGPUCTRPERM") || isHeader(line) {
			return true
		}
		if strings.TrimSpace(line) == "Section: GPU Speed Of Light Throughput" || isPageTitles(line) {
			return true
		}
	}
	return false
}

// isHeader reports whether a line is the header of a table. The end of the line
// may be missing, because raw pages have long headers.
func isHeader(line string) bool {
	if layoutOf(line) != nil {
		return true
	}
	at := headerStart(line)
	if at < 0 {
		return false
	}
	plain := strings.ReplaceAll(line[at:], `"`, "")
	return strings.HasPrefix(plain, "ID,Process ID,Process Name,Host Name,")
}
