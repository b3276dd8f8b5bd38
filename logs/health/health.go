// Package health reads what machines say of their GPUs, links and ports: "nvidia-smi nvlink", "nvidia-smi topo -m",
// lines of the kernel about Xids, "dcgmi diag" and "dcgmi health", "ibstat", counters of ports, and the processes that
// NCCL's RAS misses. Each becomes readings: a part, a property, a value. What they mean is in judge/health.
//
// health.go dispatches lines, nvidia.go reads tools and messages of NVIDIA, ports.go network ports and diag.go
// "dcgmi diag --json". Package monitor reads "nvidia-smi -q".
package health

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"assay/internal/lazyregexp"
	"assay/logs"
)

// A Finder finds readings in a text. It is a finder of package textscan.
type Finder struct {
	b    *logs.Builder
	line int64
	open section
	gpu  string // of the heading of nvlink, or of dcgmi health
	node string // of the line
	at   string // of the line
	port string // the network interface that the file or the command names
	part string // of a port
	more int    // outputs of ethtool before this one whose interface is unknown
	head []string
	ras  string
	left int // lines that a section may have without a record
}

// A section is a kind of text that begins with a heading.
type section uint8

const (
	none section = iota
	nvlinkSection
	topoSection
	diagSection
	healthSection
	ibSection
	ethtoolSection
	perfquerySection
	rasSection
)

// unnamed is the port of an output of ethtool whose interface neither the file nor the command names.
const unnamed = "network port"

// NewFinder returns a finder for an input of the given name, which may have that of a network interface.
func NewFinder(name string, limits logs.Limits) *Finder {
	f := &Finder{b: logs.NewBuilder(limits), port: unnamed}
	if m := rePort().FindStringSubmatch(path.Base(strings.ReplaceAll(name, `\`, "/"))); m != nil {
		f.port = m[1]
	}
	return f
}

// headings begin sections. A heading begins a line, behind white space, and has a further text.
var headings = []struct {
	text, with string
	is         section
}{
	{"GPU ", "(UUID: ", nvlinkSection}, {"GPU0\t", "\tGPU1", topoSection}, {"| Diagnostic ", " Result ", diagSection},
	{"| Health Monitor Report", "", healthSection}, {"CA '", "", ibSection}, {"NIC statistics:", "", ethtoolSection},
	{"# Port counters:", "", perfquerySection}, {"# Port extended counters:", "", perfquerySection},
}

var (
	markXid  = []byte("Xid (PCI:")
	markRDMA = []byte("link ")
	markDead = []byte(" job process")
	markPort = []byte("ethtool -S ")
	markLost = []byte("Unable to determine the device handle for GPU")
	// What drivers of GPUs and network adapters write into the log of the kernel, also where nothing failed.
	marksKernel = [][]byte{
		[]byte("NVRM: "), []byte(" nvidia-nvlink: "), []byte(" nvidia 0000:"), []byte(" mlx5_core 0000:"),
	}
	reColor = lazyregexp.New(`\x1b\[[0-9;]*[A-Za-z]`)
	reNvGPU = lazyregexp.New(`^GPU (\d{1,3}): (.*?) ?\(UUID: ([\w-]{1,80})\)`)
	rePort  = lazyregexp.New(`(?:^|[^a-zA-Z0-9])((?:eth|en[opsx]|ens|ib|ibp|bond|rdma)\d\w{0,20})`)
)

// Hint reports whether a line may have a record.
func (f *Finder) Hint(line []byte) bool {
	for _, mark := range [][]byte{markXid, markDead, markPort, markLost} {
		if bytes.Contains(line, mark) {
			return true
		}
	}
	if bytes.HasPrefix(line, markRDMA) || isKernel(line) {
		return true
	}
	_, ok := headingOf(line)
	return ok
}

// headingOf returns the section that a line begins.
func headingOf(line []byte) (section, bool) {
	line = bytes.TrimLeft(line, " \t")
	if bytes.HasPrefix(line, []byte("\x1b[4m")) {
		line = line[4:] // nvidia-smi underlines the heading of its matrix
	}
	for _, h := range headings {
		if bytes.HasPrefix(line, []byte(h.text)) {
			return h.is, h.with == "" || bytes.Contains(line, []byte(h.with))
		}
	}
	return none, false
}

// Open reports whether the next line is needed.
func (f *Finder) Open() bool { return f.open != none }

// mostOther is how many lines without a record end a section.
const mostOther = 40

// Line reads a line.
func (f *Finder) Line(n int, line string) {
	f.line = int64(n)
	if f.single(line) {
		return
	}
	if s, ok := headingOf([]byte(line)); ok {
		f.begin(s, line)
		return
	}
	found := false
	switch f.open {
	case nvlinkSection:
		found = f.nvlink(line)
	case topoSection:
		found = f.topo(line)
	case diagSection:
		found = f.diagRow(line)
	case healthSection:
		found = f.healthRow(line)
	case ibSection:
		found = f.ibstat(line)
	case ethtoolSection, perfquerySection:
		found = f.counter(line)
	case rasSection:
		found = f.rasProcess(line)
	}
	if found {
		f.left = mostOther
	} else if f.left--; f.left <= 0 {
		f.open = none
	}
}

// single reads a record of one line, and reports whether it is one.
func (f *Finder) single(line string) bool {
	_, name, named := strings.Cut(line, string(markPort))
	switch b := []byte(line); {
	case isKernel(b) || bytes.Contains(b, markXid):
		f.kernel(line)
	case bytes.Contains(b, markDead):
		f.rasHeading(line)
	case bytes.Contains(b, markLost):
		if m := reLost().FindStringSubmatch(line); m != nil {
			f.add("GPU "+m[1], "gpu.lost", "", "no answer")
		}
	case named:
		if words := strings.Fields(name); len(words) > 0 && len(words[0]) < 40 {
			f.port, f.open = words[0], none
		}
	case f.open == none && bytes.HasPrefix(b, markRDMA):
		f.rdma(line)
	default:
		return false
	}
	return true
}

// begin begins a section.
func (f *Finder) begin(s section, line string) {
	f.open, f.left, f.part, f.gpu = s, mostOther, "", ""
	line = reColor().ReplaceAllString(line, "")
	switch s {
	case nvlinkSection:
		if m := reNvGPU().FindStringSubmatch(line); m != nil {
			f.gpu = m[1]
			f.add("GPU "+m[1], "gpu.uuid", "", m[3])
			f.add("GPU "+m[1], "gpu.model", "", m[2])
		}
	case topoSection:
		f.head = strings.Split(strings.TrimSpace(line), "\t")
	case ibSection:
		f.part = strings.Trim(strings.TrimSpace(line)[len("CA "):], "'")
	case ethtoolSection:
		if f.part = f.port; f.port == unnamed { // another output may be of another interface
			if f.more++; f.more > 1 {
				f.part += fmt.Sprint(" ", f.more)
			}
		}
	case perfquerySection:
		f.part = "port"
		if i := strings.Index(line, "Lid "); i >= 0 {
			lid, _, _ := strings.Cut(line[i:], "(")
			f.part = strings.TrimSpace(lid)
		}
	}
}

// read adds a value of a property that a tool calls name.
func (f *Finder) read(tool, part, name, value string) bool {
	property := logs.PropertyOf(tool, strings.ReplaceAll(name, " ", "_"))
	if property == "" {
		return false
	}
	if tool == "ib" {
		name = ""
	}
	f.add(part, property, name, value)
	return true
}

func (f *Finder) add(part, property, name, value string) {
	f.b.Read(logs.Reading{Node: f.node, Part: part, Property: property, Name: name, Line: f.line, At: f.at}, value)
}

// Log returns what was found.
func (f *Finder) Log() *logs.Log { return f.b.Log(f.line, true) }
