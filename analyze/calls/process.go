package calls

import (
	"slices"

	"assay/internal/interval"
	"assay/trace"
)

// A process has the devices that the threads of one process launch work on. A trace of one rank of
// a job has one process with one device; a model whose layers lie on several devices has one
// process with all of them.
type process struct {
	number  int          // from 1, in the order of the first devices
	devices []int        // indices into Timeline.Devices
	busy    interval.Set // times in which at least one of the devices works
	several interval.Set // times in which at least two of them do
	times   *busyTimes   // of busy
}

// processesOf returns the process of each device. It is nil for a device that is alone in its process,
// that several processes launch work on, or whose process is not known.
func (c *Calls) processesOf() []*process {
	out := make([]*process, len(c.tl.Devices))
	byPID := make(map[string]*process)
	for i, tracks := range c.tracks {
		pid, ok := c.launchedBy(tracks)
		if !ok {
			continue
		}
		if byPID[pid] == nil {
			byPID[pid] = new(process)
		}
		out[i] = byPID[pid]
		out[i].devices = append(out[i].devices, i)
	}
	n := 0
	for i, p := range out {
		switch {
		case p == nil:
		case len(p.devices) == 1:
			out[i] = nil
		case p.number == 0:
			n++
			p.number = n
			p.measure(c)
		}
	}
	return out
}

// launchedBy returns the only process of some threads. If no launch is linked, tracks is empty; then it is
// the process that made all calls.
func (c *Calls) launchedBy(tracks []trace.TrackID) (pid string, ok bool) {
	same := func(track trace.TrackID) bool {
		if !ok {
			pid, ok = c.t.Tracks[track].PID, true
		}
		return pid == c.t.Tracks[track].PID
	}
	for _, track := range tracks {
		if !same(track) {
			return "", false
		}
	}
	if len(tracks) > 0 {
		return pid, true
	}
	for _, call := range c.t.Calls.Refs() {
		if !same(call.Track) {
			return "", false
		}
	}
	return pid, ok
}

func (p *process) measure(c *Calls) {
	for _, i := range p.devices {
		busy := c.tl.Devices[i].Busy()
		p.several, p.busy = p.several.Or(p.busy.And(busy)), p.busy.Or(busy)
	}
	p.times = busyOf(p.busy)
}

// Neighbors divides a span in which a device is idle: into the parts in which another device of its
// process works, and the others. It appends to both slices and returns them.
func (c *Calls) Neighbors(device int, idle interval.Span, working, free []interval.Span) (w, f []interval.Span) {
	p := c.processes[device]
	if p == nil {
		return working, append(free, idle)
	}
	spans := p.busy.Spans()
	i, _ := slices.BinarySearchFunc(spans, idle.Start, func(s interval.Span, t int64) int {
		if s.End <= t {
			return -1
		}
		return 1
	})
	for ; i < len(spans) && spans[i].Start < idle.End; i++ {
		s := spans[i].And(idle)
		if idle.Start < s.Start {
			free = append(free, interval.Span{Start: idle.Start, End: s.Start})
		}
		working, idle.Start = append(working, s), s.End
	}
	if !idle.Empty() {
		free = append(free, idle)
	}
	return working, free
}

// Process returns the number of the process that drives a device and others, from 1; 0 if it drives no
// other one.
func (c *Calls) Process(device int) int {
	if p := c.processes[device]; p != nil {
		return p.number
	}
	return 0
}

// Shared returns the time in ns in which a device and another one of its process work.
func (c *Calls) Shared(device int) int64 {
	p := c.processes[device]
	if p == nil {
		return 0
	}
	return c.tl.Devices[device].Busy().And(p.several).Len()
}

// idleOf returns the part of a gap of a device, in ns, in which no device of its process works.
func (c *Calls) idleOf(device int, g Gap) int64 {
	if p := c.processes[device]; p != nil {
		return p.times.idle(g.Span)
	}
	return g.Len()
}
