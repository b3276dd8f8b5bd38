package nsys

import (
	"fmt"
	"strings"

	"assay/internal/diag"
	"assay/internal/unit"
)

// preflight adds an issue for each question that the capture cannot answer. Its
// help names the option of nsys with which to record the missing data.
func (l *loader) preflight() {
	l.unclosedRanges()
	note := func(n int64, code string, severity diag.Severity, help string) {
		l.out.Issue(diag.Issue{Code: code, Severity: severity, Help: help}, n)
	}
	hasCalls, hasWork := l.captured["CUPTI_ACTIVITY_KIND_RUNTIME"], l.seen.last != 0 || l.seen.first != 0
	if hasCalls && !hasWork && !l.broken {
		note(1, "no-device-work", diag.Suspect,
			"The export has CUDA API calls and no GPU work, so the GPU was not recorded; this is not an idle GPU. Record with --trace=cuda,nvtx,osrt, and end with cudaProfilerStop or a normal exit.")
	}
	if !hasCalls && !hasWork {
		note(1, "no-cuda", diag.Suspect, "")
	}
	if l.seen.graphRows > 0 || l.seen.graphLaunches > 0 && l.seen.graphNodes == 0 && !strings.EqualFold(l.seen.graphMode, "node") {
		note(max(1, l.seen.graphRows), "graphs-recorded-whole", diag.DataLoss, "")
	}
	if l.seen.ranges == 0 && hasWork {
		note(1, "no-nvtx", diag.Info, "")
	}
	if n, ns := l.overheadWithin(); n > 0 && ns > 0 {
		note(n, "profiler-overhead", diag.Info,
			fmt.Sprintf("The profiler's own work took up to %s between the first and last GPU work. Idle time during it is not caused by the program. Record less (--sample=none --cpuctxsw=none), or a shorter range.", unit.Duration(ns)))
	}
	l.noteCollected()
	note(l.seen.sharedDevices, "device-assumed", diag.Suspect, "")
	note(l.seen.secrets, "secrets-in-capture", diag.Info, "")
}

// overheadWithin returns the number and the total time in ns of the profiler's own
// operations between the first and the last device work.
func (l *loader) overheadWithin() (n, ns int64) {
	for _, s := range l.seen.overhead {
		from, to := max(s[0], l.seen.first), min(s[1], l.seen.last)
		if from < to {
			n++
			if ns += to - from; ns < 0 {
				return n, 1<<63 - 1
			}
		}
	}
	return n, ns
}
