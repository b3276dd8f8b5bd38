package launches

import (
	"maps"
	"math"
	"slices"

	"assay/analyze/gpu"
	"assay/analyze/limits"
	"assay/internal/diag"
	"assay/internal/unit"
	"assay/summary"
	"assay/trace"
)

// jitter is the time, in ns, by which single work may seem to start before its call although the
// clocks agree.
const jitter = 20_000

// Times says which work ran at impossible times, by device.
type Times struct {
	tl    *gpu.Timeline
	links *Links
	found []impossible // without piledUp; by index of the device
}

// TimesOf checks the times of all work against those of its launches.
func TimesOf(tl *gpu.Timeline, l *Links) *Times {
	out := &Times{tl: tl, links: l}
	for _, d := range tl.Devices {
		out.found = append(out.found, timesOf(tl, d, l, 0))
	}
	return out
}

// Note adds issues for surplus GPU records and for records at impossible times.
func (x *Times) Note(issues *diag.Ledger) {
	x.links.noteSurplus(int64(x.tl.Trace.Activities.Len()), issues)
	for i, d := range x.tl.Devices {
		found := x.found[i]
		if x.links.Called > 0 && !limits.Implausible(d.Window) {
			found.n = max(found.n, piledUp(x.tl, d, x.links))
		}
		issues.AddN(diag.Issue{Code: "work-time-implausible", Severity: found.severity(d)}, found.n)
	}
}

// ClockOffsets returns, by device, the time in ns by which its work must start later than recorded to
// fit its launches: the clocks of the host and of the device differ by that. It returns nil if
// the times fit as they are, or if no constant offset makes them fit.
//
// Work never starts before its launch. If it seems to, the offset is the least that makes all of it
// possible; the true one is larger by the shortest time that work waited for its start. Work that
// seems to run after a call that had waited for it is moved back, at most until it starts with its
// launch. A device without such work has no offset.
func (x *Times) ClockOffsets() map[int64]int64 {
	linked := int64(len(x.links.Of)) - x.links.Without
	if x.tl.Trace.Moved || x.links.Called == 0 || x.links.Early <= linked/100 && !x.late() {
		return nil
	}
	out := make(map[int64]int64)
	for i, d := range x.tl.Devices {
		p := pairsOf(x.tl, d, x.links)
		by := int64(0)
		switch late := x.found[i]; {
		case p.early > p.n/100 && (2*p.early > p.n || p.least > jitter):
			by = p.least
		case late.severity(d) == diag.Suspect && p.n > 0:
			by = max(p.least, -late.worst)
		default:
			continue
		}
		if p.n < fewRecords {
			return nil
		}
		if p.disordered > p.n/100 || timesOf(x.tl, d, x.links, by).severity(d) == diag.Suspect {
			return nil
		}
		out[d.Ordinal] = by
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// late reports whether work of a device runs so late that its times are in doubt.
func (x *Times) late() bool {
	for i, d := range x.tl.Devices {
		if x.found[i].severity(d) == diag.Suspect {
			return true
		}
	}
	return false
}

// pairs describes the work of a device whose call is known, beside its calls.
type pairs struct {
	n          int64
	early      int64 // start before their call, by over clockSlack
	disordered int64 // start after work of their stream that was launched later
	least      int64 // ns by which all must start later so that none starts before its call; may be negative
}

// pairsOf compares work with its calls. A constant offset keeps the order of a stream, which is that
// of the launches. Single records with wrong times do not.
func pairsOf(tl *gpu.Timeline, d *gpu.Device, l *Links) pairs {
	out := pairs{least: math.MinInt64}
	latest := make([]int64, len(tl.Trace.Tracks)) // launch of the work that started so far on each stream
	for _, w := range d.Work {
		i := l.Of[w.Number]
		if i < 0 || !l.HasCall(i) {
			continue
		}
		launch, last := l.Start(i), &latest[tl.Activity(w).Track]
		out.n++
		out.least = max(out.least, launch-w.Start)
		if launch-w.Start > clockSlack {
			out.early++
		}
		if launch < *last-clockSlack {
			out.disordered++
		}
		*last = max(*last, launch)
	}
	return out
}

// Align returns the trace with its work moved to the clock of the host, and an issue that says by how
// much.
func Align(t *trace.Trace, offsets map[int64]int64) *trace.Trace {
	out := t.MovedBy(offsets)
	worst, seems := int64(0), "early"
	for _, by := range offsets {
		worst = max(worst, by, -by)
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(offsets)), func(by int64) bool { return by > 0 }) {
		seems = "late"
	}
	moved := int64(0)
	for a := range t.Activities.All() {
		if offsets[t.Tracks[a.Track].Device] != 0 {
			moved++
		}
	}
	var issues diag.Ledger
	issues.AddAll(t.Issues)
	issues.AddN(diag.Issue{Code: summary.ClocksDiffer, Severity: diag.Info, Help: "GPU work is " + unit.Duration(worst) +
		" or more too " + seems + " for its launches: the clocks of CPU and GPU differ by a constant, by which it was moved. " +
		"Queue times and causes of idle time are not reported. Update PyTorch and the driver."}, moved)
	out.Issues = issues.Issues()
	return out
}
