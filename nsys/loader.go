package nsys

import (
	"bytes"
	"fmt"
	"strings"

	"assay/internal/diag"
	"assay/trace"
)

// A loader makes a trace from the rows of an export.
type loader struct {
	src  source
	file string
	out  *trace.Assembler
	meta trace.Meta
	rows int64

	// The row that is being read, for messages.
	here struct {
		table string
		row   int64 // among those of its table, from 0
	}

	broken    bool
	lastStart int64           // of the last row with a usable time
	graphs    bool            // StringIds has the name of a call that launches graphs
	captured  map[string]bool // tables that the export has

	strings                     map[int64][]byte
	stringBytes, maxStringBytes int64

	syms     map[int64]trace.Sym // of strings, in an epoch of out
	calls    map[int64]trace.Sym // of strings that name calls
	epoch    int
	machines map[int64]int64 // by the upper bits of a global id
	process  map[int64]int64 // index of processes that use a device
	gpus     map[deviceKey]int64
	ordinals map[deviceKey]int64
	syncs    map[deviceKey]int64  // ordinals for synchronizations: see syncDevice
	contexts map[contextKey]int64 // the process's number for the device of a context
	events   events
	lowest   map[int64]int64 // by process: the lowest ordinal of its devices
	taken    map[int64]int64 // by ordinal: a later ordinal, see free
	domains  map[domainKey]string
	labels   map[string]trace.Sym // texts that are not from the export, in an epoch of out
	offCPU   map[int64]int64      // by thread: since when it has not been running

	commRanks map[string]int64 // of NCCL's communicators
	joined    communicators

	ranks []int

	// A direct-mapped cache of syms, indexed by the low bits of the id.
	recent [256]struct {
		known bool
		id    int64
		sym   trace.Sym
	}

	// The results of the last lookups. Most rows need the same ones as the row before.
	last struct {
		known          bool
		machine, upper int64
		pid, index     int64 // see correlation
		key            deviceKey
		ordinal        int64        // of key, plus 1
		launch         trace.Detail // of the last kernel
		detail         trace.DetailID
		detailOf       int // epoch
	}

	seen  sightings
	nodes nodes
}

// A deviceKey is a device by the number that a process uses for it.
type deviceKey struct{ pid, device int64 }

// A domainKey is a domain of NVTX, which each process numbers for itself.
type domainKey struct{ pid, domain int64 }

// sightings are the observations that preflight turns into issues.
type sightings struct {
	first, last   int64 // of device work
	overhead      [][2]int64
	graphLaunches int64
	graphNodes    int64
	graphRows     int64
	ranges        int64
	unclosed      int64
	sharedDevices int64
	lastEnd       int64 // the latest end of any row
	secrets       int64
	collected     collected
	graphMode     string
}

func newLoader(src source, file string, sel trace.Select) *loader {
	limits := sel.Limits
	if limits.Memory == 0 {
		limits = trace.DefaultLimits()
	}
	return &loader{
		nodes:          nodes{requested: sel.GraphNodes, most: int(limits.Memory / nodeShare / nodeRowBytes)},
		maxStringBytes: limits.Memory / 4,
		src:            src, file: file, out: trace.NewAssembler(file, sel),
		meta:     trace.Meta{Devices: make(map[int64]string), Capacity: make(map[int64]int64), Hardware: make(map[int64]trace.Hardware), APINames: make(map[string]string), Recorder: make(map[string]string)},
		captured: make(map[string]bool), strings: make(map[int64][]byte), syms: make(map[int64]trace.Sym), calls: make(map[int64]trace.Sym),
		machines: make(map[int64]int64), process: make(map[int64]int64), gpus: make(map[deviceKey]int64), ordinals: make(map[deviceKey]int64), syncs: make(map[deviceKey]int64),
		lowest: make(map[int64]int64), taken: make(map[int64]int64), domains: make(map[domainKey]string), labels: make(map[string]trace.Sym), offCPU: make(map[int64]int64), commRanks: make(map[string]int64),
		contexts: make(map[contextKey]int64), events: events{of: make(map[eventKey][]eventRecord), most: int(limits.Memory / eventShare / eventRecordBytes)},
	}
}

// isExport reports whether the source has any table of an export.
func (l *loader) isExport() bool {
	if len(l.src.columns("StringIds")) > 0 {
		return true
	}
	for _, t := range tables {
		if len(l.src.columns(t.name)) > 0 {
			return true
		}
	}
	return false
}

// renew drops the cached numbers of texts when a new epoch of out makes them invalid.
func (l *loader) renew() {
	if l.epoch != l.out.Epoch() {
		l.epoch = l.out.Epoch()
		clear(l.syms)
		clear(l.calls)
		clear(l.labels)
		clear(l.recent[:])
	}
}

// sym returns the number of the string of an id.
func (l *loader) sym(id int64) trace.Sym {
	l.renew()
	recent := &l.recent[id&(int64(len(l.recent))-1)]
	if recent.known && recent.id == id {
		return recent.sym
	}
	s, ok := l.syms[id]
	if !ok {
		s = l.out.Sym(l.string(id))
		l.syms[id] = s
	}
	recent.known, recent.id, recent.sym = true, id, s
	return s
}

// label returns the number of a text. It is for texts with few distinct values.
func (l *loader) label(text string) trace.Sym {
	l.renew()
	s, ok := l.labels[text]
	if !ok {
		s = l.out.Sym([]byte(text))
		l.labels[text] = s
	}
	return s
}

// string returns the string of an id. A missing string is replaced by its id, so
// that rows with different names stay separate.
func (l *loader) string(id int64) []byte {
	if s, ok := l.strings[id]; ok {
		return s
	}
	l.out.Issue(diag.Issue{Code: "string-missing", Severity: diag.DataLoss, First: diag.Pos{File: l.file, Path: fmt.Sprintf("StringIds[id=%d]", id)}}, 1)
	return fmt.Appendf(nil, "(string %d)", id)
}

// A thread is the process and thread of a global id.
type thread struct{ pid, tid int64 }

// thread splits a global id: 16 bits for hardware and virtual machine, 24 for the
// process, 24 for the thread. Processes of a second machine get numbers of their own.
func (l *loader) thread(global int64) thread {
	t := thread{global >> 24 & 0xffffff, global & 0xffffff}
	if machine := global >> 48; !l.last.known || l.last.machine != machine {
		index, ok := l.machines[machine]
		if !ok {
			index = int64(len(l.machines))
			l.machines[machine] = index
		}
		l.last.known, l.last.machine, l.last.upper = true, machine, index<<24
	}
	t.pid |= l.last.upper
	return t
}

// correlationBits is the number of low bits of a correlation that hold the id of
// the call. The bits above hold the index of the process, because each process
// counts its own calls.
const correlationBits = 24

// correlation returns an id that is unique among all processes of an export. Ids of
// the first process, which mostly is the only one, stay as they are.
func (l *loader) correlation(pid, id int64) trace.ID {
	if id <= 0 {
		return 0
	}
	if pid != l.last.pid || len(l.process) == 0 {
		index, ok := l.process[pid]
		if !ok {
			index = int64(len(l.process))
			l.process[pid] = index
		}
		l.last.pid, l.last.index = pid, index
	}
	index := l.last.index
	if index == 0 {
		return trace.IDOf(id)
	}
	if id < 1<<correlationBits && index < 1<<(31-correlationBits) {
		return trace.IDOf(index<<correlationBits | id)
	}
	return trace.IDOf(index<<40 | id&(1<<40-1))
}

// device returns the ordinal of a device, given the number that the process uses
// for it. If the export maps the number to a GPU, it is the ordinal of that GPU.
// Otherwise the devices of different processes are assumed to be different,
// because most programs give each process a GPU of its own and hide the others
// from it (CUDA_VISIBLE_DEVICES).
func (l *loader) device(pid, device int64) int64 {
	key := deviceKey{pid, device}
	if l.last.ordinal > 0 && l.last.key == key {
		return l.last.ordinal - 1
	}
	if n, ok := l.ordinals[key]; ok {
		l.last.key, l.last.ordinal = key, n+1
		return n
	}
	n, known := l.gpus[key]
	if !known {
		if n = l.free(device); n != device {
			l.seen.sharedDevices++
		}
	}
	l.ordinals[key], l.taken[n] = n, n+1
	if lowest, ok := l.lowest[pid]; !ok || n < lowest {
		l.lowest[pid] = n
	}
	return n
}

// free returns the first ordinal from n on that is not taken. It is a union-find
// with path compression: taken maps each taken ordinal to a later one at which to
// continue the search. Without it, a million processes with one device each would
// take quadratic time.
func (l *loader) free(n int64) int64 {
	end := n
	for next, taken := l.taken[end]; taken; next, taken = l.taken[end] {
		end = next
	}
	for n != end {
		n, l.taken[n] = l.taken[n], end
	}
	return end
}

// work reads the columns that the rows of all device work have in common.
func (l *loader) work(r row, kind trace.Kind) (a trace.Activity, pid int64, ok bool) {
	start, dur, ok := l.span(r)
	if !ok {
		return a, 0, false
	}
	// A device that is not a number would read as device 0.
	device := r.Num(2)
	if (device == 0 || device != l.last.key.device) && r.NotNumber(2) {
		l.bad("event-bad-device", "")
		return a, 0, false
	}
	if l.seen.first == 0 && l.seen.last == 0 || start < l.seen.first {
		l.seen.first = start
	}
	l.seen.last = max(l.seen.last, start+dur)
	pid = l.thread(r.Num(5)).pid
	a = trace.Activity{Start: start, Dur: dur, Kind: kind, Correlation: l.correlation(pid, r.Num(4)),
		Track: l.out.Stream(pid, l.device(pid, device), r.Num(3))}
	return a, pid, true
}

// unknown is the Detail of work about which the export has no further information.
var unknown = trace.Detail{
	Registers: -1, SharedMemory: -1, Bytes: -1, GraphID: -1,
	Collective: trace.Collective{In: -1, Out: -1, GroupSize: -1},
}

func (l *loader) kernel(r row) {
	a, pid, ok := l.work(r, trace.Kernel)
	if !ok {
		return
	}
	a.Name = l.sym(r.Num(6))
	d := unknown
	if l.graphs {
		d = l.inGraph(r, pid)
	}
	launched(&d, r)
	if last := &l.last; last.detailOf != l.out.Epoch() || last.launch != d {
		last.launch, last.detail, last.detailOf = d, l.out.Detail(d, a.Name), l.out.Epoch()
	}
	a.Detail = l.last.detail
	l.out.Activity(a)
}

// launched adds what a kernel was launched with. Numbers that no GPU has are left out; a kernel without registers is one of an export that does not
// have them.
func launched(d *trace.Detail, r row) {
	const most = 1 << 31
	within := func(column int) int64 {
		if n := r.Num(column); n >= 0 && n < most {
			return n
		}
		return 0
	}
	d.Grid, d.Block = [3]int64{within(9), within(10), within(11)}, [3]int64{within(12), within(13), within(14)}
	if n := within(8); n > 0 {
		d.Registers, d.SharedMemory = n, within(15)+within(16)
	}
}

// inGraph returns the detail of work that may be part of a graph launch. The upper
// 32 bits of a node's number are the number of its graph.
func (l *loader) inGraph(r row, pid int64) trace.Detail {
	d := unknown
	if node := r.Num(7); node != 0 {
		d.GraphID = int64(uint64(node) >> 32)
		l.seen.graphNodes++
		if l.nodes.wanted && !r.NotNumber(7) {
			d.Node = l.nodes.number(pid, node)
		}
	}
	return d
}

func (l *loader) memcpy(r row) {
	a, pid, ok := l.work(r, trace.Memcpy)
	if !ok {
		return
	}
	name := "Memcpy " + at(copyKinds[:], r.Num(6))
	if !r.Null(9) && !r.Null(10) {
		name += " (" + at(memoryKinds[:], r.Num(9)) + " -> " + at(memoryKinds[:], r.Num(10)) + ")"
	}
	l.sized(a, r, pid, name)
}

func (l *loader) memset(r row) {
	a, pid, ok := l.work(r, trace.Memset)
	if !ok {
		return
	}
	name := "Memset"
	if !r.Null(6) {
		name += " (" + at(memoryKinds[:], r.Num(6)) + ")"
	}
	l.sized(a, r, pid, name)
}

func (l *loader) sized(a trace.Activity, r row, pid int64, name string) {
	d := l.inGraph(r, pid)
	if !r.Null(8) {
		d.Bytes = max(-1, r.Num(8))
	}
	a.Name = l.label(name)
	a.Detail = l.out.Detail(d, a.Name)
	l.out.Activity(a)
}

// graph adds the launch of a graph that was recorded as one event. The export has
// no rows for the kernels in it.
func (l *loader) graph(r row) {
	a, _, ok := l.work(r, trace.Kernel)
	if !ok {
		return
	}
	l.seen.graphRows++
	d := unknown
	d.GraphID = r.Num(6)
	a.Name = l.label(trace.OpaqueGraph)
	a.Detail = l.out.Detail(d, a.Name)
	l.out.Activity(a)
}

func (l *loader) call(r row) {
	class := r.Num(2)
	if class == backtraceClass {
		return
	}
	if l.nodes.updates && changesGraphs(l.string(r.Num(5))) {
		l.graphUpdated(r) // also if the times of the row are unusable
	}
	start, dur, ok := l.span(r)
	if !ok {
		return
	}
	kind := trace.Runtime
	if class == driverClass {
		kind = trace.Driver
	}
	t := l.thread(r.Num(3))
	l.out.Call(trace.Call{Start: start, Dur: dur, Kind: kind, Name: l.callName(r.Num(5)),
		Track: l.out.Thread(t.pid, t.tid), Correlation: l.correlation(t.pid, r.Num(4))})
}

// callName returns the name of a call without the version of its interface, as all
// other profilers write it: cudaLaunchKernel for cudaLaunchKernel_v7000.
func (l *loader) callName(id int64) trace.Sym {
	l.renew()
	s, ok := l.calls[id]
	if ok {
		return s
	}
	name := l.string(id)
	base := name
	if i := bytes.LastIndex(name, []byte("_v")); i > 0 && len(name)-i >= len("_v7000") && len(bytes.Trim(name[i+2:], "0123456789")) == 0 {
		base = name[:i] // the suffix of cuMemAlloc_v2 stays, because it is part of the name
		l.meta.APINames[string(base)] = string(name)
	}
	s = l.out.Sym(base)
	l.calls[id] = s
	if bytes.Contains(base, []byte("GraphLaunch")) {
		l.seen.graphLaunches++
	}
	return s
}

func (l *loader) osrt(r row) {
	if class := r.Num(4); class != osStartClass && class != osFinishClass {
		l.hostSpan(r, "osrt", trace.OSCall)
	}
}

func (l *loader) callOfLibrary(r row) { l.hostSpan(r, "library", trace.OtherKind) }

// graphMade adds a span for the creation of a graph or of a node, within the call
// that created it.
func (l *loader) graphMade(r row) { l.hostSpan(r, "cuda_graph", trace.OtherKind) }

func (l *loader) overhead(r row) {
	if s, ok := l.hostSpan(r, "overhead", trace.Overhead); ok {
		l.seen.overhead = append(l.seen.overhead, [2]int64{s.Start, s.Start + s.Dur})
	}
}

func (l *loader) hostSpan(r row, category string, kind trace.Kind) (s trace.HostSpan, ok bool) {
	start, dur, ok := l.span(r)
	if !ok {
		return s, false
	}
	t := l.thread(r.Num(2))
	s = trace.HostSpan{Start: start, Dur: dur, Kind: kind, Name: l.sym(r.Num(3)), Category: l.label(category), Track: l.out.Thread(t.pid, t.tid)}
	l.out.Span(s)
	return s, true
}

// at returns texts[n], or n as text if there is no such element.
func at(texts []string, n int64) string {
	if n >= 0 && n < int64(len(texts)) {
		return texts[n]
	}
	return fmt.Sprintf("kind %d", n)
}

// printable replaces bytes that are not UTF-8, which a terminal may misinterpret.
func printable(s []byte) string { return strings.ToValidUTF8(string(s), "�") }
