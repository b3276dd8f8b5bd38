package xplane

import (
	"strconv"
	"strings"
)

// A part is what both forms of a capture have for a device or the host: a plane of an XSpace, or a process of a Chrome
// trace.
type part struct {
	kind   partKind
	device int64
	core   int64 // of a SparseCore, or -1
	found  bool  // work of the device was found
	steps  []event
	ops    []event // of a TPU, which may cover each other
}

type partKind uint8

const (
	otherPart partKind = iota // nothing of it is read
	hostPart
	gpuPart
	tpuPart
)

// part returns the part of a name. Its kind is otherPart if it repeats an earlier one, because the numbers of their events
// collide.
func (r *reader) part(name string) *part {
	p := &part{core: -1}
	tpu := tpuPlane().FindStringSubmatch(name)
	device, isGPU := number(devicePlane(), name)
	switch {
	case isGPU:
		p.kind, p.device = gpuPart, device
	case tpu != nil:
		p.kind = tpuPart
		p.device, _ = strconv.ParseInt(tpu[1], 10, 64)
		if tpu[2] != "" {
			p.core, _ = strconv.ParseInt(tpu[2], 10, 64)
		}
	case strings.HasPrefix(name, "/device:"):
		r.others++
	case strings.HasPrefix(name, "/host:") && name != "/host:metadata":
		p.kind = hostPart
	}
	if isDevice := p.kind == gpuPart || p.kind == tpuPart; isDevice || name == "/host:CPU" {
		if r.seen[name] {
			r.repeated++
			return &part{}
		}
		r.seen[name] = true
	}
	if r.parts = append(r.parts, p); p.kind == hostPart {
		r.out.NameProcess(devicePID, name)
	}
	return p
}

// lane returns what takes the events of a line of a part, or nil if they repeat others.
func (r *reader) lane(p *part, id int64, name string) func(*event) {
	switch {
	case p.kind == hostPart:
		return r.host(id, name)
	case name == "Steps" && p.core < 0:
		return func(e *event) {
			if e.facts.stepName != "" && e.facts.group != "" {
				e.name = e.facts.group // a Chrome trace has the name that the program gives the step
			}
			p.steps = append(p.steps, *e)
		}
	case p.kind == tpuPart:
		return r.tpu(p, name)
	case p.kind != gpuPart:
		return nil
	}
	stream, ok := number(streamLine(), name)
	if !ok {
		return nil // it repeats the work of streams by module or operator
	}
	return func(e *event) {
		p.found = true
		r.add(e, p.device, stream)
	}
}

// finish ends a part after its last event.
func (r *reader) finish(p *part) {
	if p.kind == tpuPart {
		r.finishTPU(p)
	}
	r.work = r.work || p.found
}
