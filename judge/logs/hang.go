package logs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/summary/view/hang"
)

// mostHangs is how many calls the evidence of a hang lists.
const mostHangs = 6

// pendingCalls reports calls that not all members of a group made. A call with known absent ranks
// is named first, because a timeout alone does not show who is missing; of timeouts, the one with the most ranks.
func pendingCalls(s *summary.Summary) (finding.Finding, bool) {
	list := hang.In(s)
	if len(list) == 0 {
		return finding.Finding{}, false
	}
	first := &list[0]
	if i := slices.IndexFunc(list, func(h hang.Hang) bool { return h.Kind != hang.TimedOut }); i > 0 {
		first = &list[i]
	} else if i < 0 {
		for k := range list {
			if len(list[k].Waiting) > len(first.Waiting) {
				first = &list[k]
			}
		}
	}
	f := finding.Finding{Rule: rule.Hang, Level: finding.Critical, Title: "Hang: " + hangText(first)}
	for i := range list[:min(mostHangs, len(list))] {
		f.Evidence = append(f.Evidence, evidenceOf(&list[i]))
	}
	if n := len(list) - mostHangs; n > 0 {
		f.Evidence = append(f.Evidence, label.Plural(int64(n), "more call"))
	}
	if is := s.Issue("rank-raised"); is != nil && first.Kind == hang.TimedOut {
		place := label.Clip(label.Clean(label.Base(is.First)), 80)
		f.Evidence = slices.Insert(f.Evidence, 0, "a rank that is not among those that wait printed an exception: "+place)
		f.Next = append(f.Next, finding.Advise("read-the-exception", "place", place))
	}
	if absent := absentIn(list, first); len(absent) > 0 {
		f.Next = append(f.Next, finding.Advise("look-at-the-absent-ranks", "ranks", ranksText(absent)).For("absent=known"))
	}
	if first.Kind == hang.TimedOut && len(first.Absent) == 0 || len(first.Unknown) > 0 {
		f.Next = append(f.Next, finding.Advise("dump-all-ranks").For("absent=unknown"))
	}
	return f, true
}

// absentIn returns the ranks that did not make a call. For unpaired sends and receives these are
// the ranks of all such calls, because none of them is known to be the first.
func absentIn(list []hang.Hang, first *hang.Hang) []int {
	if first.Kind != hang.Unpaired {
		return first.Absent
	}
	var out []int
	for i := range list {
		if list[i].Kind == hang.Unpaired && list[i].Places == first.Places {
			out = append(out, list[i].Absent...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// callText names a call: "all_reduce 42".
func callText(h *hang.Hang) string {
	name := label.Clip(label.Clean(cmp.Or(h.Op, "a call")), 30)
	if h.Kind == hang.Unpaired {
		return name
	}
	return fmt.Sprintf("%s %d", name, h.Seq)
}

// hangText says briefly who is missing in which call, and in which run if there are several.
func hangText(h *hang.Hang) string {
	if h.Run == "" {
		return missingText(h)
	}
	return "run " + label.Clip(label.Clean(label.Base(h.Run)), 30) + ": " + missingText(h)
}

func missingText(h *hang.Hang) string {
	switch h.Kind {
	case hang.NotArrived:
		return fmt.Sprintf("%s did not arrive at %s", ranksText(h.Absent), callText(h))
	case hang.NotCompleted:
		return fmt.Sprintf("%s did not complete %s, which others completed", ranksText(h.Absent), callText(h))
	case hang.Unpaired:
		return unpairedText(h)
	}
	if len(h.Absent) > 0 {
		return fmt.Sprintf("%s ran out of memory, and %s timed out in %s", ranksText(h.Absent), ranksText(h.Waiting), callText(h))
	}
	return fmt.Sprintf("%s timed out on %s", callText(h), ranksText(h.Waiting))
}

// unpairedText says which ranks wait for which others, in how many calls.
func unpairedText(h *hang.Hang) string {
	text := fmt.Sprintf("%s did not receive %s of %s", ranksText(h.Absent), label.Plural(h.Calls, "send"),
		ranksText(h.Waiting))
	if h.Op == "Recv" {
		text = fmt.Sprintf("%s did not make %s that %s waits for", ranksText(h.Absent), label.Plural(h.Calls, "send"),
			ranksText(h.Waiting))
	}
	if h.Places {
		text += " (ranks in the group)"
	}
	return text
}

// evidenceOf describes one call: its group, who waits, and since when.
func evidenceOf(h *hang.Hang) string {
	text := hangText(h)
	if h.Kind == hang.Unpaired {
		text += ", " + label.Clip(label.Clean(h.Shape), 30)
	}
	if group := strings.TrimSpace(h.Desc + " " + h.Group); group != "" {
		text += ", group " + label.Clip(label.Clean(group), 40)
	}
	if len(h.Waiting) > 0 && h.Kind == hang.NotArrived {
		text += "; " + ranksText(h.Waiting) + " in it"
	}
	switch {
	case h.SinceNS > 0:
		text += ", since " + time.Unix(0, h.SinceNS).UTC().Format("2006-01-02 15:04:05.000") + " UTC"
	case h.RanNS > 0:
		text += ", after " + unit.Duration(h.RanNS)
	}
	if len(h.Unknown) > 0 {
		text += "; nothing is known of " + ranksText(h.Unknown)
	}
	return text
}

// countRanks is the number of ranks from which on it is printed.
const countRanks = 16

// ranksText returns "rank 3", "ranks 3, 5-7".
func ranksText(ranks []int) string {
	const most = 6
	var parts []string
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		if j-i < 2 {
			j = i
			parts = append(parts, fmt.Sprint(ranks[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", ranks[i], ranks[j]))
		}
		i = j + 1
	}
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("… (%d in all)", len(ranks)))
	} else if len(ranks) >= countRanks {
		parts[len(parts)-1] += fmt.Sprintf(" (%d in all)", len(ranks))
	}
	if len(ranks) == 1 {
		return "rank " + parts[0]
	}
	return "ranks " + strings.Join(parts, ", ")
}
