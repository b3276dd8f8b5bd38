package partial

import (
	"fmt"
	"slices"

	"assay/internal/diag"
	"assay/internal/label"
	"assay/summary"
	"assay/summary/view"
	"assay/summary/view/hang"
)

// NoteRepeatedRanks adds an issue if several inputs have the same rank. They may belong to
// different runs, and totals over all GPUs would mix them. If the user has put them into
// one run, the rule for the ranks or that for the runs may be wrong. The stages of a server
// are parts of one run.
func NoteRepeatedRanks(s *summary.Summary) {
	noteMixedDumps(s)
	noteLogsEndApart(s)
	if s.Issue("rank-repeated") != nil {
		return // the issue was added when the summary was written
	}
	type part struct {
		rank, cycle int
		stage, run  string
	}
	var within, between *[2]int
	seen, g := make(map[part]int), view.Runs(view.Captures(s))
	for i, in := range s.Inputs {
		if isOfCounters(s, i) || isOfTables(s, i) || isOfMemory(s, i) || isOfSeries(s, i) || isCopied(s, i) || in.GraphSource {
			continue // nothing of it is added to the totals of GPUs
		}
		of := part{rank: in.Rank, cycle: g.Cycle[i], stage: view.StageOf(in.Path)}
		first, again := seen[of]
		if !again {
			seen[of] = i
		} else if between == nil && !view.Halves(s.Inputs[first].Path, in.Path) {
			between = &[2]int{first, i}
		}
		if of.run = in.Run; in.Run == "" {
			continue
		}
		if first, again = seen[of]; !again {
			seen[of] = i
		} else if within == nil {
			within = &[2]int{first, i}
		}
	}
	if between == nil {
		return
	}
	pair := between
	if within != nil {
		pair = within
	}
	s.Issues = append(s.Issues, summary.Issue{
		Code: "rank-repeated", Severity: diag.Suspect.String(), Count: 1, First: s.Inputs[pair[1]].Path,
		Help: repeatedHelp(s, pair[0], pair[1]),
	})
	s.Sort()
}

// noteMixedDumps adds an issue if dumps of several hangs are in one run.
func noteMixedDumps(s *summary.Summary) {
	mixed := hang.MixedDumps(s)
	if len(mixed) == 0 || s.Issue("dumps-mixed") != nil {
		return
	}
	first, again := s.Inputs[mixed[0][0]], s.Inputs[mixed[0][1]]
	s.Issues = append(s.Issues, summary.Issue{
		Code: "dumps-mixed", Severity: diag.Suspect.String(), Count: int64(len(mixed)), First: again.Path,
		Help: fmt.Sprintf("Rank %d has another dump in the same run, %s, so these are dumps of several hangs, and they are not compared. Put the dumps of each hang into a directory of its own, or name the runs with --group-by.", again.Rank, first.Path),
	})
	s.Sort()
}

// noteLogsEndApart adds an issue if logs of the processes of a run end at different places.
func noteLogsEndApart(s *summary.Summary) {
	input := hang.LogsEndApart(s)
	if input < 0 || input >= len(s.Inputs) || s.Issue("logs-end-apart") != nil {
		return
	}
	s.Issues = append(s.Issues, summary.Issue{
		Code: "logs-end-apart", Severity: diag.Suspect.String(), Count: 1, First: s.Inputs[input].Path,
		Help: "The logs end at different places: sends and receives of some processes are missing in others, first of this one. A hang cannot be recognized. Give the whole logs, copied at the same time.",
	})
	s.Sort()
}

// repeatedHelp returns the help text for two inputs with the same rank: why they may have it,
// and how to separate their runs.
func repeatedHelp(s *summary.Summary, first, again int) string {
	in, rank := s.Inputs[first], s.Inputs[again].Rank
	if run := s.Inputs[again].Run; run != "" && run == in.Run {
		return fmt.Sprintf("Rank %d is also the rank of %s in the same run. If each of them is another rank, correct --rank-from or --group-by.", rank, in.Path)
	}
	g := view.Runs(view.Captures(s))
	runs := label.Plural(int64(len(g.Runs)), "run")
	if view.CopiesUnknown(s.Inputs) {
		runs = "up to " + runs // without digests, copies count as runs
	}
	text := fmt.Sprintf("Rank %d is also the rank of %s, so these are %s. ", rank, in.Path, runs)
	if in.Run != "" {
		text = fmt.Sprintf("These are %s by --group-by, and %s has rank %d of another run. ", label.Plural(int64(len(g.Runs)), "run"), in.Path, rank)
	}
	text += "Ranks are compared within each run, but totals over all GPUs mix the runs. Report each run by itself"
	if in.Run == "" {
		text += ", or name the runs with --group-by folder or --group-by REGEX if they were not separated correctly"
	}
	return text + "."
}

// isCopied reports whether an input is a copy of an earlier one, and was left out: see
// [withoutCopies] and [withoutForms].
func isCopied(s *summary.Summary, input int) bool {
	in := &s.Inputs[input]
	return in.SameAs != "" || in.SHA256 != "" && slices.ContainsFunc(s.Inputs[:input], func(o summary.Input) bool { return o.SHA256 == in.SHA256 && o.Rank == in.Rank })
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

// isOfSeries reports whether an input is a log, of torch.compile too, or has results of benchmarks or values of machines.
func isOfSeries(s *summary.Summary, input int) bool {
	return slices.ContainsFunc(s.Compilations, func(c summary.Compilation) bool { return c.Input == input }) ||
		slices.ContainsFunc(s.Series, func(r summary.Series) bool { return r.Input == input }) ||
		slices.ContainsFunc(s.Benchmarks, func(b summary.Benchmark) bool { return b.Input == input }) ||
		slices.ContainsFunc(s.Groups, func(g summary.Group) bool { return g.Input == input }) ||
		slices.ContainsFunc(s.Attempts, func(a summary.Attempt) bool { return a.Input == input }) ||
		slices.ContainsFunc(s.Health, func(h summary.Health) bool { return h.Input == input })
}
