package analyze

import (
	"strconv"
	"strings"

	"assay/analyze/counters"
	"assay/analyze/goodput"
	logrows "assay/analyze/logs"
	memoryrows "assay/analyze/memory"
	profilerows "assay/analyze/profile"
	"assay/analyze/roles"
	"assay/internal/diag"
	"assay/internal/profile"
	"assay/logs"
	"assay/nsys/ncu"
	"assay/summary"
	"assay/torchprof/memory"
	"assay/trace"
)

// Snapshot measures a memory snapshot.
func Snapshot(m *memory.Snapshot, in summary.Input, opt Options) *summary.Summary {
	var issues diag.Ledger
	return finished(memoryrows.Measure(m, in, opt.StripBins, &issues), m.Issues, &issues)
}

// MemoryTimeline measures a timeline of memory by category.
func MemoryTimeline(m *memory.Timeline, in summary.Input, opt Options) *summary.Summary {
	return finished(memoryrows.MeasureTimeline(m, in, opt.StripBins), m.Issues, new(diag.Ledger))
}

// Series measures a log, the samples of a monitor or the results of a benchmark.
func Series(l *logs.Log, in summary.Input, opt Options) *summary.Summary {
	var issues diag.Ledger
	s := logrows.Measure(l, in, opt.Phases, opt.maxRows(), &issues)
	s.Attempts = goodput.Measure(l, func(name string) string { return opt.Phases.Match(name).Phase })
	goodput.Join(s)
	s.RoleTails = roles.Tails(l)
	return finished(s, l.Issues, &issues)
}

// Counters measures a capture of hardware counters of kernels (Nsight Compute).
func Counters(c *ncu.Capture, in summary.Input, opt Options) *summary.Summary {
	var issues diag.Ledger
	return finished(counters.Measure(c, in, opt.Rules, opt.maxRows(), &issues), c.Issues, &issues)
}

// Profile measures a profile of sampled stacks.
func Profile(p *profile.Profile, in summary.Input, opt Options) *summary.Summary {
	var issues diag.Ledger
	return finished(profilerows.Measure(p, in, opt.maxRows(), &issues), p.Issues, &issues)
}

// Tables measures the tables that another tool has printed.
func Tables(t *profile.Tables, in summary.Input, opt Options) *summary.Summary {
	var issues diag.Ledger
	return finished(profilerows.MeasureTables(t, in, opt.Rules, &issues), t.Issues, &issues)
}

// finished adds the issues found while reading and measuring to a summary, and sorts it.
func finished(s *summary.Summary, read []diag.Issue, issues *diag.Ledger) *summary.Summary {
	issues.AddAll(read)
	s.Issues = []summary.Issue{}
	for _, is := range issues.Issues() {
		s.Issues = append(s.Issues, summary.IssueOf(is))
	}
	s.Sort()
	return s
}

// processOf returns the number of the process whose calls a trace has, or "" if there are none or several.
func processOf(t *trace.Trace) (pid string) {
	seen := make([]bool, len(t.Tracks))
	for _, part := range t.Calls.Parts() {
		for i := range part {
			seen[part[i].Track] = true
		}
	}
	for i, track := range t.Tracks {
		if _, err := strconv.ParseUint(track.PID, 10, 32); err != nil || !seen[i] || track.OnDevice {
			continue
		}
		if pid != "" && pid != track.PID {
			return ""
		}
		pid = strings.Clone(track.PID)
	}
	return pid
}
