package analyze

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"assay/diag"
	"assay/interval"
	"assay/summary"
	"assay/trace"
)

// Damaged or hostile traces have implausible times and more rows than any report
// shows. Over these limits an issue is added, and the parts that would be useless
// are left out.
const (
	// maxWindow is the longest window, step or capture, in ns, that is plausible:
	// 100 hours. Profilers of GPU work keep seconds to hours, because every kernel
	// takes about 300 bytes: 100 hours of a busy device would take many terabytes. A
	// longer window has timestamps of two clocks, such as 0 and the time of day.
	maxWindow = 100 * int64(time.Hour)

	// maxLaunch is the longest launch of a kernel, in ns, whose counters are
	// used: ten years. A longer value is an error in the file.
	maxLaunch = 10 * 366 * 24 * int64(time.Hour)

	// maxSteps is how many rows of steps one input may have, whatever its memory.
	maxSteps = 100_000

	// maxIdleDevices is how many devices may be in an input whose idle time is
	// given to owners: each asks the host's threads at every moment.
	maxIdleDevices = 64

	// maxStrips is how many devices may be in an input whose strips are kept:
	// they are most of what a device takes.
	maxStrips = 1024

	// maxDevices is how many devices of one input are measured. A process
	// drives a few dozen at most.
	maxDevices = 4096
)

// MaxRows is how many rows each table of an input has by default: ten times
// those of the largest real traces of GPU programs.
const MaxRows = 1 << 18

// rowText is how many bytes of names a full table has for each row. Without it
// a few rows with very long names would be worth as much as all others.
const rowText = 256

func (o Options) maxRows() int { return cmp.Or(o.MaxRows, MaxRows) }

// maxSteps returns how many rows of steps the input may have. A row of a step takes about
// a quarter of the memory of other rows.
func (o Options) maxSteps() int { return min(maxSteps, 4*o.maxRows()) }

// A room is the limit on the rows of an input's tables. Entries beyond the limit are
// added up in one row per kind, so all sums are correct.
type room struct {
	rows       int   // of each table
	pooled     int64 // events in rows that stand for others
	streams    int64 // streams left out, which cannot be pooled
	attributed int64 // rows of attribution left out
}

// A table counts the rows and bytes that one table uses.
type table struct {
	room       *room
	rows, text int
}

// take reports whether there is room for a row with so many bytes of names, and
// takes it. If there is not, an event is pooled.
func (t *table) take(text int) bool {
	if t.rows >= t.room.rows || t.text+text > t.room.rows*rowText {
		t.room.pooled++
		return false
	}
	t.rows, t.text = t.rows+1, t.text+text
	return true
}

// keepLargest cuts a table of attribution, whose rows do not add up, to the rows
// with the most time.
func keepLargest[R any](r *room, rows []R, weight func(*R) (ns int64, name string)) []R {
	over := len(rows) - r.rows
	if over <= 0 {
		return rows
	}
	r.attributed += int64(over)
	// Rows are large, and there may be millions: their weights are sorted instead.
	type weighed struct {
		ns   int64
		name string
		row  int
	}
	order := make([]weighed, len(rows))
	for i := range rows {
		ns, name := weight(&rows[i])
		order[i] = weighed{ns, name, i}
	}
	slices.SortFunc(order, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.name, b.name), cmp.Compare(a.row, b.row))
	})
	kept := make([]R, r.rows)
	for i := range kept {
		kept[i] = rows[order[i].row]
	}
	return kept
}

// keep cuts a table of streams, whose busy times do not add up, to the room.
func (r *room) keep(streams []summary.Stream) []summary.Stream {
	if over := len(streams) - r.rows; over > 0 {
		r.streams = int64(over)
		return streams[:r.rows]
	}
	return streams
}

// copyCalls takes the table of copies by call, whose events the table of copies
// has too: those that are pooled in both count once.
func (r *room) copyCalls(a *attribution, rank int, copies []summary.Copy) []summary.CopyCall {
	own := &room{rows: r.rows}
	out := copyCalls(a, rank, own)
	for _, c := range copies {
		if c.Stream == otherStream {
			own.pooled -= c.Count
		}
	}
	r.pooled += max(0, own.pooled)
	return out
}

func (r *room) note(issues *diag.Ledger) {
	issues.AddN(diag.Issue{Code: "too-many-rows", Severity: diag.DataLoss,
		Help: fmt.Sprintf("A table has %d rows per input at most. Further events are in rows named %q, %q or %q: sums are correct, but names are missing. Raise --max-memory.", r.rows, otherKernels, otherCopies, otherSpans)}, r.pooled)
	issues.AddN(diag.Issue{Code: "rows-left-out", Severity: diag.DataLoss,
		Help: fmt.Sprintf("A table of operators, modules, lines, annotations, calls or graphs has %d rows per input at most. The rows with the least time were left out. Raise --max-memory.", r.rows)}, r.attributed)
	issues.AddN(diag.Issue{Code: "too-many-streams", Severity: diag.DataLoss,
		Help: fmt.Sprintf("The table of streams has %d rows per input at most. Further streams were left out of it; all other numbers are correct.", r.rows)}, r.streams)
}

// lastDevice returns the highest ordinal of a device that is measured.
func lastDevice(t *trace.Trace) int64 {
	seen := make(map[int64]bool)
	for i := range t.Tracks {
		if t.Tracks[i].OnDevice {
			seen[t.Tracks[i].Device] = true
		}
	}
	if len(seen) <= maxDevices {
		return math.MaxInt64
	}
	return slices.Sorted(maps.Keys(seen))[maxDevices-1]
}

// noteDevices says that the work of further devices was left out.
func noteDevices(events int64, issues *diag.Ledger) {
	issues.AddN(diag.Issue{Code: "devices-left-out", Severity: diag.DataLoss,
		Help: fmt.Sprintf("The input names more than %d devices, so ids may have been written instead of device numbers. Events on further devices are missing from every total. Check what wrote the trace.", maxDevices)}, events)
}

// implausible reports whether nothing can have lasted as long as the span.
func implausible(s interval.Span) bool { return s.Len() > maxWindow }

// checkWindows notes the devices whose windows are implausible. A window that
// int64 cannot hold is cut to the longest one that it can, so that the cells of
// the device still sum to it.
func (tl *timeline) checkWindows(rank int, issues *diag.Ledger) {
	for _, d := range tl.devices {
		if !implausible(d.window) {
			continue
		}
		issues.Add(diag.Issue{Code: "window-implausible", Severity: diag.Suspect,
			Help: fmt.Sprintf("Events of rank %d GPU %d run from %d ns to %d ns, over 100 hours: a timestamp is wrong. Idle time of this GPU is meaningless; its gaps, steps and activity strip were left out. Record again.",
				rank, d.ordinal, d.window.Start, d.window.End)})
		if d.window.Start < 0 { // else every end is in reach
			d.window.End = min(d.window.End, d.window.Start+math.MaxInt64)
		}
	}
}

// plausibleSpan returns the length of a capture, 0 if it is implausible. That is
// noted if the window of no device says it already.
func (tl *timeline) plausibleSpan(s interval.Span, issues *diag.Ledger) int64 {
	switch {
	case !implausible(s):
		return s.Len()
	case slices.ContainsFunc(tl.devices, func(d *device) bool { return implausible(d.window) }):
		return 0
	}
	issues.Add(diag.Issue{Code: "span-implausible", Severity: diag.Suspect,
		Help: fmt.Sprintf("The events run from %d ns to %d ns, over 100 hours, so a timestamp is wrong. The length of the capture is not reported. Record again.", s.Start, s.End)})
	return 0
}

// stripBins returns how many bins the strip of each of n devices has: 0, for
// no strip, if the devices are too many.
func stripBins(n, bins int, issues *diag.Ledger) int {
	if n <= maxStrips {
		return bins
	}
	issues.AddN(diag.Issue{Code: "too-many-devices", Severity: diag.Info,
		Help: fmt.Sprintf("Activity strips are kept for at most %d GPUs per input. The further GPUs have none; all their other numbers are correct.", maxStrips)}, int64(n))
	return 0
}

// checkSums notes the sums that have grown to what [summary.Plus] stops at.
func checkSums(s *summary.Summary, issues *diag.Ledger) {
	stopped := int64(0)
	see := func(sums ...int64) {
		for _, n := range sums {
			if n == math.MaxInt64 {
				stopped++
			}
		}
	}
	for _, d := range s.Devices {
		see(d.Durations.TotalNS(), d.Gaps.TotalNS())
	}
	for _, r := range s.Streams {
		see(r.BusyNS, r.WorkNS)
	}
	for _, r := range s.Kernels {
		see(r.TotalNS)
	}
	for _, r := range s.Copies {
		see(r.TotalNS)
		if r.Bytes != nil {
			see(*r.Bytes)
		}
	}
	for _, r := range s.Spans {
		see(r.TotalNS, r.SelfNS)
	}
	issues.AddN(diag.Issue{Code: "sum-overflow", Severity: diag.Suspect, Help: sumOverflow}, stopped)
}

// checkNames notes the kernels without a name.
func checkNames(s *summary.Summary, issues *diag.Ledger) {
	count := int64(0)
	for _, k := range s.Kernels {
		if strings.TrimSpace(k.Name) == "" {
			count += k.Count
		}
	}
	issues.AddN(diag.Issue{Code: "kernels-without-name", Severity: diag.Suspect}, count)
}

const sumOverflow = "A sum has reached 9223372036854775807, the largest number that is kept. A time or a size in the input is wrong. Record again."
