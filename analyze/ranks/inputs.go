package ranks

import (
	"fmt"
	"slices"

	"assay/internal/diag"
	"assay/summary"
)

// NoteInputs adds issues about the inputs of one run: ranks without events, missing ranks, and
// copies of one file as several ranks.
func NoteInputs(s *summary.Summary) {
	before := len(s.Issues)
	noteEmpty(s)
	noteMissing(s)
	noteCopies(s)
	if len(s.Issues) > before {
		s.Sort()
	}
}

// rankCopied is the code of the issue that the trace of a rank is that of another one.
const rankCopied = "rank-copied"

// add adds an issue, unless the summary has it already, because it was read from a file.
func add(s *summary.Summary, is summary.Issue) {
	if s.Issue(is.Code) == nil {
		s.Issues = append(s.Issues, is)
	}
}

// noteEmpty adds an issue if a trace has no event and another has GPU work.
func noteEmpty(s *summary.Summary) {
	if len(s.Devices) == 0 {
		return
	}
	var empty []summary.Input
	for i, in := range s.Inputs {
		ofTrace := in.Format == "kineto" || in.Format == "chrome-trace" || in.Format == summary.FormatXLA || in.Format == summary.FormatXPlane || in.Format == summary.FormatNCCL
		hasWork := slices.ContainsFunc(s.Devices, func(d summary.Device) bool { return d.Input == i })
		if ofTrace && in.SpanNS == 0 && !hasWork {
			empty = append(empty, in)
		}
	}
	if len(empty) == 0 {
		return
	}
	add(s, summary.Issue{
		Code: "rank-without-events", Severity: diag.Suspect.String(), Count: int64(len(empty)), First: empty[0].Path,
		Help: fmt.Sprintf("the trace of rank %d has no event, and other ranks have GPU work; totals and comparisons of ranks are without it; record this rank again", empty[0].Rank),
	})
}

// noteMissing adds an issue if the traces of several ranks state a larger number of ranks than were
// given, or different numbers.
func noteMissing(s *summary.Summary) {
	given := make(map[int]bool)
	var first *summary.Input
	for i := range s.Inputs {
		in := &s.Inputs[i]
		if in.WorldSize < 1 {
			continue
		}
		if first == nil {
			first = in
		}
		if in.WorldSize != first.WorldSize {
			add(s, summary.Issue{
				Code: "world-sizes-differ", Severity: diag.Suspect.String(), Count: 1, First: in.Path,
				Help: fmt.Sprintf("the job of this trace has %d ranks, and that of %s has %d, so they belong to different runs and totals mix them; report each run separately", in.WorldSize, first.Path, first.WorldSize),
			})
			return
		}
		given[in.Rank] = true
	}
	if first == nil || len(given) < 2 || len(given) >= first.WorldSize {
		return // users often look at one trace of many
	}
	add(s, summary.Issue{
		Code: "ranks-missing", Severity: diag.Info.String(), Count: int64(first.WorldSize - len(given)),
		Help: fmt.Sprintf("%d of %d ranks were given. A missing rank may be the straggler. Give the traces of all ranks.",
			len(given), first.WorldSize),
	})
}

// noteCopies adds an issue if inputs of different ranks have the same bytes. Ranks with the same
// work at the same times need not be copies, so only equal files count.
func noteCopies(s *summary.Summary) {
	first, hasWork := make(map[string]*summary.Input), make(map[int]bool)
	for i := range s.Devices {
		hasWork[s.Devices[i].Input] = true
	}
	var copies int64
	var was, is *summary.Input
	for i := range s.Inputs {
		in := &s.Inputs[i]
		if in.SHA256 == "" || !hasWork[i] {
			continue // traces without GPU work may be equal
		}
		before := first[in.SHA256]
		switch {
		case before == nil:
			first[in.SHA256] = in
		case before.Rank != in.Rank:
			copies++
			if is == nil {
				was, is = before, in
			}
		}
	}
	if copies == 0 {
		return
	}
	add(s, summary.Issue{
		Code: rankCopied, Severity: diag.Suspect.String(), Count: copies, First: is.Path,
		Help: fmt.Sprintf("the file of rank %d has the same bytes as %s of rank %d, so it is a copy; comparisons of ranks are meaningless; give the trace of each rank", is.Rank, was.Path, was.Rank),
	})
}

// noteIncomplete adds an issue if a rank recorded far fewer collectives of a group than another. It
// compares only groups that all ranks know by the same name.
func (j *Job) noteIncomplete(s *summary.Summary) {
	var worst, most, fewest int
	var at, full Member
	short := make(map[int]bool)
	for _, g := range j.groups {
		if g.matched == byNothing || g.local {
			continue
		}
		counts, longest := g.counts(j.members), 0
		for i := range counts {
			if counts[i] > counts[longest] {
				longest = i
			}
		}
		for i, l := range g.lists {
			if missing := counts[longest] - counts[i]; missing >= 2 && 20*missing > counts[longest] {
				short[l.member] = true
				if missing > worst {
					worst, most, fewest = missing, counts[longest], counts[i]
					at, full = j.members[l.member], j.members[g.lists[longest].member]
				}
			}
		}
	}
	if len(short) == 0 {
		return
	}
	first := ""
	if at.Input < len(s.Inputs) {
		first = s.Inputs[at.Input].Path
	}
	help := fmt.Sprintf("Rank %d recorded %d collectives of a group, rank %d recorded %d. The others are not matched, so no waiting time includes them. Record the same steps on all ranks.", at.Rank, fewest, full.Rank, most)
	if at.Cut {
		help = fmt.Sprintf("The file of rank %d ends early, with %d collectives of a group; rank %d has %d. The rest is compared without rank %d, so a rank that seems to be late there may have waited for it. Give the whole file.", at.Rank, fewest, full.Rank, most, at.Rank)
	}
	add(s, summary.Issue{Code: "collectives-incomplete", Severity: diag.Suspect.String(), Count: int64(len(short)),
		First: first, Help: help})
}

// counts returns, for each list, the number of collectives in which every rank of the group takes
// part.
func (g *group) counts(members []Member) []int {
	out := make([]int, len(g.lists))
	for i, l := range g.lists {
		if g.solved != nil {
			out[i] = g.solved.Lists[i].Synchronizing
		} else {
			out[i] = synchronizing(members[l.member], l.runs)
		}
	}
	return out
}

// synchronizing counts the runs of collectives that every rank of the group takes part in.
func synchronizing(m Member, runs []int32) (n int) {
	for _, r := range runs {
		if m.Columns.Whats[m.Columns.Runs[r].What].Op.Synchronizes() {
			n++
		}
	}
	return n
}
