package ascend

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"assay/internal/lazyregexp"
	"assay/trace"
)

// Formats, as inputs have them.
const (
	FormatTrace = "ascend-trace"
	FormatCSV   = "ascend-csv"
)

// DeviceName is the name of an NPU: no form states its model.
const DeviceName = "Ascend NPU"

// Names of processes of a trace.
const (
	hardware = "Ascend Hardware"
	overlap  = "Overlap Analysis"
	cann     = "CANN"
)

// collectives are the names of the process with the lanes of HCCL, by age.
var collectives = []string{"Communication", "HCCL"}

// frameworks are the names of the process of the program.
var frameworks = []string{"Python", "MindSpore"}

// firstGroup is the number of the first stream of collectives: each communicator has one. Streams of the NPU have
// numbers below.
const firstGroup = 100_000

var (
	streamThread = lazyregexp.New(`^(?:Physic )?Stream (\d{1,5})$`)
	planeThread  = lazyregexp.New(`^Plane \d+$`)
)

// Recast gives the spans of a trace their meaning if a profiler of Ascend wrote it, and reports whether it did.
func Recast(t *trace.Trace) bool {
	if t.Activities.Len() > 0 || !slices.ContainsFunc(t.Tracks, func(on trace.Track) bool {
		return on.Process == hardware || isCollective(on.Process) && on.Process != collectives[0]
	}) {
		return false
	}
	l := lanesOf(t)
	t.Recast(trace.Dialect{Tool: FormatTrace, Place: l.place, Span: l.span, Arrow: arrow})
	t.Meta.Devices = make(map[int64]string)
	for _, device := range l.devices {
		t.Meta.Devices[device] = DeviceName
	}
	checkOverlap(t, l)
	return true
}

func isCollective(process string) bool { return slices.Contains(collectives, process) }

// arrow returns what the arrows of a category link. Those from an operator of PyTorch to its kernel (async_npu) say no
// more: the call is between the two.
func arrow(category string) trace.Arrow {
	switch category {
	case "HostToDevice":
		return trace.LaunchArrow
	case "async_task_queue":
		return trace.HandOver
	}
	return trace.NoArrow
}

// lanes are the processes of a trace.
type lanes struct {
	devices map[string]int64 // by number of a process of hardware, collectives or the overlap analysis
	groups  map[lane]int64   // number of the stream of a communicator
	hosts   []string         // numbers of the processes of programs
	grouped bool             // collectives have lanes of their own
	single  bool
}

type lane struct{ pid, tid string }

// lanesOf finds the processes of a trace. One of each kind is of each device; the low bits of newer numbers are that of
// the device.
func lanesOf(t *trace.Trace) *lanes {
	l := &lanes{devices: make(map[string]int64), groups: make(map[lane]int64)}
	byKind := make(map[string][]string)
	for i := range t.Tracks {
		on := &t.Tracks[i]
		kind := on.Process
		switch {
		case isCollective(kind):
			kind = collectives[0]
			if !planeThread().MatchString(on.Thread) {
				l.grouped = true
				l.groups[lane{on.PID, on.TID}] = 0
			}
		case slices.Contains(frameworks, kind):
			l.hosts = append(l.hosts, on.PID)
			continue
		case kind != hardware && kind != overlap:
			continue
		}
		if !slices.Contains(byKind[kind], on.PID) {
			byKind[kind] = append(byKind[kind], on.PID)
		}
	}
	slices.Sort(l.hosts)
	l.hosts = slices.Compact(l.hosts)
	l.single = len(byKind[hardware]) <= 1
	for _, pids := range byKind {
		slices.SortFunc(pids, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
		for i, pid := range pids {
			l.devices[pid] = l.deviceOf(pid, i)
		}
	}
	keys := make([]lane, 0, len(l.groups))
	for key := range l.groups {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b lane) int {
		return cmp.Or(strings.Compare(a.pid, b.pid), cmp.Compare(len(a.tid), len(b.tid)), strings.Compare(a.tid, b.tid))
	})
	for i, key := range keys {
		l.groups[key] = firstGroup + int64(i)
	}
	return l
}

// deviceOf returns the number of the device of a process, which is the i-th of its kind.
func (l *lanes) deviceOf(pid string, i int) int64 {
	if n, err := strconv.ParseInt(pid, 10, 64); err == nil && !l.single {
		return n & 31 // pid<<10 | kind<<5 | device
	}
	return int64(i)
}

// hostOf returns the process of a program whose calls of CANN are listed under another number, which begins with its own
// in binary or decimal digits; or that number if there is none.
func (l *lanes) hostOf(pid string) string {
	if len(l.hosts) == 1 {
		return l.hosts[0]
	}
	n, err := strconv.ParseInt(pid, 10, 64)
	for _, host := range l.hosts {
		if strings.HasPrefix(pid, host) || err == nil && strconv.FormatInt(n>>10, 10) == host {
			return host
		}
	}
	return pid
}

// place says what a track is.
func (l *lanes) place(on *trace.Track) trace.Place {
	switch {
	case on.Process == overlap:
		return trace.Place{Repeats: true}
	case on.Process == cann:
		return trace.Place{PID: l.hostOf(on.PID)}
	case on.Process == hardware:
		p := trace.Place{OnDevice: true, Device: l.devices[on.PID]}
		if m := streamThread().FindStringSubmatch(on.Thread); m != nil {
			p.Stream, _ = strconv.ParseInt(m[1], 10, 64)
		} else if n, err := strconv.ParseInt(on.TID, 10, 32); err == nil {
			p.Stream = n
		}
		return p
	case isCollective(on.Process):
		stream, ok := l.groups[lane{on.PID, on.TID}]
		if !ok {
			return trace.Place{Repeats: true} // the steps of a collective on one of its links
		}
		return trace.Place{OnDevice: true, Device: l.devices[on.PID], Stream: stream}
	}
	return trace.Place{}
}

// span says what a span is.
func (l *lanes) span(_ *trace.Track, place trace.Place, category, name string) trace.Meaning {
	switch {
	case place.OnDevice && place.Stream >= firstGroup:
		return taskOf(name, "")
	case place.OnDevice:
		return l.task(name)
	case place.PID != "" || category == "" && isLevel(name):
		return trace.Meaning{Kind: trace.Runtime, Name: strings.TrimPrefix(name, "AscendCL@")}
	case category == "dequeue":
		return trace.Meaning{Kind: trace.CPUOp, Name: name} // a task that another thread handed over
	case category == "cpu_op" && strings.HasPrefix(name, "ProfilerStep#"):
		return trace.Meaning{Kind: trace.Annotation, Name: name}
	}
	return trace.Meaning{}
}

// task says what a task of the NPU is. Tasks of collectives are part of one that has its own lane.
func (l *lanes) task(name string) trace.Meaning {
	is := taskOf(name, "")
	if l.grouped && is.Collective != "" {
		is.Kind = trace.Sync
	}
	return is
}

// isLevel reports whether a span is a call of CANN, which has the level of the interface before its name.
func isLevel(name string) bool {
	level, _, ok := strings.Cut(name, "@")
	return ok && slices.Contains([]string{"AscendCL", "Runtime", "Model", "Node", "Communication", "Api"}, level)
}
