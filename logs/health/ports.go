package health

import (
	"strings"
)

// ibstat reads a line of "ibstat". Properties of the adapter come before those of its ports.
func (f *Finder) ibstat(line string) bool {
	name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
	if !ok {
		return false
	}
	adapter, _, _ := strings.Cut(f.part, " port ")
	if port, isPort := strings.CutPrefix(name, "Port "); isPort && strings.Trim(port, "0123456789") == "" && value == "" {
		f.part = adapter + " port " + port
		return true
	}
	f.read("ib", f.part, name, strings.TrimSpace(value))
	return true
}

// counter reads a line of "ethtool -S" or of perfquery.
func (f *Finder) counter(line string) bool {
	name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
	if !ok || strings.ContainsRune(name, ' ') {
		return false
	}
	f.read("port", f.part, name, strings.TrimLeft(value, ". \t"))
	return true
}

// rdma reads a line of "rdma statistic": a port, and its counters with their names.
func (f *Finder) rdma(line string) {
	words := strings.Fields(line)
	if len(words) < 4 || !strings.Contains(words[1], "/") {
		return
	}
	part := strings.ReplaceAll(words[1], "/", " port ")
	for i := 2; i+1 < len(words); i += 2 {
		f.read("port", part, words[i], words[i+1])
	}
}
