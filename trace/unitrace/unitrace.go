// Package unitrace gives meaning to the Chrome traces of unitrace, the profiler of Intel's GPUs in PTI: calls of Level Zero,
// SYCL and OpenCL, and what ran on engines of GPUs. Package trace has read them. QUIRKS.md has the oddities.
package unitrace

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"assay/internal/lazyregexp"
	"assay/trace"
)

// Format is the format of such traces, as inputs have it.
const Format = "unitrace"

var (
	deviceProcess = lazyregexp.New(`^(?:RANK (\d{1,6}) )?DEVICE<([^>]*)>(?:\[([^\]]*)\] )?.*?(?: #(\d{1,4})(?:\.(\d{1,4}))?)?$`)
	processName   = lazyregexp.New(`^(?:RANK (\d{1,6}) )?(?:HOST|DEVICE)<([^>]*)>`)
	kernelName    = lazyregexp.New(`^(?:Tile #\d+: )?(.*?)(?:\[(?:SIMD\w+)? ?\{(\d+); (\d+); (\d+)\} \{(\d+); (\d+); (\d+)\}\])?$`)
	memoryName    = lazyregexp.New(`^(?:Tile #\d+: )?(?:ze|cl)\w*?(Copy\w*|Fill\w*|Read\w*|Write\w*)(?:\(([HDMS])2([HDMS])\)|\([^)]*\))?(?:\[(\d{1,15})\])?$`)
	controlName   = lazyregexp.New(`^(?:Tile #\d+: )?(?:ze|cl)\w*(?:Barrier|EventReset|SignalEvent|WaitOnEvents|Marker)`)
	callName      = lazyregexp.New(`^(?:ze|zes|zer|ur|cl|sycl)[A-Z]\w*$`)
)

// A gpu is the process of a device or a tile of one.
type gpu struct {
	pid    string
	name   string
	number int64
}

// lanes are the devices of a trace, and the streams of each: a lane of an engine, or of a thread on it.
type lanes struct {
	devices map[string]gpu
	streams map[lane]int64
}

type lane struct{ pid, tid string }

// Recast gives the spans of a trace their meaning if unitrace wrote it, and reports whether it did.
func Recast(t *trace.Trace) bool {
	if t.Activities.Len() > 0 || !slices.ContainsFunc(t.Tracks, func(on trace.Track) bool { return strings.Contains(on.Process, "DEVICE<") }) {
		return false
	}
	l := lanesOf(t)
	if len(l.devices) == 0 {
		return false
	}
	t.Recast(trace.Dialect{Tool: Format, Place: l.place, Span: span, Arrow: arrow})
	t.Meta.Devices = make(map[int64]string)
	for _, d := range l.devices {
		t.Meta.Devices[d.number] = cmp.Or(d.name, "Intel GPU")
	}
	for i := range t.Tracks {
		if m := processName().FindStringSubmatch(t.Tracks[i].Process); m != nil {
			t.Meta.Host = m[2]
			if rank, err := strconv.Atoi(m[1]); err == nil {
				t.Meta.Rank = &rank
			}
		}
	}
	return true
}

// arrow returns what the arrows of a category link. It has the number of the kernel: Flow_H2D_17_0.
func arrow(category string) trace.Arrow {
	if strings.HasPrefix(strings.TrimPrefix(category, "CL_"), "Flow_H2D_") {
		return trace.LaunchArrow
	}
	return trace.NoArrow
}

// lanesOf finds the devices. They have the number that unitrace gives them, unless two have the same: tiles of one.
func lanesOf(t *trace.Trace) *lanes {
	l := &lanes{devices: make(map[string]gpu), streams: make(map[lane]int64)}
	var all []gpu
	threads := make(map[string][]string)
	for i := range t.Tracks {
		on := &t.Tracks[i]
		m := deviceProcess().FindStringSubmatch(on.Process)
		if m == nil || on.OnDevice {
			continue
		}
		if threads[on.PID] == nil {
			number, _ := strconv.ParseInt(cmp.Or(m[4], "0"), 10, 64)
			all = append(all, gpu{on.PID, m[3], number})
		}
		threads[on.PID] = append(threads[on.PID], on.TID)
	}
	later := func(a, b string) int { return -cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) } // numbers count down
	slices.SortFunc(all, func(a, b gpu) int { return later(a.pid, b.pid) })
	numbers := make(map[int64]bool)
	for _, d := range all {
		numbers[d.number] = true
	}
	for i, d := range all {
		if len(numbers) < len(all) {
			d.number = int64(i)
		}
		l.devices[d.pid] = d
		tids := threads[d.pid]
		slices.SortFunc(tids, later)
		for k, tid := range slices.Compact(tids) {
			l.streams[lane{d.pid, tid}] = int64(k)
		}
	}
	return l
}

// place says what a track is.
func (l *lanes) place(on *trace.Track) trace.Place {
	d, ok := l.devices[on.PID]
	if !ok {
		return trace.Place{}
	}
	return trace.Place{OnDevice: true, Device: d.number, Stream: l.streams[lane{on.PID, on.TID}]}
}

// span says what a span is.
func span(_ *trace.Track, place trace.Place, _, name string) trace.Meaning {
	switch {
	case place.OnDevice:
		return work(name)
	case callName().MatchString(name):
		return trace.Meaning{Kind: trace.Runtime, Name: name}
	}
	return trace.Meaning{Kind: trace.Annotation, Name: name} // of ITT, MPI or oneCCL
}

// ends are the ends of a copy: host, device, memory that the driver does not know, and shared memory.
var ends = map[string][2]string{"H": {"H", "Pinned"}, "D": {"D", "Device"}, "M": {"H", "Pageable"}, "S": {"D", "Managed"}}

// work says what ran on an engine.
func work(name string) trace.Meaning {
	if controlName().MatchString(name) {
		return trace.Meaning{Kind: trace.Sync, Name: name}
	}
	if m := memoryName().FindStringSubmatch(name); m != nil {
		is := trace.Meaning{Kind: trace.Memcpy, Name: "Memcpy"}
		is.Bytes, _ = strconv.ParseInt(m[4], 10, 64)
		if strings.HasPrefix(m[1], "Fill") {
			is.Kind, is.Name = trace.Memset, "Memset"
		} else if from, to := ends[m[2]], ends[m[3]]; from[0] != "" {
			is.Name = "Memcpy " + from[0] + "to" + to[0] + " (" + from[1] + " -> " + to[1] + ")"
		}
		return is
	}
	is := trace.Meaning{Kind: trace.Kernel, Name: name}
	if m := kernelName().FindStringSubmatch(name); m != nil {
		is.Name = m[1]
		for i := range 3 {
			is.Grid[i], _ = strconv.ParseInt(m[2+i], 10, 64)
			is.Block[i], _ = strconv.ParseInt(m[5+i], 10, 64)
		}
	}
	return is
}
