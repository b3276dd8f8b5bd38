// Package health reads what machines say of their GPUs, links and ports: "nvidia-smi nvlink", "nvidia-smi topo -m",
// lines of the kernel about Xids, "dcgmi diag" and "dcgmi health", "ibstat", counters of ports, and the processes that
// NCCL's RAS misses. Each becomes readings: a part, a property, a value. What they mean is in judge/health.
//
// health.go dispatches lines, nvidia.go reads tools and messages of NVIDIA, ports.go network ports and diag.go
// "dcgmi diag --json". Package monitor reads "nvidia-smi -q".
package health

import (
	"bytes"
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
	part string // of a port
	head []string
	ras  string
	name string // of a port, as the name of the file has it
	left int    // lines that a section may have without a record
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

// NewFinder returns a finder for an input of the given name.
func NewFinder(name string, limits logs.Limits) *Finder {
	return &Finder{b: logs.NewBuilder(limits), name: reInterface().FindString(path.Base(strings.ReplaceAll(name, `\`, "/")))}
}

// headings begin sections. A heading begins a line, behind white space, and has a further text.
var headings = []struct {
	text, with string
	is         section
}{
	{"GPU ", "(UUID: ", nvlinkSection}, {"GPU0\t", "\tGPU1", topoSection}, {"| Diagnostic ", "", diagSection},
	{"| Health Monitor Report", "", healthSection}, {"CA '", "", ibSection}, {"NIC statistics:", "", ethtoolSection},
	{"# Port counters:", "", perfquerySection}, {"# Port extended counters:", "", perfquerySection},
}

var (
	markXid  = []byte("Xid (PCI:")
	markRDMA = []byte("link ")
	markDead = []byte(" job process")
	markLost = []byte("Unable to determine the device handle for ")
	reColor  = lazyregexp.New(`\x1b\[[0-9;]*[A-Za-z]`)
	reLost   = lazyregexp.New(`^Unable to determine the device handle for (?:GPU ?)?([0-9A-Fa-f:.]{7,16}): `)
	// Names of network ports: eth0, enp1s0f0, eno1, ib0, bond0, rdma1.
	reInterface = lazyregexp.New(`\b(?:eth|ib|bond|rdma|roce|eno|ens|enp|ibp|ibs)\d+[a-z0-9]*`)
	reNvGPU     = lazyregexp.New(`^GPU (\d{1,3}): .*\(UUID: ([\w-]{1,80})\)`)
)

// Hint reports whether a line may have a record.
func (f *Finder) Hint(line []byte) bool {
	if bytes.Contains(line, markXid) || bytes.HasPrefix(line, markRDMA) || bytes.Contains(line, markDead) || bytes.HasPrefix(line, markLost) {
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
	if strings.Contains(line, "Xid (PCI:") {
		f.xid(line)
		return
	}
	if m := reLost().FindStringSubmatch(line); m != nil {
		f.add("GPU "+m[1], "gpu.handle", "", "not open")
		return
	}
	if strings.Contains(line, " job process") {
		f.rasHeading(line)
		return
	}
	if f.open == none && strings.HasPrefix(line, "link ") {
		f.rdma(line)
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

// begin begins a section.
func (f *Finder) begin(s section, line string) {
	f.open, f.left, f.part, f.gpu = s, mostOther, "", ""
	line = reColor().ReplaceAllString(line, "")
	switch s {
	case nvlinkSection:
		if m := reNvGPU().FindStringSubmatch(line); m != nil {
			f.gpu = m[1]
			f.add("GPU "+m[1], "gpu.uuid", "", m[2])
		}
	case topoSection:
		f.head = strings.Split(strings.TrimSpace(line), "\t")
	case ibSection:
		f.part = strings.Trim(strings.TrimSpace(line)[len("CA "):], "'")
	case ethtoolSection: // it does not say which port it is of
		f.part = strings.TrimSpace("network port " + f.name)
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
	f.b.Read(logs.Reading{Node: f.node, Part: part, Property: property, Name: name, Line: f.line}, value)
}

// Log returns what was found.
func (f *Finder) Log() *logs.Log { return f.b.Log(f.line, true) }
