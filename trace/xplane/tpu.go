package xplane

import (
	"cmp"
	"slices"
	"strings"

	"assay/internal/lazyregexp"
	"assay/trace"
)

// tpuPlane matches the plane of a TPU, or of one of its SparseCores, which run at the same time as its TensorCore.
var tpuPlane = lazyregexp.New(`^/device:TPU:(\d{1,9})(?: SparseCore (\d{1,3}))?$`)

// Streams of a TPU: its operations one after the other, asynchronous operations, and one for each SparseCore.
const (
	tpuOps = iota
	tpuAsync
	tpuSparse
)

// stepsThread is the number of the thread that has the steps of a device where the host marks none.
const stepsThread = 1 << 40

// tpu returns what takes the events of a line of a TPU, or nil: the lines "XLA Modules", "Steps" and others repeat the time
// of its operations.
func (r *reader) tpu(p *part, name string) func(*event) {
	switch name {
	case "XLA Ops":
		return func(e *event) { p.ops = append(p.ops, *e) }
	case "Async XLA Ops":
		return func(e *event) {
			p.found = true
			r.addTPU(e, 0, e.start, e.dur, p.device, tpuAsync)
		}
	}
	return nil
}

// finishTPU adds the operations of a TPU, which are complete.
func (r *reader) finishTPU(p *part) {
	stream := int64(tpuOps)
	if p.core >= 0 {
		stream = tpuSparse + p.core
	}
	p.found = p.found || len(p.ops) > 0
	r.nested(p.ops, p.device, stream)
	if p.ops = nil; !p.found {
		return
	}
	if r.tpus = true; r.meta.Devices[p.device] == "" {
		r.meta.Devices[p.device] = "TPU"
	}
}

// nested adds the operations of a line. One may cover others, as a loop covers its body: each has the time in which none
// of those that it covers runs.
func (r *reader) nested(all []event, device, stream int64) {
	slices.SortStableFunc(all, func(a, b event) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.dur, a.dur)) })
	type frame struct {
		e  *event
		at int64 // up to which its own time is known

		covers bool // other operations
	}
	var open []frame
	own := func(f *frame, to int64) {
		if to = min(to, f.e.start+f.e.dur); to-f.at > 1 || to > f.at && f.at == f.e.start { // ends are rounded to 1 ns
			work := uint32(0)
			if !f.covers {
				work = r.workOf(f.e)
			}
			r.addTPU(f.e, work, f.at, to-f.at, device, stream)
		}
		f.at = max(f.at, to)
	}
	leave := func(at int64) {
		for n := len(open); n > 0 && open[n-1].e.start+open[n-1].e.dur <= at; n = len(open) {
			own(&open[n-1], at)
			if !open[n-1].covers {
				r.state(open[n-1].e)
			}
			end := open[n-1].at
			if open = open[:n-1]; n > 1 {
				open[n-2].at = max(open[n-2].at, end)
			}
		}
	}
	for i := range all {
		e := &all[i]
		leave(e.start)
		if n := len(open); n > 0 {
			open[n-1].covers = true
			own(&open[n-1], e.start)
		}
		open = append(open, frame{e: e, at: e.start})
	}
	leave(latest)
}

// addTPU adds a part of an operation. The number is that of what XLA states of its work, or 0.
func (r *reader) addTPU(e *event, work uint32, start, dur, device, stream int64) {
	name, kind := opName(e.name, e.facts.category), trace.Kernel
	for _, of := range []string{name, e.facts.category} { // "async-copy" is of the category "copy-start"
		if strings.HasPrefix(of, "copy-start") || strings.HasPrefix(of, "copy-done") {
			kind, work = trace.Memcpy, 0 // from and to the host or another memory
		}
	}
	sym := r.out.Sym([]byte(name))
	d := trace.Detail{Registers: -1, SharedMemory: -1, Bytes: -1, GraphID: -1, Node: work, Collective: trace.Collective{In: -1, Out: -1, GroupSize: -1}}
	r.out.Activity(trace.Activity{Start: start, Dur: dur, Name: sym, Kind: kind, Track: r.out.Stream(devicePID, device, stream), Detail: r.out.Detail(d, sym)})
}

var instanceNumber = lazyregexp.New(`(?:\.\d+)+(?:\.remat\d*)?$`)

// opName returns the name of an operation, of the text "%fusion.12 = f32[8]{0} fusion(...)", without the number of the
// instance. A fusion has the name of its category, because XLA names it after no operation.
func opName(name, category string) string {
	if rest, ok := strings.CutPrefix(name, "%"); ok {
		name, _, _ = strings.Cut(rest, " ")
	}
	name = instanceNumber().ReplaceAllString(name, "")
	if category != "" && category != name && strings.HasPrefix(name, "fusion") {
		return category
	}
	return name
}

// addSteps adds the steps of the first device that has some, if the host marks none.
func (r *reader) addSteps() {
	i := slices.IndexFunc(r.parts, func(p *part) bool { return len(p.steps) > 0 })
	if r.marked || !r.work || i < 0 {
		return
	}
	steps := r.parts[i].steps
	for i := range steps {
		e := &steps[i]
		r.out.Span(trace.HostSpan{Start: e.start, Dur: e.dur, Kind: trace.Annotation, Name: r.out.Sym([]byte("step " + e.name)), Track: r.out.Thread(devicePID, stepsThread)})
	}
	r.out.NameThread(devicePID, stepsThread, "Steps of the device")
}

// withoutCalls is why the work of TPUs has no calls.
const withoutCalls = "The profiler of XLA does not record which call of the host launched an operation of a TPU, because the host launches whole programs. So there are no causes of idle time."
