package trace

import (
	"strconv"
	"strings"

	"assay/internal/eventscan"
	names "assay/internal/label"
	"assay/internal/lazyregexp"
)

// The profilers of XLA and TensorFlow write no categories: the names of a process and its thread say
// that spans are work of a device.
var (
	deviceProcess = lazyregexp.New(`(?:^|[/ ])device:GPU:(\d{1,4})\b(.*)$`)
	streamThread  = lazyregexp.New(`^Stream #(\d{1,9})`)
	streamProcess = lazyregexp.New(`^/stream:(all|\d{1,9})\b`)
)

// The tools whose GPU work is recognised by names, as formats of inputs.
const (
	ToolXLA  = "xla-trace"
	ToolTF   = "tf-timeline"   // of TensorFlow 1
	ToolNCCL = "nccl-profiler" // the example plugin

	ToolProton = "proton-trace" // of Triton, whose reader is package proton
)

// launchCall is the name of calls that launch work and are named after it.
const launchCall = "launch"

// A lane is what the names of a track say about its spans.
type lane struct {
	device, stream int64
	kind           laneKind
}

type laneKind uint8

const (
	hostLane   laneKind = iota
	workLane            // work of a stream
	copyLane            // copies of all streams, by TensorFlow 1
	allLane             // kernels of all streams, by TensorFlow 1
	repeatLane          // what XLA and TensorFlow derive from the work of a device
)

// laneOf returns what the names of a track of the host say.
func laneOf(t *Track) lane {
	if t.OnDevice || !strings.Contains(t.Process, "device:GPU:") {
		return lane{}
	}
	m := deviceProcess().FindStringSubmatch(t.Process)
	if m == nil {
		return lane{}
	}
	out := lane{kind: repeatLane}
	out.device, _ = strconv.ParseInt(m[1], 10, 64)
	if s := streamThread().FindStringSubmatch(t.Thread); s != nil {
		out.kind = workLane
		out.stream, _ = strconv.ParseInt(s[1], 10, 64)
	} else if s := streamProcess().FindStringSubmatch(m[2]); s != nil {
		out.kind = workLane
		if s[1] == "all" {
			out.kind = allLane
		}
		out.stream, _ = strconv.ParseInt(s[1], 10, 64)
	} else if strings.HasPrefix(m[2], "/memcpy") {
		out.kind = copyLane
	}
	return out
}

// addOther adds a span without a category that is known. The profiler of XLA gives neither kernels nor the
// launches of them a category; both have a correlation, which is the External of the span.
func (b *Builder) addOther(e *Event, name Sym) {
	external := argID(e, eventscan.ExternalID)
	if e.Has(eventscan.Correlation) && len(e.Category()) == 0 {
		external = argID(e, eventscan.Correlation)
	}
	kind := OtherKind
	if step := e.Int(eventscan.StepNumber, -1); step >= 0 && len(e.Category()) == 0 && external == 0 {
		kind, external = Annotation, idOf(step+1) // of StepTraceAnnotation: see stepName
	}
	*b.spans.next() = HostSpan{
		Start: e.Start(), Dur: e.Dur(), Name: name, Kind: kind, Track: b.hostTrack(e),
		Category: b.categoryOf(e), External: external,
	}
}

// nameDevices makes work of devices from spans whose process and thread are named after a device and
// a stream. TensorFlow 1 writes kernels three times: for all streams together, for each stream and for
// the thread that launched them. Those of each stream count, else those for all.
func (t *Trace) nameDevices() {
	lanes := make([]lane, len(t.Tracks))
	var found [repeatLane + 1]bool
	for i := range t.Tracks {
		lanes[i] = laneOf(&t.Tracks[i])
		found[lanes[i].kind] = true
	}
	if !found[workLane] && !found[allLane] {
		return
	}
	tf := false
	for i := range lanes {
		switch l := &lanes[i]; {
		case l.kind == allLane && !found[workLane], l.kind == copyLane && !found[workLane]:
			l.kind = workLane
			if strings.Contains(t.Tracks[i].Process, "/memcpy") {
				l.stream = -1
			}
		case l.kind == allLane, l.kind == copyLane:
			l.kind = repeatLane
		}
		track := &t.Tracks[i]
		tf = tf || strings.Contains(track.Process, "/stream:")
		switch lanes[i].kind {
		case workLane:
			track.OnDevice, track.Device, track.Stream = true, lanes[i].device, lanes[i].stream
		case repeatLane:
			track.Repeats = true
		}
	}
	if t.Meta.Tool = ToolXLA; tf {
		t.Meta.Tool = ToolTF
	}
	none := t.noDetail()
	var work column[Activity]
	var calls column[Call]
	t.Spans = filter(&t.Spans, func(s *HostSpan) bool {
		switch {
		case s.Kind == Annotation && s.Category == 0 && s.External != 0:
			s.Name, s.External = t.stepName(s.External), 0
			return true
		case s.Kind != OtherKind || s.Category != 0 && lanes[s.Track].kind != workLane:
			return true
		case lanes[s.Track].kind == hostLane && s.External != 0:
			*calls.next() = Call{Start: s.Start, Dur: s.Dur, Name: t.launchName(s), Kind: Runtime, Track: s.Track, Correlation: s.External}
			return false
		case lanes[s.Track].kind != workLane:
			return true
		}
		*work.next() = Activity{Start: s.Start, Dur: s.Dur, Name: s.Name, Track: s.Track, Kind: workKind(t, s), Detail: none,
			Correlation: s.External}
		return false
	})
	for row := range t.Activities.All() {
		*work.next() = *row
	}
	t.Activities = tableOf(&work)
	t.Calls.add(calls.cut())
}

// launchName returns the name of a call of the host. The profiler of XLA names launches as their kernels.
func (t *Trace) launchName(s *HostSpan) Sym {
	if names.IsCall(t.names[s.Name]) {
		return s.Name
	}
	if n := len(t.names); t.names[n-1] != launchCall {
		t.names = append(t.names, launchCall)
	}
	return Sym(len(t.names) - 1)
}

// stepName returns the name of a step of XLA, which the program names alike for all steps.
func (t *Trace) stepName(number ID) Sym {
	t.names = append(t.names, "step "+strconv.FormatInt(int64(number)-1, 10))
	return Sym(len(t.names) - 1)
}

// workKind returns the kind of work that the name of a span or of its lane states.
func workKind(t *Trace, s *HostSpan) Kind {
	name, track := strings.ToLower(t.Name(s.Name)), &t.Tracks[s.Track]
	switch {
	case strings.HasPrefix(name, "memset"):
		return Memset
	case strings.HasPrefix(name, "memcpy"), strings.HasPrefix(name, "copydevicetodevice"), strings.Contains(track.Process, "/memcpy"):
		return Memcpy
	}
	return Kernel
}

// noDetail adds an unknown detail and returns its number.
func (t *Trace) noDetail() DetailID {
	unknown := Detail{Registers: -1, SharedMemory: -1, Bytes: -1, GraphID: -1, Collective: Collective{In: -1, Out: -1, GroupSize: -1}}
	t.details = append(t.details, unknown)
	return DetailID(len(t.details) - 1)
}
