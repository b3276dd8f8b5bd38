package nsys

import (
	"fmt"
	"strings"

	"assay/diag"
	"assay/unit"
)

// preflight says what the capture cannot answer, and what to record next time.
func (l *loader) preflight() {
	l.unclosedRanges()
	note := func(n int64, code string, severity diag.Severity, help string) {
		l.out.Issue(diag.Issue{Code: code, Severity: severity, Help: help}, n)
	}
	hasCalls, hasWork := l.captured["CUPTI_ACTIVITY_KIND_RUNTIME"], l.seen.last != 0 || l.seen.first != 0
	if hasCalls && !hasWork && !l.broken {
		note(1, "no-device-work", diag.Suspect,
			"the export has calls of CUDA and no work of a device, so nothing of the GPU was recorded, which is not the same as an idle one; the capture may have ended before the driver delivered it, or another process did the work: record with --trace=cuda,nvtx,osrt and end with cudaProfilerStop or a normal exit")
	}
	if !hasCalls && !hasWork {
		note(1, "no-cuda", diag.Suspect, "the export has no table of CUDA: it was not traced, or no process used it; record with --trace=cuda,nvtx,osrt")
	}
	if l.seen.graphRows > 0 || l.seen.graphLaunches > 0 && l.seen.graphNodes == 0 && !strings.EqualFold(l.seen.graphMode, "node") {
		note(max(1, l.seen.graphRows), "graphs-recorded-whole", diag.DataLoss,
			"CUDA graphs were recorded as one event each or not at all, so the kernels in them are in no table; record with --cuda-graph-trace=node, which costs some overhead, to see them")
	}
	if l.seen.ranges == 0 && hasWork {
		note(1, "no-nvtx", diag.Info,
			"the export has no NVTX ranges, so device work is put down to no operator, module or step; annotate the program (torch.cuda.nvtx.range_push, torch.autograd.profiler.emit_nvtx) and record with --trace=cuda,nvtx,osrt")
	}
	if n, ns := l.overheadWithin(); n > 0 && ns > 0 {
		note(n, "profiler-overhead", diag.Info,
			fmt.Sprintf("the profiler's own work took up to %s of the time between the first and last work on a device; gaps that it falls into are not the program's; record less with --sample=none --cpuctxsw=none, or a shorter range", unit.Duration(ns)))
	}
	note(l.seen.sharedDevices, "device-assumed", diag.Suspect,
		"several processes call a GPU by the same number, and this export does not say whether it is one; each process was taken to have a GPU of its own, as where CUDA_VISIBLE_DEVICES gives each one; exports of 2024.6 and later tell")
	note(l.seen.secrets, "secrets-in-capture", diag.Info,
		"variables of the environment that look like secrets (tokens, keys, passwords) are stored in the export; assay masks them in all that it writes; before you give the file away, remove them, and record with --env-var or in a clean environment next time")
}

// overheadWithin returns how much of the profiler's own work lies within the
// time of device work.
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
