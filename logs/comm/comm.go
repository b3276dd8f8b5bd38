// Package comm reads the output of communication libraries: logs of NCCL and RCCL
// (NCCL_DEBUG=INFO), the tables of nccl-tests and rccl-tests, messages of PyTorch's
// watchdog, and dumps of its flight recorder.
//
// A row of a table becomes a result of a benchmark. The records of a process about a group
// of ranks become a [logs.Group]. Package analyze/logs compares the groups of all processes
// to find hangs: a call that one member of a group made and another did not.
//
// comm.go dispatches lines to info.go (NCCL and the watchdog), raised.go (exceptions of ranks), ras.go (reports of ncclras)
// and tests.go (tables). flight.go reads dumps, and results.go the results of nccl-tests in JSON.
package comm

import (
	"bytes"

	"assay/internal/diag"
	"assay/logs"
)

// A Finder finds records of NCCL in a text. It is a finder of package textscan.
type Finder struct {
	name string
	b    *logs.Builder

	groups map[string]*logs.Group // by process and pointer
	order  []*logs.Group
	last   map[string]*logs.Group // the last group that each process created

	byPointer map[*logs.Group]bool // groups without a commId
	ops       map[opKey]int
	at        diag.Pos

	version   string
	watchdogs map[watchdogKey]bool

	raised []raised

	table table
	ras   ras
}

type opKey struct {
	g *logs.Group
	logs.GroupOp
}

type watchdogKey struct {
	rank, place int
	seq         int64
	ran         int64
}

// NewFinder returns a finder for an input of the given name.
func NewFinder(name string, limits logs.Limits) *Finder {
	return &Finder{
		name: name, b: logs.NewBuilder(limits), groups: map[string]*logs.Group{}, last: map[string]*logs.Group{},
		byPointer: map[*logs.Group]bool{}, ops: map[opKey]int{}, watchdogs: map[watchdogKey]bool{},
	}
}

var (
	markNCCL = []byte("NCCL")
	markRAS  = []byte(" operation counts")
	markBus  = []byte("busbw")
	markRank = []byte("  Rank ") // below "Using devices", without "#"
)

// Hint reports whether a line may have a record.
func (f *Finder) Hint(line []byte) bool {
	if bytes.HasPrefix(line, []byte("#")) && bytes.HasSuffix(line, []byte(") MISMATCH")) {
		return true
	}
	if n := bytes.IndexByte(line[:min(len(line), 40)], '#'); n >= 0 {
		return bytes.Contains(line, markBus) || bytes.Contains(line, []byte("Collective test starting")) ||
			bytes.Contains(line, []byte("Rank ")) && bytes.Contains(line, []byte(" device "))
	}
	if bytes.Contains(line, markRAS) || bytes.Contains(line, []byte(" launched up to operation ")) || bytes.Contains(line, []byte(" -- GPU ")) {
		return true
	}
	return bytes.Contains(line, markNCCL) || bytes.HasPrefix(line, markRank) || mayRaise(line) ||
		bytes.Contains(line, markBus) && bareHead(string(line))
}

// Open reports whether a table is being read.
func (f *Finder) Open() bool { return f.table.open }

// Line receives a line.
func (f *Finder) Line(n int, line string) {
	f.at = diag.Pos{File: f.name, Line: n}
	f.tableLine(line)
	f.rasLine(line)
	f.raisedLine(line)
	if bytes.Contains([]byte(line), markNCCL) {
		f.ncclLine(line)
	}
}

// nameOldGroups finds the members of a communicator in logs of NCCL before 2.12, which
// prints a pointer that differs between processes instead of a commId. If each process of a
// log has exactly one communicator of some size, and together they have all its places, they
// are members of the same one; it gets the pointer of place 0 as its name. If there are
// several communicators of one size, their members cannot be separated.
func (f *Finder) nameOldGroups() {
	bySize := map[int][]*logs.Group{}
	for _, g := range f.order {
		if g.Source == sourceNCCL && f.byPointer[g] {
			bySize[g.Size] = append(bySize[g.Size], g)
		}
	}
	for size, list := range bySize {
		places, name := map[int]bool{}, ""
		for _, g := range list {
			places[g.Place] = places[g.Place] || g.Place < size
			if g.Place == 0 {
				name = g.Name
			}
		}
		if len(list) != size || len(places) != size {
			continue
		}
		for _, g := range list {
			g.Name = name
		}
	}
}

// Log returns what was found. The finder must not be used afterwards.
func (f *Finder) Log() *logs.Log {
	f.closeTable()
	f.closeRAS()
	f.nameOldGroups()
	f.completeWatchdogs()
	f.noteRaised()
	for _, g := range f.order {
		if g.Version == "" {
			g.Version = f.version
		}
		f.b.Group(*g, diag.Pos{File: f.name})
	}
	return f.b.Log(0, true)
}
