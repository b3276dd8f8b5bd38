package analyze

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/analyze/gpu"
	"assay/analyze/limits"
	"assay/internal/diag"
	"assay/internal/interval"
	"assay/summary"
)

// maxStrips is the maximum number of devices for which strips are kept: a strip is most of the
// memory of a device.
const maxStrips = 1024

// checkWindows adds an issue for each device with an implausible window. A window whose length
// overflows int64 is cut to the longest possible, so that the times of the device still sum to it.
func checkWindows(tl *gpu.Timeline, rank int, issues *diag.Ledger) {
	for _, d := range tl.Devices {
		if !limits.Implausible(d.Window) {
			continue
		}
		issues.Add(diag.Issue{Code: "window-implausible", Severity: diag.Suspect,
			Help: fmt.Sprintf("Events of rank %d GPU %d run from %d ns to %d ns, over 100 hours: a timestamp is wrong. Idle time of this GPU is meaningless; its gaps, steps and activity strip were left out. Record again.",
				rank, d.Ordinal, d.Window.Start, d.Window.End)})
		if d.Window.Start < 0 { // otherwise the length cannot overflow
			d.Window.End = min(d.Window.End, d.Window.Start+math.MaxInt64)
		}
	}
}

// plausibleSpan returns the length of a capture in ns, or 0 if it is implausible. That adds an
// issue, unless checkWindows has added one for a device.
func plausibleSpan(tl *gpu.Timeline, s interval.Span, issues *diag.Ledger) int64 {
	switch {
	case !limits.Implausible(s):
		return s.Len()
	case slices.ContainsFunc(tl.Devices, func(d *gpu.Device) bool { return limits.Implausible(d.Window) }):
		return 0
	}
	issues.Add(diag.Issue{Code: "span-implausible", Severity: diag.Suspect,
		Help: fmt.Sprintf("The events run from %d ns to %d ns, over 100 hours, so a timestamp is wrong. The length of the capture is not reported. Record again.", s.Start, s.End)})
	return 0
}

// stripBins returns the number of bins of the strips of n devices. It is 0, for no strips, if
// strips are not measured or there are too many devices.
func stripBins(n int, opt Options, issues *diag.Ledger) int {
	switch {
	case n <= maxStrips && opt.measures(Strips):
		return opt.StripBins
	case n <= maxStrips:
		return 0
	}
	issues.AddN(diag.Issue{Code: "too-many-devices", Severity: diag.Info,
		Help: fmt.Sprintf("Activity strips are kept for at most %d GPUs per input. The further GPUs have none; all their other numbers are correct.", maxStrips)}, int64(n))
	return 0
}

// checkSums adds an issue for the sums at the limit of [summary.Plus].
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
	issues.AddN(diag.Issue{Code: "sum-overflow", Severity: diag.Suspect, Help: limits.SumOverflow}, stopped)
}

// checkNames adds an issue for the kernels without a name.
func checkNames(s *summary.Summary, issues *diag.Ledger) {
	count := int64(0)
	for _, k := range s.Kernels {
		if strings.TrimSpace(k.Name) == "" {
			count += k.Count
		}
	}
	issues.AddN(diag.Issue{Code: "kernels-without-name", Severity: diag.Suspect}, count)
}
