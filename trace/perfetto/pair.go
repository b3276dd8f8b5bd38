package perfetto

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/internal/label"
	"assay/trace"
)

// finish pairs the marks, and adds what they are.
func (r *reader) finish() {
	kinds := make([]trace.Kind, len(r.marks))
	for i := range r.marks {
		m := &r.marks[i]
		if m.isEnd {
			continue
		}
		kind, ok := r.kindOf(m, r.factsOf(m))
		if kinds[i] = kind; !ok {
			kinds[i] = trace.Span // the profiler's own bookkeeping
		}
		if kind.OnDevice() {
			t := r.order[m.track]
			t.onDevice = true
			if device := r.factsOf(m).device; device >= 0 && t.device == 0 {
				t.device = int64(device) + 1
				r.device = t.device
			}
		}
	}
	order := make([]int32, len(r.marks))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(x, y int32) int {
		a, b := &r.marks[x], &r.marks[y]
		c := cmp.Or(cmp.Compare(a.track, b.track), cmp.Compare(a.at, b.at))
		// On a queue, one operation ends before the next begins. So it is most often on a thread, but where the file is in
		// the order of time, that order says which of two slices is within the other.
		if c == 0 && a.isEnd != b.isEnd && r.order[a.track].endsFirst() {
			c = -1
			if b.isEnd {
				c = 1
			}
		}
		return c
	})
	r.pair(order, kinds)
	r.nameTracks()
	r.addOffCPU()
	if r.clocks.hasUnix {
		r.meta.BaseTime = &r.clocks.unix
	} else if len(r.marks) > 0 && r.marks[0].at > unixTimes {
		zero := int64(0)
		r.meta.BaseTime = &zero
	}
}

// unixTimes is a time of 2014 in ns: times after it are of the wall clock, because no machine has run as long.
const unixTimes = 1_400_000_000_000_000_000

func (r *reader) factsOf(m *mark) *kept {
	if m.facts == 0 {
		return &nothingKept
	}
	return &r.facts[m.facts-1]
}

var nothingKept = noFacts.keep()

// pair pairs begins with ends by their nesting on a track.
func (r *reader) pair(order []int32, kinds []trace.Kind) {
	var stack []int32
	var left int64
	early := 0 // ends at one time that come before their begins: slices without duration
	var last *mark
	for _, i := range order {
		m := &r.marks[i]
		if n := len(stack); n > 0 && r.marks[stack[n-1]].track != m.track {
			left += int64(n)
			stack = stack[:0]
		}
		if early > 0 && (last.track != m.track || last.at != m.at) {
			left += int64(early)
			early = 0
		}
		last = m
		switch n := len(stack); {
		case m.dur >= 0:
			r.add(m, kinds[i], m.at, m.at+m.dur)
		case !m.isEnd && early > 0:
			early--
			r.add(m, kinds[i], m.at, m.at)
		case !m.isEnd:
			stack = append(stack, i)
		case n == 0 && r.order[m.track].endsFirst():
			early++
		case n == 0:
			left++
		default:
			begin := stack[n-1]
			stack = stack[:n-1]
			r.add(&r.marks[begin], kinds[begin], r.marks[begin].at, m.at)
		}
	}
	if left += int64(len(stack) + early); left > 0 {
		r.out.Issue(diag.Issue{Code: "spans-not-paired", Severity: diag.DataLoss, Help: diag.HelpOf("spans-not-paired")}, left)
	}
}

// add adds a slice.
func (r *reader) add(m *mark, kind trace.Kind, start, end int64) {
	f, t, name := r.factsOf(m), r.order[m.track], r.texts.all[m.name]
	// rocprofv3 moves the ends of overlapping work so that it nests; its annotations have the true times.
	if f.begin > 0 && f.end >= f.begin && f.end <= latest {
		start, end = f.begin, f.end
	}
	if end-start > trace.MaxDuration {
		r.damaged++
		return
	}
	pid, _ := r.processOf(t)
	correlation := trace.ID(0)
	if f.link > 0 {
		correlation = trace.IDOf(f.link)
	}
	switch {
	case kind == trace.Span:
	case kind.OnDevice():
		r.addWork(m, f, kind, trace.Activity{Start: start, Dur: end - start, Kind: kind, Correlation: correlation})
	case kind == trace.Runtime || kind == trace.Driver:
		r.out.Call(trace.Call{Start: start, Dur: end - start, Kind: kind, Name: r.out.Sym([]byte(name)), Track: r.out.Thread(pid, t.threadOf()),
			Correlation: correlation, External: external(f)})
	case kind == trace.CPUOp:
		sym := r.out.Sym([]byte(name))
		r.out.Op(trace.Op{Start: start, Dur: end - start, External: external(f), Name: sym, Track: r.out.Thread(pid, t.threadOf()), Shape: r.out.Shape(trace.Shape{}, sym)})
	default:
		if f.step >= 0 && name == "ProfilerStep" {
			name += "#" + strconv.Itoa(int(f.step))
		}
		if kind == trace.Python {
			kind = trace.OtherKind
		}
		r.out.Span(trace.HostSpan{Start: start, Dur: end - start, Kind: kind, Name: r.out.Sym([]byte(name)), Category: r.out.Sym([]byte(r.texts.all[m.category])),
			Track: r.out.Thread(pid, t.threadOf()), External: external(f)})
	}
}

func external(f *kept) trace.ID {
	if f.external <= 0 {
		return 0
	}
	return trace.IDOf(int64(f.external))
}

// addWork adds work of a GPU.
func (r *reader) addWork(m *mark, f *kept, kind trace.Kind, a trace.Activity) {
	t, name := r.order[m.track], strings.TrimSuffix(r.texts.all[m.name], ".kd")
	if kind == trace.Memcpy {
		name = label.Copy(name)
	}
	device, stream := r.placeOf(t, f, kind, name)
	d := trace.Detail{Registers: int64(f.registers), SharedMemory: int64(f.shared), Bytes: max(-1, f.bytes), GraphID: -1,
		Collective: trace.Collective{In: -1, Out: -1, GroupSize: -1}}
	for i := range f.grid {
		d.Grid[i], d.Block[i] = max(0, int64(f.grid[i])), max(0, int64(f.block[i]))
	}
	if f.threads > 0 && f.group > 0 && d.Block[0] == 0 { // of all dimensions together
		d.Grid, d.Block = [3]int64{(int64(f.threads) + int64(f.group) - 1) / int64(f.group), 1, 1}, [3]int64{int64(f.group), 1, 1}
	}
	a.Name = r.out.Sym([]byte(name))
	a.External, a.Track, a.Detail = external(f), r.out.Stream(devicePID, device, stream), r.out.Detail(d, a.Name)
	r.out.Activity(a)
}

// devicePID is the process of the work of GPUs: a trace has that of one machine.
const devicePID = 0

// nameTracks names threads and processes.
func (r *reader) nameTracks() {
	for _, t := range r.order {
		pid, process := r.processOf(t)
		if process != "" {
			r.out.NameProcess(pid, process)
		}
		if t.name != "" && !t.isProcess && !t.isCounter && !t.onDevice {
			r.out.NameThread(pid, t.threadOf(), t.name)
		}
	}
}
