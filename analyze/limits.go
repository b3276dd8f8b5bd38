package analyze

import (
	"fmt"
	"math"
	"time"

	"assay/diag"
	"assay/interval"
	"assay/summary"
)

// Damaged or hostile traces hold times that no program has and more rows than
// any report shows. These are the limits from which on that is said and the
// parts it makes useless are left out.
const (
	// maxWindow is the longest window, in ns, of which a strip, gaps and steps
	// are measured: ten years.
	maxWindow = 10 * 366 * 24 * int64(time.Hour)

	// maxSteps is how many rows of steps one input may have.
	maxSteps = 100_000

	// maxIdleDevices is how many devices may be in an input whose idle time is
	// given to owners: each asks the host's threads at every moment.
	maxIdleDevices = 64

	// maxStrips is how many devices may be in an input whose strips are kept:
	// they are most of what a device takes.
	maxStrips = 1024
)

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
			Help: fmt.Sprintf("the events of rank %d device %d run from %d ns to %d ns, longer than the %d ns (ten years) that a window may last, so a time in the trace is wrong; the idle time of such devices means nothing, and their gaps, steps and activity strips were left out",
				rank, d.ordinal, d.window.Start, d.window.End, maxWindow)})
		if d.window.Start < 0 { // else every end is in reach
			d.window.End = min(d.window.End, d.window.Start+math.MaxInt64)
		}
	}
}

// stripBins returns how many bins the strip of each of n devices has: 0, for
// no strip, if the devices are too many.
func stripBins(n, bins int, issues *diag.Ledger) int {
	if n <= maxStrips {
		return bins
	}
	issues.AddN(diag.Issue{Code: "too-many-devices", Severity: diag.Info,
		Help: fmt.Sprintf("activity strips are kept of at most %d devices of one input; the devices counted here have none, and every other number of them stands", maxStrips)}, int64(n))
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
	issues.AddN(diag.Issue{Code: "sum-overflow", Severity: diag.Suspect,
		Help: fmt.Sprintf("the sums counted here have reached %d, where they stop, and may be larger: a time or a size in the trace is wrong", int64(math.MaxInt64))}, stopped)
}
