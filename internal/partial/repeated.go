package partial

import (
	"fmt"
	"slices"

	"assay/diag"
	"assay/summary"
	"assay/summary/view"
)

// NoteRepeatedRanks adds an issue if several inputs have the same rank. They may belong to
// different runs, and totals over all GPUs would mix them. If the user has put them into
// one run, the rule for the ranks or that for the runs may be wrong. The stages of a server
// are parts of one run.
func NoteRepeatedRanks(s *summary.Summary) {
	if slices.ContainsFunc(s.Issues, func(is summary.Issue) bool { return is.Code == "rank-repeated" }) {
		return // a summary has said so before
	}
	type part struct {
		rank  int
		stage string
	}
	seen := make(map[part]int)
	for i, in := range s.Inputs {
		if isOfCounters(s, i) || isOfTables(s, i) || isOfMemory(s, i) || isOfSeries(s, i) {
			continue // nothing in it is added to devices
		}
		of := part{in.Rank, view.StageOf(in.Path)}
		first, again := seen[of]
		if !again {
			seen[of] = i
			continue
		}
		help := "Rank %d is also the rank of %s. If these are different runs, totals over all GPUs mix them. Report each run separately."
		if in.Run != "" && in.Run == s.Inputs[first].Run {
			help = "Rank %d is also the rank of %s in the same run. If each of them is another rank, correct --rank-from or --group-by."
		}
		s.Issues = append(s.Issues, summary.Issue{
			Code: "rank-repeated", Severity: diag.Suspect.String(), Count: 1, First: in.Path,
			Help: fmt.Sprintf(help, in.Rank, s.Inputs[first].Path),
		})
		s.Sort()
		return
	}
}

// isOfMemory reports whether an input is a memory snapshot or timeline. Users have
// several of one rank, also together with its trace.
func isOfMemory(s *summary.Summary, input int) bool {
	return slices.ContainsFunc(s.Snapshots, func(m summary.Snapshot) bool { return m.Input == input }) ||
		slices.ContainsFunc(s.MemoryTimelines, func(m summary.MemoryTimeline) bool { return m.Input == input })
}

// isOfCounters reports whether an input has counters of kernels and no timeline.
func isOfCounters(s *summary.Summary, input int) bool {
	return slices.ContainsFunc(s.Counters, func(c summary.Counter) bool { return c.Input == input })
}

// isOfTables reports whether an input has tables of totals. One run often has several.
func isOfTables(s *summary.Summary, input int) bool {
	return slices.ContainsFunc(s.Tables, func(t summary.Table) bool { return t.Input == input })
}

// isOfSeries reports whether an input is a log, or has results of benchmarks.
func isOfSeries(s *summary.Summary, input int) bool {
	return slices.ContainsFunc(s.Series, func(r summary.Series) bool { return r.Input == input }) ||
		slices.ContainsFunc(s.Benchmarks, func(b summary.Benchmark) bool { return b.Input == input }) ||
		slices.ContainsFunc(s.Groups, func(g summary.Group) bool { return g.Input == input })
}
