package detail

import (
	"slices"

	"assay/analyze/attribute"
	"assay/analyze/gpu"
	"assay/analyze/limits"
	"assay/interval"
	"assay/summary"
)

// hostKinds has the kind of each state of a thread; one that is not here is nothing.
var hostKinds = map[string]string{
	"": summary.HostProfiler, summary.StateSync: summary.HostWait, summary.StateOS: summary.HostWait, summary.StateOff: summary.HostWait,
	summary.StateCopy: summary.HostLaunch, summary.StateAlloc: summary.HostLaunch, summary.StateLaunch: summary.HostLaunch, summary.StateCall: summary.HostLaunch,
	summary.StateData: summary.HostData, summary.StateOp: summary.HostOperator, summary.StatePython: summary.HostPython, summary.StateAnnotation: summary.HostAnnotation,
}

// kindOf has the kind of each state of a thread by its number, and kindNames has each kind
// once, sorted.
var kindOf, kindNames = kindsOf()

func kindsOf() (of [attribute.States]string, names []string) {
	for i := range of {
		of[i] = hostKinds[attribute.StateName(i)]
	}
	names = slices.Sorted(slices.Values(of[:]))
	return of, slices.Compact(names)
}

// Hosts collects what the launching threads of GPUs do, in the bins of the details.
type Hosts struct{ rows []hostRow }

// A hostRow is what the thread that launches the work of one GPU does.
type hostRow struct {
	window interval.Span
	bin    int64
	bins   [][]stateTime
}

// A stateTime is time with one state and name, within a bin.
type stateTime struct {
	state attribute.ThreadState
	ns    int64
}

// Hosts returns an empty collection, or nil if nothing is asked for.
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

// Add returns the function that adds a stretch with one state, or nil of a nil collection.
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
	for i := len(list) - 1; i >= 0; i-- { // the one that was added last comes again most often
		if list[i].state == state {
			list[i].ns += ns
			return list
		}
	}
	return append(list, stateTime{state, ns})
}

// host fills the state of the launching thread. Each bin has the kind with most of its
// time, and of that the name with most.
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

// mostOf returns the kind with most of the time of a bin, and of that the name with most.
// Of equal ones the first by the alphabet counts.
func (d *device) mostOf(list []stateTime) summary.HostState {
	var byState [attribute.States]int64
	for _, s := range list {
		byState[s.state.State()] += s.ns
	}
	kind, most := "", int64(-1)
	for _, name := range kindNames {
		ns := int64(0)
		for state, of := range kindOf {
			if of == name {
				ns += byState[state]
			}
		}
		if ns > most {
			kind, most = name, ns
		}
	}
	name := ""
	most = -1
	for _, s := range list {
		if s.ns < most || kindOf[s.state.State()] != kind {
			continue
		}
		if text := d.Attribution.NameOf(s.state); s.ns > most || text < name {
			name, most = text, s.ns
		}
	}
	return summary.HostState{Kind: kind, Name: d.names.orNone(name)}
}
