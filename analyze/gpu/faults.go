package gpu

import (
	"cmp"
	"slices"
	"time"

	"assay/internal/diag"
	"assay/internal/stat"
	"assay/internal/unit"
	"assay/trace"
)

// Faults are records of GPU work that cannot be true. They would make every sum wrong, so they are
// mended before anything is measured.
type Faults struct {
	Repeated map[trace.Ref]bool  // repeat an earlier record
	Timeless map[trace.Ref]bool  // have neither a start nor a duration
	Overruns map[trace.Ref]int64 // outlast later records of their stream, with the longest possible duration in ns
}

// Faults returns the faults of a trace.
func (tl *Timeline) Faults() Faults {
	return Faults{Repeated: tl.Repeated(), Timeless: tl.timeless(), Overruns: tl.overruns()}
}

// None reports whether nothing has to be mended.
func (f *Faults) None() bool { return len(f.Repeated)+len(f.Timeless)+len(f.Overruns) == 0 }

// Clipped returns by how much, in ns, all overruns are longer than possible.
func (f *Faults) Clipped(t *trace.Trace) (ns int64) {
	for ref, dur := range f.Overruns {
		ns = unit.Plus(ns, t.Activities.At(ref).Dur-dur)
	}
	return ns
}

// Mend returns the trace without faults, with an issue for each kind of fault. Repeated and timeless
// records are left out, and overruns end where the next record of their stream starts.
func Mend(t *trace.Trace, f Faults) *trace.Trace {
	drop := make(map[trace.Ref]bool, len(f.Repeated)+len(f.Timeless))
	for _, some := range []map[trace.Ref]bool{f.Repeated, f.Timeless} {
		for ref := range some {
			drop[ref] = true
		}
	}
	out := t.WithActivities(drop, f.Overruns)
	var issues diag.Ledger
	issues.AddAll(t.Issues)
	severity := diag.Info
	if float64(len(f.Repeated)) > RepeatedShare*float64(t.Activities.Len()) {
		severity = diag.Suspect
	}
	issues.AddN(diag.Issue{Code: "gpu-events-repeated", Severity: severity}, int64(len(f.Repeated)))
	issues.AddN(diag.Issue{Code: "gpu-events-without-time", Severity: diag.DataLoss}, int64(len(f.Timeless)))
	if n := int64(len(f.Overruns)); n > 0 {
		issues.AddN(diag.Issue{Code: "duration-overruns", Severity: diag.Suspect, Help: overrunText(t, f.Overruns)}, n)
	}
	out.Issues = issues.Issues()
	return out
}

// overrunText names the record that was clipped by most.
func overrunText(t *trace.Trace, overruns map[trace.Ref]int64) string {
	var worst trace.Ref
	most, all := int64(-1), int64(0)
	for ref, dur := range overruns {
		cut := t.Activities.At(ref).Dur - dur
		if all = unit.Plus(all, cut); cut > most || cut == most && ref < worst {
			worst, most = ref, cut
		}
	}
	a := t.Activities.At(worst)
	return "The duration of a GPU record is impossible: its stream runs one operation at a time, and it outlasts several later ones. " +
		"It was clipped at the start of the next one. The largest: \"" + t.Name(a.Name) + "\", " + unit.Duration(a.Dur) + " clipped to " +
		unit.Duration(overruns[worst]) + "; " + unit.Duration(all) + " were clipped in all. Use the file that the profiler wrote, or record again."
}

// timeless returns the records with a start and a duration of 0 in a trace whose other records are
// far from time 0: the profiler lost their times. It returns nil if there are none.
func (tl *Timeline) timeless() map[trace.Ref]bool {
	var out map[trace.Ref]bool
	for _, d := range tl.Devices {
		zero := 0
		for zero < len(d.Work) && d.Work[zero].Start == 0 && d.Work[zero].Dur == 0 {
			zero++
		}
		others := d.Work[zero:]
		if zero == 0 || len(others) == 0 || others[0].Start < others[len(others)-1].Start-others[0].Start {
			continue
		}
		if out == nil {
			out = make(map[trace.Ref]bool)
		}
		for _, w := range d.Work[:zero] {
			out[w.ref] = true
		}
	}
	return out
}

const (
	// overrunSlack is the time in ns by which a record may outlast the start of the second next one.
	// With programmatic dependent launch it may by some microseconds.
	overrunSlack = 100 * int64(time.Microsecond)

	// overrunTimes is how many times as long as others of its name an overrunning record is.
	overrunTimes = 5

	// overrunShare is the share of overrunning records above which the records of a stream do not
	// follow each other at all, so that no single record is at fault. A single record of a short stream
	// may be a larger share.
	overrunShare = 0.05
)

// A streamTail has what overruns needs to know of the last records of a stream.
type streamTail struct {
	n       int
	last    Work  // the record that started last
	longest Work  // of the records before it the one that ends last
	next    int64 // start of the record after longest
	suspect map[trace.Ref]*overrun
}

// An overrun is a record that outlasts the second next record of its stream.
type overrun struct {
	next    int64 // start of the next record
	victims int   // number of later records that it outlasts, the next one not counted
}

// overruns returns the records that outlast the start of the second next record of their stream,
// with the time to the next record: a stream runs one operation at a time. Operations of a graph may
// run at the same time, and a copy of two captures in one file has many such records; neither is
// returned. The record at fault is the one that is far longer than others of its name.
func (tl *Timeline) overruns() map[trace.Ref]int64 {
	tails := make([]streamTail, len(tl.Trace.Tracks))
	for _, d := range tl.Devices {
		for _, w := range d.Work {
			a := tl.Activity(w)
			tl.follow(&tails[a.Track], w, a)
		}
	}
	var out map[trace.Ref]int64
	for i := range tails {
		s := &tails[i]
		if len(s.suspect) == 0 || float64(len(s.suspect)) > max(1, overrunShare*float64(s.n)) {
			continue
		}
		usual := tl.usualDurations(s)
		for ref, o := range s.suspect {
			a := tl.Trace.Activities.At(ref)
			if m, known := usual[a.Name]; known && a.Dur < overrunTimes*m || !known && o.victims < overrunTimes {
				continue
			}
			if out == nil {
				out = make(map[trace.Ref]int64)
			}
			out[ref] = o.next - a.Start
		}
	}
	return out
}

// follow adds the next record of a stream.
func (tl *Timeline) follow(s *streamTail, w Work, a *trace.Activity) {
	s.n++
	if s.n > 2 && w.Start < s.longest.End()-overrunSlack && tl.Trace.Detail(a.Detail).GraphID <= 0 {
		if long := tl.Activity(s.longest); long.Correlation == 0 || long.Correlation != a.Correlation {
			if s.suspect == nil {
				s.suspect = make(map[trace.Ref]*overrun)
			}
			if s.suspect[s.longest.ref] == nil {
				s.suspect[s.longest.ref] = &overrun{next: s.next}
			}
			s.suspect[s.longest.ref].victims++
		}
	}
	if s.n == 2 || s.n > 2 && s.last.End() > s.longest.End() {
		s.longest, s.next = s.last, w.Start
	}
	s.last = w
}

// usualDurations returns the median duration in ns of the records of each name that a suspect of the
// stream has, if three others have that name.
func (tl *Timeline) usualDurations(s *streamTail) map[trace.Sym]int64 {
	names := make(map[trace.Sym][]int64)
	for ref := range s.suspect {
		names[tl.Trace.Activities.At(ref).Name] = nil
	}
	for ref, a := range tl.Trace.Activities.Refs() {
		if list, ok := names[a.Name]; ok && s.suspect[ref] == nil {
			names[a.Name] = append(list, a.Dur)
		}
	}
	out := make(map[trace.Sym]int64, len(names))
	for name, durs := range names {
		if len(durs) >= 3 {
			slices.SortFunc(durs, cmp.Compare[int64])
			out[name] = stat.Median(durs)
		}
	}
	return out
}
