package trace

import (
	"fmt"
	"slices"

	"assay/internal/diag"
)

// WithoutStrays returns the trace without the few events that lie over [MaxDuration] before or after most others, of
// the host or of the devices, whose clocks may differ. It adds an issue for them. If there are more than one in a
// hundred, or hardly any others, the trace has several clocks, and the result is t.
func (t *Trace) WithoutStrays() *Trace {
	s := newStrays(t)
	if s.host.stays() && s.device.stays() {
		return t
	}
	out := *t
	out.Activities = filter(&t.Activities, func(a *Activity) bool { return s.device.keeps(a.Start) })
	out.Calls = filter(&t.Calls, func(c *Call) bool { return s.host.keeps(c.Start) })
	out.Ops = filter(&t.Ops, func(o *Op) bool { return s.host.keeps(o.Start) })
	out.Python = filter(&t.Python, func(p *PythonCall) bool { return s.host.keeps(p.Start) })
	out.Spans = filter(&t.Spans, func(x *HostSpan) bool { return s.of(x.Track).keeps(x.Start) })
	out.Syncs = filter(&t.Syncs, func(x *SyncRecord) bool { return s.of(x.Track).keeps(x.Start) })
	out.Collectives = filter(&t.Collectives, func(c *CollectiveCall) bool { return s.of(c.Track).keeps(c.Start) })
	out.Memory = filter(&t.Memory, func(m *MemoryEvent) bool { return s.host.keeps(m.Start) })
	out.Flows = filter(&t.Flows, func(f *FlowEnd) bool { return s.host.keeps(f.Start) || s.device.keeps(f.Start) })
	n := int64(s.host.strays + s.device.strays)
	out.Issues = append(slices.Clone(t.Issues), diag.Issue{Code: codeBadTime, Severity: diag.DataLoss, Count: n, First: diag.Pos{File: t.File},
		Help: fmt.Sprintf("Events over 100 hours before or after all others were left out, so their time is wrong: the first is %q at %d ns. They are missing from every total. Record again.",
			s.name, s.first)})
	return &out
}

// strays finds events that are far from the others.
type strays struct {
	t            *Trace
	host, device times
	name         string // of the first stray
	first        int64
}

// times are the starts of the events of one clock.
type times struct {
	starts         []int64
	middle, strays int
	median         int64
}

func newStrays(t *Trace) *strays {
	s := &strays{t: t}
	s.each(func(of *times, start int64, _ Sym) { of.starts = append(of.starts, start) })
	for _, of := range []*times{&s.host, &s.device} {
		if of.middle = len(of.starts) / 2; of.middle > 0 {
			slices.Sort(of.starts)
			of.median = of.starts[of.middle]
		}
	}
	s.each(func(of *times, start int64, name Sym) {
		if of.far(start) {
			if s.name == "" {
				s.name, s.first = t.Name(name), start
			}
			of.strays++
		}
	})
	return s
}

func (s *strays) of(track TrackID) *times {
	if s.t.Tracks[track].OnDevice {
		return &s.device
	}
	return &s.host
}

func (s *strays) each(see func(of *times, start int64, name Sym)) {
	for a := range s.t.Activities.All() {
		see(&s.device, a.Start, a.Name)
	}
	for c := range s.t.Calls.All() {
		see(&s.host, c.Start, c.Name)
	}
	for o := range s.t.Ops.All() {
		see(&s.host, o.Start, o.Name)
	}
	for p := range s.t.Python.All() {
		see(&s.host, p.Start, p.Name)
	}
	for x := range s.t.Spans.All() {
		see(s.of(x.Track), x.Start, x.Name)
	}
}

// far reports whether a time is far from the median. The difference of two times may overflow.
func (of *times) far(start int64) bool {
	apart := start - of.median
	return apart > MaxDuration || apart < -MaxDuration || (start < of.median) != (apart < 0)
}

// stays reports whether all events stay: there are no strays, or too many to be single wrong times.
func (of *times) stays() bool {
	return of.strays == 0 || len(of.starts) < 10 || of.strays > max(1, len(of.starts)/100)
}

// keeps reports whether an event stays.
func (of *times) keeps(start int64) bool { return of.stays() || !of.far(start) }
