package xplane

import (
	"strconv"

	"assay/internal/label"
	"assay/trace"
)

// host reads a plane of the host. Its lines are threads. Events with a correlation are calls that launched work.
func (r *reader) host(p *plane) {
	r.out.NameProcess(devicePID, p.name)
	r.eachLine(p, func(l line) {
		if l.name != "" {
			r.out.NameThread(devicePID, l.id, l.name)
		}
		r.eachEvent(p, &l, func(e *event) {
			if e.facts.correlation > 0 {
				r.calls = append(r.calls, call{tid: l.id, key: e.facts.correlation, name: callName(e.name), op: e.facts.operator(),
					row: trace.Call{Start: e.start, Dur: e.dur, Kind: trace.Runtime, Correlation: trace.IDOf(e.facts.correlation)}})
				return
			}
			kind, name := trace.OtherKind, e.name
			if e.facts.step >= 0 { // of StepTraceAnnotation, whose name says nothing about its number
				r.marked = true
				kind, name = trace.Annotation, "step "+strconv.FormatInt(e.facts.step, 10)
			}
			r.out.Span(trace.HostSpan{Start: e.start, Dur: e.dur, Kind: kind, Name: r.out.Sym([]byte(name)), Track: r.out.Thread(devicePID, l.id)})
		})
	})
}

// callName returns the name of a call. On NVIDIA the profiler names it as the kernel that it launches.
func callName(name string) string {
	if label.IsCall(name) {
		return name
	}
	return "launch"
}

// addCalls adds the calls, and for each the operator to which it belongs: XLA's operators run on the device alone, and
// the call is what they do on the host.
func (r *reader) addCalls() {
	for i := range r.calls {
		c := &r.calls[i]
		op := r.ops[c.key]
		if op == "" {
			op = c.op
		}
		c.row.Track, c.row.Name = r.out.Thread(devicePID, c.tid), r.out.Sym([]byte(c.name))
		if op != "" {
			c.row.External = c.row.Correlation
			name := r.out.Sym([]byte(op))
			r.out.Op(trace.Op{Start: c.row.Start, Dur: c.row.Dur, External: c.row.Correlation, Name: name, Track: c.row.Track, Shape: r.out.Shape(trace.Shape{}, name)})
		}
		r.out.Call(c.row)
	}
}
