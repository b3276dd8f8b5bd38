package sampler

import (
	"bytes"
	"cmp"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/internal/profile"
	"assay/internal/textscan"
)

// A sample of perf script begins with a line "command pid/tid [cpu] seconds: period event: ...". Its stack follows,
// innermost frame first, as "address symbol+offset (object)"; without stacks the frame is on the same line.
var (
	perfHead  = lazyregexp.New(`^\s*(\S.*?)\s+(\d+(?:/\d+)?)\s+(?:\[\d+\]\s+)?(\d+\.\d+):\s+(?:(\d+)\s+)?([A-Za-z][\w.,=/-]*(?::\w+)*):\s*(.*)$`)
	perfFrame = lazyregexp.New(`^\s*[0-9a-f]+ (\S.*?)(?:\+0x[0-9a-f]+)? \((.*)\)$`)
	perfPy    = lazyregexp.New(`^py::(.+?):(/.*|<.*>)$`) // of Python's own support for perf
)

// SniffPerf reports whether a file that begins with head is the output of perf script with samples of stacks.
func SniffPerf(head []byte) bool {
	heads := 0
	for line := range bytes.Lines(head) {
		line = bytes.TrimRight(line, " \t\r\n")
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if heads > 0 && (line[0] == '\t' || line[0] == ' ') && perfFrame().Match(line) {
			return true
		}
		m := perfHead().FindSubmatch(line)
		if m == nil {
			return false
		}
		if heads++; perfFrame().Match(m[6]) {
			return true
		}
	}
	return false
}

// A perfReader reads the output of perf script.
type perfReader struct {
	file   string
	budget int64
	frames []profile.Frame
	ids    map[profile.Frame]uint32
	events []*perfEvent
	issues diag.Ledger

	event *perfEvent // of the sample that is open
	idle  bool       // it is of a CPU that has nothing to do
	comm  string
	of    string // ids of process and thread
	at    number
	value float64
	stack []uint32 // innermost first
}

// A perfEvent has the samples of one event.
type perfEvent struct {
	*costs
	name    string
	samples int64
	clock   bool // its periods are ns of CPU time
	idle    float64
	threads map[string]*perfThread // by ids
}

// A perfThread has the samples of one thread.
type perfThread struct {
	comm   string
	at     []int64
	stacks []int32
}

// The events whose samples are about as frequent as the CPU works. Those of others, such as page faults, context switches
// and tracepoints, do not follow the time.
var perfWork = lazyregexp.New(`^(cpu_\w+/)?(cpu-|ref-)?(cycles|clock|instructions|slots)\b|^task-clock`)

// perfIdle are the ids of the process of a CPU that has nothing to do.
func perfIdle(ids string) bool { return ids == "0" || ids == "0/0" }

// ReadPerf reads the output of perf script. Samples of the CPU clock have a time; those of other events count.
func ReadPerf(in io.Reader, file string, limits profile.Limits) (*profile.Profile, error) {
	r := &perfReader{file: file, budget: cmp.Or(limits.Memory, defaultMemory), ids: map[profile.Frame]uint32{}}
	lines := textscan.NewReader(in, textscan.MaxLine)
	var failed error
	for {
		line, _, err := lines.Next()
		if line != "" || err == nil {
			r.line(line, lines.N)
		}
		if err != nil {
			if err != io.EOF {
				failed = err
			}
			break
		}
	}
	r.end()
	if failed != nil {
		r.issues.Add(diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: diag.Pos{File: file, Line: lines.N},
			Help: "The input could not be read to its end (" + failed.Error() + "). The rest is missing from every total. Copy the file again."})
	}
	best := r.best()
	if best == nil {
		msg := "the output of perf script has no sample with a stack; record with perf record -g"
		if slices.ContainsFunc(r.events, func(e *perfEvent) bool { return e.idle > 0 }) {
			msg = "all samples of the output of perf script with a stack are of idle CPUs; record while the program works"
		}
		return nil, &diag.Error{Pos: diag.Pos{File: file, Line: 1}, Msg: msg}
	}
	column := profile.Column{Name: "samples", Unit: "count"}
	switch {
	case best.clock:
		column = profile.Column{Name: profile.ClockCPU, Unit: "nanoseconds"}
	case !perfWork().MatchString(best.name):
		column = profile.Column{Name: cut(best.name), Unit: profile.UnitEvents}
	}
	p := best.profile(column, 1, func(id uint32) profile.Frame { return r.frames[id] })
	issuePooled(file, best.pooled, &r.issues)
	p.Idle, p.Threads = rounded(best.idle), r.timed(best)
	p.Cut, p.Issues = failed != nil, r.issues.Issues()
	return p, nil
}

// line reads a line.
func (r *perfReader) line(line string, n int) {
	line = strings.TrimRight(line, " \t\r")
	switch {
	case line == "":
		r.end()
		return
	case line[0] == '#':
		return
	}
	if r.event != nil && (line[0] == ' ' || line[0] == '\t') {
		if m := perfFrame().FindStringSubmatch(line); m != nil {
			r.frame(m[1], m[2])
			return
		}
	}
	if m := perfHead().FindStringSubmatch(line); m != nil {
		r.end()
		r.begin(m)
		return
	}
	if r.event == nil { // within a stack it is the source line of a frame
		r.issues.Add(diag.Issue{Code: "line-malformed", Severity: diag.Info, First: diag.Pos{File: r.file, Line: n},
			Help: "Lines of the output of perf script are neither the begin of a sample nor a frame. They were skipped."})
	}
}

// begin opens a sample.
func (r *perfReader) begin(m []string) {
	const mostEvents = 64
	name, _, _ := strings.Cut(m[5], ":")
	r.event = nil
	for _, e := range r.events {
		if e.name == name {
			r.event = e
		}
	}
	period, err := strconv.ParseFloat(m[4], 64)
	clock := err == nil && (name == "cpu-clock" || name == "task-clock")
	if r.event == nil {
		if len(r.events) == mostEvents {
			return
		}
		r.event = &perfEvent{costs: newCosts(&r.budget), name: strings.Clone(name), clock: clock, threads: map[string]*perfThread{}}
		r.events = append(r.events, r.event)
	}
	r.comm, r.of, r.stack, r.value = strings.Clone(m[1]), strings.Clone(m[2]), r.stack[:0], 1
	r.at, _ = parse(m[3])
	if r.event.clock {
		r.value = period
	}
	if r.idle = perfIdle(m[2]); r.idle {
		r.event.idle += r.value
		return
	}
	if f := perfFrame().FindStringSubmatch(m[6]); f != nil {
		r.frame(f[1], f[2])
	}
}

// frame adds a frame to the open sample.
func (r *perfReader) frame(symbol, object string) {
	if r.idle {
		return
	}
	f := profile.Frame{Name: symbol, File: object}
	if m := perfPy().FindStringSubmatch(symbol); m != nil {
		f = profile.Frame{Name: m[1], File: m[2]}
	}
	if f.File == "inlined" || f.File == "[unknown]" {
		f.File = ""
	}
	r.stack = append(r.stack, r.intern(f))
}

// intern returns the number of a frame.
func (r *perfReader) intern(f profile.Frame) uint32 {
	id, ok := r.ids[f]
	if ok {
		return id
	}
	f = profile.Frame{Name: strings.Clone(cut(f.Name)), File: strings.Clone(cut(f.File))}
	if r.budget -= 300 + int64(len(f.Name)+len(f.File)); r.budget < 0 {
		f = profile.Frame{Name: profile.OtherStacks}
	}
	if id, ok := r.ids[f]; ok {
		return id
	}
	id = uint32(len(r.frames))
	r.frames, r.ids[f] = append(r.frames, f), id
	return id
}

// end closes the open sample. The command is the outermost frame.
func (r *perfReader) end() {
	if r.event == nil || len(r.stack) == 0 {
		r.event = nil
		return
	}
	stack := make([]uint32, 0, len(r.stack)+1)
	stack = append(stack, r.intern(profile.Frame{Name: r.comm}))
	for i := len(r.stack) - 1; i >= 0; i-- {
		stack = append(stack, r.stack[i])
	}
	r.event.samples++
	at := r.event.costs.stack(stack)
	r.event.add(at, r.value)
	if t := r.event.threads[r.of]; r.at.whole < math.MaxInt64/1_000_000_000 && (t != nil || len(r.event.threads) < maxThreads) {
		if t == nil {
			t = &perfThread{comm: r.comm}
			r.event.threads[r.of] = t
		}
		r.budget -= 12
		t.at, t.stacks = append(t.at, r.at.whole*1e9+rounded(r.at.part*1e9)), append(t.stacks, int32(at))
	}
	r.event = nil
}

// timed returns the samples of the threads of an event, if they are about as frequent as the CPU works.
func (r *perfReader) timed(e *perfEvent) (out []profile.Timed) {
	if !e.clock && !perfWork().MatchString(e.name) {
		return nil
	}
	for _, ids := range slices.Sorted(maps.Keys(e.threads)) {
		t := e.threads[ids]
		timed := e.costs.timed(t.stacks, func(i int) int64 { return t.at[i] }, func(id uint32) profile.Frame { return r.frames[id] })
		timed.Thread = t.comm + " " + ids
		if pid, _, both := strings.Cut(ids, "/"); both {
			timed.PID, _ = strconv.ParseInt(pid, 10, 64)
		}
		out = append(out, timed)
	}
	return out
}

// best returns the event whose stacks are shown: the CPU clock, or else the one with the most samples.
func (r *perfReader) best() (best *perfEvent) {
	for _, e := range r.events {
		if e.sum() > 0 && (best == nil || e.clock && !best.clock || e.clock == best.clock && e.samples > best.samples) {
			best = e
		}
	}
	if best == nil {
		return nil
	}
	for _, e := range r.events {
		if e != best {
			r.issues.AddN(diag.Issue{Code: "events-apart", Severity: diag.Info, First: diag.Pos{File: r.file},
				Help: "The file has samples of several events, which do not add up. The functions are those of " + strconv.Quote(best.name) + "; the samples counted here are left out. Record one event: perf record -e cpu-clock -g."}, e.samples)
		}
	}
	return best
}
