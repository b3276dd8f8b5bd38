package detail

import (
	"cmp"
	"slices"

	"assay/analyze/attribute"
	"assay/analyze/gpu"
	"assay/analyze/limits"
	"assay/internal/interval"
	"assay/summary"
)

// hostKinds maps the states of a thread to the kinds of a timeline. Other states are not drawn.
var hostKinds = map[string]string{
	"": summary.HostProfiler, summary.StateSync: summary.HostWait, summary.StateOS: summary.HostWait,
	summary.StateOff:  summary.HostWait,
	summary.StateCopy: summary.HostLaunch, summary.StateAlloc: summary.HostLaunch,
	summary.StateLaunch: summary.HostLaunch, summary.StateCall: summary.HostLaunch,
	summary.StateData: summary.HostData, summary.StateOp: summary.HostOperator, summary.StatePython: summary.HostPython,
	summary.StateCollector:  summary.HostPython,
	summary.StateCollective: summary.HostWait,
	summary.StateAnnotation: summary.HostAnnotation,
}

// overheads has the kinds of records that CUPTI calls overhead although the program causes them: a
// launch waits because the queue to the GPU is full, or loads code first.
var overheads = map[string]string{
	"Command Buffer Full": summary.HostWait, "Lazy Function Loading": summary.HostLaunch,
	"Runtime Triggered Module Loading": summary.HostLaunch, "Driver Compiler": summary.HostLaunch,
}

// kindOf is hostKinds by the number of the state.
var kindOf = kindsOf()

func kindsOf() (of [attribute.States]string) {
	for i := range of {
		of[i] = hostKinds[attribute.StateName(i)]
	}
	return of
}

// Hosts collects the states of the launching threads of GPUs, in the bins of the details.
type Hosts struct{ rows []hostRow }

// A hostRow has the states of the thread that launches the work of one GPU.
type hostRow struct {
	window interval.Span
	bin    int64
	bins   [][]stateTime
}

// A stateTime is the time of one state within a bin.
type stateTime struct {
	state attribute.ThreadState
	ns    int64
}

// Hosts returns an empty collection, or nil for a nil Request.
func (r *Request) Hosts(tl *gpu.Timeline) *Hosts {
	if r == nil {
		return nil
	}
	h := &Hosts{make([]hostRow, len(tl.Devices))}
	for i, d := range tl.Devices {
		if cells := r.Cells(len(tl.Devices)); !d.Window.Empty() && !limits.Implausible(d.Window) {
			h.rows[i] = hostRow{d.Window, gpu.Bin(d.Window, cells), make([][]stateTime, gpu.Bins(d.Window, cells))}
		}
	}
	return h
}

// Add returns a function that adds a span with one state, for attribute.Options. It returns nil for
// a nil collection.
func (h *Hosts) Add() func(device int, s interval.Span, state attribute.ThreadState) {
	if h == nil {
		return nil
	}
	return func(device int, s interval.Span, state attribute.ThreadState) { h.rows[device].add(s, state) }
}

func (h *hostRow) add(s interval.Span, state attribute.ThreadState) {
	if s = s.And(h.window); s.Empty() {
		return
	}
	from, to := s.Start-h.window.Start, s.End-h.window.Start
	for from < to {
		i := from / h.bin
		stop := min(to, (i+1)*h.bin)
		h.bins[i] = plus(h.bins[i], state, stop-from)
		from = stop
	}
}

// plus adds time to the entry of a state.
func plus(list []stateTime, state attribute.ThreadState, ns int64) []stateTime {
	for i := len(list) - 1; i >= 0; i-- { // backwards: recent states are the most likely
		if list[i].state == state {
			list[i].ns += ns
			return list
		}
	}
	return append(list, stateTime{state, ns})
}

// host adds the state of the launching thread: see mostOf.
func (d *device) host() {
	h := &d.Hosts.rows[d.number]
	known := false
	var out []summary.HostState
	for i, list := range h.bins {
		s := d.mostOf(list)
		known = known || s.Kind != ""
		s.AtNS = int64(i) * h.bin
		s.NS = min(h.bin, h.window.Len()-s.AtNS)
		if n := len(out); n > 0 && out[n-1].Kind == s.Kind && out[n-1].Name == s.Name {
			out[n-1].NS += s.NS
			continue
		}
		out = append(out, s)
	}
	if known {
		d.out.Host = out
	}
}

// kind returns the kind of a state.
func (d *device) kind(s attribute.ThreadState) string {
	kind := kindOf[s.State()]
	if kind == summary.HostProfiler {
		kind = cmp.Or(overheads[d.Attribution.NameOf(s)], kind)
	}
	return kind
}

// mostOf returns the kind with the most time of a bin and, within that kind, the name with the
// most time. Ties go to the first in alphabetical order.
func (d *device) mostOf(list []stateTime) summary.HostState {
	type kindTime struct {
		kind string
		ns   int64
	}
	sums := make([]kindTime, 0, 8)
	for _, s := range list {
		kind := d.kind(s.state)
		i := slices.IndexFunc(sums, func(k kindTime) bool { return k.kind == kind })
		if i < 0 {
			i = len(sums)
			sums = append(sums, kindTime{kind: kind})
		}
		sums[i].ns += s.ns
	}
	var most kindTime
	for i, k := range sums {
		if i == 0 || k.ns > most.ns || k.ns == most.ns && k.kind < most.kind {
			most = k
		}
	}
	name, ns := "", int64(-1)
	for _, s := range list {
		if s.ns < ns || d.kind(s.state) != most.kind {
			continue
		}
		if text := d.Attribution.NameOf(s.state); s.ns > ns || text < name {
			name, ns = text, s.ns
		}
	}
	return summary.HostState{Kind: most.kind, Name: d.names.orNone(name)}
}
