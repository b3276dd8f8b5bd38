package rocm

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/internal/label"
	"assay/internal/redact"
	"assay/trace"
)

// A capture makes a trace of the rows of any form.
type capture struct {
	file string
	out  *trace.Assembler
	meta trace.Meta

	table  string // that is read, for messages
	row    int64
	rows   int64
	broken bool

	processes map[int64]int64   // index of processes, each of which counts its calls for itself
	lanes     map[laneKey]int64 // see lane
	queues    map[int64]int64   // number of lanes of each device
	domains   map[string]domain // of calls, by the name that a form gives them
	handles   map[int64]int64   // number of streams by their address
	most      int64             // bytes of texts and joins
	used      int64
	overflow  bool
	single    bool // one process counts all calls

	counters *counterReader // of kernels

	strangers               map[stranger]int64
	works, untimed, strange int64 // rows of work of GPUs, those without usable times or that could not be read, and those of unknown GPUs
}

func newCapture(file string, sel trace.Select) *capture {
	most := sel.Limits.Memory
	if most <= 0 {
		most = trace.DefaultLimits().Memory
	}
	return &capture{file: file, counters: newCounterReader(file, 0), out: trace.NewAssembler(file, sel), most: most / 4,
		meta:      trace.Meta{Devices: map[int64]string{}, Capacity: map[int64]int64{}, Hardware: map[int64]trace.Hardware{}},
		processes: map[int64]int64{}, lanes: map[laneKey]int64{}, queues: map[int64]int64{}, domains: map[string]domain{}, handles: map[int64]int64{},
		strangers: map[stranger]int64{}}
}

// trace returns the trace.
func (c *capture) trace() *trace.Trace {
	c.noteGPUs()
	if c.overflow {
		c.out.Issue(diag.Issue{Code: "memory-limit", Severity: diag.DataLoss, First: diag.Pos{File: c.file},
			Help: "The names and links of the capture need more than a quarter of the memory, so some work has neither. To read all, raise --max-memory SIZE."}, 1)
	}
	return c.out.Trace(c.meta, c.rows, !c.broken)
}

// take reports whether n more bytes may be kept.
func (c *capture) take(n int) bool {
	if c.used += int64(n); c.used > c.most {
		c.overflow = true
		return false
	}
	return true
}

// work is an operation of a GPU.
type work struct {
	start, end    int64
	pid, device   int64
	stream, queue int64 // of HIP, 0 if unknown or the default one; of the hardware, -1 if unknown
	correlation   int64 // of the call that launched it, 0 if unknown
	kind          trace.Kind
	name          []byte
	bytes, shared int64    // -1 if unknown
	grid, block   [3]int64 // in blocks and threads
}

// newWork returns work about which nothing is known.
func newWork(kind trace.Kind) work { return work{kind: kind, queue: -1, bytes: -1, shared: -1} }

// add adds work.
func (c *capture) add(w *work) {
	c.works++
	if !c.timed(w.start, w.end) {
		c.untimed++
		return
	}
	sym := c.out.Sym(w.name)
	d := trace.Detail{Grid: w.grid, Block: w.block, Registers: -1, SharedMemory: max(-1, w.shared), Bytes: max(-1, w.bytes), GraphID: -1,
		Collective: trace.Collective{In: -1, Out: -1, GroupSize: -1}}
	c.out.Activity(trace.Activity{Start: w.start, Dur: w.end - w.start, Kind: w.kind, Name: sym, Correlation: c.id(w.pid, w.correlation),
		Track: c.out.Stream(w.pid, w.device, c.lane(w.device, w.stream, w.queue)), Detail: c.out.Detail(d, sym)})
}

// unread counts a row of work that could not be read.
func (c *capture) unread() { c.works, c.untimed = c.works+1, c.untimed+1 }

// latest is a time in ns that no clock has shown: of 2116 if it counts from 1970.
const latest = 1 << 62

// timed reports whether times are usable, and else counts them.
func (c *capture) timed(start, end int64) bool {
	switch {
	case start <= 0 || start > latest:
		c.bad("event-bad-time", "a start that is no time in ns")
	case end <= 0 || end-start > trace.MaxDuration:
		c.bad("event-bad-time", "an end that is no time in ns, or is over 100 hours after its start")
	case end < start:
		c.bad("event-negative-duration", "an end before its start")
	default:
		return true
	}
	return false
}

// bad counts the current row as unusable, for a reason.
func (c *capture) bad(code, reason string) {
	table := cmp.Or(c.table, "the events")
	if filepath.Base(c.file) != table {
		table += " in " + filepath.Base(c.file)
	}
	c.out.Issue(diag.Issue{Code: code, Severity: diag.DataLoss, First: diag.Pos{File: c.file, Path: fmt.Sprintf("%s[%d]", c.table, c.row)},
		Help: fmt.Sprintf("Rows that cannot be true were left out, and are missing from every total. The first is row %d of %s: it has %s. Use the file that the profiler wrote, or record again.",
			c.row+1, table, reason)}, 1)
}

// A laneKey is a queue of a device for work of the default stream.
type laneKey struct{ device, queue int64 }

// firstQueue is the number of the second queue of the default stream. Numbers of streams of HIP are below.
const firstQueue = 1000

// lane returns the number of the stream to which work belongs. Where streams were not recorded, all work is of stream 0,
// and what runs one after the other is a queue of the hardware: the first queue is stream 0, others have numbers from
// 1000.
func (c *capture) lane(device, stream, queue int64) int64 {
	if stream != 0 {
		return stream
	}
	key := laneKey{device, queue}
	n, ok := c.lanes[key]
	if !ok {
		if before := c.queues[device]; before > 0 {
			n = firstQueue + before
		}
		c.queues[device]++
		c.lanes[key] = n
	}
	return n
}

// handle returns the number of a stream or queue that is known by its address or handle: 0 for 0, else by the order in which
// they occur.
func (c *capture) handle(address int64) int64 {
	if address == 0 {
		return 0
	}
	n, ok := c.handles[address]
	if !ok {
		n = int64(len(c.handles)) + 1
		c.handles[address] = n
	}
	return n
}

// processBits is the number of low bits of a correlation that hold the number of the call.
const processBits = 40

// id returns the id of a call that is unique among all processes.
func (c *capture) id(pid, correlation int64) trace.ID {
	if correlation <= 0 {
		return 0
	}
	if c.single {
		pid = 0
	}
	index, ok := c.processes[pid]
	if !ok {
		index = int64(len(c.processes))
		c.processes[pid] = index
	}
	if index == 0 {
		return trace.IDOf(correlation)
	}
	return trace.IDOf(index<<processBits | correlation&(1<<processBits-1))
}

// A domain is how spans of the host of one kind are kept.
type domain struct {
	kind     trace.Kind
	category string
}

// The domains, by words that begin the names that rocprofv3 gives them. Calls of HIP launch work. Those of other
// libraries are within them or follow them.
var domains = []struct {
	prefix string
	domain
}{
	{"HIP_RUNTIME", domain{trace.Runtime, ""}},
	{"HIP_API", domain{trace.Runtime, ""}},
	{"MARKER", domain{trace.Annotation, "roctx"}},
	{"HIP_COMPILER", domain{trace.OtherKind, "hip_compiler"}},
	{"HSA", domain{trace.OtherKind, "hsa"}},
	{"RCCL", domain{trace.OtherKind, "rccl"}},
}

// domainOf returns the domain of a name of rocprofv3.
func (c *capture) domainOf(name string) domain {
	d, ok := c.domains[name]
	if !ok {
		d = domain{trace.OtherKind, strings.ToLower(cut(name))}
		for _, known := range domains {
			if strings.HasPrefix(name, known.prefix) {
				d = known.domain
				break
			}
		}
		c.domains[name] = d
	}
	return d
}

// callDomain returns the domain of a call by its own name.
func callDomain(name string) domain {
	switch {
	case strings.HasPrefix(name, "hip"):
		return domain{trace.Runtime, ""}
	case strings.HasPrefix(name, "hsa"):
		return domain{trace.OtherKind, "hsa"}
	}
	return domain{trace.OtherKind, "api"}
}

// host adds a span of the host: a call, or a range of roctx.
func (c *capture) host(d domain, name []byte, pid, tid, start, end, correlation int64) {
	if !c.timed(start, end) {
		return
	}
	sym, track := c.out.Sym(name), c.out.Thread(pid, tid)
	switch d.kind {
	case trace.Runtime:
		c.out.Call(trace.Call{Start: start, Dur: end - start, Kind: trace.Runtime, Name: sym, Track: track, Correlation: c.id(pid, correlation)})
	case trace.CPUOp:
		c.out.Op(trace.Op{Start: start, Dur: end - start, Name: sym, Track: track, Shape: c.out.Shape(trace.Shape{}, sym)})
	default:
		c.out.Span(trace.HostSpan{Start: start, Dur: end - start, Kind: d.kind, Name: sym, Category: c.out.Sym([]byte(d.category)), Track: track})
	}
}

// toDevice reports whether a copy, by its name, is from the host to a GPU.
func toDevice(name string) bool { return strings.HasSuffix(name, "HtoD") }

// memcpyName returns the name of a copy.
func memcpyName(direction []byte) []byte { return []byte(label.Copy(string(direction))) }

// blocks returns the number of blocks of a grid that is counted in threads.
func blocks(threads, block [3]int64) (out [3]int64) {
	for i := range out {
		if block[i] <= 0 || threads[i] <= 0 {
			return [3]int64{}
		}
		out[i] = (threads[i] + block[i] - 1) / block[i]
	}
	return out
}

// kernelName returns the name of a kernel without the ending of its descriptor.
func kernelName(name []byte) []byte { return []byte(strings.TrimSuffix(string(name), ".kd")) }

// mostName is the number of bytes of a name that is kept. Names of kernels are up to a few KiB long.
const mostName = 64 << 10

func cut(text string) string { return redact.Cut(text, mostName) }

// number returns the number in a text, or otherwise.
func number(text string, otherwise int64) int64 {
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		return otherwise
	}
	return n
}
